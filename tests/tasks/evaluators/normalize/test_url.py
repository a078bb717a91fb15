import pytest
from hypothesis import given
from hypothesis import strategies as st

from webserv.tasks.evaluators.normalize.url import normalize_url, query_pairs


@pytest.mark.parametrize(
    "url",
    [
        "http://shop.example/a/?x=1&y=2",
        "HTTP://Shop.Example:80/a?y=2&x=1#top",
        " http://shop.example/%61/?x=1&y=2 ",
    ],
)
def test_harmless_differences_vanish(url):
    assert normalize_url(url) == "http://shop.example/a?x=1&y=2"


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.example/a",
        "http://shop.example:8080/a",
        "http://shop.example/b",
        "http://shop.example/a?x",
    ],
)
def test_others_stay(url):
    assert normalize_url(url) != normalize_url("http://shop.example/a")


def test_named_parameters_can_be_left_out():
    assert query_pairs("http://a/?b=1&t=2&c=", ignore=["t"]) == (("b", "1"), ("c", ""))


@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=5), st.text(max_size=5)), max_size=4).flatmap(
        lambda pairs: st.tuples(st.just(pairs), st.permutations(pairs))
    )
)
def test_order_of_parameters_does_not_count(lists):
    from urllib.parse import urlencode

    first, second = (f"http://shop.example/?{urlencode(pairs)}" for pairs in lists)
    assert normalize_url(first) == normalize_url(second)
