"""A policy that asks a model behind any OpenAI-compatible endpoint, by one prompt per step."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from webserv.errors import UserError
from webserv.rollout.policies.chat_client import ChatClient, ChatOptions, ContextOverflow
from webserv.rollout.policies.interface import PolicyOutput
from webserv.rollout.policies.parse import action_of
from webserv.rollout.policies.prompt import SinglePrompt
from webserv.tasks.task import Task
from webserv.types import Observation

DEFAULT_BASE_URL = "https://api.openai.com/v1"


class ChatPolicy:
    """Asks for one action per observation.

    A completion without an action costs a step, as any malformed action does. A prompt that the model's context does
    not hold ends the episode, which is then judged as it stands: no reward would make a short context look better.

    Args:
        task: The task.
        client: The endpoint.
        history: How many past steps the prompt shows; None shows all.
    """

    def __init__(self, task: Task, client: ChatClient, *, history: int | None = None) -> None:
        self._client = client
        self._prompt = SinglePrompt(task, history=history)

    async def act(self, observation: Observation) -> PolicyOutput:
        """The model's action.

        Raises:
            PolicyFailed: The endpoint could not be asked.
            UserError: It will refuse every request.
        """
        messages = self._prompt.messages(observation)
        try:
            answer = await self._client.complete(messages)
        except ContextOverflow as overflow:
            return PolicyOutput(
                action="terminate()",
                prompt=messages,
                finish_reason="context_length",
                extra={"refusal": str(overflow)},
            )
        action = action_of(answer.text)
        self._prompt.decided(observation, action, answer.text)
        extra: dict[str, Any] = {"queued_s": round(answer.waited_s, 3)} if answer.waited_s else {}
        if answer.reasoning:
            extra["reasoning"] = answer.reasoning
        if answer.attempts > 1:
            extra["attempts"] = answer.attempts
        return PolicyOutput(
            action=action,
            prompt=messages,
            completion=answer.text,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            logprobs=answer.logprobs,
            finish_reason=answer.finish_reason,
            extra=extra,
        )

    async def close(self) -> None:
        """Nothing to free: the connections belong to the factory."""


class ChatPolicyFactory:
    """Makes policies that share one endpoint's connections.

    Args:
        client: The endpoint.
        history: How many past steps prompts show; None shows all.
    """

    def __init__(self, client: ChatClient, *, history: int | None = None) -> None:
        self._client = client
        self._history = history

    def __call__(self, task: Task, *, seed: int) -> ChatPolicy:
        """A policy for one episode. The seed is not sent: the repeats of a group must differ."""
        return ChatPolicy(task, self._client, history=self._history)

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()


def make_openai(
    *,
    model: str,
    base_url: str | None = None,
    api_key_env: str = "OPENAI_API_KEY",
    temperature: float | None = None,
    max_tokens: int | None = 1024,
    timeout_s: float = 120.0,
    retries: int = 6,
    logprobs: bool = False,
    history: int | None = None,
    extra_body: Mapping[str, Any] | None = None,
) -> ChatPolicyFactory:
    """Policies behind an OpenAI-compatible endpoint.

    Args:
        model: The model's name there.
        base_url: Up to and with ``/v1``; None takes ``OPENAI_BASE_URL``, else OpenAI's own.
        api_key_env: Environment variable that holds the key; it may be empty for a local server.
        temperature: Of sampling; None leaves it to the endpoint.
        max_tokens: Longest completion.
        timeout_s: Of one request.
        retries: Further tries when the endpoint is busy or unreachable.
        logprobs: Ask for the log-probability of each token and keep it.
        history: How many past steps prompts show; None shows all.
        extra_body: Merged into each request.

    Raises:
        UserError: OpenAI's own endpoint is meant and there is no key.
    """
    address = base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL
    key = os.environ.get(api_key_env, "").strip()
    if not key and address.rstrip("/") == DEFAULT_BASE_URL:
        raise UserError(
            f"{DEFAULT_BASE_URL} needs a key, and {api_key_env} is empty.",
            hint=f"Set {api_key_env}, or give --base-url for a server of your own.",
        )
    options = ChatOptions(
        base_url=address,
        model=model,
        api_key=key,
        api_key_name=api_key_env,
        temperature=temperature,
        max_tokens=max_tokens,
        timeout_s=timeout_s,
        retries=retries,
        logprobs=logprobs,
        extra_body=extra_body or {},
    )
    return ChatPolicyFactory(ChatClient(options), history=history)
