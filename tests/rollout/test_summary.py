"""Summaries: episodes without a reward are counted beside the means and never in them."""

import dataclasses

import pytest

from webserv.rollout.digest import digest_of
from webserv.rollout.runner import RunOptions, assign, run_all
from webserv.rollout.summary import NOT_COUNTED, summarise
from webserv.testing.fake_env import FakeHost, FakePolicies, fake_task


async def run(tasks, faults=(), actions=None):
    policies = FakePolicies(actions) if actions else FakePolicies()
    records = await run_all(
        assign(tasks),
        make_env=FakeHost(faults=faults).make_env,
        make_policy=policies,
        options=RunOptions(retries=0),
    )
    return [digest_of(record) for record in records]


async def test_episodes_without_a_reward_are_in_no_mean():
    records = await run([fake_task(n) for n in range(4)], faults=["step", None, "evaluator", None])
    summary = summarise(records)
    assert (summary.total.episodes, summary.total.scored, summary.total.unscored) == (4, 2, 2)
    assert (summary.total.mean_reward, summary.total.success, summary.total.mean_steps) == (1.0, 1.0, 3.0)
    assert summary.failures == {"env": 1, "evaluator": 1}
    assert summary.to_json()["note"] == NOT_COUNTED


async def test_a_run_without_any_score_has_no_mean_rather_than_zero():
    total = summarise(await run([fake_task()], faults=["step"])).total
    assert (total.mean_reward, total.success, total.mean_steps) == (None, None, None)
    assert summarise([]).total.success is None


async def test_partial_rewards_count_in_the_mean_but_are_no_success():
    summary = summarise(await run([fake_task()], actions=("next()", "terminate()")))
    assert (summary.total.mean_reward, summary.total.success) == (0.5, 0.0)


async def test_rows_by_template_and_tag():
    tasks = [
        fake_task(0, template="fake/b-v1", tags=("read", "staff")),
        fake_task(1, template="fake/a-v1", tags=("read",)),
    ]
    summary = summarise(await run(tasks))
    assert [(row.name, row.episodes) for row in summary.by_template] == [("fake/a-v1", 1), ("fake/b-v1", 1)]
    assert [(row.name, row.episodes) for row in summary.by_tag] == [("read", 2), ("staff", 1)]
    plain = summary.to_json()
    assert plain["by_template"][0]["success"] == 1.0


async def test_action_errors_steps_and_times_are_added_up():
    summary = summarise(await run([fake_task(), fake_task(1)], actions=("dance()", "terminate()")), planned=3)
    assert summary.action_errors == {"malformed": 2}
    assert summary.steps == 4
    assert summary.timings["act"] == pytest.approx(0.004)
    assert not summary.complete


async def test_groups_say_which_tasks_any_and_all_rollouts_solved():
    episodes = await run([fake_task(0), fake_task(1), fake_task(2)])
    assert summarise(episodes).groups is None
    again = [
        dataclasses.replace(episode, repeat=1, reward=reward)
        for episode, reward in zip(episodes, (1.0, 0.0, None), strict=True)
    ]
    groups = summarise([*episodes, *again]).groups
    assert (groups.tasks, groups.solved_by_any, groups.solved_by_all, groups.mixed) == (3, 3, 2, 1)
