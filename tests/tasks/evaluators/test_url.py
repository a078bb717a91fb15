import pytest

from webserv.tasks.evaluators.url import FinalUrl

URL = "http://shop.example/catalogue/lamp_3/?page=2"


@pytest.mark.parametrize(
    ("query", "at", "value"),
    [
        ("exact", "http://shop.example/catalogue/lamp_3?page=2#reviews", 1.0),
        ("exact", "http://shop.example/catalogue/lamp_3/?page=2&sort=price", 0.0),
        ("exact", "http://shop.example/catalogue/lamp_3/", 0.0),
        ("includes", "http://shop.example/catalogue/lamp_3/?sort=price&page=2", 1.0),
        ("includes", "http://shop.example/catalogue/lamp_3/?page=3", 0.0),
        ("ignore", "http://shop.example/catalogue/lamp_3/", 1.0),
        ("ignore", "http://shop.example/catalogue/lamp_4/?page=2", 0.0),
    ],
)
async def test_the_final_url_is_compared_as_asked(end_state, query, at, value):
    assert (await FinalUrl(URL, query).evaluate(end_state(url=at))).value == value
