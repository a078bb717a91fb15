"""Waiting until a booted site answers correctly."""

from __future__ import annotations

import asyncio
import http.client
import time

from webserv.errors import WorldFailed
from webserv.server.router import Target
from webserv.server.site import Site, split_origin
from webserv.server.world import CloneProcess

_POLL_S = 0.02


async def wait_ready(site: Site, target: Target, process: CloneProcess) -> None:
    """Polls the site's ready check until it passes.

    Raises:
        WorldFailed: The process ended, or the check did not pass in the site's time; says what it got last.
    """
    deadline = time.monotonic() + site.ready.timeout_s
    while True:
        found = await asyncio.to_thread(_ask, site, target)
        if found is None:
            return
        if not process.alive:
            raise WorldFailed(f"Site '{site.name}' ended while it was starting ({found}).")
        if time.monotonic() > deadline:
            raise WorldFailed(
                f"Site '{site.name}' was not ready after {site.ready.timeout_s:.0f} s: {found}."
            )
        await asyncio.sleep(_POLL_S)


def _ask(site: Site, target: Target) -> str | None:
    """One request; returns what is wrong, or None."""
    host, port = split_origin(site.origins[0])
    connection = http.client.HTTPConnection(host, port, timeout=10)
    try:
        sock = target.open_socket()
        connection.sock = sock
        sock.settimeout(10)
        sock.connect(target.address)
        connection.request("GET", site.ready.path)
        response = connection.getresponse()
        body = response.read()
    except (OSError, http.client.HTTPException) as exc:
        return f"no answer: {exc}"
    finally:
        connection.close()
    if response.status != site.ready.status:
        return f"status {response.status} instead of {site.ready.status}"
    if site.ready.contains.encode() not in body:
        return f"the page lacks {site.ready.contains!r}"
    return None
