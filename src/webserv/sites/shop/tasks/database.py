"""`ShopDatabase`: the facts that tasks are made from, read from a snapshot's database."""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Product:
    """A product without variants that the storefront sells."""

    id: int
    title: str
    slug: str
    upc: str
    price: Decimal
    in_stock: int
    """What the storefront calls available: stock less what orders have reserved."""
    sku: str
    categories: tuple[int, ...]
    reviews: int
    """Approved reviews."""


@dataclass(frozen=True, slots=True)
class Category:
    """A category without subcategories, all of whose products have no variants."""

    id: int
    name: str
    parent: str
    """Name of the department above it."""
    path: str
    """Slugs of the department and the category, as its URL has them."""
    products: tuple[Product, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an order."""

    product: int | None
    title: str
    quantity: int
    price: Decimal


@dataclass(frozen=True, slots=True)
class Order:
    """One order."""

    id: int
    number: str
    user: int | None
    status: str
    total: Decimal
    placed: datetime.datetime
    shipping_method: str
    shipping: Decimal
    address: tuple[str, ...]
    """First name, last name, line1, line2, line4 (city), state, postcode of the delivery address."""
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Person:
    """A user."""

    id: int
    first_name: str
    last_name: str
    email: str
    staff: bool

    @property
    def name(self) -> str:
        """First and last name."""
        return f"{self.first_name} {self.last_name}"


@dataclass(frozen=True, slots=True)
class Address:
    """An entry of a customer's address book."""

    id: int
    user: int
    first_name: str
    last_name: str
    line1: str
    city: str
    state: str
    postcode: str


@dataclass(frozen=True, slots=True)
class Review:
    """A product review; status 0 waits for moderation, 1 is approved, 2 rejected."""

    id: int
    product: int
    user: int | None
    status: int
    score: int
    title: str
    body: str


class ShopDatabase:
    """Reads everything that templates need, each part once and only when asked.

    Args:
        path: The snapshot's SQLite file, which nobody writes to.
        customer_email: Who the login ``customer`` is.
    """

    def __init__(self, path: Path, customer_email: str) -> None:
        self.path = path
        self._customer_email = customer_email

    def query(self, sql: str, *params: Any) -> list[tuple[Any, ...]]:
        """Runs one SELECT."""
        with closing(sqlite3.connect(f"{self.path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            return connection.execute(sql, params).fetchall()

    @cached_property
    def products(self) -> tuple[Product, ...]:
        """Public products without variants, by id."""
        in_categories: dict[int, list[int]] = {}
        for product, category in self.query(
            "SELECT product_id, category_id FROM catalogue_productcategory ORDER BY id"
        ):
            in_categories.setdefault(product, []).append(category)
        return tuple(
            Product(
                id=row[0],
                title=row[1],
                slug=row[2],
                upc=row[3] or "",
                price=money(row[4]),
                in_stock=row[5],
                sku=row[6],
                categories=tuple(in_categories.get(row[0], ())),
                reviews=row[7],
            )
            for row in self.query(
                "SELECT p.id, p.title, p.slug, p.upc, s.price, s.num_in_stock - coalesce(s.num_allocated, 0),"
                " s.partner_sku, (SELECT count(*) FROM reviews_productreview r"
                " WHERE r.product_id = p.id AND r.status = 1)"
                " FROM catalogue_product p JOIN partner_stockrecord s ON s.product_id = p.id"
                " WHERE p.structure = 'standalone' AND p.is_public"
                " AND (SELECT count(*) FROM partner_stockrecord o WHERE o.product_id = p.id) = 1"
                " ORDER BY p.id"
            )
        )

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """Titles of all products of any kind: what an answer could name."""
        rows = self.query("SELECT DISTINCT title FROM catalogue_product WHERE title != '' ORDER BY title")
        return tuple(title for (title,) in rows)

    @cached_property
    def categories(self) -> tuple[Category, ...]:
        """Leaf categories that hold only products without variants, by path."""
        plain = {product.id: product for product in self.products}
        above = {
            path: (name, slug)
            for path, name, slug in self.query("SELECT path, name, slug FROM catalogue_category")
        }
        found = []
        for id_, path, name, slug in self.query(
            "SELECT id, path, name, slug FROM catalogue_category WHERE numchild = 0 AND is_public ORDER BY path"
        ):
            ids = [
                product
                for (product,) in self.query(
                    "SELECT product_id FROM catalogue_productcategory c JOIN catalogue_product p"
                    " ON p.id = c.product_id WHERE c.category_id = ? AND p.is_public ORDER BY p.id",
                    id_,
                )
            ]
            if ids and all(product in plain for product in ids):
                parent, parent_slug = above.get(path[:-4], ("", ""))
                slugs = f"{parent_slug}/{slug}".strip("/")
                found.append(Category(id_, name, parent, slugs, tuple(plain[product] for product in ids)))
        return tuple(found)

    @cached_property
    def orders(self) -> tuple[Order, ...]:
        """All orders, oldest first."""
        lines: dict[int, list[Line]] = {}
        for order, product, title, quantity, price in self.query(
            "SELECT order_id, product_id, title, quantity, line_price_incl_tax FROM order_line ORDER BY id"
        ):
            lines.setdefault(order, []).append(Line(product, title, quantity, money(price)))
        return tuple(
            Order(
                id=row[0],
                number=row[1],
                user=row[2],
                status=row[3],
                total=money(row[4]),
                placed=datetime.datetime.fromisoformat(row[5]),
                shipping_method=row[6],
                shipping=money(row[7]),
                address=tuple(part or "" for part in row[8:]),
                lines=tuple(lines.get(row[0], ())),
            )
            for row in self.query(
                "SELECT o.id, o.number, o.user_id, o.status, o.total_incl_tax, o.date_placed,"
                " o.shipping_method, o.shipping_incl_tax,"
                " a.first_name, a.last_name, a.line1, a.line2, a.line4, a.state, a.postcode"
                " FROM order_order o LEFT JOIN order_shippingaddress a ON a.id = o.shipping_address_id"
                " ORDER BY o.date_placed, o.id"
            )
        )

    @cached_property
    def people(self) -> tuple[Person, ...]:
        """All active users, by id."""
        return tuple(
            Person(id_, first, last, email, bool(staff))
            for id_, first, last, email, staff in self.query(
                "SELECT id, first_name, last_name, email, is_staff FROM auth_user WHERE is_active ORDER BY id"
            )
        )

    @cached_property
    def customer(self) -> Person:
        """Who the login ``customer`` is."""
        return next(person for person in self.people if person.email == self._customer_email)

    @cached_property
    def addresses(self) -> tuple[Address, ...]:
        """All address books, by id."""
        return tuple(
            Address(*row)
            for row in self.query(
                "SELECT id, user_id, first_name, last_name, line1, line4, state, postcode"
                " FROM address_useraddress ORDER BY id"
            )
        )

    @cached_property
    def reviews(self) -> tuple[Review, ...]:
        """All reviews, by id."""
        return tuple(
            Review(*row)
            for row in self.query(
                "SELECT id, product_id, user_id, status, score, title, body"
                " FROM reviews_productreview ORDER BY id"
            )
        )

    def product(self, product_id: int) -> Product:
        """The product with this id; it must be one of `products`."""
        return next(product for product in self.products if product.id == product_id)

    def orders_of(self, person: Person) -> Iterator[Order]:
        """The orders of one user, oldest first."""
        return (order for order in self.orders if order.user == person.id)


def money(value: Any) -> Decimal:
    """An amount as the database gives it, with two places."""
    return Decimal(str(value)).quantize(Decimal("0.01"))
