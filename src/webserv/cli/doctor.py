"""`webserv doctor`: what this machine has, what it lacks, what each lack costs and the command that mends it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.table import Table

    from webserv.server.host import Capability, Check

_MARKS = {"ok": ("ok", "green"), "degraded": ("weak", "yellow"), "missing": ("MISSING", "red")}


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Say what this machine has, what it lacks, what each lack costs, and how to mend it.

    Everything is tried rather than guessed from versions. Exits with 1 when no engine or no browser works.
    """
    from webserv.server.doctor import run_checks
    from webserv.server.host import Status, choose_engine

    engine = choose_engine()
    browser = asyncio.run(check_browser())
    checks = [*run_checks(), browser]
    works = engine.works and browser.status is not Status.MISSING
    if as_json:
        report = {
            "engine": engine.engine if engine.works else None,
            "reason": engine.reason,
            "checks": [asdict(check) for check in checks],
        }
        click.echo(json.dumps(report, indent=2))
    else:
        _print(engine, checks)
    ctx.exit(0 if works else 1)


async def check_browser() -> Check:
    """A browser is found, and a blank page opens in it as in an episode."""
    from webserv.browser.fleet import BrowserFleet
    from webserv.errors import BrowserFailed, UserError
    from webserv.server.host import Check, Status
    from webserv.server.trials import install_command

    name, costs = "browser", "no rollouts; copies of sites still work"
    try:
        async with BrowserFleet() as fleet:
            session = await fleet.open_session()
            await session.start(["about:blank"])
            await session.close()
    except (BrowserFailed, UserError, OSError) as exc:
        mend = f"{install_command('chromium-headless-shell')}, or: playwright install --only-shell chromium"
        said = exc.message if isinstance(exc, UserError) else str(exc)
        return Check(name, Status.MISSING, " ".join(said.split())[:300], costs, mend)
    return Check(name, Status.OK, f"{await asyncio.to_thread(_browser_version)} opens a page")


def _browser_version() -> str:
    from webserv.browser.executable import find_executable
    from webserv.errors import MissingPrerequisite
    from webserv.server.trials import first_line

    try:
        executable = find_executable()
    except MissingPrerequisite:
        return "Playwright's own Chromium"
    return f"{first_line([executable, '--version'])} ({executable})"


def _print(engine: Capability, checks: list[Check]) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(_table(checks))
    if engine.works:
        console.print(f"[bold]Engine:[/bold] {engine.engine} ({engine.reason}).", soft_wrap=True)
    else:
        console.print(f"[bold red]No engine works here:[/bold red] {engine.reason}.", soft_wrap=True)


def _table(checks: list[Check]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("check", "", "found, what a lack costs, what mends it"):
        table.add_column(heading, overflow="fold")
    for check in checks:
        mark, colour = _MARKS[check.status]
        if check.status != "ok" and not check.needed:
            mark, colour = "absent" if check.status == "missing" else mark, "dim"
        text = Text(check.found)
        if check.costs:
            text.append(f"\ncosts: {check.costs}", style="dim")
        if check.mend:
            text.append("\nmend:  ", style="dim").append(check.mend, style="cyan")
        table.add_row(check.name, Text(mark, style=colour), text)
    return table
