"""Dashboard: products, stock and categories."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from webserv.sites.shop import reference as way
from webserv.sites.shop.evaluators import nothing_else, rows
from webserv.sites.shop.reference import HOME
from webserv.sites.shop.tasks.database import Category, Product, ShopDatabase
from webserv.sites.shop.tasks.kinds import dashboard, shuffled
from webserv.tasks.evaluators.answer import AnswerNames, AnswerNumber
from webserv.tasks.evaluators.database import AllUnchanged
from webserv.tasks.evaluators.page import PageText
from webserv.tasks.scripting import click, fill, finish, script
from webserv.tasks.task import Script
from webserv.tasks.template import Draft
from webserv.types import Element, Observation

_CATEGORY_NAMES = ("Gift Ideas", "Refurbished", "Last Pieces", "Handmade", "Limited Editions", "Spare Parts")


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


def set_price(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new price; the near miss sets that of another product of the category."""
    for product, other in _neighbours(shop, rng):
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
                    _only(product),
                ),
                script(_edit_stock, product, "Price", f"{price:.2f}"),
                script(_edit_stock, other, "Price", f"{price:.2f}"),
                {"product": product.title, "price": str(price)},
            )


def set_stock(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new stock level; the near miss does not save."""
    for product, _ in _neighbours(shop, rng):
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
                _only(product),
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


def rename_product(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new title; the near miss misspells it."""
    for product, _ in _neighbours(shop, rng):
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
                nothing_else(products=f"id != {product.id}"),
            ),
            script(_edit_product, product, "Title", title),
            script(_edit_product, product, "Title", title[:-1]),
            {"product": product.title, "title": title},
        )


def change_upc(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new UPC; the near miss changes that of another product."""
    for product, other in _neighbours(shop, rng):
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
                nothing_else(products=f"id != {product.id}"),
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
                nothing_else(products=f"id != {product.id}"),
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
                    products=f"id != {product.id}",
                    stock=f"product_id != {product.id}",
                    product_categories=f"product_id != {product.id}",
                    order_lines=f"coalesce(product_id, 0) NOT IN (0, {product.id})",
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


def supplier(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """Who supplies a product; the near miss names another partner."""
    suppliers = dict(
        shop.query(
            "SELECT s.product_id, p.name FROM partner_stockrecord s JOIN partner_partner p ON p.id = s.partner_id"
        )
    )
    names = tuple(sorted(set(suppliers.values())))
    for product, _ in _neighbours(shop, rng):
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
    for product, other in _neighbours(shop, rng):
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


def create_category(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new subcategory; the near miss makes it a department of its own."""
    newest = shop.query("SELECT max(id) FROM catalogue_category")[0][0]
    departments = shop.query("SELECT name FROM catalogue_category WHERE depth = 1 ORDER BY path")
    for name, (parent,) in zip(shuffled(rng, _CATEGORY_NAMES), shuffled(rng, departments), strict=False):
        yield Draft(
            f"Create a category named \u201c{name}\u201d below the department {parent}.",
            (
                rows(
                    "new categories",
                    "SELECT name, (SELECT p.name FROM catalogue_category p"
                    " WHERE p.path = substr(c.path, 1, length(c.path) - 4))"
                    " FROM catalogue_category c WHERE id > ?",
                    newest,
                    expected=((name, parent),),
                ),
                nothing_else(categories=f"id <= {newest}"),
            ),
            script(_create_category, name, parent),
            script(_create_category, name, ""),
            {"name": name, "parent": parent},
        )


def _create_category(obs: Observation, name: str, parent: str) -> Script:
    obs = yield from way.dashboard(obs, "Catalogue", "Categories")
    obs = yield from click(obs, "link", "Create new category")
    obs = yield from fill(obs, "Name", name)
    if parent:
        obs = yield from way.choose_dressed(obs, "Relative to", "-- root --", parent)
    yield from click(obs, "button", "Save")
    yield from finish()


def rename_category(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A category gets a new name; the near miss does not save."""
    for category in shuffled(rng, shop.categories):
        name = f"{category.name} {rng.choice(('Essentials', 'Corner', 'World'))}"
        yield Draft(
            f"Rename the category \u201c{category.name}\u201d (in {category.parent}) to \u201c{name}\u201d.",
            (
                rows(
                    "category",
                    "SELECT name FROM catalogue_category WHERE id = ?",
                    category.id,
                    expected=((name,),),
                ),
                nothing_else(categories=f"id != {category.id}"),
            ),
            script(_rename_category, category, name, save=True),
            script(_rename_category, category, name, save=False),
            {"category": category.name, "name": name},
        )


def _rename_category(obs: Observation, category: Category, name: str, *, save: bool) -> Script:
    obs = yield from way.dashboard(obs, "Catalogue", "Categories")
    obs = yield from fill(obs, "Name", category.name, enter=True, exact=False)
    obs = yield from click(obs, "link", category.name, href=r"/categories/\d+/update/", exact=False)
    obs = yield from fill(obs, "Name", name)
    if save:
        yield from click(obs, "button", "Save")
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
                    products=f"id <= {newest}",
                    stock=f"product_id <= {newest}",
                    product_categories=f"product_id <= {newest}",
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


def _page_of(product: Product) -> str:
    return f"{HOME}catalogue/{product.slug}_{product.id}/"


def _only(product: Product) -> AllUnchanged:
    return nothing_else(stock=f"product_id != {product.id}", products=f"id != {product.id}")


def _neighbours(shop: ShopDatabase, rng: random.Random) -> Iterator[tuple[Product, Product]]:
    """Two products of each category, in random order."""
    for category in shuffled(rng, shop.categories):
        products = shuffled(rng, category.products)
        yield products[0], products[1]


TEMPLATES = (
    dashboard("set-price-v1", set_price, tags=("edit", "catalogue"), steps=25),
    dashboard("set-stock-v1", set_stock, tags=("edit", "catalogue"), steps=25),
    dashboard("rename-product-v1", rename_product, tags=("edit", "catalogue"), steps=20),
    dashboard("change-upc-v1", change_upc, tags=("edit", "catalogue"), steps=20),
    dashboard("hide-product-v1", hide_product, tags=("edit", "catalogue"), steps=20),
    dashboard("delete-product-v1", delete_product, tags=("delete", "catalogue"), steps=20),
    dashboard("supplier-v1", supplier, tags=("read", "catalogue"), steps=20),
    dashboard("stock-of-upc-v1", stock_of_upc, tags=("read", "catalogue"), steps=20),
    dashboard("create-category-v1", create_category, tags=("create", "catalogue"), steps=20),
    dashboard("rename-category-v1", rename_category, tags=("edit", "catalogue"), steps=20),
    dashboard("create-product-v1", create_product, tags=("create", "catalogue"), steps=40),
)
