"""`webserv demo`: 32 scripted rollouts on 32 copies of the shop at once, then 32 random ones."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from webserv.cli.rollouts import (
    STOPPED,
    Host,
    HostOpener,
    Patience,
    Results,
    Rollouts,
    Stopwatch,
    concluding,
    data_console,
    exit_code_of,
    host_options,
    make_host,
    terminable,
)
from webserv.errors import UserError
from webserv.rollout.episode import Assignment, EpisodeOptions
from webserv.rollout.policies.interface import Policy, PolicyFactory, PolicyOutput
from webserv.rollout.policies.load import load_policy
from webserv.rollout.runner import RunOptions, RunProgress, assign
from webserv.rollout.store import RunStore
from webserv.rollout.summary import NOT_COUNTED, Summary
from webserv.server.site import StartModeName
from webserv.tasks.registry import load_benchmark
from webserv.tasks.task import Task
from webserv.types import Observation
from webserv.viewer import figures

BENCHMARK = "shop"
RANDOM_STEPS = 6
"""Budget of a random episode: enough to show that chance solves nothing, without making the demo twice as long."""


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What `webserv demo` can be told; see its help."""

    root: Path
    workers: int = 32
    rollouts: int = 32
    engine: str = "auto"
    start_mode: StartModeName | None = None
    screenshots: bool = True


@dataclass(frozen=True, slots=True)
class Part:
    """One half of the demo."""

    policy: str
    summary: Summary
    report: Path
    at_once: int
    standing_after_s: float
    """When so many stood, from the first reset on."""
    wall_s: float


@click.command("demo")
@click.option("--workers", type=click.IntRange(1), default=32, show_default=True, help="Rollouts at once.")
@click.option("--rollouts", type=click.IntRange(1), default=32, show_default=True, help="Per policy.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the runs; default runs/TIME-demo.")
@host_options
def command(out: Path | None, **given: Any) -> int:
    """Run scripted and random rollouts on isolated copies of a real web shop, all at once.

    The scripted policy follows each task's reference solution and should solve all; chance should solve next to none.
    """
    root = out or Path("runs") / f"{datetime.now().astimezone():%Y%m%d-%H%M%S}-demo"
    options = DemoOptions(root, **given)
    try:
        parts = asyncio.run(play(options))
    except STOPPED as stop:
        return exit_code_of(stop, hint=f"What had finished is in {root}.")
    tell(parts)
    check(parts)
    return 0


async def play(options: DemoOptions) -> list[Part]:
    """Plays both halves on one host; the first is that of the scripted policy.

    Raises:
        UserError: The shop is not built, or the folder is taken.
    """
    tasks = load_benchmark(BENCHMARK).select(limit=options.rollouts)
    repeat = -(-options.rollouts // max(1, len(tasks)))
    short = [replace(task, max_steps=min(task.max_steps, RANDOM_STEPS)) for task in tasks]
    async with contextlib.AsyncExitStack() as stack:
        stack.enter_context(terminable())
        host: Host | None = None

        @contextlib.asynccontextmanager
        async def open_host(say: Callable[[str], None]) -> AsyncIterator[Host]:
            # Opened by the first half, so that its display shows the start; closed after the second.
            nonlocal host
            if host is None:
                host = await stack.enter_async_context(make_host((BENCHMARK,), options, say))
            yield host

        scripted = assign(tasks, repeat=repeat)[: options.rollouts]
        parts = [await _half("scripted", scripted, options, open_host)]
        random = assign(short, repeat=repeat)[: options.rollouts]
        parts.append(await _half("random", random, options, open_host))
    return parts


async def _half(
    policy: str,
    assignments: list[Assignment],
    options: DemoOptions,
    open_host: HostOpener,
) -> Part:
    root, patience, progress = options.root / policy, Patience(options.workers), RunProgress()
    config = {"benchmark": BENCHMARK, "policy": policy, "limit": options.rollouts, "seed": 0}
    # All start together, so that every copy has been seen to stand beside all others.
    line = StartingLine(load_policy(policy), progress, min(options.workers, len(assignments)))
    with RunStore.create(root, config) as store:
        work = Rollouts(
            title=f"{BENCHMARK} · {policy}",
            assignments=assignments,
            make_policy=line,
            run=RunOptions(workers=options.workers),
            episodes=EpisodeOptions(
                deadlines=patience.deadlines(episode_s=None),
                policy_name=policy,
                keep_screenshot=store.blobs.put if options.screenshots else None,
                on_reset=line.check,
            ),
            env=patience.env,
            progress=progress,
        )
        watch, told = Stopwatch(), list[Results]()
        with concluding(store, planned=len(assignments), tell=told.append):
            await work.into(store, open_host)
            wall = watch.seconds
    return Part(
        policy,
        told[0].summary,
        told[0].report,
        at_once=progress.most_standing,
        standing_after_s=progress.most_standing_after_s,
        wall_s=wall,
    )


class StartingLine:
    """Makes policies that act only once so many worlds stand, or one of them has failed to.

    Args:
        make_policy: Makes the policies that act then.
        progress: The run's figures.
        count: How many worlds must stand.
    """

    def __init__(self, make_policy: PolicyFactory, progress: RunProgress, count: int) -> None:
        self._make_policy = make_policy
        self._progress = progress
        self._count = count
        self._open = asyncio.Event()

    def check(self) -> None:
        """Lets all go when the count is reached, or when an episode is over already and it never will be."""
        if self._progress.most_standing >= self._count or self._progress.finished or self._progress.retried:
            self._open.set()

    def __call__(self, task: Task, *, seed: int) -> Policy:
        """A policy for one episode."""
        self.check()
        return _Waiting(self._make_policy(task, seed=seed), self._open)


class _Waiting:
    """A policy behind the starting line; the wait counts as queueing."""

    def __init__(self, policy: Policy, opened: asyncio.Event) -> None:
        self._policy = policy
        self._opened = opened

    async def act(self, observation: Observation) -> PolicyOutput:
        """The policy's action, once the line is open."""
        watch = Stopwatch()
        await self._opened.wait()
        queued = watch.seconds
        output = await self._policy.act(observation)
        return replace(output, extra={**output.extra, "queued_s": queued + output.extra.get("queued_s", 0.0)})

    async def close(self) -> None:
        """Closes the policy."""
        await self._policy.close()


def tell(parts: list[Part]) -> None:
    """Prints what came of it on stdout."""
    console = data_console()
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    table.add_column("policy")
    for name in ("rollouts", "success", "copies at once", "steps/s", "wall time"):
        table.add_column(name, justify="right")
    for part in parts:
        total = part.summary.total
        table.add_row(
            part.policy,
            str(total.episodes),
            figures.plain(figures.percent(total.success)),
            str(part.at_once),
            figures.plain(figures.count(part.summary.steps / part.wall_s)),
            figures.plain(figures.seconds(part.wall_s)),
        )
    console.print(table)
    most = max(parts, key=lambda part: part.at_once)
    if most.at_once:
        after, each = (
            figures.seconds(time) for time in (most.standing_after_s, most.standing_after_s / most.at_once)
        )
        line = (
            f"{most.at_once} isolated copies of the {BENCHMARK} stood at once, each in use by a browser of its own, "
            f"{after} after the first reset began: {each} per reset, first observation included."
        )
        console.print(figures.plain(line), soft_wrap=True)
    unscored = sum(part.summary.total.unscored for part in parts)
    if unscored:
        console.print(f"{unscored} without a reward. {NOT_COUNTED}", soft_wrap=True)
    for part in parts:
        console.print(f"report of {part.policy}: {part.report.resolve()}", soft_wrap=True)


def check(parts: list[Part]) -> None:
    """Raises `UserError` unless all reference solutions solved their tasks and every episode has a reward."""
    wrong = []
    scripted = parts[0].summary.total
    if scripted.solved < scripted.episodes:
        wrong.append(
            f"the {parts[0].policy} policy solved {scripted.solved} of {scripted.episodes} rollouts, not all"
        )
    if unscored := sum(part.summary.total.unscored for part in parts):
        wrong.append(f"{unscored} rollouts had no reward")
    if wrong:
        raise UserError(
            f"The demo failed: {' and '.join(wrong)}.",
            hint="The reports say why. `webserv doctor` checks this host; a smaller --workers asks less of it.",
        )
