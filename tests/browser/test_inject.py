"""The scripts that run beside pages: put together once, and they leave pages alone."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from webserv.browser.inject_source import FILES, inject_source
from webserv.testing.page_view import OpenPage

FOLDER = resources.files("webserv.browser") / "inject"

WRITES = re.compile(
    r"\.(setAttribute|removeAttribute|appendChild|append|prepend|insertBefore|remove|replaceWith|insertAdjacent\w+|"
    r"attachShadow|innerHTML\s*=|textContent\s*=|style\.\w+\s*=|className\s*=|dispatchEvent)\b"
)


def test_every_file_is_part_of_the_script() -> None:
    assert {item.name for item in FOLDER.iterdir() if item.name.endswith(".js")} == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_pages_are_not_written_to(name: str) -> None:
    source = (FOLDER / name).read_text(encoding="utf-8")
    found = {match.group(1) for match in WRITES.finditer(source)}
    # Form controls whose value is chosen rather than typed get the events that a choice would cause.
    assert found == ({"dispatchEvent"} if name == "act.js" else set())


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_a_second_run_in_the_same_document_changes_nothing(open_page: OpenPage) -> None:
    session = await open_page("<button>B</button>")
    channel = session.active.channel
    before = (await session.observe()).text
    world = channel.main_world()
    assert world is not None
    await channel.send("Runtime.evaluate", {"expression": inject_source(), "contextId": world.context_id})
    assert (await session.observe()).text == before
    assert (await session.step('click("b")')).error is None
