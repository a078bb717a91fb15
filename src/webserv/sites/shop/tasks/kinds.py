"""The two kinds of shop templates: those of visitors in the storefront, and those of staff in the dashboard."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from webserv.sites.shop.evaluators import SITE
from webserv.sites.shop.reference import DASHBOARD, HOME
from webserv.sites.shop.tasks.database import Product, ShopDatabase
from webserv.tasks.template import Draft, Template

ItemT = TypeVar("ItemT")
Maker = Callable[[ShopDatabase, random.Random], Iterator[Draft]]


def storefront(
    name: str, make: Maker, *, tags: tuple[str, ...], steps: int, login: str = "customer"
) -> Template[ShopDatabase]:
    """A template that starts on the storefront's home page; `login` may be empty."""
    return Template(
        id=f"shop/{name}",
        make=make,
        sites=(SITE,),
        start_urls=(HOME,),
        login={SITE: login} if login else {},
        max_steps=steps,
        tags=("storefront", *tags),
    )


def dashboard(name: str, make: Maker, *, tags: tuple[str, ...], steps: int) -> Template[ShopDatabase]:
    """A template that starts on the dashboard's first page, logged in as staff."""
    return Template(
        id=f"shop/{name}",
        make=make,
        sites=(SITE,),
        start_urls=(DASHBOARD,),
        login={SITE: "staff"},
        max_steps=steps,
        tags=("dashboard", *tags),
    )


def shuffled(rng: random.Random, items: Iterable[ItemT]) -> list[ItemT]:
    """All items in a random order that `rng` decides."""
    order = list(items)
    rng.shuffle(order)
    return order


def neighbours(shop: ShopDatabase, rng: random.Random) -> Iterator[tuple[Product, Product]]:
    """Two products of each category, in random order."""
    for category in shuffled(rng, shop.categories):
        products = shuffled(rng, category.products)
        if len(products) >= 2:
            yield products[0], products[1]
