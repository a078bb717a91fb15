"""`SinglePrompt`: everything a model needs for its next decision in one user message.

It carries the task, the action grammar, what was done so far and the observation. Old observations are left
out: what a policy did, what came of it and its own thoughts are kept, which holds the prompt's length nearly
constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from webserv.browser.actions.grammar import ACTION_GRAMMAR
from webserv.tasks.task import Task
from webserv.types import Observation

# The prompt is plain text, so nothing is escaped: the page's text reaches the model as it is.
_ENVIRONMENT = Environment(
    loader=PackageLoader("webserv.rollout.policies"),
    autoescape=False,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(frozen=True, slots=True)
class PastStep:
    """One line of the history."""

    action: str
    url: str
    """Where it led, when that was somewhere else; empty otherwise."""
    error: str
    thought: str


class SinglePrompt:
    """Builds the prompts of one episode.

    Args:
        task: The task.
        history: How many past steps are shown; None shows all.
    """

    def __init__(self, task: Task, *, history: int | None = None) -> None:
        self._task = task
        self._window = history
        self._past: list[PastStep] = []
        self._template = _ENVIRONMENT.get_template("single.jinja")
        self._last: tuple[str, str, str] | None = None

    def messages(self, observation: Observation) -> list[dict[str, Any]]:
        """The messages for the next decision, given what the last one (see `decided`) led to."""
        if self._last is not None:
            action, thought, url = self._last
            self._past.append(
                PastStep(
                    action=_one_line(action, 300),
                    url=observation.url if observation.url != url else "",
                    error=observation.error.message if observation.error else "",
                    thought=_one_line(thought, 400),
                )
            )
            self._last = None
        shown = self._past if self._window is None else self._past[max(0, len(self._past) - self._window) :]
        text = self._template.render(
            intent=self._task.intent,
            grammar=ACTION_GRAMMAR,
            history=shown,
            skipped=len(self._past) - len(shown),
            observation=observation.text,
            step_number=len(self._past) + 1,
            max_steps=self._task.max_steps,
        )
        return [{"role": "user", "content": text}]

    def decided(self, observation: Observation, action: str, completion: str) -> None:
        """Notes what was decided on `observation`."""
        self._last = (action, completion.replace(action, "").replace("```", " "), observation.url)


def _one_line(text: str, length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
