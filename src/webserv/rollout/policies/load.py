"""`load_policy`: a policy factory by name.

A closed table for our own, entry points of the group ``webserv.policies`` for installed ones, and
``package.module:function`` for a file of your own. Each names a function that takes options by keyword and
returns a `PolicyFactory`; if the factory has an async method ``close``, it is called when the run has ended.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from webserv.errors import UnknownName, UserError, WebServError
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
        UserError: It cannot be imported or made, it takes no such option, needs one that is not given, or returns what
            makes no policies.
    """
    maker = _find(name)
    given = {key: value for key, value in options.items() if value is not None}
    accepted = _signature(name, maker)
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in accepted.values())
    for key in given:
        if key not in accepted and not takes_any:
            known = ", ".join(accepted) or "none"
            raise UserError(f"Policy '{name}' takes no option '{key}'. It takes: {known}.")
    for key, parameter in accepted.items():
        needed = parameter.default is parameter.empty and parameter.kind in (
            parameter.KEYWORD_ONLY,
            parameter.POSITIONAL_OR_KEYWORD,
        )
        if needed and key not in given:
            raise UserError(f"Policy '{name}' needs {key}.", hint=_how_to_give(key, own=name in _OWN))
    return _made(name, maker, given)


def _made(name: str, maker: PolicyMaker, options: Mapping[str, Any]) -> PolicyFactory:
    try:
        factory = maker(**options)
    except WebServError:
        raise
    except Exception as error:  # anybody's code, as is the import
        told = f"{type(error).__name__}: {error}".rstrip(": ") + _where(error)
        raise UserError(f"Policy '{name}' cannot be made: {told}.") from error
    if not callable(factory):
        raise UserError(
            f"Policy '{name}' returned a {type(factory).__name__}, not a function that makes a policy per episode.",
            hint="It must return what is called as factory(task, seed=…) and gives an object with act and close.",
        )
    return factory


def _signature(name: str, maker: PolicyMaker) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(maker).parameters
    except (TypeError, ValueError) as error:  # some built-in functions have none
        raise UserError(f"Policy '{name}' is no function that makes policies: {error}.") from error


def _how_to_give(key: str, *, own: bool) -> str:
    return f"Give --{key.replace('_', '-')}." if own else f"Give --policy-option {key}=VALUE."


async def close_policies(factory: PolicyFactory) -> None:
    """Closes what a factory's policies share, if it holds anything."""
    close = getattr(factory, "close", None)
    if close is not None:
        await close()


def _find(name: str) -> PolicyMaker:
    if name in _OWN:
        module, _, attribute = _OWN[name].partition(":")
        return getattr(importlib.import_module(module), attribute)  # type: ignore[no-any-return]
    for point in entry_points(group=GROUP, name=name):
        return _load(point)
    if ":" in name:
        # A console script does not have the working directory on its path, where a user's own module usually
        # is.
        if (here := str(Path.cwd())) not in sys.path:
            sys.path.insert(0, here)
        return _import(name)
    raise UnknownName("policy", name, list_policies())


def _import(name: str) -> PolicyMaker:
    """The function that a user's own ``module:function`` names."""
    module, _, attribute = name.partition(":")
    try:
        maker = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # a user's file that does not run: whatever it raises is theirs to mend
        told = f"{type(error).__name__}: {error}{_where(error)}"
        raise UserError(f"Policy '{name}' cannot be imported: {told}.") from error
    if not callable(maker):
        raise UserError(f"Policy '{name}' is a {type(maker).__name__}, not a function that makes policies.")
    return maker  # type: ignore[no-any-return]  # checked as far as Python lets one


def _where(error: Exception) -> str:
    """The place in the user's code that raised, where there is one; a syntax error's text names its own."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename not in (__file__, importlib.__file__) and not frame.filename.startswith("<frozen ")
    ]
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""


def _load(point: EntryPoint) -> PolicyMaker:
    try:
        return point.load()  # type: ignore[no-any-return]
    except Exception as error:  # a plug-in that fails to load is its package's fault, and spoils nothing else
        warnings.warn(f"Policy plug-in '{point.name}' failed to load: {error!r}", stacklevel=2)
        raise UserError(f"Policy '{point.name}' ({point.value}) failed to load: {error!r}.") from error
