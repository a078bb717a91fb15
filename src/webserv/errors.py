"""The error tree. Whose fault an error is decides its class.

```
WebServError
├── UserError                the user can mend it: the CLI prints one line and exits with 1
│   ├── MissingPrerequisite  this host lacks something; the hint is the command that mends it
│   ├── UnknownName          no such site, task, benchmark, engine …; lists the known ones
│   ├── InvalidSite          a site file or recipe is wrong
│   ├── InvalidTask          a task file or task parameter is wrong
│   ├── NotBuilt             the site exists, but its snapshot has not been built on this host
│   └── HostRefused          the host said no: disk full, port in use, permission denied
└── EnvFailure               the environment failed: reward None, retried, never counted as 0
    ├── WorldFailed          a clone or its namespace died or never became ready
    ├── BrowserFailed        a browser, context or page died or does not answer
    ├── PolicyFailed         the policy could not be asked (endpoint down, bad key)
    └── EvaluatorFailed      the check itself broke; differs from a score of 0
```

What a page does to an action (covered, disabled, gone) is a value, `webserv.types.ActionError`, not an exception.
Anything else that escapes is our bug and keeps its traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from webserv.types import FailureKind


class WebServError(Exception):
    """Base of all errors that WebServ raises on purpose."""


class UserError(WebServError):
    """Something the user can mend; `str()` is one line that says how.

    Args:
        message: What was tried and what was found instead.
        hint: The mending command or setting, shown after the message; empty when there is none.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class MissingPrerequisite(UserError):
    """This host lacks a program, kernel feature or permission."""


class UnknownName(UserError):
    """No such name; the message lists the known ones and guesses the nearest.

    Args:
        kind: What was looked up, for instance ``"site"``.
        name: The name that was given.
        known: All names that would have been accepted, the most likely ones first; twenty are shown.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = list(dict.fromkeys(known))
        near = difflib.get_close_matches(name, names, n=1)
        guess = f" Did you mean '{near[0]}'?" if near else ""
        shown = ", ".join(names[:20]) + (f" … ({len(names)} in all)" if len(names) > 20 else "")
        super().__init__(f"There is no {kind} '{name}'.{guess} Known: {shown or 'none'}.")
        self.kind = kind
        self.name = name
        self.known = tuple(names)


class InvalidSite(UserError):
    """A site file or site recipe is wrong."""


class InvalidTask(UserError):
    """A task, or a parameter of one, is wrong."""


class NotBuilt(UserError):
    """The site is known, but this host has no snapshot of it yet."""


class HostRefused(UserError):
    """The host refused: disk full, port in use, permission denied, limit reached."""


class EnvFailure(WebServError):
    """The environment failed, not the policy: the episode has no reward and is retried."""

    kind: FailureKind = FailureKind.ENV


class WorldFailed(EnvFailure):
    """A clone died, its namespace went away, or it never became ready."""


class BrowserFailed(EnvFailure):
    """A browser, context or page died or stopped answering."""


class PolicyFailed(EnvFailure):
    """The policy could not be asked: its endpoint is down or refuses the request."""

    kind = FailureKind.POLICY


class EvaluatorFailed(EnvFailure):
    """The evaluator raised; unlike a score of 0 this says nothing about the policy."""

    kind = FailureKind.EVALUATOR
