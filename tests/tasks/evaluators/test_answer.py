import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webserv.tasks.evaluators.answer import AnswerDate, AnswerIs, AnswerMoney, AnswerNames, AnswerNumber

CATALOGUE = ("Oak Table", "Oak Table Large", "Pine Table", "Desk Lamp")


async def value(check, state, answer):
    return (await check.evaluate(state(answer=answer))).value


@pytest.mark.parametrize(
    "answer",
    ["Oak Table", "oak table.", '"Oak Table"', "The cheapest product is the **Oak Table**.", "Oak-Table"],
)
async def test_a_name_passes_in_a_harmless_phrase(end_state, answer):
    assert await value(AnswerNames(("Oak Table",), CATALOGUE), end_state, answer) == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "",
        "Oak",
        "Oak Table Large",
        "Oak Table, Pine Table",
        "Either Oak Table or something else",
        "It is not the Oak Table",
        "I looked at everything in the whole shop for a very long time and then at last I found Oak Table",
    ],
)
async def test_another_name_several_hedges_and_rambling_fail(end_state, answer):
    assert await value(AnswerNames(("Oak Table",), CATALOGUE), end_state, answer) == 0.0


async def test_a_set_of_names_is_free_of_order_but_complete(end_state):
    check = AnswerNames(("Oak Table", "Desk Lamp"), CATALOGUE)
    assert await value(check, end_state, "Desk Lamp and Oak Table") == 1.0
    assert await value(check, end_state, "- Oak Table\n- Desk Lamp") == 1.0
    assert await value(check, end_state, "Oak Table") == 0.0
    assert await value(check, end_state, "Oak Table, Desk Lamp, Pine Table") == 0.0


async def test_names_of_the_question_may_be_repeated(end_state):
    check = AnswerNames(("Oak Table",), CATALOGUE, ignore=("Desk Lamp",))
    assert await value(check, end_state, "Oak Table is cheaper than Desk Lamp") == 1.0
    assert await value(check, end_state, "Desk Lamp") == 0.0


@given(st.permutations(CATALOGUE), st.integers(1, 3), st.sampled_from([", ", "\n", " and ", "; "]))
async def test_listing_candidates_passes_only_for_exactly_the_set(end_state, order, count, joiner):
    answer = joiner.join(order[:count])
    assert await value(AnswerNames(tuple(sorted(order[:count])), CATALOGUE), end_state, answer) == 1.0
    assert await value(AnswerNames(tuple(order[: count + 1]), CATALOGUE), end_state, answer) == 0.0
    assert await value(AnswerNames(tuple(order[: count - 1]), CATALOGUE), end_state, answer) == 0.0


async def test_an_exact_answer_has_nothing_beside_it(end_state):
    check = AnswerIs(("Pending", "pending state"))
    assert await value(check, end_state, " 'pending'. ") == 1.0
    assert await value(check, end_state, "Pending State") == 1.0
    assert await value(check, end_state, "Pending, Complete") == 0.0
    assert await value(check, end_state, None) == 0.0


@pytest.mark.parametrize("answer", ["7", "7.0", "seven", "There are 7 orders.", "7 orders in March 2026"])
async def test_a_number_passes_in_a_harmless_phrase(end_state, answer):
    assert await value(AnswerNumber(Decimal(7), ignore=("March 2026",)), end_state, answer) == 1.0


@pytest.mark.parametrize(
    "answer", [None, "", "8", "7 or 8", "6, 7, 8", "about 7", "at least 7", "not 7", "7 of 9", "77"]
)
async def test_other_numbers_several_and_hedges_fail(end_state, answer):
    assert await value(AnswerNumber(Decimal(7)), end_state, answer) == 0.0


@given(st.decimals(0, 5, places=2))
async def test_tolerance_is_a_closed_interval(end_state, number):
    check = AnswerNumber(Decimal("2.50"), tolerance=Decimal("0.05"))
    assert await value(check, end_state, str(number)) == float(Decimal("2.45") <= number <= Decimal("2.55"))


@pytest.mark.parametrize("answer", ["$12.50", "12.5 USD", "12.50", "It costs $12.50.", "12,50 dollars"])
async def test_an_amount_passes_with_or_without_its_currency(end_state, answer):
    assert await value(AnswerMoney(Decimal("12.50"), "USD"), end_state, answer) == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "$12.05",
        "£12.50",
        "12.49",
        "$12.50 or $13",
        "around $12.50",
        "$1,250",
        "CHF 12.50",
        "12.50 yen",
        "12.50%",
    ],
)
async def test_another_amount_or_currency_fails(end_state, answer):
    assert await value(AnswerMoney(Decimal("12.50"), "USD"), end_state, answer) == 0.0


async def test_a_date_passes_in_any_notation(end_state):
    check = AnswerDate(datetime.date(2026, 1, 5))
    assert await value(check, end_state, "January 5th, 2026") == 1.0
    assert await value(check, end_state, "2026-01-05") == 1.0
    assert await value(check, end_state, "2026-01-06") == 0.0
    assert await value(check, end_state, "5 or 6 January 2026") == 0.0
    assert await value(check, end_state, None) == 0.0


async def test_evidence_quotes_the_answer_and_what_was_expected(end_state):
    score = await AnswerNumber(Decimal(7)).evaluate(end_state(answer="8"))
    assert score.evidence == ("FAILED: answer '8', expected the number 7",)
