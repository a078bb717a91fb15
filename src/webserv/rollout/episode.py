"""`run_episode`: one policy, one task, one environment, one record.

An episode always ends in a record. Only two things leave `run_episode` as exceptions: a `UserError` (the
whole run is in vain, and the user can mend it) and a cancel.
"""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from webserv.browser.actions.grammar import parse_action
from webserv.browser.actions.types import Action
from webserv.errors import EnvFailure, UserError, WebServError
from webserv.rollout.policies.interface import Policy, PolicyFactory, PolicyOutput
from webserv.rollout.record import Ending, EpisodeRecord, ObservationRecord, StepRecord
from webserv.tasks.task import Task
from webserv.types import Box, Failure, FailureKind, Observation, Score, StepResult

_log = logging.getLogger(__name__)


class RolloutEnv(Protocol):
    """What a rollout needs of an environment; `webserv.env.WebEnv` is one."""

    async def reset(self, task: Task, *, seed: int = 0) -> Observation:
        """Starts an episode in a fresh world.

        Raises:
            EnvFailure: The world or the browser failed.
        """
        ...

    async def step(self, action: str | Mapping[str, Any]) -> StepResult:
        """Carries out one action; a failure of the environment is in the result."""
        ...

    async def close(self) -> None:
        """Gives the world back; a second call is harmless."""
        ...


@dataclass(frozen=True, slots=True)
class Deadlines:
    """How long the parts of an episode may take. None is no limit."""

    reset_s: float | None = 300.0
    """Asking for a world to the first observation, queueing for a world included: a guard against a hang."""
    step_s: float | None = 120.0
    """One action to its observation, the verdict included. Beyond it the environment has failed."""
    policy_s: float | None = 1800.0
    """One decision, waiting for a busy endpoint included. Beyond it the policy has failed."""
    episode_s: float | None = 3600.0
    """The episode after its reset, without what it queued. Beyond it the end state is judged as it stands."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One rollout to do: a task, a seed and which repeat of the task it is."""

    task: Task
    seed: int = 0
    repeat: int = 0
    policy_seed: int = 0

    @property
    def key(self) -> str:
        """Unique in a run."""
        return f"{self.task.id}#{self.repeat}"


KeepScreenshot = Callable[[bytes, str], str]
"""Stores an image (bytes, ``"png"`` or ``"jpeg"``) and returns its name."""


@dataclass
class EpisodeOptions:
    """How episodes are run and what their records keep."""

    deadlines: Deadlines = field(default_factory=Deadlines)
    policy_name: str = ""
    keep_screenshot: KeepScreenshot | None = None
    """Where screenshots go; None drops them."""
    keep_prompts: bool = True
    on_reset: Callable[[], None] | None = None
    """Called once the episode's world stands and its first observation is there."""
    on_step: Callable[[StepRecord], None] | None = None
    """Called after each step, for a progress display."""


async def run_episode(
    env: RolloutEnv, make_policy: PolicyFactory, assignment: Assignment, options: EpisodeOptions | None = None
) -> EpisodeRecord:
    """Runs one episode to its end.

    An unforeseen exception of the policy or the environment is kept with its traceback in the record.

    Args:
        env: A free environment. It is not closed, and after a failure it should not be used again.
        make_policy: Makes the policy that lives for this episode.
        assignment: What to run.
        options: Deadlines and what is kept.

    Raises:
        UserError: Something is wrong that the user can mend and that no other episode would survive.
    """
    episode = _Episode(env, assignment, options or EpisodeOptions())
    try:
        made = _make(make_policy, assignment)
        if isinstance(made, _Refused):
            return episode.failed(made.failure, detail=made.detail)
        try:
            return await episode.run(made)
        finally:
            await _close(made)
    except UserError:
        raise
    except EnvFailure as error:
        return episode.failed(Failure(error.kind, str(error)))
    except (
        Exception
    ) as error:  # the outermost loop around one episode: a bug must not spoil the thousand others
        message = f"Unforeseen {type(error).__name__}: {error}".rstrip(": ")
        return episode.failed(Failure(FailureKind.ENV, message), detail=traceback.format_exc())


def _make(make_policy: PolicyFactory, assignment: Assignment) -> Policy | _Refused:
    """The episode's policy.

    Raises:
        UserError: What the factory gives is no policy, and no other episode's will be.
    """
    try:
        policy = make_policy(assignment.task, seed=assignment.policy_seed)
    except UserError:
        raise
    except EnvFailure as error:
        return _Refused(Failure(error.kind, str(error)))
    except Exception as error:  # anybody's code, as the policy itself
        message = f"Making the policy raised {type(error).__name__}: {error}".rstrip(": ")
        return _Refused(Failure(FailureKind.POLICY, message), traceback.format_exc())
    lacking = [name for name in ("act", "close") if not callable(getattr(policy, name, None))]
    if lacking:
        raise UserError(
            f"What the policy's factory returned for a task is a {type(policy).__name__} without "
            f"{' and '.join(lacking)}, not a policy.",
            hint="A policy has the async methods act(observation) and close().",
        )
    return policy


async def _close(policy: Policy) -> None:
    """Closes the policy. A verdict that is there already stays, whatever comes of this."""
    try:
        await policy.close()
    except WebServError:
        raise
    except Exception as error:  # anybody's code
        _log.warning("A policy could not be closed: %r", error)


class _Episode:
    """The state of one running episode."""

    def __init__(self, env: RolloutEnv, assignment: Assignment, options: EpisodeOptions) -> None:
        self._env = env
        self._assignment = assignment
        self._options = options
        self._started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._started = time.monotonic()
        self._first: ObservationRecord | None = None
        self._steps: list[StepRecord] = []
        self._timings: dict[str, float] = {}
        self._used_s = 0.0
        self._world = ""
        self._blocked: dict[str, None] = {}

    async def run(self, policy: Policy) -> EpisodeRecord:
        deadlines = self._options.deadlines
        try:
            observation = await self._reset()
        except TimeoutError:
            return self.failed(Failure(FailureKind.ENV, f"The reset took more than {deadlines.reset_s:g} s."))
        while True:
            if deadlines.episode_s is not None and self._used_s >= deadlines.episode_s:
                output, overtime = PolicyOutput("terminate()"), True
                policy_timings: dict[str, float] = {}
            else:
                overtime = False
                decision = await self._decide(policy, observation)
                if isinstance(decision, _Refused):
                    return self.failed(decision.failure, detail=decision.detail)
                output, policy_timings = decision
            begun = time.monotonic()
            try:
                async with asyncio.timeout(deadlines.step_s):
                    result = await self._env.step(output.action)
            except TimeoutError:
                message = f"The step {_shorten(output.action)} took more than {deadlines.step_s:g} s."
                return self.failed(Failure(FailureKind.ENV, message))
            self._add_step(observation, output, result, policy_timings, time.monotonic() - begun)
            observation = result.observation
            if result.terminated or result.truncated:
                return self._ended(result, overtime=overtime)
            if overtime:  # terminate() always ends an episode; an env that thinks otherwise would loop here
                return self.failed(Failure(FailureKind.ENV, "The environment did not end on terminate()."))

    async def _reset(self) -> Observation:
        begun = time.monotonic()
        async with asyncio.timeout(self._options.deadlines.reset_s):
            observation = await self._env.reset(self._assignment.task, seed=self._assignment.seed)
        wall = time.monotonic() - begun
        queued = float(getattr(self._env, "timings", {}).get("queue", 0.0))
        self._timings |= {"reset": max(0.0, wall - queued), "queue": queued}
        self._first = self._observation(observation)
        if self._options.on_reset is not None:
            self._options.on_reset()
        return observation

    async def _decide(
        self, policy: Policy, observation: Observation
    ) -> tuple[PolicyOutput, dict[str, float]] | _Refused:
        begun = time.monotonic()
        limit = self._options.deadlines.policy_s
        try:
            async with asyncio.timeout(limit):
                output = await policy.act(observation)
        except UserError:
            raise
        except EnvFailure as error:
            return _Refused(Failure(error.kind, str(error)))
        except TimeoutError:
            return _Refused(Failure(FailureKind.POLICY, f"The policy took more than {limit:g} s."))
        except (
            Exception
        ) as error:  # a policy is anybody's code; one that breaks must not spoil the other episodes
            message = f"The policy raised {type(error).__name__}: {error}".rstrip(": ")
            return _Refused(Failure(FailureKind.POLICY, message), traceback.format_exc())
        if not isinstance(output, PolicyOutput):
            message = f"The policy's act returned a {type(output).__name__}, not a PolicyOutput."
            return _Refused(Failure(FailureKind.POLICY, message))
        wall = time.monotonic() - begun
        queued = min(wall, float(output.extra.get("queued_s", 0.0)))
        return output, {"policy": wall - queued, "queue": queued}

    def _add_step(
        self,
        before: Observation,
        output: PolicyOutput,
        result: StepResult,
        policy_timings: dict[str, float],
        wall: float,
    ) -> None:
        env_timings = {**result.observation.timings, **result.info.get("timings", {})}
        timings = policy_timings | {name: round(value, 6) for name, value in env_timings.items()}
        timings["other"] = max(0.0, wall - sum(env_timings.values()))
        for name, value in timings.items():
            self._timings[name] = self._timings.get(name, 0.0) + value
        self._used_s += wall + policy_timings.get("policy", 0.0)
        self._world = str(result.info.get("world", self._world))
        self._blocked |= dict.fromkeys(str(address) for address in result.info.get("blocked", ()))
        target, box = _target(_parsed(output.action), before)
        step = StepRecord(
            index=len(self._steps),
            action=output.action,
            observation=self._observation(result.observation),
            target=target,
            target_box=box,
            completion=output.completion,
            prompt=tuple(output.prompt) if self._options.keep_prompts else (),
            prompt_tokens=output.prompt_tokens,
            completion_tokens=output.completion_tokens,
            prompt_ids=output.prompt_ids,
            completion_ids=output.completion_ids,
            logprobs=output.logprobs,
            finish_reason=output.finish_reason,
            extra=dict(output.extra),
            timings={name: round(value, 6) for name, value in timings.items()},
        )
        self._steps.append(step)
        if self._options.on_step is not None:
            self._options.on_step(step)

    def _observation(self, observation: Observation) -> ObservationRecord:
        keep, image = self._options.keep_screenshot, observation.screenshot
        return ObservationRecord(
            text=observation.text,
            url=observation.url,
            title=observation.title,
            error=observation.error,
            settle=observation.settle,
            dialog=observation.dialog.message if observation.dialog else "",
            tabs=len(observation.tabs),
            screenshot=keep(image, observation.screenshot_type) if keep and image is not None else None,
        )

    def _ended(self, result: StepResult, *, overtime: bool) -> EpisodeRecord:
        if result.failure is not None:
            return self.failed(result.failure)
        if result.reward is None:
            message = "The environment ended the episode without a reward and without naming a failure."
            return self.failed(Failure(FailureKind.ENV, message))
        ending = Ending.DEADLINE if overtime else Ending.TERMINATED if result.terminated else Ending.BUDGET
        return replace(
            self._record(),
            reward=result.reward,
            score=result.score or Score(result.reward),
            ended=ending,
            answer=getattr(_parsed(self._steps[-1].action), "answer", None),
            terminated=ending is Ending.TERMINATED,
            truncated=ending is not Ending.TERMINATED,
        )

    def failed(self, failure: Failure, *, detail: str = "") -> EpisodeRecord:
        return replace(self._record(), failure=failure, failure_detail=detail, truncated=True)

    def _record(self) -> EpisodeRecord:
        task = self._assignment.task
        return EpisodeRecord(
            key=self._assignment.key,
            task_id=task.id,
            benchmark=task.benchmark,
            template=task.template or task.id,
            intent=task.intent,
            policy=self._options.policy_name,
            seed=self._assignment.seed,
            policy_seed=self._assignment.policy_seed,
            repeat=self._assignment.repeat,
            max_steps=task.max_steps,
            reward=None,
            ended=Ending.FAILURE,
            first=self._first,
            steps=tuple(self._steps),
            timings={name: round(value, 6) for name, value in self._timings.items()},
            started_at=self._started_at,
            duration_s=round(time.monotonic() - self._started, 6),
            world=self._world or self._standing_world(),
            blocked=tuple(self._blocked),
            sites=task.sites,
            start_urls=task.start_urls,
            tags=task.tags,
            params=dict(task.params),
        )

    def _standing_world(self) -> str:
        """The world's id before any step has told it, where the environment shows its world."""
        world = getattr(self._env, "world", None)
        return str(getattr(world, "id", ""))


@dataclass(frozen=True, slots=True)
class _Refused:
    """The policy could not decide."""

    failure: Failure
    detail: str = ""


def _target(action: Action | None, before: Observation) -> tuple[str | None, Box | None]:
    """The element of `before` that the action is about, for drawing it on the screenshot."""
    target = getattr(action, "target", None)
    for element in before.elements if target else ():
        if element.id == target:
            return element.id, element.box
    return None, None


def _parsed(action: str) -> Action | None:
    try:
        return parse_action(action)
    except Exception:  # the environment has said what is wrong with it
        return None


def _shorten(action: str, length: int = 80) -> str:
    return action if len(action) <= length else action[: length - 1] + "…"
