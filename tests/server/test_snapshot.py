"""Building and finding snapshots."""

import sqlite3
from contextlib import closing

import pytest

from webserv.errors import NotBuilt
from webserv.server.snapshot import ensure_snapshot, find_snapshot, state_digest
from webserv.server.storage.load import open_storage
from webserv.server.world import query_sqlite


def test_a_site_that_is_not_built_says_how_to_build_it(tmp_path, monkeypatch, guestbook_site):
    monkeypatch.setenv("WEBSERV_HOME", str(tmp_path))
    with pytest.raises(NotBuilt, match=r"Site 'guestbook' is not built .* Run 'webserv setup'\."):
        find_snapshot(guestbook_site)


def test_building_reports_its_parts_once_and_then_finds_the_same(tmp_path, monkeypatch, guestbook_site):
    monkeypatch.setenv("WEBSERV_HOME", str(tmp_path))
    monkeypatch.setenv("WEBSERV_POOL", str(tmp_path / "pool"))
    lines: list[str] = []
    first = ensure_snapshot(guestbook_site, lines.append)
    assert "building the image of 'guestbook'" in lines
    assert "seeding 'guestbook'" in lines
    assert not list((tmp_path / "pool" / "snapshots" / first.name).glob("*-shm"))
    lines.clear()
    assert ensure_snapshot(guestbook_site, lines.append) == first
    assert lines == []
    assert first.logins["guest"][0].domain == "guestbook.example"
    with closing(sqlite3.connect(first.database)) as connection:
        assert connection.execute("SELECT count(*) FROM entry").fetchone() == (2,)


def test_a_build_that_was_killed_half_way_is_done_again(tmp_path, monkeypatch, guestbook_site):
    monkeypatch.setenv("WEBSERV_HOME", str(tmp_path))
    monkeypatch.setenv("WEBSERV_POOL", str(tmp_path / "pool"))
    snapshot = ensure_snapshot(guestbook_site)
    (snapshot.image / ".complete").unlink()
    (snapshot.image / "app" / "guestbook_app.py").unlink()
    (snapshot.start.parent / "snapshot.json").unlink()
    again = ensure_snapshot(guestbook_site)
    assert (again.image / "app" / "guestbook_app.py").exists()
    assert again.digest == snapshot.digest


def test_the_state_digest_counts_rows_and_files_and_not_how_pages_lie(guestbook, home):
    with closing(open_storage()) as storage:
        data = guestbook.data(storage)
        assert state_digest(guestbook.site, data) == guestbook.digest
        note = data / "notes" / "more.txt"
        note.write_text("more", encoding="utf-8")
        assert state_digest(guestbook.site, data) != guestbook.digest
        note.unlink()
        with closing(sqlite3.connect(data / "guestbook.sqlite3")) as connection:
            connection.execute("VACUUM")
        assert state_digest(guestbook.site, data) == guestbook.digest


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", "null", '{"digest": "x", "logins": {"a": [{"b": 1}]}}']
)
def test_damaged_metadata_is_one_line_and_is_built_again(tmp_path, monkeypatch, guestbook_site, content):
    monkeypatch.setenv("WEBSERV_HOME", str(tmp_path))
    monkeypatch.setenv("WEBSERV_POOL", str(tmp_path / "pool"))
    snapshot = ensure_snapshot(guestbook_site)
    (snapshot.start.parent / "snapshot.json").write_text(content, encoding="utf-8")
    with pytest.raises(NotBuilt, match=r"snapshot\.json' is damaged\. Run 'webserv setup'\."):
        find_snapshot(guestbook_site)
    assert ensure_snapshot(guestbook_site).digest == snapshot.digest


def test_a_damaged_start_database_is_one_line_and_is_built_again(tmp_path, monkeypatch, guestbook_site):
    monkeypatch.setenv("WEBSERV_HOME", str(tmp_path))
    monkeypatch.setenv("WEBSERV_POOL", str(tmp_path / "pool"))
    snapshot = ensure_snapshot(guestbook_site)
    snapshot.database.write_text("garbage", encoding="utf-8")
    with pytest.raises(NotBuilt, match="is damaged"):
        find_snapshot(guestbook_site)
    ensure_snapshot(guestbook_site)
    assert find_snapshot(guestbook_site) == snapshot


def test_a_second_pool_leaves_what_is_known_of_the_first_alone(tmp_path, monkeypatch, guestbook_site):
    monkeypatch.setenv("WEBSERV_HOME", str(tmp_path))
    monkeypatch.setenv("WEBSERV_POOL", str(tmp_path / "first"))
    first = ensure_snapshot(guestbook_site)
    monkeypatch.setenv("WEBSERV_POOL", str(tmp_path / "second"))
    with pytest.raises(NotBuilt):
        find_snapshot(guestbook_site)
    second = ensure_snapshot(guestbook_site)
    assert first.database.exists()
    assert second.start != first.start


@pytest.mark.parametrize("name", ["with space", "ha#sh", "per%cent", "quest?ion", "ünïcode"])
def test_odd_paths_work(tmp_path, monkeypatch, guestbook_site, name):
    monkeypatch.setenv("WEBSERV_HOME", str(tmp_path / name))
    monkeypatch.setenv("WEBSERV_POOL", str(tmp_path / name / "pool"))
    assert query_sqlite(ensure_snapshot(guestbook_site).database, "SELECT count(*) FROM entry") == [(2,)]
