"""The actions, as records. Field order is the order of positional arguments in the text form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal


@dataclass(frozen=True, slots=True)
class Click:
    """Presses the element with the left mouse button."""

    name: ClassVar[str] = "click"
    target: str


@dataclass(frozen=True, slots=True)
class Type:
    """Replaces what the field holds by `text`, key by key; `enter` presses Enter after it."""

    name: ClassVar[str] = "type"
    target: str
    text: str
    enter: bool = False


@dataclass(frozen=True, slots=True)
class Clear:
    """Empties the field."""

    name: ClassVar[str] = "clear"
    target: str


@dataclass(frozen=True, slots=True)
class Select:
    """Chooses options of a select by their labels (or values); several only where it takes several."""

    name: ClassVar[str] = "select"
    target: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hover:
    """Moves the mouse onto the element."""

    name: ClassVar[str] = "hover"
    target: str


@dataclass(frozen=True, slots=True)
class KeyPress:
    """Presses a key or chord such as ``Enter``, ``Escape``, ``Control+a``, on the element or where the focus is."""

    name: ClassVar[str] = "key_press"
    key: str
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Scroll:
    """Scrolls the page, or the scrollable part that holds the element, by most of a screen."""

    name: ClassVar[str] = "scroll"
    direction: Literal["up", "down"]
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Drag:
    """Drags one element onto another."""

    name: ClassVar[str] = "drag"
    target: str
    to: str


@dataclass(frozen=True, slots=True)
class Upload:
    """Gives a file of the session's upload folder to a file field."""

    name: ClassVar[str] = "upload"
    target: str
    path: str


@dataclass(frozen=True, slots=True)
class Goto:
    """Loads an address in the active tab."""

    name: ClassVar[str] = "goto"
    url: str


@dataclass(frozen=True, slots=True)
class Back:
    """One page back in the tab's history."""

    name: ClassVar[str] = "back"


@dataclass(frozen=True, slots=True)
class Forward:
    """One page forward in the tab's history."""

    name: ClassVar[str] = "forward"


@dataclass(frozen=True, slots=True)
class Refresh:
    """Loads the page anew."""

    name: ClassVar[str] = "refresh"


@dataclass(frozen=True, slots=True)
class NewTab:
    """Opens a tab, with an address or empty, and makes it active."""

    name: ClassVar[str] = "new_tab"
    url: str | None = None


@dataclass(frozen=True, slots=True)
class SwitchTab:
    """Makes another tab active."""

    name: ClassVar[str] = "switch_tab"
    tab_id: int


@dataclass(frozen=True, slots=True)
class CloseTab:
    """Closes a tab; the last opened of the others becomes active when it was the active one."""

    name: ClassVar[str] = "close_tab"
    tab_id: int


@dataclass(frozen=True, slots=True)
class DialogAccept:
    """Answers the open dialog with OK; `text` is what a prompt gets, None its default."""

    name: ClassVar[str] = "dialog_accept"
    text: str | None = None


@dataclass(frozen=True, slots=True)
class DialogDismiss:
    """Answers the open dialog with Cancel."""

    name: ClassVar[str] = "dialog_dismiss"


@dataclass(frozen=True, slots=True)
class Wait:
    """Waits, then until the page is at rest."""

    name: ClassVar[str] = "wait"
    seconds: float = 1.0
    """0 to 5; more is cut to 5."""


@dataclass(frozen=True, slots=True)
class Terminate:
    """Ends the episode, with an answer where the task asks for one."""

    name: ClassVar[str] = "terminate"
    answer: str | None = None


Action = (
    Click | Type | Clear | Select | Hover | KeyPress | Scroll | Drag | Upload | Goto | Back | Forward | Refresh | NewTab
    | SwitchTab | CloseTab | DialogAccept | DialogDismiss | Wait | Terminate
)  # fmt: skip

ACTION_TYPES: tuple[type[Action], ...] = (
    Click, Type, Clear, Select, Hover, KeyPress, Scroll, Drag, Upload, Goto, Back, Forward, Refresh, NewTab,
    SwitchTab, CloseTab, DialogAccept, DialogDismiss, Wait, Terminate,
)  # fmt: skip
"""All actions, in the order in which they are documented."""

MAX_WAIT_S = 5.0
