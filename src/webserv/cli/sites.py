"""`webserv sites`: lists, describes and builds sites."""

from __future__ import annotations

import json
from typing import Any

import click


@click.group("sites")
def command() -> None:
    """List, describe and build sites."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_command(as_json: bool) -> None:
    """List the sites, and whether each is built on this host."""
    from webserv.errors import NotBuilt
    from webserv.server.site import list_sites, load_site
    from webserv.server.snapshot import find_snapshot

    rows: list[dict[str, Any]] = []
    for name in list_sites():
        site = load_site(name)
        try:
            built = find_snapshot(site).name
        except NotBuilt:
            built = None
        rows.append({"name": name, "title": site.title, "origins": list(site.origins), "snapshot": built})
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        state = "built" if row["snapshot"] else "not built"
        click.echo(f"{row['name']}\t{state}\t{' '.join(row['origins'])}\t{row['title']}")


@command.command("info")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print the site file as JSON.")
def info_command(name: str, as_json: bool) -> None:
    """Describe one site: origins, start modes, logins, what of it is built."""
    from webserv.errors import NotBuilt
    from webserv.server.site import load_site
    from webserv.server.snapshot import find_snapshot

    site = load_site(name)
    if as_json:
        click.echo(site.model_dump_json(indent=2))
        return
    limits = site.limits
    lines = {
        "site": f"{site.name}: {site.title}",
        "origins": ", ".join(site.origins),
        "start modes": ", ".join(site.start_modes),
        "logins": ", ".join(site.logins) or "none",
        "limits": f"{limits.memory_bytes // 2**20} MiB, {limits.pids} processes, {limits.cpus:g} cpus",
    }
    try:
        snapshot = find_snapshot(site)
        lines |= {"image": str(snapshot.image), "snapshot": snapshot.name, "state digest": snapshot.digest}
    except NotBuilt as exc:
        lines["snapshot"] = exc.message
    for label, value in lines.items():
        click.echo(f"{label:13} {value}")


@command.command("build")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def build_command(names: tuple[str, ...]) -> None:
    """Build and seed sites, unless they are there."""
    from webserv.cli.setup import build

    for name in names:
        build(name)
