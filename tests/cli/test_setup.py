from __future__ import annotations


def test_setup_builds_once_and_tells_its_progress(run):
    first = run("setup")
    second = run("setup")

    assert first.returncode == second.returncode == 0
    assert first.stdout == second.stdout == ""
    assert "seeding 'guestbook'" in first.stderr
    assert second.stderr.startswith("Site 'guestbook' is ready (guestbook-")
    assert len(second.stderr.splitlines()) == 1


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
