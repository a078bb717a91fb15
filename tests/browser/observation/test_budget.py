"""The budget: texts fit, and what is cut is counted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from webserv.browser.observation.budget import fit


def test_a_short_text_is_left_alone():
    assert fit(["URL: x"], ["a", "b"], 100) == "URL: x\na\nb"


def test_what_is_cut_is_counted():
    body = [f'[b_{i}] button "B" and \\[not] an id' for i in range(100)]
    text = fit(["URL: x"], body, 400)
    kept = text.split("\n")
    assert kept[-1] == "… cut here: 92 more lines with 92 elements, 3,218 characters, are not shown"
    assert kept[:-1] == ["URL: x", *body[:8]]


@given(
    st.lists(st.text(st.characters(exclude_characters="\n"), max_size=60), max_size=40),
    st.integers(200, 1000),
)
def test_texts_fit_their_budget(body, limit):
    assert len(fit(["URL: x"], body, limit)) <= limit
