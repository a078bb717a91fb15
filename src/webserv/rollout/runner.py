"""`run_many`: many episodes at once, yielded as they complete.

A worker owns one environment and uses it for one episode after another. A failure of the environment is
retried in a fresh world by the same worker; what the failed attempt was is kept in the record that follows.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from webserv.errors import UserError
from webserv.rollout.digest import attempt_of, digest_of
from webserv.rollout.episode import Assignment, EpisodeOptions, RolloutEnv, run_episode
from webserv.rollout.policies.interface import PolicyFactory
from webserv.rollout.record import AttemptRecord, EpisodeRecord, StepRecord
from webserv.tasks.task import Task
from webserv.types import FailureKind

CLOSE_TIMEOUT_S = 30.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How many episodes are run at once and what happens when the environment fails."""

    workers: int = 1
    retries: int = 1
    """How often an episode that the environment spoiled is run again in a fresh world."""
    stop_after_failures: int | None = None
    """Give up when so many episodes in a row had no reward; None: 10, or three per worker if that is more."""


@dataclass
class Running:
    """An episode under way."""

    key: str
    attempt: int
    started: float = field(default_factory=time.monotonic)
    standing: bool = False
    """Whether its world stands and its first observation is there."""
    steps: int = 0
    last_action: str = ""


@dataclass
class RunProgress:
    """Live figures of a run, for a display; written by the runner on the event loop only."""

    total: int = 0
    finished: int = 0
    steps: int = 0
    """Steps of all attempts, spoiled ones included."""
    retried: int = 0
    running: dict[int, Running] = field(default_factory=dict)
    """By worker."""
    started: float = field(default_factory=time.monotonic)
    most_standing: int = 0
    """The most worlds that stood at the same moment, each with an episode past its first observation."""
    most_standing_after_s: float = 0.0
    """When that was, from the run's start."""

    def _reset(self, worker: int) -> None:
        self.running[worker].standing = True
        standing = sum(one.standing for one in self.running.values())
        if standing > self.most_standing:
            self.most_standing = standing
            self.most_standing_after_s = time.monotonic() - self.started

    def _stepped(self, worker: int, step: StepRecord) -> None:
        self.steps += 1
        self.running[worker].steps += 1
        self.running[worker].last_action = step.action


def assign(tasks: Iterable[Task], *, seed: int = 0, repeat: int = 1) -> list[Assignment]:
    """All rollouts of `tasks`, each `repeat` times: from the same state, the policy seeded differently."""
    return [
        Assignment(task, seed=seed, repeat=number, policy_seed=_policy_seed(task.id, seed, number))
        for task in tasks
        for number in range(repeat)
    ]


def _policy_seed(task_id: str, seed: int, repeat: int) -> int:
    digest = hashlib.sha256(f"{seed}:{repeat}:{task_id}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big")


async def run_many(
    assignments: Sequence[Assignment],
    *,
    make_env: Callable[[], RolloutEnv],
    make_policy: PolicyFactory,
    options: RunOptions | None = None,
    episode_options: EpisodeOptions | None = None,
    progress: RunProgress | None = None,
    on_record: Callable[[EpisodeRecord], None] | None = None,
) -> AsyncGenerator[EpisodeRecord, None]:
    """Runs all assignments and yields each record as its episode ends, in no particular order.

    Wrap it in `contextlib.aclosing` when you may leave the loop early: closing it cancels what is running and
    gives every world back. A cancel does the same.

    Args:
        assignments: What to run; see `assign`.
        make_env: Makes an environment; called once per worker and again after each failure.
        make_policy: Makes the policy of one episode.
        options: Concurrency and retries.
        episode_options: Deadlines and what records keep.
        progress: Is kept up to date for a display.
        on_record: Called in the moment an episode ends. A cancel may come before the record is yielded; whoever
            must not lose any takes them here.

    Raises:
        UserError: Something is wrong that the user can mend and that all further episodes would meet. What
            had finished before has been yielded.
    """
    async with _Workers(
        assignments,
        make_env,
        make_policy,
        options or RunOptions(),
        episode_options or EpisodeOptions(),
        progress or RunProgress(),
        on_record or (lambda record: None),
    ) as workers:
        while (record := await workers.next_record()) is not None:
            yield record
            workers.check_worth(record)


class _Workers:
    """The worker tasks of one run and the queue of what they finished."""

    def __init__(
        self,
        assignments: Sequence[Assignment],
        make_env: Callable[[], RolloutEnv],
        make_policy: PolicyFactory,
        options: RunOptions,
        episode_options: EpisodeOptions,
        progress: RunProgress,
        on_record: Callable[[EpisodeRecord], None],
    ) -> None:
        self._todo = iter(assignments)
        self._make_env = make_env
        self._make_policy = make_policy
        self._options = options
        self._episode_options = episode_options
        self._progress = progress
        self._on_record = on_record
        progress.total = len(assignments)
        progress.started = time.monotonic()
        # Records, and the worker tasks themselves as each of them ends.
        self._done: asyncio.Queue[EpisodeRecord | asyncio.Task[None]] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []
        self._working = min(options.workers, len(assignments))
        self._error: BaseException | None = None
        self._spoiled = 0

    async def __aenter__(self) -> Self:
        for number in range(self._working):
            task = asyncio.create_task(self._work(number), name=f"rollout-worker-{number}")
            task.add_done_callback(self._done.put_nowait)
            self._tasks.append(task)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def next_record(self) -> EpisodeRecord | None:
        """The next record, waited for; None when all workers have ended.

        Raises what ended a worker, once what had finished before was handed out.
        """
        while (self._working and self._error is None) or not self._done.empty():
            item = await self._done.get()
            if isinstance(item, EpisodeRecord):
                self._progress.finished += 1
                return item
            self._working -= 1
            self._error = self._error or (asyncio.CancelledError() if item.cancelled() else item.exception())
        if self._error is not None:
            raise self._error
        return None

    def check_worth(self, record: EpisodeRecord) -> None:
        """Raises `UserError` when so many episodes in a row had no reward that the rest will have none either."""
        limit = self._options.stop_after_failures or max(10, 3 * self._options.workers)
        self._spoiled = 0 if record.failure is None else self._spoiled + 1
        if record.failure is not None and self._spoiled >= limit:
            message = f"Stopped: the last {limit} episodes all failed, at last with: {record.failure.message}"
            raise UserError(message, hint="Mend that and go on with --resume.")

    async def _work(self, number: int) -> None:
        env: RolloutEnv | None = None
        try:
            for assignment in self._todo:
                attempts: tuple[AttemptRecord, ...] = ()
                while True:
                    if env is None:
                        env = self._make_env()
                    record = await self._run(number, env, assignment, attempts)
                    if record.failure is None:
                        break
                    # Whatever failed, this env may hold half an episode: the next one begins in a fresh
                    # world.
                    await _close(env)
                    env = None
                    if record.failure.kind is not FailureKind.ENV or len(attempts) >= self._options.retries:
                        break
                    self._progress.retried += 1
                    attempts = (*attempts, attempt_of(digest_of(record)))
                record = replace(record, attempts=attempts)
                self._on_record(record)
                self._done.put_nowait(record)
        finally:
            if env is not None:
                await _close(env)

    async def _run(
        self, number: int, env: RolloutEnv, assignment: Assignment, attempts: tuple[AttemptRecord, ...]
    ) -> EpisodeRecord:
        watched = self._episode_options

        def on_reset() -> None:
            self._progress._reset(number)
            if watched.on_reset is not None:
                watched.on_reset()

        def on_step(step: StepRecord) -> None:
            self._progress._stepped(number, step)
            if watched.on_step is not None:
                watched.on_step(step)

        self._progress.running[number] = Running(assignment.key, len(attempts) + 1)
        try:
            return await run_episode(
                env, self._make_policy, assignment, replace(watched, on_reset=on_reset, on_step=on_step)
            )
        finally:
            self._progress.running.pop(number, None)


async def _close(env: RolloutEnv) -> None:
    """Gives an env's world back; an env that cannot even do that is left to the host's reaper."""
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT_S):
            await env.close()
    except Exception as error:  # an outermost loop: a dead browser must not end the worker
        _log.warning("An environment could not be closed: %r", error)


async def run_all(
    assignments: Sequence[Assignment],
    *,
    make_env: Callable[[], RolloutEnv],
    make_policy: PolicyFactory,
    options: RunOptions | None = None,
    episode_options: EpisodeOptions | None = None,
) -> list[EpisodeRecord]:
    """`run_many`, collected and brought into the order of the assignments.

    Raises:
        UserError: As `run_many`.
    """
    stream = run_many(
        assignments,
        make_env=make_env,
        make_policy=make_policy,
        options=options,
        episode_options=episode_options,
    )
    records = {record.key: record async for record in stream}
    return [records[assignment.key] for assignment in assignments if assignment.key in records]
