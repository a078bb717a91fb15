"""What an evaluator sees (`EndState`) and what it is (`Evaluator`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from webserv.types import Score


class EndState(Protocol):
    """The frozen end of an episode. Reading it changes nothing that the policy did.

    Attributes:
        answer: What the policy gave to ``terminate``; None when the budget ended the episode or it gave none.
        url: Canonical URL of the active tab.
        text: Visible text of the active tab.
    """

    @property
    def answer(self) -> str | None:
        """What the policy gave to ``terminate``."""
        ...

    @property
    def url(self) -> str:
        """URL of the active tab."""
        ...

    @property
    def text(self) -> str:
        """Visible text of the active tab."""
        ...

    async def query(self, site: str, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Reads the clone's database, read-only.

        Raises:
            EvaluatorFailed: The site has no database, or the statement is wrong.
            WorldFailed: The clone is gone.
        """
        ...

    async def query_start(self, site: str, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Reads the snapshot's database, that is the state before the episode began."""
        ...

    async def visit(self, url: str) -> str:
        """Opens `url` in a page of its own, logged in as the episode is, and returns its visible text."""
        ...


@runtime_checkable
class Evaluator(Protocol):
    """A check of an end state. An exception it lets out is the episode's failure ``evaluator``, never a 0."""

    async def evaluate(self, state: EndState) -> Score:
        """Judges the end state."""
        ...
