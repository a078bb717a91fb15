"""Reads amounts of money: ``$12.50``, ``12.5 USD``, ``12,50 €``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from webserv.tasks.evaluators.normalize.number import parse_number
from webserv.tasks.evaluators.normalize.text import fold

_MARKS = {
    "USD": r"us\$|\$|usd|dollars?|bucks",
    "GBP": r"£|gbp|pounds?(?: sterling)?",
    "EUR": r"€|eur|euros?",
}
_PATTERNS = {
    code: re.compile(rf"(?<![a-z])(?:{pattern})(?![a-z])", re.IGNORECASE) for code, pattern in _MARKS.items()
}


@dataclass(frozen=True, slots=True)
class Money:
    """An amount, and its ISO 4217 code where the text names one."""

    amount: Decimal
    currency: str | None


def parse_money(text: str, *, ignore: Sequence[str] = ()) -> Money | None:
    """The one amount that `text` states; None when there is none, several, or more than one currency."""
    amount = parse_number(text, ignore=ignore)
    if amount is None:
        return None
    folded = fold(text)
    currencies = [code for code, pattern in _PATTERNS.items() if pattern.search(folded)]
    if len(currencies) > 1:
        return None
    return Money(amount, currencies[0] if currencies else None)
