"""SIGKILL of the process that owns worlds: nothing stays after the next start or `webserv gc`."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from webserv.server._linux.processes import processes_of_owner
from webserv.server.gc import collect
from webserv.server.owner import owners_dir

pytestmark = pytest.mark.root

_OWNER = """
import asyncio, sys
from pathlib import Path
import webserv.testing.guestbook as guestbook
from webserv.server.engines.native import NativeEngine
from webserv.server.site import load_site_file
from webserv.server.snapshot import ensure_snapshot

async def main():
    snapshot = ensure_snapshot(load_site_file(Path(guestbook.__file__).parent / "site.yaml"))
    engine = NativeEngine()
    worlds = [await engine.open_world([snapshot], start_mode=mode) for mode in ("zygote", "boot", "zygote")]
    print(engine.owner.id, flush=True)
    await asyncio.sleep(3600)

asyncio.run(main())
"""


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WEBSERV_HOME", str(tmp_path))
    monkeypatch.delenv("WEBSERV_POOL", raising=False)
    return tmp_path


def _start_owner() -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen([sys.executable, "-c", _OWNER], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def _kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


async def _until_gone(owner: str) -> list[int]:
    """What is left of the owner's processes once the kernel has had its time."""
    for _ in range(200):
        if not (left := processes_of_owner(owner)):
            return []
        await asyncio.sleep(0.01)
    return left


def _mounts() -> list[str]:
    return Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()


def _loop_files() -> list[str]:
    found = []
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        found.append(backing.read_text(encoding="utf-8").strip())
    return found


async def test_gc_after_a_kill_leaves_no_process_mount_group_layer_or_loop_device(own_home: Path):
    process, owner = _start_owner()
    assert len(processes_of_owner(owner)) >= 5
    assert list(Path("/sys/fs/cgroup").glob(f"**/webserv/{owner}"))
    _kill(process)
    assert await _until_gone(owner) == [], "the kernel ends clones with their owner, without help"
    report = collect()
    assert report.owners == 1
    assert report.layers == 3
    assert report.unmounted == (own_home / "pool.img").exists()
    assert not any(str(own_home) in line for line in _mounts())
    assert not any(str(own_home) in file for file in _loop_files())
    assert not list(Path("/sys/fs/cgroup").glob(f"**/webserv/{owner}"))
    assert list(owners_dir().iterdir()) == []


async def test_the_next_start_clears_up_and_leaves_living_owners_alone(own_home: Path):
    dead, dead_owner = _start_owner()
    living, living_owner = _start_owner()
    try:
        _kill(dead)
        await _until_gone(dead_owner)
        third, third_owner = _start_owner()
        assert {path.name for path in owners_dir().iterdir()} == {living_owner, third_owner}
        assert len(processes_of_owner(living_owner)) >= 5
        assert (own_home / "pool" / "clones" / living_owner).is_dir()
        assert not (own_home / "pool" / "clones" / dead_owner).exists()
        _kill(third)
    finally:
        _kill(living)
    await _until_gone(living_owner)
    collect()
    assert not any(str(own_home) in line for line in _mounts())


async def test_strays_that_outlive_their_owner_are_found_by_their_mark(own_home: Path):
    process, owner = _start_owner()
    stray = subprocess.Popen(
        ["sleep", "1000"], env={**os.environ, "WEBSERV_OWNER": owner}, start_new_session=True
    )
    _kill(process)
    report = collect()
    assert report.processes >= 1
    assert stray.wait(timeout=10) == -signal.SIGKILL
