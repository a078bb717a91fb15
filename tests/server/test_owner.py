from __future__ import annotations

from pathlib import Path

import pytest

from webserv.server.gc import collect_orphans
from webserv.server.owner import Owner, home_tag, is_owner_alive, owners_dir


def test_an_owner_is_alive_until_it_lets_go(webserv_home):
    owner = Owner()
    assert is_owner_alive(owner.id)

    owner.release()
    owner.release()

    assert not is_owner_alive(owner.id)
    assert list(owners_dir().iterdir()) == []


def test_the_id_names_the_data_folder_whatever_path_leads_there(webserv_home, tmp_path, monkeypatch):
    owner = Owner()
    link = tmp_path / "link"
    link.symlink_to(webserv_home)
    monkeypatch.setenv("WEBSERV_HOME", str(link))

    assert owner.id.startswith(f"{home_tag()}-")
    assert is_owner_alive(owner.id)
    owner.release()


def test_an_owner_of_another_data_folder_is_not_judged_by_its_control_groups(webserv_home, monkeypatch):
    from webserv.server._linux import cgroups

    monkeypatch.setattr(cgroups, "list_owners", lambda: {"0ther0ne-1-aaaa": [Path("/nowhere")]})
    monkeypatch.setattr(cgroups, "delete_group", lambda folder: pytest.fail(f"{folder} is not ours"))

    assert collect_orphans(webserv_home / "clones") == (0, 0, 0, 0)


@pytest.mark.skipif("sys.platform != 'linux'")
def test_a_dead_owners_control_groups_are_removed(webserv_home, monkeypatch):
    from webserv.server._linux import cgroups

    removed = []
    monkeypatch.setattr(cgroups, "list_owners", lambda: {f"{home_tag()}-1-aaaa": [Path("/nowhere")]})
    monkeypatch.setattr(cgroups, "delete_group", removed.append)

    assert collect_orphans(webserv_home / "clones") == (1, 0, 0, 1)
    assert removed == [Path("/nowhere")]
