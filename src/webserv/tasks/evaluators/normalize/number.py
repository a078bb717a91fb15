"""Reads numbers as people write them: ``1,234.50``, ``1.234,50``, ``12 orders``, ``seven``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from webserv.tasks.evaluators.normalize.date import without_dates
from webserv.tasks.evaluators.normalize.text import fold, without_phrases

# A run of digits and separators. Glued to a letter before it, it is part of a code: "A12", but not "USD12".
_RUN = re.compile(r"(?<![\d.,])(?P<sign>(?:(?<=\s)|(?<=^)|(?<=[$£€(]))[-+])?(?P<digits>\d(?:[\d.,']*\d)?)")
_CODES_BEFORE = re.compile(r"(?:^|[^a-z])(?:usd|gbp|eur|us|x)$")
_NAMES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
NUMBER_WORDS = {word: Decimal(value) for value, word in enumerate(_NAMES.split())}
_WORD = re.compile(r"(?<![\w-])(" + "|".join(NUMBER_WORDS) + r")(?![\w-])")


def read_digits(run: str) -> Decimal | None:
    """Reads one run of digits with ``.``, ``,`` or ``'`` in it; None when it is no number (a date, a list).

    A lone comma before three digits groups thousands (``1,234``), else it is a decimal comma (``12,5``);
    a lone point is always decimal.
    """
    marks = [char for char in run if not char.isdigit()]
    decimal = ""
    if marks and (len(set(marks)) == 2 or (len(marks) == 1 and marks[0] != "'")):
        last = marks[-1]
        tail = run.rpartition(last)[2]
        groups_thousands = len(marks) == 1 and last == "," and len(tail) == 3
        if not groups_thousands:
            decimal = last
    if len(set(marks)) > 2 or (decimal and marks.count(decimal) > 1):
        return None
    whole, _, fraction = run.partition(decimal) if decimal else (run, "", "")
    groups = re.split(r"[.,']", whole)
    if len(groups) > 1 and (not 1 <= len(groups[0]) <= 3 or any(len(group) != 3 for group in groups[1:])):
        return None
    try:
        return Decimal("".join(groups) + ("." + fraction if fraction else ""))
    except InvalidOperation:
        return None


def find_numbers(text: str) -> list[Decimal | None]:
    """All numbers of `text` in order; None stands for digits that cannot be read as one number.

    Number words up to twenty count only where there are no digits ("the one with 5 reviews" has one).
    """
    folded = fold(text)
    numbers: list[Decimal | None] = []
    for match in _RUN.finditer(folded):
        before = folded[: match.start()]
        if before[-1:].isalpha() and not _CODES_BEFORE.search(before):
            continue
        value = read_digits(match["digits"])
        numbers.append(-value if value is not None and match["sign"] == "-" else value)
    if not numbers:
        numbers = [NUMBER_WORDS[match[1]] for match in _WORD.finditer(folded)]
    return numbers


def parse_number(text: str, *, ignore: Sequence[str] = ()) -> Decimal | None:
    """The one number that `text` states; None for none, several different ones, or an unreadable one.

    Args:
        text: For instance an answer.
        ignore: Phrases of the question that an answer may repeat ("in March 2026"). They and whole dates are left
            out of account unless nothing would be left.
    """
    numbers = find_numbers(without_dates(without_phrases(text, ignore))) or find_numbers(text)
    if not numbers or None in numbers or len(set(numbers)) > 1:
        return None
    return numbers[0]
