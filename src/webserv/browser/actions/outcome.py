"""How an action can fail for reasons that a policy caused or a page imposes. These end as values in the observation."""

from __future__ import annotations

from webserv.types import ActionError, ActionErrorKind


class ActionRefused(Exception):
    """Carries an `ActionError` from where it was found to the session, which turns it into a value."""

    def __init__(self, kind: ActionErrorKind, message: str) -> None:
        super().__init__(message)
        self.error = ActionError(kind, message)


def malformed(message: str) -> ActionRefused:
    """The text is no action."""
    return ActionRefused(ActionErrorKind.MALFORMED, message)
