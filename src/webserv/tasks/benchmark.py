"""`Benchmark`: a set of tasks with a name."""

from __future__ import annotations

import fnmatch
import random
from collections.abc import Sequence
from dataclasses import dataclass

from webserv.errors import UnknownName
from webserv.tasks.task import Task


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A set of tasks.

    Attributes:
        name: As given to `load_benchmark`.
        description: One line.
        sites: Names of all sites that its tasks need.
        tasks: In a fixed order: instances of one template stand together.
    """

    name: str
    description: str
    sites: tuple[str, ...]
    tasks: tuple[Task, ...]

    @property
    def templates(self) -> tuple[str, ...]:
        """Template ids in order."""
        return tuple(dict.fromkeys(task.template for task in self.tasks))

    def task(self, task_id: str) -> Task:
        """Returns one task.

        Raises:
            UnknownName: There is no such task.
        """
        for task in self.tasks:
            if task.id == task_id:
                return task
        raise UnknownName("task", task_id, (task.id for task in self.tasks))

    def select(
        self, patterns: Sequence[str] = (), *, limit: int | None = None, seed: int | None = None
    ) -> tuple[Task, ...]:
        """Returns the tasks that match any of `patterns`.

        Args:
            patterns: Shell patterns for task ids, template ids (with or without benchmark and version) or
                tags; empty for all tasks.
            limit: At most so many; they are spread over templates: first one instance of each, then the next.
            seed: Shuffles templates and instances; None keeps the order.

        Raises:
            UnknownName: A pattern matches nothing.
        """
        chosen = [task for task in self.tasks if not patterns or any(_matches(task, p) for p in patterns)]
        for pattern in patterns:
            if not any(_matches(task, pattern) for task in chosen):
                raise UnknownName("task", pattern, self._names())
        if seed is not None:
            random.Random(seed).shuffle(chosen)
        if limit is None or limit >= len(chosen):
            return tuple(chosen)
        turns: dict[str, int] = {}
        order = []
        for position, task in enumerate(chosen):
            turns[task.template] = turns.get(task.template, -1) + 1
            order.append((turns[task.template], position))
        return tuple(chosen[position] for _, position in sorted(order)[: max(limit, 0)])

    def _names(self) -> list[str]:
        """What patterns can name, without instances: templates in short form, then tags, each once."""
        templates = [template.partition("/")[2] or template for template in self.templates]
        return list(dict.fromkeys((*templates, *sorted({tag for task in self.tasks for tag in task.tags}))))


def _matches(task: Task, pattern: str) -> bool:
    short = task.template.partition("/")[2]
    names = (task.id, task.template, task.id.partition("/")[2], short, short.rpartition("-v")[0], *task.tags)
    return any(fnmatch.fnmatchcase(name, pattern) for name in names if name)
