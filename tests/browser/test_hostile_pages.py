"""Pages that do what no page should: the session stays alive, bounded, and says what it cut."""

from __future__ import annotations

import pytest

from webserv.browser import page_channel, tab_strip
from webserv.errors import BrowserFailed
from webserv.testing.page_view import OpenPage, See, body

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_fields_and_pictures_named_like_dom_members_do_no_harm(see: See) -> None:
    html = """<img name=body><img name=images><img name=title><form><input name=getAttribute aria-label=A>
        <input name=childNodes aria-label=B><input name=localName><input name=title><input name=action>
        <button name=closest>Send</button></form><p>end"""
    text = await see(html)
    for part in ('[a] textbox "A"', '[b] textbox "B"', '[send] button "Send"', "end"):
        assert part in text


async def test_a_huge_document_is_read_in_part(open_page: OpenPage) -> None:
    session = await open_page(
        "<body><script>const f = document.createDocumentFragment(); for (let i = 0; i < 30000; i++)"
        "f.append(Object.assign(document.createElement('p'), {textContent: 'row ' + i}));"
        "document.body.append(f)</script>"
    )
    observation = await session.observe()
    assert "row 0\nrow 1\n" in observation.text
    assert len(observation.text) <= 20_000
    assert "are not shown" in observation.text


async def test_a_huge_text_and_huge_attributes_are_cut(open_page: OpenPage) -> None:
    session = await open_page(
        "<button>B</button><p id=p></p><script>p.textContent = 'word '.repeat(3e5);"
        "document.querySelector('button').setAttribute('aria-label', 'x'.repeat(3e5))</script>"
    )
    observation = await session.observe()
    assert len(observation.text) <= 20_000
    assert len(observation.elements[0].name) <= 240


async def test_alerts_without_end_leave_the_policy_in_charge(open_page: OpenPage) -> None:
    session = await open_page("<button onclick='for (;;) alert(1)'>Go</button>")
    await session.step('click("go")')
    for _ in range(3):
        assert (await session.step("dialog_accept()")).dialog is not None
    await session.close()


async def test_windows_without_end_are_held_at_the_limit(open_page: OpenPage) -> None:
    session = await open_page(
        "<button onclick='setInterval(() => window.open(location.href), 20)'>Go</button>",
        max_tabs=4,
        cap_s=1.0,
    )
    observation = await session.step('click("go")')
    while "are open already" not in observation.text:
        observation = await session.step("wait(0)")
    assert len(observation.tabs) == 4
    await session.close()


async def test_a_window_and_a_dialog_at_once(open_page: OpenPage) -> None:
    session = await open_page(
        "<title>Main</title>"
        "<button onclick=\"window.open('about:blank'); alert('hi'); document.title = 'after'\">Go</button>"
    )
    observation = await session.step('click("go")')
    if observation.dialog is None:
        observation = await session.step("switch_tab(1)")
    assert observation.dialog is not None
    await session.step("dialog_accept()")
    assert (await session.step("switch_tab(1)")).title == "after"


async def test_a_page_that_closes_its_only_tab_leaves_an_empty_one(open_page: OpenPage) -> None:
    session = await open_page("<script>open('', '_self')</script><button onclick='close()'>Go</button>")
    observation = await session.step('click("go")')
    assert len(observation.tabs) == 1
    assert observation.error is None


async def test_a_script_that_never_yields_is_given_up(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await open_page("<button onclick='for (;;);'>Go</button>", cap_s=0.5)
    monkeypatch.setattr(page_channel, "ANSWER_TIMEOUT_S", 1.0)
    monkeypatch.setattr(tab_strip, "ANSWER_TIMEOUT_S", 1.0)
    with pytest.raises(BrowserFailed, match="did not take the input within 1 s"):
        await session.step('click("go")')
    assert session.failed is not None
    await session.close()


async def test_a_document_that_is_rewritten_all_the_time_is_still_seen(open_page: OpenPage) -> None:
    session = await open_page(
        "<script>setInterval(() => { document.body.innerHTML = '<button>B</button>' }, 5)</script>", cap_s=0.5
    )
    observation = await session.step("wait(0)")
    assert 'button "B"' in observation.text
    assert not observation.settle.settled


async def test_a_page_that_reloads_itself_all_the_time_is_observed_in_the_end(open_page: OpenPage) -> None:
    session = await open_page("<p>loop<script>setTimeout(() => location.reload(), 1)</script>", cap_s=1.0)
    observation = await session.step("wait(0)")
    assert observation.error is None
    assert not observation.settle.settled
    assert body(observation).startswith("Not settled: still waiting for ")
