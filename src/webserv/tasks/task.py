"""`Task`: an intent with its start state, its check and its budget."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from webserv.tasks.evaluator import Evaluator
from webserv.types import Observation

Script = Generator[str, Observation, None]
"""A scripted solution of one episode: yields action texts, is sent the observation that each led to.

The first `next()` happens with the first observation already given to the function that made the generator.
"""

ScriptFactory = Callable[["Task", Observation], Script]
"""Makes a script from a task and the first observation of its episode."""


@dataclass(frozen=True, slots=True)
class Task:
    """One instance of a task template."""

    id: str
    """Template id with version, a colon and the instance's number: ``shop/find-cheapest-v1:3``."""
    benchmark: str
    intent: str
    """What the policy is asked to do, in natural language."""
    sites: tuple[str, ...]
    """Names of the sites that the episode's world needs."""
    start_urls: tuple[str, ...]
    """Canonical URLs; each opens as a tab, the first is active."""
    evaluators: tuple[Evaluator, ...]
    """All must pass: the episode's score is the product of theirs."""
    login: Mapping[str, str] = field(default_factory=dict)
    """Site name to the login that the episode starts with, for instance ``{"shop": "staff"}``."""
    max_steps: int = 30
    """Budget of actions; malformed ones count."""
    template: str = ""
    """Template id with version, for instance ``shop/find-cheapest-v1``."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """What the template was filled with."""
    tags: tuple[str, ...] = ()
    """For instance ``read``, ``create``, ``edit``, ``delete``, ``dashboard``, ``storefront``."""
    reference: ScriptFactory | None = None
    """A scripted solution that scores 1.0 through the public action text only."""
    near_miss: ScriptFactory | None = None
    """A plausible wrong episode that scores 0.0."""
