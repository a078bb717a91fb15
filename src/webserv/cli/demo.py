"""`webserv demo`: 32 scripted rollouts on 32 copies of the shop at once, then 32 random ones."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import click
from rich.table import Table

from webserv.browser.options import BrowserOptions
from webserv.cli.rollouts import Host, Patience, Rollouts, Stopwatch, conclude, data_console
from webserv.env_host import EnvHost
from webserv.rollout.episode import EpisodeOptions
from webserv.rollout.policies.load import load_policy
from webserv.rollout.runner import RunOptions, assign
from webserv.rollout.store import RunStore
from webserv.rollout.summary import NOT_COUNTED, Summary
from webserv.server.site import StartModeName
from webserv.tasks.registry import load_benchmark
from webserv.viewer import figures

_BENCHMARK = "shop"
_RANDOM_STEPS = 8
"""Budget of a random episode: enough to show that chance solves nothing, without making the demo twice as long."""


@dataclass(frozen=True, slots=True)
class _Part:
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
@click.option("--engine", default="auto", show_default=True, help="auto, native or process.")
@click.option("--start-mode", type=click.Choice(["zygote", "boot"]), help="Default: the site's fastest.")
@click.option(
    "--screenshots/--no-screenshots", default=True, show_default=True, help="Keep a picture per step."
)
def command(
    workers: int,
    rollouts: int,
    out: Path | None,
    engine: str,
    start_mode: StartModeName | None,
    screenshots: bool,
) -> int:
    """Run scripted and random rollouts on isolated copies of a real web shop, all at once.

    The scripted policy follows each task's reference solution and should solve all; chance should solve next to none.
    """
    root = out or Path("runs") / f"{datetime.now().astimezone():%Y%m%d-%H%M%S}-demo"

    def open_host(say: Callable[[str], None]) -> AbstractAsyncContextManager[Host]:
        return EnvHost(
            sites=(_BENCHMARK,),
            engine=engine,
            start_mode=start_mode,
            max_worlds=workers + max(2, workers // 4),
            browser=BrowserOptions(screenshots=screenshots, settle=Patience(workers).settle),
            progress=say,
        )

    parts = []
    for policy in ("scripted", "random"):
        try:
            parts.append(_play(policy, root / policy, workers, rollouts, open_host, screenshots))
        except KeyboardInterrupt:
            click.echo(f"Interrupted. What had finished is in {root / policy}.", err=True)
            return 128 + signal.SIGINT
    _tell(parts)
    return 0


def _play(
    policy: str,
    root: Path,
    workers: int,
    rollouts: int,
    open_host: Callable[[Callable[[str], None]], AbstractAsyncContextManager[Host]],
    screenshots: bool,
) -> _Part:
    tasks = load_benchmark(_BENCHMARK).select(limit=rollouts)
    if policy == "random":
        tasks = tuple(replace(task, max_steps=min(task.max_steps, _RANDOM_STEPS)) for task in tasks)
    assignments = assign(tasks, repeat=-(-rollouts // max(1, len(tasks))))[:rollouts]
    watch = Stopwatch()
    with RunStore.create(
        root, {"benchmark": _BENCHMARK, "policy": policy, "limit": rollouts, "seed": 0}
    ) as store:
        work = Rollouts(
            title=f"{_BENCHMARK} · {policy}",
            assignments=assignments,
            make_policy=load_policy(policy),
            run=RunOptions(workers=workers),
            env=Patience(workers).env,
            episodes=EpisodeOptions(
                deadlines=Patience(workers).deadlines(episode_s=None),
                policy_name=policy,
                keep_screenshot=store.blobs.put if screenshots else None,
            ),
        )
        try:
            asyncio.run(work.into(store, open_host))
        finally:
            wall = watch.seconds
            results = conclude(store, wall_s=wall, planned=len(assignments))
    return _Part(
        policy,
        results.summary,
        results.report,
        at_once=work.progress.most_standing,
        standing_after_s=work.progress.most_standing_after_s,
        wall_s=wall,
    )


def _tell(parts: list[_Part]) -> None:
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
            figures.percent(total.success),
            str(part.at_once),
            figures.count(part.summary.steps / part.wall_s),
            figures.seconds(part.wall_s),
        )
    console.print(table)
    most = max(parts, key=lambda part: part.at_once)
    if most.at_once:
        console.print(
            f"{most.at_once} isolated copies of the {_BENCHMARK} stood at once, each in use by a browser of its own, "
            f"{figures.seconds(most.standing_after_s)} after the first reset began: "
            f"{figures.seconds(most.standing_after_s / most.at_once)} per reset, first observation included.",
            soft_wrap=True,
        )
    unscored = sum(part.summary.total.unscored for part in parts)
    if unscored:
        console.print(f"{unscored} without a reward. {NOT_COUNTED}", soft_wrap=True)
    for part in parts:
        console.print(f"report of {part.policy}: {part.report.resolve()}", soft_wrap=True)
