"""Check of where the episode ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from webserv.tasks.evaluator import EndState
from webserv.tasks.evaluators.normalize.url import origin_and_path, query_pairs
from webserv.types import Score


@dataclass(frozen=True, slots=True)
class FinalUrl:
    """The active tab ended at `expected`.

    Attributes:
        expected: Canonical URL; its fragment does not count.
        query: ``exact`` compares all pairs; ``includes`` wants those of `expected` and allows more;
            ``ignore`` compares origin and path only.
    """

    expected: str
    query: Literal["exact", "includes", "ignore"] = "exact"

    async def evaluate(self, state: EndState) -> Score:
        """Compares the active tab's URL."""
        passed = origin_and_path(state.url) == origin_and_path(self.expected)
        wanted, found = query_pairs(self.expected), query_pairs(state.url)
        if self.query == "exact":
            passed = passed and wanted == found
        elif self.query == "includes":
            passed = passed and set(wanted) <= set(found)
        return Score(
            float(passed), (f"{'ok' if passed else 'FAILED'}: at {state.url}, expected {self.expected}",)
        )
