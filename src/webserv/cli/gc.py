"""`webserv gc`: removes what dead processes left behind."""

from __future__ import annotations

import click


@click.command("gc")
@click.option(
    "--outdated", is_flag=True, help="Also remove images and snapshots of earlier versions of the sites."
)
def command(outdated: bool) -> None:
    """Remove what dead processes left behind: processes, mounts, cgroups, files of clones, loop devices.

    What living processes own is never touched, and built sites stay. Every start does the same.
    """
    from webserv.server.gc import collect

    click.echo(collect(outdated=outdated))
