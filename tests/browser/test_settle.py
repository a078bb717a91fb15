"""Settle: nothing is observed too early, and nothing waits for what never ends.

Held routes fix the order of events: while a gate is shut, the step must not end.
"""

from __future__ import annotations

import asyncio

import pytest

from webserv.testing.page_server import Gate, PageServer, Reply
from webserv.testing.page_view import OpenPage, body
from webserv.types import Observation

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def step_through(session, action: str, *gates: Gate) -> Observation:
    """Takes a step that needs every gate to be opened, one after the other."""
    step = asyncio.ensure_future(session.step(action))
    for gate in gates:
        await gate.wait_request()
        assert not step.done()
        gate.open()
    return await step


@pytest.mark.parametrize(
    "send",
    [
        "fetch('/data').then(r => r.text()).then(t => out.textContent = t)",
        "const x = new XMLHttpRequest(); x.open('GET', '/data'); "
        "x.onload = () => out.textContent = x.responseText; x.send()",
        "setTimeout(() => fetch('/data').then(r => r.text()).then(t => out.textContent = t), 0)",
        "Promise.resolve().then(() => fetch('/data')).then(r => r.text()).then(t => requestAnimationFrame(() => "
        "requestAnimationFrame(() => out.textContent = t)))",
        "const s = document.createElement('script'); s.src = '/data?js'; document.head.append(s)",
        "import('/data?js')",
    ],
    ids=["fetch", "xhr", "task-then-fetch", "fetch-then-frames", "script", "module"],
)
async def test_a_step_ends_after_what_it_loads(open_page: OpenPage, pages: PageServer, send: str) -> None:
    pages.pages["/data?js"] = Reply("out.textContent = 'loaded'", content_type="text/javascript")
    pages.pages["/data"] = Reply("loaded", content_type="text/plain")
    session = await open_page({"/": f"""<button onclick="{send}">Go</button><p id=out>old</p>"""})
    assert "loaded" in body(await step_through(session, 'click("go")', pages.hold("/data")))


async def test_a_chain_of_requests_is_waited_for_to_its_end(open_page: OpenPage, pages: PageServer) -> None:
    pages.pages |= {"/a": Reply("1"), "/b": Reply("2"), "/c": Reply("done")}
    session = await open_page(
        {
            "/": """<button onclick="fetch('/a').then(() => fetch('/b')).then(() => fetch('/c')).then(r => r.text())
        .then(t => out.textContent = t)">Go</button><p id=out>"""
        }
    )
    gates = [pages.hold(path) for path in ("/a", "/b", "/c")]
    observation = await step_through(session, 'click("go")', *gates)
    assert "done" in observation.text
    assert observation.settle.settled  # though the page never reads what the first two answered


@pytest.mark.parametrize(
    "leave",
    [
        "<a href=/next>Go</a>",
        "<form action=/next><button>Go</button></form>",
        "<form action=/next method=post><button>Go</button></form>",
        "<button onclick=\"location = '/next'\">Go</button>",
        "<button onclick=\"setTimeout(() => location.assign('/next'), 0)\">Go</button>",
        "<button onclick=\"fetch('/').then(() => location.href = '/next')\">Go</button>",
        "<a href=/moved>Go</a>",
        "<a href=/meta>Go</a>",
        "<a href=/script>Go</a>",
    ],
    ids=[
        "link",
        "get",
        "post",
        "location",
        "later",
        "after-fetch",
        "redirect",
        "meta-refresh",
        "script-redirect",
    ],
)
async def test_a_step_ends_on_the_page_that_it_leads_to(
    open_page: OpenPage, pages: PageServer, leave: str
) -> None:
    session = await open_page(
        {
            "/": leave,
            "/next": "<p>arrived",
            "/moved": Reply(status=302, headers={"Location": "/next"}),
            "/meta": "<meta http-equiv=refresh content='0;url=/next'>",
            "/script": "<script>location.replace('/next')</script>",
        }
    )
    assert body(await step_through(session, 'click("go")', pages.hold("/next"))) == "arrived"


async def test_what_the_new_page_loads_is_waited_for(open_page: OpenPage, pages: PageServer) -> None:
    session = await open_page(
        {
            "/": "<a href=/app>Go</a>",
            "/app": "<div id=root>Loading…</div><script src=/app.js></script>",
            "/app.js": Reply("fetch('/api').then(r => r.text()).then(t => root.textContent = t)",
                             content_type="text/javascript"),
            "/api": "ready",
        }
    )  # fmt: skip
    gates = [pages.hold(path) for path in ("/app", "/app.js", "/api")]
    assert body(await step_through(session, 'click("go")', *gates)) == "ready"


async def test_requests_of_frames_are_waited_for(open_page: OpenPage, pages: PageServer) -> None:
    session = await open_page(
        {
            "/": f"<iframe src='{pages.url('/f', host='localhost')}'></iframe>",
            "/f": "<button onclick=\"fetch('/d').then(r => r.text()).then(t => this.textContent = t)\">Go</button>",
            "/d": "loaded",
        }
    )
    assert "loaded" in body(await step_through(session, 'click("go")', pages.hold("/d")))


async def test_a_frame_that_is_added_is_waited_for(open_page: OpenPage, pages: PageServer) -> None:
    session = await open_page(
        {"/": "<button onclick=\"document.body.append(Object.assign(document.createElement('iframe'), {src: '/f'}))\">"
              "Go</button>", "/f": "<p>inside"}
    )  # fmt: skip
    assert "inside" in body(await step_through(session, 'click("go")', pages.hold("/f")))


async def test_pictures_in_view_are_waited_for_and_others_not(open_page: OpenPage, pages: PageServer) -> None:
    pages.hold("/never.png")
    session = await open_page(
        {
            "/": """<button
            onclick="document.body.insertAdjacentHTML('beforeend', '<img src=/seen.png alt=x width=9>')">Go
        </button><button onclick="document.body.insertAdjacentHTML('beforeend',
        '<div style=height:3000px></div><img src=/never.png>')">Far</button>"""
        }
    )
    await step_through(session, 'click("go")', pages.hold("/seen.png"))
    assert (await session.step('click("far")')).settle.settled


async def test_finite_animations_are_waited_for_and_endless_ones_not(open_page: OpenPage) -> None:
    session = await open_page(
        """<style>@keyframes spin { to { transform: rotate(1turn) } } i { animation: spin 1s infinite; display: block }
        @keyframes in { from { opacity: 0 } } .in { animation: in .25s }</style><i>spinner</i>
        <button onclick="out.className = 'in'; out.hidden = false">Go</button><p id=out hidden>shown</p>"""
    )
    observation = await session.step('click("go")')
    assert observation.settle.settled
    assert observation.settle.waited_s >= 0.25
    assert "shown" in observation.text


async def test_streams_sockets_and_beacons_are_not_waited_for(open_page: OpenPage, pages: PageServer) -> None:
    pages.pages["/events"] = Reply(content_type="text/event-stream", unended=True)
    pages.hold("/beacon")
    session = await open_page(
        {
            "/": """<button onclick="new EventSource('/events'); navigator.sendBeacon('/beacon', 'x');
        fetch('/events'); new WebSocket(location.href.replace('http', 'ws') + 'none'); out.textContent = 'done'">Go
        </button><p id=out>"""
        }
    )
    observation = await session.step('click("go")')
    assert observation.settle.settled
    assert "done" in observation.text


async def test_a_long_poll_is_reported_once_and_then_known(open_page: OpenPage, pages: PageServer) -> None:
    pages.hold("/poll")
    session = await open_page(
        {"/": "<button onclick=\"fetch('/poll?' + Math.random())\">Go</button>"}, cap_s=0.6, learn_after_s=0.3
    )
    observation = await session.step('click("go")')
    assert not observation.settle.settled
    assert f"Not settled: still waiting for GET {pages.url('/poll')}" in observation.text
    again = await session.step('click("go")')
    assert again.settle.settled
    assert "Not settled" not in again.text


async def test_requests_that_are_aborted_or_time_out_are_over(open_page: OpenPage, pages: PageServer) -> None:
    pages.hold("/never")
    session = await open_page(
        {
            "/": """<button onclick="const x = new XMLHttpRequest(); x.open('GET', '/never'); x.timeout = 80;
            x.ontimeout = () => out.textContent += ' timeout'; x.send(); const c = new AbortController();
            fetch('/never', {signal: c.signal}).catch(() => out.textContent += ' aborted'); c.abort();">Go</button>
            <p id=out>"""
        }
    )
    observation = await session.step('click("go")')
    assert observation.settle.settled
    assert "aborted timeout" in observation.text


async def test_quick_polling_does_not_hold_a_step_up(open_page: OpenPage, pages: PageServer) -> None:
    session = await open_page(
        {
            "/": """<button onclick="const poll = () => fetch('/tick').then(poll); poll()">Go</button>""",
            "/tick": "x",
        }
    )
    assert (await session.step('click("go")')).settle.settled


async def test_a_ticking_clock_does_not_hold_a_step_up(open_page: OpenPage) -> None:
    session = await open_page(
        "<p id=c></p><button>Go</button><script>let n = 0; setInterval(() => c.textContent = ++n, 10)</script>"
    )
    observation = await session.step('click("go")')
    assert observation.settle.settled
    again = await session.step('click("go")')
    assert again.settle.waited_s < 1.0


async def test_a_page_that_never_rests_is_observed_at_the_cap(open_page: OpenPage) -> None:
    session = await open_page(
        """<button onclick="setInterval(() => document.body.append(document.createElement('hr')), 5)">Go</button>""",
        cap_s=0.7,
    )
    observation = await session.step('click("go")')
    assert not observation.settle.settled
    assert "Not settled: still waiting for changes of the page" in observation.text


async def test_an_answer_without_content_leaves_the_page_at_rest(open_page: OpenPage) -> None:
    session = await open_page({"/": "<a href=/empty>Go</a>", "/empty": Reply(status=204)})
    observation = await session.step('click("go")')
    assert observation.settle.settled
    assert observation.error is None
    assert body(observation).startswith('[go] link "Go"')


async def test_a_prepared_request_that_is_never_sent_is_not_waited_for(open_page: OpenPage) -> None:
    session = await open_page("<button onclick=\"new XMLHttpRequest().open('GET', '/x')\">Go</button>")
    assert (await session.step('click("go")')).settle.waited_s < 2.0


async def test_a_click_that_acts_after_a_timer_is_waited_for(open_page: OpenPage) -> None:
    session = await open_page(
        "<button onclick=\"setTimeout(() => out.textContent = 'later', 150)\">Go</button><p id=out>old</p>"
    )
    assert "later" in (await session.step('click("go")')).text


async def test_a_search_box_that_waits_for_the_last_key_is_waited_for(
    open_page: OpenPage, pages: PageServer
) -> None:
    session = await open_page(
        {
            "/": """<input type=search aria-label=Q><ul id=out></ul><script>let timer;
            document.querySelector('input').oninput = e => { clearTimeout(timer); timer = setTimeout(() =>
                fetch('/suggest?q=' + e.target.value).then(r => r.text()).then(t => out.innerHTML = t), 300) }
            </script>""",
            "/suggest": "<li>mug</li>",
        }
    )
    step = asyncio.ensure_future(session.step('type("q", "mu")'))
    gate = pages.hold("/suggest")
    await gate.wait_request()
    assert not step.done()
    gate.open()
    assert "- mug" in (await step).text
    assert pages.count("/suggest") == 1
