from __future__ import annotations

import json


def test_sites_are_listed_with_their_state(run):
    assert run("sites", "list").stdout == "guestbook\tnot built\thttp://guestbook.example\tGuestbook\n"

    assert run("setup").returncode == 0

    (row,) = json.loads(run("sites", "list", "--json").stdout)
    assert row["snapshot"].startswith("guestbook-")


def test_a_site_is_described(run):
    run("sites", "build", "guestbook")

    said = run("sites", "info", "guestbook").stdout

    assert "start modes   zygote, boot" in said
    assert "origins       http://guestbook.example" in said
    assert "state digest" in said
    assert json.loads(run("sites", "info", "guestbook", "--json").stdout)["name"] == "guestbook"


def test_an_unbuilt_site_is_described_too(run):
    said = run("sites", "info", "guestbook").stdout

    assert "not built on this host" in said


def test_an_unknown_site_is_answered_with_the_known_ones(run):
    done = run("sites", "info", "gestbook")

    assert done.returncode == 1
    assert done.stderr == (
        "error: There is no site 'gestbook'. Did you mean 'guestbook'? Known: guestbook.\n"
    )


def test_building_an_unknown_site_builds_nothing(run, webserv_home):
    assert run("sites", "build", "nope").returncode == 1
    assert not (webserv_home / "images").exists()
