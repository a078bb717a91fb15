"""`webserv setup`: builds and seeds the built-in sites."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

import click

from webserv.cli.signals import raising

if TYPE_CHECKING:
    from webserv.server.site import Site

BUILD_BYTES = 768 * 2**20
"""What a build may take at its height: the shop ends at 330 MiB, its packages are unpacked beside it before."""


@click.command("setup")
@click.option(
    "--site", "sites", multiple=True, metavar="NAME", help="Only this site; may be given several times."
)
def command(sites: tuple[str, ...]) -> None:
    """Build and seed the built-in sites, once; what is there already is kept.

    The result lies in WEBSERV_HOME (see `webserv doctor`). `make setup` also installs system packages.
    """
    from webserv.server.site import list_sites

    with raising():
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

    _check_disk(site)
    snapshot = ensure_snapshot(site, progress)
    took = time.monotonic() - started
    click.echo(
        f"Site '{name}' is ready ({snapshot.name}{f', built in {took:.0f} s' if took > 1 else ''}).", err=True
    )


def _check_disk(site: Site) -> None:
    """Refuses a build that the disk has no room for, before tools in the middle of it say so in their own words."""
    from webserv.errors import HostRefused, NotBuilt
    from webserv.paths import data_home
    from webserv.server.snapshot import find_snapshot

    try:
        find_snapshot(site)
    except NotBuilt:
        home = data_home()
        try:
            home.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise HostRefused(
                f"The data folder '{home}' cannot be made: {exc.strerror}.",
                hint="Set WEBSERV_HOME to another folder.",
            ) from exc
        free = shutil.disk_usage(home).free
        if free < BUILD_BYTES:
            raise HostRefused(
                f"The disk under '{home}' has {free // 2**20} MiB free; building '{site.name}' takes up to "
                f"{BUILD_BYTES // 2**20} MiB.",
                hint="Free some space, or set WEBSERV_HOME to a larger disk.",
            ) from None
