"""What gc takes for dead, and what it says it did; `tests/faults` has the kills."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from webserv.server._linux.cgroups import ControlGroup, delete_group, find_hierarchies
from webserv.server.gc import collect
from webserv.server.owner import Owner, home_tag
from webserv.server.storage.load import open_storage


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WEBSERV_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("WEBSERV_POOL", raising=False)
    return tmp_path / "home"


def test_where_nothing_was_made_gc_makes_nothing(own_home: Path):
    assert collect().owners == 0
    assert not own_home.exists()


def test_data_folders_of_one_path_are_told_apart(own_home: Path):
    first = home_tag()
    assert home_tag() == first
    own_home.rename(own_home.with_name("moved"))
    assert home_tag() != first


@pytest.mark.root
def test_groups_of_other_data_folders_are_left_alone(own_home: Path):
    where = find_hierarchies()
    if where.version == 0:
        pytest.skip("no cgroup controllers here")
    Owner().release()
    foreign = ControlGroup(
        f"ffffffff-{os.getpid()}-x/w1", memory_bytes=1 << 28, pids=8, cpus=1.0, where=where
    )
    ours = ControlGroup(
        f"{home_tag()}-{os.getpid()}-x/w1", memory_bytes=1 << 28, pids=8, cpus=1.0, where=where
    )
    report = collect()
    assert all(folder.exists() for folder in foreign.folders)
    assert not any(folder.exists() for folder in ours.folders)
    assert report.owners == 1
    for folder in foreign.folders:
        delete_group(folder.parent)


@pytest.mark.root
def test_a_pool_in_use_is_not_said_to_be_unmounted(own_home: Path):
    with closing(open_storage()) as storage:
        if storage.info.kind != "loop":
            pytest.skip("no loop pool on this disk")
        Owner().release()
        assert not collect().unmounted
        assert storage.clones.is_dir()
