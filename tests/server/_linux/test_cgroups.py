"""Control groups, on the host's own v1 hierarchies and on its v2 one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from webserv.server._linux import cgroups
from webserv.server._linux.cgroups import (
    ControlGroup,
    Hierarchies,
    delete_group,
    find_hierarchies,
    prove_limits,
)

pytestmark = pytest.mark.root


@pytest.fixture
def v2() -> Iterator[Path]:
    """A v2 group of our own, below which one controller can be handed down, whichever this host has there."""
    found = [
        root for root in (cgroups.ROOT, cgroups.ROOT / "unified") if (root / "cgroup.controllers").exists()
    ]
    if not found:
        pytest.skip("this host has no cgroup v2")
    controllers = (found[0] / "cgroup.controllers").read_text(encoding="ascii").split()
    if not controllers:
        pytest.skip("no controller is bound to v2 here")
    (found[0] / "cgroup.subtree_control").write_text(f"+{controllers[0]}", encoding="ascii")
    folder = found[0] / f"test-{os.getpid()}"
    folder.mkdir()
    yield folder
    delete_group(folder)


def _join(folder: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    (folder / "cgroup.procs").write_text(str(process.pid), encoding="ascii")
    return process


def test_v2_controllers_are_handed_down_and_members_end_with_the_group(v2: Path):
    controllers = tuple((v2 / "cgroup.controllers").read_text(encoding="ascii").split())
    group = ControlGroup(
        "owner/clone", memory_bytes=1 << 28, pids=8, cpus=1.0, where=Hierarchies(2, (v2,), controllers)
    )
    assert group.folders == [v2 / "webserv" / "owner" / "clone"]
    assert set(controllers) <= set(
        (group.folders[0] / "cgroup.controllers").read_text(encoding="ascii").split()
    )
    member = _join(group.folders[0])
    group.delete()
    assert member.wait(10) != 0
    assert not (v2 / "webserv" / "owner" / "clone").exists()
    group.delete()


def test_a_v2_group_that_holds_processes_cannot_be_used_and_says_why(
    v2: Path, monkeypatch: pytest.MonkeyPatch
):
    controllers = tuple((v2 / "cgroup.controllers").read_text(encoding="ascii").split())
    monkeypatch.setattr(cgroups, "_CONTROLLERS", controllers)
    member = _join(v2)
    assert find_hierarchies(v2).version == 2
    found, refusal = prove_limits("owner/trial", v2)
    assert found.version == 0
    assert refusal.endswith("Device or resource busy")
    member.kill()
    member.wait()


def test_v2_limits_are_written_in_its_own_words(tmp_path: Path):
    folder = tmp_path / "webserv" / "owner" / "clone"
    folder.mkdir(parents=True)
    files = ("memory.max", "memory.swap.max", "pids.max", "cpu.max")
    for level in (tmp_path, tmp_path / "webserv", folder.parent):
        (level / "cgroup.subtree_control").touch()
    for file in files:
        (folder / file).touch()
    ControlGroup(
        "owner/clone", memory_bytes=1000, pids=7, cpus=1.5, where=Hierarchies(2, (tmp_path,), ("pids",))
    )
    written = [(folder / file).read_text(encoding="ascii") for file in files]
    assert written == ["1000", "0", "7", "150000 100000"]


def test_a_member_of_another_pid_namespace_is_not_taken_for_ourselves(tmp_path: Path):
    """It is listed as 0, and kill(0) means one's own process group."""
    (tmp_path / "cgroup.procs").write_text("0\n", encoding="ascii")
    code = f"from pathlib import Path; from {cgroups.__name__} import _kill_members as k; k(Path({str(tmp_path)!r}))"
    done = subprocess.run([sys.executable, "-c", code], start_new_session=True, check=False)
    assert done.returncode == 0


def test_v1_members_end_with_their_group():
    where = find_hierarchies()
    if where.version != 1:
        pytest.skip("this host has no cgroup v1")
    name = f"test-{os.getpid()}/clone"
    group = ControlGroup(name, memory_bytes=1 << 28, pids=8, cpus=1.0, where=where)
    member = _join(group.folders[0])
    group.delete()
    assert member.wait(10) != 0
    for root in where.roots:
        delete_group(root / "webserv" / f"test-{os.getpid()}")
