"""Checks of what the policy gave to ``terminate``.

They forgive how an answer is written ("$12.50", "12.5 USD", "It costs 12.50 dollars.") and nothing else. One
that names several candidates, hedges or rambles is wrong: a policy could otherwise list all that it saw.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from webserv.tasks.evaluator import EndState
from webserv.tasks.evaluators.normalize.currency import parse_money
from webserv.tasks.evaluators.normalize.date import parse_date
from webserv.tasks.evaluators.normalize.number import parse_number
from webserv.tasks.evaluators.normalize.text import bare, find_names, words
from webserv.types import Score

_MAX_EXTRA_WORDS = 12
"""Words beside the names asked for: room for "The cheapest product there is …", not for a list."""
_HEDGES = re.compile(
    r"\b(?:not|isn t|maybe|perhaps|possibly|probably|either|or|about|around|approximately|roughly|almost|"
    r"nearly|at least|at most|(?:more|less|fewer|greater) than|unknown|unsure|cannot|could|might)\b"
)


def _verdict(passed: bool, wanted: object, answer: str | None) -> Score:
    shown = "no answer" if answer is None else f"answer {answer[:200]!r}"
    return Score(float(passed), (f"{'ok' if passed else 'FAILED'}: {shown}, expected {wanted}",))


def _hedged(answer: str, allowed: Iterable[str]) -> bool:
    """Whether the answer holds a hedge that is not part of the names or of the question's own phrases."""
    _, rest = find_names(answer, allowed)
    return _HEDGES.search(" ".join(rest)) is not None


@dataclass(frozen=True, slots=True)
class AnswerIs:
    """The answer is one of `accepted`, apart from case, spacing, quotes and final punctuation."""

    accepted: tuple[str, ...]

    async def evaluate(self, state: EndState) -> Score:
        """Compares the whole answer."""
        answer = state.answer
        passed = answer is not None and bare(answer) in {bare(text) for text in self.accepted}
        return _verdict(passed, " or ".join(map(repr, self.accepted)), answer)


@dataclass(frozen=True, slots=True)
class AnswerNames:
    """The answer names all of `expected`, in any order, and nothing else that could have been meant.

    Attributes:
        expected: Names that must be mentioned.
        others: Names that must not be, for instance all other products of the shop.
        ignore: Phrases of the question that the answer may repeat; names in them count for nothing.
    """

    expected: tuple[str, ...]
    others: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    async def evaluate(self, state: EndState) -> Score:
        """Finds the names in the answer, the longest first."""
        answer = state.answer
        wanted = " and ".join(map(repr, self.expected))
        if answer is None:
            return _verdict(False, wanted, answer)
        expected = {words(name) for name in self.expected}
        ignore = tuple(name for name in self.ignore if words(name) not in expected)
        found, rest = find_names(answer, dict.fromkeys((*self.expected, *self.others, *ignore)))
        named = {words(name) for name in found} - {words(name) for name in ignore}
        limit = _MAX_EXTRA_WORDS + 2 * len(self.expected)
        passed = named == expected and len(rest) <= limit and not _HEDGES.search(" ".join(rest))
        return _verdict(passed, wanted, answer)


@dataclass(frozen=True, slots=True)
class AnswerNumber:
    """The answer states one number, within `tolerance` of `expected`.

    Attributes:
        expected: The number.
        tolerance: Largest difference that passes.
        ignore: Phrases of the question that the answer may repeat, such as a date or a product's name.
    """

    expected: Decimal
    tolerance: Decimal = Decimal(0)
    ignore: tuple[str, ...] = ()

    async def evaluate(self, state: EndState) -> Score:
        """Reads the answer's one number."""
        answer = state.answer
        found = None if answer is None else parse_number(answer, ignore=self.ignore)
        passed = (
            answer is not None
            and found is not None
            and abs(found - self.expected) <= self.tolerance
            and not _hedged(answer, self.ignore)
        )
        return _verdict(passed, f"the number {self.expected}", answer)


@dataclass(frozen=True, slots=True)
class AnswerMoney:
    """The answer states one amount of money; a currency may be missing but not be another one.

    Attributes:
        expected: The amount, compared exactly.
        currency: ISO 4217 code of the site's currency.
        ignore: Phrases of the question that the answer may repeat.
    """

    expected: Decimal
    currency: str
    ignore: tuple[str, ...] = ()

    async def evaluate(self, state: EndState) -> Score:
        """Reads the answer's one amount."""
        answer = state.answer
        money = None if answer is None else parse_money(answer, ignore=self.ignore)
        passed = (
            answer is not None
            and money is not None
            and money.amount == self.expected
            and money.currency in (None, self.currency)
            and not _hedged(answer, self.ignore)
        )
        return _verdict(passed, f"{self.expected} {self.currency}", answer)


@dataclass(frozen=True, slots=True)
class AnswerDate:
    """The answer states one date, in any unambiguous notation."""

    expected: datetime.date

    async def evaluate(self, state: EndState) -> Score:
        """Reads the answer's one date."""
        answer = state.answer
        found = None if answer is None else parse_date(answer)
        passed = answer is not None and found == self.expected and not _hedged(answer, ())
        return _verdict(passed, f"the date {self.expected.isoformat()}", answer)
