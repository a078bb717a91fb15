"""How the report's pages write numbers, and the parts of its time bars."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

NONE = "\N{EN DASH}"
"""Stands where there is no figure."""
PARTS = ("reset", "policy", "act", "settle", "observe", "screenshot", "evaluate", "other", "queue")
"""Parts of an episode's time in the order of the bars."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a time bar."""

    name: str
    seconds: float
    share: float
    """Of the bar, 0.0 to 1.0."""


def parts(timings: Mapping[str, float]) -> list[Part]:
    """The parts of a time bar; what is not known by name is added to ``other``."""
    seconds = {name: max(0.0, timings.get(name, 0.0)) for name in PARTS}
    seconds["other"] += sum(max(0.0, value) for name, value in timings.items() if name not in PARTS)
    total = sum(seconds.values())
    return [
        Part(name, value, value / total) for name, value in seconds.items() if total and value / total > 0.001
    ]


def percent(share: float | None) -> str:
    """A share as per cent; a dash when there is none."""
    if share is None:
        return NONE
    # 99.6 % must not read as 100 %: only a full share does.
    rounded = round(100 * share)
    if (rounded == 100 and share < 1) or (rounded == 0 and share > 0):
        return f"{100 * share:.1f}\u202f%"
    return f"{rounded}\u202f%"


def seconds(value: float | None) -> str:
    """A duration with a unit that suits it; a dash when there is none."""
    if value is None:
        return NONE
    if value < 0.9995:
        return f"{1000 * value:.0f}\u202fms"
    if value < 99.5:
        return f"{value:.1f}\u202fs"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes}\u202fmin {rest:02}\u202fs"
    return f"{minutes // 60}\u202fh {minutes % 60:02}\u202fmin"


def count(value: float | None) -> str:
    """A number with thin spaces between thousands; a dash when there is none."""
    if value is None:
        return NONE
    text = f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
    return text.replace(",", "\u202f")


def plain(text: str) -> str:
    """A figure in ASCII, for terminals and logs."""
    return text.replace("\u202f", " ").replace(NONE, "-")


def reward(value: float | None) -> str:
    """A reward; a dash when there is none."""
    return NONE if value is None else f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"


_ENDINGS = {
    "terminated": "ended by the policy",
    "budget": "ran out of steps",
    "deadline": "ran out of time",
    "failure": "failed",
}


def ending(name: str) -> str:
    """What ended an episode (`webserv.rollout.record.Ending`), in words."""
    return _ENDINGS.get(name, name)


def interval(solved: int, scored: int) -> str:
    """Wilson's 95 % interval of a success rate, in words; empty when nothing was scored."""
    if not scored:
        return ""
    z, share = 1.96, solved / scored
    middle = share + z * z / (2 * scored)
    spread = z * math.sqrt(share * (1 - share) / scored + z * z / (4 * scored * scored))
    scale = 1 + z * z / scored
    low, high = max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)
    return f"95\u202f% interval {100 * low:.0f} to {100 * high:.0f}\u202f%"
