"""What the doctor's checks rest on: small real attempts that leave nothing behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from webserv.server._linux import cgroups, mounts, namespaces
from webserv.server.storage.reflink import clone_file

PATH = f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin"
"""Where programs are looked for; sbin is missing from a plain user's path on Debian."""


_INSTALL = {
    "apt-get": "apt-get install --no-install-recommends",
    "dnf": "dnf install",
    "zypper": "zypper install",
    "pacman": "pacman -S",
    "apk": "apk add",
    "brew": "brew install",
}
"""Package manager to its install command, the first that is found counts."""


def install_command(package: str) -> str:
    """The command that installs a package on this host, or its name where no package manager is known."""
    for manager, command in _INSTALL.items():
        if shutil.which(manager, path=PATH):
            prefix = "sudo " if os.geteuid() != 0 and manager != "brew" else ""
            return f"{prefix}{command} {package}"
    return f"install {package} with this system's package manager"


def try_loop_pool(folder: Path) -> None:
    """Makes a small XFS file system in a file in `folder`, mounts it and clones a file on it.

    Moves the calling thread into a mount namespace of its own; see `webserv.server.host.in_own_thread`.

    Raises:
        OSError: The kernel refuses.
        RuntimeError: A program refuses, or files cannot share blocks; the message has its words.
    """
    namespaces.unshare(namespaces.CLONE_NEWNS)
    mounts.mount("none", "/", "none", mounts.MS_REC | mounts.MS_PRIVATE)
    image, target = folder / "pool.img", folder / "pool"
    target.mkdir()
    with image.open("wb") as file:
        file.truncate(320 * 2**20)  # sparse; mkfs.xfs refuses less than 300 MiB since xfsprogs 5.19
    for command in (
        ["mkfs.xfs", "-q", "-K", "-m", "reflink=1", str(image)],
        ["mount", "-t", "xfs", "-o", "loop", str(image), str(target)],
    ):
        # Programs started from this thread are in its namespace.
        error = try_program(command)
        if error is not None:
            raise RuntimeError(f"{command[0]}: {error}")
    try:
        (target / "a").write_bytes(b"x" * 4096)
        if not clone_file(target / "a", target / "b"):
            raise RuntimeError("XFS was made, but files on it cannot share blocks")
    finally:
        mounts.unmount(str(target), mounts.MNT_DETACH)


def try_membership(group: cgroups.ControlGroup) -> None:
    """Lets a process join the group by itself, as a clone does; raises OSError when it cannot."""
    entries = group.open_entries()
    try:
        script = "import os, sys; [os.write(int(fd), b'0') for fd in sys.argv[1:]]"
        command = [sys.executable, "-S", "-c", script, *map(str, entries)]
        done = subprocess.run(
            command, pass_fds=entries, capture_output=True, text=True, timeout=20, check=False
        )
    finally:
        for entry in entries:
            os.close(entry)
    if done.returncode != 0:
        raise OSError(f"a process could not join: {last_line(done.stderr)}")


def try_container(program: str) -> str | None:
    """Runs ``true`` in a container over this host's own files, read-only; returns the refusal or None."""
    with tempfile.TemporaryDirectory(prefix="webserv-oci-") as name:
        bundle = Path(name)
        (bundle / "rootfs").mkdir()
        usr = [path for path in ("/usr", "/bin", "/lib", "/lib64") if Path(path).exists()]
        config = {
            "ociVersion": "1.0.2",
            "process": {
                "user": {"uid": 0, "gid": 0},
                "args": ["/bin/true"],
                "cwd": "/",
                "env": ["PATH=/usr/bin:/bin"],
                "noNewPrivileges": True,
            },
            "root": {"path": "rootfs", "readonly": False},
            "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}]
            + [
                {"destination": path, "type": "bind", "source": path, "options": ["rbind", "ro"]}
                for path in usr
            ],
            "linux": {"namespaces": [{"type": kind} for kind in ("pid", "mount", "network", "ipc", "uts")]},
        }
        (bundle / "config.json").write_text(json.dumps(config), encoding="utf-8")
        command = [
            program,
            "--root",
            str(bundle / "state"),
            "run",
            "--bundle",
            name,
            f"webserv-doctor-{os.getpid()}",
        ]
        return try_program(command)


def try_program(command: Sequence[str]) -> str | None:
    """Runs a program; returns None when it succeeds, else the last line of what it said."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=20,
            check=False,
            env={**os.environ, "PATH": PATH, "LC_ALL": "C.UTF-8"},
        )
    except FileNotFoundError:
        return f"no {command[0]}"
    except subprocess.TimeoutExpired:
        return "does not end"
    if done.returncode == 0:
        return None
    return last_line(done.stderr) or last_line(done.stdout) or f"ended with {done.returncode}"


def first_line(command: Sequence[str]) -> str:
    """First line of what a program prints, its version mostly; empty when it prints nothing."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    return (done.stdout.strip().splitlines() or [""])[0]


def last_line(text: str) -> str:
    """Last line of a program's output, where its reason stands; empty when there is none."""
    lines = text.strip().splitlines()
    return " ".join(lines[-1].split())[:200] if lines else ""
