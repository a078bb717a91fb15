"""Reads amounts of money: ``$12.50``, ``12.5 USD``, ``12,50 €``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from webserv.tasks.evaluators.normalize.date import without_dates
from webserv.tasks.evaluators.normalize.number import NUMBER_WORDS, parse_number
from webserv.tasks.evaluators.normalize.text import fold, without_phrases, words

_MARKS = {
    "USD": r"us\$|\$|usd|dollars?|bucks",
    "GBP": r"£|gbp|pounds?(?: sterling)?",
    "EUR": r"€|eur|euros?",
}
_PATTERNS = {
    code: re.compile(rf"(?<![a-z])(?:{pattern})(?![a-z])", re.IGNORECASE) for code, pattern in _MARKS.items()
}
_MARK_TOKENS = frozenset(
    ("$", "us$", "£", "€", *words("us usd dollar dollars bucks gbp pound pounds sterling eur euro euros"))
)
_PLAIN = frozenset(
    words(
        "a after altogether amount amounted amounts an and answer are as at be before by charged comes "
        "cost costing costs difference each equals exactly excl excluding for from have i in incl "
        "included includes including inclusive is it just less more of on only overall paid pay per price "
        "priced revenue s shipping spend spent sum tax than that the this to total totaled totaling "
        "totalled totals value was were which with without"
    )
)
"""Words that stand beside an amount in a sentence. Any other may be a currency ("12.50 yen") or a unit."""
_FOREIGN = frozenset(
    words(
        "aed ars aud bdt bgn brl cad chf clp cny cop czk dkk egp hkd huf idr ils inr isk jpy kes krw kwd "
        "mxn myr ngn nok nzd pen php pkr pln qar ron rub sar sek sgd thb twd uah vnd zar australian "
        "canadian singapore cent cents pence penny crown crowns dinar dirham franc francs krona krone "
        "kroner peso pesos percent real reais rial roubles ruble rubles rupee rupees shekel won yen yuan "
        "zloty bitcoin btc eth rouble"
    )
)
"""What contradicts even an amount with a mark of its own, as in "$12.50 CAD"."""
_TOKEN = re.compile(r"\d(?:[\d.,']*\d)?|[^\W\d_]+\$?|\S")
_PAUSES = frozenset(".,;:!?()[]{}\"'`*_=-|")


@dataclass(frozen=True, slots=True)
class Money:
    """An amount, and its ISO 4217 code where the text names one."""

    amount: Decimal
    currency: str | None


def parse_money(text: str, *, ignore: Sequence[str] = ()) -> Money | None:
    """The one amount that `text` states.

    None when there is none, several, or more than one currency, and when an unknown word or sign stands beside the
    amount ("CHF 12.50", "12.50 yen", "12.50%").
    """
    amount = parse_number(text, ignore=ignore)
    if amount is None:
        return None
    folded = fold(text)
    currencies = [code for code, pattern in _PATTERNS.items() if pattern.search(folded)]
    if len(currencies) > 1:
        return None
    stated = _amounts(without_dates(without_phrases(text, ignore))) or _amounts(folded)
    if any(_is_something_else(beside) for beside in stated):
        return None
    return Money(amount, currencies[0] if currencies else None)


def _amounts(text: str) -> list[tuple[str, ...]]:
    """What stands directly before and after each number of `text`, where no punctuation parts them."""
    tokens = _TOKEN.findall(fold(text))
    positions = [number for number, token in enumerate(tokens) if token[0].isdigit()]
    positions = positions or [number for number, token in enumerate(tokens) if token in NUMBER_WORDS]
    return [tuple(_beside(tokens, number)) for number in positions]


def _beside(tokens: list[str], number: int) -> Iterator[str]:
    for near in (number - 1, number + 1):
        if 0 <= near < len(tokens) and tokens[near] not in _PAUSES:
            yield tokens[near]


def _is_something_else(beside: tuple[str, ...]) -> bool:
    others = [token for token in beside if token not in _MARK_TOKENS]
    if len(others) < len(beside):
        return any(token in _FOREIGN or not token.isalpha() for token in others)
    return any(token not in _PLAIN for token in others)
