"""Reads calendar dates: ``2026-03-02``, ``2 March 2026``, ``Mar. 2nd, 2026``, ``31.12.2025``."""

from __future__ import annotations

import datetime
import re

from webserv.tasks.evaluators.normalize.text import fold

_NAMES = "january february march april may june july august september october november december"
_MONTHS = {name: number for number, name in enumerate(_NAMES.split(), start=1)}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}
_NAME = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_PATTERNS = (
    re.compile(rf"(?<!\d){_YEAR}[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})(?!\d)"),
    re.compile(rf"(?<!\d){_DAY}(?: of)? {_NAME},? {_YEAR}(?!\d)"),
    re.compile(rf"(?<!\w){_NAME} {_DAY},? {_YEAR}(?!\d)"),
    re.compile(rf"(?<!\d){_YEAR},? {_NAME} {_DAY}(?!\d)"),
)
_NUMERIC = re.compile(rf"(?<!\d)(?P<a>\d{{1,2}})(?P<mark>[-/.])(?P<b>\d{{1,2}})(?P=mark){_YEAR}(?!\d)")


def find_dates(text: str) -> list[datetime.date | None]:
    """All dates of `text`; None stands for one that does not exist or is ambiguous."""
    folded = fold(text)
    dates: list[datetime.date | None] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(folded):
            month = match["month"].rstrip(".")
            dates.append(_date(int(match["year"]), _MONTHS.get(month) or int(month), int(match["day"])))
        folded = pattern.sub(" ", folded)
    for match in _NUMERIC.finditer(folded):
        first, second, year = int(match["a"]), int(match["b"]), int(match["year"])
        readings = {_date(year, first, second), _date(year, second, first)} - {None}
        dates.append(readings.pop() if len(readings) == 1 else None)
    return dates


def parse_date(text: str) -> datetime.date | None:
    """The one date that `text` states; None for none, several, or an ambiguous one (``02/03/2026``)."""
    dates = set(find_dates(text))
    return dates.pop() if len(dates) == 1 else None


def without_dates(text: str) -> str:
    """Returns folded `text` with its dates blanked out, so that other numbers can be told from theirs."""
    folded = fold(text)
    for pattern in (*_PATTERNS, _NUMERIC):
        folded = pattern.sub(" ", folded)
    return folded


def _date(year: int, month: int, day: int) -> datetime.date | None:
    try:
        return datetime.date(year, month, day)
    except ValueError:
        return None
