"""What is seen of a page: the pages and the expected texts stand side by side."""

from __future__ import annotations

import pytest

from webserv.testing.page_server import Reply
from webserv.testing.page_view import OpenPage, See, body

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_mixed_content_keeps_its_text_and_order(see: See) -> None:
    assert await see("<div>Price: <span>$5</span> now</div>Hello <b>bold</b> world") == (
        "Price: $5 now\nHello bold world"
    )


async def test_words_of_inline_elements_are_not_torn_apart(see: See) -> None:
    assert await see("<p>un<b>believ</b>able, <span>10</span><sup>th</sup></p>") == "unbelievable, 10th"


async def test_headings_have_their_level_and_lists_their_marks(see: See) -> None:
    html = """<h1>Top</h1><h3>Sub <em>title</em></h3>
        <ul><li>one<li>two<ul><li>inner</ul></ul><ol start=3><li>three<li>four</ol>"""
    assert await see(html) == "# Top\n### Sub title\n- one\n- two\n  - inner\n3. three\n4. four"


async def test_tables_keep_rows_columns_and_caption(see: See) -> None:
    html = """<table><caption>Orders</caption><thead><tr><th>No<th>Total<tbody><tr><td>1<td>$5
        <tr><td colspan=2>none<tr><td><p>a<p>b<td><a href=/x>Open</a></table>"""
    assert await see(html) == (
        'table "Orders":\n| No | Total |\n| 1 | $5 |\n| none | |\n| a · b | [open] link "Open" |'
    )


async def test_controls_in_a_caption_are_not_lost(see: See) -> None:
    html = "<table><caption>Stock <a href=/all>View all</a></caption><tr><td>1<td>2</table>"
    assert await see(html) == 'Stock [view_all] link "View all"\n| 1 | 2 |'


async def test_definition_lists_pair_terms_with_definitions(see: See) -> None:
    assert await see("<dl><dt>Colour<dd>Blue<dt>Size<dd>L</dl>") == "Colour:\n Blue\nSize:\n L"


async def test_what_is_hidden_is_left_out(see: See) -> None:
    html = """<p style=display:none>a<p style=visibility:hidden>b<b style=visibility:visible>seen</b>
        <p style=opacity:0>c<p style="position:absolute;left:-999px">d
        <p style="position:absolute;clip:rect(0,0,0,0);width:1px;height:1px;overflow:hidden">e
        <p style="height:0;overflow:hidden">f<p hidden>g<details><summary>More</summary>h</details>
        <div style="content-visibility:hidden">m<b>n</b></div>
        <template>i</template><noscript>j</noscript><script>k</script><p>end"""
    assert await see(html) == 'seen\n[more] button "More" collapsed\nend'


async def test_zero_size_wrappers_and_display_contents_show_what_is_in_them(see: See) -> None:
    html = """<div style="width:0;height:0"><div role=dialog aria-label=Status style="position:absolute;width:200px">
        <button>Set</button></div></div><div style=display:contents><button>In contents</button></div>"""
    assert await see(html) == 'dialog "Status": [set] button "Set"\n[in_contents] button "In contents"'


async def test_pictures_are_named_by_their_alternative_text(see: See) -> None:
    html = """<img alt="A red bus" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" width=20 height=20>
        <img alt="" src=x width=9 height=9><svg width=20 height=20><title>Warning</title></svg>
        <canvas width=30 height=30 aria-label="Sales chart"></canvas>"""
    assert await see(html) == 'img "A red bus" img "Warning" canvas "Sales chart"'


async def test_the_whole_page_is_seen_not_only_the_viewport(see: See) -> None:
    assert "deep down" in await see("<div style='height:9000px'>top</div><button>deep down</button>")


async def test_struck_out_text_is_marked(see: See) -> None:
    assert await see("<p><del>$9.00</del> $5.00</p>") == "~~$9.00~~ $5.00"


async def test_preformatted_text_keeps_its_lines(see: See) -> None:
    assert await see("<pre>one\ntwo</pre>") == "one\ntwo"


async def test_open_shadow_roots_and_slots_are_read_in_their_order(see: See) -> None:
    html = """<x-card><b slot=title>Title</b>Light</x-card><script>
        const root = document.querySelector('x-card').attachShadow({mode: 'open'});
        root.innerHTML = '<div><slot name=title></slot></div><p><slot></slot></p><button>Inside</button>';
        </script>"""
    assert await see(html) == 'Title\nLight\n[inside] button "Inside"'


async def test_frames_stand_where_they_are_also_of_other_origins(
    see: See, pages, open_page: OpenPage
) -> None:
    foreign = pages.url("/inner", host="localhost")
    html = {
        "/": f"before<iframe title=Box src='{foreign}'></iframe>after<iframe srcdoc='<p>doc'></iframe>",
        "/inner": "<p>inner<iframe srcdoc='<button>Deep</button>'></iframe>",
    }
    assert await see(html) == (
        'before\nframe "Box":\n inner\n frame: [deep] button "Deep"\nafter\nframe: doc'
    )


async def test_frames_that_may_not_run_scripts_are_read_and_used(open_page: OpenPage) -> None:
    session = await open_page(
        "<iframe sandbox srcdoc='<p>boxed</p><input type=checkbox aria-label=C>'></iframe>"
    )
    assert body(await session.observe()) == 'frame:\n boxed\n [c] checkbox "C"'
    assert "checked" in (await session.step('click("c")')).text


async def test_pages_that_may_not_run_scripts_are_read_and_used(open_page: OpenPage) -> None:
    boxed = Reply("<a href=/next>Go</a>", headers={"Content-Security-Policy": "sandbox"})
    session = await open_page({"/": boxed, "/next": "<p>next"})
    assert body(await session.step('click("go")')) == "next"


async def test_landmarks_group_what_is_in_them(see: See) -> None:
    html = """<header><a href=/>Home</a></header>
        <nav aria-label=Main><ul><li><a href=/a>A</a><li><a href=/b>B</a></ul></nav>
        <main><h1>Hi</h1><form aria-label=Login><label>User <input></label></form></main><footer>Bye</footer>"""
    assert await see(html) == (
        'header: [home] link "Home"\nnav "Main":\n - [a] link "A"\n - [b] link "B"\n'
        'main:\n # Hi\n form "Login": [user] textbox "User" = ""\nfooter: Bye'
    )


async def test_a_region_is_not_named_twice(see: See) -> None:
    html = "<section aria-labelledby=h><h2 id=h>News</h2><p>None</p></section>"
    assert await see(html) == "## News\nNone"


async def test_what_a_modal_dialog_covers_stands_behind_it(open_page: OpenPage) -> None:
    session = await open_page(
        "<button>Page</button><dialog aria-label=Sure><button>Yes</button></dialog>"
        "<script>document.querySelector('dialog').showModal()</script>"
    )
    observation = await session.observe()
    assert body(observation) == (
        'dialog "Sure": [yes] button "Yes" focused\nBehind it, covered:\n [page] button "Page"'
    )
    assert {element.id: "covered" in element.states for element in observation.elements} == {
        "yes": False,
        "page": True,
    }


async def test_a_layer_over_the_whole_viewport_counts_as_an_overlay(see: See) -> None:
    html = """<ul><li>1<li>2<li>3<li>4<li>5<li>6</ul><button>Page</button>
        <div style="position:fixed;inset:0;background:#fff8"><p>Cookies?</p><button>Accept</button></div>"""
    assert (await see(html)).startswith(
        'dialog:\n Cookies?\n [accept] button "Accept"\nBehind it, covered:\n'
    )


async def test_page_text_that_looks_like_an_element_is_marked(see: See) -> None:
    assert await see("""<p>[buy_now] button "Buy" and [1]</p>""") == r'\[buy_now] button "Buy" and [1]'


async def test_direction_marks_and_zero_width_characters_do_not_split_words(see: See) -> None:
    assert await see("<p>a&#8203;b &shy;c&#65279;d&nbsp;e</p>") == "ab cd e"


async def test_a_long_page_is_cut_with_a_count(open_page: OpenPage) -> None:
    session = await open_page(
        "".join(f"<p>line {i} <a href=/{i}>go {i}</a></p>" for i in range(400)), max_chars=2000
    )
    observation = await session.observe()
    assert len(observation.text) <= 2000
    assert observation.text.endswith("are not shown")
    shown = observation.text.count("link")
    assert f"with {400 - shown} elements" in observation.text.split("\n")[-1]
    assert len(observation.elements) == 400


async def test_a_huge_page_is_cut_with_a_word(open_page: OpenPage) -> None:
    session = await open_page("<p>" + "<b>x</b> " * 500, max_nodes=100)
    assert (
        "… cut here: the page is too large; 402 elements or texts were not read"
        in (await session.observe()).text
    )


async def test_two_runs_give_the_same_text(open_page: OpenPage) -> None:
    html = (
        "<p id=c>0</p><button onclick='c.textContent=+c.textContent+1'>Add</button><input placeholder=Name>"
    )
    texts = []
    for _ in range(2):
        session = await open_page(html)
        texts.append(
            [(await session.step(a)).text for a in ('click("add")', 'type("name", "é")', "refresh()")]
        )
    assert texts[0] == texts[1]


async def test_the_page_is_not_changed_and_does_not_notice(open_page: OpenPage) -> None:
    session = await open_page(
        """<button>A</button><input value=x><p>t</p><script>
        window.seen = []; new MutationObserver(r => seen.push(r.length)).observe(document, {subtree: true,
            childList: true, attributes: true, characterData: true});
        window.before = document.documentElement.outerHTML; window.keys = Object.keys(window).length;</script>"""
    )
    await session.observe()
    await session.step('hover("a")')
    page = session.active.page
    assert await page.evaluate("document.documentElement.outerHTML === before && seen.length") == 0
    assert await page.evaluate("Object.keys(window).length - keys") == 1  # `keys` itself
    assert await page.evaluate("typeof __webserv") == "undefined"


async def test_pages_that_redefine_prototypes_are_read_all_the_same(see: See) -> None:
    html = """<p>fine</p><a href=/x>Go</a><script>
        Element.prototype.getAttribute = () => { throw 1 }; Array.prototype.some = null; JSON.stringify = null;
        window.getComputedStyle = null; document.querySelectorAll = () => []; WeakMap.prototype.get = null;
        Node.prototype.appendChild = null; Object.defineProperty(window, '__webserv', {value: 1});</script>"""
    assert await see(html) == 'fine\n[go] link "Go"'
