"""Policies that follow a task's script."""

import pytest

from webserv.errors import UserError
from webserv.rollout.episode import Assignment, run_episode
from webserv.rollout.policies.scripted import make_near_miss, make_scripted
from webserv.testing.fake_env import FakeHost, fake_task
from webserv.types import FailureKind


def reference(task, observation):
    while not observation.url.endswith("/2"):
        observation = yield "next()"
    yield 'terminate("there")'


def near_miss(task, observation):
    yield "terminate()"


def broken(task, observation):
    yield "next()"
    raise LookupError("no button 'Buy'")


async def run(factory, task):
    return await run_episode(FakeHost().make_env(), factory, Assignment(task))


async def test_the_reference_is_followed_by_what_it_sees():
    record = await run(make_scripted(), fake_task(reference=reference))
    assert ([step.action for step in record.steps], record.reward) == (
        ["next()", "next()", 'terminate("there")'],
        1.0,
    )


async def test_the_near_miss_is_followed():
    record = await run(make_near_miss(), fake_task(near_miss=near_miss))
    assert (len(record.steps), record.reward) == (1, 0.0)


async def test_a_script_that_ends_without_terminating_terminates():
    def short(task, observation):
        yield "next()"

    record = await run(make_scripted(), fake_task(reference=short))
    assert [step.action for step in record.steps] == ["next()", "terminate()"]


async def test_a_script_that_does_nothing_terminates():
    def nothing(task, observation):
        return
        yield

    assert (await run(make_scripted(), fake_task(reference=nothing))).reward == 0.0


async def test_a_script_that_breaks_says_where():
    record = await run(make_scripted(), fake_task(reference=broken))
    assert record.failure.kind is FailureKind.POLICY
    assert record.failure.message == (
        "The reference solution of fake/walk-v1:0 broke after 1 actions at http://fake.example/1: "
        "LookupError: no button 'Buy'"
    )


@pytest.mark.parametrize("factory", [make_scripted(), make_near_miss()])
async def test_a_task_without_a_script_is_refused(factory):
    with pytest.raises(UserError, match=r"fake/walk-v1:0 has no (reference solution|near miss)"):
        await run(factory, fake_task())
