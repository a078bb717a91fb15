"""Finds the Chromium to run."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from webserv.errors import MissingPrerequisite

CANDIDATES = (
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
)
"""Programs looked for on PATH, best first: the headless shell needs a third of the memory of full Chromium."""

HINT = "Run: apt-get install chromium-headless-shell   (or: playwright install chromium-headless-shell)"


def find_executable(named: str | None = None, *, playwright_path: str = "") -> str:
    """Returns the path of a Chromium.

    Args:
        named: What the options ask for; must exist. None looks at ``WEBSERV_CHROMIUM``, then PATH.
        playwright_path: Where Playwright's own browser would be; taken last, if it is there.

    Raises:
        MissingPrerequisite: There is none; the hint installs one.
    """
    wanted = named or os.environ.get("WEBSERV_CHROMIUM") or ""
    if wanted:
        found = shutil.which(wanted)
        if found is None:
            raise MissingPrerequisite(f"Browser '{wanted}' is not there or not executable.", hint=HINT)
        return found
    for name in CANDIDATES:
        found = shutil.which(name)
        if found:
            return found
    for path in _playwright_browsers(playwright_path):
        if os.access(path, os.X_OK):
            return str(path)
    looked = ", ".join(CANDIDATES)
    raise MissingPrerequisite(
        f"No Chromium on PATH (looked for {looked}) nor in Playwright's folder.", hint=HINT
    )


def _playwright_browsers(playwright_path: str) -> list[Path]:
    """Playwright names full Chromium; its headless shell lies in a sibling folder of the same revision."""
    if not playwright_path:
        return []
    full = Path(playwright_path)
    shells = (
        sorted(full.parents[2].glob("chromium_headless_shell-*/*/*headless*shell*"))
        if len(full.parents) > 2
        else []
    )
    return [*(path for path in reversed(shells) if path.is_file()), full]
