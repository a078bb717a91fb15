"""What a person sees of a run under way: a live table on a terminal, one line per episode elsewhere. All on stderr."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from webserv.rollout.digest import EpisodeDigest
from webserv.rollout.runner import RunProgress

_ROWS = 8
"""Running episodes that the live table lists; the rest is counted."""


class Display(Protocol):
    """Where a run's progress goes."""

    def say(self, line: str) -> None:
        """A line about what is being done."""
        ...

    def finished(self, episode: EpisodeDigest) -> None:
        """An episode has ended."""
        ...


class PlainDisplay:
    """One line per episode, for logs and pipes.

    Args:
        progress: The run's figures.
    """

    def __init__(self, progress: RunProgress) -> None:
        self._progress = progress

    def say(self, line: str) -> None:
        """Writes the line."""
        click.echo(line, err=True)

    def finished(self, episode: EpisodeDigest) -> None:
        """Writes what came of the episode."""
        width = len(str(self._progress.total))
        what = outcome(episode)
        retried = f", retried {len(episode.attempts)}" if episode.attempts else ""
        click.echo(
            f"[{self._progress.finished:{width}}/{self._progress.total}] {what:<12} {episode.key}  "
            f"{episode.steps} steps, {episode.active_s:.1f} s{retried}"
            + (f": {episode.failure.message}" if episode.failure else ""),
            err=True,
        )


class LiveDisplay:
    """A table that is drawn anew a few times a second; make it by `open_display`.

    Args:
        title: What is run.
        progress: The run's figures.
        statistics: Gives the pool's statistics once there is a pool, else None.
    """

    def __init__(self, title: str, progress: RunProgress, statistics: Callable[[], Any]) -> None:
        self._title = title
        self._progress = progress
        self._statistics = statistics
        self._started = time.monotonic()
        self._said = ""
        self._scored: list[float] = []
        self._solved = 0
        self._failures: Counter[str] = Counter()

    def say(self, line: str) -> None:
        """Shows the line until the next one."""
        self._said = line

    def finished(self, episode: EpisodeDigest) -> None:
        """Counts the episode."""
        self._said = ""
        if episode.reward is not None:
            self._scored.append(episode.reward)
            self._solved += episode.solved
        if episode.failure is not None:
            self._failures[str(episode.failure.kind)] += 1

    def __rich__(self) -> RenderableType:
        progress = self._progress
        passed = time.monotonic() - self._started
        head = Table.grid(padding=(0, 2))
        head.add_row(
            Text(self._title, style="bold"),
            ProgressBar(total=max(1, progress.total), completed=progress.finished, width=32),
            f"{progress.finished}/{progress.total}",
            clock(passed),
            self._left(passed),
        )
        parts: list[RenderableType] = [head, self._figures()]
        if self._said:
            parts.append(Text(self._said, style="dim"))
        if progress.running:
            parts.append(self._running())
        return Group(*parts)

    def _left(self, passed: float) -> str:
        done, total = self._progress.finished, self._progress.total
        return f"about {clock(passed * (total - done) / done)} left" if 3 <= done < total else ""

    def _figures(self) -> RenderableType:
        progress, scored = self._progress, len(self._scored)
        figures = Table.grid(padding=(0, 2))
        cells = [
            f"solved [bold green]{self._solved}[/]/{scored}"
            + (f" ({self._solved / scored:.0%})" if scored else ""),
            f"mean reward {sum(self._scored) / scored:.2f}" if scored else "no reward yet",
            f"{progress.steps / max(0.001, time.monotonic() - progress.started):.1f} steps/s",
        ]
        lost = ", ".join(f"{number} {kind}" for kind, number in self._failures.items())
        cells.append(f"[yellow]no reward: {lost}[/]" if lost else "no failures")
        if progress.retried:
            cells.append(f"{progress.retried} retried")
        statistics = self._statistics()
        if statistics is not None:
            cells.append(f"worlds: {statistics.in_use} in use, {statistics.ready} ready")
        figures.add_row(*cells)
        return figures

    def _running(self) -> RenderableType:
        table = Table(box=None, padding=(0, 2, 0, 0), show_header=False, expand=True)
        table.add_column(no_wrap=True, ratio=2)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(no_wrap=True, ratio=3, style="dim")
        running = sorted(self._progress.running.items())
        for _, one in running[:_ROWS]:
            again = f" (attempt {one.attempt})" if one.attempt > 1 else ""
            table.add_row(
                escape(one.key) + again,
                f"step {one.steps}" if one.standing else "reset",
                escape(" ".join(one.last_action.split())),
            )
        if len(running) > _ROWS:
            table.add_row(f"and {len(running) - _ROWS} more", "", "", style="dim")
        return table


@contextlib.contextmanager
def open_display(title: str, progress: RunProgress, statistics: Callable[[], Any]) -> Iterator[Display]:
    """The display that suits stderr, shown until the context ends."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield PlainDisplay(progress)
        return
    display = LiveDisplay(title, progress, statistics)
    with Live(display, console=console, refresh_per_second=5, transient=True):
        yield display


def outcome(episode: EpisodeDigest) -> str:
    """What came of an episode in a word or two."""
    if episode.failure is not None:
        return f"{episode.failure.kind} failure"
    return "solved" if episode.solved else f"reward {episode.reward:.2f}"


def clock(seconds: float) -> str:
    """A duration as ``m:ss`` or ``h:mm:ss``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
