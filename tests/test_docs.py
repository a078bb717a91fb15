"""The documentation says what is there: links lead somewhere, commands exist, examples run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click import Group

from webserv.browser.actions.grammar import parse_action
from webserv.browser.actions.types import ACTION_TYPES
from webserv.cli.main import COMMANDS, cli
from webserv.types import ActionErrorKind

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def _text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_its_heading(page):
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        assert linked.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), flags=re.MULTILINE)
            assert anchor in {
                re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings
            }


def test_the_index_leads_to_every_page():
    linked = set(re.findall(r"\]\((\w+\.md)\)", _text("docs/index.md")))

    assert linked == {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_make_command_exists(page):
    targets = set(re.findall(r"^([a-z]+):", _text("Makefile"), flags=re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)\b", page.read_text(encoding="utf-8"), flags=re.MULTILINE))

    assert named <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_and_option_exists(page):
    for line in re.findall(
        r"^webserv (.+)$|`webserv ([^`]+)`", page.read_text(encoding="utf-8"), re.MULTILINE
    ):
        words = (line[0] or line[1]).partition("#")[0].split()
        command = cli
        while isinstance(command, Group) and words and not words[0].startswith("-"):
            name = words.pop(0)
            command = command.commands.get(name) if command is not cli else _load(name)
            assert command is not None, name
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known | {"--help"}


def _load(name):
    assert name in COMMANDS
    return cli.get_command(None, name)


def test_ci_runs_exactly_the_readmes_test_command():
    assert re.findall(r"^make .+$", _text(".ci/run"), flags=re.MULTILINE) == ["make test"]
    assert "make test " in _text("README.md")


def test_the_page_of_actions_lists_all_of_them_and_its_examples_parse():
    cells = "\n".join(_first_cells("docs/actions.md"))
    calls = re.findall(r"`((\w+)\(.*?\))`", cells)

    assert [name for _, name in calls] == [action.name for action in ACTION_TYPES]
    for text, _ in calls:
        # Brackets stand for what may be left out: both forms are actions.
        parse_action(re.sub(r"\[.*?\]", "", text))
        parse_action(text.replace("[", "").replace("]", "").replace("seconds", "2"))


def test_the_page_of_actions_lists_all_errors():
    kinds = re.findall(r"`(\w+)`", "\n".join(_first_cells("docs/actions.md")))

    assert sorted(kinds) == sorted(kind.value for kind in ActionErrorKind)


def _first_cells(page):
    return re.findall(r"^\| (`.*?`) \|", _text(page), flags=re.MULTILINE)


@pytest.mark.browser
@pytest.mark.shop
def test_the_readmes_example_runs(shop_snapshot):
    (example,) = re.findall(r"```python\n(.*?)```", _text("README.md"), flags=re.DOTALL)

    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, timeout=240)

    assert done.returncode == 0, done.stderr
    assert "URL: http://shop.example/catalogue/" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("0.0 Score(")
