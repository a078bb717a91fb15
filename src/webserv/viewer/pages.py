"""What the episode pages show, worked out from records: file names, cards, differences between observations."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from webserv.rollout.digest import EpisodeDigest
from webserv.rollout.record import EpisodeRecord, ObservationRecord, StepRecord

_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class EpisodeLink:
    """An episode in a list, with the file of its page."""

    digest: EpisodeDigest
    file: str
    outcome: str
    """``solved``, ``unsolved`` or ``unscored``."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Some lines of an observation."""

    text: str
    new: bool
    """Whether the observation before did not have them."""


@dataclass(frozen=True, slots=True)
class Card:
    """What the policy saw, what it did, and what came of it."""

    number: int
    """From 1; the last card has the end state and no step."""
    saw: ObservationRecord
    passages: tuple[Passage, ...]
    screenshot: str | None
    """Relative address."""
    step: StepRecord | None
    box: str
    """``x,y,width,height`` of the action's target on the screenshot; empty when unknown."""
    aim: str
    """How the observation showed the action's target; empty when unknown."""
    thought: str
    """What the completion says beside the action."""


@dataclass(frozen=True, slots=True)
class EpisodePage:
    """An episode as its page shows it."""

    record: EpisodeRecord
    outcome: str
    cards: tuple[Card, ...]


def links(digests: Iterable[EpisodeDigest]) -> list[EpisodeLink]:
    """The episodes with the files of their pages, in the given order."""
    return [EpisodeLink(digest, _file_name(digest.key), _outcome(digest)) for digest in digests]


def episode_page(record: EpisodeRecord, *, blobs: str) -> EpisodePage:
    """Works out the page of one episode.

    Args:
        record: The episode.
        blobs: Relative address of the run's blobs, without a slash at its end.
    """
    seen = [record.first, *(step.observation for step in record.steps)]
    steps: list[StepRecord | None] = [*record.steps, None]
    cards = []
    before: ObservationRecord | None = None
    for number, (saw, step) in enumerate(zip(seen, steps, strict=True), start=1):
        if saw is None:
            continue
        cards.append(_card(number, saw, before, step, blobs))
        before = saw
    return EpisodePage(record, _outcome(record), tuple(cards))


def _card(
    number: int, saw: ObservationRecord, before: ObservationRecord | None, step: StepRecord | None, blobs: str
) -> Card:
    name, box = saw.screenshot, step.target_box if step else None
    return Card(
        number=number,
        saw=saw,
        passages=tuple(passages(saw.text, before.text if before else None)),
        screenshot=f"{blobs}/{name[:2]}/{name}"
        if name and re.fullmatch(r"[0-9a-f]+\.[a-z]+", name)
        else None,
        step=step,
        box=",".join(f"{side:g}" for side in (box.x, box.y, box.width, box.height)) if box else "",
        aim=_aim(saw.text, step.target) if step and step.target else "",
        thought=_thought(step) if step else "",
    )


def passages(text: str, before: str | None) -> Sequence[Passage]:
    """`text` in passages that are new since `before` or not; None for `before` marks nothing as new."""
    known = set(before.splitlines()) if before is not None else None
    found: list[Passage] = []
    lines: list[str] = []
    new = False
    for line in text.splitlines():
        is_new = known is not None and bool(line.strip()) and line not in known
        if is_new != new and lines:
            found.append(Passage("\n".join(lines), new))
            lines = []
        new = is_new
        lines.append(line)
    return [*found, Passage("\n".join(lines), new)] if lines else found


def _aim(text: str, target: str, *, width: int = 120) -> str:
    """The observation's words about `target`, from its id on to the next id or the line's end."""
    start = text.find(f"[{target}]")
    if start < 0:
        return ""
    words = re.split(r"\n|\s\[(?=\w+\] )", text[start : start + 4 * width], maxsplit=1)[0]
    return words if len(words) <= width else words[: width - 1] + "…"


def _thought(step: StepRecord) -> str:
    """The completion without the action at its end, which stands beside it."""
    spoken = step.completion.rstrip().removesuffix("```").rstrip()
    if step.action and spoken.endswith(step.action):
        spoken = re.sub(r"(```\w*|action:)?\s*\Z", "", spoken.removesuffix(step.action), flags=re.IGNORECASE)
        return spoken.strip()
    return step.completion.strip()


def _outcome(episode: EpisodeDigest | EpisodeRecord) -> str:
    if episode.reward is None:
        return "unscored"
    return "solved" if episode.solved else "unsolved"


def _file_name(key: str) -> str:
    """A file name that a person recognises and that no two keys share."""
    readable = re.sub(r"[^A-Za-z0-9]+", "-", key).strip("-")[:_LONGEST_NAME]
    return f"{readable}-{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}.html"
