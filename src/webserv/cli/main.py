"""`webserv`: assembles the commands and holds the outermost error handler."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import click

from webserv import __version__
from webserv.cli.signals import Terminated, silence
from webserv.errors import EnvFailure, UserError

COMMANDS: dict[str, tuple[str, str]] = {
    "setup": ("webserv.cli.setup:command", "Build and seed the built-in sites, once."),
    "demo": ("webserv.cli.demo:command", "Run 32 rollouts on 32 copies of the shop and write a report."),
    "eval": ("webserv.cli.eval:command", "Roll out a policy on a benchmark and write records and a report."),
    "benchmarks": ("webserv.cli.tasks:benchmarks", "List the benchmarks."),
    "tasks": ("webserv.cli.tasks:tasks", "List a benchmark's tasks and show one."),
    "sites": ("webserv.cli.sites:command", "List, describe and build sites."),
    "world": ("webserv.cli.worlds:command", "Open a world by hand."),
    "gc": ("webserv.cli.gc:command", "Remove what dead processes left behind."),
    "doctor": ("webserv.cli.doctor:command", "Say what this machine has, what it lacks, and how to mend it."),
}
"""Command name to ``module:attribute`` and help line, in the order of the help page."""

# What a host may refuse in the middle of anything; other OSErrors are our bugs and keep their traceback.
_REFUSALS = {
    errno.ENOSPC: (
        "The disk is full",
        "Free some space (`webserv gc` removes leftovers), or move WEBSERV_HOME.",
    ),
    errno.EDQUOT: ("The disk quota is used up", "Free some space, or move WEBSERV_HOME."),
    errno.EADDRINUSE: ("The port is in use", "Choose another port, or 0 for any free one."),
    errno.EACCES: (
        "Permission denied",
        "Run as a user who may, or set WEBSERV_HOME to a folder of your own.",
    ),
    errno.EPERM: ("The host does not permit it", "`webserv doctor` says what this host permits."),
    errno.ENOTDIR: ("A part of the path is no folder", "Set WEBSERV_HOME to a folder of your own."),
    errno.EROFS: ("The file system is read-only", "Set WEBSERV_HOME to a folder that can be written."),
    errno.EMFILE: ("Too many open files", "Raise the limit: ulimit -n 65536."),
    errno.ENFILE: ("The host has too many open files", "Raise it: sysctl fs.file-max."),
}


class LazyGroup(click.Group):
    """A group that imports a command's module only when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports and returns a command; None when there is no such name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the command list from `COMMANDS`, importing nothing."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="webserv")
def cli() -> None:
    """Real browsers and isolated copies of real web applications, for training and evaluating web agents."""


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the command line and exits: 0 success, 1 failure, 2 wrong usage, 130 interrupted, 143 or 129 terminated.

    What a user can cause ends as one line on stderr, with a hint where there is one; our own bugs keep their
    traceback.
    """
    _fill_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a character gets a "?" instead of a traceback.
            stream.reconfigure(errors="replace")
    sys.exit(_run(argv))


def _fill_streams() -> None:
    """Opens /dev/null for standard streams that are closed (`>&-`), before some file of ours gets their number."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            silence(number)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  (until the process ends)


def _run(argv: Sequence[str] | None) -> int:
    try:
        # Outside click's standalone mode a command's own exit code comes back as the value.
        value = cli.main(args=argv, prog_name="webserv", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as exc:
        exc.show()
        return exc.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        return 128 + signal.SIGINT
    except Terminated as stop:
        click.echo("Terminated.", err=True)
        return stop.exit_code
    except BaseExceptionGroup as group:
        return _explain(_first_expected(group), group)
    except (UserError, EnvFailure, OSError) as exc:
        return _explain(exc, exc)
    except BaseException as exc:
        if _is_cancellation(exc):
            # What our signal handlers do on SIGTERM: the command's task is cancelled and has cleaned up.
            click.echo("Terminated.", err=True)
            return 128 + signal.SIGTERM
        raise
    return value if isinstance(value, int) else 0


def _is_cancellation(exc: BaseException) -> bool:
    # Not imported for this alone: a help page should not pay for asyncio.
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and isinstance(exc, asyncio.CancelledError)


def _first_expected(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error to show for a failed task group: the first that is no bug of ours, else the group itself."""
    for exc in group.exceptions:
        inner = _first_expected(exc) if isinstance(exc, BaseExceptionGroup) else exc
        if isinstance(inner, UserError | EnvFailure | OSError):
            return inner
    return group


def _explain(exc: BaseException, original: BaseException) -> int:
    if isinstance(exc, BrokenPipeError):
        # Whoever read our output went away (`| head`): end like any program that SIGPIPE ends. Without the
        # exchange the interpreter's own flush at exit would complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
        return 128 + signal.SIGPIPE
    if isinstance(exc, UserError):
        return _fail(exc.message, exc.hint)
    if isinstance(exc, EnvFailure):
        return _fail(f"The environment failed: {exc}", "`webserv doctor` checks this host.")
    if isinstance(exc, OSError) and exc.errno in _REFUSALS:
        what, hint = _REFUSALS[exc.errno]
        where = f": {exc.filename}" if exc.filename else f" ({exc.strerror})"
        return _fail(f"{what}{where}.", hint)
    raise original


def _fail(message: str, hint: str) -> int:
    click.secho("error: ", fg="red", bold=True, nl=False, err=True)
    click.echo(" ".join(message.split()), err=True)
    if hint:
        click.echo(f"hint: {' '.join(hint.split())}", err=True)
    return 1
