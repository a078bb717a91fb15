"""Records that both halves, the tasks and the rollouts share. No logic lives here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class FailureKind(StrEnum):
    """Why an episode has no reward."""

    ENV = "env"
    """The site, browser or host failed."""
    POLICY = "policy"
    """The policy could not be asked."""
    EVALUATOR = "evaluator"
    """The check itself raised."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure that is not the policy's doing; the reward beside it is None."""

    kind: FailureKind
    message: str
    """One line for people: what failed and, where known, why."""


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie that logs an episode in, in Playwright's terms."""

    name: str
    value: str
    domain: str
    path: str = "/"
    http_only: bool = True


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in CSS pixels of the viewport; x and y may be negative when scrolled out."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Element:
    """One element that a policy can see and name."""

    id: str
    """Semantic, at most 24 characters, unique in the observation, stable while the element lives."""
    role: str
    """ARIA role by the HTML accessibility mapping, for instance ``button``, ``textbox``, ``link``."""
    name: str
    """Accessible name, white space collapsed; may be empty."""
    value: str | None = None
    """Live value of an editable or select element."""
    states: tuple[str, ...] = ()
    """Cues in a fixed order, for instance ``disabled``, ``checked``, ``expanded``, ``covered``, ``new``."""
    options: tuple[str, ...] = ()
    """Labels of a select's options, in order."""
    href: str | None = None
    """Target of a link, absolute."""
    box: Box | None = None
    """Where it is; None when it has no box."""


@dataclass(frozen=True, slots=True)
class Tab:
    """One open tab."""

    id: int
    """Given in order of opening, never reused within an episode."""
    title: str
    url: str
    active: bool


@dataclass(frozen=True, slots=True)
class Dialog:
    """A JavaScript dialog that waits for an answer (alert, confirm, prompt, beforeunload)."""

    kind: str
    message: str
    default: str = ""


class ActionErrorKind(StrEnum):
    """Why an action was not carried out. Values are part of the public contract."""

    MALFORMED = "malformed"
    """The text is no action."""
    STALE = "stale"
    """The id was known, but its element is gone."""
    UNKNOWN_ID = "unknown_id"
    """No observation of this episode ever had this id."""
    COVERED = "covered"
    """Another element would receive the click."""
    DISABLED = "disabled"
    NOT_EDITABLE = "not_editable"
    HIDDEN = "hidden"
    NO_OPTION = "no_option"
    """The select has no such option; the message lists those it has."""
    NO_TAB = "no_tab"
    NO_DIALOG = "no_dialog"
    DIALOG_OPEN = "dialog_open"
    """A dialog waits and must be answered first."""
    NAVIGATION = "navigation"
    """The page could not be loaded (refused, blocked, timed out)."""
    TIMEOUT = "timeout"
    NOT_SUPPORTED = "not_supported"


@dataclass(frozen=True, slots=True)
class ActionError:
    """An action that did not happen. It is data for the policy, and costs a step."""

    kind: ActionErrorKind
    message: str
    """One line that lets a policy recover."""


@dataclass(frozen=True, slots=True)
class Settle:
    """How the wait after an action ended."""

    settled: bool
    reason: str
    """``quiet`` when settled; else what it was still waiting for when the cap was reached."""
    waited_s: float
    """Wall time of the wait; not part of the observation's text, so that episodes repeat byte for byte."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What a policy gets: `text` is complete in itself, the rest is the same in structured form."""

    text: str
    url: str
    title: str
    elements: tuple[Element, ...]
    tabs: tuple[Tab, ...]
    dialog: Dialog | None
    error: ActionError | None
    """Why the last action did not happen; also rendered in `text`."""
    settle: Settle
    screenshot: bytes | None = None
    """PNG or JPEG of the viewport; None unless the env was asked for it."""
    screenshot_type: str = "jpeg"
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds by part: ``act``, ``settle``, ``observe``, ``screenshot``."""


@dataclass(frozen=True, slots=True)
class Score:
    """What an evaluator says of an end state."""

    value: float
    """0.0 to 1.0."""
    evidence: tuple[str, ...] = ()
    """One line per check: what was expected and what was found."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """The outcome of one step, in Gymnasium's words."""

    observation: Observation
    reward: float | None
    """None until the episode ends, and None at its end if the environment failed."""
    terminated: bool
    """The policy ended the episode."""
    truncated: bool
    """The step budget ended it, or a failure of the environment."""
    failure: Failure | None = None
    score: Score | None = None
    """The evaluator's verdict with its evidence, once the episode has ended."""
    info: Mapping[str, Any] = field(default_factory=dict)
