"""The random policy repeats itself by its seed."""

from webserv.rollout.episode import Assignment, run_episode
from webserv.rollout.policies.random import make_random
from webserv.testing.fake_env import FakeHost, fake_task


async def actions(seed):
    assignment = Assignment(fake_task(max_steps=30), policy_seed=seed)
    record = await run_episode(FakeHost().make_env(), make_random(), assignment)
    return [step.action for step in record.steps]


async def test_the_same_seed_acts_the_same_and_another_differently():
    assert await actions(1) == await actions(1)
    assert await actions(1) != await actions(2)
