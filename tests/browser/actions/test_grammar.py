"""The action grammar: what is read, what is refused, and that writing and reading are inverse."""

from __future__ import annotations

import json
import string
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webserv.browser.actions.fields import parameters_of
from webserv.browser.actions.grammar import ACTION_GRAMMAR, action_to_json, format_action, parse_action
from webserv.browser.actions.outcome import ActionRefused
from webserv.browser.actions.schema import action_tool
from webserv.browser.actions.types import (
    ACTION_TYPES,
    Action,
    Back,
    Click,
    CloseTab,
    DialogAccept,
    Drag,
    Goto,
    KeyPress,
    NewTab,
    Scroll,
    Select,
    SwitchTab,
    Terminate,
    Type,
    Wait,
)
from webserv.types import ActionErrorKind


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ('click("add_to_basket")', Click("add_to_basket")),
        ("click('add_to_basket')", Click("add_to_basket")),
        ("click(add_to_basket)", Click("add_to_basket")),
        ("click([add_to_basket])", Click("add_to_basket")),
        ('click("[add_to_basket]")', Click("add_to_basket")),
        ("  click ( 'a' ) ; ", Click("a")),
        ("click(100276)", Click("100276")),
        ("click(007)", Click("007")),
        ('click(target="a")', Click("a")),
        ("```\nclick('a')\n```", Click("a")),
        ("```python\nclick('a')```", Click("a")),
        ("`click('a')`", Click("a")),
        ('type("q", "mug", enter=true)', Type("q", "mug", True)),
        ('type("q", "mug", True)', Type("q", "mug", True)),
        ('type("q", "it\'s #1, (really) \\"good\\"\\nnew")', Type("q", 'it\'s #1, (really) "good"\nnew')),
        ("type('q', 'line one\nline two')", Type("q", "line one\nline two")),
        ('type("q", "C:\\dir \\d+ \\u00e9 \\ud83d\\ude00")', Type("q", "C:\\dir \\d+ é 😀")),
        ('type("q", 42)', Type("q", "42")),
        ('type("q", "")', Type("q", "")),
        ('select("s", "A")', Select("s", ("A",))),
        ('select("s", "A", "B")', Select("s", ("A", "B"))),
        ('select("s", ["A", "B"])', Select("s", ("A", "B"))),
        ('select("s", values=["A"])', Select("s", ("A",))),
        ('select("s", value="A")', Select("s", ("A",))),
        ('key_press("Control+a", "q")', KeyPress("Control+a", "q")),
        ("scroll('down')", Scroll("down")),
        ("scroll(up, list)", Scroll("up", "list")),
        ('drag("a", "b")', Drag("a", "b")),
        ('goto("http://shop.example/?q=a&b=%20#top")', Goto("http://shop.example/?q=a&b=%20#top")),
        ('goto_url("http://x/")', Goto("http://x/")),
        ("back()", Back()),
        ("new_tab()", NewTab()),
        ("switch_tab(2)", SwitchTab(2)),
        ('close_tab("2")', CloseTab(2)),
        ("dialog_accept()", DialogAccept()),
        ("wait(90)", Wait(5.0)),
        ("wait()", Wait(1.0)),
        ("terminate()", Terminate()),
        ("terminate('')", Terminate("")),
        ('terminate("Ω 5 €")', Terminate("Ω 5 €")),
        ("terminate(answer='x')", Terminate("x")),
        ("terminate(5.50)", Terminate("5.5")),
        ("terminate(true)", Terminate("true")),
        ('{"action": "click", "target": "a"}', Click("a")),
        ('```json\n{"action": "type", "target": "q", "text": "x", "enter": true}\n```', Type("q", "x", True)),
        ('{"action": "select", "target": "s", "value": "A"}', Select("s", ("A",))),
        ('{"action": "new_tab", "url": null}', NewTab()),
        ('{"name": "click", "arguments": {"target": "a"}}', Click("a")),
        (
            '{"name": "step_browser", "arguments": "{\\"action\\": \\"click\\", \\"target\\": \\"a\\"}"}',
            Click("a"),
        ),
        ({"action": "switch_tab", "tab_id": 3}, SwitchTab(3)),
    ],
)
def test_is_read_as(text, action):
    assert parse_action(text) == action


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "The action is empty"),
        ("hello world", '"hello world" is no action'),
        ("I will click('a')", "is no action"),
        ("clik('a')", "There is no action 'clik'. Actions: click, type"),
        ("click()", "click needs 'target'. Write click(\"id\")"),
        ("click('a', 'b')", "too many arguments (2)"),
        ("click('a', target='b')", "'target' twice"),
        ("click(where='a')", "click takes no argument 'where'"),
        ("click('a", "no closing '"),
        ("click('a'", 'A comma or ")" is missing'),
        ("click('a') click('b')", "give one action and nothing else"),
        ("type('q' 'x')", 'A comma or ")" is missing'),
        ("type(target='q', 'x')", "only arguments with a name may follow"),
        ("type('q', 'x', enter=maybe)", "'enter' cannot be 'maybe'"),
        ("click('')", "'target' cannot be ''"),
        ("scroll('left')", "'direction' cannot be 'left'"),
        ("switch_tab('two')", "'tab_id' cannot be 'two'"),
        ("switch_tab(1.5)", "'tab_id' cannot be 1.5"),
        ("wait(-1)", "'seconds' cannot be -1"),
        ("wait('long')", "'seconds' cannot be 'long'"),
        ("select('s')", "select needs 'values'"),
        ("select('s', [])", "select needs 'values'"),
        ("click(['a'])", "click takes no list here"),
        ("select('s', [['a']])", "A list cannot hold a list"),
        ('{"action": "click"', "This is no JSON object"),
        ('{"target": "a"}', '"action" is missing'),
        ('{"action": 5}', '"action" is missing'),
        ('{"action": "click", "target": {"id": "a"}}', "'target' cannot be"),
        ({"action": "type", "target": "q", "text": ["x"]}, "'text' cannot be ['x']"),
        ("__import__('os').system('x')", "There is no action '__import__'"),
        ("x" * 200_000, "at most 100,000"),
    ],
)
def test_is_refused_with_a_hint(text, message):
    with pytest.raises(ActionRefused) as caught:
        parse_action(text)
    assert caught.value.error.kind is ActionErrorKind.MALFORMED
    assert message in caught.value.error.message
    assert "\n" not in caught.value.error.message


TEXT = st.text(st.characters(blacklist_categories=("Cs",)), max_size=40)
IDS = st.text(string.ascii_lowercase + "_0123456789é", min_size=1, max_size=24)
VALUES = {
    "id": IDS, "string": TEXT, "strings": st.lists(TEXT, min_size=1, max_size=4).map(tuple), "flag": st.booleans(),
    "integer": st.integers(0, 10**9), "number": st.floats(0, 5), "direction": st.sampled_from(("up", "down")),
}  # fmt: skip


@st.composite
def actions(draw: st.DrawFn) -> Action:
    kind = draw(st.sampled_from(ACTION_TYPES))
    given = {}
    for parameter in parameters_of(kind):
        if parameter.required or draw(st.booleans()):
            given[parameter.name] = draw(VALUES[parameter.kind])
    return kind(**given)


@given(actions())
def test_written_text_is_read_back_as_the_same_action(action):
    assert parse_action(format_action(action)) == action


@given(actions())
def test_written_json_is_read_back_as_the_same_action(action):
    assert parse_action(json.dumps(action_to_json(action))) == action
    assert parse_action(action_to_json(action)) == action


@given(st.one_of(st.text(max_size=60), st.text("cliktype(\"'\\,=)[]{} \n`", max_size=40)))
def test_any_text_is_read_or_refused_and_nothing_else(text):
    with suppress(ActionRefused):
        parse_action(text)


JSON_LIKE = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20),
        st.sampled_from((400, 5000)).map(lambda digits: 10**digits),
        st.sampled_from(("9" * 5000, "9" * 400, "1e999", "nan", "-inf", "²")),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
WORDS = [*(kind.name for kind in ACTION_TYPES), "value", "id", "name", "arguments", "args"]
KEYS = st.sampled_from(sorted({p.name for kind in ACTION_TYPES for p in parameters_of(kind)} | {*WORDS}))


@given(st.sampled_from(WORDS) | JSON_LIKE, st.dictionaries(KEYS, JSON_LIKE, max_size=4), st.booleans())
def test_any_value_is_read_or_refused_and_nothing_else(name, arguments, nested):
    with suppress(ActionRefused):
        parse_action({"action": name, **arguments})
    with suppress(ActionRefused):
        parse_action({"name": name, "arguments": arguments if nested else arguments.get("arguments")})


@given(
    st.sampled_from([kind.name for kind in ACTION_TYPES]),
    st.sampled_from(["9" * 5000, "9" * 400, "1e999", "NaN", "-Infinity", "0x9", "1" * 16, "9.9e99"]),
    st.sampled_from(['{}({})', '{}("{}")', '{{"action": "{0}", "tab_id": {1}, "seconds": {1}}}',
                     '{{"action": "{0}", "target": {1}}}', '{{"action": "{0}", "seconds": {1}}}',
                     '{{"name": "{0}", "arguments": "{{\\"tab_id\\": {1}}}"}}']),
)  # fmt: skip
def test_any_number_is_read_or_refused_and_nothing_else(name, number, form):
    with suppress(ActionRefused):
        parse_action(form.format(name, number))


@pytest.mark.parametrize(
    "action",
    [
        f"switch_tab({'9' * 5000})",
        f'{{"action": "close_tab", "tab_id": {"9" * 5000}}}',
        {"action": "switch_tab", "tab_id": "9" * 5000},
        {"action": "switch_tab", "tab_id": 10**5000},
        {"action": "click", "target": 10**5000},
        {"action": "terminate", "answer": 10**5000},
        {"action": "wait", "seconds": 10**400},
        {"action": "wait", "seconds": float("nan")},
        {"action": "wait", "seconds": float("inf")},
        {"action": "wait", "seconds": "1e999"},
        '{"action": "wait", "seconds": 1e999}',
        {"name": "click", "arguments": "[" * 90_000},
        {10**5000: 1, "action": "back"},
    ],
)
def test_numbers_and_nesting_beyond_reason_are_refused(action):
    with pytest.raises(ActionRefused) as caught:
        parse_action(action)
    assert caught.value.error.kind is ActionErrorKind.MALFORMED
    assert len(caught.value.error.message) < 300


def test_every_action_is_in_the_prompt_and_in_the_schema():
    schema = action_tool()["function"]["parameters"]
    for kind in ACTION_TYPES:
        assert f"{kind.name}(" in ACTION_GRAMMAR
        assert kind.name in schema["properties"]["action"]["enum"]
        assert {p.name for p in parameters_of(kind)} <= schema["properties"].keys()
