"""`WebEnv`: reset, step, close. With `env_host.py` the one place that knows both halves."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Protocol, Self

from webserv.browser.fleet import BrowserFleet
from webserv.browser.session import BrowserSession
from webserv.errors import BrowserFailed, EnvFailure, EvaluatorFailed, InvalidTask, UserError, WorldFailed
from webserv.server.world import Clone, World, query_sqlite
from webserv.tasks.task import Task
from webserv.types import Cookie, Failure, FailureKind, Observation, Score, StepResult


class WorldSource(Protocol):
    """Where an env gets its worlds; `webserv.server.pool.WorldPool` is one."""

    async def acquire(self, sites: Sequence[str]) -> World:
        """Hands out a fresh world with these sites."""
        ...

    async def release(self, world: World) -> None:
        """Takes a world back; it is not used again."""
        ...


@dataclass(frozen=True, slots=True)
class EnvOptions:
    """What an env may be told."""

    max_steps: int | None = None
    """Overrides the task's budget of actions."""
    start_timeout_s: float = 60.0
    """Budget of a reset once its world is there; queueing for the world does not count."""
    step_timeout_s: float = 60.0
    """Budget of one step; beyond it the episode ends as failure ``env``."""
    evaluate_timeout_s: float = 60.0


class WebEnv:
    """One episode at a time: a browser session in a world of its own, judged once at its end.

    Made by `webserv.env_host.EnvHost.make_env`. Not for several tasks of one event loop at once; make an env for each.

    Observation space:
        `webserv.types.Observation`; its `text` is complete in itself.
    Action space:
        Action text such as ``click("add_to_basket")`` or the same as a mapping; see ``docs/actions.md``. A malformed
        or impossible action is answered by an observation with `error` set, and costs a step.
    Reward:
        None until the episode ends; then the product of the task's evaluators, 0.0 to 1.0; None if the environment
        failed.
    Episode end:
        Terminated by ``terminate(answer)``; truncated by the budget of steps or by a failure of the environment.
    """

    def __init__(
        self, *, worlds: WorldSource, browsers: BrowserFleet, options: EnvOptions | None = None
    ) -> None:
        self._worlds = worlds
        self._browsers = browsers
        self._options = options or EnvOptions()
        self._task: Task | None = None
        self._world: World | None = None
        self._session: BrowserSession | None = None
        self._observation: Observation | None = None
        self._steps = 0
        self._ended = True
        self._running = ""
        self.timings: dict[str, float] = {}
        """Seconds of the last reset by part: ``queue`` (waiting for a world), ``session`` and ``start``."""

    @property
    def world(self) -> World | None:
        """The world of the present episode."""
        return self._world

    @property
    def session(self) -> BrowserSession | None:
        """The browser session of the present episode."""
        return self._session

    async def reset(self, task: Task, *, seed: int = 0) -> Observation:
        """Begins an episode of `task` in a fresh world, logged in, at its start pages.

        Args:
            task: What is to be done.
            seed: Kept for tasks with chance of their own; the built-in sites have none, their copies are equal.

        Raises:
            WorldFailed: The world did not come up or died.
            BrowserFailed: The browser died or the start page cannot be loaded.
            UserError: Another call is still running.
            InvalidTask: The task has no evaluator, or asks for a login that its site does not have.
        """
        with self._busy("reset"):
            return await self._reset(task)

    async def _reset(self, task: Task) -> Observation:
        await self._end_episode()
        if not task.evaluators:
            raise InvalidTask(f"Task '{task.id}' has no evaluator: every episode of it would be a success.")
        self._task = task
        try:
            began = time.perf_counter()
            self._world = await self._worlds.acquire(task.sites)
            acquired = time.perf_counter()
            cookies = _login_cookies(task, self._world)
            async with asyncio.timeout(self._options.start_timeout_s):
                self._session = await self._browsers.open_session(
                    proxy_url=self._world.proxy_url, cookies=cookies
                )
                opened = time.perf_counter()
                self._observation = await self._session.start(task.start_urls)
            self.timings = {
                "queue": acquired - began,
                "session": opened - acquired,
                "start": time.perf_counter() - opened,
            }
            self._check_alive()
        except TimeoutError as exc:
            await self._end_episode()
            raise BrowserFailed(
                f"The start page did not come within {self._options.start_timeout_s:.0f} s."
            ) from exc
        except BaseException as exc:
            # A page that cannot load because its site has just ended is the site's failure.
            failure = self._world.failure if self._world is not None else None
            await self._end_episode()
            if failure is not None and isinstance(exc, BrowserFailed):
                raise failure from exc
            raise
        self._steps = 0
        self._ended = False
        return self._observation

    async def step(self, action: str | Mapping[str, Any]) -> StepResult:
        """Carries out one action, waits until the page has settled, and observes it.

        What the policy or the page does wrong is in the observation; what the environment does wrong is in `failure`.

        Raises:
            UserError: There is no running episode: call `reset` first. Or another call is still running.
        """
        with self._busy("step"):
            return await self._step(action)

    async def _step(self, action: str | Mapping[str, Any]) -> StepResult:
        if self._ended or self._session is None or self._task is None:
            raise UserError("There is no running episode.", hint="Call reset() before step().")
        self._steps += 1
        try:
            async with asyncio.timeout(self._options.step_timeout_s):
                self._observation = await self._session.step(action)
            self._check_alive()
        except TimeoutError:
            return self._fail(BrowserFailed(f"A step took longer than {self._options.step_timeout_s:.0f} s."))
        except BrowserFailed as exc:
            world = self._world
            return self._fail(world.failure if world is not None and world.failure is not None else exc)
        except WorldFailed as exc:
            return self._fail(exc)
        terminated = self._session.terminated
        truncated = not terminated and self._steps >= self._budget
        if terminated or truncated:
            return await self._finish(terminated=terminated)
        return self._result()

    async def close(self) -> None:
        """Ends the episode and frees its world; a second call is harmless."""
        await self._end_episode()

    @contextlib.contextmanager
    def _busy(self, what: str) -> Iterator[None]:
        """One call at a time: two resets at once would lose a world, two steps would judge the end twice."""
        if self._running:
            raise UserError(
                f"{what}() was called while {self._running}() is running.",
                hint="Make an env for each episode.",
            )
        self._running = what
        try:
            yield
        finally:
            self._running = ""

    @property
    def _budget(self) -> int:
        assert self._task is not None
        return self._options.max_steps or self._task.max_steps

    def _check_alive(self) -> None:
        assert self._world is not None
        self._world.check_alive()

    def _result(self, **changes: Any) -> StepResult:
        assert self._observation is not None
        assert self._world is not None
        result = StepResult(
            observation=self._observation,
            reward=None,
            terminated=False,
            truncated=False,
            info={
                "step": self._steps,
                "steps_left": max(0, self._budget - self._steps),
                "world": self._world.id,
                "blocked": tuple(self._world.router.blocked),
                "timings": dict(self._observation.timings),
            },
        )
        return replace(result, **changes)

    def _fail(self, failure: EnvFailure) -> StepResult:
        self._ended = True
        return self._result(truncated=True, failure=Failure(failure.kind, str(failure)))

    async def _finish(self, *, terminated: bool) -> StepResult:
        """Judges the frozen end state, once."""
        self._ended = True
        assert self._task is not None and self._session is not None and self._world is not None  # noqa: PT018
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self._options.evaluate_timeout_s):
                state = await _freeze(self._session, self._world)
                scores = [await evaluator.evaluate(state) for evaluator in self._task.evaluators]
            self._check_alive()
        except TimeoutError:
            message = f"The evaluation took longer than {self._options.evaluate_timeout_s:.0f} s."
            return self._result(truncated=not terminated, terminated=terminated, failure=_failure(message))
        except EnvFailure as exc:
            failure = Failure(exc.kind, str(exc))
            return self._result(truncated=not terminated, terminated=terminated, failure=failure)
        except Exception as exc:  # whatever a task's evaluator raises says nothing about the policy
            failure = _failure(f"{type(exc).__name__}: {exc}")
            return self._result(truncated=not terminated, terminated=terminated, failure=failure)
        score = Score(
            math.prod(score.value for score in scores),
            tuple(line for score in scores for line in score.evidence),
        )
        result = self._result(
            terminated=terminated, truncated=not terminated, reward=score.value, score=score
        )
        timings = {**result.info["timings"], "evaluate": time.perf_counter() - began}
        return replace(result, info={**result.info, "timings": timings})

    async def _end_episode(self) -> None:
        self._ended = True
        session, self._session = self._session, None
        world, self._world = self._world, None
        if session is not None:
            with contextlib.suppress(BrowserFailed):
                await session.close()
        if world is not None:
            await self._worlds.release(world)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        task = self._task.id if self._task is not None else "no task"
        return f"<WebEnv {task} step={self._steps} {'ended' if self._ended else 'running'}>"


@dataclass(frozen=True, slots=True)
class FrozenEnd:
    """The end state of an episode, as evaluators see it (`webserv.tasks.evaluator.EndState`)."""

    answer: str | None
    url: str
    text: str
    _session: BrowserSession
    _world: World

    async def query(self, site: str, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Reads the clone's database."""
        return await self._clone(site).query(sql, params)

    async def query_start(self, site: str, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Reads the database as it was before the episode."""
        return await asyncio.to_thread(query_sqlite, self._clone(site).snapshot.database, sql, params)

    async def visit(self, url: str) -> str:
        """Opens a page of its own and returns its text."""
        return await self._session.visit(url)

    def _clone(self, site: str) -> Clone:
        try:
            return self._world.sites[site]
        except KeyError:
            raise EvaluatorFailed(
                f"The evaluator asks for site '{site}', which the task does not have."
            ) from None


async def _freeze(session: BrowserSession, world: World) -> FrozenEnd:
    return FrozenEnd(session.answer, session.url, await session.page_text(), session, world)


def _failure(message: str) -> Failure:
    return Failure(FailureKind.EVALUATOR, message)


def _login_cookies(task: Task, world: World) -> list[Cookie]:
    cookies: list[Cookie] = []
    for site, login in task.login.items():
        logins = world.sites[site].snapshot.logins if site in world.sites else {}
        if login not in logins:
            known = ", ".join(sorted(logins)) or "none"
            raise InvalidTask(f"Task '{task.id}' wants login '{login}' of site '{site}'; it has: {known}.")
        cookies.extend(logins[login])
    return cookies
