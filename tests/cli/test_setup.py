from __future__ import annotations

import signal
from pathlib import Path

import pytest

import webserv.testing.guestbook
from webserv.cli import setup
from webserv.cli.main import _run
from webserv.errors import HostRefused
from webserv.server import site


def test_setup_builds_once_and_tells_its_progress(run):
    first = run("setup")
    second = run("setup")

    assert first.returncode == second.returncode == 0
    assert first.stdout == second.stdout == ""
    assert "seeding 'guestbook'" in first.stderr
    assert second.stderr.startswith("Site 'guestbook' is ready (guestbook-")
    assert len(second.stderr.splitlines()) == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_setup_with_a_word(guestbook_only, monkeypatch, capsys, number, code):
    cleaned = []

    def build(name):
        try:
            signal.raise_signal(number)
        finally:
            signal.raise_signal(number)  # a closed terminal may say so twice
            cleaned.append(name)

    monkeypatch.setattr(setup, "build", build)
    assert _run(["setup"]) == code
    assert cleaned == ["guestbook"]
    assert capsys.readouterr().err == "Terminated.\n"
    assert signal.getsignal(number) is signal.SIG_DFL


def test_a_named_site_must_be_known(run):
    done = run("setup", "--site", "shop-2")

    assert done.returncode == 1
    assert "Known: guestbook" in done.stderr


def test_a_data_folder_that_is_a_file_is_one_line(run, webserv_home):
    webserv_home.write_text("")

    done = run("setup")

    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert str(webserv_home) in done.stderr
    assert "Traceback" not in done.stderr


def test_a_disk_without_room_is_one_line_and_nothing_is_built(guestbook_only, webserv_home, monkeypatch):
    usage = setup.shutil._ntuple_diskusage(2**40, 2**40, 99 * 2**20)
    monkeypatch.setattr(setup.shutil, "disk_usage", lambda folder: usage)

    with pytest.raises(HostRefused, match=r"has 99 MiB free; building 'guestbook' takes up to"):
        setup.build("guestbook")
    assert list(webserv_home.iterdir()) == []


def test_a_built_site_needs_no_room(guestbook_only, monkeypatch):
    setup.build("guestbook")
    monkeypatch.setattr(setup, "BUILD_BYTES", 2**80)

    setup.build("guestbook")


@pytest.fixture
def guestbook_only(monkeypatch):
    """The guestbook as the only site, in this process."""
    monkeypatch.setattr(site, "SITES_DIR", Path(webserv.testing.guestbook.__file__).parents[1])
