from decimal import Decimal

import pytest

from webserv.sites.shop import reference as way
from webserv.tasks.scripting import ScriptStuck
from webserv.types import Element, Observation, Settle

LIST = """\
# Lighting
2 results.
1. [desk_lamp] link "Desk Lamp" · $39.00 · In stock · [add] button "Add to basket"
2. [string_lights] link "String Lights" · $1,024.50 · Unavailable · Add to basket
footer: [about] link "About us"
"""
STOCK = """\
| Partner | SKU | Num in stock | Low stock threshold | Price |
| [partner] combobox | [sku] textbox = "HA-1" | [stock] textbox = "36" | [low] textbox = "5" | [price] textbox = "9" |
"""
SELECTS = """\
[state] combobox "Pending" collapsed
[kind] select "Kind" = "Big" options: "Big" | "Small"
[a] button "Actions" [b] button "Actions"
"""


def make(text, *elements):
    return Observation(
        text, "http://shop.example/", "Shop", elements, (), None, None, Settle(True, "quiet", 0.0)
    )


def first_action(steps):
    return next(steps)


def test_product_tiles_are_read_with_their_prices():
    obs = make(
        LIST,
        Element("desk_lamp", "link", "Desk Lamp", href="http://shop.example/catalogue/desk-lamp_7/"),
        Element(
            "string_lights", "link", "String Lights", href="http://shop.example/catalogue/string-lights_8/"
        ),
        Element("about", "link", "About us", href="http://shop.example/about/"),
    )
    assert way.products_shown(obs) == [("Desk Lamp", Decimal("39.00")), ("String Lights", Decimal("1024.50"))]
    assert way.product_link(obs, "String Lights").id == "string_lights"
    with pytest.raises(ScriptStuck):
        way.product_link(obs, "Floor Lamp")


def test_an_amount_is_read_and_its_lack_is_said():
    assert way.amount("Total: $1,024.50.") == Decimal("1024.50")
    with pytest.raises(ScriptStuck, match="No amount"):
        way.amount("free")


def test_fields_without_labels_are_found_by_their_column():
    fields = [Element(id_, "spinbutton", "") for id_ in ("partner", "sku", "stock", "low", "price")]
    assert way.stock_field(make(STOCK, *fields), "Price").id == "price"
    assert way.stock_field(make(STOCK, *fields), "Num in stock").id == "stock"
    with pytest.raises(ScriptStuck, match="No stock records"):
        way.stock_field(make("", *fields), "Price")


def test_selects_are_chosen_natively_or_opened_when_dressed_up():
    obs = make(
        SELECTS,
        Element("state", "combobox", "Pending"),
        Element("kind", "select", "Kind", value="Big", options=("Big", "Small")),
    )
    assert first_action(way.choose_dressed(obs, "Kind", "Big", "Small")) == 'select("kind", "Small")'
    assert first_action(way.choose_dressed(obs, "Status", "Pending", "Shipped")) == 'click("state")'
    with pytest.raises(ScriptStuck, match="No select 'Size' that shows 'Large'"):
        first_action(way.choose_dressed(obs, "Size", "Large", "Small"))


def test_the_first_element_after_a_text_is_taken():
    obs = make(SELECTS, Element("a", "button", "Actions"), Element("b", "button", "Actions"))
    assert first_action(way.click_after(obs, "[a]", "button", "Actions")) == 'click("b")'
    with pytest.raises(ScriptStuck, match="after 'nowhere'"):
        first_action(way.click_after(obs, "nowhere", "button", "Actions"))
