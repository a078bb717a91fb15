"""`summarise`: what came of a run. Episodes without a reward are counted beside the means, never in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from webserv.rollout.digest import EpisodeDigest

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
class Groups:
    """What came of tasks that were run several times, over those with a scored rollout."""

    tasks: int
    solved_by_any: int
    """Tasks that at least one rollout solved."""
    solved_by_all: int
    """Tasks that every scored rollout solved."""
    mixed: int
    """Tasks whose rewards differ: those that a group's baseline can learn from."""


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
    groups: Groups | None = None
    """None when every task was run once."""
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
    episodes: Iterable[EpisodeDigest], *, wall_s: float | None = None, planned: int | None = None
) -> Summary:
    """Works out the figures.

    Args:
        episodes: One digest per episode.
        wall_s: Wall time of the run, if it is known.
        planned: How many episodes were asked for; None takes the number of digests.
    """
    episodes = list(episodes)
    templates: dict[str, list[EpisodeDigest]] = {}
    tags: dict[str, list[EpisodeDigest]] = {}
    timings: dict[str, float] = {}
    errors: Counter[str] = Counter()
    for episode in episodes:
        templates.setdefault(episode.template, []).append(episode)
        for tag in episode.tags:
            tags.setdefault(tag, []).append(episode)
        for name, seconds in episode.timings.items():
            timings[name] = timings.get(name, 0.0) + seconds
        errors.update(episode.action_errors)
    return Summary(
        total=row("all", episodes),
        by_template=tuple(row(name, templates[name]) for name in sorted(templates)),
        by_tag=tuple(row(name, tags[name]) for name in sorted(tags)),
        failures=_sorted(Counter(str(episode.failure.kind) for episode in episodes if episode.failure)),
        endings=_sorted(Counter(str(episode.ended) for episode in episodes)),
        retried=sum(len(episode.attempts) for episode in episodes),
        action_errors=_sorted(errors),
        steps=sum(episode.steps for episode in episodes),
        groups=groups(episodes),
        timings={name: round(seconds, 3) for name, seconds in sorted(timings.items())},
        prompt_tokens=sum(episode.prompt_tokens for episode in episodes),
        completion_tokens=sum(episode.completion_tokens for episode in episodes),
        wall_s=None if wall_s is None else round(wall_s, 3),
        complete=planned is None or len(episodes) >= planned,
        planned=planned,
    )


def groups(episodes: Iterable[EpisodeDigest]) -> Groups | None:
    """Figures of the groups; None when no task was run more than once."""
    rewards: dict[str, list[float]] = {}
    repeated = False
    for episode in episodes:
        repeated = repeated or episode.repeat > 0
        if episode.reward is not None:
            rewards.setdefault(episode.task_id, []).append(episode.reward)
    if not repeated:
        return None
    return Groups(
        tasks=len(rewards),
        solved_by_any=sum(max(group) >= 1.0 for group in rewards.values()),
        solved_by_all=sum(min(group) >= 1.0 for group in rewards.values()),
        mixed=sum(max(group) > min(group) for group in rewards.values()),
    )


def row(name: str, episodes: Iterable[EpisodeDigest]) -> Row:
    """Figures of `episodes`."""
    episodes = list(episodes)
    scored = [episode for episode in episodes if episode.reward is not None]
    return Row(
        name=name,
        episodes=len(episodes),
        scored=len(scored),
        solved=sum(episode.solved for episode in scored),
        mean_reward=_mean(episode.reward for episode in scored if episode.reward is not None),
        mean_steps=_mean(episode.steps for episode in scored),
        mean_duration_s=_mean(episode.active_s for episode in scored),
    )


def _mean(values: Iterable[float]) -> float | None:
    values = list(values)
    return sum(values) / len(values) if values else None


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(counts.most_common())
