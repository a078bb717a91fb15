"""The pool on real disks: a reflink loop file, a plain folder, a full disk."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from webserv.errors import HostRefused
from webserv.server._linux.mounts import is_mounted
from webserv.server.storage.load import open_storage
from webserv.server.storage.loop import unmount_if_unused
from webserv.server.storage.reflink import clone_file, copy_tree, has_reflink


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WEBSERV_HOME", str(tmp_path))
    monkeypatch.delenv("WEBSERV_POOL", raising=False)
    return tmp_path


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)], check=True)
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_named_folder_is_used_and_a_layer_comes_and_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WEBSERV_POOL", str(tmp_path / "here"))
    with closing(open_storage()) as storage:
        assert storage.info.root == tmp_path / "here"
        assert storage.info.copy_on_write == has_reflink(tmp_path)
        layer = storage.create_layer("me", "w1-site", uid=os.getuid())
        (layer.upper / "file").write_text("x", encoding="utf-8")
        storage.delete_layer(layer)
        storage.delete_layer(layer)
        assert not layer.folder.exists()


@pytest.mark.root
def test_a_full_disk_is_one_clear_line(small_disk: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WEBSERV_POOL", str(small_disk / "pool"))
    with closing(open_storage()) as storage, pytest.raises(HostRefused) as caught:
        storage.create_layer("me", "w1-site", uid=0)
    assert str(caught.value).startswith(f"The disk under '{small_disk}")
    assert "is full" in str(caught.value)
    assert str(caught.value).endswith("run 'webserv gc', or set WEBSERV_HOME to a larger disk.")
    assert "\n" not in str(caught.value)


@pytest.mark.root
def test_a_loop_pool_shares_blocks_and_goes_with_its_last_user(own_home: Path):
    if has_reflink(own_home):
        pytest.skip("this disk has reflink itself, so no loop pool is made")
    first = open_storage()
    assert first.info.kind == "loop"
    assert first.info.copy_on_write
    second = open_storage()
    source = first.info.root / "big"
    with source.open("wb") as file:
        file.write(os.urandom(8 << 20))
    os.sync()
    before = os.statvfs(first.info.root).f_bfree
    assert clone_file(source, first.info.root / "copy")
    os.sync()
    after = os.statvfs(first.info.root)
    assert (before - after.f_bfree) * after.f_bsize < 1 << 20, "a copy of 8 MiB took blocks of its own"
    first.close()
    first.close()
    assert is_mounted(own_home / "pool")
    assert not unmount_if_unused(own_home)
    second.close()
    assert not is_mounted(own_home / "pool")
    backing = Path("/sys/block").glob("loop*/loop/backing_file")
    assert not any(str(own_home) in file.read_text(encoding="utf-8") for file in backing)


def test_a_tree_is_copied_whatever_the_disk(tmp_path: Path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_text("content", encoding="utf-8")
    (tmp_path / "a" / "link").symlink_to("b/file")
    copy_tree(tmp_path / "a", tmp_path / "c")
    assert (tmp_path / "c" / "link").read_text(encoding="utf-8") == "content"
    assert (tmp_path / "c" / "link").is_symlink()
