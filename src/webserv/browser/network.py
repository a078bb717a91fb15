"""Which requests of a page are in flight, as far as a page that waits for them is not at rest."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

AWAITED_TYPES = frozenset({"Document", "XHR", "Fetch", "Script", "Stylesheet"})
"""Requests whose answer changes what a page shows. Web sockets, event streams, pings, media, prefetches and the
browser's own are never waited for; images only where they are in view, which the page itself tells (quiet.js)."""

UNREAD_AFTER_S = 0.25
"""A fetch whose answer has begun, but of which nothing was read for so long, is not waited for any more."""


@dataclass(slots=True)
class Request:
    """A request in flight."""

    id: str
    kind: str
    method: str
    url: str
    frame_id: str
    loader_id: str
    since: float
    """Monotonic seconds."""
    answered: float = 0.0
    """When its answer, or a further part of it, last arrived; 0 before."""

    @property
    def path(self) -> str:
        """Origin and path: what a poll has in common from one request to the next."""
        parts = urlsplit(self.url)
        return f"{self.method} {parts.scheme}://{parts.netloc}{parts.path}"


class NetworkTracker:
    """Keeps the requests of one page, all its frames included, from CDP's Network events.

    Args:
        polls: Paths that are known as polls; shared by the session's pages, added to by `learn`.
        on_change: Called when a request begins or ends.
    """

    def __init__(self, polls: set[str], on_change: Callable[[], None]) -> None:
        self._polls = polls
        self._on_change = on_change
        self._requests: dict[str, Request] = {}
        self._counts: Counter[str] = Counter()
        self.documents_asked = 0
        """Documents asked for since `begin_step`."""
        self.active = False
        """Whether an awaited request began or ended since `begin_step`."""
        self.last_change = 0.0
        """Monotonic time at which an awaited request last began or ended."""
        self.failed_document: tuple[str, str] | None = None
        """Address and network error of the last document that could not be loaded in the main frame."""

    def on_request(self, event: Mapping[str, Any]) -> None:
        """``Network.requestWillBeSent``; a redirect sends it again for the same request."""
        kind = event.get("type", "")
        url = event["request"]["url"]
        if kind not in AWAITED_TYPES or not url.startswith(("http:", "https:")):
            return
        request = Request(
            id=event["requestId"],
            kind=kind,
            method=event["request"]["method"],
            url=url,
            frame_id=event.get("frameId", ""),
            loader_id=event.get("loaderId", ""),
            since=time.monotonic(),
        )
        if kind in ("XHR", "Fetch"):
            self._counts[request.path] += 1
            if request.path in self._polls:
                return
        elif kind == "Document":
            self.documents_asked += 1
        self._requests[request.id] = request
        self._changed()

    def on_response(self, event: Mapping[str, Any]) -> None:
        """``Network.responseReceived``: a stream of events never ends, so it is not waited for."""
        if event["response"].get("mimeType") == "text/event-stream":
            self._end(event["requestId"])
        self.on_data(event)

    def on_data(self, event: Mapping[str, Any]) -> None:
        """``Network.dataReceived``: a part of the body was read."""
        request = self._requests.get(event["requestId"])
        if request:
            request.answered = time.monotonic()

    def on_finished(self, event: Mapping[str, Any]) -> None:
        """``Network.loadingFinished`` and ``Network.loadingFailed``."""
        request = self._requests.get(event["requestId"])
        if request and request.kind == "Document" and event.get("errorText") and not event.get("canceled"):
            self.failed_document = (request.url, event["errorText"])
        self._end(event["requestId"])

    def on_frame_gone(self, frame_id: str, keep_loader: str = "") -> None:
        """A frame went, or shows the document of `keep_loader`: what its old document asked for is dropped."""
        for request in list(self._requests.values()):
            if request.frame_id == frame_id and request.loader_id != keep_loader:
                self._end(request.id)

    def begin_step(self) -> None:
        """A new action begins: documents and paths are counted anew."""
        self._counts.clear()
        self.documents_asked = 0
        self.active = False

    def pending(self, poll_count: int) -> list[Request]:
        """Awaited requests in flight, oldest first; a path asked for `poll_count` times in this step is a poll."""
        for path, count in self._counts.items():
            if count >= poll_count:
                self._polls.add(path)
        return [
            request
            for request in self._requests.values()
            if not self._is_poll(request) and not _is_unread(request)
        ]

    def learn(self, older_than_s: float) -> None:
        """Takes XHR and fetch requests in flight for so long as long polls, which later waits ignore."""
        now = time.monotonic()
        for request in self._requests.values():
            if request.kind in ("XHR", "Fetch") and now - request.since >= older_than_s:
                self._polls.add(request.path)

    def _is_poll(self, request: Request) -> bool:
        return request.kind in ("XHR", "Fetch") and request.path in self._polls

    def _end(self, request_id: str) -> None:
        request = self._requests.pop(request_id, None)
        if request and not self._is_poll(request):
            self._changed()

    def _changed(self) -> None:
        self.active = True
        self.last_change = time.monotonic()
        self._on_change()


def _is_unread(request: Request) -> bool:
    """Whether the page got the answer to a fetch but does not read its body.

    Chromium then reports the end of the request only when the answer is garbage-collected.
    """
    return (
        request.kind == "Fetch"
        and request.answered > 0
        and time.monotonic() - request.answered >= UNREAD_AFTER_S
    )
