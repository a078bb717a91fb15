"""type, clear and key_press on real pages."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webserv.browser.actions.outcome import ActionRefused
from webserv.browser.actions.text import normal_chord
from webserv.testing.page_view import OpenPage, body
from webserv.types import ActionErrorKind


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_typing_replaces_the_content_and_the_page_sees_every_key(open_page: OpenPage) -> None:
    session = await open_page(
        """<input id=i aria-label=Q value=old><p id=log></p><script>
        for (const kind of ['keydown', 'input', 'keyup', 'change'])
            i.addEventListener(kind, e => log.textContent += kind[0] + (e.key || '') + ' ');</script>"""
    )
    observation = await session.step('type("q", "ab")')
    assert body(observation) == '[q] textbox "Q" = "ab" focused\nka i ka kb i kb'


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_enter_submits(open_page: OpenPage) -> None:
    session = await open_page({"/": "<form action=/found><input name=q></form>", "/found": "<p>Found"})
    observation = await session.step('type("q", "größe #1 & more", enter=true)')
    assert observation.url.endswith("/found?q=gr%C3%B6%C3%9Fe+%231+%26+more")
    assert body(observation) == "Found"


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_any_unicode_and_new_lines_are_typed(open_page: OpenPage) -> None:
    session = await open_page("<textarea aria-label=T></textarea><input aria-label=I>")
    text = "日本 עברית 😀 “q”\nnext\ttab"
    observation = await session.step({"action": "type", "target": "t", "text": text})
    assert observation.elements[0].value == text
    observation = await session.step({"action": "type", "target": "i", "text": "one\ntwo"})
    assert observation.elements[1].value == "one two"


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_long_texts_are_complete_and_limits_of_the_field_hold(open_page: OpenPage) -> None:
    session = await open_page("<textarea aria-label=T></textarea><input aria-label=M maxlength=3>")
    text = "word " * 600 + "end"
    observation = await session.step({"action": "type", "target": "t", "text": text})
    assert observation.elements[0].value == text
    assert (await session.step('type("m", "12345")')).elements[1].value == "123"


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_editable_elements_and_controlled_inputs_take_text(open_page: OpenPage) -> None:
    session = await open_page(
        """<div contenteditable aria-label=E>old <b>bold</b></div><input id=c aria-label=C><script>
        c.oninput = () => { c.value = c.value.toUpperCase() };</script>"""
    )
    await session.step('type("e", "new text")')
    observation = await session.step('type("c", "abc")')
    assert [element.value for element in observation.elements] == ["new text", "ABC"]


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_chosen_values_are_set_and_checked(open_page: OpenPage) -> None:
    session = await open_page(
        """<input type=date aria-label=D onchange="document.title='changed'"><input type=color aria-label=K>
        <input type=range aria-label=R max=10>"""
    )
    observation = await session.step('type("d", "2026-03-31")')
    assert (observation.elements[0].value, observation.title) == ("2026-03-31", "changed")
    assert (await session.step('type("k", "#1A2B3C")')).elements[1].value == "#1a2b3c"
    assert (await session.step('type("r", "7")')).elements[2].value == "7"
    observation = await session.step('type("d", "31.3.2026")')
    assert observation.error.kind is ActionErrorKind.NOT_EDITABLE
    assert "takes a date such as 2026-03-31" in observation.error.message
    assert observation.elements[0].value == "2026-03-31"
    assert (await session.step('clear("d")')).elements[0].value == ""


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_clear_and_typing_nothing_empty_a_field(open_page: OpenPage) -> None:
    session = await open_page("<input aria-label=A value=x><input aria-label=B value=y>")
    assert (await session.step('clear("a")')).elements[0].value == ""
    assert (await session.step('type("b", "")')).elements[1].value == ""


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_what_takes_no_text_is_refused(open_page: OpenPage) -> None:
    session = await open_page("<button>B</button><input readonly aria-label=R><input disabled aria-label=D>")
    assert "[b] is a button, which takes no text" in (await session.step('type("b", "x")')).error.message
    assert (await session.step('type("r", "x")')).error.message == "[r] is read-only."
    assert (await session.step('type("d", "x")')).error.kind is ActionErrorKind.DISABLED


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_keys_and_chords_go_to_the_focus_or_the_element(open_page: OpenPage) -> None:
    session = await open_page("<input aria-label=A value=abc><input aria-label=B><p id=p></p>")
    await session.step('key_press("ctrl+a", "a")')
    await session.step('key_press("Backspace")')
    observation = await session.step('key_press("Tab")')
    assert (observation.elements[0].value, observation.elements[1].states) == ("", ("focused",))
    observation = await session.step('key_press("Hyper+q")')
    assert observation.error.kind is ActionErrorKind.MALFORMED
    assert "There is no key 'Hyper+q'" in observation.error.message


@pytest.mark.parametrize(
    ("text", "chord"),
    [("ctrl+a", "Control+a"), ("ESC", "Escape"), ("Control++", "Control++"), ("+", "+"), (" ", "Space"),
     ("shift+Tab", "Shift+Tab"), ("F5", "F5"), ("ctrl + shift + k", "Control+Shift+k"), ("ä", "ä")],
)  # fmt: skip
def test_chords_are_brought_into_one_form(text: str, chord: str) -> None:
    assert normal_chord(text) == chord


@given(st.text(max_size=45))
def test_any_text_is_a_chord_or_refused(text: str) -> None:
    with suppress(ActionRefused):
        assert normal_chord(text)


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_every_kind_of_text_field_is_replaced(open_page: OpenPage) -> None:
    kinds = {
        "number": "42",
        "email": "a@b.example",
        "url": "http://x/",
        "tel": "+1 2",
        "search": "s",
        "password": "p w",
    }
    session = await open_page("".join(f"<input type={kind} aria-label={kind} value=1>" for kind in kinds))
    for kind, text in kinds.items():
        observation = await session.step({"action": "type", "target": kind, "text": text})
        assert observation.error is None
    page = session.active.page
    assert await page.evaluate("[...document.querySelectorAll('input')].map(i => i.value)") == list(
        kinds.values()
    )


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
async def test_a_field_inside_a_combobox_wrapper_or_a_shadow_root_takes_text(open_page: OpenPage) -> None:
    session = await open_page(
        """<div role=combobox aria-label=Pick tabindex=0><input></div><x-f></x-f><script>
        const root = document.querySelector('x-f').attachShadow({mode: 'open'});
        root.innerHTML = '<input aria-label=In value=old>'</script>"""
    )
    await session.step('type("pick", "abc")')
    await session.step('type("in", "new")')
    page = session.active.page
    assert await page.evaluate("document.querySelector('input').value") == "abc"
    assert (
        await page.evaluate("document.querySelector('x-f').shadowRoot.querySelector('input').value") == "new"
    )
