from __future__ import annotations

import asyncio
import errno
import os
import pty
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from webserv import __version__
from webserv.cli import main as main_module
from webserv.cli.main import COMMANDS, cli, main
from webserv.errors import HostRefused, MissingPrerequisite, UnknownName, WorldFailed


@pytest.fixture
def end_with(monkeypatch, capsys):
    """Runs a command that raises an error; returns exit code and what was said on stderr."""

    def end_with(error):
        @click.command()
        def command():
            raise error

        monkeypatch.setattr(main_module, "cli", command)
        with pytest.raises(SystemExit) as ended:
            main([])
        said = capsys.readouterr()
        assert said.out == ""
        return ended.value.code, said.err

    return end_with


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_be_loaded_and_helps(name):
    result = CliRunner().invoke(cli, [name, "--help"])

    assert result.exit_code == 0, result.output
    assert "Usage:" in result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_are_called_what_the_table_calls_them(name):
    command = cli.get_command(click.Context(cli), name)

    assert command is not None
    assert command.name == name


def test_the_help_page_lists_all_commands_and_imports_none_of_them():
    script = (
        "import sys\nfrom webserv.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print('LOADED', *sorted(n for n in sys.modules if n.startswith('webserv.') or n in ('rich', 'asyncio', "
        "'playwright', 'pydantic', 'yaml')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    page, _, loaded = done.stdout.partition("LOADED")
    for name, (_, line) in COMMANDS.items():
        assert f"{name} " in page
        assert line.split()[0] in page
    assert loaded.split() == [
        "webserv.cli",
        "webserv.cli.main",
        "webserv.cli.signals",
        "webserv.errors",
        "webserv.types",
    ]


def test_the_version_is_the_packages(run):
    assert run("--version").stdout == f"webserv, version {__version__}\n"


def test_a_users_error_is_one_line_and_a_hint(end_with):
    code, said = end_with(HostRefused("Port 8080 is in use.", hint="Choose another."))

    assert code == 1
    assert said == "error: Port 8080 is in use.\nhint: Choose another.\n"


def test_an_error_without_a_hint_is_one_line(end_with):
    assert end_with(MissingPrerequisite("No\n  browser.")) == (1, "error: No browser.\n")


def test_an_unknown_name_lists_the_known_ones(end_with):
    assert end_with(UnknownName("site", "shp", ["shop"]))[1] == (
        "error: There is no site 'shp'. Did you mean 'shop'? Known: shop.\n"
    )


def test_a_failed_environment_is_one_line(end_with):
    code, said = end_with(WorldFailed("Site 'shop' ended."))

    assert code == 1
    assert said.splitlines()[0] == "error: The environment failed: Site 'shop' ended."


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "error: The disk is full: /data/x."),
        (errno.EADDRINUSE, "error: The port is in use: /data/x."),
        (errno.EACCES, "error: Permission denied: /data/x."),
        (errno.EMFILE, "error: Too many open files: /data/x."),
    ],
)
def test_what_a_host_refuses_is_one_clear_line(end_with, number, words):
    code, said = end_with(OSError(number, os.strerror(number), "/data/x"))

    assert code == 1
    assert said.splitlines()[0] == words
    assert said.splitlines()[1].startswith("hint: ")


def test_the_users_error_is_found_in_a_failed_task_group(end_with):
    group = ExceptionGroup("group", [ExceptionGroup("inner", [HostRefused("The disk is full.")])])

    assert end_with(group) == (1, "error: The disk is full.\n")


def test_ctrl_c_ends_with_130(end_with):
    assert end_with(KeyboardInterrupt()) == (130, "\nInterrupted.\n")


def test_a_command_that_was_cancelled_by_a_signal_ends_with_143(end_with):
    assert end_with(asyncio.CancelledError()) == (143, "Terminated.\n")


@pytest.mark.parametrize(
    "bug", [ValueError("a bug"), OSError(errno.EIO, "a bug"), ExceptionGroup("a bug", [ValueError()])]
)
def test_our_own_bugs_keep_their_traceback(monkeypatch, bug):
    @click.command()
    def command():
        raise bug

    monkeypatch.setattr(main_module, "cli", command)
    with pytest.raises(type(bug), match="a bug"):
        main([])


@pytest.mark.parametrize("arguments", [["no-such-command"], ["sites", "--no-such-option"], ["world", "open"]])
def test_wrong_usage_ends_with_2_and_points_to_help(run, arguments):
    done = run(*arguments)

    assert done.returncode == 2
    assert "--help" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_exit_code_of_a_command_is_the_processes(monkeypatch):
    @click.command()
    @click.pass_context
    def command(ctx):
        ctx.exit(3)

    monkeypatch.setattr(main_module, "cli", command)
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 3


def test_a_reader_that_goes_away_gets_no_traceback(environment):
    script = (
        "import click\nfrom webserv.cli import main as m\n"
        "@click.command()\ndef command():\n    for number in range(100_000): click.echo(number)\n"
        "m.cli = command\nm.main([])"
    )
    read, write = os.pipe()
    command = [sys.executable, "-c", script]
    with subprocess.Popen(
        command, stdout=write, stderr=subprocess.PIPE, env=environment, text=True
    ) as process:
        os.close(write)
        os.close(read)
        assert process.communicate(timeout=60)[1] == ""
    assert process.returncode in (1, 141)  # click's own code, or ours when it shows at the last flush


def test_a_terminal_without_unicode_gets_question_marks(environment):
    script = (
        "import click\nfrom webserv.cli import main as m\n"
        "m.cli = click.command()(lambda: click.echo('\u2713 ok'))\nm.main([])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment | {"PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        check=True,
    )

    assert done.stdout == b"? ok\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_no_error(environment, closed):
    script = (
        "import click, os, sys\nfrom webserv.cli import main as m\n"
        "@click.command()\ndef command():\n"
        "    click.echo('out'); click.echo('err', err=True); sys.stdin.read()\n"
        "    with open(os.devnull) as file: assert file.fileno() > 2\n"
        "    assert all(os.get_inheritable(number) for number in range(3))\n"
        "    sys.exit(7)\n"
        "m.cli = command\nm.main([])"
    )
    shell = f'exec "$0" -c "$1" {closed}'
    done = subprocess.run(
        ["sh", "-c", shell, sys.executable, script],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 7
    assert done.stdout == ("" if ">&-" in closed.replace("2>&-", "") else "out\n")
    assert done.stderr == ("" if "2>&-" in closed else "err\n")


def test_a_command_whose_terminal_was_closed_ends_with_129(environment):
    script = (
        "import click, sys, time\nfrom webserv.cli import main as m\nfrom webserv.cli.signals import raising\n"
        "@click.command()\ndef command():\n"
        "    with raising():\n        click.echo('ready')\n        time.sleep(60)\n"
        "m.cli = command\nm.main([])"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-c", script], environment)
    assert b"ready" in os.read(terminal, 100)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 129
