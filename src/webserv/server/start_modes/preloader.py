"""The zygote: a process that has a site loaded and warm, and forks a clone on request.

It runs in the site's own Python environment, so it uses the standard library, ``webserv.server._linux`` and, in the
clones, the WSGI server ``waitress`` that the site's lock file brings.

The site's adapter module has four functions:

- ``load() -> app`` imports everything and returns the WSGI application; it starts no thread.
- ``warm(app)`` sends real requests to it, so that clones share what they would otherwise compute each.
- ``freeze()`` closes what a fork must not share: database handles, index readers.
- ``adopt(data_dir)`` runs in each clone: opens its data, reseeds random numbers.

Requests come over a SOCK_SEQPACKET socket, one JSON object each, with file descriptors beside it:

``{"id", "isolate": bool, "hostname", "data", "uid", "overlay": {"upper", "work", "hide"}}`` with the descriptors
``[listening socket, status pipe, log, network namespace, group entries…]``; without isolation only ``id``, ``data``
and the first three descriptors count. The answer is ``{"id", "pid"}`` with the clone's pidfd, or ``{"id", "error"}``.
The clone writes ``ready`` to the status pipe once it serves, or the error that kept it from it.
When the control socket closes, the zygote ends and its clones with it.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import json
import os
import random
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

_MAX_MESSAGE = 64 * 1024
_MAX_FDS = 16


def main() -> None:
    """Loads the site, tells the owner so and serves fork requests until the owner is gone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--adapter", required=True)
    parser.add_argument("--control-fd", type=int, required=True)
    parser.add_argument("--threads", type=int, default=4)
    arguments = parser.parse_args()
    control = socket.socket(fileno=arguments.control_fd)
    _die_with_parent()
    try:
        adapter = importlib.import_module(arguments.adapter)
        app = adapter.load()
        # Waitress is imported here so that clones share its pages too.
        importlib.import_module("waitress")
        adapter.warm(app)
        adapter.freeze()
    except BaseException:
        control.send(json.dumps({"error": traceback.format_exc()[-8000:]}).encode())
        raise
    gc.collect()
    gc.freeze()
    # Clones are waited for by their pidfd; the kernel reaps them.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    control.send(json.dumps({"ready": True}).encode())
    _Zygote(adapter, app, control, arguments.threads).serve()


class _Zygote:
    def __init__(self, adapter: Any, app: Any, control: socket.socket, threads: int) -> None:
        self._adapter = adapter
        self._app = app
        self._control = control
        self._threads = threads
        self._own_pid_namespace = _open_or_none("/proc/self/ns/pid")
        self._children: dict[int, int] = {}
        """Pid to pidfd of clones that no pid namespace of ours will end."""

    def serve(self) -> None:
        while True:
            message, fds, _, _ = socket.recv_fds(self._control, _MAX_MESSAGE, _MAX_FDS)
            if not message:
                self._end_children()
                return
            request = json.loads(message)
            try:
                pid = self._fork(request, fds)
            except OSError as exc:
                self._answer({"id": request["id"], "error": str(exc)}, None)
            else:
                self._answer_forked(request, pid)
            finally:
                for fd in fds:
                    os.close(fd)

    def _answer_forked(self, request: dict[str, Any], pid: int) -> None:
        try:
            pidfd = os.pidfd_open(pid)
        except ProcessLookupError:
            self._answer({"id": request["id"], "error": "the clone ended at once"}, None)
            return
        self._answer({"id": request["id"], "pid": pid}, pidfd)
        if request["isolate"]:
            os.close(pidfd)  # the kernel ends it with our pid namespace
        else:
            self._forget_ended()
            self._children[pid] = pidfd

    def _answer(self, answer: dict[str, Any], pidfd: int | None) -> None:
        socket.send_fds(self._control, [json.dumps(answer).encode()], [] if pidfd is None else [pidfd])

    def _end_children(self) -> None:
        self._forget_ended()
        for pid in self._children:
            with contextlib.suppress(OSError):
                os.killpg(pid, signal.SIGKILL)

    def _forget_ended(self) -> None:
        # A pidfd becomes readable when its process has ended; from then on the number may be another process's.
        poll = select.poll()
        for pidfd in self._children.values():
            poll.register(pidfd, select.POLLIN)
        ended = {pidfd for pidfd, _ in poll.poll(0)}
        for pid in [pid for pid, pidfd in self._children.items() if pidfd in ended]:
            os.close(self._children.pop(pid))

    def _fork(self, request: dict[str, Any], fds: list[int]) -> int:
        if not request["isolate"]:
            pid = os.fork()
            if pid == 0:
                self._run_clone(request, fds, _settle_plain)
            return pid
        from webserv.server._linux import namespaces

        # After unshare(CLONE_NEWPID) every later fork goes to the new namespace, and a second unshare is refused
        # until the process has returned to its own (kernel/nsproxy.c), hence the way back after each fork.
        namespaces.unshare(namespaces.CLONE_NEWPID)
        try:
            pid = os.fork()
            if pid == 0:
                self._run_clone(request, fds, _settle_isolated)
            return pid
        finally:
            assert self._own_pid_namespace is not None
            namespaces.setns(self._own_pid_namespace, namespaces.CLONE_NEWPID)

    def _run_clone(
        self, request: dict[str, Any], fds: list[int], settle: Callable[[dict[str, Any], list[int]], None]
    ) -> NoReturn:
        status, log = fds[1], fds[2]
        try:
            self._control.close()
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.close(log)
            if self._own_pid_namespace is not None:
                os.close(self._own_pid_namespace)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _die_with_parent()
            settle(request, fds)
            random.seed()
            gc.enable()
            self._adapter.adopt(request["data"])
            listening = socket.socket(fileno=fds[0])
            server = _make_server(self._app, listening, self._threads)
            os.write(status, b"ready")
            os.close(status)
            server.run()
        except BaseException:
            with contextlib.suppress(OSError):
                os.write(status, traceback.format_exc()[-4000:].encode())
        os._exit(1)


def _make_server(app: Any, listening: socket.socket, threads: int) -> Any:
    import waitress  # type: ignore[import-untyped]  # the site's, not ours

    # `clear_untrusted_proxy_headers` and the rest are irrelevant on a private loopback; idle connections are kept
    # so that a browser's kept-alive sockets do not race with a close.
    return waitress.create_server(
        app, sockets=[listening], threads=threads, channel_timeout=3600, cleanup_interval=3600
    )


def _settle_plain(request: dict[str, Any], fds: list[int]) -> None:
    os.setsid()


def _settle_isolated(request: dict[str, Any], fds: list[int]) -> None:
    """Moves the forked clone into its world: limits, namespaces, its own layer of files, no privileges."""
    from webserv.server._linux import mounts, namespaces

    network, entries = fds[3], fds[4:]
    for entry in entries:
        os.write(entry, b"0")
    namespaces.setns(network, namespaces.CLONE_NEWNET)
    namespaces.unshare(namespaces.CLONE_NEWNS | namespaces.CLONE_NEWIPC | namespaces.CLONE_NEWUTS)
    socket.sethostname(request["hostname"])
    overlay = request["overlay"]
    mounts.mount_overlay(
        lower=request["data"], upper=overlay["upper"], work=overlay["work"], target=request["data"]
    )
    # The folder with all clones' layers is seen by the zygote only.
    mounts.unmount(overlay["hide"], mounts.MNT_DETACH)
    mounts.mount("proc", "/proc", "proc", mounts.MS_NOSUID | mounts.MS_NODEV | mounts.MS_NOEXEC)
    # A terminal opened in one clone must not be found in another.
    mounts.mount(
        "devpts", "/dev/pts", "devpts", mounts.MS_NOSUID | mounts.MS_NOEXEC, "newinstance,ptmxmode=0666"
    )
    # The image may lie below /tmp, where the data folder of a trial or a test often is.
    mounts.cover_with_tmpfs("/tmp", "mode=1777,size=64m")
    os.setsid()
    for fd in fds[3:]:
        os.close(fd)
    os.setgroups([])
    os.setresgid(request["uid"], request["uid"], request["uid"])
    # Leaving uid 0 drops every capability of the process (capabilities(7)); the bounding set needs no change
    # since no_new_privs keeps exec from giving any back.
    os.setresuid(request["uid"], request["uid"], request["uid"])
    namespaces.set_no_new_privileges()
    # A change of uid clears the death signal (prctl(2)).
    _die_with_parent()


def _die_with_parent() -> None:
    if sys.platform == "linux":
        from webserv.server._linux.namespaces import set_parent_death_signal

        set_parent_death_signal(signal.SIGKILL)


def _open_or_none(path: str) -> int | None:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None


if __name__ == "__main__":
    main()
