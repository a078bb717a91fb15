"""How the report writes numbers."""

import pytest

from webserv.viewer import figures


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (None, figures.NONE),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.5, "50 %"),
        (0.999, "99.9 %"),
        (0.001, "0.1 %"),
        (2 / 3, "67 %"),
    ],
)
def test_only_a_full_share_reads_as_100_and_only_none_as_0(share, text):
    assert figures.percent(share).replace("\u202f", " ") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, figures.NONE),
        (0.0123, "12 ms"),
        (0.9999, "1.0 s"),
        (5.25, "5.2 s"),
        (99.6, "1 min 40 s"),
        (3725, "1 h 02 min"),
    ],
)
def test_durations_have_a_unit_that_suits_them(value, text):
    assert figures.seconds(value).replace("\u202f", " ") == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, figures.NONE), (1234567, "1 234 567"), (3.25, "3.2"), (1234.5, "1 234.5")]
)
def test_counts_have_thin_spaces(value, text):
    assert figures.count(value).replace("\u202f", " ") == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, figures.NONE), (1.0, "1"), (0.0, "0"), (0.5, "0.5"), (0.833, "0.83")]
)
def test_rewards_are_short(value, text):
    assert figures.reward(value) == text


def test_the_parts_of_a_bar_are_in_a_fixed_order_and_add_up():
    parts = figures.parts({"settle": 1.0, "act": 2.0, "unknown": 1.0, "observe": -5.0})
    assert [part.name for part in parts] == ["act", "settle", "other"]
    assert sum(part.share for part in parts) == pytest.approx(1.0)
    assert figures.parts({}) == []


def test_the_interval_of_a_rate_is_wilsons():
    assert figures.interval(0, 0) == ""
    assert figures.interval(21, 32).replace("\u202f", " ") == "95 % interval 48 to 80 %"
    assert figures.interval(32, 32).replace("\u202f", " ") == "95 % interval 89 to 100 %"
