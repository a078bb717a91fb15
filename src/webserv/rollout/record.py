"""What is kept of an episode: `EpisodeRecord`, its steps and its failed attempts; to JSON and back.

Records hold no API key and no structured elements: the observation's text is complete in itself.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any, Self, TypeVar

from webserv.types import ActionError, ActionErrorKind, Box, Failure, FailureKind, Score, Settle

_R = TypeVar("_R", bound="EpisodeRecord | StepRecord | ObservationRecord | AttemptRecord")

SCHEMA = 1
"""Version of the record's JSON form; readers refuse a newer one."""


class Ending(StrEnum):
    """What ended an episode. Values are part of the record's public form."""

    TERMINATED = "terminated"
    """The policy gave `terminate`."""
    BUDGET = "budget"
    """The step budget was used up; the end state was still judged."""
    DEADLINE = "deadline"
    """The episode's time was used up; the end state was still judged, without an answer."""
    FAILURE = "failure"
    """Something that is not the policy's doing failed; there is no reward."""


@dataclass(frozen=True, slots=True)
class ObservationRecord:
    """An observation as the policy saw it."""

    text: str
    url: str
    title: str
    error: ActionError | None
    """Why the action before it did not happen."""
    settle: Settle
    dialog: str = ""
    """The message of the dialog that waited, if any."""
    tabs: int = 1
    """How many tabs were open."""
    screenshot: str | None = None
    """Name of the blob, for instance ``ab12….jpg``; None unless screenshots were asked for."""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One decision of the policy and what it led to."""

    index: int
    """From 0."""
    action: str
    observation: ObservationRecord
    """What the action led to."""
    target: str | None = None
    """Id of the element that the action names, if the policy could see it."""
    target_box: Box | None = None
    """Where that element was in the observation before, CSS pixels of the viewport."""
    completion: str = ""
    prompt: tuple[Mapping[str, Any], ...] = ()
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_ids: tuple[int, ...] | None = None
    completion_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    finish_reason: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else the policy reported."""
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds by part: ``policy``, ``queue``, ``act``, ``settle``, ``observe``, ``screenshot``, ``evaluate``,
    ``other``."""


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """An earlier attempt at the same episode that an environment failure spoiled."""

    failure: Failure
    steps: int
    """How many steps it got to."""
    world: str
    started_at: str
    duration_s: float


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """One episode: what was asked, what happened step by step, and what it was worth."""

    key: str
    """Unique in a run: task id, ``#`` and the repeat's number."""
    task_id: str
    benchmark: str
    template: str
    intent: str
    policy: str
    seed: int
    """Of the environment; the same for all repeats of a task (a group)."""
    policy_seed: int
    """Of the policy; differs between repeats."""
    repeat: int
    """0 for the first rollout of a task, 1 for the second …"""
    max_steps: int
    reward: float | None
    """None when a failure left the episode without a verdict. Never count it as 0."""
    ended: Ending
    score: Score | None = None
    """The evaluator's verdict with its evidence."""
    failure: Failure | None = None
    failure_detail: str = ""
    """Traceback, when the failure was an unforeseen exception of a policy."""
    answer: str | None = None
    """What the policy gave to `terminate`."""
    terminated: bool = False
    truncated: bool = False
    first: ObservationRecord | None = None
    """What the policy saw first; None when the reset failed."""
    steps: tuple[StepRecord, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds by part, summed over the episode; ``reset`` and ``queue`` beside the parts of a step."""
    started_at: str = ""
    """UTC, ISO 8601."""
    duration_s: float = 0.0
    """Wall time from asking for the world to the verdict, queueing included."""
    world: str = ""
    blocked: tuple[str, ...] = ()
    """Addresses outside of the world that the page asked for, in order, without repeats."""
    attempts: tuple[AttemptRecord, ...] = ()
    """Failed attempts before this one, oldest first."""
    sites: tuple[str, ...] = ()
    start_urls: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def solved(self) -> bool:
        """Whether the episode got the full reward."""
        return self.reward is not None and self.reward >= 1.0

    @property
    def prompt_tokens(self) -> int:
        """Tokens of all prompts, as far as the policy counted them."""
        return sum(step.prompt_tokens or 0 for step in self.steps)

    @property
    def completion_tokens(self) -> int:
        """Tokens of all completions, as far as the policy counted them."""
        return sum(step.completion_tokens or 0 for step in self.steps)

    def to_json(self) -> str:
        r"""One line of ASCII JSON, in which even lone surrogates survive (as ``\udXXX``)."""
        return json.dumps({"schema": SCHEMA, **asdict(self)}, ensure_ascii=True, default=str)

    @classmethod
    def from_json(cls, line: str | bytes) -> Self:
        """Reads what `to_json` wrote.

        Raises:
            ValueError: It is no record, or one of a newer WebServ.
        """
        try:
            raw = json.loads(line)
            schema = raw.pop("schema")
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
            raise ValueError(f"This is no episode record: {error!r}") from error
        if schema != SCHEMA:
            raise ValueError(f"The record has schema {schema}; this WebServ reads schema {SCHEMA}.")
        try:
            return _checked(cls(**_episode_fields(raw)))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"The episode record is damaged: {error!r}") from error


_NUMBER = (int, float)
_NONE = type(None)
_PLAIN: Mapping[str, tuple[type, ...]] = {
    "str": (str,), "str | None": (str, _NONE), "int": (int,), "int | None": (int, _NONE), "bool": (bool,),
    "float": _NUMBER, "float | None": (*_NUMBER, _NONE), "Failure": (Failure,),
}  # fmt: skip
_ITEMS: Mapping[str, tuple[type, ...]] = {"tuple[str, ...]": (str,), "Mapping[str, float]": _NUMBER}


def _checked(record: _R) -> _R:
    """`record`, if what summaries and reports reckon with is of the type that its class says."""
    for about in fields(record):
        value, kind = getattr(record, about.name), str(about.type)
        if kind in _PLAIN and not isinstance(value, _PLAIN[kind]):
            raise TypeError(f"{about.name} is a {type(value).__name__}")
        if kind in _ITEMS:
            items = value.values() if isinstance(value, Mapping) else value
            if not all(isinstance(item, _ITEMS[kind]) for item in items):
                raise TypeError(f"{about.name} holds something else than {kind} does")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{about.name} is {value}")
    return record


def _episode_fields(raw: dict[str, Any]) -> dict[str, Any]:
    return raw | {
        "ended": Ending(raw["ended"]),
        "score": _score(raw["score"]),
        "failure": _failure(raw["failure"]),
        "first": _observation(raw["first"]) if raw["first"] else None,
        "steps": tuple(_step(step) for step in raw["steps"]),
        "attempts": tuple(
            _checked(AttemptRecord(**(attempt | {"failure": _failure(attempt["failure"])})))
            for attempt in raw["attempts"]
        ),
        **{name: tuple(raw[name]) for name in ("blocked", "sites", "start_urls", "tags")},
    }


def _step(raw: dict[str, Any]) -> StepRecord:
    ids = {
        name: None if raw[name] is None else tuple(raw[name])
        for name in ("prompt_ids", "completion_ids", "logprobs")
    }
    return _checked(
        StepRecord(
            **raw
            | ids
            | {
                "observation": _observation(raw["observation"]),
                "target_box": Box(**raw["target_box"]) if raw["target_box"] else None,
                "prompt": tuple(raw["prompt"]),
            }
        )
    )


def _observation(raw: dict[str, Any]) -> ObservationRecord:
    error = raw["error"]
    return _checked(
        ObservationRecord(
            **raw
            | {
                "error": ActionError(ActionErrorKind(error["kind"]), error["message"]) if error else None,
                "settle": Settle(**raw["settle"]),
            }
        )
    )


def _score(raw: dict[str, Any] | None) -> Score | None:
    return Score(raw["value"], tuple(raw["evidence"])) if raw else None


def _failure(raw: dict[str, Any] | None) -> Failure | None:
    return Failure(FailureKind(raw["kind"]), str(raw["message"])) if raw else None
