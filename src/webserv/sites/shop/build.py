"""Builds the shop's image and snapshot. Runs in WebServ's own environment; the work happens in the image's Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from webserv.errors import HostRefused, InvalidSite
from webserv.server._linux.processes import die_with_parent
from webserv.sites.shop import stylesheets

HERE = Path(__file__).resolve().parent
LOCK = HERE / "requirements.txt"
APP = HERE / "app"
SEED = HERE / "seed"
DOMAIN = "shop.example"

Progress = Callable[[str], None]


def image_inputs() -> list[Path]:
    """Files whose contents decide what the image holds."""
    return [LOCK, Path(__file__).resolve(), Path(stylesheets.__file__).resolve(), *_files(APP)]


def snapshot_inputs() -> list[Path]:
    """Files that decide what the snapshot holds, beside the image's."""
    return _files(SEED)


def build_image(target: Path, progress: Progress) -> None:
    """Makes ``target/venv``, ``target/app`` and ``target/static``. Takes about half a minute and needs a package index.

    Args:
        target: An empty or absent folder. The image works only at this path: a virtual environment is not relocatable.
        progress: Is told what happens, in a few words.

    Raises:
        HostRefused: A package could not be installed, or a command of the build failed; holds the command's last line.
    """
    target.mkdir(parents=True, exist_ok=True)
    python = target / "venv" / "bin" / "python"
    progress("creating the shop's virtual environment")
    _run([sys.executable, "-m", "venv", "--clear", str(target / "venv")])
    progress("installing django-oscar from the lock file")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    _run([*pip, "--require-hashes", "-r", str(LOCK)])
    progress("copying the site and collecting its static files")
    shutil.copytree(APP, target / "app", ignore=_no_caches, dirs_exist_ok=True)
    environment = {"SITE_DATA": str(target / "no-data"), "PYTHONPATH": str(target / "app")}
    manage = [str(python), str(target / "app" / "manage.py")]
    _run([*manage, "collectstatic", "--noinput", "--verbosity=0"], environment)
    packages = sorted((target / "venv" / "lib").glob("python*/site-packages/oscar"))
    icons = stylesheets.find_icons([*packages, target / "app"])
    for sheet in ("styles", "dashboard"):
        path = target / "static" / "oscar" / "css" / f"{sheet}.css"
        path.write_text(stylesheets.slim(path.read_text(encoding="utf-8"), icons), encoding="utf-8")
    progress("compiling")
    # Clones and the zygote must find bytecode: they may not write any.
    _run(
        [str(python), "-m", "compileall", "-q", "-j0", str(target / "app"), str(target / "venv" / "lib")],
        check=False,
    )
    # pip is of no use in a clone, and its files only make the image larger.
    _run([*pip[:3], "uninstall", "--quiet", "--yes", "setuptools", "pip"], check=False)


def build_snapshot(image: Path, target: Path, progress: Progress) -> dict[str, Any]:
    """Seeds the data folder `target` with the image's Python and returns the snapshot's metadata.

    Returns:
        ``logins``: name to the cookies that log in; ``counts``: how much of what the seed made.

    Raises:
        HostRefused: The seed failed; holds its last line.
        InvalidSite: The seed ended without its facts.
    """
    target.mkdir(parents=True, exist_ok=True)
    # The seed is no part of the image. Its folder is appended to the path, so that no module beside it (`tasks`,
    # `build`) hides an installed one.
    start = f"import sys; sys.path.append({str(HERE)!r}); import runpy; runpy.run_module('seed', run_name='__main__')"
    environment = {"SITE_DATA": str(target), "PYTHONPATH": str(image / "app"), "PYTHONDONTWRITEBYTECODE": "1"}
    output = _run([str(image / "venv" / "bin" / "python"), "-c", start], environment, progress=progress)
    try:
        facts = json.loads(output)
    except json.JSONDecodeError as exc:
        raise InvalidSite(f"The shop's seed ended without facts; its last line was '{output}'.") from exc
    logins = {name: [_session_cookie(key)] for name, key in facts.pop("sessions").items()}
    return {"logins": logins, **facts}


def _session_cookie(key: str) -> dict[str, Any]:
    return {"name": "sessionid", "value": key, "domain": DOMAIN, "path": "/", "http_only": True}


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _no_caches(_: str, names: Iterable[str]) -> set[str]:
    return {name for name in names if name == "__pycache__"}


def _run(
    command: list[str],
    environment: Mapping[str, str] | None = None,
    *,
    progress: Progress | None = None,
    check: bool = True,
) -> str:
    """Runs a command; lines that begin with ``> `` go to `progress`. Returns the last other line of its output."""
    last = ""
    with subprocess.Popen(
        command,
        # Unbuffered, so that what a program said last comes last.
        env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1", **(environment or {})},
        # A build that is killed must not go on behind the back of the next one.
        preexec_fn=die_with_parent,  # noqa: PLW1509  (one system call, no lock)
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("> ") and progress:
                progress(line[2:].strip())
            elif line.strip():
                last = line.strip()
    if check and process.returncode:
        raise HostRefused(f"Building the shop failed at '{' '.join(command)[:200]}': {last or 'no output'}.")
    return last
