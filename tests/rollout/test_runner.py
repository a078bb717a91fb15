"""Many episodes: order of completion, retries in fresh worlds, early ends, cancels."""

import asyncio
import contextlib

import pytest

from webserv.errors import PolicyFailed, UserError
from webserv.rollout.runner import RunOptions, RunProgress, assign, run_all, run_many
from webserv.testing.fake_env import SOLUTION, FakeHost, FakePolicies, FakePolicy, fake_task
from webserv.types import FailureKind


def tasks(count):
    return [fake_task(number) for number in range(count)]


def start(host, count, policies=None, **kwargs):
    options = RunOptions(**{name: kwargs.pop(name) for name in list(kwargs) if name != "progress"})
    return run_many(
        assign(tasks(count)),
        make_env=host.make_env,
        make_policy=policies or FakePolicies(),
        options=options,
        **kwargs,
    )


async def collect(stream, records):
    async for record in stream:
        records.append(record)


async def test_every_assignment_is_yielded_once_by_as_many_envs_as_workers():
    host, progress = FakeHost(), RunProgress()
    records = [record async for record in start(host, 20, workers=4, progress=progress)]
    assert sorted(record.key for record in records) == sorted(f"fake/walk-v1:{n}#0" for n in range(20))
    assert all(record.reward == 1.0 and not record.attempts for record in records)
    assert (host.made, host.most, host.opened) == (4, 4, 0)
    assert (progress.total, progress.finished, progress.steps, progress.running) == (20, 20, 60, {})
    assert progress.most_standing == 4
    assert progress.most_standing_after_s > 0


async def test_records_come_as_they_complete():
    held = asyncio.Event()

    class Slow(FakePolicy):
        async def act(self, observation):
            await held.wait()
            return await super().act(observation)

    def make_policy(task, *, seed):
        return (Slow if task.id.endswith(":0") else FakePolicy)(SOLUTION)

    stream = run_many(
        assign(tasks(3)), make_env=FakeHost().make_env, make_policy=make_policy, options=RunOptions(workers=2)
    )
    order = []
    async for record in stream:
        order.append(record.task_id[-1])
        if len(order) == 2:
            held.set()
    assert order == ["1", "2", "0"]


async def test_no_more_envs_than_assignments_are_made():
    host = FakeHost()
    assert len([record async for record in start(host, 2, workers=8)]) == 2
    assert host.made == 2


async def test_nothing_to_do_yields_nothing():
    assert [record async for record in start(FakeHost(), 0, workers=3)] == []


async def test_a_spoiled_episode_is_retried_once_in_a_fresh_env_and_keeps_its_first_attempt():
    host, progress = FakeHost(faults=["step"]), RunProgress()
    [record] = [record async for record in start(host, 1, progress=progress)]
    assert record.reward == 1.0
    assert [attempt.failure.message for attempt in record.attempts] == ["The fake world died."]
    assert (record.attempts[0].steps, record.attempts[0].failure.kind) == (1, FailureKind.ENV)
    assert (host.made, host.opened, progress.retried, progress.finished) == (2, 0, 1, 1)


async def test_an_episode_that_keeps_failing_has_no_reward_and_all_its_attempts():
    host = FakeHost(faults=["reset", "step", "reset", None])
    first, second = await run_all(
        assign(tasks(2)),
        make_env=host.make_env,
        make_policy=FakePolicies(),
        options=RunOptions(workers=1, retries=2),
    )
    assert (first.reward, first.failure.kind, len(first.attempts)) == (None, FailureKind.ENV, 2)
    assert second.reward == 1.0


async def test_retries_can_be_switched_off():
    host = FakeHost(faults=["step"])
    [record] = [record async for record in start(host, 1, retries=0)]
    assert (record.reward, record.attempts) == (None, ())


@pytest.mark.parametrize("fault", ["evaluator", "policy"])
async def test_only_failures_of_the_environment_are_retried(fault):
    host = FakeHost(faults=["evaluator"] if fault == "evaluator" else [])
    policies = FakePolicies((PolicyFailed("down"),)) if fault == "policy" else FakePolicies()
    [record] = [record async for record in start(host, 1, policies)]
    assert (record.failure.kind, record.attempts) == (FailureKind(fault), ())


async def test_an_env_that_failed_is_closed_and_not_used_again():
    host = FakeHost(faults=["evaluator", None, None])
    records = [record async for record in start(host, 3)]
    assert [record.reward for record in records] == [None, 1.0, 1.0]
    assert host.made == 2


async def test_a_user_error_stops_the_run_after_what_had_finished():
    class Policies(FakePolicies):
        def __call__(self, task, *, seed):
            self.actions = (UserError("bad key"),) if task.id.endswith(":2") else SOLUTION
            return super().__call__(task, seed=seed)

    host, records = FakeHost(), []
    with pytest.raises(UserError, match="bad key"):
        await collect(start(host, 5, Policies()), records)
    assert [record.task_id[-1] for record in records] == ["0", "1"]
    assert host.opened == 0


async def test_a_run_in_which_everything_fails_is_given_up_with_the_reason():
    host, records = FakeHost(faults=["reset"] * 99), []
    with pytest.raises(UserError, match=r"last 3 episodes all failed.*never became ready.*--resume"):
        await collect(start(host, 20, workers=2, stop_after_failures=3), records)
    assert len(records) == 3


async def test_failures_between_successes_do_not_end_the_run():
    host = FakeHost(faults=["evaluator", None] * 10)
    records = [record async for record in start(host, 20, stop_after_failures=2)]
    assert sum(record.reward is None for record in records) == 10


async def test_leaving_the_loop_cancels_what_runs_and_gives_every_world_back():
    never = asyncio.Event()
    host = FakeHost(before_step=never.wait)
    progress = RunProgress()
    stream = start(host, 4, workers=4, progress=progress)

    async def consume():
        async with contextlib.aclosing(stream):
            async for _ in stream:
                pass

    task = asyncio.create_task(consume())
    while host.opened < 4:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert host.opened == 0
    assert progress.running == {}


async def test_the_repeats_of_a_task_share_the_env_seed_and_differ_in_the_policy_seed():
    group = assign(tasks(2), seed=5, repeat=3)
    assert [one.key for one in group[:3]] == ["fake/walk-v1:0#0", "fake/walk-v1:0#1", "fake/walk-v1:0#2"]
    assert {one.seed for one in group} == {5}
    assert len({one.policy_seed for one in group}) == 6
    assert group == assign(tasks(2), seed=5, repeat=3)


async def test_an_env_that_cannot_be_closed_does_not_end_the_worker(caplog):
    class Stubborn(FakeHost):
        def make_env(self):
            env = super().make_env()

            async def close():
                raise OSError("dead browser")

            env.close = close
            return env

    records = [record async for record in start(Stubborn(faults=["step"]), 2)]
    assert [record.reward for record in records] == [1.0, 1.0]
    assert "dead browser" in caplog.text
