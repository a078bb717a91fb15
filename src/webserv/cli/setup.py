"""`webserv setup`: builds and seeds the built-in sites."""

from __future__ import annotations

import time

import click


@click.command("setup")
@click.option(
    "--site", "sites", multiple=True, metavar="NAME", help="Only this site; may be given several times."
)
def command(sites: tuple[str, ...]) -> None:
    """Build and seed the built-in sites, once; what is there already is kept.

    The result lies in WEBSERV_HOME (see `webserv doctor`). `make setup` also installs system packages.
    """
    from webserv.server.site import list_sites

    for name in sites or list_sites():
        build(name)


def build(name: str) -> None:
    """Builds one site unless it is there, with progress on stderr."""
    from webserv.server.site import load_site
    from webserv.server.snapshot import ensure_snapshot

    site = load_site(name)
    started = time.monotonic()

    def progress(line: str) -> None:
        click.echo(f"[{time.monotonic() - started:5.0f} s] {line}", err=True)

    snapshot = ensure_snapshot(site, progress)
    took = time.monotonic() - started
    click.echo(
        f"Site '{name}' is ready ({snapshot.name}{f', built in {took:.0f} s' if took > 1 else ''}).", err=True
    )
