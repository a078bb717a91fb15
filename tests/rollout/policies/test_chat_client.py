"""The chat client against a real local server: answers, retries, refusals, secrets."""

import email.utils
import socket
import time

import pytest

from webserv.errors import PolicyFailed, UserError
from webserv.rollout.policies.chat_client import ChatClient, ChatOptions, ContextOverflow
from webserv.testing.chat_server import ChatServer, Reply, completion, error

ASK = [{"role": "user", "content": "go"}]
KEY = "sk-very-secret-0123456789"


async def ask(server, *, slept=None, messages=ASK, **options):
    pauses = slept if slept is not None else []

    async def sleep(seconds):
        pauses.append(seconds)

    base_url = server if isinstance(server, str) else server.base_url
    client = ChatClient(
        ChatOptions(**({"base_url": base_url, "model": "m", "api_key": KEY} | options)), sleep=sleep
    )
    try:
        return await client.complete(messages)
    finally:
        await client.close()
        await client.close()


async def test_an_answer_with_usage_and_finish_reason():
    with ChatServer([completion("hello")]) as server:
        answer = await ask(server, temperature=0.5, max_tokens=9, extra_body={"top_k": 3})
    assert (answer.text, answer.finish_reason, answer.model) == ("hello", "stop", "test-model")
    assert (answer.prompt_tokens, answer.completion_tokens, answer.attempts) == (11, 7, 1)
    assert server.requests == [
        {"model": "m", "messages": ASK, "max_tokens": 9, "temperature": 0.5, "top_k": 3}
    ]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


async def test_without_a_key_no_authorization_is_sent():
    with ChatServer([completion("x")]) as server:
        await ask(server, api_key="")
    assert "Authorization" not in server.headers[0]


async def test_log_probabilities_are_asked_for_and_kept():
    logprobs = {"content": [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -1}]}
    with ChatServer([completion("ab", logprobs=logprobs)]) as server:
        answer = await ask(server, logprobs=True)
    assert answer.logprobs == (-0.5, -1.0)
    assert server.requests[0]["logprobs"] is True


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": None}, "", ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab", ""),
        ({"content": "x", "reasoning_content": "hm"}, "x", "hm"),
        ({}, "", ""),
    ],
)
async def test_forms_of_a_message(message, text, reasoning):
    with ChatServer([completion("", message=message)]) as server:
        answer = await ask(server)
    assert (answer.text, answer.reasoning) == (text, reasoning)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
async def test_a_busy_endpoint_is_asked_again(status):
    slept = []
    with ChatServer([error(status, "busy"), error(status, "busy"), completion("ok")]) as server:
        answer = await ask(server, slept=slept)
    assert (answer.text, answer.attempts, len(slept)) == ("ok", 3, 2)
    assert 0.5 <= slept[0] <= 1.0
    assert 1.0 <= slept[1] <= 2.0
    assert answer.waited_s > 0


async def test_retry_after_is_honoured_as_seconds_and_as_a_date_and_capped():
    date = email.utils.formatdate(time.time() + 50, usegmt=True)
    replies = [
        error(429, "slow", Retry_After="7"),
        error(503, "down", Retry_After=date),
        error(429, "slow", Retry_After="99999"),
        error(429, "slow", Retry_After="soon"),
        completion("ok"),
    ]
    slept = []
    with ChatServer(replies) as server:
        await ask(server, slept=slept)
    assert slept[0] == 7.0
    assert 40 < slept[1] <= 50
    assert slept[2] == 60.0
    assert slept[3] <= 8.0


async def test_all_waits_for_one_answer_together_are_capped_and_told(caplog):
    slept = []
    with (
        ChatServer([error(429, "quota", Retry_After="3600")] * 9) as server,
        pytest.raises(PolicyFailed, match=r"answered 429: quota \(6 tries\.\)"),
    ):
        await ask(server, slept=slept, retries=20)
    assert slept == [60.0] * 5
    assert [line.getMessage() for line in caplog.records if line.name.endswith("chat_client")] == [
        f"The endpoint {server.base_url} answered 429: quota (Asked again in 60 s.)"
    ]


@pytest.mark.parametrize("after", ["nan", "inf", "-5", "1e999"])
async def test_a_retry_after_that_is_no_time_is_no_error(after):
    slept = []
    with ChatServer([error(429, "slow", Retry_After=after), completion("ok")]) as server:
        await ask(server, slept=slept)
    assert 0 <= slept[0] <= 1


async def test_what_an_endpoint_says_is_cut_and_put_into_one_line():
    page = b"<html>\n\n  <body>" + b"no  way\n" * 500
    with ChatServer([Reply(status=418, body=page)]) as server, pytest.raises(PolicyFailed) as caught:
        await ask(server)
    said = str(caught.value).partition(" with 418: ")[2]
    assert said.startswith("<html> <body>no way no way")
    assert len(said) == 200
    assert said.endswith("…")


async def test_an_endpoint_that_stays_busy_fails_with_what_it_said():
    with (
        ChatServer([error(429, "rate limit of m reached")]) as server,
        pytest.raises(PolicyFailed, match=r"answered 429: rate limit of m reached \(3 tries\.\)"),
    ):
        await ask(server, retries=2)
    assert len(server.requests) == 3


async def test_an_endpoint_that_is_not_there_fails_with_its_address():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    with pytest.raises(PolicyFailed, match=rf"http://127.0.0.1:{port}/v1 cannot be reached: .*\(3 tries\.\)"):
        await ask(f"http://127.0.0.1:{port}/v1", retries=2)


async def test_a_dropped_connection_is_tried_again():
    with ChatServer([Reply(drop=True), completion("ok")]) as server:
        answer = await ask(server)
    assert answer.text == "ok"


async def test_an_endpoint_that_does_not_answer_in_time_fails():
    with (
        ChatServer([Reply(hang=True)]) as server,
        pytest.raises(PolicyFailed, match=r"did not answer within 0\.05 s"),
    ):
        await ask(server, timeout_s=0.05, retries=1)


@pytest.mark.parametrize(
    "body",
    [
        b"<html>gateway</html>",
        b'{"choices": [{"message": {"content": "half',
        b"{}",
        b'{"choices": []}',
        b"[]",
        b"null",
        b'{"choices": [{"message": null}]}',
        b"\xff\xfe",
    ],
)
async def test_what_is_no_completion_is_tried_again_and_quoted(body):
    with ChatServer([Reply(body=body), completion("ok")]) as server:
        assert (await ask(server)).text == "ok"
    with (
        ChatServer([Reply(body=body)]) as server,
        pytest.raises(PolicyFailed, match=r"no chat completion: '"),
    ):
        await ask(server, retries=0)


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_stops_at_once_and_names_the_fix_but_never_the_key(status):
    with (
        ChatServer([error(status, f"Incorrect API key provided: {KEY}.")]) as server,
        pytest.raises(UserError) as caught,
    ):
        await ask(server, api_key_name="MY_KEY")
    assert f"The key in MY_KEY was refused by the endpoint {server.base_url} with" in str(caught.value)
    assert "Incorrect API key provided: ***." in str(caught.value)
    assert "--api-key-env" in caught.value.hint
    assert KEY not in str(caught.value)
    assert len(server.requests) == 1


async def test_a_missing_key_is_said_to_be_missing():
    with (
        ChatServer([error(401, "no")]) as server,
        pytest.raises(UserError, match=r"No key .OPENAI_API_KEY is"),
    ):
        await ask(server, api_key="")


@pytest.mark.parametrize(("status", "code"), [(429, "insufficient_quota"), (402, "x")])
async def test_a_used_up_credit_stops_at_once(status, code):
    refusal = Reply(status, {"error": {"message": "You exceeded your current quota", "code": code}})
    with (
        ChatServer([refusal]) as server,
        pytest.raises(UserError, match=r"no credit left for this key: You exceeded.*--resume"),
    ):
        await ask(server)
    assert len(server.requests) == 1


async def test_an_unknown_model_stops_at_once_and_names_the_fix():
    with (
        ChatServer([error(404, "The model `m` does not exist")]) as server,
        pytest.raises(UserError, match=r"knows no model 'm'.*does not exist.*Check --model and --base-url"),
    ):
        await ask(server)


async def test_a_wrong_path_names_the_base_url():
    with ChatServer([completion("x")]) as server, pytest.raises(UserError, match="usually ends in /v1"):
        await ask(server.base_url.removesuffix("/v1"))


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://host/v1", "http://", "http://host:port/v1", ""])
async def test_what_is_no_address_stops_at_once(url):
    with pytest.raises(UserError, match="is no address of an endpoint"):
        await ask(url)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        # OpenAI, vLLM 0.6 (twice), SGLang 0.4, llama.cpp (before and after its own type), Anthropic's compatible API.
        (
            400,
            "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.",
        ),
        (
            400,
            "'max_tokens' or 'max_completion_tokens' is too large: 1024. This model's maximum context length is 9.",
        ),
        (
            400,
            "The decoder prompt (length 9000) is longer than the maximum model length; exceeds the context window.",
        ),
        (400, "The input (9000 tokens) is longer than the model's context length (4096 tokens)."),
        (500, "the request exceeds the available context size. try increasing the context size"),
        (400, "the request exceeds the available context size, try increasing it"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
    ],
)
async def test_a_prompt_beyond_the_context_is_told_apart_and_not_asked_again(status, message):
    with ChatServer([error(status, message + KEY)]) as server, pytest.raises(ContextOverflow) as caught:
        await ask(server)
    assert len(server.requests) == 1
    assert str(caught.value) == message + "***"


async def test_a_context_overflow_is_known_by_its_code_too():
    reply = Reply(400, {"error": {"message": "Too much.", "code": "context_length_exceeded"}})
    with ChatServer([reply]) as server, pytest.raises(ContextOverflow, match="Too much"):
        await ask(server)


async def test_any_other_refusal_fails_this_episode_without_a_retry():
    with (
        ChatServer([error(400, "temperature must be at most 2")]) as server,
        pytest.raises(PolicyFailed, match=r"refused the request with 400: temperature must be"),
    ):
        await ask(server)
    assert len(server.requests) == 1


async def test_a_model_that_wants_the_other_name_for_its_limit_gets_it():
    refusal = error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    slept = []
    with ChatServer([refusal, completion("ok")]) as server:
        answer = await ask(server, max_tokens=5, slept=slept)
    assert (answer.text, slept) == ("ok", [])
    assert server.requests[1] == {"model": "m", "messages": ASK, "max_completion_tokens": 5}


async def test_lone_surrogates_of_a_page_do_not_break_the_request():
    with ChatServer([completion("ok")]) as server:
        await ask(server, messages=[{"role": "user", "content": "a\ud800b é"}])
    assert server.requests[0]["messages"][0]["content"] == "a?b é"


async def test_credentials_in_the_address_are_not_repeated():
    with pytest.raises(PolicyFailed) as caught:
        await ask("http://user:hunter2@127.0.0.1:1/v1", retries=0)
    assert "hunter2" not in str(caught.value)
    assert "http://127.0.0.1:1/v1" in str(caught.value)


def test_the_options_do_not_show_the_key():
    assert KEY not in repr(ChatOptions("http://x", "m", api_key=KEY))
