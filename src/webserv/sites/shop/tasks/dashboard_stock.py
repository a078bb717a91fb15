"""Dashboard: prices, stock and who supplies it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal

from webserv.sites.shop import reference as way
from webserv.sites.shop.evaluators import nothing_else, rows
from webserv.sites.shop.reference import HOME
from webserv.sites.shop.tasks.database import Product, ShopDatabase
from webserv.sites.shop.tasks.kinds import dashboard, neighbours
from webserv.tasks.evaluators.answer import AnswerNames, AnswerNumber
from webserv.tasks.evaluators.guard import Edited, NothingElse
from webserv.tasks.evaluators.page import PageText
from webserv.tasks.scripting import click, fill, finish, script
from webserv.tasks.task import Script
from webserv.tasks.template import Draft
from webserv.types import Element, Observation


def set_price(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new price; the near miss sets that of another product of the category."""
    for product, other in neighbours(shop, rng):
        price = product.price + rng.choice((-1, 1)) * Decimal(rng.randrange(1, 9)) / 2
        if price > 0 and price != product.price:
            yield Draft(
                f"Change the price of the {product.title} to ${price:.2f}.",
                (
                    rows(
                        "stock record",
                        "SELECT price, num_in_stock - coalesce(num_allocated, 0), partner_sku"
                        " FROM partner_stockrecord WHERE product_id = ?",
                        product.id,
                        expected=((price, product.in_stock, product.sku),),
                    ),
                    PageText((product.title, f"${price:.2f}"), url=_page_of(product)),
                    _only(product, "price"),
                ),
                script(_edit_stock, product, "Price", f"{price:.2f}"),
                script(_edit_stock, other, "Price", f"{price:.2f}"),
                {"product": product.title, "price": str(price)},
            )


def set_stock(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new stock level; the near miss does not save."""
    for product, _ in neighbours(shop, rng):
        level = rng.randrange(200, 600)
        yield Draft(
            f"A delivery has arrived: set the number in stock of the {product.title} to {level}.",
            (
                rows(
                    "stock record",
                    "SELECT num_in_stock, price, partner_sku FROM partner_stockrecord WHERE product_id = ?",
                    product.id,
                    expected=((level, product.price, product.sku),),
                ),
                _only(product, "num_in_stock"),
            ),
            script(_edit_stock, product, "Num in stock", str(level)),
            script(_edit_stock, product, "Num in stock", str(level), save=False),
            {"product": product.title, "level": level},
        )


def _edit_stock(obs: Observation, product: Product, column: str, value: str, *, save: bool = True) -> Script:
    obs = yield from way.dashboard_product(obs, product.title)
    obs = yield from click(obs, "link|tab", "Stock and pricing")
    obs = yield from way.fill_stock(obs, column, value)
    if save:
        yield from click(obs, "button", "Save")
    yield from finish()


def supplier(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """Who supplies a product; the near miss names another partner."""
    suppliers = dict(
        shop.query(
            "SELECT s.product_id, p.name FROM partner_stockrecord s JOIN partner_partner p ON p.id = s.partner_id"
        )
    )
    names = tuple(sorted(set(suppliers.values())))
    for product, _ in neighbours(shop, rng):
        name = suppliers[product.id]
        wrong = next(other for other in names if other != name)
        yield Draft(
            f"Which partner supplies the {product.title}?",
            (AnswerNames((name,), names, ignore=(product.title,)), nothing_else()),
            script(_tell_supplier, product, ""),
            script(_tell_supplier, product, wrong),
            {"product": product.title},
        )


def _tell_supplier(obs: Observation, product: Product, wrong: str) -> Script:
    obs = yield from way.dashboard_product(obs, product.title)
    obs = yield from click(obs, "link|tab", "Stock and pricing")
    yield from finish(wrong or _shown(way.stock_field(obs, "Partner")))


def _shown(element: Element) -> str:
    """What a field holds, or a dressed select shows."""
    return element.value or element.name


def stock_of_upc(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """The stock level behind a UPC; the near miss reads that of a neighbour."""
    levels = dict(shop.query("SELECT product_id, num_in_stock FROM partner_stockrecord"))
    for product, other in neighbours(shop, rng):
        if levels[product.id] != levels[other.id]:
            yield Draft(
                f"According to the dashboard, what is the number in stock of the product with the UPC {product.upc}?",
                (
                    AnswerNumber(Decimal(levels[product.id]), ignore=(product.upc, product.title)),
                    nothing_else(),
                ),
                script(_tell_stock, product),
                script(_tell_stock, other),
                {"upc": product.upc},
            )


def _tell_stock(obs: Observation, product: Product) -> Script:
    obs = yield from way.dashboard(obs, "Catalogue", "Products")
    obs = yield from fill(obs, "UPC", product.upc, enter=True, exact=False)
    obs = yield from click(obs, "link", product.title)
    obs = yield from click(obs, "link|tab", "Stock and pricing")
    yield from finish(_shown(way.stock_field(obs, "Num in stock")))


def _page_of(product: Product) -> str:
    return f"{HOME}catalogue/{product.slug}_{product.id}/"


def _only(product: Product, column: str) -> NothingElse:
    return nothing_else(Edited("partner_stockrecord", f"product_id = {product.id}", (column,)))


TEMPLATES = (
    dashboard("set-price-v1", set_price, tags=("edit", "catalogue"), steps=25),
    dashboard("set-stock-v1", set_stock, tags=("edit", "catalogue"), steps=25),
    # There are three partners.
    dashboard("supplier-v1", supplier, tags=("read", "catalogue"), steps=20, same=2),
    dashboard("stock-of-upc-v1", stock_of_upc, tags=("read", "catalogue"), steps=20),
)
