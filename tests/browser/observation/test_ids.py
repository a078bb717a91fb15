"""Semantic ids: form, uniqueness, stability, and that none is given to another element."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from webserv.browser.observation.element import ElementKey, PageElement
from webserv.browser.observation.ids import MAX_LENGTH, IdBook, slug


def element(
    number: int, name: str, *, document: str = "d", target: str = "t", role: str = "button", **more: object
) -> PageElement:
    return PageElement(ElementKey(document, number), role, name, target, **more)  # type: ignore[arg-type]


def assign(book: IdBook, *elements: PageElement) -> list[str]:
    book.assign(elements)
    return [item.id for item in elements]


def test_slugs_are_words_cut_at_their_end():
    assert slug("Add to basket!") == "add_to_basket"
    assert slug("  Größe & Farbe — 10% ") == "grösse_farbe_10"
    assert slug("A very long name of a button indeed") == "a_very_long_name_of_a"
    assert slug("Donaudampfschifffahrtsgesellschaft") == "donaudampfschifffahrtsge"
    assert slug("→ ★") == ""


def test_equal_names_are_numbered_in_order_and_nameless_ones_named_by_field_or_role():
    book = IdBook()
    assert assign(book, element(1, "Buy"), element(2, "Buy"), element(3, "Buy")) == ["buy", "buy_2", "buy_3"]
    assert assign(IdBook(), element(1, "", fallback="user[email]"), element(2, "")) == [
        "user_email",
        "button",
    ]


def test_a_number_in_a_name_does_not_clash_with_a_counter():
    assert assign(IdBook(), element(1, "Line 2"), element(2, "Line"), element(3, "Line")) == [
        "line_2",
        "line",
        "line_3",
    ]


def test_a_living_element_keeps_its_id():
    book = IdBook()
    assign(book, element(1, "Follow"), element(2, "Other"))
    assert assign(book, element(3, "Follow", target="x"), element(1, "Unfollow")) == ["follow_2", "follow"]


def test_the_same_thing_in_a_later_document_has_the_same_id():
    book = IdBook()
    assign(book, element(1, "Search", target="/search"), element(2, "Save", target="/a"))
    later = [
        element(1, "Search", document="e", target="/search"),
        element(2, "Save", document="e", target="/b"),
    ]
    assert assign(book, *later) == ["search", "save_2"]


def test_one_of_several_never_gives_its_id_on():
    book = IdBook()
    assign(book, element(1, "Delete"), element(2, "Delete"))
    assert assign(book, element(1, "Delete", document="e")) == ["delete_3"]
    assert assign(book, element(1, "Delete", document="f"), element(2, "Delete", document="f")) == [
        "delete_4",
        "delete_5",
    ]


def test_links_to_one_address_are_the_same_thing_also_where_there_are_several():
    book = IdBook()
    link = {"role": "link", "href": "/home"}
    assert assign(book, element(1, "Home", **link), element(2, "Home", **link)) == ["home", "home_2"]
    assert assign(
        book, element(1, "Home", document="e", **link), element(2, "Home", document="e", **link)
    ) == ["home", "home_2"]


ELEMENTS = st.lists(
    st.tuples(st.integers(1, 12), st.sampled_from(["Buy", "Buy 2", "", "Save", "Ünïcode name that is long, very long"]),
              st.sampled_from("de"), st.sampled_from(["t", "u"])), max_size=12, unique_by=lambda t: (t[0], t[2]),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(ELEMENTS, max_size=6))
def test_ids_are_short_and_unique_and_found_again(rounds):
    book = IdBook()
    for elements in rounds:
        made = [
            element(number, name, document=document, target=target)
            for number, name, document, target in elements
        ]
        ids = assign(book, *made)
        assert len(set(ids)) == len(ids)
        for item in made:
            assert 0 < len(item.id) <= MAX_LENGTH
            assert book.key_of(item.id) == item.key
            assert book.id_of(item.key) == item.id


@settings(max_examples=60, deadline=None)
@given(st.lists(ELEMENTS, max_size=6))
def test_in_one_document_an_element_keeps_its_id_and_no_other_gets_it(rounds):
    book = IdBook()
    id_of: dict[int, str] = {}
    for elements in rounds:
        made = [
            element(number, name, target=target)
            for number, name, _, target in {e[0]: e for e in elements}.values()
        ]
        assign(book, *made)
        for item in made:
            assert id_of.setdefault(item.key.number, item.id) == item.id
    assert len(set(id_of.values())) == len(id_of)


def test_an_element_that_replaced_a_gone_one_takes_its_id_unless_that_comes_back():
    book = IdBook()
    assign(book, element(1, "Save"))
    assert assign(book, element(2, "Save")) == ["save_2"]  # the first may be hidden only
    book.assign([replaced := element(3, "Save")], gone=[ElementKey("d", 2)])
    assert replaced.id == "save_2"
    assert assign(book, element(2, "Save"), element(3, "Save")) == ["save_3", "save_2"]


def test_the_same_pages_in_the_same_order_give_the_same_ids():
    def run() -> list[str]:
        book = IdBook()
        return assign(book, element(1, "A"), element(2, "B")) + assign(book, element(1, "B", document="e"))

    assert run() == run()
