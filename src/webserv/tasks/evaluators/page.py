"""Check of a page's visible text."""

from __future__ import annotations

from dataclasses import dataclass

from webserv.tasks.evaluator import EndState
from webserv.tasks.evaluators.normalize.text import fold
from webserv.types import Score


@dataclass(frozen=True, slots=True)
class PageText:
    """A page shows all of `contains` and none of `excludes`, apart from case and spacing.

    Attributes:
        contains: Texts that the page must show.
        excludes: Texts that it must not show.
        url: Page to visit, as the episode is logged in; None for the page where the episode ended.
    """

    contains: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    url: str | None = None

    async def evaluate(self, state: EndState) -> Score:
        """Reads the page once."""
        where = self.url or state.url
        text = fold(state.text if self.url is None else await state.visit(self.url))
        missing = [part for part in self.contains if fold(part) not in text]
        unwanted = [part for part in self.excludes if fold(part) in text]
        evidence = [f"FAILED: {where} does not show {part!r}" for part in missing]
        evidence += [f"FAILED: {where} shows {part!r}" for part in unwanted]
        return Score(float(not evidence), tuple(evidence) or (f"ok: {where} shows what it should",))
