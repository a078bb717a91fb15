"""`ChatClient`: chat completions of any OpenAI-compatible endpoint, with retries.

Request and answer: https://platform.openai.com/docs/api-reference/chat (vLLM, SGLang, llama.cpp and hosted
services speak the same). What can pass is waited for (busy, overloaded, unreachable, a half answer); what is
wrong with the request or the key is said at once, in one line that names what to change.
"""

from __future__ import annotations

import asyncio
import email.utils
import json
import logging
import math
import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from webserv.errors import PolicyFailed, UserError

_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_LONGEST_WAIT_S = 60.0
"""However long an endpoint's Retry-After asks to wait."""
_LONGEST_WAITS_S = 300.0
"""In all, before one answer."""
_TOLD_FROM_S = 5.0
"""Waits as long as this are told …"""
_TOLD_EVERY_S = 30.0
"""… so often at most, for all episodes together."""
_SHOWN = 200
"""Characters of what an endpoint says that messages quote."""

_LONGEST_BACK_OFF_S = 30.0
"""Where the endpoint names no time."""

_log = logging.getLogger(__name__)

_TOO_LONG = re.compile(
    # OpenAI, vLLM ("maximum context length"), SGLang ("longer than the model's context length", "exceeds the maximum
    # allowed length"), llama.cpp ("exceeds the available context size"), Anthropic and Bedrock ("prompt/input is too
    # long"), Ollama and others ("context window"); the codes of OpenAI and llama.cpp.
    r"maximum context length|model'?s context length|exceeds? the maximum allowed length"
    r"|exceeds? the (available )?context|(prompt|input) is too long|context window"
    r"|context_length_exceeded|exceed_context_size",
    re.IGNORECASE,
)
_TOO_LONG_STATUS = frozenset({400, 413, 422, 500})
"""llama.cpp before its own error type said so with 500. A 429 is about tokens per minute."""


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What the endpoint generated."""

    text: str
    reasoning: str = ""
    """A thinking model's thoughts, where the endpoint keeps them apart."""
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    logprobs: tuple[float, ...] | None = None
    model: str = ""
    """What the endpoint calls the model that answered."""
    attempts: int = 1
    waited_s: float = 0.0
    """Spent in waiting for a busy or unreachable endpoint, failed requests included."""


@dataclass(frozen=True)
class ChatOptions:
    """Where and how to ask."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    api_key_name: str = "OPENAI_API_KEY"
    """The environment variable that the key came from, for messages."""
    temperature: float | None = None
    """None leaves it to the endpoint."""
    max_tokens: int | None = 1024
    timeout_s: float = 120.0
    """Of one request."""
    retries: int = 6
    """Further tries after one that may pass."""
    logprobs: bool = False
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """Merged into each request, for instance ``{"top_k": 20}``."""


class ContextOverflow(Exception):
    """The prompt and the completion's limit do not fit into the model's context; says what the endpoint said.

    Differs from `PolicyFailed`: the endpoint is well, and how long its prompts get is the policy's own doing.
    """


class ChatClient:
    """Asks one endpoint for one model; shared by all episodes of a run.

    Args:
        options: Where and how.
        sleep: Waits some seconds; tests pass their own.
        transport: Of httpx; None opens real connections.

    Raises:
        UserError: `options.base_url` is no address.
    """

    def __init__(
        self,
        options: ChatOptions,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        _check_address(options.base_url)
        self._options = options
        self._sleep = sleep
        self._transport = transport
        self._http: httpx.AsyncClient | None = None
        self._told = -math.inf
        self._jitter = random.Random()
        # Newer OpenAI models refuse max_tokens and want its other name.
        self._limit_name = "max_tokens"

    async def complete(self, messages: Sequence[Mapping[str, Any]]) -> ChatAnswer:
        """Generates an answer to `messages`.

        Raises:
            ContextOverflow: The request is too long for the model.
            PolicyFailed: The endpoint stayed unreachable or busy, or refuses this request.
            UserError: It refuses the key, or knows no such model or address: no request will do better.
        """
        attempt, waited, paused = 0, 0.0, 0.0
        while True:
            attempt += 1
            begun = time.monotonic()
            try:
                response = await self._post(messages)
                answer = self._read(response)
            except _TransientError as problem:
                if problem.renamed and attempt <= self._options.retries + 1:
                    continue
                if attempt > self._options.retries or paused >= _LONGEST_WAITS_S:
                    raise PolicyFailed(self._scrub(f"{problem} ({attempt} tries.)")) from problem
                pause = problem.after_s if problem.after_s is not None else self._back_off(attempt)
                pause = min(pause, _LONGEST_WAIT_S, _LONGEST_WAITS_S - paused)
                self._tell(problem, pause)
                await self._sleep(pause)
                paused += pause
                waited += time.monotonic() - begun
            else:
                return ChatAnswer(**answer, attempts=attempt, waited_s=waited)

    async def close(self) -> None:
        """Closes the connections; a second call is harmless."""
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    def _tell(self, problem: _TransientError, pause: float) -> None:
        now = time.monotonic()
        if pause >= _TOLD_FROM_S and now - self._told >= _TOLD_EVERY_S:
            self._told = now
            _log.warning("%s", self._scrub(f"{problem} (Asked again in {pause:.0f} s.)"))

    async def _post(self, messages: Sequence[Mapping[str, Any]]) -> httpx.Response:
        options = self._options
        body: dict[str, Any] = {"model": options.model, "messages": list(messages)}
        if options.max_tokens is not None:
            body[self._limit_name] = options.max_tokens
        if options.temperature is not None:
            body["temperature"] = options.temperature
        if options.logprobs:
            body["logprobs"] = True
        body |= options.extra_body
        if self._http is None:
            self._http = httpx.AsyncClient(
                timeout=httpx.Timeout(options.timeout_s, connect=min(15.0, options.timeout_s)),
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
                transport=self._transport,
                headers={"Authorization": f"Bearer {options.api_key}"} if options.api_key else {},
            )
        url = options.base_url.rstrip("/") + "/chat/completions"
        try:
            # Lone surrogates of a page's text are no UTF-8; the model gets a replacement character instead.
            content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
            return await self._http.post(url, content=content, headers={"Content-Type": "application/json"})
        except httpx.TimeoutException as error:
            raise _TransientError(
                f"{self._where()} did not answer within {options.timeout_s:g} s."
            ) from error
        except httpx.TransportError as error:
            raise _TransientError(
                f"{self._where()} cannot be reached: {error or type(error).__name__}."
            ) from error

    def _read(self, response: httpx.Response) -> dict[str, Any]:
        if response.status_code != httpx.codes.OK:
            self._refuse(response)
        try:
            body = response.json()
            choice = body["choices"][0]
            message = choice["message"]
            usage = body.get("usage") or {}
            return {
                "text": _text(message.get("content")),
                "reasoning": _text(message.get("reasoning_content") or message.get("reasoning")),
                "finish_reason": str(choice.get("finish_reason") or ""),
                "prompt_tokens": usage.get("prompt_tokens"),
                "completion_tokens": usage.get("completion_tokens"),
                "logprobs": _logprobs(choice.get("logprobs")),
                "model": str(body.get("model") or ""),
            }
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise _TransientError(
                f"{self._where()} answered what is no chat completion: {_cut(response.text)!r}."
            ) from error

    def _refuse(self, response: httpx.Response) -> None:
        """Raises what a status other than 200 means."""
        status, said = response.status_code, _message(response)
        options = self._options
        if status == httpx.codes.PAYMENT_REQUIRED or "insufficient_quota" in response.text:
            # OpenAI says so with 429, but no waiting helps.
            raise UserError(
                self._scrub(f"{self._where()} has no credit left for this key: {said}"),
                hint="Top it up, or name another key by --api-key-env; --resume goes on with the run.",
            )
        if status in _TOO_LONG_STATUS and _TOO_LONG.search(response.text):
            raise ContextOverflow(self._scrub(said))
        if status in _TRANSIENT:
            raise _TransientError(
                f"{self._where()} answered {status}: {said}", after_s=_retry_after(response)
            )
        if (
            status == httpx.codes.BAD_REQUEST
            and self._limit_name == "max_tokens"
            and "max_completion_tokens" in response.text
        ):
            self._limit_name = "max_completion_tokens"
            raise _TransientError(said, renamed=True)
        if status in (401, 403):
            key = (
                f"The key in {options.api_key_name}"
                if options.api_key
                else f"No key ({options.api_key_name} is empty)"
            )
            raise UserError(
                self._scrub(f"{key} was refused by {self._where('the')} with {status}: {said}"),
                hint=f"Set {options.api_key_name} to a valid key, or name another variable by --api-key-env.",
            )
        if status == httpx.codes.NOT_FOUND:
            raise UserError(
                self._scrub(
                    f"{self._where()} knows no model '{options.model}', or no chat completions there: {said}"
                ),
                hint="Check --model and --base-url (it usually ends in /v1).",
            )
        raise PolicyFailed(self._scrub(f"{self._where()} refused the request with {status}: {said}"))

    def _where(self, the: str = "The") -> str:
        return f"{the} endpoint {without_userinfo(self._options.base_url)}"

    def _scrub(self, text: str) -> str:
        """Endpoints quote keys in their errors; records must not hold them."""
        return text.replace(self._options.api_key, "***") if self._options.api_key else text

    def _back_off(self, attempt: int) -> float:
        # Full jitter over a doubling range keeps many workers from asking again at the same moment.
        return min(_LONGEST_BACK_OFF_S, 0.5 * 2.0**attempt) * self._jitter.uniform(0.5, 1.0)


class _TransientError(Exception):
    """The request failed in a way that may pass."""

    def __init__(self, message: str, *, after_s: float | None = None, renamed: bool = False) -> None:
        super().__init__(message)
        self.after_s = after_s
        self.renamed = renamed


def _text(content: Any) -> str:
    """A message's text; some endpoints send a list of parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _logprobs(raw: Any) -> tuple[float, ...] | None:
    tokens = raw.get("content") if isinstance(raw, dict) else None
    return tuple(float(token["logprob"]) for token in tokens) if tokens else None


def _message(response: httpx.Response) -> str:
    try:
        body = response.json()
    except ValueError:
        return _cut(response.text) or response.reason_phrase
    error = body.get("error", body) if isinstance(body, dict) else body
    text = error.get("message", error) if isinstance(error, dict) else error
    return _cut(str(text))


def _cut(text: str) -> str:
    """What an endpoint said, for one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else f"{flat[: _SHOWN - 1]}…"


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds that the endpoint asks to wait, from a number or a date (RFC 9110, 10.2.3)."""
    value = response.headers.get("retry-after", "")
    try:
        wait = float(value)
    except ValueError:
        date = email.utils.parsedate_tz(value)
        if date is None:
            return None
        wait = email.utils.mktime_tz(date) - time.time()
    return max(0.0, wait) if math.isfinite(wait) else None


def _check_address(base_url: str) -> None:
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in ("http", "https") or not url.host:
        raise UserError(
            f"'{without_userinfo(base_url)}' is no address of an endpoint.",
            hint="Give --base-url like http://127.0.0.1:8000/v1.",
        )


def without_userinfo(url: str) -> str:
    """The address without a user name and password, for messages and records."""
    scheme, separator, rest = url.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2] if '@' in rest.partition('/')[0] else rest}"
