"""Everything about this host that bears on copies of sites, each thing proved by trying it.

`host.py` has the few probes that choose an engine; the checks here may take a second altogether and say
what a lack costs and what mends it. The browser's check is beside the command (`webserv.cli.doctor`),
because the two halves do not know each other.
"""

from __future__ import annotations

import os
import platform
import resource
import shutil
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from webserv.paths import data_home
from webserv.server import host, trials
from webserv.server._linux import cgroups
from webserv.server._linux.memory import available_bytes
from webserv.server.host import Check, Status
from webserv.server.storage.reflink import has_reflink

_GIB = 2**30
_LEAST_FREE_BYTES = 5 * _GIB
"""The built shop with its pool takes about 1 GiB; a run's records and screenshots need room too."""
_LEAST_MEMORY_BYTES = 4 * _GIB
"""32 worlds at about 35 MB and as many browser contexts at about 25 MB, with room for the browsers."""
_LEAST_FILES = 4096
"""A world with a busy browser context holds some 30 descriptors."""


def run_checks() -> list[Check]:
    """All checks of the server half, in the order of reading; about a second."""
    checks: list[Callable[[], Check]] = [check_system, host.check_data_folder, host.check_loopback]
    if sys.platform == "linux":
        checks += [
            host.check_privileges,
            host.check_namespaces,
            host.check_overlay,
            host.check_programs,
            host.check_bubblewrap,
            check_user_namespaces,
            check_reflink,
            check_loop_pool,
            check_cgroups,
            check_oci_runtime,
        ]
    else:
        checks += [host.check_privileges, check_reflink]
    checks += [check_disk, check_memory, check_open_files, check_docker, check_incus]
    return [check() for check in checks]


def check_system() -> Check:
    """Names the system; the rest of the report is read in its light."""
    name = platform.system()
    if sys.platform == "linux":
        name = platform.freedesktop_os_release().get("PRETTY_NAME", name) if _has_os_release() else name
    python = platform.python_version()
    found = f"{name}, {platform.release()}, {platform.machine()}, {os.cpu_count()} cores, Python {python}"
    return Check("system", Status.OK, found)


def check_user_namespaces() -> Check:
    """A user namespace with mounts and a network, made by a process of its own.

    unshare(CLONE_NEWUSER) is refused to a process with threads, hence util-linux's program.
    """
    name = "user namespaces"
    costs = "only sites that are restored from a checkpoint need them"
    command = ["unshare", "--user", "--map-root-user", "--mount", "--net", "true"]
    error = trials.try_program(command)
    if error is None:
        return Check(name, Status.OK, "can be made", needed=False)
    mend = "sysctl -w user.max_user_namespaces=15000 kernel.unprivileged_userns_clone=1"
    if Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").exists():
        mend = "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    return Check(name, Status.MISSING, error, costs, mend, needed=False)


def check_reflink() -> Check:
    """Whether files in the data folder can share blocks, so that a first write copies nothing."""
    name = "reflink copies"
    folder = data_home() if data_home().exists() else data_home().parent
    if has_reflink(folder):
        return Check(name, Status.OK, f"work on {folder}")
    return Check(
        name,
        Status.DEGRADED,
        f"not on {folder} ({_file_system(folder)})",
        "a first write to a file copies all of it, unless the loop pool below works",
        "set WEBSERV_HOME or WEBSERV_POOL to a folder on XFS or btrfs",
        needed=False,
    )


def check_loop_pool() -> Check:
    """A small XFS file system in a file, mounted by a loop device, with a reflink copy on it."""
    name = "loop pool"
    costs = "no reflink pool on a disk without reflink: a first write to a database copies all of it"
    if os.geteuid() != 0:
        return Check(
            name, Status.MISSING, "loop devices need root", costs, "run as root (sudo)", needed=False
        )
    if shutil.which("mkfs.xfs", path=trials.PATH) is None:
        return Check(
            name, Status.MISSING, "no mkfs.xfs", costs, trials.install_command("xfsprogs"), needed=False
        )
    try:
        with host.scratch_folder() as folder:
            host.in_own_thread(lambda: trials.try_loop_pool(folder))
    except (OSError, RuntimeError) as exc:
        mend = "modprobe -a loop xfs (in a container: give it /dev/loop-control and /dev/loop*)"
        return Check(name, Status.MISSING, host.words(exc), costs, mend, needed=False)
    return Check(name, Status.OK, "XFS in a file can be made, mounted and shares blocks")


def check_cgroups() -> Check:
    """A group with memory, process and processor limits can be made."""
    name = "cgroup limits"
    costs = "a clone may take all memory and processors of this host"
    where = cgroups.find_hierarchies()
    if where.version == 0:
        mend = "run as root; in a container: docker run --privileged --cgroupns=host"
        return Check(name, Status.DEGRADED, "no controllers that can be written", costs, mend)
    kind = _cgroup_kind(where)
    lacking = {"memory", "pids", "cpu"} - set(where.controllers)
    try:
        group = cgroups.ControlGroup(
            f"doctor-{os.getpid()}/probe", memory_bytes=2**26, pids=8, cpus=1.0, where=where
        )
        try:
            trials.try_membership(group)
        finally:
            group.delete()
            for root in where.roots:
                cgroups.delete_group(root / "webserv" / f"doctor-{os.getpid()}")
    except OSError as exc:
        found = f"{kind}: {host.words(exc)}"
        return Check(name, Status.DEGRADED, found, costs, "run as root on the host's cgroup tree")
    if lacking:
        found = f"{kind} without {', '.join(sorted(lacking))}"
        return Check(name, Status.DEGRADED, found, costs, "boot the kernel with cgroup_enable=memory")
    return Check(name, Status.OK, f"{kind}: memory, pids and cpu")


def check_oci_runtime() -> Check:
    """A container runs under runc or crun, with its own namespaces."""
    name = "OCI runtime"
    costs = "sites that come as container images cannot be run; the built-in sites do not need it"
    refusals = []
    for program in ("runc", "crun"):
        path = shutil.which(program, path=trials.PATH)
        if path is None:
            continue
        error = trials.try_container(path)
        if error is None:
            return Check(
                name, Status.OK, f"{trials.first_line([path, '--version'])} runs a container", needed=False
            )
        refusals.append(f"{program}: {error}")
    if not refusals:
        return Check(
            name, Status.MISSING, "neither runc nor crun", costs, trials.install_command("runc"), needed=False
        )
    mend = "run as root"
    if os.geteuid() == 0:
        # crun (seen with 1.8) takes v1 or v2, not the mixture of both that systemd calls hybrid.
        mend = trials.install_command("runc") if refusals[0].startswith("crun") else "see its message"
    return Check(name, Status.MISSING, "; ".join(refusals), costs, mend, needed=False)


def check_disk() -> Check:
    """Free space under the data folder."""
    folder = data_home() if data_home().exists() else Path.home()
    free = shutil.disk_usage(folder).free
    found = f"{free / _GIB:.1f} GiB free under {folder}"
    if free < _LEAST_FREE_BYTES:
        costs = "building the shop takes about 1 GiB; a run's records need room too"
        return Check("disk space", Status.DEGRADED, found, costs, "free some space, or move WEBSERV_HOME")
    return Check("disk space", Status.OK, found)


def check_memory() -> Check:
    """Memory that is available, within the container's limit where there is one."""
    available = available_bytes()
    if available is None:
        return Check("memory", Status.OK, "unknown on this system")
    found = f"{available / _GIB:.1f} GiB available"
    if available < _LEAST_MEMORY_BYTES:
        costs = "fewer than 32 worlds and browser contexts at once"
        return Check("memory", Status.DEGRADED, found, costs, "run with fewer workers: --workers 8")
    return Check("memory", Status.OK, found)


def check_open_files() -> Check:
    """The limit of open files of one process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    found = f"{soft} (at most {'any number' if hard == resource.RLIM_INFINITY else hard})"
    if soft < _LEAST_FILES:
        costs = f"about {soft // 40} worlds at once"
        return Check("open files", Status.DEGRADED, found, costs, "ulimit -n 65536", needed=False)
    return Check("open files", Status.OK, found)


def check_docker() -> Check:
    """A Docker engine answers on its socket."""
    return _check_socket("Docker engine", ("/run/docker.sock", "/var/run/docker.sock"), "docker")


def check_incus() -> Check:
    """An Incus daemon answers on its socket."""
    return _check_socket("Incus", ("/var/lib/incus/unix.socket", "/run/incus/unix.socket"), "incus")


def _check_socket(name: str, paths: Sequence[str], engine: str) -> Check:
    for path in paths:
        if not Path(path).exists():
            continue
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
                sock.settimeout(2)
                sock.connect(path)
        except OSError as exc:
            costs = f"no comparison with the {engine} engine; nothing else"
            return Check(name, Status.MISSING, f"{path}: {host.words(exc)}", costs, needed=False)
        return Check(name, Status.OK, f"answers on {path}", needed=False)
    return Check(name, Status.MISSING, "no socket", "nothing: WebServ does not need it", needed=False)


def _has_os_release() -> bool:
    return any(Path(path).exists() for path in ("/etc/os-release", "/usr/lib/os-release"))


def _file_system(folder: Path) -> str:
    program = shutil.which("findmnt", path=trials.PATH)
    return (
        trials.first_line([program, "-n", "-o", "FSTYPE", "-T", str(folder)])
        if program
        else "this file system"
    )


def _cgroup_kind(where: cgroups.Hierarchies) -> str:
    if where.version == 2:
        return "v2"
    return "hybrid, controllers in v1" if (cgroups.ROOT / "unified").is_dir() else "v1"
