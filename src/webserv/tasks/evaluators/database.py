"""Checks of the clone's database, read-only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from webserv.tasks.evaluator import EndState
from webserv.types import Score

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class DatabaseRows:
    """A query gives exactly `expected` at the end, and did not at the start.

    The second half makes sure that an episode in which nothing happened cannot pass.

    Attributes:
        site: Whose database.
        sql: One SELECT; order its rows where there may be several.
        expected: All rows. Decimals compare with numbers and numeric text by value, text without outer space.
        params: Values for the statement's placeholders.
        about: What the rows are, for the evidence.
    """

    site: str
    sql: str
    expected: tuple[Row, ...]
    params: tuple[Any, ...] = ()
    about: str = "rows"

    async def evaluate(self, state: EndState) -> Score:
        """Asks the clone and the snapshot."""
        found = await state.query(self.site, self.sql, self.params)
        if not same_rows(found, self.expected):
            return Score(0.0, (f"FAILED: {self.about}: {_show(found)}, expected {_show(self.expected)}",))
        if same_rows(await state.query_start(self.site, self.sql, self.params), self.expected):
            return Score(
                0.0, (f"FAILED: {self.about}: already {_show(found)} at the start, so nothing was done",)
            )
        return Score(1.0, (f"ok: {self.about}: {_show(found)}",))


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A query gives the same rows as at the start: guards what the task did not ask to change."""

    site: str
    sql: str
    params: tuple[Any, ...] = ()
    about: str = "rows"

    async def evaluate(self, state: EndState) -> Score:
        """Compares the clone with the snapshot."""
        before = await state.query_start(self.site, self.sql, self.params)
        after = await state.query(self.site, self.sql, self.params)
        if before == after:
            return Score(1.0, (f"ok: {self.about} unchanged",))
        gone = [row for row in before if row not in after]
        new = [row for row in after if row not in before]
        return Score(0.0, (f"FAILED: {self.about} changed: gone {_show(gone)}, new {_show(new)}",))


@dataclass(frozen=True, slots=True)
class AllUnchanged:
    """Several queries at once, each as for `Unchanged`: guards the rest of a site in one check.

    Attributes:
        site: Whose database.
        queries: What each query reads, and its SQL.
    """

    site: str
    queries: tuple[tuple[str, str], ...]

    async def evaluate(self, state: EndState) -> Score:
        """Compares the clone with the snapshot, query by query."""
        evidence: list[str] = []
        for about, sql in self.queries:
            score = await Unchanged(self.site, sql, about=about).evaluate(state)
            if score.value == 0.0:
                evidence.extend(score.evidence)
        return Score(float(not evidence), tuple(evidence) or ("ok: nothing else changed",))


def same_rows(found: Sequence[Row], expected: Sequence[Row]) -> bool:
    """Whether two results hold the same values in the same order; see `DatabaseRows.expected`."""
    return len(found) == len(expected) and all(
        len(left) == len(right) and all(map(_same_value, left, right))
        for left, right in zip(found, expected, strict=True)
    )


def _same_value(found: Any, expected: Any) -> bool:
    if isinstance(expected, Decimal):
        try:
            return Decimal(str(found)) == expected
        except ArithmeticError:
            return False
    if isinstance(expected, str) and isinstance(found, str):
        return found.strip().replace("\r\n", "\n") == expected.strip()
    return bool(found == expected)


def _show(rows: Sequence[Row]) -> str:
    """The first rows, one line."""
    shown = ", ".join(repr(tuple(str(v) if isinstance(v, Decimal) else v for v in row)) for row in rows[:3])
    text = f"[{shown}{', …' if len(rows) > 3 else ''}]"
    return text if len(text) <= 400 else f"{text[:400]}…"
