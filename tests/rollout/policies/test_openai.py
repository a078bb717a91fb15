"""The openai policy in whole episodes against a real local server."""

import pytest

from webserv.browser.actions.grammar import ACTION_GRAMMAR
from webserv.errors import UserError
from webserv.rollout.digest import digest_of
from webserv.rollout.episode import Assignment, run_episode
from webserv.rollout.policies.openai import make_openai
from webserv.rollout.record import Ending
from webserv.rollout.runner import RunOptions, assign, run_many
from webserv.rollout.summary import summarise
from webserv.testing.chat_server import ChatServer, completion, error
from webserv.testing.fake_env import FakeHost, fake_task
from webserv.types import ActionErrorKind, FailureKind

KEY = "sk-very-secret-0123456789"
NEXT = "I press Next.\n```\nnext()\n```"
END = 'Done.\n```\nterminate("there")\n```'


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


async def episode(server, **options):
    factory = make_openai(model="m", base_url=server.base_url, **options)
    try:
        return await run_episode(FakeHost().make_env(), factory, Assignment(fake_task()))
    finally:
        await factory.close()


async def test_a_model_solves_a_task_and_its_words_and_tokens_are_kept():
    with ChatServer([completion(NEXT), completion(NEXT), completion(END)]) as server:
        record = await episode(server)
    assert record.reward == 1.0
    assert [step.action for step in record.steps] == ["next()", "next()", 'terminate("there")']
    assert record.steps[0].completion == NEXT
    assert record.steps[0].finish_reason == "stop"
    assert (record.prompt_tokens, record.completion_tokens) == (33, 21)


async def test_the_prompt_carries_task_grammar_history_and_observation():
    with ChatServer([completion(NEXT), completion("```\ndance()\n```"), completion(END)]) as server:
        record = await episode(server)
    first, _, third = (request["messages"][0]["content"] for request in server.requests)
    assert fake_task().intent in first
    assert ACTION_GRAMMAR in first
    assert '[next] button "Next"' in first
    assert "What you did so far" not in first
    assert "1. next() → http://fake.example/1\n   You thought: I press Next.\n2. " in third
    assert "2. dance() → not done: 'dance()' is no action." in third
    assert "step 3 of 5" in third
    assert "Page 0" not in third
    assert "<page>\nURL: http://fake.example/1\n" in third
    assert "\n\n\n" not in third
    assert list(record.steps[2].prompt) == server.requests[2]["messages"]


async def test_a_context_overflow_ends_the_episode_by_the_policy_and_the_end_state_counts():
    overflow = error(400, "This model's maximum context length is 4096 tokens.")
    with ChatServer([completion(NEXT), overflow]) as server:
        record = await episode(server)
    assert (record.reward, record.failure, record.ended) == (0.5, None, Ending.TERMINATED)
    assert [step.action for step in record.steps] == ["next()", "terminate()"]
    last = record.steps[-1]
    assert (last.finish_reason, last.completion, record.answer) == ("context_length", "", None)
    assert last.extra == {"refusal": "This model's maximum context length is 4096 tokens."}
    assert summarise([digest_of(record)]).total.scored == 1


async def test_the_history_can_be_cut_and_keeps_its_numbers():
    with ChatServer([completion(NEXT)] * 3 + [completion(END)]) as server:
        await episode(server, history=1)
    last = server.requests[3]["messages"][0]["content"]
    assert "3. next()" in last
    assert "2. next()" not in last


@pytest.mark.parametrize("words", ["I do not know what to do.", "", None])
async def test_a_completion_without_an_action_costs_a_step(words):
    with ChatServer([completion(words), completion(NEXT), completion(END)]) as server:
        record = await episode(server)
    assert record.steps[0].observation.error.kind is ActionErrorKind.MALFORMED
    assert (record.steps[0].action, record.reward) == (words or "", 0.5)


async def test_the_key_is_in_no_record():
    with ChatServer([error(400, f"your key {KEY} is fine but the request is not")]) as server:
        record = await episode(server)
    assert record.failure.kind is FailureKind.POLICY
    assert KEY not in record.to_json()


async def test_a_bad_key_stops_the_whole_run():
    with ChatServer([error(401, "bad key")]) as server:
        factory = make_openai(model="m", base_url=server.base_url)
        stream = run_many(
            assign([fake_task(n) for n in range(9)]),
            make_env=FakeHost().make_env,
            make_policy=factory,
            options=RunOptions(workers=2),
        )
        with pytest.raises(UserError, match="OPENAI_API_KEY was refused"):
            await anext(stream)
        await factory.close()
    assert len(server.requests) <= 2


def test_openai_itself_without_a_key_is_refused_before_anything_starts(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(UserError, match="needs a key, and OPENAI_API_KEY is empty"):
        make_openai(model="m")


async def test_a_reasoning_is_kept_beside_the_completion():
    message = {"content": END, "reasoning_content": "Let me see"}
    with ChatServer([completion("", message=message)]) as server:
        record = await episode(server)
    assert record.steps[0].extra["reasoning"] == "Let me see"
