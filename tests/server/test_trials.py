from __future__ import annotations

import os
from pathlib import Path

import pytest

from webserv.server import host, trials


def test_a_program_that_succeeds_has_no_refusal():
    assert trials.try_program(["true"]) is None


def test_a_refusal_is_the_programs_last_line():
    assert (
        trials.try_program(["sh", "-c", "echo first >&2; echo '  second   word' >&2; exit 3"])
        == "second word"
    )


def test_a_silent_refusal_is_its_exit_code():
    assert trials.try_program(["sh", "-c", "exit 3"]) == "ended with 3"


def test_a_program_that_is_not_there_is_named():
    assert trials.try_program(["webserv-no-such-program"]) == "no webserv-no-such-program"


@pytest.mark.parametrize(
    ("manager", "uid", "command"),
    [
        ("apt-get", 0, "apt-get install --no-install-recommends xfsprogs"),
        ("dnf", 1000, "sudo dnf install xfsprogs"),
        ("brew", 501, "brew install xfsprogs"),
        ("none", 0, "install xfsprogs with this system's package manager"),
    ],
)
def test_the_mending_command_is_this_systems(manager, uid, command, tmp_path, monkeypatch):
    program = tmp_path / manager
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(trials, "PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: uid)

    assert trials.install_command("xfsprogs") == command


@pytest.mark.root
def test_the_loop_trial_mounts_a_real_file_system_and_leaves_no_loop_device(tmp_path):
    before = _loop_files()

    host.in_own_thread(lambda: trials.try_loop_pool(tmp_path))

    assert _loop_files() - before == set()


def _loop_files() -> set[str]:
    files = Path("/sys/block").glob("loop*/loop/backing_file")
    return {file.read_text().strip() for file in files}
