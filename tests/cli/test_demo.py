"""`webserv demo` with a host of fakes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

import pytest

from webserv.cli import demo, rollouts
from webserv.cli.main import _run
from webserv.rollout.store import iterate_records, read_digests
from webserv.tasks.benchmark import Benchmark
from webserv.testing.fake_env import FakeHost, fake_task


def reference(task, observation):
    yield "next()"
    yield "next()"
    yield "terminate()"


def giving_up(task, observation):
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
        try:
            yield host
        finally:
            host.opened_with.append("closed")

    monkeypatch.setattr(rollouts, "EnvHost", open_host)
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


def test_a_demo_in_which_a_reference_solution_fails_says_so_and_fails(host, monkeypatch, capsys):
    tasks = [
        fake_task(0, reference=reference),
        fake_task(1, reference=giving_up),
    ]
    monkeypatch.setattr(demo, "load_benchmark", lambda name: Benchmark("shop", "", ("fake",), tasks))
    assert _run(["demo", "--workers", "2", "--rollouts", "2", "--out", "out"]) == 1
    said = capsys.readouterr()
    assert "The demo failed: the scripted policy solved 1 of 2 rollouts, not all." in said.err
    assert "report of random" in said.out


def test_a_demo_with_an_episode_without_a_reward_says_so_and_fails(host, capsys):
    host._left = iter([None] * 3 + ["evaluator"])
    assert _run(["demo", "--workers", "1", "--rollouts", "3", "--out", "out"]) == 1
    assert "The demo failed: 1 rollouts had no reward." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "code", "word"), [(signal.SIGINT, 130, "Interrupted"), (signal.SIGTERM, 143, "Terminated")]
)
def test_a_signal_ends_the_demo_cleanly(host, capsys, number, code, word):
    async def before_step():
        signal.raise_signal(number)

    host.before_step = before_step
    assert _run(["demo", "--workers", "2", "--rollouts", "2", "--out", "out"]) == code
    assert f"{word}. What had finished is in out." in capsys.readouterr().err
    assert host.opened == 0
    assert host.opened_with[-1] == "closed"


@pytest.mark.slow
@pytest.mark.shop
@pytest.mark.browser
@pytest.mark.root
def test_the_demo_runs_on_real_worlds_and_leaves_its_reports(shop_snapshot, tmp_path):
    command = [sys.executable, "-m", "webserv", "demo", "--workers", "3", "--rollouts", "3", "--out", "out"]
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(
        [*command, "--engine", "native"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    head, scripted, random, *rest = (line.split() for line in done.stdout.splitlines())
    assert head[:3] == ["policy", "rollouts", "success"]
    assert scripted[:5] == ["scripted", "3", "100", "%", "3"]
    assert random[:2] == ["random", "3"]
    assert rest[0][:6] == ["3", "isolated", "copies", "of", "the", "shop"]
    for policy in ("scripted", "random"):
        records = list(iterate_records(tmp_path / "out" / policy))
        assert [type(record.reward) for record in records] == [float] * 3
        assert len({record.world for record in records}) == 3
        report = tmp_path / "out" / policy / "report/index.html"
        assert f"report of {policy}: {report}" in done.stdout
        page = report.read_text(encoding="utf-8")
        assert all(record.task_id in page for record in records)
