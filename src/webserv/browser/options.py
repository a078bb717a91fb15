"""Options of the browser half. All of them are plain records that go to JSON and back."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SettleOptions:
    """When a page counts as at rest."""

    quiet_ms: int = 60
    """How long the document must not change, and no request may end, before it is observed."""
    effect_ms: int = 250
    """How long a page that shows no effect of a click is waited for: it may act after a timer."""
    typing_ms: int = 350
    """How long a field that searches while one types is waited for after the last key."""
    cap_s: float = 8.0
    """Longest wait after an action; then the observation says what it was still waiting for."""
    navigation_grace_ms: int = 1000
    """How long a navigation that the page announced may take to reach the network."""
    learn_after_s: float = 3.0
    """A request still in flight at the cap, and older than this, is a long poll: later waits ignore its path."""
    poll_count: int = 6
    """A path asked for this often within one step is a poll: ignored from then on."""


@dataclass(frozen=True, slots=True)
class ObservationOptions:
    """What an observation holds."""

    renderer: str = "outline"
    """Name of the renderer, see `webserv.browser.observation.renderers`."""
    max_chars: int = 20_000
    """Longest observation text; what is cut is counted in the text."""
    max_nodes: int = 20_000
    """Elements of the page that one pass visits."""
    max_options: int = 12
    """Options of one select that the text lists."""


@dataclass(frozen=True, slots=True)
class BrowserOptions:
    """How browsers are started and what their sessions look like."""

    executable: str | None = None
    """Path of a Chromium; None looks for one, see `webserv.browser.executable`."""
    viewport: tuple[int, int] = (1280, 720)
    """Width and height in CSS pixels."""
    locale: str = "en-US"
    timezone: str = "UTC"
    reduced_motion: bool = True
    """Asks pages for less animation (``prefers-reduced-motion``)."""
    contexts_per_browser: int = 16
    """Sessions that share one browser process."""
    recycle_after: int = 200
    """Sessions after which a browser process is replaced."""
    screenshots: bool = False
    """Whether every observation carries a picture."""
    screenshot_quality: int = 70
    """JPEG quality, 1 to 100."""
    upload_dir: Path | None = None
    """The only folder whose files ``upload`` may give to a page; None forbids uploads."""
    navigation_timeout_s: float = 30.0
    """Longest time for a server to begin to answer."""
    max_tabs: int = 10
    """Tabs of one session; pop-ups beyond are closed."""
    settle: SettleOptions = field(default_factory=SettleOptions)
    observation: ObservationOptions = field(default_factory=ObservationOptions)
