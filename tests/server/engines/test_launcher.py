from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from webserv.server.engines import launcher

WAYS = [pytest.param([], id="death signal"), pytest.param(["--watch"], id="watching")]


@pytest.fixture
def lifeline() -> Iterator[list[int]]:
    """Both ends of a pipe; a test that closes the second takes it off the list."""
    ends = list(os.pipe())
    yield ends
    for end in ends:
        os.close(end)


def launch(lifeline: list[int], way: list[str], *command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", launcher.__file__, *way, str(lifeline[0]), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=[lifeline[0]],
        start_new_session=True,
    )


@pytest.mark.parametrize("way", WAYS)
def test_the_program_runs_and_its_exit_code_comes_back(lifeline, way):
    with launch(lifeline, way, "sh", "-c", "echo out; exit 7") as process:
        assert process.communicate(timeout=30)[0] == "out\n"
    assert process.returncode == 7


@pytest.mark.parametrize("way", WAYS)
def test_a_missing_program_is_named(lifeline, way):
    with launch(lifeline, way, "webserv-no-such-program") as process:
        assert process.communicate(timeout=30)[1] == "webserv-no-such-program: No such file or directory\n"
    assert process.returncode == 1


def test_a_watched_program_and_its_children_end_with_the_lifeline(lifeline):
    with launch(lifeline, ["--watch"], "sh", "-c", "sleep 600 & echo up; wait") as process:
        assert process.stdout.readline() == "up\n"
        os.close(lifeline.pop())
        # End of file: neither the program nor its child holds the pipe any more.
        assert process.communicate(timeout=30)[0] == ""


@pytest.mark.parametrize("way", WAYS)
def test_an_owner_that_is_gone_already_gets_nothing_started(lifeline, way):
    os.close(lifeline.pop())

    with launch(lifeline, way, "sh", "-c", "sleep 600") as process:
        process.communicate(timeout=30)
    assert process.returncode != 0
