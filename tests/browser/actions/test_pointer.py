"""click, hover, drag and scroll on real pages."""

from __future__ import annotations

import pytest

from webserv.testing.page_view import OpenPage, body
from webserv.types import ActionErrorKind

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

LOG = "<p id=log style='height:40px;margin:0'></p><script>const say = t => { log.textContent += t + ' ' };</script>"


async def test_a_click_is_a_real_press_at_the_element(open_page: OpenPage) -> None:
    session = await open_page(
        LOG
        + """<button id=b>Press</button><script>for (const kind of ['pointerdown', 'mousedown', 'mouseup', 'click'])
        b.addEventListener(kind, e => say(kind + e.isTrusted));</script>"""
    )
    text = body(await session.step('click("press")'))
    assert "pointerdowntrue mousedowntrue mouseuptrue clicktrue" in text


async def test_an_element_far_below_is_scrolled_into_view(open_page: OpenPage) -> None:
    session = await open_page(LOG + "<div style=height:5000px></div><button onclick=say('hit')>Low</button>")
    assert (await session.step('click("low")')).error is None
    assert body(await session.observe()).startswith("hit")


async def test_a_covered_element_is_refused_and_the_cover_named(open_page: OpenPage) -> None:
    session = await open_page(
        """<button onclick="this.textContent='hit'">Under</button>
        <div style="position:absolute;top:0;left:0;width:300px;height:100px"><button>Close</button> Offer</div>"""
    )
    observation = await session.step('click("under")')
    assert observation.error is not None
    assert observation.error.kind is ActionErrorKind.COVERED
    assert "[under] is covered by [close]" in observation.error.message
    assert "Error: covered: [under]" in observation.text
    assert "hit" not in observation.text


async def test_an_element_that_is_partly_covered_is_pressed_where_it_is_free(open_page: OpenPage) -> None:
    session = await open_page(
        """<button style="width:300px;height:60px" onclick="this.textContent='hit'">Wide</button>
        <div style="position:absolute;top:0;left:0;width:250px;height:100px;background:red"></div>"""
    )
    assert "hit" in (await session.step('click("wide")')).text


async def test_an_element_under_a_sticky_header_is_brought_out(open_page: OpenPage) -> None:
    session = await open_page(
        """<div style="position:sticky;top:0;height:300px;background:#eee">Header</div>
        <button onclick="this.textContent='hit'">Row</button><div style=height:4000px></div>"""
    )
    await session.active.page.evaluate("scrollTo(0, 300)")
    assert "hit" in (await session.step('click("row")')).text


async def test_disabled_and_hidden_elements_are_refused(open_page: OpenPage) -> None:
    session = await open_page(
        """<button disabled>Off</button><button id=h>Gone</button>
        <button onclick="h.style.display='none'">Hide</button>"""
    )
    assert (await session.step('click("off")')).error.kind is ActionErrorKind.DISABLED
    await session.step('click("hide")')
    observation = await session.step('click("gone")')
    assert observation.error.kind is ActionErrorKind.HIDDEN


async def test_a_gone_element_is_stale_and_an_invented_one_unknown(open_page: OpenPage) -> None:
    session = await open_page("<button id=x onclick=this.remove()>Remove me</button><button>Other</button>")
    await session.step('click("remove_me")')
    observation = await session.step('click("remove_me")')
    assert observation.error.kind is ActionErrorKind.STALE
    assert "Error: stale: [remove_me] is no longer on the page." in observation.text
    observation = await session.step('click("othr")')
    assert observation.error.kind is ActionErrorKind.UNKNOWN_ID
    assert "Did you mean [other]?" in observation.error.message


async def test_a_toggle_hidden_behind_its_label_is_clicked_through_the_label(open_page: OpenPage) -> None:
    session = await open_page("<input type=radio id=r style=display:none><label for=r>Express</label>")
    assert body(await session.step('click("express")')) == '[express] radio "Express" checked'


async def test_a_link_over_two_lines_is_pressed_on_one_of_them(open_page: OpenPage) -> None:
    session = await open_page(
        "<div style=width:200px>Some words before "
        "<a href=#x onclick=\"document.title='hit'\">a link that wraps around</a></div>"
    )
    assert (await session.step('click("a_link_that_wraps_around")')).title == "hit"


async def test_elements_in_frames_are_pressed_and_typed_into(open_page: OpenPage, pages) -> None:
    inner = "<div style=height:900px></div><button onclick=\"this.textContent='hit'\">In</button><input aria-label=Q>"
    session = await open_page(
        {
            "/": f"<div style=height:2000px></div><iframe src='{pages.url('/f', host='localhost')}' "
            "style='border:7px solid;padding:9px;width:300px;height:200px'></iframe>",
            "/f": inner,
        }
    )
    assert "hit" in (await session.step('click("in")')).text
    assert '[q] textbox "Q" = "abc"' in (await session.step('type("q", "abc")')).text


async def test_hover_opens_a_css_menu(open_page: OpenPage) -> None:
    session = await open_page(
        """<style>ul{display:none} li.m:hover ul{display:block}</style>
        <ul style=display:block><li class=m><a href=#m>Menu</a><ul><li><a href=#i>Item</a></ul></ul>"""
    )
    assert "Item" not in (await session.observe()).text
    assert "Item" in (await session.step('hover("menu")')).text
    assert (await session.step('click("item")')).url.endswith("#i")


async def test_drag_works_for_html_drag_and_drop_and_for_pointer_widgets(open_page: OpenPage) -> None:
    session = await open_page(
        LOG
        + """<div id=a draggable=true style="width:90px;height:30px">Card</div>
        <div id=z role=button style="width:200px;height:90px">Zone</div><script>
        a.ondragstart = e => e.dataTransfer.setData('text', 'payload');
        z.ondragover = e => e.preventDefault(); z.ondrop = e => say('drop:' + e.dataTransfer.getData('text'));
        </script>"""
    )
    assert "drop:payload" in (await session.step('drag("card", "zone")')).text


async def test_scroll_tells_when_it_is_at_the_end(open_page: OpenPage) -> None:
    session = await open_page(
        LOG + "<div style=height:1300px></div><script>onscroll = () => say('s')</script><button>B</button>"
    )
    assert (await session.step("scroll('down')")).error is None
    for _ in range(3):
        observation = await session.step("scroll('down')")
    assert observation.error.kind is ActionErrorKind.NOT_SUPPORTED
    assert "at the bottom" in observation.error.message


async def test_scroll_with_an_element_scrolls_the_part_that_holds_it(open_page: OpenPage) -> None:
    session = await open_page(
        """<div id=d style="height:100px;overflow:auto"><button>Top</button><div style=height:800px></div></div>"""
    )
    await session.step('scroll("down", "top")')
    assert await session.active.page.evaluate("d.scrollTop") > 0
