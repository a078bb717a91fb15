from __future__ import annotations

import json

import pytest

from webserv.cli import doctor
from webserv.server.host import Capability, Check, Status

LACK = Check(
    "loop pool", Status.MISSING, "no mkfs.xfs", "slow copies", "apt-get install xfsprogs", needed=False
)


@pytest.mark.browser
def test_the_whole_report_as_json(run):
    done = run("doctor", "--json")

    report = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert report["engine"] in ("native", "process")
    found = {check["name"]: check for check in report["checks"]}
    assert found["browser"]["status"] == "ok"
    assert {"found", "costs", "mend", "needed"} <= found["memory"].keys()


@pytest.mark.browser
def test_the_table_names_the_engine_and_why(run):
    done = run("doctor")

    assert done.returncode == 0
    assert done.stderr == ""
    assert "Engine: " in done.stdout
    assert "browser" in done.stdout


def test_a_browser_that_is_not_there_is_told_with_the_command(run, environment, tmp_path):
    done = run("doctor", "--json", env=environment | {"WEBSERV_CHROMIUM": str(tmp_path / "none")})

    browser = next(check for check in json.loads(done.stdout)["checks"] if check["name"] == "browser")
    assert done.returncode == 1
    assert browser["status"] == "missing"
    assert "chromium-headless-shell" in browser["mend"]
    assert str(tmp_path / "none") in browser["found"]


def test_a_program_that_is_no_browser_is_told(run, environment, tmp_path):
    fake = tmp_path / "chromium"
    fake.write_text("#!/bin/sh\nexit 3\n")
    fake.chmod(0o755)

    done = run("doctor", "--json", env=environment | {"WEBSERV_CHROMIUM": str(fake)})

    browser = next(check for check in json.loads(done.stdout)["checks"] if check["name"] == "browser")
    assert browser["status"] == "missing"
    assert "Traceback" not in done.stderr


def test_each_lack_shows_its_cost_and_its_mend(capsys):
    doctor._print(Capability("process", True, "copies work", ()), [LACK])

    said = capsys.readouterr().out
    for words in (
        "loop pool",
        "no mkfs.xfs",
        "costs: slow copies",
        "apt-get install xfsprogs",
        "Engine: process",
    ):
        assert words in said


def test_no_engine_is_said_plainly(capsys):
    doctor._print(Capability("process", False, "data folder: Read-only file system", ()), [])

    assert "No engine works here: data folder: Read-only file system." in capsys.readouterr().out
