"""The zygote's knowledge of its clones; the engines' tests fork real ones."""

from __future__ import annotations

import os
import socket
import subprocess

import pytest

from webserv.server.start_modes.preloader import _Zygote

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no pidfds here")


@pytest.fixture
def zygote():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield _Zygote(None, None, ours, 1)


def test_a_clone_that_has_ended_is_forgotten_so_that_its_number_is_never_signalled(zygote: _Zygote):
    ended = subprocess.Popen(["true"])
    zygote._children[ended.pid] = os.pidfd_open(ended.pid)
    ended.wait()
    stranger = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    # As if the ended clone's number had been given to the stranger since.
    zygote._children[stranger.pid] = zygote._children.pop(ended.pid)
    zygote._end_children()
    assert stranger.poll() is None
    assert zygote._children == {}
    stranger.kill()
    stranger.wait()


def test_clones_that_live_end_with_the_zygote(zygote: _Zygote):
    clone = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    zygote._children[clone.pid] = os.pidfd_open(clone.pid)
    zygote._end_children()
    assert clone.wait(10) < 0
    os.close(zygote._children.pop(clone.pid))
