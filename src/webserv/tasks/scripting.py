"""Helpers for scripted solutions: look at an observation, then act as a person would.

A script is a generator of action texts that is sent observations. The helpers are generators too: write
``obs = yield from click(obs, "button", "Save")``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable
from typing import Any

from webserv.errors import PolicyFailed
from webserv.tasks.task import Script, ScriptFactory, Task
from webserv.types import Element, Observation

Steps = Generator[str, Observation, Observation]
"""A piece of a script: yields actions, returns the last observation."""


def script(function: Callable[..., Script], *args: Any, **kwargs: Any) -> ScriptFactory:
    """A script factory that calls ``function(first_observation, *args, **kwargs)``."""

    def make(task: Task, obs: Observation) -> Script:
        return function(obs, *args, **kwargs)

    return make


class ScriptStuck(PolicyFailed):
    """A scripted solution does not find what it looks for, or an action of it was refused."""


def quoted(text: str) -> str:
    """`text` as a string literal of the action grammar."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def find_all(
    obs: Observation, role: str = "", name: str = "", *, href: str = "", exact: bool = True
) -> list[Element]:
    """Elements of the observation, in reading order.

    Args:
        obs: Where to look.
        role: ARIA role; empty for any. Several are separated by ``|``.
        name: Accessible name; case, space and a closing colon or star do not count. Empty for any.
        href: Regular expression that the link's target must hold.
        exact: Whether `name` is the whole name rather than a part.
    """
    roles = set(role.split("|")) if role else set()
    wanted = _fold(name)
    return [
        element
        for element in obs.elements
        if (not roles or element.role in roles)
        and (not wanted or (_fold(element.name) == wanted if exact else wanted in _fold(element.name)))
        and (not href or re.search(href, element.href or ""))
    ]


def find(
    obs: Observation, role: str = "", name: str = "", *, href: str = "", exact: bool = True, nth: int = 0
) -> Element:
    """The `nth` element that `find_all` gives; negative counts from the end.

    Raises:
        ScriptStuck: There are too few.
    """
    found = find_all(obs, role, name, href=href, exact=exact)
    try:
        return found[nth]
    except IndexError:
        wanted = " ".join(part for part in (role, repr(name) if name else "", href) if part)
        near = ", ".join(
            f"{e.role} {e.name!r}" for e in obs.elements if not role or e.role in role.split("|")
        )
        raise ScriptStuck(
            f"No {wanted} (number {nth}) at {obs.url}; {len(found)} fit, there are: {near[:1500]}"
        ) from None


def has(obs: Observation, role: str = "", name: str = "", *, href: str = "", exact: bool = True) -> bool:
    """Whether there is such an element."""
    return bool(find_all(obs, role, name, href=href, exact=exact))


def checked(obs: Observation) -> Observation:
    """Returns `obs` unless its action was refused.

    Raises:
        ScriptStuck: The last action did not happen.
    """
    if obs.error is not None:
        raise ScriptStuck(f"Action refused at {obs.url}: {obs.error.kind}: {obs.error.message}")
    return obs


def act(action: str) -> Steps:
    """Takes one action that must not be refused."""
    return checked((yield action))


def click(
    obs: Observation, role: str = "", name: str = "", *, href: str = "", exact: bool = True, nth: int = 0
) -> Steps:
    """Clicks an element; see `find`."""
    element = find(obs, role, name, href=href, exact=exact, nth=nth)
    return (yield from act(f'click("{element.id}")'))


def fill(
    obs: Observation, name: str, text: str, *, enter: bool = False, exact: bool = True, nth: int = 0
) -> Steps:
    """Replaces what a text field holds."""
    element = find(obs, "textbox|searchbox|spinbutton|combobox", name, exact=exact, nth=nth)
    if element.value:
        obs = yield from act(f'clear("{element.id}")')
    return (yield from act(f'type("{element.id}", {quoted(text)}{", enter=true" if enter else ""})'))


def choose(obs: Observation, name: str, option: str, *, exact: bool = True, nth: int = 0) -> Steps:
    """Chooses an option of a select by its label."""
    element = find(obs, "select|combobox|listbox", name, exact=exact, nth=nth)
    return (yield from act(f'select("{element.id}", {quoted(option)})'))


def finish(answer: str | None = None) -> Script:
    """Ends the episode."""
    yield "terminate()" if answer is None else f"terminate({quoted(answer)})"


def lines_with(obs: Observation, pattern: str) -> list[str]:
    """Lines of the observation's text that hold the regular expression."""
    return [line.strip() for line in obs.text.splitlines() if re.search(pattern, line)]


def cells(obs: Observation, text: str, *, nth: int = 0) -> list[str]:
    """The cells of the `nth` table row that shows `text`.

    Raises:
        ScriptStuck: There is no such row.
    """
    rows = [line for line in obs.text.splitlines() if line.lstrip().startswith("|") and text in line]
    if nth >= len(rows):
        raise ScriptStuck(f"No table row number {nth} shows {text!r} at {obs.url}.")
    return [cell.strip() for cell in rows[nth].strip().strip("|").split(" | ")]


def first_match(obs: Observation, pattern: str) -> str:
    """The first group of the first match of `pattern` in the observation's text.

    Raises:
        ScriptStuck: There is none.
    """
    match = re.search(pattern, obs.text)
    if match is None:
        raise ScriptStuck(f"Nothing matches {pattern!r} at {obs.url}.")
    return match[1]


def follow(obs: Observation, names: Iterable[str]) -> Steps:
    """Clicks links by name, one page after another."""
    for name in names:
        obs = yield from click(obs, "link", name)
    return obs


def _fold(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" :*")
