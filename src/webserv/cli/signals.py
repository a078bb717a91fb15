"""Signals that end a command: what each becomes, and the exit code that goes with it."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGHUP)
"""Asked to end by another process, and the terminal was closed. Ctrl-C is Python's own."""


class Terminated(BaseException):
    """One of `SIGNALS` came; like KeyboardInterrupt it is no error, and passes what catches errors.

    Args:
        number: Which.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number

    @property
    def exit_code(self) -> int:
        """What shells give for it."""
        return 128 + self.number


def heeded() -> list[signal.Signals]:
    """Those of `SIGNALS` that nobody has chosen to ignore: `nohup` means what it says."""
    return [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]


def leave_terminal(number: int) -> None:
    """After SIGHUP: what is still said must not fail at the terminal that is gone."""
    if number != signal.SIGHUP:
        return
    for descriptor in range(3):
        if os.isatty(descriptor) or _is_hung_up(descriptor):
            silence(descriptor)


def silence(descriptor: int) -> None:
    """Puts /dev/null in a descriptor's place."""
    null = os.open(os.devnull, os.O_RDWR)
    if null != descriptor:
        os.dup2(null, descriptor)
        os.close(null)
    else:
        os.set_inheritable(null, True)


def _is_hung_up(descriptor: int) -> bool:
    """Whether it is a terminal without another end, which is not even a terminal to `isatty`."""
    try:
        os.tcgetpgrp(descriptor)
    except OSError as error:
        return error.errno == errno.EIO
    return False


@contextlib.contextmanager
def raising() -> Iterator[None]:
    """Makes the signals raise `Terminated` in a command without an event loop, so that it cleans up."""

    def end(number: int, frame: FrameType | None) -> None:
        for other in before:
            signal.signal(other, signal.SIG_IGN)  # a second one must not end the clean-up
        leave_terminal(number)
        raise Terminated(number)

    before = {number: signal.getsignal(number) for number in heeded()}
    for number in before:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
