"""`FakeEnv` and `FakePolicy`: the rollouts' two partners without a browser, for tests of what drives them.

The fake site is a row of numbered pages. ``next()`` goes one page on, ``terminate("answer")`` ends the
episode with the page's number over the goal's as the score, anything else is a malformed action.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from webserv.errors import PolicyFailed, WorldFailed
from webserv.rollout.policies.interface import PolicyOutput
from webserv.tasks.task import Task
from webserv.types import (
    ActionError,
    ActionErrorKind,
    Box,
    Element,
    Failure,
    FailureKind,
    Observation,
    Score,
    Settle,
    StepResult,
    Tab,
)


def fake_task(number: int = 0, **changes: Any) -> Task:
    """A task for the fake site; `changes` are fields of `Task`."""
    fields: dict[str, Any] = {
        "id": f"fake/walk-v1:{number}",
        "benchmark": "fake",
        "intent": "Go to page 2 and say that you are there.",
        "sites": ("fake",),
        "start_urls": ("http://fake.example/0",),
        "evaluators": (),
        "max_steps": 5,
        "template": "fake/walk-v1",
        "params": {"goal": 2},
        "tags": ("read",),
    }
    return Task(**(fields | changes))


@dataclass
class FakeHost:
    """Makes `FakeEnv`s that share one list of faults, and counts them.

    Faults are drawn in order, one per reset: None (all goes well), ``"reset"`` and ``"step"`` (the world
    fails there), ``"hang"`` (the first step never ends), ``"evaluator"`` (the check breaks), ``"bug"`` (an
    exception that no one foresaw), ``"silent"`` (an end without reward and without a failure).
    """

    faults: Iterable[str | None] = ()
    screenshot: Callable[[int], bytes] | None = None
    """Makes the screenshot of a page; None gives none."""
    before_step: Callable[[], Any] | None = None
    """Awaited before each step, to hold episodes where a test wants them."""
    made: int = 0
    opened: int = 0
    """Worlds that stand now."""
    most: int = 0
    """The most worlds that ever stood at once."""
    resets: list[tuple[str, int]] = field(default_factory=list)
    """Task id and seed of each reset."""
    _left: Iterator[str | None] = field(init=False)

    def __post_init__(self) -> None:
        self._left = iter(self.faults)

    def make_env(self, options: Any = None) -> FakeEnv:
        """A new environment."""
        self.made += 1
        return FakeEnv(self)

    def _next_fault(self) -> str | None:
        return next(self._left, None)


class FakeEnv:
    """An environment of the fake site; make it by `FakeHost.make_env`."""

    def __init__(self, host: FakeHost) -> None:
        self._host = host
        self._task = fake_task()
        self._page = 0
        self._steps = 0
        self._fault: str | None = None
        self._open = False
        self.timings: dict[str, float] = {}
        self.closed = False

    async def reset(self, task: Task, *, seed: int = 0) -> Observation:
        """Starts on page 0.

        Raises:
            WorldFailed: The fault is ``"reset"``.
        """
        if self.closed:
            raise RuntimeError("This env is closed.")
        self._fault = self._host._next_fault()
        self._host.resets.append((task.id, seed))
        self._task, self._page, self._steps = task, 0, 0
        self.timings = {"queue": 0.0, "world": 0.001}
        if self._fault == "reset":
            raise WorldFailed("The fake world never became ready.")
        if not self._open:
            self._open = True
            self._host.opened += 1
            self._host.most = max(self._host.most, self._host.opened)
        await asyncio.sleep(0)
        return self._observe()

    async def step(self, action: str | Mapping[str, Any]) -> StepResult:
        """Carries out ``next()`` or ``terminate(…)``."""
        if self._host.before_step is not None:
            await self._host.before_step()
        await asyncio.sleep(0)
        if self._fault == "hang":
            await asyncio.Event().wait()
        if self._fault == "bug":
            raise ZeroDivisionError("a bug of the fake env")
        self._steps += 1
        if self._fault == "step":
            return self._failed(Failure(FailureKind.ENV, "The fake world died."))
        answer = re.fullmatch(r'terminate\((?:"(.*)")?\)', str(action), re.DOTALL)
        error = None
        if action == "next()":
            self._page += 1
        elif answer is None:
            error = ActionError(ActionErrorKind.MALFORMED, f"{action!r} is no action.")
        ended = answer is not None or self._steps >= self._task.max_steps
        if ended and self._fault == "evaluator":
            return self._failed(Failure(FailureKind.EVALUATOR, "The fake check broke."))
        if ended and self._fault == "silent":
            return StepResult(self._observe(), None, terminated=True, truncated=False)
        goal = int(self._task.params.get("goal", 2))
        score = Score(min(1.0, self._page / goal), (f"page {goal} expected, page {self._page} found",))
        return StepResult(
            observation=self._observe(error),
            reward=score.value if ended else None,
            terminated=answer is not None,
            truncated=ended and answer is None,
            score=score if ended else None,
            info={
                "world": "fake-1",
                "timings": {"evaluate": 0.001} if ended else {},
                "blocked": ["tracker.example:443"],
            },
        )

    async def close(self) -> None:
        """Gives the world back."""
        self.closed = True
        if self._open:
            self._open = False
            self._host.opened -= 1

    def _failed(self, failure: Failure) -> StepResult:
        return StepResult(self._observe(), None, terminated=False, truncated=True, failure=failure)

    def _observe(self, error: ActionError | None = None) -> Observation:
        url = f"http://fake.example/{self._page}"
        picture = self._host.screenshot
        return Observation(
            text=f'URL: {url}\nPage {self._page}\n[next] button "Next"',
            url=url,
            title=f"Page {self._page}",
            elements=(Element("next", "button", "Next", box=Box(600, 360, 80, 24)),),
            tabs=(Tab(1, f"Page {self._page}", url, active=True),),
            dialog=None,
            error=error,
            settle=Settle(settled=True, reason="quiet", waited_s=0.001),
            screenshot=picture(self._page) if picture else None,
            timings={"act": 0.001, "settle": 0.002, "observe": 0.001},
        )


class FakePolicy:
    """Gives a fixed row of actions; then ``terminate()``. An action may be an exception, which is raised."""

    def __init__(self, actions: Iterable[str | PolicyOutput | BaseException]) -> None:
        self._actions = iter(actions)
        self.closed = False

    async def act(self, observation: Observation) -> PolicyOutput:
        """The next action."""
        action = next(self._actions, "terminate()")
        if isinstance(action, BaseException):
            raise action
        return action if isinstance(action, PolicyOutput) else PolicyOutput(action)

    async def close(self) -> None:
        """Notes that it was closed."""
        self.closed = True


SOLUTION = ("next()", "next()", 'terminate("there")')
"""Actions that solve `fake_task`."""


@dataclass
class FakePolicies:
    """A factory of `FakePolicy`, each with the same actions; keeps what it made."""

    actions: tuple[str | PolicyOutput | BaseException, ...] = SOLUTION
    made: list[FakePolicy] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)
    refusal: PolicyFailed | None = None
    """Raised instead of making a policy."""

    def __call__(self, task: Task, *, seed: int) -> FakePolicy:
        """A policy for one episode."""
        if self.refusal is not None:
            raise self.refusal
        self.seeds.append(seed)
        self.made.append(FakePolicy(self.actions))
        return self.made[-1]
