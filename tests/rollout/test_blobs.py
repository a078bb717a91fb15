"""Content-addressed files: the same bytes once, whole or not at all."""

import errno
import os

import pytest

from webserv.errors import HostRefused
from webserv.rollout.blobs import BlobStore


def test_the_same_bytes_are_kept_once(tmp_path):
    store = BlobStore(tmp_path)
    name = store.put(b"picture", "jpeg")
    assert name == store.put(b"picture", "jpeg") == BlobStore(tmp_path).put(b"picture", "jpeg")
    assert store.path(name) == tmp_path / name[:2] / name
    assert store.path(name).read_bytes() == b"picture"
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [name]


def test_kinds_have_their_suffix(tmp_path):
    store = BlobStore(tmp_path)
    assert store.put(b"x", "jpeg").endswith(".jpg")
    assert store.put(b"x", "png").endswith(".png")


def test_a_kind_cannot_lead_out_of_the_folder(tmp_path):
    with pytest.raises(ValueError, match="no kind of file"):
        BlobStore(tmp_path).put(b"x", "/../../evil")


def test_a_full_disk_is_one_line_and_leaves_no_half_file(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fdopen", full)
    with pytest.raises(HostRefused, match="is full"):
        BlobStore(tmp_path).put(b"picture", "png")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
