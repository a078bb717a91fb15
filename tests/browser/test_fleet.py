"""The fleet: sharing, recycling and replacing of browsers, and that no process outlives its owner."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from webserv.browser.fleet import BrowserFleet
from webserv.browser.options import BrowserOptions
from webserv.browser.session import BrowserSession
from webserv.errors import BrowserFailed, MissingPrerequisite
from webserv.testing.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

OWNED = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def owner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A mark in the environment that every process of a fleet started in this test carries."""
    mark = uuid.uuid4().hex
    monkeypatch.setenv("WEBSERV_OWNER", mark)
    # A killed driver cannot remove its browsers' profile folders; here they go with the test's.
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return mark


def owned_processes(owner: str, name: str = "") -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
            command = (folder / "cmdline").read_bytes().decode()
        except OSError:
            continue
        if (
            f"WEBSERV_OWNER={owner}".encode() in environment
            and name in command
            and int(folder.name) != os.getpid()
        ):
            found.append(int(folder.name))
    return found


async def wait_gone(owner: str) -> None:
    async with asyncio.timeout(20):
        while owned_processes(owner):
            await asyncio.sleep(0.02)


async def test_sessions_share_browsers_and_do_not_see_each_other(pages: PageServer) -> None:
    pages.pages["/"] = "<script>document.title = document.cookie; document.cookie = 'seen=1'</script>"
    async with BrowserFleet(BrowserOptions(contexts_per_browser=2)) as fleet:
        sessions = await asyncio.gather(*(fleet.open_session() for _ in range(3)))
        observations = await asyncio.gather(*(s.start([pages.url("/")]) for s in sessions))
        assert [o.title for o in observations] == ["", "", ""]
        statistics = fleet.statistics()
        assert (statistics.browsers, statistics.sessions, statistics.sessions_opened) == (2, 3, 3)
        await asyncio.gather(*(session.close() for session in sessions))
        assert fleet.statistics().sessions == 0


async def test_a_browser_is_replaced_after_so_many_sessions() -> None:
    async with BrowserFleet(BrowserOptions(recycle_after=2)) as fleet:
        first, second = await fleet.open_session(), await fleet.open_session()
        third = await fleet.open_session()
        assert fleet.statistics().browsers == 2
        await first.close()
        assert fleet.statistics().browsers == 2
        await second.close()
        assert fleet.statistics().browsers == 1
        await third.start([])
        assert third.failed is None


@OWNED
async def test_nothing_is_left_after_close(owner: str) -> None:
    async with BrowserFleet() as fleet:
        session = await fleet.open_session()
        await session.start([])
        assert owned_processes(owner, "chrom")
    await wait_gone(owner)
    await fleet.close()
    with pytest.raises(BrowserFailed, match="closed"):
        await fleet.open_session()


@OWNED
async def test_profiles_are_made_in_the_given_folder_and_all_else_of_a_browser_is_not(
    owner: str, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    async with BrowserFleet(scratch=scratch) as fleet:
        session = await fleet.open_session()
        await session.start([])
        (pid,) = owned_processes(owner, "--remote-debugging-pipe")[:1]
        assert f"--user-data-dir={scratch}/".encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
        assert f"TMPDIR={tmp_path}\0".encode() in Path(f"/proc/{pid}/environ").read_bytes()
        assert os.environ["TMPDIR"] == str(tmp_path)
    assert list(scratch.iterdir()) == []


async def step_until_it_fails(session: BrowserSession) -> None:
    while True:
        await session.step("wait(0)")


@OWNED
async def test_a_dead_browser_fails_its_sessions_only_and_is_replaced(owner: str) -> None:
    async with BrowserFleet(BrowserOptions(contexts_per_browser=1)) as fleet:
        session = await fleet.open_session()
        await session.start([])
        doomed = owned_processes(owner, "--remote-debugging-pipe")
        other = await fleet.open_session()
        await other.start([])
        for pid in doomed:
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(BrowserFailed):
            await step_until_it_fails(session)
        assert session.failed is not None
        assert (await other.step("wait(0)")).error is None
        await session.close()
        again = await fleet.open_session()
        await again.start([])
        assert fleet.statistics().browsers_died == 1
    await wait_gone(owner)


@OWNED
async def test_a_dead_driver_fails_its_sessions_and_is_replaced(owner: str) -> None:
    async with BrowserFleet() as fleet:
        session = await fleet.open_session()
        await session.start([])
        for pid in owned_processes(owner, "run-driver"):
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(BrowserFailed):
            await step_until_it_fails(session)
        await session.close()
        again = await fleet.open_session()
        await again.start([])
        assert again.failed is None
    await wait_gone(owner)


@OWNED
async def test_nothing_survives_a_kill_of_the_owner(owner: str) -> None:
    script = """
import asyncio
from webserv.browser.fleet import BrowserFleet
async def main():
    async with BrowserFleet() as fleet:
        session = await fleet.open_session()
        await session.start([])
        print("ready", flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert (await process.stdout.readline()).strip() == b"ready"
    assert owned_processes(owner, "chrom")
    process.kill()
    await process.wait()
    await wait_gone(owner)


async def test_a_missing_browser_is_named_with_the_command_that_installs_one() -> None:
    with pytest.raises(MissingPrerequisite, match=r"'/none/chromium' is not there.*apt-get install"):
        async with BrowserFleet(BrowserOptions(executable="/none/chromium")):
            pass


@OWNED
async def test_a_signal_to_the_whole_group_is_no_complaint_of_asyncio() -> None:
    script = """
import asyncio, os, signal
from webserv.browser.fleet import BrowserFleet

async def main():
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asyncio.current_task().cancel)
    async with BrowserFleet() as fleet:
        await (await fleet.open_session()).start([])
        os.killpg(0, signal.SIGTERM)
        await asyncio.sleep(30)

try:
    asyncio.run(main())
except asyncio.CancelledError:
    print("ended")
"""
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        start_new_session=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")
