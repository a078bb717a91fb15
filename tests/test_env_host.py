"""`EnvHost` wires engine, pool and browsers of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from webserv.env_host import EnvHost
from webserv.errors import UnknownName
from webserv.server._linux.processes import OWNER_VARIABLE, processes_of_owner
from webserv.server.gc import collect
from webserv.server.owner import owners_dir

pytestmark = [pytest.mark.root, pytest.mark.browser]


def _commands(owner: str) -> set[str]:
    return {
        Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() for pid in processes_of_owner(owner)
    }


async def test_browsers_carry_the_owners_mark_and_the_users_own_processes_do_not(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv(OWNER_VARIABLE, raising=False)
    async with EnvHost(sites=()) as host:
        owner = host.engine.owner.id
        session = await host.browsers.open_session()
        users = subprocess.Popen(["sleep", "1000"])
        try:
            assert OWNER_VARIABLE not in os.environ
            commands = _commands(owner)
            assert any(name.startswith("chrom") for name in commands), commands
            assert any(name.startswith("node") for name in commands), commands
            assert users.pid not in processes_of_owner(owner)
        finally:
            users.kill()
            users.wait()
            await session.close()
    assert processes_of_owner(owner) == []


async def test_the_profiles_of_browsers_go_with_a_dead_owner(home: Path):
    script = (
        "import asyncio\n"
        "from webserv.env_host import EnvHost\n"
        "async def main():\n"
        "    async with EnvHost(sites=()) as host:\n"
        "        await host.browsers.open_session()\n"
        "        print(host.engine.owner.id, flush=True)\n"
        "        await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        owner = process.stdout.readline().strip()
        folder = owners_dir() / owner
        assert list(folder.glob("browsers/playwright_*profile*"))
        process.kill()
    collect()
    assert not folder.exists()


@pytest.mark.parametrize("options", [{"sites": ("shpo",)}, {"sites": (), "engine": "natvie"}])
async def test_unknown_names_are_answered_with_the_known_ones(home: Path, options):
    with pytest.raises(UnknownName, match=r"Did you mean '(shop|native)'\?"):
        async with EnvHost(**options):
            pass


async def test_closing_twice_is_harmless(home: Path):
    host = EnvHost(sites=())
    await host.__aenter__()
    await host.close()
    await host.close()
