from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webserv.tasks.evaluators.normalize.number import find_numbers, parse_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", "12"),
        ("12.", "12"),
        ("1,234.50", "1234.5"),
        ("1.234,50", "1234.5"),
        ("1'000", "1000"),
        ("12,5", "12.5"),
        ("1,234", "1234"),
        ("There are 7 orders.", "7"),
        ("seven", "7"),
        ("the one with 5 reviews", "5"),
        ("-3", "-3"),
        ("\u22123", "-3"),
        ("5 (five)", "5"),
        ("#100023", "100023"),
        ("5, that is 5 orders", "5"),
        ("7 orders from 2026-01-05 to March 2nd, 2026", "7"),
        ("\uff11\uff12", "12"),
    ],
)
def test_one_number_is_read(text, number):
    assert parse_number(text) == Decimal(number)


@pytest.mark.parametrize(
    "text",
    ["", "none", "3 or 4", "3, 4 and 5", "1,2,3", "2026-03-02", "4.5/5", "A12", "between 3 and 5", "1.2.3"],
)
def test_no_number_several_numbers_and_codes_are_not(text):
    assert parse_number(text) is None


@given(st.integers(-(10**12), 10**12))
def test_integers_survive_grouping_and_a_sentence(value):
    assert parse_number(f"The total is {value:,}.") == value
    assert parse_number(str(value)) == value


@given(st.decimals(0, 10**9, places=2))
def test_amounts_survive_both_notations(value):
    assert parse_number(f"{value:,.2f}") == value
    swapped = f"{value:,.2f}".translate(str.maketrans(",.", ".,"))
    assert parse_number(swapped) == value


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_two_different_numbers_never_pass_as_one(first, second):
    if first != second:
        assert parse_number(f"{first} or {second}") is None


@given(st.text())
def test_any_text_can_be_read(text):
    parse_number(text)
    find_numbers(text)


def test_phrases_of_the_question_do_not_count_unless_nothing_else_is_there():
    assert parse_number("3 orders in March 2026", ignore=["March 2026"]) == 3
    assert parse_number("4", ignore=["4"]) == 4
    assert parse_number("3 orders in May 2026", ignore=["March 2026"]) is None
