"""The package's import limits, read from the source rather than trusted."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
PACKAGE = SOURCE / "webserv"
SITE_APPS = tuple(folder for part in ("app", "seed") for folder in PACKAGE.glob(f"*/*/{part}"))
"""Programs that run in a site's own environment: Django projects, seeds. Their imports are theirs."""

FRAMEWORKS = {
    "gymnasium", "gym", "torch", "tensorflow", "jax", "trl", "transformers", "vllm", "ray", "verl", "numpy",
    "browsergym", "openenv", "django", "docker",
}  # fmt: skip
"""Frameworks that only `integrations`, `training` and the sites' own environments may import."""

KNOW_BOTH_HALVES = {"env.py", "env_host.py"}
"""Below the command line, which hands options of both halves on to them."""

STDLIB_ONLY = ("server/_linux/", "server/start_modes/preloader.py")
"""Runs inside a site's own Python environment, where nothing of ours is installed."""

ALLOWED_EVERYWHERE = {"errors", "types", "paths"}
"""Without logic that would tie anything to anything."""

ALLOWED_THERE = {"webserv.server._linux", "waitress"}
"""Beside the standard library: itself, and the WSGI server that a site's lock file brings."""


def _modules() -> list[Path]:
    return [
        path
        for path in sorted(PACKAGE.rglob("*.py"))
        if not any(app in path.parents for app in SITE_APPS) and "__pycache__" not in path.parts
    ]


def _name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@cache
def _imports(path: Path) -> set[str]:
    """Absolute dotted names of everything that a file imports, anywhere in it, type checking included."""
    found: set[str] = set()
    package = ".".join(("webserv", *path.relative_to(PACKAGE).parent.parts))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")
                base = ".".join([*parents[: len(parents) - node.level + 1], *([base] if base else [])])
            found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return found


def _uses(path: Path, package: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for name in _imports(path))


def _allowed_in_a_site(name: str) -> bool:
    # `from webserv.server import _linux` also names the parent packages, which hold a docstring only.
    if name in ("webserv", "webserv.server") or name.partition(".")[0] in sys.stdlib_module_names:
        return True
    return any(name == allowed or name.startswith(f"{allowed}.") for allowed in ALLOWED_THERE)


def test_the_walk_sees_the_package():
    names = {_name(path) for path in _modules()}

    assert {"server/host.py", "cli/main.py", "errors.py"} <= names
    assert not any("/app/" in name for name in names)


def _limits() -> dict[str, set[str]]:
    """Folder or file to what it may import of ours, from the table of the contributor's guide."""
    guide = (SOURCE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    limits = {}
    for line in guide.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if (
            not line.startswith("| `src/webserv/")
            or "everything" in cells[2]
            or "standard library" in cells[2]
        ):
            continue
        place = cells[0].strip("`").removeprefix("src/webserv/")
        limits[place] = set(re.findall(r"`([a-z_/]+)`", cells[2]))
    return limits


def _beyond(path: Path, place: str, allowed: set[str]) -> set[str]:
    """What a file of `place` imports of ours that the table does not allow."""
    own = place.removesuffix(".py").strip("/")
    free = tuple(
        f"webserv.{name.replace('/', '.')}" for name in (own.partition("/")[0], *allowed, *ALLOWED_EVERYWHERE)
    )
    return {
        name
        for name in _imports(path)
        if name.startswith("webserv.") and not any(name == one or name.startswith(f"{one}.") for one in free)
    }


def test_every_folder_is_in_the_table_of_the_guide():
    guide = (SOURCE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    folders = {f"src/webserv/{path.parent.name}/" for path in PACKAGE.glob("*/__init__.py")}

    assert {folder for folder in folders if f"| `{folder}` |" not in guide} == set()


def test_every_row_of_the_table_is_kept():
    limits = _limits()
    wrong = {
        _name(path): beyond
        for path in _modules()
        for place, allowed in limits.items()
        if _name(path).startswith(place) and (beyond := _beyond(path, place, allowed))
    }

    assert {"server/", "browser/", "env.py", "tasks/", "rollout/", "sites/", "viewer/"} <= set(limits)
    assert limits["tasks/"] == set()
    assert limits["rollout/"] == {"tasks", "browser/actions"}
    assert wrong == {}


def test_a_file_that_breaks_its_row_is_found():
    rollout = PACKAGE / "rollout" / "episode.py"

    assert "webserv.browser.actions.grammar" in _beyond(rollout, "rollout/", {"tasks"})
    assert _beyond(rollout, "rollout/", {"tasks", "browser/actions"}) == set()


def test_server_and_browser_never_import_each_other():
    wrong = {
        _name(path)
        for path in _modules()
        if (_name(path).startswith("server/") and _uses(path, "webserv.browser"))
        or (_name(path).startswith("browser/") and _uses(path, "webserv.server"))
    }

    assert wrong == set()


def test_only_the_env_knows_both_halves():
    both = {
        _name(path)
        for path in _modules()
        if not _name(path).startswith("cli/")
        and _uses(path, "webserv.server")
        and _uses(path, "webserv.browser")
    }

    assert both <= KNOW_BOTH_HALVES


def test_the_core_imports_no_framework():
    free = ("integrations/", "training/", "sites/")
    wrong = {
        _name(path): found
        for path in _modules()
        if not _name(path).startswith(free)
        and (found := {name.partition(".")[0] for name in _imports(path)} & FRAMEWORKS)
    }

    assert wrong == {}


def test_what_runs_in_a_site_environment_uses_the_standard_library_only():
    wrong = {
        (_name(path), name)
        for path in _modules()
        if _name(path).startswith(STDLIB_ONLY)
        for name in _imports(path)
        if not _allowed_in_a_site(name)
    }

    assert wrong == set()


def test_nothing_below_the_command_line_imports_it():
    wrong = {
        _name(path)
        for path in _modules()
        if not _name(path).startswith(("cli/", "__main__.py"))
        and (_uses(path, "webserv.cli") or _uses(path, "click"))
    }

    assert wrong == set()


def test_importing_webserv_loads_nothing_heavy():
    script = (
        "import sys; before = set(sys.modules); import webserv; "
        "print(*sorted(name for name in set(sys.modules) - before if '.' not in name))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    loaded = set(done.stdout.split())
    assert loaded - set(sys.stdlib_module_names) == {"webserv"}
    assert "asyncio" not in loaded
