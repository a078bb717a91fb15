"""The file system and privileges that a native site process sees, as a bubblewrap command line.

Inside: the host's programs and libraries and the site's image, all read-only; the site's data at `DATA`; a private
``/tmp``, ``/proc`` and ``/dev``; a hosts file that knows every canonical origin. Nothing else of the host.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import webserv
from webserv.server._linux.processes import OWNER_VARIABLE
from webserv.server.site import list_sites, load_site, split_origin
from webserv.server.snapshot import Snapshot

DATA = "/site/data"
"""Where a site's data lies in every world."""
CLONES = "/site/clones"
"""Where a zygote finds the layers of its clones; clones do not see it."""
LIBRARY = "/site/lib"
"""Holds this package, for the preloader."""

_ETC = (
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "alternatives",
    "localtime",
    "mime.types",
    "ssl",
    "fonts",
)
_ETC_ALSO = ("ca-certificates", "php", "nginx", "redmine", "mediawiki")
_TOP = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


def site_address(name: str) -> str:
    """The loopback address that a site listens on in every world, so that sites with equal ports can share one."""
    digest = hashlib.sha256(name.encode()).digest()
    return f"127.{64 + digest[0] % 64}.{digest[1]}.{1 + digest[2] % 254}"


def hosts_file() -> str:
    """A hosts file with the origins of all known sites, so that sites of a world find each other."""
    lines = ["127.0.0.1 localhost"]
    for name in list_sites():
        hosts = {split_origin(origin)[0] for origin in load_site(name).origins}
        lines += [f"{site_address(name)} {host}" for host in sorted(hosts)]
    return "\n".join(lines) + "\n"


def bubblewrap_command(
    snapshot: Snapshot,
    *,
    command: Sequence[str],
    environment: Mapping[str, str],
    binds: Sequence[tuple[str, str, str]],
    hosts_fd: int,
    info_fd: int,
    owner: str,
    new_network: bool,
) -> list[str]:
    """Builds the command line.

    Args:
        snapshot: Whose image is shown.
        command: What runs inside.
        environment: Set inside, beside the fixed part.
        binds: (bubblewrap option, source, target), for instance ``("--bind", "/pool/x", "/site/data")``.
        hosts_fd: Descriptor that the hosts file is read from.
        info_fd: Descriptor that bubblewrap writes the child's pid to.
        owner: Owner id, found again by the reaper.
        new_network: Whether the sandbox gets an empty network namespace; else it stays in the caller's.
    """
    arguments = ["bwrap", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent"]
    arguments += ["--unshare-net"] if new_network else []
    arguments += ["--ro-bind", "/usr", "/usr"]
    for name in _TOP:
        path = Path("/", name)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    arguments += ["--dir", "/etc"]
    for name in (*_ETC, *_ETC_ALSO):
        arguments += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    arguments += ["--ro-bind-data", str(hosts_fd), "/etc/hosts"]
    arguments += ["--hostname", snapshot.site.name]
    arguments += ["--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp", "--tmpfs", "/run"]
    shown = [("--ro-bind", str(snapshot.image), str(snapshot.image))]
    prefix = _interpreter_prefix(snapshot)
    if prefix is not None:
        shown.append(("--ro-bind", str(prefix), str(prefix)))
    shown.append(("--ro-bind", str(Path(webserv.__file__).parent), f"{LIBRARY}/webserv"))
    for option, source, target in [*shown, *binds]:
        arguments += [*_open_parents(target), option, source, target]
    arguments += ["--clearenv"]
    for key, value in (fixed_environment(snapshot, owner, DATA) | dict(environment)).items():
        arguments += ["--setenv", key, value]
    app = snapshot.image / "app"
    arguments += [
        "--chdir",
        str(app if app.is_dir() else snapshot.image),
        "--info-fd",
        str(info_fd),
        "--",
        *command,
    ]
    return arguments


def fixed_environment(snapshot: Snapshot, owner: str, data: str) -> dict[str, str]:
    """What every site process finds in its environment, whatever the engine."""
    return {
        "PATH": f"{snapshot.image}/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        # One seed for all copies: the order of sets must not differ between two runs of one episode.
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        # One arena: request threads reuse what the zygote's heap has free, instead of each touching pages of its own
        # (measured on the shop: 28 instead of 32 MB written by a clone after five pages).
        "MALLOC_ARENA_MAX": "1",
        "SITE_DATA": data,
        "SITE_IMAGE": str(snapshot.image),
        OWNER_VARIABLE: owner,
    }


def _open_parents(target: str) -> list[str]:
    # bubblewrap makes missing parents with mode 0700; the site runs as another user and must pass through them.
    parents = [str(parent) for parent in reversed(Path(target).parents) if str(parent) != "/"]
    return [argument for parent in parents for argument in ("--dir", parent)]


def _interpreter_prefix(snapshot: Snapshot) -> Path | None:
    """Folder of the interpreter that the image's virtual environment was made with, unless it is the system's."""
    zygote = snapshot.site.zygote
    if zygote is None:
        return None
    prefix = (snapshot.image / zygote.python).resolve().parent.parent
    return None if prefix.is_relative_to("/usr") else prefix
