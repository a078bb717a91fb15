"""One episode with a fake environment: endings, failures, deadlines, what the record keeps."""

import asyncio

import pytest

from webserv.errors import PolicyFailed, UserError
from webserv.rollout.episode import Assignment, Deadlines, EpisodeOptions, run_episode
from webserv.rollout.policies.interface import PolicyOutput
from webserv.rollout.record import Ending
from webserv.testing.fake_env import SOLUTION, FakeHost, FakePolicies, FakePolicy, fake_task
from webserv.types import ActionErrorKind, Box, FailureKind

ONE = Assignment(fake_task(), seed=7, repeat=1, policy_seed=9)


async def run(actions=None, *, fault=None, deadlines=None, **options):
    host = FakeHost(faults=[fault])
    policies = FakePolicies(actions) if actions is not None else FakePolicies()
    env = host.make_env()
    record = await run_episode(
        env, policies, ONE, EpisodeOptions(deadlines=deadlines or Deadlines(), policy_name="fake", **options)
    )
    await env.close()
    assert all(policy.closed for policy in policies.made)
    return record


async def test_a_solved_episode_records_what_was_asked_done_seen_and_judged():
    record = await run()
    assert (record.key, record.task_id, record.seed, record.repeat) == (
        "fake/walk-v1:0#1",
        "fake/walk-v1:0",
        7,
        1,
    )
    assert (record.reward, record.ended, record.answer, record.solved) == (
        1.0,
        Ending.TERMINATED,
        "there",
        True,
    )
    assert (record.terminated, record.truncated) == (True, False)
    assert record.score.evidence == ("page 2 expected, page 2 found",)
    assert [step.action for step in record.steps] == ["next()", "next()", 'terminate("there")']
    assert record.first.url == "http://fake.example/0"
    assert [step.observation.url[-1] for step in record.steps] == ["1", "2", "2"]
    assert record.blocked == ("tracker.example:443",)
    assert record.world == "fake-1"
    assert {"reset", "queue", "policy", "act", "settle", "observe", "evaluate", "other"} <= set(
        record.timings
    )


async def test_the_policy_gets_its_own_seed():
    policies = FakePolicies()
    await run_episode(FakeHost().make_env(), policies, ONE)
    assert policies.seeds == [9]


async def test_a_used_up_budget_is_truncated_and_judged():
    record = await run(["next()"] * 9)
    assert (record.ended, record.reward, record.answer) == (Ending.BUDGET, 1.0, None)
    assert (record.terminated, record.truncated, len(record.steps)) == (False, True, 5)


async def test_a_malformed_action_costs_a_step_and_its_error_is_kept():
    record = await run(["dance()", "next()", "terminate()"])
    assert record.steps[0].observation.error.kind is ActionErrorKind.MALFORMED
    assert record.reward == 0.5


@pytest.mark.parametrize(
    ("fault", "kind", "steps", "said"),
    [
        ("reset", FailureKind.ENV, 0, "never became ready"),
        ("step", FailureKind.ENV, 1, "died"),
        ("evaluator", FailureKind.EVALUATOR, 3, "check broke"),
        ("bug", FailureKind.ENV, 0, "Unforeseen ZeroDivisionError: a bug of the fake env"),
        ("silent", FailureKind.ENV, 3, "without a reward"),
    ],
)
async def test_a_failure_leaves_no_reward(fault, kind, steps, said):
    record = await run(fault=fault)
    assert record.reward is None
    assert record.ended is Ending.FAILURE
    assert record.failure.kind is kind
    assert said in record.failure.message
    assert len(record.steps) == steps
    assert ("Traceback" in record.failure_detail) == (fault == "bug")


async def test_a_policy_that_cannot_be_asked_ends_the_episode_as_policy_failure():
    record = await run(["next()", PolicyFailed("endpoint down")])
    assert (record.reward, record.failure.kind) == (None, FailureKind.POLICY)
    assert record.failure.message == "endpoint down"
    assert len(record.steps) == 1


async def test_a_policy_that_cannot_be_made_ends_the_episode_as_policy_failure():
    policies = FakePolicies(refusal=PolicyFailed("no weights"))
    record = await run_episode(FakeHost().make_env(), policies, ONE)
    assert (record.failure.kind, record.failure.message) == (FailureKind.POLICY, "no weights")


async def test_a_factory_that_breaks_ends_the_episode_as_policy_failure():
    def broken(task, *, seed):
        raise OSError("no weights")

    record = await run_episode(FakeHost().make_env(), broken, ONE)
    assert record.failure.kind is FailureKind.POLICY
    assert record.failure.message == "Making the policy raised OSError: no weights"
    assert "Traceback" in record.failure_detail


async def test_what_is_no_policy_ends_the_run():
    with pytest.raises(UserError, match=r"is a str without act and close, not a policy\."):
        await run_episode(FakeHost().make_env(), lambda task, *, seed: "me", ONE)


async def test_a_policy_that_returns_no_output_is_a_policy_failure():
    class Bare(FakePolicy):
        async def act(self, observation):
            return "next()"

    record = await run_episode(FakeHost().make_env(), lambda task, *, seed: Bare(()), ONE)
    assert record.failure.kind is FailureKind.POLICY
    assert record.failure.message == "The policy's act returned a str, not a PolicyOutput."


async def test_a_policy_that_cannot_be_closed_keeps_its_reward(caplog):
    class Stubborn(FakePolicy):
        async def close(self):
            raise OSError("stuck")

    record = await run_episode(FakeHost().make_env(), lambda task, *, seed: Stubborn(SOLUTION), ONE)
    assert record.reward == 1.0
    assert "could not be closed: OSError('stuck')" in caplog.text


async def test_a_policy_that_breaks_is_kept_with_its_traceback():
    record = await run([KeyError("price")])
    assert record.failure.kind is FailureKind.POLICY
    assert record.failure.message == "The policy raised KeyError: 'price'"
    assert "Traceback" in record.failure_detail


async def test_a_user_error_of_the_policy_ends_the_run_rather_than_the_episode():
    with pytest.raises(UserError, match="bad key"):
        await run([UserError("bad key")])


async def test_a_step_beyond_its_deadline_is_a_failure_of_the_environment():
    record = await run(fault="hang", deadlines=Deadlines(step_s=0.01))
    assert record.failure.kind is FailureKind.ENV
    assert record.failure.message == "The step next() took more than 0.01 s."


async def test_a_decision_beyond_its_deadline_is_a_failure_of_the_policy():
    class Stuck:
        async def act(self, observation):
            await asyncio.Event().wait()

        async def close(self):
            pass

    record = await run_episode(
        FakeHost().make_env(),
        lambda task, *, seed: Stuck(),
        ONE,
        EpisodeOptions(deadlines=Deadlines(policy_s=0.01)),
    )
    assert (record.failure.kind, record.failure.message) == (
        FailureKind.POLICY,
        "The policy took more than 0.01 s.",
    )


async def test_an_episode_over_its_time_is_judged_as_it_stands_and_without_an_answer():
    record = await run(deadlines=Deadlines(episode_s=1e-9))
    assert (record.ended, record.reward, record.answer) == (Ending.DEADLINE, 0.5, None)
    assert [step.action for step in record.steps] == ["next()", "terminate()"]
    assert (record.terminated, record.truncated) == (False, True)


async def test_time_that_the_policy_queued_counts_neither_as_its_own_nor_against_the_deadline():
    queued = PolicyOutput("next()", extra={"queued_s": 99.0})
    record = await run([queued, "next()", 'terminate("x")'], deadlines=Deadlines(episode_s=50.0))
    assert record.ended is Ending.TERMINATED
    assert record.steps[0].timings["policy"] == 0.0
    assert record.timings["queue"] > 0.0


async def test_the_target_of_an_action_is_kept_with_its_box():
    record = await run(['click("next")', "click(next)", 'click("gone")'])
    assert [step.target for step in record.steps[:3]] == ["next", "next", None]
    assert record.steps[0].target_box == Box(600, 360, 80, 24)


async def test_screenshots_go_to_the_sink_and_leave_their_name():
    kept = []

    def keep(content, kind):
        kept.append((content, kind))
        return f"{len(kept)}.jpg"

    host = FakeHost(screenshot=lambda page: f"page {page}".encode())
    record = await run_episode(host.make_env(), FakePolicies(), ONE, EpisodeOptions(keep_screenshot=keep))
    assert record.first.screenshot == "1.jpg"
    assert [step.observation.screenshot for step in record.steps] == ["2.jpg", "3.jpg", "4.jpg"]
    assert kept[1] == (b"page 1", "jpeg")


async def test_prompts_and_token_counts_are_kept_as_generated():
    output = PolicyOutput(
        "next()",
        prompt=[{"role": "user", "content": "go"}],
        completion="I go.",
        prompt_tokens=5,
        completion_tokens=3,
        completion_ids=(1, 2, 3),
        logprobs=(-0.5, -0.25, 0.0),
        finish_reason="stop",
    )
    record = await run([output, output])
    assert record.steps[0].prompt == ({"role": "user", "content": "go"},)
    assert record.steps[0].completion_ids == (1, 2, 3)
    assert (record.prompt_tokens, record.completion_tokens) == (10, 6)
    bare = await run([output], keep_prompts=False)
    assert bare.steps[0].prompt == ()
