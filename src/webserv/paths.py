"""Where WebServ keeps its things on this host."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import platformdirs

from webserv.errors import HostRefused


def data_home() -> Path:
    """The data folder: ``$WEBSERV_HOME``, else the platform's folder for user data.

    It holds ``images/`` (built sites), ``snapshots/`` (what is known of each seeded state), ``pool/`` (the
    copy-on-write files, possibly a mounted loop file ``pool.img``) and ``run/`` (what live processes own).
    """
    named = os.environ.get("WEBSERV_HOME")
    try:
        return Path(named).expanduser().absolute() if named else Path(platformdirs.user_data_dir("webserv"))
    except RuntimeError as exc:  # ~nobody-of-that-name
        raise HostRefused(f"WEBSERV_HOME='{named}' leads nowhere: {exc}") from exc


def images_dir() -> Path:
    """Built images, one folder each."""
    return data_home() / "images"


def snapshots_dir() -> Path:
    """Metadata and start databases of a pool's snapshots, readable without the pool being mounted.

    A pool that ``WEBSERV_POOL`` names has its own: two pools under one data folder are two builds.
    """
    pool = os.environ.get("WEBSERV_POOL")
    tag = f"-{hashlib.sha256(os.fsencode(os.path.realpath(pool))).hexdigest()[:8]}" if pool else ""
    return data_home() / f"snapshots{tag}"


def run_dir() -> Path:
    """What live processes own: locks, logs, sockets."""
    return data_home() / "run"
