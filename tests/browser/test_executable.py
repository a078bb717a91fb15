"""Finding the Chromium to run."""

from __future__ import annotations

from pathlib import Path

import pytest

from webserv.browser.executable import find_executable
from webserv.errors import MissingPrerequisite


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Makes programs in a PATH of their own."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("WEBSERV_CHROMIUM", raising=False)

    def make(name: str) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return str(path)

    return make


def test_the_headless_shell_is_preferred(programs) -> None:
    programs("bin/chromium")
    shell = programs("bin/chromium-headless-shell")
    assert find_executable() == shell


def test_the_environment_and_the_options_decide_first(programs, monkeypatch: pytest.MonkeyPatch) -> None:
    programs("bin/chromium-headless-shell")
    mine, other = programs("mine"), programs("other")
    monkeypatch.setenv("WEBSERV_CHROMIUM", mine)
    assert find_executable() == mine
    assert find_executable(other) == other


def test_playwrights_own_is_taken_last(programs) -> None:
    full = programs("cache/chromium-1/chrome-linux/chrome")
    assert find_executable(playwright_path=full) == full
    shell = programs("cache/chromium_headless_shell-1/chrome-linux/headless_shell")
    assert find_executable(playwright_path=full) == shell
    system = programs("bin/chromium")
    assert find_executable(playwright_path=full) == system


def test_no_browser_is_a_missing_prerequisite(programs) -> None:
    with pytest.raises(MissingPrerequisite, match="No Chromium on PATH"):
        find_executable(playwright_path="/none/chromium-1/chrome-linux/chrome")
