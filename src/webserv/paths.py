"""Where WebServ keeps its things on this host."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def data_home() -> Path:
    """The data folder: ``$WEBSERV_HOME``, else the platform's folder for user data.

    It holds ``images/`` (built sites), ``snapshots/`` (what is known of each seeded state), ``pool/`` (the
    copy-on-write files, possibly a mounted loop file ``pool.img``) and ``run/`` (what live processes own).
    """
    named = os.environ.get("WEBSERV_HOME")
    return Path(named).expanduser().absolute() if named else Path(platformdirs.user_data_dir("webserv"))


def images_dir() -> Path:
    """Built images, one folder each."""
    return data_home() / "images"


def snapshots_dir() -> Path:
    """Metadata and start databases of snapshots, readable without the pool being mounted."""
    return data_home() / "snapshots"


def run_dir() -> Path:
    """What live processes own: locks, logs, sockets."""
    return data_home() / "run"
