"""Makes an `Observation` of a session's tabs: header lines, then the active page as its renderer shows it."""

from __future__ import annotations

from collections.abc import Sequence

from webserv.browser.observation.budget import fit
from webserv.browser.observation.element import Page, PageElement
from webserv.browser.observation.renderers import load_renderer
from webserv.browser.observation.renderers.outline import plain, quoted
from webserv.browser.options import ObservationOptions
from webserv.types import ActionError, Dialog, Element, Settle, Tab


def render(
    page: Page,
    *,
    options: ObservationOptions,
    tabs: Sequence[Tab],
    dialog: Dialog | None,
    error: ActionError | None,
    notes: Sequence[str],
    settle: Settle,
) -> str:
    """The observation's text. It holds nothing that depends on the clock."""
    head = [f"URL: {page.url}"]
    if page.title:
        head.append(f"Title: {plain(page.title)}")
    if len(tabs) > 1:
        head.append(f"Tabs: {' | '.join(_tab(tab) for tab in tabs)}")
    head.extend(f"Note: {note}" for note in notes)
    if error:
        head.append(f"Error: {error.kind.value}: {error.message}")
    if dialog:
        head.append(_dialog(dialog))
    if not settle.settled:
        head.append(f"Not settled: still waiting for {settle.reason}")
    body = [] if dialog else load_renderer(options.renderer)(page, options)
    if page.left_out and not dialog:
        body = [
            *body,
            f"… cut here: the page is too large; {page.left_out:,} elements or texts were not read",
        ]
    return fit(head, body, options.max_chars)


def to_elements(page: Page) -> tuple[Element, ...]:
    """The public records of the page's elements, those behind an overlay marked ``covered``."""
    above = {element.id for top in page.overlay for node in top.walk() if (element := node.element)}
    covered = bool(page.overlay)
    return tuple(_element(element, covered and element.id not in above) for element in page.elements())


def _element(element: PageElement, covered: bool) -> Element:
    return Element(
        id=element.id,
        role=element.role,
        name=element.name,
        value=element.value,
        states=(*element.states, "covered") if covered else element.states,
        options=element.options,
        href=element.href,
        box=element.box,
    )


def _tab(tab: Tab) -> str:
    name = tab.title or tab.url
    shown = name if len(name) <= 60 else f"{name[:59]}…"
    return f"{'*' if tab.active else ''}{tab.id} {quoted(shown)}"


def _dialog(dialog: Dialog) -> str:
    default = f" default {quoted(dialog.default)}" if dialog.kind == "prompt" else ""
    answers = "dialog_accept()" if dialog.kind == "alert" else "dialog_accept() or dialog_dismiss()"
    if dialog.kind == "prompt":
        answers = 'dialog_accept("text") or dialog_dismiss()'
    message = "Leave this page? Changes may be lost." if dialog.kind == "beforeunload" else dialog.message
    return f"Dialog: {dialog.kind} {quoted(message)}{default}; answer with {answers}"
