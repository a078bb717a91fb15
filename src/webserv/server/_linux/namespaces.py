"""Namespaces: enter, leave, create. Python 3.11 has no `os.setns` and `os.unshare`, so libc is called directly."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Thread
from typing import TypeVar

T = TypeVar("T")

CLONE_FS = 0x00000200

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

_SIOCGIFFLAGS = 0x8913
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 0x1
_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Moves the calling thread into new namespaces (unshare(2)).

    Raises:
        OSError: EPERM without CAP_SYS_ADMIN, ENOSPC at a limit in /proc/sys/user, EINVAL for an unknown flag.
    """
    _check(_libc.unshare(flags), f"unshare({flags:#x})")


def setns(fd: int, flags: int) -> None:
    """Moves the calling thread into the namespace that `fd` stands for (setns(2)).

    For CLONE_NEWPID only children forked afterwards are moved.
    """
    _check(_libc.setns(fd, flags), f"setns({flags:#x})")


def set_parent_death_signal(signal: int) -> None:
    """Asks the kernel for `signal` when the thread that forked this process ends (prctl(2))."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal, 0, 0, 0), "prctl(PR_SET_PDEATHSIG)")


def set_no_new_privileges() -> None:
    """Makes set-user-id programs and file capabilities powerless for this process and its children."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(PR_SET_NO_NEW_PRIVS)")


def bring_loopback_up() -> None:
    """Sets ``lo`` up in the calling thread's network namespace; a new one starts with it down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(sock, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def run_in_mount_namespace(pid: int, function: Callable[[], T]) -> T:
    """Calls `function` with the files that process `pid` sees, and waits for it.

    Opening ``/proc/<pid>/root/…`` is not enough for SQLite, which resolves that link by its text to our own root. A
    thread of its own enters instead; it gives up sharing root and working directory with the others first, which
    setns(2) demands. `function` must import nothing: it does not see our modules.

    Raises:
        OSError: The process has ended, or we lack CAP_SYS_ADMIN or CAP_SYS_CHROOT.
    """
    outcome: Future[T] = Future()

    def enter() -> None:
        try:
            namespace = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
            try:
                unshare(CLONE_FS)
                setns(namespace, CLONE_NEWNS)
            finally:
                os.close(namespace)
            outcome.set_result(function())
        except BaseException as exc:
            outcome.set_exception(exc)

    thread = Thread(target=enter, name=f"in-namespace-of-{pid}")
    thread.start()
    thread.join()
    return outcome.result()


class NetworkNamespace:
    """A network namespace that lives as long as this handle or a process in it.

    Nothing is mounted or named: when the owner dies, however it dies, the kernel takes the namespace away.
    """

    def __init__(self) -> None:
        home = _own_network_namespace()
        try:
            unshare(CLONE_NEWNET)
            try:
                bring_loopback_up()
                self._fd = _own_network_namespace()
            finally:
                setns(home, CLONE_NEWNET)
        finally:
            os.close(home)

    def fileno(self) -> int:
        """The namespace's file descriptor, for `setns` or for handing it to another process."""
        return self._fd

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Puts the calling thread into the namespace for the block.

        The block must not await: another coroutine of this thread would run inside the namespace.
        """
        home = _own_network_namespace()
        try:
            setns(self._fd, CLONE_NEWNET)
            try:
                yield
            finally:
                setns(home, CLONE_NEWNET)
        finally:
            os.close(home)

    def open_socket(self, family: int = socket.AF_INET, kind: int = socket.SOCK_STREAM) -> socket.socket:
        """A socket born inside the namespace; it stays there though this process is elsewhere."""
        with self.entered():
            return socket.socket(family, kind)

    def close(self) -> None:
        """Gives the handle up; a second call is harmless."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __repr__(self) -> str:
        return f"<NetworkNamespace fd={self._fd}>"


def _own_network_namespace() -> int:
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
