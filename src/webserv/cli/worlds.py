"""`webserv world`: opens a world by hand."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from webserv.server.site import StartModeName
    from webserv.server.snapshot import Snapshot
    from webserv.server.world import World


@click.group("world")
def command() -> None:
    """Open a world by hand."""


@command.command("open")
@click.argument("sites", nargs=-1, required=True, metavar="SITE...")
@click.option("--engine", default="auto", show_default=True, help="auto, native or process.")
@click.option("--start-mode", type=click.Choice(["zygote", "boot"]), help="Default: the site's fastest.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="Port of the proxy; 0 takes a free one."
)
@click.option("--login", metavar="NAME", help="Print the cookies that log in as NAME, for instance staff.")
def open_command(
    sites: tuple[str, ...], engine: str, start_mode: StartModeName | None, port: int, login: str | None
) -> None:
    """Open a world with a copy of each SITE and print how to reach it, until Ctrl-C.

    Any browser reaches it through the proxy that is printed; nothing stays behind at the end.
    """
    asyncio.run(_open(sites, engine, start_mode, port, login))


async def _open(
    sites: Sequence[str], engine_name: str, start_mode: StartModeName | None, port: int, login: str | None
) -> None:
    from webserv.errors import WorldFailed
    from webserv.server.engines.load import load_engine
    from webserv.server.site import load_site
    from webserv.server.snapshot import find_snapshot

    snapshots = [find_snapshot(load_site(name)) for name in dict.fromkeys(sites)]
    cookies = _cookies(snapshots, login) if login else []
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stopped.set)

    engine = load_engine(engine_name)
    try:
        # Warming a zygote takes a second or two, once; what is shown is the time of a world.
        await engine.prepare(snapshots, start_mode=start_mode)
        started = time.monotonic()
        world = await engine.open_world(snapshots, start_mode=start_mode, proxy_port=port)
        try:
            _describe(world, time.monotonic() - started, engine.info.note)
            for line in cookies:
                click.echo(line)
            click.echo("\nCtrl-C closes it; nothing stays behind.", err=True)
            waits = [asyncio.create_task(stopped.wait()), asyncio.create_task(world.wait_failed())]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for wait in waits:
                wait.cancel()
            if not stopped.is_set():
                raise world.failure or WorldFailed(f"World {world.id} ended.")
        finally:
            await world.close()
    finally:
        await engine.close()
    click.echo("Closed.", err=True)


def _describe(world: World, took_s: float, note: str) -> None:
    origins = {name: clone.snapshot.site.origins for name, clone in world.sites.items()}
    modes = ", ".join(f"{name} by {clone.start_mode}" for name, clone in world.sites.items())
    first = next(iter(origins.values()))[0]
    proxy = world.proxy_url
    click.echo(f"World {world.id} is open ({world.engine} engine, {modes}, {took_s * 1000:.0f} ms).")
    if note:
        click.echo(note)
    click.echo()
    for name, urls in origins.items():
        click.echo(f"  {name}: {'  '.join(urls)}")
    click.echo(f"  proxy: {proxy}")
    browser = [
        "chromium",
        f"--proxy-server={proxy}",
        "--proxy-bypass-list=<-loopback>",
        f"--user-data-dir=/tmp/webserv-{world.id}",
        "--no-first-run",
        *(["--no-sandbox"] if os.geteuid() == 0 else []),  # Chromium refuses its sandbox to root
        f"{first}/",
    ]
    click.echo(
        "\nIn a browser of its own (any browser works with this SOCKS5 proxy and its DNS through it):\n"
    )
    click.echo(f"  {shlex.join(browser)}")
    click.echo("\nFrom the shell:\n")
    click.echo(f"  curl --proxy {proxy.replace('socks5:', 'socks5h:')} {first}/")


def _cookies(snapshots: Sequence[Snapshot], login: str) -> list[str]:
    from webserv.errors import UnknownName

    known = sorted({name for snapshot in snapshots for name in snapshot.logins})
    if login not in known:
        raise UnknownName("login", login, known)
    lines = [f"\nLogged in as {login} with this cookie (developer tools, console of a page of the site):\n"]
    for snapshot in snapshots:
        for cookie in snapshot.logins.get(login, ()):
            lines.append(
                f"  document.cookie = '{cookie.name}={cookie.value}; path={cookie.path}'   # {cookie.domain}"
            )
    return lines
