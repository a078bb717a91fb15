"""The owner's side of a zygote: starts the preloader, asks it for clones."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from webserv.errors import WorldFailed
from webserv.server.logs import last_line

_MAX_MESSAGE = 64 * 1024
_LOAD_TIMEOUT_S = 120.0
_FORK_TIMEOUT_S = 30.0


def preloader_arguments(adapter: str, control_fd: int, threads: int) -> list[str]:
    """What follows the interpreter on the preloader's command line."""
    module = "webserv.server.start_modes.preloader"
    return ["-m", module, "--adapter", adapter, "--control-fd", str(control_fd), "--threads", str(threads)]


class Zygote:
    """A loaded and warmed parent of clones.

    Args:
        name: Site name, for messages.
        control: Our end of the SOCK_SEQPACKET pair; this object owns it.
        stop: Ends the process and all that it forked, and waits until they have ended.
        log: What it prints.
    """

    def __init__(
        self,
        name: str,
        control: socket.socket,
        stop: Callable[[], Awaitable[None]],
        log: Path,
    ) -> None:
        self._name = name
        self._control = control
        self._stop = stop
        self._log = log
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[tuple[int, int | None]]] = {}
        self._loaded: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        control.setblocking(False)
        asyncio.get_running_loop().add_reader(control, self._on_message)

    @property
    def alive(self) -> bool:
        """Whether it can still be asked, as far as has been heard."""
        return self._control.fileno() >= 0

    async def wait_loaded(self) -> None:
        """Returns when the site is loaded and warm.

        Raises:
            WorldFailed: It did not load, or not within two minutes.
        """
        try:
            async with asyncio.timeout(_LOAD_TIMEOUT_S):
                await self._loaded
        except TimeoutError as exc:
            raise WorldFailed(f"Site '{self._name}' did not load within {_LOAD_TIMEOUT_S:.0f} s.") from exc

    async def fork(self, request: dict[str, Any], fds: Sequence[int]) -> tuple[int, int | None]:
        """Forks a clone; see `webserv.server.start_modes.preloader` for the request.

        Returns:
            The clone's pid as the zygote sees it and, where the platform has them, a pidfd that the caller owns.

        Raises:
            WorldFailed: The zygote has ended or could not fork.
        """
        number = next(self._numbers)
        if not self.alive:
            raise WorldFailed(f"The zygote of site '{self._name}' has ended.")
        answer: asyncio.Future[tuple[int, int | None]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            socket.send_fds(self._control, [json.dumps(request | {"id": number}).encode()], list(fds))
            async with asyncio.timeout(_FORK_TIMEOUT_S):
                return await asyncio.shield(answer)
        except TimeoutError as exc:
            self._drop("it does not answer")
            raise WorldFailed(f"The zygote of site '{self._name}' does not answer.") from exc
        except OSError as exc:
            raise WorldFailed(f"The zygote of site '{self._name}' has ended: {exc}.") from exc
        except asyncio.CancelledError:
            if answer.done() and answer.exception() is None:
                _end(answer.result()[1])  # it came in the same turn of the loop as the cancel
            raise
        finally:
            self._waiting.pop(number, None)  # an answer that comes later is a clone that nobody waits for

    async def close(self) -> None:
        """Ends the zygote and with it its clones; a second call is harmless."""
        self._drop("it was closed")
        await self._stop()

    def _drop(self, reason: str) -> None:
        if self._control.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self._control)
            self._control.close()
        error = WorldFailed(f"The zygote of site '{self._name}' is gone: {reason}.")
        if not self._loaded.done():
            self._loaded.set_exception(error)
            self._loaded.exception()  # nobody may be waiting; that is no error of its own
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(error)
                answer.exception()

    def _on_message(self) -> None:
        try:
            message, fds, _, _ = socket.recv_fds(self._control, _MAX_MESSAGE, 4)
        except BlockingIOError:
            return
        except OSError as exc:
            self._drop(str(exc))
            return
        if not message:
            self._drop(last_line(self._log) or "it ended without a word")
            return
        answer = json.loads(message)
        if "ready" in answer:
            if not self._loaded.done():
                self._loaded.set_result(None)
        elif "id" not in answer:
            self._drop(answer["error"].strip().splitlines()[-1])
        else:
            self._on_answer(answer, fds)

    def _on_answer(self, answer: dict[str, Any], fds: list[int]) -> None:
        waiting = self._waiting.get(answer["id"])
        if waiting is None or waiting.done():
            for fd in fds:
                _end(fd)
        elif "error" in answer:
            waiting.set_exception(WorldFailed(f"Site '{self._name}' could not fork: {answer['error']}."))
        else:
            waiting.set_result((answer["pid"], fds[0] if fds else None))


def _end(pidfd: int | None) -> None:
    """Ends a clone that nobody waits for any more."""
    if pidfd is not None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        os.close(pidfd)


async def wait_status(fd: int, site: str, *, timeout_s: float = 30.0) -> None:
    """Waits until a forked clone says on its status pipe that it serves. Closes `fd`.

    Raises:
        WorldFailed: It reported an error, ended, or took too long.
    """
    loop = asyncio.get_running_loop()
    said: asyncio.Future[bytes] = loop.create_future()
    collected = bytearray()
    os.set_blocking(fd, False)

    def on_readable() -> None:
        try:
            part = os.read(fd, 8192)
        except BlockingIOError:
            return
        collected.extend(part)
        if (not part or collected == b"ready") and not said.done():
            said.set_result(bytes(collected))

    loop.add_reader(fd, on_readable)
    try:
        async with asyncio.timeout(timeout_s):
            words = await said
    except TimeoutError as exc:
        raise WorldFailed(f"Site '{site}' did not come up within {timeout_s:.0f} s.") from exc
    finally:
        loop.remove_reader(fd)
        os.close(fd)
    if words != b"ready":
        lines = words.decode("utf-8", "replace").strip().splitlines()
        raise WorldFailed(f"Site '{site}' did not come up: {lines[-1] if lines else 'it ended at once'}.")
