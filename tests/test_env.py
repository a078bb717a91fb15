"""`WebEnv` on real worlds of the guestbook and a real Chromium."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace

import pytest

from webserv.browser.fleet import BrowserFleet
from webserv.env import EnvOptions, WebEnv
from webserv.errors import InvalidTask, UserError, WorldFailed
from webserv.server.pool import PoolOptions, WorldPool
from webserv.tasks.evaluator import EndState
from webserv.tasks.evaluators.answer import AnswerIs
from webserv.tasks.evaluators.database import DatabaseRows
from webserv.tasks.task import Task
from webserv.types import ActionErrorKind, FailureKind, Observation, Score

pytestmark = [pytest.mark.root, pytest.mark.browser]

SIGNED = DatabaseRows("guestbook", "SELECT text FROM entry WHERE id > 2", (("hello",),))


def _task(**changes: object) -> Task:
    task = Task(
        id="guestbook/sign-v1:0",
        benchmark="guestbook",
        intent="Sign the guestbook with the word hello.",
        sites=("guestbook",),
        start_urls=("http://guestbook.example/",),
        evaluators=(SIGNED,),
        login={"guestbook": "guest"},
        max_steps=6,
    )
    return replace(task, **changes)  # type: ignore[arg-type]


@pytest.fixture
async def make_env(native, guestbook) -> AsyncIterator[Callable[..., WebEnv]]:
    envs: list[WebEnv] = []
    options = PoolOptions(max_worlds=4, warm=1)
    async with WorldPool(native, {"guestbook": guestbook}, options=options) as pool, BrowserFleet() as fleet:

        def make(options: EnvOptions | None = None) -> WebEnv:
            envs.append(WebEnv(worlds=pool, browsers=fleet, options=options))
            return envs[-1]

        yield make
        for env in envs:
            await env.close()


async def _sign(env: WebEnv, task: Task) -> list[str]:
    first = await env.reset(task)
    texts = [first.text]
    for action in ('type("entry", "hello")', 'click("sign")', "terminate()"):
        result = await env.step(action)
        texts.append(result.observation.text)
    assert result.reward == 1.0, result
    return texts


async def test_an_episode_starts_logged_in_and_is_judged_at_its_end(make_env):
    env = make_env()
    first = await env.reset(_task())
    assert "Signed in as guest" in first.text
    assert first.url == "http://guestbook.example/"
    typed = await env.step('type("entry", "hello")')
    assert (typed.reward, typed.terminated, typed.truncated) == (None, False, False)
    signed = await env.step('click("sign")')
    assert "hello" in signed.observation.text
    assert signed.info["steps_left"] == 4
    ended = await env.step('terminate("done")')
    assert (ended.reward, ended.terminated, ended.truncated, ended.failure) == (1.0, True, False, None)
    assert ended.score is not None
    assert "hello" in ended.score.evidence[0]


async def test_an_episode_repeats_byte_for_byte(make_env):
    env = make_env()
    task = _task()
    first = await _sign(env, task)
    assert await _sign(env, task) == first
    assert await _sign(make_env(), task) == first


async def test_doing_nothing_scores_zero_and_the_budget_truncates(make_env):
    env = make_env()
    await env.reset(_task(max_steps=2))
    assert (await env.step("wait()")).truncated is False
    ended = await env.step("wait()")
    assert (ended.reward, ended.terminated, ended.truncated) == (0.0, False, True)


async def test_malformed_and_impossible_actions_are_observed_and_cost_a_step(make_env):
    env = make_env()
    await env.reset(_task(max_steps=3))
    malformed = await env.step("please click the button")
    assert malformed.observation.error is not None
    assert malformed.observation.error.kind is ActionErrorKind.MALFORMED
    unknown = await env.step('click("no_such_thing")')
    assert unknown.observation.error is not None
    assert unknown.observation.error.kind is ActionErrorKind.UNKNOWN_ID
    assert "no_such_thing" in unknown.observation.text
    ended = await env.step("")
    assert ended.truncated
    assert ended.reward == 0.0


async def test_a_page_outside_the_world_is_refused_and_recorded(make_env):
    env = make_env()
    await env.reset(_task())
    result = await env.step('goto("http://elsewhere.example/")')
    assert result.observation.error is not None
    assert result.observation.error.kind is ActionErrorKind.NAVIGATION
    assert "elsewhere.example:80" in result.info["blocked"]


async def test_a_site_that_dies_ends_the_episode_without_a_reward(make_env):
    env = make_env()
    await env.reset(_task())
    result = await env.step('goto("http://guestbook.example/die")')
    assert result.truncated
    assert result.reward is None
    assert result.failure is not None
    assert result.failure.kind is FailureKind.ENV
    assert "Site 'guestbook'" in result.failure.message
    with pytest.raises(UserError, match=r"no running episode\. Call reset"):
        await env.step("wait()")
    assert "hello" not in (await env.reset(_task())).text


async def test_a_world_that_died_before_the_first_page_is_a_failure_of_the_world(make_env):
    env = make_env()
    await env.reset(_task())
    with pytest.raises(WorldFailed, match="Site 'guestbook'"):
        await env.reset(_task(start_urls=("http://guestbook.example/die",)))


@dataclass(frozen=True)
class _Broken:
    async def evaluate(self, state: EndState) -> Score:
        raise ZeroDivisionError("a bug of the task's")


async def test_an_evaluator_that_raises_is_a_failure_and_not_a_zero(make_env):
    env = make_env()
    await env.reset(_task(evaluators=(_Broken(),)))
    result = await env.step("terminate()")
    assert result.terminated
    assert result.reward is None
    assert result.failure is not None
    assert result.failure.kind is FailureKind.EVALUATOR
    assert "ZeroDivisionError: a bug of the task's" in result.failure.message


@dataclass(frozen=True)
class _WrongQuery:
    async def evaluate(self, state: EndState) -> Score:
        await state.query("guestbook", "DELETE FROM entry")
        return Score(1.0)


async def test_an_evaluator_cannot_write(make_env):
    env = make_env()
    await env.reset(_task(evaluators=(_WrongQuery(),)))
    result = await env.step("terminate()")
    assert result.reward is None
    assert "readonly database" in result.failure.message


@dataclass(frozen=True)
class _Looks:
    async def evaluate(self, state: EndState) -> Score:
        seen = await state.visit("http://guestbook.example/")
        ok = "Signed in as guest" in seen and state.text != "" and state.url.endswith("/404")
        return Score(float(ok), (seen,))


async def test_an_evaluator_looks_at_pages_of_its_own_logged_in_as_the_episode_was(make_env):
    env = make_env()
    await env.reset(_task(evaluators=(_Looks(),)))
    await env.step('goto("http://guestbook.example/404")')
    result = await env.step("terminate()")
    assert result.reward == 1.0, result.score


async def test_all_evaluators_must_pass(make_env):
    env = make_env()
    await env.reset(_task(evaluators=(AnswerIs(("yes",)), SIGNED)))
    result = await env.step('terminate("yes")')
    assert result.reward == 0.0


async def test_a_step_that_takes_too_long_is_a_failure_of_the_environment(make_env):
    env = make_env(EnvOptions(step_timeout_s=1.0))
    await env.reset(_task())
    result = await env.step('goto("http://guestbook.example/sleep")')
    assert result.reward is None
    assert "longer than 1 s" in result.failure.message


async def test_a_login_that_the_site_lacks_names_those_it_has(make_env):
    with pytest.raises(InvalidTask, match=r"wants login 'boss' of site 'guestbook'; it has: guest\."):
        await make_env().reset(_task(login={"guestbook": "boss"}))


async def test_envs_at_once_do_not_see_each_other(make_env):
    async def sign(word: str) -> Observation:
        env = make_env()
        await env.reset(_task())
        await env.step(f'type("entry", "{word}")')
        return (await env.step('click("sign")')).observation

    words = ["alpha", "beta", "gamma"]
    for word, seen in zip(words, await asyncio.gather(*map(sign, words)), strict=True):
        assert [other for other in words if other in seen.text] == [word]


async def test_closing_twice_frees_the_world(make_env, native):
    env = make_env()
    await env.reset(_task())
    assert env.world is not None
    await env.close()
    await env.close()
    assert env.world is None


async def test_waiting_for_a_world_is_told_apart_from_starting_in_it(make_env):
    env = make_env()
    await env.reset(_task())
    assert set(env.timings) == {"queue", "session", "start"}
    assert all(seconds > 0 for seconds in env.timings.values())


async def test_a_task_without_a_check_is_refused(make_env):
    with pytest.raises(InvalidTask, match="has no evaluator"):
        await make_env().reset(_task(evaluators=()))


async def test_two_calls_at_once_are_refused_and_lose_no_world(make_env, native):
    env = make_env()
    first, second = await asyncio.gather(env.reset(_task()), env.reset(_task()), return_exceptions=True)
    assert isinstance(first, Observation)
    assert isinstance(second, UserError)
    assert str(second) == "reset() was called while reset() is running. Make an env for each episode."
    results = await asyncio.gather(env.step("wait()"), env.step("terminate()"), return_exceptions=True)
    assert [isinstance(result, UserError) for result in results] == [False, True]
    for _ in range(5):
        async with asyncio.timeout(30):
            await env.reset(_task())
