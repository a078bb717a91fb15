"""`Site`: a web application that can be copied, declared in one `site.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from webserv.errors import InvalidSite, UnknownName

SITES_DIR = Path(__file__).resolve().parent.parent / "sites"
"""Where the built-in sites live, one folder each."""

StartModeName = Literal["boot", "zygote"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Ready(_Record):
    """How to tell that a clone answers correctly."""

    path: str = "/"
    """Path on the first origin."""
    status: int = 200
    contains: str = ""
    """Text that the body must hold; empty for none."""
    timeout_s: float = 60.0


class Boot(_Record):
    """How a clone starts from nothing. ``{data}``, ``{image}``, ``{address}`` and ``{port}`` are filled in."""

    command: tuple[str, ...]
    environment: dict[str, str] = Field(default_factory=dict)


class Zygote(_Record):
    """How a warmed parent is made; see `webserv.server.start_modes.preloader` for the adapter's functions."""

    python: str
    """Interpreter, relative to the image."""
    adapter: str
    """Module with ``load``, ``warm``, ``freeze`` and ``adopt``."""
    environment: dict[str, str] = Field(default_factory=dict)
    threads: int = 4
    """Request threads of each clone."""


class Database(_Record):
    """The database that evaluators read."""

    kind: Literal["sqlite"] = "sqlite"
    path: str
    """Relative to the data folder."""


class Limits(_Record):
    """What one clone may use."""

    memory_bytes: int = 512 * 1024 * 1024
    pids: int = 128
    cpus: float = 2.0


class Site(_Record):
    """One site file."""

    name: str
    title: str
    origins: tuple[str, ...] = Field(min_length=1)
    """Canonical origins, for instance ``http://shop.example``; the first is the main one."""
    recipe: str
    """Module with ``build_image(target)`` and ``build_snapshot(image, target)``; see `webserv.server.snapshot`."""
    ready: Ready = Ready()
    boot: Boot
    zygote: Zygote | None = None
    database: Database | None = None
    state: tuple[str, ...] = ()
    """Globs, relative to the data folder, of the files that the state digest covers."""
    limits: Limits = Limits()
    logins: tuple[str, ...] = ()
    """Names of logins that the snapshot holds cookies for."""

    @field_validator("origins")
    @classmethod
    def _check_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            split_origin(origin)
        return origins

    @property
    def start_modes(self) -> tuple[StartModeName, ...]:
        """Start modes that the site declares, fastest first."""
        return ("zygote", "boot") if self.zygote else ("boot",)


def split_origin(origin: str) -> tuple[str, int]:
    """Returns host and port of a canonical origin.

    Raises:
        ValueError: `origin` is not ``http://host[:port]`` or ``https://host[:port]``.
    """
    from urllib.parse import urlsplit

    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("",):
        raise ValueError(f"'{origin}' is no origin; write for instance http://shop.example:8080")
    return parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def load_site_file(path: Path) -> Site:
    """Reads and checks one site file.

    Raises:
        InvalidSite: The file cannot be read, is no YAML, or breaks a rule; the message names the field.
    """
    try:
        return Site.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError) as exc:
        raise InvalidSite(f"Site file '{path}' cannot be read: {' '.join(str(exc).split())}.") from exc
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InvalidSite(f"Site file '{path}', field '{where}': {first['msg']}.") from exc


def list_sites() -> list[str]:
    """Names of the built-in sites."""
    return sorted(path.parent.name for path in SITES_DIR.glob("*/site.yaml"))


def load_site(name: str) -> Site:
    """Returns a site by name.

    Raises:
        UnknownName: There is no such site.
        InvalidSite: Its file is wrong.
    """
    known = list_sites()
    if name not in known:
        raise UnknownName("site", name, known)
    return load_site_file(SITES_DIR / name / "site.yaml")
