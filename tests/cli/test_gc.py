from __future__ import annotations


def test_nothing_is_removed_where_nothing_was_left(run):
    run("setup")

    done = run("gc")

    assert done.returncode == 0
    assert done.stdout.startswith("removed 0 dead owners, 0 processes")


def test_what_a_dead_owner_left_is_removed(run, webserv_home):
    run("setup")
    left = webserv_home / "pool" / "clones" / "4711-dead" / "w1-guestbook"
    left.mkdir(parents=True)

    assert run("gc").stdout.startswith("removed 1 dead owners, 0 processes, 1 layers")
    assert not left.exists()


def test_it_needs_no_data_folder(run, webserv_home):
    assert run("gc").returncode == 0
    assert not webserv_home.exists()


def test_builds_of_earlier_versions_are_removed_on_demand_only(run, webserv_home):
    run("setup")
    old = webserv_home / "images" / "guestbook-0123456789abcdef"
    old.mkdir()

    assert "0 outdated" in run("gc").stdout
    assert "1 outdated" in run("gc", "--outdated").stdout

    assert not old.exists()
    assert "guestbook\tbuilt" in run("sites", "list").stdout
