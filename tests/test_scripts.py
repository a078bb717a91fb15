"""The set-up scripts on machines that are made of stand-ins: what they find decides what they do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"

TOOLS = ["bash", "env", "dirname", "grep", "sed", "cat", "cksum", "mktemp", "rm"]
"""Real programs that the scripts use."""
PRESENT = ["bwrap", "mkfs.xfs", "unshare", "setpriv", "losetup", "mount", "chromium-headless-shell", "runc"]
"""What a machine that lacks nothing has."""
SAY = 'echo "${0##*/} $*" >>"$CALLS"'


class Machine:
    """A folder of stand-ins that is all of a script's PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls_file = folder / "calls.txt"
        self.bin = folder / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool) or pytest.skip(f"no {tool}"))
        for name in PRESENT:
            self.add(name)
        self.add("python3", f'exec "{sys.executable}" "$@"')
        self.add("uname", "echo Linux")
        self.add("id", "echo 0")
        self.add("ldconfig", "echo '  libatomic.so.1 (libc6,x86-64) => /lib/libatomic.so.1'")
        self.add("dpkg-query", 'echo "ii "')
        self.add("apt-cache", 'echo "  Candidate: 1.0"')
        self.add("apt-get", SAY)

    def add(self, name: str, script: str = "exit 0") -> None:
        """Puts a program on the machine, or replaces it."""
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def remove(self, *names: str) -> None:
        """Takes programs off the machine."""
        for name in names:
            (self.bin / name).unlink()

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        """Runs one of the scripts."""
        environment = {"PATH": str(self.bin), "HOME": str(self.folder), "CALLS": str(self.calls_file)}
        return subprocess.run(
            [str(self.bin / "bash"), str(SCRIPTS / script)], env=environment, capture_output=True, text=True
        )

    @property
    def calls(self) -> list[str]:
        """What apt-get was asked for, without its options."""
        if not self.calls_file.exists():
            return []
        lines = self.calls_file.read_text().splitlines()
        return [
            " ".join(word for word in line.split() if not word.startswith("-") and "::" not in word)
            for line in lines
        ]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def without(machine: Machine) -> Callable[..., Machine]:
    """The machine without some programs; skips where the real ones lie in a folder that scripts always search."""

    def without(*names: str) -> Machine:
        for name in names:
            if shutil.which(name, path="/usr/local/sbin:/usr/sbin:/sbin"):
                pytest.skip(f"{name} lies in sbin here")
        machine.remove(*names)
        return machine

    return without


def test_a_machine_that_has_everything_is_left_alone(machine):
    done = machine.run("system_packages.sh")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert machine.calls == []


def test_only_what_is_missing_is_installed(without):
    machine = without("bwrap")

    done = machine.run("system_packages.sh")

    assert done.returncode == 0
    assert machine.calls == ["apt-get update", "apt-get install bubblewrap"]


def test_a_library_that_is_missing_is_installed(machine):
    machine.add("ldconfig", "echo '  libc.so.6 => /lib/libc.so.6'")

    machine.run("system_packages.sh")

    assert machine.calls == ["apt-get update", "apt-get install libatomic1"]


def test_a_long_answer_is_read_to_its_end(machine):
    # A reader that stops early ends the writer by SIGPIPE, which under pipefail looks like a "no".
    machine.add("ldconfig", "echo '  libatomic.so.1 => x'; seq 100000")
    (machine.bin / "seq").symlink_to(shutil.which("seq"))

    machine.run("system_packages.sh")

    assert machine.calls == []


def test_an_update_that_fails_is_tried_once_more(without):
    machine = without("bwrap")
    machine.add("apt-get", f'{SAY}; case "$*" in *update*) [ "$(grep -c update "$CALLS")" -gt 1 ];; esac')

    done = machine.run("system_packages.sh")

    assert done.returncode == 0
    assert machine.calls == ["apt-get update", "apt-get update", "apt-get install bubblewrap"]


def test_a_failed_installation_names_the_packages(without):
    machine = without("bwrap")
    machine.add("apt-get", f'{SAY}; case "$*" in *install*) exit 100;; esac')

    done = machine.run("system_packages.sh")

    assert done.returncode == 1
    assert "error: apt-get could not install: bubblewrap" in done.stderr


def test_a_release_without_the_headless_shell_gets_chromium(without):
    machine = without("chromium-headless-shell")
    machine.add(
        "apt-cache", 'case "$2" in *shell) echo "  Candidate: (none)";; *) echo "  Candidate: 1";; esac'
    )

    machine.run("system_packages.sh")

    release = Path("/etc/os-release").read_text() if Path("/etc/os-release").exists() else ""
    if "ID=ubuntu" in release:  # its chromium is a stub; Playwright's own is taken
        assert machine.calls == ["apt-get update"]
    else:
        assert machine.calls == ["apt-get update", "apt-get install chromium"]


def test_a_user_without_sudo_is_told_the_command_and_goes_on(without):
    machine = without("bwrap")
    machine.add("id", "echo 1000")

    done = machine.run("system_packages.sh")

    assert done.returncode == 0
    assert "apt-get install --no-install-recommends bubblewrap" in done.stderr
    assert machine.calls == []


def test_a_user_with_sudo_installs_by_it(without):
    machine = without("bwrap")
    machine.add("id", "echo 1000")
    machine.add("sudo", f'{SAY}; [ "$1" = -n ] && shift; [ "$1" = true ] || exec "$@"')

    assert machine.run("system_packages.sh").returncode == 0
    assert machine.calls[-1] == "apt-get install bubblewrap"
    assert any(call.startswith("sudo") for call in machine.calls)


def test_a_system_without_apt_gets_a_list(without):
    machine = without("bwrap")
    machine.remove("apt-get")

    done = machine.run("system_packages.sh")

    assert done.returncode == 0
    assert "no apt" in done.stderr
    assert "bubblewrap (bwrap)" in done.stderr


def test_a_system_without_apt_and_python_cannot_go_on(machine):
    machine.remove("apt-get")
    machine.add("python3", "exit 1")

    done = machine.run("system_packages.sh")

    assert done.returncode == 1
    assert "error: There is no Python 3.11 or newer" in done.stderr
    assert "PYTHON=" in done.stderr


def test_a_python_that_is_too_old_is_replaced_by_apt(machine):
    machine.add("python3", 'case "$*" in *3,\\ 11*) exit 1;; esac; echo "Python 3.9.2"')

    done = machine.run("system_packages.sh")

    assert machine.calls == ["apt-get update", "apt-get install python3 python3-venv"]
    assert done.returncode == 1
    assert "error: This release has no Python 3.11 or newer (found: Python 3.9.2)" in done.stderr


def test_a_python_that_is_named_and_wrong_is_named_in_the_error(machine):
    environment = {"PATH": f"{machine.bin}:{os.environ['PATH']}", "PYTHON": "/no/such/python"}

    done = subprocess.run(["bash", str(SCRIPTS / "venv.sh")], env=environment, capture_output=True, text=True)

    assert done.returncode == 1
    assert done.stderr == "error: PYTHON='/no/such/python' is no Python 3.11 or newer.\n"


@pytest.mark.parametrize("script", sorted(path.name for path in SCRIPTS.glob("*.sh")))
def test_every_script_can_be_read_by_bash(script):
    done = subprocess.run(["bash", "-n", str(SCRIPTS / script)], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_lock_holds_hashes_and_no_address():
    lock = (SCRIPTS.parent / "requirements" / "webserv.lock").read_text()
    packages = [line for line in lock.splitlines() if line and not line.startswith(("#", " "))]

    assert "http" not in lock.replace("httpx", "").replace("httpcore", "")
    assert all("==" in line for line in packages)
    assert lock.count("--hash=sha256:") >= len(packages)


def test_the_lock_holds_everything_that_the_project_asks_for():
    project = tomllib.loads((SCRIPTS.parent / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.split(r"[\s\[<>=!~;]", line)[0].lower().replace("_", "-") for line in asked}
    locked = set(
        re.findall(r"^([\w.-]+)==", (SCRIPTS.parent / "requirements/webserv.lock").read_text(), re.MULTILINE)
    )

    assert names - locked == set()
