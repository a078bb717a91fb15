"""`Template`: a pattern of tasks whose instances are made from a site's snapshot.

An instance is a pure function of (template, instance's number, snapshot), so the same snapshot gives the same
tasks on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from webserv.errors import InvalidTask
from webserv.tasks.evaluator import Evaluator
from webserv.tasks.task import ScriptFactory, Task

SourceT = TypeVar("SourceT")


@dataclass(frozen=True, slots=True)
class Draft:
    """What a template's function returns for one instance; `Template` adds what all instances share."""

    intent: str
    evaluators: tuple[Evaluator, ...]
    reference: ScriptFactory
    near_miss: ScriptFactory
    params: Mapping[str, Any] = field(default_factory=dict)
    start_urls: tuple[str, ...] = ()
    """Empty for the template's own."""


@dataclass(frozen=True, slots=True)
class Template(Generic[SourceT]):
    """A pattern of tasks.

    Attributes:
        id: With benchmark and version: ``shop/find-cheapest-v1``. Changed behaviour is a new version.
        make: Yields drafts, best first; the first `instances` are taken. It gets the source of facts (the
            snapshot's database) and a random generator seeded with `id`.
        sites: Sites that an episode needs.
        start_urls: Where it starts.
        login: Site to login.
        max_steps: Budget of actions.
        tags: What it is about.
        instances: How many tasks to make.
    """

    id: str
    make: Callable[[SourceT, random.Random], Iterator[Draft]]
    sites: tuple[str, ...]
    start_urls: tuple[str, ...]
    login: Mapping[str, str] = field(default_factory=dict)
    max_steps: int = 30
    tags: tuple[str, ...] = ()
    instances: int = 5

    def tasks(self, source: SourceT) -> list[Task]:
        """Makes all instances.

        Raises:
            InvalidTask: The snapshot has too little for `instances` different ones.
        """
        tasks: list[Task] = []
        intents: set[str] = set()
        for draft in self.make(source, random.Random(self.id)):
            if draft.intent in intents:
                continue
            intents.add(draft.intent)
            tasks.append(
                Task(
                    id=f"{self.id}:{len(tasks)}",
                    benchmark=self.id.partition("/")[0],
                    intent=draft.intent,
                    sites=self.sites,
                    start_urls=draft.start_urls or self.start_urls,
                    evaluators=draft.evaluators,
                    login=self.login,
                    max_steps=self.max_steps,
                    template=self.id,
                    params=draft.params,
                    tags=self.tags,
                    reference=draft.reference,
                    near_miss=draft.near_miss,
                )
            )
            if len(tasks) == self.instances:
                return tasks
        raise InvalidTask(
            f"Template '{self.id}' finds material for {len(tasks)} of its {self.instances} instances."
        )
