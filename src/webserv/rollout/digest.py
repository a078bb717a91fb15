"""`EpisodeDigest`: an episode in a few hundred bytes, so that a run of any size can be summed up in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from webserv.rollout.record import AttemptRecord, Ending, EpisodeRecord
from webserv.types import Failure


@dataclass(frozen=True, slots=True)
class EpisodeDigest:
    """What lists and summaries need of an `EpisodeRecord`; fields of the same name mean the same."""

    key: str
    task_id: str
    template: str
    intent: str
    tags: tuple[str, ...]
    repeat: int
    reward: float | None
    ended: Ending
    failure: Failure | None
    steps: int
    max_steps: int
    duration_s: float
    started_at: str
    world: str
    timings: Mapping[str, float]
    action_errors: Mapping[str, int]
    """Actions that did not happen by kind of error."""
    prompt_tokens: int
    completion_tokens: int
    attempts: tuple[AttemptRecord, ...]
    offset: int = 0
    """Where its record begins in the file of episodes."""

    @property
    def solved(self) -> bool:
        """Whether the episode got the full reward."""
        return self.reward is not None and self.reward >= 1.0

    @property
    def active_s(self) -> float:
        """Wall time without queueing."""
        return max(0.0, self.duration_s - self.timings.get("queue", 0.0))


def digest_of(record: EpisodeRecord, *, offset: int = 0) -> EpisodeDigest:
    """Sums `record` up."""
    errors = Counter(str(step.observation.error.kind) for step in record.steps if step.observation.error)
    return EpisodeDigest(
        key=record.key,
        task_id=record.task_id,
        template=record.template,
        intent=record.intent,
        tags=record.tags,
        repeat=record.repeat,
        reward=record.reward,
        ended=record.ended,
        failure=record.failure,
        steps=len(record.steps),
        max_steps=record.max_steps,
        duration_s=record.duration_s,
        started_at=record.started_at,
        world=record.world,
        timings=dict(record.timings),
        action_errors=dict(errors),
        prompt_tokens=record.prompt_tokens,
        completion_tokens=record.completion_tokens,
        attempts=record.attempts,
        offset=offset,
    )


def attempt_of(digest: EpisodeDigest) -> AttemptRecord:
    """What is kept of a spoiled attempt once the episode is run again.

    Raises:
        ValueError: The episode did not fail.
    """
    if digest.failure is None:
        raise ValueError(f"Episode {digest.key} did not fail.")
    return AttemptRecord(
        failure=digest.failure,
        steps=digest.steps,
        world=digest.world,
        started_at=digest.started_at,
        duration_s=digest.duration_s,
    )
