"""The `process` engine on the guestbook: real copies, real processes, no privileges."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import logging
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from webserv.errors import HostRefused, MissingPrerequisite, WorldFailed
from webserv.server.engines import process
from webserv.server.engines.process import ProcessEngine, ProcessGroup
from webserv.server.snapshot import Snapshot, ensure_snapshot

MODES = ("zygote", "boot") if hasattr(os, "pidfd_open") else ("boot",)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")


@pytest.fixture
def snapshot(webserv_home, guestbook_site) -> Snapshot:
    return ensure_snapshot(guestbook_site)


@pytest.fixture
async def engine(webserv_home) -> AsyncIterator[ProcessEngine]:
    async with ProcessEngine() as engine:
        yield engine


@pytest.mark.parametrize("mode", MODES)
async def test_what_is_written_in_one_world_is_absent_from_the_other(engine, snapshot, mode, ask):
    first = await engine.open_world([snapshot], start_mode=mode)
    second = await engine.open_world([snapshot], start_mode=mode)

    ask(first.sites["guestbook"], "/", method="POST", body="text=only-here")

    assert "only-here" in ask(first.sites["guestbook"], "/")[1]
    assert "only-here" not in ask(second.sites["guestbook"], "/")[1]
    assert await second.sites["guestbook"].digest() == snapshot.digest
    assert await first.sites["guestbook"].query("SELECT text FROM entry WHERE id = 3") == [("only-here",)]


@pytest.mark.parametrize("mode", MODES)
async def test_the_snapshot_stays_as_it_was(engine, snapshot, mode, ask):
    before = sorted(path.name for path in snapshot.data(engine.storage).rglob("*"))
    world = await engine.open_world([snapshot], start_mode=mode)
    ask(world.sites["guestbook"], "/", method="POST", body="text=x")
    await world.close()

    assert sorted(path.name for path in snapshot.data(engine.storage).rglob("*")) == before


@pytest.mark.parametrize("mode", MODES)
async def test_a_closed_world_leaves_no_process_and_no_file(engine, snapshot, mode):
    world = await engine.open_world([snapshot], start_mode=mode)
    clone = world.sites["guestbook"]

    await world.close()
    await world.close()

    assert not clone.process.alive
    assert not clone.data.exists()
    with pytest.raises(ProcessLookupError):
        os.killpg(clone.process.pid, 0)


async def test_a_closed_engine_leaves_nothing(snapshot):
    engine = ProcessEngine()
    clones = engine.storage.clones
    world = await engine.open_world([snapshot])

    await engine.close()
    await engine.close()

    assert list(clones.iterdir()) == []
    assert not world.sites["guestbook"].process.alive


@pytest.mark.parametrize("mode", MODES)
async def test_a_site_that_dies_fails_its_world_only(engine, snapshot, mode, ask):
    doomed = await engine.open_world([snapshot], start_mode=mode)
    other = await engine.open_world([snapshot], start_mode=mode)

    with contextlib.suppress(OSError, http.client.HTTPException):
        ask(doomed.sites["guestbook"], "/die")
    await doomed.wait_failed()

    with pytest.raises(WorldFailed, match="guestbook"):
        doomed.check_alive()
    other.check_alive()
    assert ask(other.sites["guestbook"], "/")[0] == 200


async def test_the_router_leads_the_canonical_origin_to_the_clone(engine, snapshot):
    world = await engine.open_world([snapshot])

    sock = await world.router.connect("guestbook.example", 80)

    assert sock is not None
    with sock:
        assert sock.getpeername() == world.sites["guestbook"].target.address
    assert await world.router.connect("elsewhere.example", 80) is None
    assert list(world.router.blocked) == ["elsewhere.example:80"]


async def test_it_says_that_it_separates_data_not_privileges(webserv_home, caplog):
    with caplog.at_level(logging.WARNING, logger="webserv.server"):
        async with ProcessEngine() as engine:
            assert "data, not privileges" in engine.info.note
            assert not engine.info.isolates_network
            assert not engine.info.isolates_processes
    assert "data, not privileges" in caplog.text


@pytest.mark.parametrize("lack", ["no such call", "refused"])
async def test_without_process_handles_clones_are_booted(snapshot, webserv_home, monkeypatch, ask, lack):
    def refuse(pid: int) -> int:
        raise (
            AttributeError("pidfd_open")
            if lack == "no such call"
            else OSError(38, "Function not implemented")
        )

    monkeypatch.setattr(os, "pidfd_open", refuse, raising=False)

    async with ProcessEngine() as engine:
        world = await engine.open_world([snapshot])

        assert world.sites["guestbook"].start_mode == "boot"
        assert ask(world.sites["guestbook"], "/")[0] == 200
        with pytest.raises(
            MissingPrerequisite, match="cannot start site 'guestbook' by 'zygote'; it can by: boot"
        ):
            await engine.open_world([snapshot], start_mode="zygote")


async def test_many_worlds_at_once_have_ports_of_their_own(engine, snapshot, ask):
    await engine.prepare([snapshot])
    worlds = await asyncio.gather(*(engine.open_world([snapshot], start_mode="boot") for _ in range(6)))

    assert len({world.sites["guestbook"].target.address for world in worlds}) == 6
    for number, world in enumerate(worlds):
        ask(world.sites["guestbook"], "/", method="POST", body=f"text=entry-{number}")
    for number, world in enumerate(worlds):
        assert await world.sites["guestbook"].query("SELECT text FROM entry WHERE id > 2") == [
            (f"entry-{number}",)
        ]


async def test_a_site_that_does_not_come_up_leaves_nothing(engine, snapshot):
    broken = snapshot.site.model_copy(
        update={
            "boot": snapshot.site.boot.model_copy(
                update={"command": ("sh", "-c", "echo no such luck; exit 3")}
            )
        }
    )
    failing = Snapshot(broken, *(getattr(snapshot, name) for name in SNAPSHOT_FIELDS))

    with pytest.raises(WorldFailed, match="guestbook"):
        await engine.open_world([failing], start_mode="boot")

    assert not any((engine.storage.clones / engine.owner.id).iterdir())
    assert engine.statistics().worlds_failed == 1


async def test_a_program_that_is_not_there_is_a_failed_world(engine, snapshot):
    broken = snapshot.site.model_copy(
        update={"boot": snapshot.site.boot.model_copy(update={"command": ("webserv-no-such-program",)})}
    )
    failing = Snapshot(broken, *(getattr(snapshot, name) for name in SNAPSHOT_FIELDS))

    with pytest.raises(WorldFailed, match="ended while it was starting"):
        await engine.open_world([failing], start_mode="boot")


async def test_a_cancelled_opening_leaves_nothing(engine, snapshot):
    await engine.prepare([snapshot])
    before = set((engine.storage.clones / engine.owner.id).iterdir())
    opening = asyncio.create_task(engine.open_world([snapshot], start_mode="boot"))
    await asyncio.sleep(0)
    opening.cancel()

    with pytest.raises(asyncio.CancelledError):
        await opening

    assert set((engine.storage.clones / engine.owner.id).iterdir()) == before


async def test_a_disk_that_refuses_a_copy_is_one_clear_line(engine, snapshot, monkeypatch):
    def refuse(source: Path, target: Path) -> None:
        raise process.shutil.Error([(str(source), str(target), "[Errno 28] No space left on device")])

    monkeypatch.setattr(process, "copy_tree", refuse)

    with pytest.raises(HostRefused, match=r"cannot be written: \[Errno 28\] No space left on device"):
        await engine.open_world([snapshot], start_mode="boot")


async def test_ending_the_leader_ends_what_it_started():
    child = await asyncio.create_subprocess_exec(
        *["sh", "-c", "sleep 600 & echo $!; wait"], stdout=subprocess.PIPE, start_new_session=True
    )
    assert child.stdout is not None
    grandchild = int(await child.stdout.readline())
    group = ProcessGroup(child.pid)
    group.follow(child)

    await group.kill()
    await group.kill()

    # End of file: nobody holds the pipe any more, so the grandchild is gone too.
    assert await child.stdout.read() == b""
    assert not _runs(grandchild)
    heard: list[str] = []
    group.add_exit_callback(lambda: heard.append("at once"))
    assert heard == ["at once"]


SNAPSHOT_FIELDS = ("name", "image", "start", "digest", "logins", "metadata")

OWNER = """
import asyncio, os, sys
from pathlib import Path
import webserv.testing.guestbook
from webserv.server.engines.process import ProcessEngine
from webserv.server.site import load_site_file
from webserv.server.snapshot import ensure_snapshot

async def main():
    snapshot = ensure_snapshot(load_site_file(Path(webserv.testing.guestbook.__file__).with_name("site.yaml")))
    engine = ProcessEngine()
    worlds = [await engine.open_world([snapshot], start_mode=mode) for mode in sys.argv[1:]]
    print(os.geteuid(), *(world.sites["guestbook"].process.pid for world in worlds), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await engine.close()

asyncio.run(main())
"""


@pytest.fixture
def start_owner(webserv_home) -> Callable[..., subprocess.Popen[str]]:
    """Runs a process that opens a world for each mode, prints its user and the clones' pids, and waits for stdin."""

    def start(*prefix: str) -> subprocess.Popen[str]:
        command = [*prefix, sys.executable, "-c", OWNER, *MODES]
        environment = {**os.environ, "PYTHONPATH": str(Path(process.webserv.__file__).parents[1])}
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment)

    return start


@pytest.mark.skipif(sys.platform != "linux", reason="needs a death signal")
def test_clones_do_not_outlive_an_owner_that_is_killed(start_owner):
    with start_owner() as owner:
        _, *pids = owner.stdout.readline().split()
        watching = [os.pidfd_open(int(pid)) for pid in pids]
        owner.kill()
        owner.stdin.close()
        try:
            for pidfd in watching:
                assert _ended(pidfd)
        finally:
            for pidfd in watching:
                os.close(pidfd)
    assert len(pids) == len(MODES)


@pytest.mark.skipif(sys.platform != "linux", reason="drops privileges by Linux means")
@pytest.mark.parametrize(
    "drop",
    [
        # In a user namespace without a map, root is nobody: no capability, no root's user id.
        pytest.param(["unshare", "--user"], id="another user"),
        # What a container gives that is root in name only.
        pytest.param(
            ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"], id="powerless root"
        ),
    ],
)
def test_it_needs_no_privileges(start_owner, drop):
    if subprocess.run([*drop, "true"], capture_output=True).returncode != 0:
        pytest.skip(f"{drop[0]} is not to be had here")
    with start_owner(*drop) as owner:
        said, complaint = owner.communicate("", timeout=60)

    assert owner.returncode == 0, complaint
    user, *pids = said.split()
    assert len(pids) == len(MODES)
    assert (user == "0") == (drop[0] == "setpriv" and os.geteuid() == 0)
    assert "Traceback" not in complaint


def _ended(pidfd: int) -> bool:
    import select

    return bool(select.select([pidfd], [], [], 30)[0])


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
