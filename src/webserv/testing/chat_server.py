"""`ChatServer`: a real local HTTP server that speaks chat completions, for tests of policies."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Reply:
    """What the server answers to one request."""

    status: int = 200
    body: Any = None
    """JSON, or bytes that go out as they are."""
    headers: Mapping[str, str] = field(default_factory=dict)
    hang: bool = False
    """Answer only when the server is closed."""
    drop: bool = False
    """Close the connection without a word."""


def completion(text: str | None, **changes: Any) -> Reply:
    """A good answer with `text`; `changes` replace fields of its first choice."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return Reply(body={"model": "test-model", "choices": [choice | changes], "usage": usage})


def error(status: int, message: str, **headers: str) -> Reply:
    """An error in OpenAI's form."""
    return Reply(status, {"error": {"message": message, "type": "error"}}, headers)


class _Quiet(ThreadingHTTPServer):
    """A client that went away in mid-answer is no news."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of broken connections."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class ChatServer:
    """Answers requests by a row of replies; the last one is repeated. A context manager.

    Args:
        replies: Replies in order, or a function from the request's JSON to a reply.

    Attributes:
        requests: Bodies of the requests so far.
        headers: Their headers.
    """

    def __init__(self, replies: Iterable[Reply] | Callable[[dict[str, Any]], Reply]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._answer = replies if callable(replies) else _in_turn(list(replies))
        self._closing = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                server._handle(self)

            def log_message(self, *_: Any) -> None:
                """Says nothing."""

        self._http = _Quiet(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def base_url(self) -> str:
        """What to give as the endpoint's address."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def _handle(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        self.requests.append(body)
        self.headers.append(dict(handler.headers))
        if handler.path != "/v1/chat/completions":
            reply = error(404, f"no such path {handler.path}")
        else:
            reply = self._answer(body)
        if reply.hang:
            self._closing.wait()
        if reply.drop or reply.hang:
            handler.close_connection = True
            return
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        handler.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)


def _in_turn(replies: list[Reply]) -> Callable[[dict[str, Any]], Reply]:
    def answer(_: dict[str, Any]) -> Reply:
        return replies.pop(0) if len(replies) > 1 else replies[0]

    return answer
