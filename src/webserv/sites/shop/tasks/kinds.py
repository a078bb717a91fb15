"""The two kinds of shop templates: those of visitors in the storefront, and those of staff in the dashboard."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from webserv.sites.shop.evaluators import SITE
from webserv.sites.shop.reference import DASHBOARD, HOME
from webserv.sites.shop.tasks.database import Product, ShopDatabase
from webserv.tasks.evaluators.answer import AnswerDate, AnswerMoney, AnswerNames, AnswerNumber
from webserv.tasks.evaluators.normalize.text import words
from webserv.tasks.template import Draft, Template

ItemT = TypeVar("ItemT")
Maker = Callable[[ShopDatabase, random.Random], Iterator[Draft]]


def storefront(
    name: str, make: Maker, *, tags: tuple[str, ...], steps: int, login: str = "customer", same: int = 1
) -> Template[ShopDatabase]:
    """A template that starts on the storefront's home page; `login` may be empty, `same` is as for `varied`."""
    return Template(
        id=f"shop/{name}",
        make=varied(make, same),
        sites=(SITE,),
        start_urls=(HOME,),
        login={SITE: login} if login else {},
        max_steps=steps,
        tags=("storefront", *tags),
    )


def dashboard(
    name: str, make: Maker, *, tags: tuple[str, ...], steps: int, same: int = 1
) -> Template[ShopDatabase]:
    """A template that starts on the dashboard's first page, logged in as staff; `same` is as for `varied`."""
    return Template(
        id=f"shop/{name}",
        make=varied(make, same),
        sites=(SITE,),
        start_urls=(DASHBOARD,),
        login={SITE: "staff"},
        max_steps=steps,
        tags=("dashboard", *tags),
    )


def varied(make: Maker, same: int) -> Maker:
    """Leaves drafts out so that no answer is right for more than `same` of them, and no number stands in its intent.

    A policy that always says "2", or repeats a number, would otherwise solve some instances without opening a page.
    """

    def make_varied(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
        given: Counter[object] = Counter()
        intents: set[str] = set()
        for draft in make(shop, rng):
            check = draft.evaluators[0]
            if isinstance(check, AnswerDate | AnswerMoney | AnswerNames | AnswerNumber):
                if isinstance(check, AnswerNumber) and str(check.expected) in words(draft.intent):
                    continue
                if draft.intent in intents or given[check.expected] == same:
                    continue
                given[check.expected] += 1
                intents.add(draft.intent)
            yield draft

    return make_varied


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
