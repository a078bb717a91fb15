"""Policies that follow a script of the task: its reference solution or its near miss."""

from __future__ import annotations

from webserv.errors import PolicyFailed, UserError
from webserv.rollout.policies.interface import PolicyFactory, PolicyOutput
from webserv.tasks.task import Script, ScriptFactory, Task
from webserv.types import Observation


class ScriptedPolicy:
    """Yields a script's actions; terminates when the script has ended.

    Args:
        task: The task.
        script: Makes the script from the task and the first observation.
        name: What the script is called in messages.
    """

    def __init__(self, task: Task, script: ScriptFactory, name: str) -> None:
        self._task = task
        self._make_script = script
        self._name = name
        self._script: Script | None = None
        self._actions = 0

    async def act(self, observation: Observation) -> PolicyOutput:
        """The script's next action.

        Raises:
            PolicyFailed: The script raised, for instance because the page is not what it expects.
        """
        try:
            if self._script is None:
                self._script = self._make_script(self._task, observation)
                action = next(self._script)
            else:
                action = self._script.send(observation)
        except StopIteration:
            action = "terminate()"
        except Exception as error:
            raise PolicyFailed(
                f"The {self._name} of {self._task.id} broke after {self._actions} actions "
                f"at {observation.url}: {type(error).__name__}: {error}"
            ) from error
        self._actions += 1
        return PolicyOutput(action)

    async def close(self) -> None:
        """Ends the script."""
        if self._script is not None:
            self._script.close()


def make_scripted() -> PolicyFactory:
    """Policies that follow each task's reference solution."""

    def make(task: Task, *, seed: int) -> ScriptedPolicy:
        if task.reference is None:
            raise UserError(
                f"Task {task.id} has no reference solution.", hint="Choose tasks that have, by --tasks."
            )
        return ScriptedPolicy(task, task.reference, "reference solution")

    return make


def make_near_miss() -> PolicyFactory:
    """Policies that follow each task's near miss, which must score 0."""

    def make(task: Task, *, seed: int) -> ScriptedPolicy:
        if task.near_miss is None:
            raise UserError(f"Task {task.id} has no near miss.", hint="Choose tasks that have, by --tasks.")
        return ScriptedPolicy(task, task.near_miss, "near miss")

    return make
