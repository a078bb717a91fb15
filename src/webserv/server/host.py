"""What this host can do, found out by doing it: the probes that choose an engine.

The probes here are cheap (a few milliseconds) because they run before every start; `doctor.py` has the rest.
Mounts and namespaces are tried in a thread of their own: unshare(2) moves only the calling thread, and
whatever was mounted disappears with the thread's namespace, so a probe leaves nothing behind even when it
fails half-way.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from webserv.paths import data_home
from webserv.server import trials
from webserv.server._linux import mounts, namespaces

T = TypeVar("T")

WORLD_NAMESPACES = (
    namespaces.CLONE_NEWNS
    | namespaces.CLONE_NEWPID
    | namespaces.CLONE_NEWNET
    | namespaces.CLONE_NEWIPC
    | namespaces.CLONE_NEWUTS
)
"""What every world of the native engine is made of."""

_CAPABILITIES = {"SYS_ADMIN": 21, "NET_ADMIN": 12, "CHOWN": 0, "SETUID": 7, "SETGID": 6, "KILL": 5}
"""Those the native engine uses, with their bit (linux/capability.h)."""


class Status(StrEnum):
    """How a check ended."""

    OK = "ok"
    DEGRADED = "degraded"
    """It works, but slower or with fewer guarantees; `Check.costs` says which."""
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Check:
    """What was tried, what was found, and what to do about it."""

    name: str
    status: Status
    found: str
    """What is there, or why not: the host's own words where it has some."""
    costs: str = ""
    """What the lack costs; empty when nothing is lacking."""
    mend: str = ""
    """The command or setting that mends it; empty when there is nothing to mend."""
    needed: bool = True
    """False for what only an extra uses, so that its absence is no defect."""


@dataclass(frozen=True, slots=True)
class Capability:
    """Whether an engine works on this host, and the checks that say so."""

    engine: str
    works: bool
    reason: str
    """One line: why it works, or the first thing that stands in its way."""
    checks: tuple[Check, ...]


def probe_native() -> Capability:
    """Whether worlds of namespaces and overlay mounts can be made here; some 15 milliseconds."""
    checks: list[Check] = []
    for check in (check_privileges, check_programs, check_namespaces, check_overlay, check_bubblewrap):
        checks.append(check())
        if checks[-1].status is Status.MISSING:
            failed = checks[-1]
            return Capability("native", False, f"{failed.name}: {failed.found}", tuple(checks))
    return Capability("native", True, "namespaces and overlay mounts work here", tuple(checks))


def probe_process() -> Capability:
    """Whether private copies on loopback ports can be made here; a few milliseconds."""
    checks = (check_data_folder(), check_loopback())
    for check in checks:
        if check.status is Status.MISSING:
            return Capability("process", False, f"{check.name}: {check.found}", checks)
    return Capability(
        "process",
        True,
        "private copies on loopback ports work here; they separate data, not privileges",
        checks,
    )


def choose_engine() -> Capability:
    """The engine that ``auto`` takes: native where it works, else process; the reason says why.

    `Capability.works` is False when neither does.
    """
    native = probe_native()
    if native.works:
        return native
    process = probe_process()
    if not process.works:
        return Capability(
            "process", False, f"{process.reason}; native: {native.reason}", process.checks + native.checks
        )
    return Capability(
        "process", True, f"native cannot be used ({native.reason}); {process.reason}", process.checks
    )


def check_privileges() -> Check:
    """Root with the capabilities that the native engine uses."""
    name = "root privileges"
    costs = "no native engine; the process engine separates data, not privileges"
    if sys.platform != "linux":
        return Check(
            name, Status.MISSING, f"{sys.platform} has no Linux namespaces", costs, "use a Linux host"
        )
    if os.geteuid() != 0:
        return Check(name, Status.MISSING, f"running as user {os.geteuid()}", costs, "run as root (sudo)")
    effective = _effective_capabilities()
    lacking = [f"CAP_{cap}" for cap, bit in _CAPABILITIES.items() if not effective >> bit & 1]
    if lacking:
        mend = "give the container these capabilities, for instance docker run --privileged"
        return Check(name, Status.MISSING, f"root without {', '.join(lacking)}", costs, mend)
    return Check(name, Status.OK, "root with all capabilities that are used")


def check_programs() -> Check:
    """The programs that the native engine calls."""
    name = "programs"
    packages = {"bwrap": "bubblewrap", "mount": "mount", "unshare": "util-linux", "nsenter": "util-linux"}
    packages["setpriv"] = "util-linux" if shutil.which("apk") is None else "setpriv"
    lacking = [program for program in packages if shutil.which(program, path=trials.PATH) is None]
    if lacking:
        wanted = sorted({packages[program] for program in lacking})
        mend = trials.install_command(" ".join(wanted))
        return Check(name, Status.MISSING, f"no {', '.join(lacking)}", "no native engine", mend)
    return Check(name, Status.OK, ", ".join(packages))


def check_bubblewrap() -> Check:
    """A program runs in namespaces made by bubblewrap."""
    name, costs = "bubblewrap", "no native engine"
    command = ["bwrap", "--unshare-pid", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"]
    error = trials.try_program(command)
    if error is not None:
        mend = (
            trials.install_command("bubblewrap")
            if error.startswith("no ")
            else _mend("see bubblewrap's message")
        )
        return Check(name, Status.MISSING, error, costs, mend)
    return Check(name, Status.OK, "runs a program in namespaces of its own")


def check_namespaces() -> Check:
    """New mount, pid, network, ipc and uts namespaces, with the loopback interface up."""
    name = "namespaces"
    costs = "no native engine"
    mend = _mend("use container settings that let root unshare namespaces (docker run --privileged)")

    def attempt() -> None:
        namespaces.unshare(WORLD_NAMESPACES)
        namespaces.bring_loopback_up()
        mounts.mount("none", "/", "none", mounts.MS_REC | mounts.MS_PRIVATE)

    try:
        in_own_thread(attempt)
    except (OSError, AttributeError) as exc:  # libc has no unshare outside Linux
        if isinstance(exc, OSError) and exc.errno == errno.EINVAL:
            # mount(2): what is to be made private is no mount point.
            mend = "leave the chroot, or make its root a mount point (mount --bind, pivot_root)"
        return Check(name, Status.MISSING, words(exc), costs, mend)
    return Check(name, Status.OK, "mount, pid, network, ipc and uts can be made")


def check_overlay() -> Check:
    """An overlay mount whose upper layer lies on the data folder's file system, or on a loop-mounted one."""
    name = "overlay mounts"
    try:
        with scratch_folder() as folder:
            in_own_thread(lambda: _try_overlay(folder))
        return Check(name, Status.OK, f"work on {data_home()}")
    except OSError as exc:
        refusal = words(exc)
    # In a container the data folder is often an overlay itself, which cannot be an upper layer; a loop file
    # can.
    try:
        in_own_thread(_try_overlay_on_tmpfs)
    except (OSError, AttributeError) as exc:
        costs = "no native engine"
        return Check(name, Status.MISSING, words(exc), costs, _mend("modprobe overlay"))
    if not can_loop():
        return Check(
            name,
            Status.MISSING,
            f"not on {data_home()} ({refusal}), and there are no loop devices",
            "no native engine",
            "set WEBSERV_HOME to a folder on ext4, XFS or btrfs (in a container: a volume)",
        )
    return Check(name, Status.OK, "work on a loop-mounted file system")


def check_data_folder() -> Check:
    """The data folder can be made and written."""
    name = "data folder"
    try:
        with scratch_folder() as folder:
            (folder / "file").write_bytes(b"x")
    except OSError as exc:
        return Check(
            name,
            Status.MISSING,
            words(exc),
            "nothing runs",
            "set WEBSERV_HOME to a folder that you may write to",
        )
    return Check(name, Status.OK, str(data_home()))


def check_loopback() -> Check:
    """A TCP connection over 127.0.0.1 works."""
    name = "loopback"
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(2)
            with socket.create_connection(server.getsockname(), timeout=2):
                server.accept()[0].close()
    except OSError as exc:
        return Check(name, Status.MISSING, words(exc), "no proxy, so nothing runs", "ip link set lo up")
    return Check(name, Status.OK, "127.0.0.1 answers")


def can_loop() -> bool:
    """Whether a loop device can be had and mkfs.xfs is there to format it."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    return (
        os.access("/dev/loop-control", os.R_OK | os.W_OK) and shutil.which("mkfs.xfs", path=path) is not None
    )


def in_own_thread(attempt: Callable[[], T]) -> T:
    """Runs `attempt` in a thread of its own, so that namespaces it enters end with it; raises its errors."""
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(attempt())
        except BaseException as exc:  # handed to the caller, who decides
            failure.append(exc)

    thread = threading.Thread(target=run, name="webserv-probe")
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder inside the data folder that is removed at the end; raises OSError where it cannot be made."""
    home = data_home()
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".probe-", dir=home) as folder:
        yield Path(folder)


def _try_overlay(folder: Path) -> None:
    namespaces.unshare(namespaces.CLONE_NEWNS)
    # Without this the mounts below would appear outside too, where mount points are shared (systemd's
    # default).
    mounts.mount("none", "/", "none", mounts.MS_REC | mounts.MS_PRIVATE)
    for part in ("lower", "upper", "work", "merged"):
        (folder / part).mkdir()
    (folder / "lower/file").write_text("below", encoding="ascii")
    mounts.mount_overlay(
        lower=f"{folder}/lower", upper=f"{folder}/upper", work=f"{folder}/work", target=f"{folder}/merged"
    )
    try:
        (folder / "merged/file").write_text("above", encoding="ascii")
        if (folder / "lower/file").read_text(encoding="ascii") != "below":
            raise OSError(errno.EIO, "a write went through to the lower layer")
    finally:
        mounts.unmount(f"{folder}/merged")


def _try_overlay_on_tmpfs() -> None:
    namespaces.unshare(namespaces.CLONE_NEWNS)
    mounts.mount("none", "/", "none", mounts.MS_REC | mounts.MS_PRIVATE)
    mounts.mount("tmpfs", "/mnt", "tmpfs")
    _try_overlay(Path("/mnt"))


def _effective_capabilities() -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0


def words(exc: BaseException) -> str:
    """The host's own words for a refusal, in one line."""
    if isinstance(exc, OSError) and exc.errno:
        return os.strerror(exc.errno) + (f" ({exc.filename})" if exc.filename else "")
    return " ".join(str(exc).split())


def _mend(mend: str) -> str:
    return "run as root (sudo)" if os.geteuid() != 0 else mend
