"""Random actions are ones that the observation allows."""

from __future__ import annotations

import random

from webserv.browser.actions.grammar import parse_action
from webserv.browser.actions.sample import sample_action
from webserv.types import Dialog, Element, Observation, Settle, Tab

ELEMENTS = (
    Element("buy", "button", "Buy"),
    Element("off", "button", "Off", states=("disabled",)),
    Element("q", "searchbox", "Q", value="x"),
    Element("sort", "select", "Sort", options=("A", "B")),
)


def observe(dialog: Dialog | None = None) -> Observation:
    tabs = (Tab(1, "", "u", True), Tab(2, "", "u", False))
    return Observation("", "u", "", ELEMENTS, tabs, dialog, None, Settle(True, "quiet", 0.0))


def test_drawn_actions_are_valid_varied_and_about_usable_elements():
    rng = random.Random(0)
    texts = [sample_action(observe(), rng) for _ in range(500)]
    names = {parse_action(text).name for text in texts}
    assert {"click", "type", "select", "clear", "back", "scroll", "terminate", "switch_tab"} <= names
    assert not any("off" in text for text in texts)


def test_equal_generators_draw_equal_actions():
    draws = [[sample_action(observe(), random.Random(7)) for _ in range(3)] for _ in range(2)]
    assert draws[0] == draws[1]


def test_an_open_dialog_is_answered():
    rng = random.Random(1)
    texts = {sample_action(observe(Dialog("confirm", "Sure?")), rng) for _ in range(20)}
    assert texts == {"dialog_accept()", "dialog_dismiss()"}
