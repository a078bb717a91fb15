"""One table from action to the function that carries it out, and the rule for open dialogs."""

from __future__ import annotations

from typing import Protocol

from webserv.browser.actions import files, navigate, pointer, select, text
from webserv.browser.actions.execute import Hands, pause
from webserv.browser.actions.outcome import ActionRefused
from webserv.browser.actions.types import (
    Action,
    Back,
    Clear,
    Click,
    CloseTab,
    DialogAccept,
    DialogDismiss,
    Drag,
    Forward,
    Goto,
    Hover,
    KeyPress,
    NewTab,
    Refresh,
    Scroll,
    Select,
    SwitchTab,
    Terminate,
    Type,
    Upload,
    Wait,
)
from webserv.browser.tab import Tab
from webserv.types import ActionErrorKind


class Strip(Protocol):
    """What tab and dialog actions need of the session's tabs."""

    async def open(self) -> Tab:
        """Opens an empty tab and makes it active."""
        ...

    async def switch(self, tab_id: int) -> None:
        """Makes a tab active."""
        ...

    async def close_tab(self, tab_id: int) -> None:
        """Closes a tab."""
        ...

    async def answer_dialog(self, tab: Tab, *, accept: bool, text: str | None) -> None:
        """Answers the tab's dialog."""
        ...


class Session(Hands, Protocol):
    """What actions need of a session."""

    @property
    def strip(self) -> Strip:
        """The session's tabs."""
        ...


async def carry_out(session: Session, action: Action) -> None:
    """Carries out the action in the active tab.

    Raises:
        ActionRefused: It did not happen.
        BrowserFailed: The browser died.
    """
    tab = session.active
    match action:
        case DialogAccept():
            await session.strip.answer_dialog(tab, accept=True, text=action.text)
            return
        case DialogDismiss():
            await session.strip.answer_dialog(tab, accept=False, text=None)
            return
    if tab.dialog is not None:
        raise ActionRefused(
            ActionErrorKind.DIALOG_OPEN,
            f"A dialog ({tab.dialog.type}) is open; answer it with dialog_accept() or dialog_dismiss() first.",
        )
    match action:
        case Click():
            await pointer.click(session, action)
        case Type():
            await text.type_text(session, action)
        case Clear():
            await text.clear(session, action)
        case Select():
            await select.select(session, action)
        case Hover():
            await pointer.hover(session, action)
        case KeyPress():
            await text.key_press(session, action)
        case Scroll():
            await pointer.scroll(session, action)
        case Drag():
            await pointer.drag(session, action)
        case Upload():
            await files.upload(session, action)
        case Goto():
            await navigate.goto(session, action)
        case Back():
            await navigate.move(session, -1)
        case Forward():
            await navigate.move(session, +1)
        case Refresh():
            await navigate.refresh(session)
        case NewTab():
            await _new_tab(session, action)
        case SwitchTab():
            await session.strip.switch(action.tab_id)
        case CloseTab():
            await session.strip.close_tab(action.tab_id)
        case Wait():
            await pause(action.seconds)
        case Terminate():
            return


async def _new_tab(session: Session, action: NewTab) -> None:
    url = navigate.checked_url(action.url) if action.url is not None else None
    await session.strip.open()
    if url is not None:
        await navigate.load(session, url)
