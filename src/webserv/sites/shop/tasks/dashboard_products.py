"""Dashboard: products of the catalogue."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from webserv.sites.shop import reference as way
from webserv.sites.shop.evaluators import nothing_else, rows
from webserv.sites.shop.reference import HOME
from webserv.sites.shop.tasks.database import Category, Product, ShopDatabase
from webserv.sites.shop.tasks.kinds import dashboard, neighbours, shuffled
from webserv.tasks.evaluators.guard import Added, Edited, Removed
from webserv.tasks.evaluators.page import PageText
from webserv.tasks.scripting import click, fill, finish, script
from webserv.tasks.task import Script
from webserv.tasks.template import Draft
from webserv.types import Observation


@dataclass(frozen=True)
class _NewProduct:
    title: str
    upc: str
    price: str
    stock: int
    kind: str
    category: str


_NEW_PRODUCTS = (
    _NewProduct("Copper Measuring Jug", "NEW-7001", "23.50", 40, "Kitchenware", "Cookware"),
    _NewProduct("Travel Router Nano", "NEW-7002", "41.90", 25, "Electronics", "Computer Accessories"),
    _NewProduct("Hammock Double", "NEW-7003", "58.00", 18, "Outdoor gear", "Camp Kitchen"),
    _NewProduct("Linen Table Runner", "NEW-7004", "27.25", 60, "Home goods", "Decor"),
    _NewProduct("Wooden Train Loop", "NEW-7005", "34.80", 33, "Toys", "Building Sets"),
    _NewProduct("Seed Sowing Tray", "NEW-7006", "9.95", 120, "Garden supplies", "Pots & Planters"),
)
_OF_A_PRODUCT = (
    "partner_stockrecord",
    "catalogue_productcategory",
    "catalogue_productattributevalue",
    "catalogue_productimage",
    "offer_rangeproduct",
)
"""Tables with rows that come and go with a product."""


def rename_product(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new title; the near miss misspells it."""
    for product, _ in neighbours(shop, rng):
        title = f"{product.title} {rng.choice(('Classic', 'Second Edition', 'Plus', 'Original'))}"
        yield Draft(
            f"Rename the product \u201c{product.title}\u201d to \u201c{title}\u201d.",
            (
                rows(
                    "product",
                    "SELECT title, upc, is_public FROM catalogue_product WHERE id = ?",
                    product.id,
                    expected=((title, product.upc, 1),),
                ),
                nothing_else(Edited("catalogue_product", f"id = {product.id}", ("title",))),
            ),
            script(_edit_product, product, "Title", title),
            script(_edit_product, product, "Title", title[:-1]),
            {"product": product.title, "title": title},
        )


def change_upc(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new UPC; the near miss changes that of another product."""
    for product, other in neighbours(shop, rng):
        upc = f"{product.upc[:2]}-{rng.randrange(5000, 9999)}"
        yield Draft(
            f"The UPC of the {product.title} is wrong. Change it to {upc}.",
            (
                rows(
                    "product",
                    "SELECT upc, title, is_public FROM catalogue_product WHERE id = ?",
                    product.id,
                    expected=((upc, product.title, 1),),
                ),
                nothing_else(Edited("catalogue_product", f"id = {product.id}", ("upc",))),
            ),
            script(_edit_product, product, "UPC", upc),
            script(_edit_product, other, "UPC", upc),
            {"product": product.title, "upc": upc},
        )


def _edit_product(obs: Observation, product: Product, field: str, value: str) -> Script:
    obs = yield from way.dashboard_product(obs, product.title)
    obs = yield from fill(obs, field, value)
    yield from click(obs, "button", "Save")
    yield from finish()


def hide_product(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A product is taken off the storefront; the near miss stops its discounts instead."""
    for category in shuffled(rng, shop.categories):
        product = rng.choice(category.products)
        if sum(product.title in title for title in shop.titles) > 1:
            continue  # the category's page would show its title within another one
        page = f"{HOME}catalogue/category/{category.path}_{category.id}/"
        yield Draft(
            f"Customers must not see the {product.title} any more: make it non-public, but do not delete it.",
            (
                rows(
                    "product",
                    "SELECT is_public, title, upc, is_discountable FROM catalogue_product WHERE id = ?",
                    product.id,
                    expected=((0, product.title, product.upc, 1),),
                ),
                PageText(excludes=(product.title,), url=page),
                nothing_else(Edited("catalogue_product", f"id = {product.id}", ("is_public",))),
            ),
            script(_uncheck, product, "Is public"),
            script(_uncheck, product, "Is discountable?"),
            {"product": product.title},
        )


def _uncheck(obs: Observation, product: Product, box: str) -> Script:
    obs = yield from way.dashboard_product(obs, product.title)
    obs = yield from click(obs, "checkbox", box)
    yield from click(obs, "button", "Save")
    yield from finish()


def delete_product(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A product is deleted; the near miss stops at the confirmation."""
    wished = {product for (product,) in shop.query("SELECT product_id FROM wishlists_line")}
    for product in shuffled(rng, shop.products):
        if product.reviews or product.id in wished:
            continue
        yield Draft(
            f"Delete the product {product.title} (UPC {product.upc}) from the catalogue.",
            (
                rows(
                    "products",
                    "SELECT count(*) FROM catalogue_product WHERE id = ?",
                    product.id,
                    expected=((0,),),
                ),
                nothing_else(
                    Removed("catalogue_product", f"id = {product.id}"),
                    *(Removed(table, f"product_id = {product.id}") for table in _OF_A_PRODUCT),
                    # Orders keep the title and the price of what was sold.
                    Edited("order_line", f"product_id = {product.id}", ("product_id", "stockrecord_id")),
                ),
            ),
            script(_delete_product, product, confirm=True),
            script(_delete_product, product, confirm=False),
            {"product": product.title},
        )


def _delete_product(obs: Observation, product: Product, *, confirm: bool) -> Script:
    obs = yield from way.find_dashboard_product(obs, product.title)
    obs = yield from way.row_action(obs, f'"{product.title}"', "Delete")
    if confirm:
        yield from click(obs, "button", "Delete")
    yield from finish()


def create_product(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new product with category, stock and price; the near miss leaves the stock record out."""
    newest = shop.query("SELECT max(id) FROM catalogue_product")[0][0]
    partners = [name for (name,) in shop.query("SELECT name FROM partner_partner ORDER BY name")]
    for new in shuffled(rng, _NEW_PRODUCTS):
        partner = rng.choice(partners)
        category = next(category for category in shop.categories if category.name == new.category)
        yield Draft(
            f"Create a product of the type \u201c{new.kind}\u201d in the category {category.parent} > {category.name}: "
            f"title \u201c{new.title}\u201d, UPC {new.upc}, supplied by {partner} with the SKU {new.upc}, "
            f"{new.stock} in stock, price ${new.price}.",
            (
                rows(
                    "new products",
                    "SELECT p.title, p.upc, c.category_id, n.name, s.partner_sku, s.num_in_stock, s.price"
                    " FROM catalogue_product p LEFT JOIN catalogue_productcategory c ON c.product_id = p.id"
                    " LEFT JOIN partner_stockrecord s ON s.product_id = p.id"
                    " LEFT JOIN partner_partner n ON n.id = s.partner_id WHERE p.id > ? ORDER BY p.id, s.id",
                    newest,
                    expected=(
                        (new.title, new.upc, category.id, partner, new.upc, new.stock, Decimal(new.price)),
                    ),
                ),
                nothing_else(
                    Added("catalogue_product"),
                    *(Added(table, f"product_id > {newest}") for table in _OF_A_PRODUCT),
                ),
            ),
            script(_create_product, new, category, partner),
            script(_create_product, new, category, ""),
            {"title": new.title, "category": category.name},
        )


def _create_product(obs: Observation, new: _NewProduct, category: Category, partner: str) -> Script:
    obs = yield from way.dashboard(obs, "Catalogue", "Products")
    obs = yield from way.choose_dressed(obs, "Create a new product of type", "-- Choose type --", new.kind)
    obs = yield from click(obs, "button", "New Product")
    obs = yield from fill(obs, "Title", new.title)
    obs = yield from fill(obs, "UPC", new.upc)
    obs = yield from click(obs, "link|tab", "Categories")
    obs = yield from way.choose_dressed(obs, "Category", "---------", f"{category.parent} > {category.name}")
    if partner:
        obs = yield from click(obs, "link|tab", "Stock and pricing")
        obs = yield from way.choose_in(way.stock_field(obs, "Partner"), partner)
        obs = yield from way.fill_stock(obs, "SKU", new.upc)
        obs = yield from way.fill_stock(obs, "Num in stock", str(new.stock))
        obs = yield from way.fill_stock(obs, "Price", new.price)
    yield from click(obs, "button", "Save")
    yield from finish()


TEMPLATES = (
    dashboard("rename-product-v1", rename_product, tags=("edit", "catalogue"), steps=20),
    dashboard("change-upc-v1", change_upc, tags=("edit", "catalogue"), steps=20),
    dashboard("hide-product-v1", hide_product, tags=("edit", "catalogue"), steps=20),
    dashboard("delete-product-v1", delete_product, tags=("delete", "catalogue"), steps=20),
    dashboard("create-product-v1", create_product, tags=("create", "catalogue"), steps=40),
)
