"""`summarise`: what came of a run. Episodes without a reward are counted beside the means, never in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from webserv.rollout.record import EpisodeRecord

NOT_COUNTED = (
    "Episodes without a reward (failures of the environment, the policy or the check) are in no mean."
)


@dataclass(frozen=True, slots=True)
class Row:
    """Figures of some of the episodes: of one template, one tag or all."""

    name: str
    episodes: int
    scored: int
    """Episodes with a reward: what all means are over."""
    solved: int
    """Episodes with the full reward."""
    mean_reward: float | None
    """None when no episode was scored."""
    mean_steps: float | None
    mean_duration_s: float | None
    """Without queueing."""

    @property
    def success(self) -> float | None:
        """Share of the scored episodes that were solved; None when none was scored."""
        return self.solved / self.scored if self.scored else None

    @property
    def unscored(self) -> int:
        """Episodes without a reward."""
        return self.episodes - self.scored


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures of a run."""

    total: Row
    by_template: tuple[Row, ...]
    by_tag: tuple[Row, ...]
    failures: Mapping[str, int]
    """Episodes without a reward by kind of failure."""
    endings: Mapping[str, int]
    retried: int
    """Attempts that the environment spoiled and that were run again."""
    action_errors: Mapping[str, int]
    """Actions that did not happen by kind of error."""
    steps: int
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds by part, summed over all episodes."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    wall_s: float | None = None
    """Wall time of the run (of its last part, when it was resumed)."""
    complete: bool = True
    """Whether every episode that was asked for has a record."""
    planned: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, with the success rates worked out and what they leave out said."""
        raw = asdict(self)
        raw["total"]["success"] = self.total.success
        for rows, plain in ((self.by_template, raw["by_template"]), (self.by_tag, raw["by_tag"])):
            for row, entry in zip(rows, plain, strict=True):
                entry["success"] = row.success
        return {**raw, "note": NOT_COUNTED}


def summarise(
    records: Iterable[EpisodeRecord], *, wall_s: float | None = None, planned: int | None = None
) -> Summary:
    """Works out the figures.

    Args:
        records: One per episode.
        wall_s: Wall time of the run, if it is known.
        planned: How many episodes were asked for; None takes the number of records.
    """
    records = list(records)
    templates: dict[str, list[EpisodeRecord]] = {}
    tags: dict[str, list[EpisodeRecord]] = {}
    timings: Counter[str] = Counter()
    for record in records:
        templates.setdefault(record.template, []).append(record)
        for tag in record.tags:
            tags.setdefault(tag, []).append(record)
        for name, seconds in record.timings.items():
            timings[name] += seconds  # type: ignore[assignment]  # Counter adds floats as well
    return Summary(
        total=row("all", records),
        by_template=tuple(row(name, templates[name]) for name in sorted(templates)),
        by_tag=tuple(row(name, tags[name]) for name in sorted(tags)),
        failures=_sorted(Counter(str(record.failure.kind) for record in records if record.failure)),
        endings=_sorted(Counter(str(record.ended) for record in records)),
        retried=sum(len(record.attempts) for record in records),
        action_errors=_sorted(
            Counter(
                str(step.observation.error.kind)
                for record in records
                for step in record.steps
                if step.observation.error
            )
        ),
        steps=sum(len(record.steps) for record in records),
        timings={name: round(seconds, 3) for name, seconds in sorted(timings.items())},
        prompt_tokens=sum(record.prompt_tokens for record in records),
        completion_tokens=sum(record.completion_tokens for record in records),
        wall_s=None if wall_s is None else round(wall_s, 3),
        complete=planned is None or len(records) >= planned,
        planned=planned,
    )


def row(name: str, records: Iterable[EpisodeRecord]) -> Row:
    """Figures of `records`."""
    records = list(records)
    scored = [record for record in records if record.reward is not None]
    return Row(
        name=name,
        episodes=len(records),
        scored=len(scored),
        solved=sum(record.solved for record in scored),
        mean_reward=_mean(record.reward for record in scored if record.reward is not None),
        mean_steps=_mean(len(record.steps) for record in scored),
        mean_duration_s=_mean(record.duration_s - record.timings.get("queue", 0.0) for record in scored),
    )


def _mean(values: Iterable[float]) -> float | None:
    values = list(values)
    return sum(values) / len(values) if values else None


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(counts.most_common())
