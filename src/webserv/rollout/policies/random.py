"""A policy that acts at random among what the observation offers: the floor of a benchmark."""

from __future__ import annotations

import random
from collections.abc import Callable

from webserv.browser.actions.sample import sample_action
from webserv.rollout.policies.interface import PolicyFactory, PolicyOutput
from webserv.tasks.task import Task
from webserv.types import Observation

Sampler = Callable[[Observation, random.Random], str]


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


def make_random(*, sampler: Sampler = sample_action) -> PolicyFactory:
    """Policies that act at random."""

    def make(task: Task, *, seed: int) -> RandomPolicy:
        return RandomPolicy(seed, sampler)

    return make
