"""The native engine on real namespaces, overlays and cgroups, with the guestbook as site."""

import asyncio
import os
from pathlib import Path

import pytest

from webserv.errors import MissingPrerequisite, WorldFailed
from webserv.server.engines.native import NativeEngine
from webserv.server.snapshot import Snapshot

pytestmark = pytest.mark.root

MODES = ["zygote", "boot"]


@pytest.mark.parametrize("mode", MODES)
async def test_a_clone_serves_its_snapshot_and_reports_its_mode(native, guestbook, ask, mode):
    world = await native.open_world([guestbook], start_mode=mode)
    clone = world.sites["guestbook"]
    status, body = ask(clone, "/")
    assert status == 200
    assert "<li>first</li><li>second</li>" in body
    assert clone.start_mode == mode
    assert await clone.digest() == guestbook.digest
    await world.close()


@pytest.mark.parametrize("mode", MODES)
async def test_what_is_written_in_one_world_is_absent_from_another_and_from_the_snapshot(
    native, guestbook, ask, mode
):
    first = await native.open_world([guestbook], start_mode=mode)
    second = await native.open_world([guestbook], start_mode=mode)
    assert ask(first.sites["guestbook"], "/", method="POST", body="text=mine")[0] == 303
    assert "mine" in ask(first.sites["guestbook"], "/")[1]
    assert "mine" not in ask(second.sites["guestbook"], "/")[1]
    assert await first.sites["guestbook"].query("SELECT text FROM entry WHERE id > 2") == [("mine",)]
    assert await second.sites["guestbook"].query("SELECT count(*) FROM entry") == [(2,)]
    assert await first.sites["guestbook"].digest() != guestbook.digest
    await first.close()
    third = await native.open_world([guestbook], start_mode=mode)
    assert await third.sites["guestbook"].digest() == guestbook.digest
    await third.close()
    await second.close()


@pytest.mark.parametrize("mode", MODES)
async def test_a_clone_has_no_privileges_and_sees_nothing_of_the_host(native, guestbook, ask, mode):
    world = await native.open_world([guestbook], start_mode=mode)
    clone = world.sites["guestbook"]
    pid, uid, hostname, *top = ask(clone, "/where")[1].split("\n")
    assert int(pid) < 10  # a pid namespace of its own
    assert uid == "65534"
    assert hostname == "guestbook"
    assert not {"home", "work", "mnt", "srv", "sys"} & set(top)
    secret = Path(os.environ["WEBSERV_HOME"], "secret.txt")
    secret.write_text("secret", encoding="utf-8")
    assert ask(clone, f"/read?{secret}")[1].startswith("refused")
    assert ask(clone, "/read?/etc/shadow")[1].startswith("refused")
    status = dict(
        line.split(":\t", 1)
        for line in ask(clone, "/read?/proc/self/status")[1].splitlines()
        if ":\t" in line
    )
    assert int(status["CapEff"], 16) == 0
    assert int(status["CapPrm"], 16) == 0
    assert status["NoNewPrivs"] == "1"
    await world.close()


@pytest.mark.parametrize("mode", MODES)
async def test_a_clone_reaches_its_own_world_and_nothing_else(native, guestbook, ask, mode):
    listener = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    world = await native.open_world([guestbook], start_mode=mode)
    clone = world.sites["guestbook"]
    assert (await asyncio.to_thread(ask, clone, f"/reach?127.0.0.1:{port}"))[1].startswith("refused")
    assert (await asyncio.to_thread(ask, clone, "/reach?192.0.2.1:80"))[1].startswith("refused")
    own, _ = clone.target.address
    assert (await asyncio.to_thread(ask, clone, f"/reach?{own}:80"))[1] == "reached"
    await world.close()
    listener.close()


@pytest.mark.parametrize("mode", MODES)
async def test_a_site_that_dies_marks_its_world_failed_and_no_other(native, guestbook, ask, mode):
    world = await native.open_world([guestbook], start_mode=mode)
    other = await native.open_world([guestbook], start_mode=mode)
    with pytest.raises(OSError):
        ask(world.sites["guestbook"], "/die")
    async with asyncio.timeout(10):
        await world.wait_failed()
    with pytest.raises(WorldFailed, match="Site 'guestbook' of world w1 ended"):
        world.check_alive()
    with pytest.raises(WorldFailed):
        await world.sites["guestbook"].query("SELECT 1")
    other.check_alive()
    assert ask(other.sites["guestbook"], "/")[0] == 200
    await world.close()
    await other.close()


async def test_a_site_that_eats_memory_is_ended_by_its_limit_alone(native, guestbook, ask):
    if not native.info.limits_resources:
        pytest.skip("no cgroup controllers here")
    world = await native.open_world([guestbook])
    other = await native.open_world([guestbook])
    with pytest.raises(OSError):
        await asyncio.to_thread(ask, world.sites["guestbook"], "/eat")
    async with asyncio.timeout(30):
        await world.wait_failed()
    assert ask(other.sites["guestbook"], "/")[0] == 200
    await world.close()
    await other.close()


async def test_a_site_that_forks_without_end_meets_its_limit(native, guestbook, ask):
    if not native.info.limits_resources:
        pytest.skip("no cgroup controllers here")
    world = await native.open_world([guestbook])
    forked = int((await asyncio.to_thread(ask, world.sites["guestbook"], "/forks"))[1])
    assert 0 < forked <= guestbook.site.limits.pids
    await world.close()


async def test_closing_leaves_no_process_layer_group_or_log(home, guestbook, stray_processes):
    engine = NativeEngine()
    owner = engine.owner.id
    worlds = [await engine.open_world([guestbook], start_mode=mode) for mode in ("zygote", "boot")]
    assert len(stray_processes(owner)) >= 4
    await worlds[0].close()
    await worlds[0].close()
    await engine.close()
    await engine.close()
    assert stray_processes(owner) == []
    assert not (home / "run" / "owners" / owner).exists()
    assert not list(Path("/sys/fs/cgroup").glob(f"*/webserv/{owner}"))
    assert not (home / "pool" / "clones" / owner).exists()


async def test_opening_that_is_cancelled_leaves_nothing(native, guestbook, stray_processes):
    await native.prepare([guestbook])
    before = len(stray_processes(native.owner.id))
    for delay in (0.0, 0.001, 0.004, 0.008):
        opening = asyncio.get_running_loop().create_task(native.open_world([guestbook]))
        await asyncio.sleep(delay)  # not a wait for anything: the point at which it is cancelled
        opening.cancel()
        result = (await asyncio.gather(opening, return_exceptions=True))[0]
        if not isinstance(result, BaseException):
            await result.close()
    world = await native.open_world([guestbook])
    await world.close()
    async with asyncio.timeout(5):
        while len(stray_processes(native.owner.id)) > before:
            await asyncio.sleep(0.01)
    assert native.statistics().worlds_open == 0


@pytest.mark.parametrize("mode", MODES)
async def test_a_clone_holds_no_descriptor_of_the_host(native, guestbook, ask, mode):
    world = await native.open_world([guestbook], start_mode=mode)
    held = ask(world.sites["guestbook"], "/fds")[1].splitlines()
    assert held
    assert not [name for name in held if "cgroup" in name or name.startswith(("net:", "pid:", "mnt:"))]
    await world.close()


@pytest.mark.parametrize("mode", MODES)
async def test_a_terminal_of_one_clone_is_not_found_in_another(native, guestbook, ask, mode):
    first = await native.open_world([guestbook], start_mode=mode)
    second = await native.open_world([guestbook], start_mode=mode)
    name = ask(first.sites["guestbook"], "/pty")[1].removeprefix("/dev/pts/")
    assert name in ask(first.sites["guestbook"], "/list?/dev/pts")[1].split()
    assert name not in ask(second.sites["guestbook"], "/list?/dev/pts")[1].split()
    await first.close()
    await second.close()


@pytest.mark.parametrize("mode", MODES)
async def test_last_words_are_the_clones_own(native, guestbook, ask, mode):
    first = await native.open_world([guestbook], start_mode=mode)
    second = await native.open_world([guestbook], start_mode=mode)
    ask(first.sites["guestbook"], "/say?farewell")
    ask(second.sites["guestbook"], "/say?something-else")
    with pytest.raises(OSError):
        ask(first.sites["guestbook"], "/die")
    async with asyncio.timeout(10):
        await first.wait_failed()
    assert str(first.failure).endswith("ended; the last that it printed: farewell")
    log = first.sites["guestbook"].log
    await first.close()
    assert not log.exists()
    await second.close()


async def test_without_groups_clones_run_unlimited_and_the_engine_says_so(
    home, guestbook, ask, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*args: object, **options: object) -> None:
        raise OSError(16, "Device or resource busy", "/sys/fs/cgroup/cgroup.subtree_control")

    monkeypatch.setattr("webserv.server._linux.cgroups.ControlGroup", refuse)
    async with NativeEngine() as engine:
        assert not engine.info.limits_resources
        assert (
            "not limited: /sys/fs/cgroup/cgroup.subtree_control: Device or resource busy" in engine.info.note
        )
        world = await engine.open_world([guestbook])
        assert ask(world.sites["guestbook"], "/")[0] == 200


async def test_many_worlds_stand_at_once_and_each_answers(native, guestbook, ask):
    worlds = await asyncio.gather(*(native.open_world([guestbook]) for _ in range(30)))
    for number, world in enumerate(worlds):
        ask(world.sites["guestbook"], "/", method="POST", body=f"text=world{number}")
    for number, world in enumerate(worlds):
        rows = await world.sites["guestbook"].query("SELECT text FROM entry WHERE id > 2")
        assert rows == [(f"world{number}",)]
    await asyncio.gather(*(world.close() for world in worlds))


async def test_a_start_mode_that_the_site_lacks_is_refused_with_those_it_has(native, guestbook: Snapshot):
    from dataclasses import replace

    site = guestbook.site.model_copy(update={"zygote": None})
    with pytest.raises(
        MissingPrerequisite, match="cannot start site 'guestbook' by 'zygote'; it can by: boot"
    ):
        await native.open_world([replace(guestbook, site=site)], start_mode="zygote")


async def test_a_site_whose_adapter_does_not_load_says_why(native, guestbook: Snapshot):
    from dataclasses import replace

    zygote = guestbook.site.zygote.model_copy(update={"adapter": "no_such_module"})
    site = guestbook.site.model_copy(update={"zygote": zygote})
    with pytest.raises(WorldFailed, match="No module named 'no_such_module'"):
        await native.open_world([replace(guestbook, site=site)])


async def test_a_boot_command_that_ends_is_reported_with_what_it_said(native, guestbook: Snapshot):
    from dataclasses import replace

    boot = guestbook.site.boot.model_copy(update={"command": ("/usr/bin/false",)})
    site = guestbook.site.model_copy(update={"boot": boot})
    with pytest.raises(WorldFailed, match="Site 'guestbook' ended while it was starting"):
        await native.open_world([replace(guestbook, site=site)], start_mode="boot")
    assert native.statistics().worlds_failed == 1
    assert native.statistics().worlds_open == 0


async def test_a_zygote_that_was_killed_is_replaced(native, guestbook, ask):
    world = await native.open_world([guestbook])
    await native._zygotes[guestbook.name]._stop()
    async with asyncio.timeout(10):
        await world.wait_failed()
        while native._zygotes[guestbook.name].alive:
            await asyncio.sleep(0)
    await world.close()
    again = await native.open_world([guestbook])
    assert ask(again.sites["guestbook"], "/")[0] == 200
    await again.close()
