"""The displays of a run under way."""

import io

from rich.console import Console

from webserv.cli.live import LiveDisplay, clock, open_display
from webserv.rollout.digest import digest_of
from webserv.rollout.episode import Assignment, run_episode
from webserv.rollout.runner import Running, RunProgress
from webserv.server.pool import PoolStatistics
from webserv.testing.fake_env import FakeHost, FakePolicies, fake_task


async def digest(fault=None):
    return digest_of(
        await run_episode(FakeHost(faults=[fault]).make_env(), FakePolicies(), Assignment(fake_task()))
    )


def drawn(display):
    console = Console(file=io.StringIO(), width=140, force_terminal=False)
    console.print(display)
    return console.file.getvalue()


async def test_the_live_table_shows_counts_failures_worlds_and_who_is_at_what():
    progress = RunProgress(total=9, finished=2, steps=6, retried=1)
    progress.running = {n: Running(f"fake/walk-v1:{n}#0", attempt=1, steps=n) for n in range(10)}
    progress.running[0] = Running("fake/[bold]#0", attempt=2, steps=3, last_action='click("[/]")\n')
    pool = PoolStatistics(4, 2, 0, 0, 9, 9, 0)
    display = LiveDisplay("shop · random", progress, lambda: pool)
    display.finished(await digest())
    display.finished(await digest("step"))
    text = drawn(display)
    assert "2/9" in text
    assert "solved 1/1 (100%)" in text
    assert "no reward: 1 env" in text
    assert "1 retried" in text
    assert "worlds: 4 in use, 2 ready" in text
    assert "fake/[bold]#0 (attempt 2)" in text
    assert 'click("[/]")' in text
    assert "and 2 more" in text


def test_the_live_table_is_drawn_before_anything_has_happened():
    display = LiveDisplay("shop", RunProgress(), lambda: None)
    display.say("starting shop")
    assert "starting shop" in drawn(display)


async def test_where_there_is_no_terminal_each_episode_is_one_plain_line(capsys):
    progress = RunProgress(total=10, finished=1)
    with open_display("shop", progress, lambda: None) as display:
        display.say("starting shop")
        display.finished(await digest())
        display.finished(await digest("step"))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "starting shop"
    assert lines[1].startswith("[ 1/10] solved       fake/walk-v1:0#0  3 steps, ")
    assert lines[2].endswith(": The fake world died.")
    assert not any("\x1b" in line for line in lines)


def test_durations():
    assert [clock(seconds) for seconds in (0, 59.9, 61, 3725)] == ["0:00", "0:59", "1:01", "1:02:05"]
