"""`load_policy`: a policy factory by name.

A closed table for our own, entry points of the group ``webserv.policies`` for installed ones, and
``package.module:function`` for a file of your own. Each names a function that takes options by keyword and
returns a `PolicyFactory`; if the factory has an async method ``close``, it is called when the run has ended.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from webserv.errors import UnknownName, UserError
from webserv.rollout.policies.interface import PolicyFactory

GROUP = "webserv.policies"

_OWN = {
    "scripted": "webserv.rollout.policies.scripted:make_scripted",
    "near_miss": "webserv.rollout.policies.scripted:make_near_miss",
    "random": "webserv.rollout.policies.random:make_random",
    "openai": "webserv.rollout.policies.openai:make_openai",
}

PolicyMaker = Callable[..., PolicyFactory]


def list_policies() -> list[str]:
    """The names that `load_policy` knows, installed plug-ins included."""
    return sorted({*_OWN, *(point.name for point in entry_points(group=GROUP))})


def load_policy(name: str, **options: Any) -> PolicyFactory:
    """Makes the policy factory of that name.

    Args:
        name: A name from `list_policies`, or ``package.module:function``.
        options: What the factory is made with; those that are None are left out.

    Raises:
        UnknownName: There is no such policy.
        UserError: It cannot be imported, or it takes no such option.
    """
    maker = _find(name)
    given = {key: value for key, value in options.items() if value is not None}
    accepted = inspect.signature(maker).parameters
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in accepted.values())
    for key in given:
        if key not in accepted and not takes_any:
            known = ", ".join(accepted) or "none"
            raise UserError(f"Policy '{name}' takes no option '{key}'. It takes: {known}.")
    for key, parameter in accepted.items():
        if (
            parameter.default is parameter.empty
            and parameter.kind is parameter.KEYWORD_ONLY
            and key not in given
        ):
            raise UserError(f"Policy '{name}' needs {key}.", hint=f"Give --{key.replace('_', '-')}.")
    return maker(**given)


async def close_policies(factory: PolicyFactory) -> None:
    """Closes what a factory's policies share, if it holds anything."""
    close = getattr(factory, "close", None)
    if close is not None:
        await close()


def _find(name: str) -> PolicyMaker:
    if name in _OWN:
        return _import(name, _OWN[name])
    for point in entry_points(group=GROUP, name=name):
        return _load(point)
    if ":" in name:
        # A console script does not have the working directory on its path, where a user's own module usually
        # is.
        if (here := str(Path.cwd())) not in sys.path:
            sys.path.insert(0, here)
        return _import(name, name)
    raise UnknownName("policy", name, list_policies())


def _import(name: str, target: str) -> PolicyMaker:
    module, _, attribute = target.partition(":")
    try:
        maker = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UserError(f"Policy '{name}' cannot be imported: {error}.") from error
    if not callable(maker):
        raise UserError(f"Policy '{name}' is a {type(maker).__name__}, not a function that makes policies.")
    return maker  # type: ignore[no-any-return]  # checked as far as Python lets one


def _load(point: EntryPoint) -> PolicyMaker:
    try:
        return point.load()  # type: ignore[no-any-return]
    except Exception as error:  # a plug-in that fails to load is its package's fault, and spoils nothing else
        warnings.warn(f"Policy plug-in '{point.name}' failed to load: {error!r}", stacklevel=2)
        raise UserError(f"Policy '{point.name}' ({point.value}) failed to load: {error!r}.") from error
