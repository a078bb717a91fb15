"""`webserv demo` with a host of fakes."""

from __future__ import annotations

import contextlib

import pytest

from webserv.cli import demo
from webserv.cli.main import _run
from webserv.rollout.store import read_digests
from webserv.tasks.benchmark import Benchmark
from webserv.testing.fake_env import FakeHost, fake_task


def reference(task, observation):
    yield "next()"
    yield "next()"
    yield "terminate()"


@pytest.fixture
def host(monkeypatch, tmp_path):
    host = FakeHost()
    tasks = tuple(fake_task(number, reference=reference) for number in range(5))
    monkeypatch.setattr(demo, "load_benchmark", lambda name: Benchmark("shop", "", ("fake",), tasks))
    host.opened_with = []

    @contextlib.asynccontextmanager
    async def open_host(**options):
        host.opened_with.append(options)
        yield host
        host.opened_with.append("closed")

    monkeypatch.setattr(demo, "EnvHost", open_host)
    monkeypatch.chdir(tmp_path)
    return host


def test_scripted_rollouts_solve_all_and_random_ones_nothing_on_one_host(host, tmp_path, capsys):
    assert _run(["demo", "--workers", "8", "--rollouts", "8", "--out", "out"]) == 0
    said = capsys.readouterr()
    lines = [line.split() for line in said.out.splitlines()]
    assert lines[1][:5] == ["scripted", "8", "100", "%", "8"]
    assert lines[2][:4] == ["random", "8", "0", "%"]
    assert "8 isolated copies of the shop stood at once" in said.out
    assert f"report of scripted: {tmp_path / 'out/scripted/report/index.html'}" in said.out
    assert "[8/8] solved" in said.err
    assert [type(one) for one in host.opened_with] == [dict, str]
    # Five tasks make eight rollouts by running three of them twice.
    digests = read_digests(tmp_path / "out/scripted")
    assert len(digests) == 8
    assert host.most == 8


def test_no_copy_acts_before_all_stand_and_a_failed_reset_holds_up_nobody(host, capsys):
    host._left = iter(["reset"])
    assert _run(["demo", "--workers", "5", "--rollouts", "5", "--out", "out"]) == 0
    assert "retried 1" in capsys.readouterr().err


def test_a_folder_that_holds_a_demo_is_refused_in_one_line(host, tmp_path, capsys):
    assert _run(["demo", "--workers", "2", "--rollouts", "2", "--out", "out"]) == 0
    capsys.readouterr()
    assert _run(["demo", "--workers", "2", "--rollouts", "2", "--out", "out"]) == 1
    assert "already holds a run" in capsys.readouterr().err
