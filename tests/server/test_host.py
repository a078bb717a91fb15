from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from webserv.server import host
from webserv.server._linux import mounts, namespaces
from webserv.server.host import Capability, Check, Status

MISSING = Check("a thing", Status.MISSING, "not there", "no worlds", "make one")
FINE = Check("a thing", Status.OK, "there")


@pytest.mark.root
def test_native_works_where_the_suite_must_run_it():
    native = host.probe_native()

    assert native.works
    assert [check.status for check in native.checks] == [Status.OK] * len(native.checks)


def test_the_process_engine_needs_a_data_folder_and_loopback_only(webserv_home):
    process = host.probe_process()

    assert process.works
    assert "data, not privileges" in process.reason
    assert [check.name for check in process.checks] == ["data folder", "loopback"]


def test_probes_leave_nothing_in_the_data_folder(webserv_home):
    host.choose_engine()

    assert list(webserv_home.iterdir()) == []


def test_a_data_folder_that_is_a_file_is_named_with_what_mends_it(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("WEBSERV_HOME", str(file))

    check = host.check_data_folder()

    assert check.status is Status.MISSING
    assert str(file) in check.found
    assert "WEBSERV_HOME" in check.mend


def test_the_first_missing_thing_is_the_reason(monkeypatch):
    monkeypatch.setattr(host, "check_privileges", lambda: FINE)
    monkeypatch.setattr(host, "check_programs", lambda: MISSING)
    monkeypatch.setattr(host, "check_namespaces", lambda: pytest.fail("not asked after a lack"))

    assert host.probe_native() == Capability("native", False, "a thing: not there", (FINE, MISSING))


def test_native_is_chosen_where_it_works(monkeypatch):
    monkeypatch.setattr(host, "probe_native", lambda: Capability("native", True, "works", ()))

    assert host.choose_engine().engine == "native"


def test_process_is_chosen_otherwise_and_says_why(monkeypatch):
    monkeypatch.setattr(host, "probe_native", lambda: Capability("native", False, "not root", (MISSING,)))

    chosen = host.choose_engine()

    assert (chosen.engine, chosen.works) == ("process", True)
    assert chosen.reason.startswith("native cannot be used (not root)")


def test_no_engine_is_chosen_where_none_works(monkeypatch):
    monkeypatch.setattr(host, "probe_native", lambda: Capability("native", False, "not root", (MISSING,)))
    monkeypatch.setattr(host, "probe_process", lambda: Capability("process", False, "no disk", (MISSING,)))

    chosen = host.choose_engine()

    assert not chosen.works
    assert chosen.reason == "no disk; native: not root"


def test_a_user_is_told_to_become_root(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    check = host.check_privileges()

    assert check.status is Status.MISSING
    assert check.mend == "run as root (sudo)" or "Linux" in check.found


def test_a_root_without_capabilities_is_told_which(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(host.sys, "platform", "linux")
    monkeypatch.setattr(host, "_effective_capabilities", lambda: (1 << 41) - 1 & ~(1 << 21))

    assert host.check_privileges().found == "root without CAP_SYS_ADMIN"


def test_an_overlay_data_folder_goes_by_a_loop_file(monkeypatch, webserv_home):
    monkeypatch.setattr(host, "_try_overlay", _refuse)
    monkeypatch.setattr(host, "_try_overlay_on_tmpfs", lambda: None)
    monkeypatch.setattr(host, "can_loop", lambda: True)

    assert host.check_overlay().found == "work on a loop-mounted file system"


def test_an_overlay_data_folder_without_loop_devices_says_what_to_set(monkeypatch, webserv_home):
    monkeypatch.setattr(host, "_try_overlay", _refuse)
    monkeypatch.setattr(host, "_try_overlay_on_tmpfs", lambda: None)
    monkeypatch.setattr(host, "can_loop", lambda: False)

    check = host.check_overlay()

    assert check.status is Status.MISSING
    assert "Invalid argument" in check.found
    assert "WEBSERV_HOME" in check.mend


@pytest.mark.root
def test_mounts_of_a_probe_are_seen_by_nobody_and_gone_with_its_thread(tmp_path):
    seen_outside = []

    def attempt() -> bool:
        namespaces.unshare(namespaces.CLONE_NEWNS)
        mounts.mount("none", "/", "none", mounts.MS_REC | mounts.MS_PRIVATE)
        mounts.mount("tmpfs", str(tmp_path), "tmpfs")
        (tmp_path / "inside").touch()
        watcher = Path(f"/proc/{os.getpid()}/mounts").read_text()
        seen_outside.append(str(tmp_path) in watcher)
        return (tmp_path / "inside").exists()

    assert host.in_own_thread(attempt)
    assert seen_outside == [False]
    assert not (tmp_path / "inside").exists()
    assert not mounts.is_mounted(tmp_path)


def test_a_probe_runs_in_another_thread_and_its_error_comes_back():
    def attempt() -> None:
        raise OSError(errno.EPERM, "no", threading.current_thread().name)

    with pytest.raises(OSError, match="webserv-probe"):
        host.in_own_thread(attempt)


@pytest.mark.parametrize(
    ("exc", "words"),
    [
        (OSError(errno.EPERM, "unshare(0x6c020000): Operation not permitted"), "Operation not permitted"),
        (OSError(errno.ENOENT, "x", "/no/where"), "No such file or directory (/no/where)"),
        (RuntimeError("two\nlines"), "two lines"),
    ],
)
def test_words_are_the_hosts_own_in_one_line(exc, words):
    assert host.words(exc) == words


def _refuse(folder: Path) -> None:
    raise OSError(errno.EINVAL, "mount overlay")
