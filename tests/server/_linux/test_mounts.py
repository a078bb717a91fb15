from __future__ import annotations

import errno

import pytest

from webserv.server._linux import mounts, namespaces
from webserv.server.host import in_own_thread

pytestmark = pytest.mark.root


def unshared() -> None:
    namespaces.unshare(namespaces.CLONE_NEWNS)
    mounts.mount("none", "/", "none", mounts.MS_REC | mounts.MS_PRIVATE)


def test_covering_a_folder_hides_its_files_and_keeps_what_is_mounted_below(tmp_path):
    outer, image = tmp_path / "outer", tmp_path / "outer" / "home" / "image"
    image.mkdir(parents=True)
    (outer / "secret").write_text("secret")
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "template").write_text("template")

    def attempt() -> tuple[list[str], str, int | None]:
        unshared()
        mounts.mount(str(tmp_path / "source"), str(image), "none", mounts.MS_BIND)
        read_only = 0x1 | 0x20  # MS_RDONLY, MS_REMOUNT
        mounts.mount("none", str(image), "none", mounts.MS_BIND | read_only)
        mounts.cover_with_tmpfs(str(outer), "size=1m")
        try:
            (image / "new").write_text("x")
        except OSError as exc:
            refused = exc.errno
        else:
            refused = None
        return sorted(path.name for path in outer.iterdir()), (image / "template").read_text(), refused

    assert in_own_thread(attempt) == (["home"], "template", errno.EROFS)
    assert (outer / "secret").read_text() == "secret"


def test_mount_points_below_a_folder_do_not_count_the_folder_or_its_namesakes(tmp_path):
    for name in ("a", "a/b", "ab"):
        (tmp_path / name).mkdir()

    def attempt() -> list[str]:
        unshared()
        for name in ("a", "ab"):
            mounts.mount("tmpfs", str(tmp_path / name), "tmpfs")
        (tmp_path / "a" / "b").mkdir()
        mounts.mount("tmpfs", str(tmp_path / "a" / "b"), "tmpfs")
        return mounts.mount_points_below(str(tmp_path / "a"))

    assert in_own_thread(attempt) == [str(tmp_path / "a" / "b")]
    assert mounts.mount_points_below(str(tmp_path)) == []


def test_a_refused_mount_says_what_was_tried(tmp_path):
    def attempt() -> None:
        unshared()
        mounts.mount("webserv", str(tmp_path / "none"), "tmpfs")

    with pytest.raises(FileNotFoundError, match="mount tmpfs on"):
        in_own_thread(attempt)
