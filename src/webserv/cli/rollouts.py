"""Running many episodes into a run folder with a display: what `eval` and `demo` share."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import click
from rich.console import Console
from rich.table import Table

from webserv.browser.options import BrowserOptions, SettleOptions
from webserv.cli.live import Display, open_display
from webserv.cli.signals import Terminated, heeded, leave_terminal
from webserv.env import EnvOptions
from webserv.env_host import EnvHost
from webserv.rollout.digest import digest_of
from webserv.rollout.episode import Assignment, Deadlines, EpisodeOptions, RolloutEnv
from webserv.rollout.policies.interface import PolicyFactory
from webserv.rollout.record import EpisodeRecord
from webserv.rollout.runner import RunOptions, RunProgress, run_many
from webserv.rollout.store import RunStore, continued, write_json
from webserv.rollout.summary import NOT_COUNTED, Groups, Row, Summary, summarise
from webserv.server.site import StartModeName
from webserv.viewer import figures
from webserv.viewer.report import write_report


class Host(Protocol):
    """What rollouts need of `webserv.env_host.EnvHost`."""

    def make_env(self, options: EnvOptions | None = None) -> RolloutEnv:
        """A new environment."""
        ...


@dataclass(frozen=True, slots=True)
class Patience:
    """Limits on wall time that suit so many episodes at once.

    With more pages at work than cores each takes its share longer; a limit for a machine at leisure would then end
    waits before the page is there.

    Args:
        workers: Episodes at once.
    """

    workers: int

    @property
    def factor(self) -> float:
        """What the limits of a machine at leisure are multiplied by."""
        return max(1.0, self.workers / (4 * (os.cpu_count() or 1)))

    @property
    def settle(self) -> SettleOptions:
        """How long a page may take to come to rest."""
        options = SettleOptions()
        return replace(options, cap_s=options.cap_s * self.factor)

    @property
    def env(self) -> EnvOptions:
        """How long the parts of an episode may take."""
        options = EnvOptions()
        return replace(
            options,
            start_timeout_s=options.start_timeout_s * self.factor,
            step_timeout_s=options.step_timeout_s * self.factor,
            evaluate_timeout_s=options.evaluate_timeout_s * self.factor,
        )

    def deadlines(self, *, episode_s: float | None) -> Deadlines:
        """The same for the rollouts; beyond the env's own, so that its message is the one that is seen."""
        deadlines = Deadlines(episode_s=episode_s)
        return replace(
            deadlines, reset_s=300.0 * self.factor, step_s=(deadlines.step_s or 0.0) * self.factor + 10.0
        )


Command = Callable[..., Any]
"""A command's function, while options are still being added to it."""


class HostOptions(Protocol):
    """Options that every command with rollouts has."""

    @property
    def workers(self) -> int:
        """Episodes at once."""

    @property
    def engine(self) -> str:
        """Name of the engine."""

    @property
    def start_mode(self) -> StartModeName | None:
        """None takes each site's fastest."""

    @property
    def screenshots(self) -> bool:
        """Whether observations carry pictures."""


def host_options(command: Command) -> Command:
    """Adds the command line's options of a host, `HostOptions` without the workers."""
    for option in (
        click.option(
            "--screenshots/--no-screenshots", default=True, show_default=True, help="Keep a picture per step."
        ),
        click.option(
            "--start-mode", type=click.Choice(["zygote", "boot"]), help="Default: the site's fastest."
        ),
        click.option("--engine", default="auto", show_default=True, help="auto, native or process."),
    ):
        command = option(command)
    return command


def make_host(
    sites: Sequence[str], options: HostOptions, say: Callable[[str], None]
) -> AbstractAsyncContextManager[Host]:
    """A host for so many workers; opened by entering it, which says in lines what it is at."""
    # A few worlds beyond those in use stand ready, so that a reset is a swap.
    spare = max(2, options.workers // 4)
    return EnvHost(
        sites=sites,
        engine=options.engine,
        start_mode=options.start_mode,
        max_worlds=options.workers + spare,
        warm=spare,
        browser=BrowserOptions(screenshots=options.screenshots, settle=Patience(options.workers).settle),
        progress=say,
    )


HostOpener = Callable[[Callable[[str], None]], AbstractAsyncContextManager[Host]]
"""Opens a host; is given where to say what it is at."""


@dataclass
class Rollouts:
    """Episodes to be run into a store."""

    title: str
    assignments: Sequence[Assignment]
    make_policy: PolicyFactory
    run: RunOptions = field(default_factory=RunOptions)
    episodes: EpisodeOptions = field(default_factory=EpisodeOptions)
    progress: RunProgress = field(default_factory=RunProgress)
    env: EnvOptions = field(default_factory=EnvOptions)
    host: Host | None = None

    async def into(self, store: RunStore, open_host: HostOpener) -> None:
        """Runs what has no reward in the store yet; each record is stored before the next is waited for.

        A cancel (see `terminable`) ends what runs; every world is given back, and what is finished stays.

        Raises:
            UserError: As `run_many`.
        """
        earlier = store.digests()
        todo = [one for one in self.assignments if one.key not in earlier or earlier[one.key].reward is None]
        with open_display(self.title, self.progress, self._pool_statistics) as display:
            if len(todo) < len(self.assignments):
                display.say(
                    f"{len(self.assignments) - len(todo)} of {len(self.assignments)} are finished already"
                )
            if not todo:
                return
            async with open_host(display.say) as host:
                self.host = host
                await self._run(todo, host, store, display)

    async def _run(self, todo: list[Assignment], host: Host, store: RunStore, display: Display) -> None:
        earlier = store.digests()
        unstored: dict[str, EpisodeRecord] = {}

        def keep(record: EpisodeRecord) -> None:
            unstored[record.key] = continued(record, earlier.get(record.key))

        def write(key: str) -> None:
            # Whoever takes a record out writes it: a cancelled wait for the thread does not write it twice.
            record = unstored.pop(key, None)
            if record is not None:
                store.add(record)

        stream = run_many(
            todo,
            make_env=lambda: host.make_env(self.env),
            make_policy=self.make_policy,
            options=self.run,
            episode_options=self.episodes,
            progress=self.progress,
            on_record=keep,
        )
        try:
            async with contextlib.aclosing(stream):
                async for record in stream:
                    # Waiting for the disk must not stop the other episodes.
                    await asyncio.to_thread(write, record.key)
                    display.finished(digest_of(record))
        finally:
            for key in list(unstored):
                write(key)

    def _pool_statistics(self) -> Any:
        pool = getattr(self.host, "pool", None)
        return pool.statistics() if pool is not None else None


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP end the running task as Ctrl-C does, so that worlds are given back.

    Raises:
        Terminated: One of them came, and the task has cleaned up.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    came: list[int] = []

    def end(number: int) -> None:
        leave_terminal(number)
        if not came:  # a closed terminal may say so twice, which must not end the clean-up
            task.cancel()
        came.append(number)

    numbers = heeded()
    for number in numbers:
        loop.add_signal_handler(number, end, number)
    try:
        yield
    except asyncio.CancelledError:
        if came:
            raise Terminated(came[0]) from None
        raise
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


STOPPED = (KeyboardInterrupt, asyncio.CancelledError, Terminated)
"""What leaves `asyncio.run` after Ctrl-C and, where the task was `terminable`, after SIGTERM and SIGHUP."""


def exit_code_of(stop: BaseException, *, hint: str) -> int:
    """Says which signal stopped a run, and gives the exit code that shells give for it.

    Args:
        stop: One of `STOPPED`.
        hint: What the user should know or do now.
    """
    by_hand = isinstance(stop, KeyboardInterrupt)
    click.echo(f"{'Interrupted' if by_hand else 'Terminated'}. {hint}", err=True)
    if isinstance(stop, Terminated):
        return stop.exit_code
    return 128 + (signal.SIGINT if by_hand else signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Results:
    """What a run left."""

    summary: Summary
    report: Path


def conclude(store: RunStore, *, wall_s: float | None = None, planned: int | None = None) -> Results:
    """Writes the summary and the report of what is stored.

    Raises:
        HostRefused: The disk is full or the folder cannot be written.
    """
    summary = summarise(store.digests().values(), wall_s=wall_s, planned=planned)
    write_json(store.root / "summary.json", summary.to_json())
    return Results(summary, write_report(store.root, summary))


@contextlib.contextmanager
def concluding(store: RunStore, *, planned: int, tell: Callable[[Results], None]) -> Iterator[None]:
    """Sums up what is stored when the block has ended, however it ended.

    A new run that an error ends before its first record is withdrawn instead: the folder is free for the right command.

    Args:
        store: The run.
        planned: Episodes that the run is to have.
        tell: Is given the results.

    Raises:
        HostRefused: As `conclude`.
    """
    watch, withdrawn = Stopwatch(), False
    try:
        yield
    except Exception:
        withdrawn = store.withdraw()
        raise
    finally:
        if not withdrawn:
            tell(conclude(store, wall_s=watch.seconds, planned=planned))


def print_summary(summary: Summary, *, console: Console | None = None) -> None:
    """Prints the figures by template and tag on stdout, and what they leave out."""
    console = console or data_console()
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    table.add_column("template")
    for name in ("success", "solved", "no reward", "reward", "steps", "time"):
        table.add_column(name, justify="right")
    for row in summary.by_template:
        table.add_row(*_cells(row))
    if summary.by_tag:
        table.add_section()
        table.add_row("[dim]tag[/]")
        for row in summary.by_tag:
            table.add_row(*_cells(row))
    table.add_row("")
    table.add_row(*_cells(summary.total), style="bold")
    console.print(table)
    if summary.groups is not None:
        console.print(in_words(summary.groups), soft_wrap=True)
    if summary.total.unscored:
        lost = ", ".join(f"{number} {kind}" for kind, number in summary.failures.items())
        console.print(f"{summary.total.unscored} without a reward ({lost}). {NOT_COUNTED}", soft_wrap=True)


def in_words(groups: Groups) -> str:
    """What came of tasks that were run several times."""
    return (
        f"Of {groups.tasks} tasks {groups.solved_by_any} were solved by at least one rollout and "
        f"{groups.solved_by_all} by all; the rewards of {groups.mixed} differ."
    )


def data_console() -> Console:
    """Prints tables on stdout; a file or pipe has no width that names should be cut to."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=200)


def _cells(row: Row) -> list[str]:
    shown = [
        figures.percent(row.success),
        f"{row.solved}/{row.scored}",
        str(row.unscored or ""),
        figures.reward(row.mean_reward),
        figures.count(row.mean_steps),
        figures.seconds(row.mean_duration_s),
    ]
    return [row.name, *map(figures.plain, shown)]


class Stopwatch:
    """Wall time since it was made."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """So far."""
        return time.monotonic() - self._started
