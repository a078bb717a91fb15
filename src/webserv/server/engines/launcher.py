"""Starts a program that does not outlive whoever started it; standard library only, run as a script.

``launcher.py [--watch] LIFELINE COMMAND...``: LIFELINE is the read end of a pipe whose write end only the
owner holds. On Linux the kernel is asked for a death signal and the program takes this process's place, at
no further cost. Elsewhere (and with ``--watch``) this process stays, waits for the program or for the
lifeline's end, and in that case ends the program's process group. Either way the caller must have given
this process a session of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time
from typing import NoReturn

_PR_SET_PDEATHSIG = 1
_POLL_S = 0.05


def main(arguments: list[str]) -> NoReturn:
    """Runs the program; see the module's docstring."""
    watch = arguments[0] == "--watch"
    if watch:
        arguments = arguments[1:]
    lifeline, command = int(arguments[0]), arguments[1:]
    if sys.platform != "linux" or watch:
        _watch(lifeline, command)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # The owner may have died before the call above: then its end of the pipe is closed already.
    if select.select([lifeline], [], [], 0)[0]:
        sys.exit(1)
    os.close(lifeline)
    _run(command)


def _run(command: list[str]) -> NoReturn:
    try:
        os.execvp(command[0], command)
    except OSError as exc:
        sys.exit(f"{command[0]}: {exc.strerror}")


def _watch(lifeline: int, command: list[str]) -> NoReturn:
    child = os.fork()
    if child == 0:
        os.close(lifeline)
        _run(command)
    while not select.select([lifeline], [], [], _POLL_S)[0]:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
    # This process is in the group too, and goes with it.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(0, signal.SIGTERM)
    time.sleep(_POLL_S)
    os.killpg(0, signal.SIGKILL)
    sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
