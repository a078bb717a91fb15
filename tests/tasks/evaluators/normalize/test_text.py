import pytest
from hypothesis import given
from hypothesis import strategies as st

from webserv.tasks.evaluators.normalize.text import bare, find_names, fold, without_phrases, words


@given(st.text())
def test_folding_and_baring_twice_is_the_same_as_once(text):
    assert fold(fold(text)) == fold(text)
    assert bare(bare(text)) == bare(text)


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_case_and_space_around_do_not_count(text):
    assert fold(f"  {text.upper()}\n") == fold(text.lower())


@pytest.mark.parametrize(
    "text",
    [
        "Oak Table",
        " oak  table. ",
        '"Oak Table"',
        "**Oak Table**",
        "`Oak Table`.",
        "(Oak\u00a0Table)",
        "OAK TABLE!",
    ],
)
def test_harmless_wrapping_is_taken_off(text):
    assert bare(text) == "oak table"


@pytest.mark.parametrize("text", ["Oak Tables", "Oak", "The Oak Table", "Oak Table Large"])
def test_other_words_stay(text):
    assert bare(text) != "oak table"


def test_typographic_quotes_and_dashes_become_plain():
    assert fold("Children\u2019s \u201cA\u2013Z\u201d") == 'children\'s "a-z"'


def test_the_longest_name_counts():
    names = ["Oak Table", "Oak Table Large", "Lamp"]
    assert find_names("I bought the oak table, large!", names) == (
        {"Oak Table Large"},
        ("i", "bought", "the"),
    )
    assert find_names("Oak Table and lamp", names)[0] == {"Oak Table", "Lamp"}
    assert find_names("Oaken Table", names)[0] == frozenset()


NAMES = st.lists(st.text(alphabet="abc", min_size=1, max_size=3), min_size=1, max_size=3).map(" ".join)


@given(st.lists(NAMES, max_size=6), st.text(alphabet="abc ,.", max_size=30))
def test_names_found_and_rest_account_for_every_word(names, text):
    found, rest = find_names(text, names)
    assert found <= set(names)
    if not found:
        assert rest == words(text)
    assert len(rest) <= len(words(text))


@given(NAMES, st.text(alphabet="xyz ", max_size=10), st.text(alphabet="xyz ", max_size=10))
def test_a_name_is_found_within_any_phrase(name, before, after):
    assert find_names(f"{before} {name.upper()}, {after}", [name])[0] == {name}


def test_phrases_are_blanked_as_whole_words_longest_first():
    assert (
        without_phrases("3 orders in March 2026 and 13", ["March", "in March 2026", "3"]) == "orders and 13"
    )
