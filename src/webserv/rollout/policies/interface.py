"""`Policy`: who acts. One object lives for one episode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from webserv.tasks.task import Task
from webserv.types import Observation


@dataclass(frozen=True, slots=True)
class PolicyOutput:
    """One decision and what it cost, kept as generated: the environment never tokenises."""

    action: str
    """Action text (or JSON) for `WebEnv.step`."""
    prompt: Sequence[Mapping[str, Any]] = ()
    """Messages that were sent, for the record."""
    completion: str = ""
    """The model's whole answer, before the action was taken out of it."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_ids: tuple[int, ...] | None = None
    completion_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    """One per completion id."""
    finish_reason: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


class Policy(Protocol):
    """Chooses actions for one episode."""

    async def act(self, observation: Observation) -> PolicyOutput:
        """Returns the next action.

        Raises:
            PolicyFailed: The policy cannot be asked; the episode ends with failure ``policy``.
        """
        ...

    async def close(self) -> None:
        """Frees what the policy holds; a second call is harmless."""
        ...


class PolicyFactory(Protocol):
    """Makes a policy for one episode."""

    def __call__(self, task: Task, *, seed: int) -> Policy:
        """A policy for one episode of `task`."""
        ...
