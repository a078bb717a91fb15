from __future__ import annotations

import os
import resource
import socket
import sys
from pathlib import Path

import pytest

from webserv.server import doctor, trials
from webserv.server._linux import cgroups
from webserv.server.host import Status


def test_every_check_says_what_a_lack_costs(webserv_home):
    checks = doctor.run_checks()

    names = [check.name for check in checks]
    assert len(names) == len(set(names))
    for check in checks:
        assert check.found, check.name
        assert (check.status is Status.OK) == (check.costs == ""), check


@pytest.mark.root
def test_the_checks_leave_nothing_behind(webserv_home):
    doctor.run_checks()

    assert list(webserv_home.iterdir()) == []
    assert str(webserv_home) not in Path("/proc/self/mounts").read_text()
    assert not any(name.startswith("doctor-") for name in cgroups.list_owners())


@pytest.mark.skipif(sys.platform != "linux", reason="Linux only")
def test_every_mechanism_of_the_issue_is_checked(webserv_home):
    names = {check.name for check in doctor.run_checks()}

    assert names >= {"namespaces", "overlay mounts", "reflink copies", "cgroup limits", "OCI runtime"}


def test_a_host_without_cgroups_is_told_what_it_costs(monkeypatch, tmp_path):
    monkeypatch.setattr(cgroups, "find_hierarchies", lambda: cgroups.Hierarchies(0, (), ()))

    check = doctor.check_cgroups()

    assert check.status is Status.DEGRADED
    assert "all memory" in check.costs


def test_both_modules_of_the_loop_pool_are_to_be_loaded(monkeypatch, webserv_home):
    def refuse(folder):
        raise OSError("no loop device")

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(doctor.shutil, "which", lambda program, path: f"/sbin/{program}")
    monkeypatch.setattr(trials, "try_loop_pool", refuse)

    # Without -a modprobe(8) takes the second name for a parameter of the first module.
    assert doctor.check_loop_pool().mend.startswith("modprobe -a loop xfs ")


def test_a_missing_controller_is_named(monkeypatch):
    found = cgroups.Hierarchies(2, (), ("pids",))
    monkeypatch.setattr(cgroups, "find_hierarchies", lambda: found)
    monkeypatch.setattr(trials, "try_membership", lambda group: None)

    assert doctor.check_cgroups().found == "v2 without cpu, memory"


def test_a_runtime_that_refuses_is_quoted(monkeypatch, tmp_path):
    _program(tmp_path / "crun", "echo 'cgroups in hybrid mode not supported' >&2; exit 1")
    monkeypatch.setattr(trials, "PATH", f"{tmp_path}:/bin")
    monkeypatch.setattr(doctor.shutil, "which", lambda name, path=None: _in(tmp_path, name))
    monkeypatch.setattr(os, "geteuid", lambda: 0)

    check = doctor.check_oci_runtime()

    assert check.status is Status.MISSING
    assert check.found == "crun: cgroups in hybrid mode not supported"
    assert "runc" in check.mend
    assert not check.needed


def test_no_runtime_is_no_defect_and_has_a_mend(monkeypatch):
    monkeypatch.setattr(doctor.shutil, "which", lambda name, path=None: None)

    check = doctor.check_oci_runtime()

    assert (check.status, check.needed) == (Status.MISSING, False)
    assert check.found == "neither runc nor crun"
    assert "runc" in check.mend


def test_a_low_limit_of_open_files_is_told_with_the_command(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda which: (256, resource.RLIM_INFINITY))

    check = doctor.check_open_files()

    assert check.status is Status.DEGRADED
    assert check.found == "256 (at most any number)"
    assert check.mend == "ulimit -n 65536"


def test_little_memory_and_disk_are_told(monkeypatch, webserv_home):
    monkeypatch.setattr(doctor, "available_bytes", lambda: 2**30)
    monkeypatch.setattr(
        doctor.shutil, "disk_usage", lambda folder: doctor.shutil._ntuple_diskusage(10, 9, 2**30)
    )

    assert doctor.check_memory().found == "1.0 GiB available"
    assert doctor.check_memory().status is Status.DEGRADED
    assert doctor.check_disk().status is Status.DEGRADED


def test_a_stale_socket_is_told_apart_from_a_living_one(tmp_path):
    living = socket.socket(socket.AF_UNIX)
    living.bind(str(tmp_path / "living"))
    living.listen()
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(tmp_path / "stale"))
    stale.close()

    with living:
        assert doctor._check_socket("Docker", [str(tmp_path / "living")], "docker").status is Status.OK
    check = doctor._check_socket("Docker", [str(tmp_path / "none"), str(tmp_path / "stale")], "docker")
    assert check.status is Status.MISSING
    assert "Connection refused" in check.found


def _program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def _in(folder: Path, name: str) -> str | None:
    return str(folder / name) if (folder / name).exists() else None
