from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webserv.tasks.evaluators.normalize.currency import Money, parse_money


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("$12.50", "USD"),
        ("12.5 USD", "USD"),
        ("USD12.50", "USD"),
        ("US$ 12.50.", "USD"),
        ("It costs 12.50 dollars.", "USD"),
        ("£12.50", "GBP"),
        ("12,50 €", "EUR"),
        ("12.50", None),
    ],
)
def test_an_amount_is_read_with_its_currency(text, currency):
    assert parse_money(text) == Money(Decimal("12.50"), currency)


@pytest.mark.parametrize("text", ["", "$", "$12.50 or $13.50", "£12.50 ($12.50)", "cheap"])
def test_none_several_and_mixed_currencies_are_not(text):
    assert parse_money(text) is None


@given(st.decimals(0, 10**7, places=2), st.sampled_from([("${}", "USD"), ("{} EUR", "EUR"), ("£{}", "GBP")]))
def test_amounts_survive_formatting(amount, form):
    pattern, currency = form
    assert parse_money(pattern.format(f"{amount:,.2f}")) == Money(amount, currency)


def test_letters_of_other_words_are_no_currency():
    assert parse_money("12.50 for the European model") == Money(Decimal("12.50"), None)


@pytest.mark.parametrize(
    "text",
    [
        "CHF 12.50",
        "12.50 CHF",
        "12.50 yen",
        "12.50%",
        "¥12.50",
        "A$12.50",
        "12.50 Australian dollars",
        "$12.50 CAD",
        "$12.50%",
        "12.50 kg",
        "12.50k",
        "It costs kr 12.50",
        "twelve yen",
        "~12.50",
    ],
)
def test_an_unknown_word_or_sign_beside_the_amount_is_another_currency(text):
    assert parse_money(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "The total is 12.50.",
        "**$12.50**",
        "$12.50 shipping included",
        "Price: 12.50 (incl. tax)",
        "12.50 US dollars more than the other",
        "Yoga Mat costs 12.50 in total",
        "On 2026-03-02 I paid 12.50",
        "The answer is: USD 12.50",
    ],
)
def test_sentences_around_the_amount_are_harmless(text):
    money = parse_money(text)
    assert money is not None
    assert money.amount == Decimal("12.50")


def test_phrases_of_the_question_are_not_beside_the_amount():
    assert parse_money("Yoga Mat 12.50", ignore=("Yoga Mat",)) == Money(Decimal("12.50"), None)
    assert parse_money("Yoga Mat 12.50") is None
