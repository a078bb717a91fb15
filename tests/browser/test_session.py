"""Sessions: navigation, history, tabs, pop-ups, dialogs, the evaluator's page, failures."""

from __future__ import annotations

import asyncio

import pytest

from webserv.browser.fleet import BrowserFleet
from webserv.errors import BrowserFailed
from webserv.testing.page_server import PageServer, Reply
from webserv.testing.page_view import OpenPage, body
from webserv.types import ActionErrorKind, Cookie

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_history_goes_back_and_forward_and_ends(open_page: OpenPage, pages: PageServer) -> None:
    session = await open_page({"/": "<a href=/two>Two</a>", "/two": "<p>two"})
    assert (await session.step("back()")).error.kind is ActionErrorKind.NAVIGATION
    assert body(await session.step('click("two")')) == "two"
    assert (await session.step("back()")).url == pages.url("/")
    assert (await session.step("forward()")).url == pages.url("/two")
    assert (await session.step("forward()")).error.message == "This tab's history has no later page."


async def test_going_back_to_the_answer_of_a_form_says_so(open_page: OpenPage) -> None:
    session = await open_page(
        {"/": "<form method=post action=/sent><button>Send</button></form>", "/sent": "<a href=/two>Two</a>",
         "/two": "<p>two"}
    )  # fmt: skip
    await session.step('click("send")')
    await session.step('click("two")')
    observation = await session.step("back()")
    assert observation.error is not None
    assert "was the answer to a form, which is not sent again" in observation.error.message
    assert "Send" in (await session.step("back()")).text


async def test_whatever_a_policy_gives_as_an_action_is_its_own_step(open_page: OpenPage) -> None:
    class Strange(dict):
        def get(self, *_: object) -> object:
            raise LookupError("strange")

    session = await open_page("<p>one")
    for action in (
        Strange(),
        f"switch_tab({'9' * 5000})",
        {"action": "wait", "seconds": 10**400},
        None,
        10**5000,
    ):
        observation = await session.step(action)
        assert observation.error is not None
        assert observation.error.kind is ActionErrorKind.MALFORMED


async def test_refresh_loads_anew(open_page: OpenPage, pages: PageServer) -> None:
    session = await open_page("<p>one")
    pages.pages["/"] = "<p>two"
    assert body(await session.step("refresh()")) == "two"


async def test_ids_come_back_for_the_same_thing_and_for_nothing_else(open_page: OpenPage) -> None:
    frame = "<nav><a href=/>Home</a><a href=/b>B</a></nav>"
    session = await open_page(
        {
            "/": frame + "<form action=/add/1><button>Buy</button></form><button id=x>Save</button>",
            "/b": frame + "<form action=/add/2><button>Buy</button></form><button id=y>Save</button>",
        }
    )
    first = [element.id for element in (await session.observe()).elements]
    second = [element.id for element in (await session.step('click("b")')).elements]
    third = [element.id for element in (await session.step("back()")).elements]
    assert (first, second) == (["home", "b", "buy", "save"], ["home", "b", "buy_2", "save_2"])
    assert third == first


async def test_a_living_element_keeps_its_id_when_its_name_changes(open_page: OpenPage) -> None:
    session = await open_page("<button onclick=\"this.textContent = 'Unfollow'\">Follow</button>")
    assert body(await session.step('click("follow")')) == '[follow] button "Unfollow" focused'


async def test_rows_that_move_up_get_new_ids(open_page: OpenPage) -> None:
    session = await open_page(
        """<div id=rows></div><script>let rows = ['a', 'b', 'c'];
        const draw = () => { document.getElementById('rows').innerHTML = rows.map((r, i) =>
            `<p>${r} <button onclick="rows.splice(${i}, 1); draw()">Delete</button></p>`).join('') }; draw()</script>"""
    )
    observation = await session.step('click("delete")')
    assert body(observation) == 'b [delete_4] button "Delete"\nc [delete_5] button "Delete"'
    assert (await session.step('click("delete_2")')).error.kind is ActionErrorKind.STALE


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "javascript:alert(1)", "chrome://version", "shop", "http://", ""]
)
async def test_only_web_addresses_are_loaded(open_page: OpenPage, url: str) -> None:
    session = await open_page("<p>here")
    observation = await session.step({"action": "goto", "url": url})
    assert observation.error.kind is ActionErrorKind.NAVIGATION
    assert "here" in observation.text


async def test_a_page_that_cannot_be_loaded_is_an_error_and_back_mends_it(open_page: OpenPage) -> None:
    session = await open_page("<a href=http://127.0.0.1:1/x>Dead</a>")
    for action in ('goto("http://127.0.0.1:1/x")', 'click("dead")'):
        observation = await session.step(action)
        assert observation.error.kind is ActionErrorKind.NAVIGATION
        assert observation.url == "http://127.0.0.1:1/x"
        assert "This page could not be loaded (ERR_" in observation.text
        assert (await session.step("wait(0)")).error is None
        assert "Dead" in (await session.step("back()")).text


async def test_a_host_that_the_proxy_refuses_is_not_part_of_the_world(
    fleet: BrowserFleet, pages: PageServer
) -> None:
    pages.pages["/"] = "<p>x"

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(16)
        writer.write(b"\x05\x00")
        await reader.read(512)
        writer.write(b"\x05\x02\x00\x01" + bytes(6))
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as proxy:
        port = proxy.sockets[0].getsockname()[1]
        session = await fleet.open_session(proxy_url=f"socks5://127.0.0.1:{port}")
        await session.start([])
        for url in ("http://evil.example/", pages.url("/"), pages.url("/", host="localhost")):
            observation = await session.step({"action": "goto", "url": url})
            assert "is not part of this world" in observation.error.message
        await session.close()
    assert pages.requests == []


async def test_a_start_page_that_cannot_be_loaded_fails_the_session(fleet: BrowserFleet) -> None:
    session = await fleet.open_session()
    with pytest.raises(BrowserFailed, match="Start page"):
        await session.start(["http://127.0.0.1:1/"])
    assert session.failed is not None
    await session.close()


async def test_start_pages_open_as_tabs_and_the_first_is_active(
    fleet: BrowserFleet, pages: PageServer
) -> None:
    pages.pages |= {"/a": "<title>A</title>", "/b": "<title>B</title>"}
    session = await fleet.open_session()
    observation = await session.start([pages.url("/a"), pages.url("/b")])
    assert [(tab.id, tab.title, tab.active) for tab in observation.tabs] == [(1, "A", True), (2, "B", False)]
    assert 'Tabs: *1 "A" | 2 "B"' in observation.text
    await session.close()


async def test_cookies_log_in(fleet: BrowserFleet, pages: PageServer) -> None:
    pages.pages["/"] = "<p>x"
    session = await fleet.open_session(cookies=[Cookie("sessionid", "s3", "127.0.0.1")])
    await session.start([pages.url("/")])
    assert pages.requests[-1].headers["cookie"] == "sessionid=s3"
    await session.close()


async def test_tabs_open_switch_and_close_and_ids_are_not_reused(
    open_page: OpenPage, pages: PageServer
) -> None:
    session = await open_page({"/": "<title>One</title>", "/two": "<title>Two</title>"})
    observation = await session.step({"action": "new_tab", "url": pages.url("/two")})
    assert 'Tabs: 1 "One" | *2 "Two"' in observation.text
    assert (await session.step("switch_tab(1)")).title == "One"
    await session.step("new_tab()")
    observation = await session.step("close_tab(3)")
    assert (observation.title, [tab.id for tab in observation.tabs]) == ("Two", [1, 2])
    assert [tab.id for tab in (await session.step("new_tab()")).tabs] == [1, 2, 4]
    observation = await session.step("switch_tab(3)")
    assert observation.error.message == "There is no tab 3. Tabs: 1, 2, 4."


async def test_the_only_tab_stays(open_page: OpenPage) -> None:
    session = await open_page("<p>x")
    assert (await session.step("close_tab(1)")).error.kind is ActionErrorKind.NO_TAB


@pytest.mark.parametrize(
    "link",
    [
        "<a href=/new target=_blank>Go</a>",
        "<a href=/new target=_blank rel=noopener>Go</a>",
        "<button onclick=\"window.open('/new')\">Go</button>",
        "<form action=/new target=_blank><button>Go</button></form>",
    ],
    ids=["blank", "noopener", "window-open", "form"],
)
async def test_a_new_window_is_loaded_active_and_announced(
    open_page: OpenPage, pages: PageServer, link: str
) -> None:
    session = await open_page({"/": link, "/new": "<title>New</title><p>here"})
    gate = pages.hold("/new")
    step = asyncio.ensure_future(session.step('click("go")'))
    await gate.wait_request()
    assert not step.done()
    gate.open()
    observation = await step
    assert "Note: the page opened tab 2, which is active now" in observation.text
    assert 'Tabs: 1 "http' in observation.text
    assert body(observation).endswith("here")
    assert "Note:" not in (await session.step("wait(0)")).text


async def test_windows_beyond_the_limit_are_closed(open_page: OpenPage) -> None:
    session = await open_page(
        "<button onclick=\"for (let i = 0; i < 8; i++) window.open('/?' + i)\">Go</button>", max_tabs=3
    )
    session.strip._max_tabs = 3
    observation = await session.step('click("go")')
    assert len(observation.tabs) == 3
    assert "but 3 are open already" in observation.text


async def test_a_page_may_close_its_tab(open_page: OpenPage) -> None:
    session = await open_page(
        {"/": "<title>Main</title><a href=/pop target=_blank rel=opener>Pop</a>",
         "/pop": "<button onclick=window.close()>Close</button>"}
    )  # fmt: skip
    await session.step('click("pop")')
    observation = await session.step('click("close")')
    assert (observation.title, len(observation.tabs), observation.error) == ("Main", 1, None)


async def test_an_alert_waits_for_its_answer(open_page: OpenPage) -> None:
    session = await open_page(
        """<button onclick="alert('Saved \\'it\\''); out.textContent = 'after'">Go</button><p id=out>before"""
    )
    observation = await session.step('click("go")')
    assert observation.dialog is not None
    assert observation.dialog.kind == "alert"
    assert body(observation) == "Dialog: alert \"Saved 'it'\"; answer with dialog_accept()"
    refused = await session.step('click("go")')
    assert refused.error.kind is ActionErrorKind.DIALOG_OPEN
    assert refused.dialog == observation.dialog
    assert "before" in await session.page_text()
    assert body(await session.step("dialog_accept()")).endswith("after")
    assert (await session.step("dialog_accept()")).error.kind is ActionErrorKind.NO_DIALOG


async def test_confirm_and_prompt_give_the_page_the_answer(open_page: OpenPage) -> None:
    session = await open_page(
        """<button onclick="out.textContent = confirm('Sure?')">C</button>
        <button onclick="out.textContent = String(prompt('Name?', 'Ann'))">P</button><p id=out>"""
    )
    for action, answer, result in (
        ('click("c")', "dialog_accept()", "true"),
        ('click("c")', "dialog_dismiss()", "false"),
        ('click("p")', 'dialog_accept("Bo")', "Bo"),
        ('click("p")', "dialog_accept()", "Ann"),
        ('click("p")', "dialog_dismiss()", "null"),
    ):
        await session.step(action)
        assert body(await session.step(answer)).split("\n")[-1] == result


async def test_dialogs_one_after_the_other(open_page: OpenPage) -> None:
    session = await open_page("<button onclick=\"alert(1); alert(2); this.textContent = 'end'\">Go</button>")
    await session.step('click("go")')
    assert (await session.step("dialog_accept()")).dialog.message == "2"
    assert "end" in (await session.step("dialog_accept()")).text


async def test_an_alert_while_loading_does_not_stop_the_start(open_page: OpenPage) -> None:
    session = await open_page("<script>alert('Welcome')</script><p>content")
    assert (await session.observe()).dialog.message == "Welcome"
    assert "content" in (await session.step("dialog_dismiss()")).text


async def test_leaving_a_page_that_objects_asks_first(open_page: OpenPage, pages: PageServer) -> None:
    session = await open_page(
        {
            "/": "<input aria-label=Q><script>onbeforeunload = e => e.preventDefault()</script>",
            "/next": "<p>next",
        }
    )
    await session.step('type("q", "x")')
    go = {"action": "goto", "url": pages.url("/next")}
    observation = await session.step(go)
    assert observation.dialog.kind == "beforeunload"
    stayed = await session.step("dialog_dismiss()")
    assert stayed.url == pages.url("/")
    assert '"x"' in stayed.text
    await session.step(go)
    assert (await session.step("dialog_accept()")).url == pages.url("/next")


async def test_terminate_keeps_the_answer(open_page: OpenPage) -> None:
    session = await open_page("<p>x")
    assert (session.terminated, session.answer) == (False, None)
    await session.step('terminate("42")')
    assert (session.terminated, session.answer) == (True, "42")


async def test_the_evaluators_page_leaves_the_policys_alone(open_page: OpenPage, pages: PageServer) -> None:
    session = await open_page(
        {
            "/": "<input aria-label=Q>",
            "/check": "<p>state</p><script>alert('hi')</script><p>more",
            "/gone": Reply(status=404),
        }
    )
    before = await session.step('type("q", "draft")')
    assert (await session.visit(pages.url("/check"))).split() == ["state", "more"]
    after = await session.observe()
    assert after.text == before.text
    assert [tab.id for tab in after.tabs] == [1]
    with pytest.raises(BrowserFailed, match="could not be loaded"):
        await session.visit("http://127.0.0.1:1/")


async def test_pictures_are_taken_when_asked_for(open_page: OpenPage) -> None:
    session = await open_page("<p>x")
    assert (await session.observe()).screenshot is None
    assert (await session.observe(screenshot=True)).screenshot.startswith(b"\xff\xd8")
    session = await open_page("<p>x", screenshots=True)
    assert (await session.step("wait(0)")).screenshot is not None


async def test_a_crashed_page_fails_the_session(open_page: OpenPage) -> None:
    session = await open_page("<p>x")
    with pytest.raises(BrowserFailed, match=r"crashed"):
        await _crash(session)
    assert session.failed is not None
    with pytest.raises(BrowserFailed):
        await session.step("wait(0)")
    await session.close()


async def _crash(session) -> None:
    """Kills the renderer as a page that eats all memory would."""
    crash = asyncio.ensure_future(session.active.channel.send("Page.crash"))
    try:
        await session.step("wait(0)")
        await session.step("wait(0)")
    finally:
        crash.cancel()
        await asyncio.gather(crash, return_exceptions=True)


async def test_closing_twice_is_harmless_and_later_steps_fail(open_page: OpenPage) -> None:
    session = await open_page("<p>x")
    await session.close()
    await session.close()
    with pytest.raises(BrowserFailed, match="closed"):
        await session.step("wait(0)")


async def test_a_download_is_noted_and_the_page_stays(open_page: OpenPage) -> None:
    attachment = Reply(
        "a,b", content_type="text/csv", headers={"Content-Disposition": 'attachment; filename="o.csv"'}
    )
    session = await open_page({"/": "<a href=/o.csv>Export</a>", "/o.csv": attachment})
    observation = await session.step('click("export")')
    assert observation.error is None
    assert "Note: the file 'o.csv' was downloaded" in observation.text
    assert "Export" in observation.text
