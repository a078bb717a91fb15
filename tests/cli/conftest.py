"""Running the command line as a user does: a process of its own, with an empty data folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import webserv

# The guestbook stands in for the built-in sites, which take a minute to build.
START = """
import sys
from pathlib import Path
import webserv.server.site, webserv.testing.guestbook
webserv.server.site.SITES_DIR = Path(webserv.testing.guestbook.__file__).parents[1]
from webserv.cli.main import main
main()
"""

Start = Callable[..., "subprocess.Popen[str]"]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def environment(webserv_home: Path) -> dict[str, str]:
    """Environment of a command: the test's data folder, this source tree, no colours."""
    source = str(Path(webserv.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": source, "NO_COLOR": "1", "COLUMNS": "120"}


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    """Runs `webserv ARGUMENTS...` with the guestbook as the only site, to its end."""

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", START, *arguments]
        settings = {"env": environment, "capture_output": True, "text": True, "timeout": 60} | options
        return subprocess.run(command, **settings)  # type: ignore[call-overload]

    return run


@pytest.fixture
def start(environment: dict[str, str]) -> Start:
    """Starts `webserv ARGUMENTS...`; the test ends it."""

    def start(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-u", "-c", START, *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
        )

    return start
