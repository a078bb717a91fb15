"""A policy that acts at random among what the observation offers: the floor of a benchmark."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

from webserv.rollout.policies.interface import PolicyFactory, PolicyOutput
from webserv.tasks.task import Task
from webserv.types import Element, Observation

Sampler = Callable[[Observation, random.Random], str]

_WORDS = ("shoes", "book", "hello", "1", "test@example.com", "2026-03-02")


class RandomPolicy:
    """Draws each action by a seeded generator, so that the same observations lead to the same actions.

    Args:
        seed: Of the generator.
        sampler: Draws an action text for an observation.
    """

    def __init__(self, seed: int, sampler: Sampler) -> None:
        self._generator = random.Random(seed)
        self._sample = sampler

    async def act(self, observation: Observation) -> PolicyOutput:
        """A random action."""
        return PolicyOutput(self._sample(observation, self._generator))

    async def close(self) -> None:
        """Nothing to free."""


def sample_action(observation: Observation, generator: random.Random) -> str:
    """A random action that the observation offers."""
    if observation.dialog is not None:
        return generator.choice(["dialog_accept()", "dialog_dismiss()"])
    usable = [element for element in observation.elements if "disabled" not in element.states]
    chance = generator.random()
    if chance < 0.04:
        return "terminate()"
    if not usable or chance < 0.12:
        return generator.choice(['scroll("down")', 'scroll("up")', "back()"])
    return _act_on(generator.choice(usable), generator)


def _act_on(element: Element, generator: random.Random) -> str:
    target = json.dumps(element.id)
    if element.options:
        return f"select({target}, {json.dumps(generator.choice(element.options))})"
    if element.role in {"textbox", "searchbox", "spinbutton"} or (
        element.role == "combobox" and element.value is not None
    ):
        enter = "true" if generator.random() < 0.5 else "false"
        return f"type({target}, {json.dumps(generator.choice(_WORDS))}, enter={enter})"
    return f"click({target})"


def make_random(*, sampler: Sampler = sample_action) -> PolicyFactory:
    """Policies that act at random."""

    def make(task: Task, *, seed: int) -> RandomPolicy:
        return RandomPolicy(seed, sampler)

    return make
