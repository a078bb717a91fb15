import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webserv.tasks.evaluators.normalize.date import find_dates, parse_date, without_dates

FORMS = ["%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%b %d %Y", "%d %b. %Y", "%Y/%m/%d", "It was on %A, %d %B %Y."]


@given(st.dates(datetime.date(1990, 1, 1), datetime.date(2099, 12, 31)), st.sampled_from(FORMS))
def test_every_common_notation_is_read(date, form):
    assert parse_date(date.strftime(form)) == date


@pytest.mark.parametrize(
    "text", ["2nd of March 2026", "March 2nd, 2026", "2026 Mar 2", "2026-3-2", "02/02/2026 is wrong"]
)
def test_ordinals_and_short_names(text):
    assert parse_date(text) == datetime.date(2026, 2 if "/" in text else 3, 2)


def test_day_and_month_must_be_told_apart():
    assert parse_date("31.12.2025") == parse_date("12/31/2025") == datetime.date(2025, 12, 31)
    assert parse_date("02/03/2026") is None


@pytest.mark.parametrize(
    "text", ["", "2026", "March 2026", "1 May 2026 or 2 May 2026", "2026-02-30", "32 May 2026"]
)
def test_no_date_several_dates_and_impossible_ones_are_not(text):
    assert parse_date(text) is None


@given(st.text())
def test_any_text_can_be_read(text):
    find_dates(text)


def test_dates_are_blanked_out_and_nothing_else():
    assert without_dates("7 on 2026-01-05, 8 on March 2nd, 2026 and 31.12.2025").split() == [
        "7",
        "on",
        ",",
        "8",
        "on",
        "and",
    ]
    assert without_dates("May 12 orders") == "may 12 orders"
