"""Random actions: a baseline policy, and noise for robustness tests."""

from __future__ import annotations

import random

from webserv.browser.actions.grammar import format_action
from webserv.browser.actions.types import (
    Action,
    Back,
    Clear,
    Click,
    CloseTab,
    DialogAccept,
    DialogDismiss,
    KeyPress,
    Refresh,
    Scroll,
    Select,
    SwitchTab,
    Terminate,
    Type,
)
from webserv.types import Element, Observation

WORDS = ("1", "2", "10", "red", "book", "test", "Smith", "hello", "2026-03-01", "info@shop.example")
TEXT_ROLES = frozenset(
    {"textbox", "searchbox", "combobox", "spinbutton", "password", "date", "time", "textarea"}
)
TERMINATE_SHARE = 0.02
"""Of actions; a random episode then mostly ends by its budget."""


def sample_action(observation: Observation, rng: random.Random) -> str:
    """Draws an action that the observation allows, as text; equal generators draw equal actions."""
    return format_action(_draw(observation, rng))


def _draw(observation: Observation, rng: random.Random) -> Action:
    if observation.dialog is not None:
        return DialogAccept() if rng.random() < 0.5 else DialogDismiss()
    usable = [e for e in observation.elements if "disabled" not in e.states and "covered" not in e.states]
    chance = rng.random()
    if chance < TERMINATE_SHARE:
        return Terminate(rng.choice(WORDS))
    if chance < 0.12 or not usable:
        return _about_the_page(observation, rng)
    return _about_an_element(rng.choice(usable), rng)


def _about_the_page(observation: Observation, rng: random.Random) -> Action:
    choices: list[Action] = [
        Back(),
        Refresh(),
        Scroll("down"),
        Scroll("up"),
        KeyPress("Escape"),
        KeyPress("Enter"),
    ]
    others = [tab for tab in observation.tabs if not tab.active]
    if others:
        tab = rng.choice(others)
        choices += [SwitchTab(tab.id), CloseTab(tab.id)]
    return rng.choice(choices)


def _about_an_element(element: Element, rng: random.Random) -> Action:
    if element.role in TEXT_ROLES:
        if element.value and rng.random() < 0.2:
            return Clear(element.id)
        return Type(element.id, rng.choice(WORDS), enter=rng.random() < 0.5)
    if element.options:
        return Select(element.id, (rng.choice(element.options),))
    return Click(element.id)
