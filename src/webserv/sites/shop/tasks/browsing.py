"""Storefront: finding and comparing products."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal

from webserv.sites.shop import reference as way
from webserv.sites.shop.evaluators import nothing_else
from webserv.sites.shop.tasks.database import Category, Product, ShopDatabase
from webserv.sites.shop.tasks.kinds import neighbours, shuffled, storefront
from webserv.tasks.evaluators.answer import AnswerMoney, AnswerNames, AnswerNumber
from webserv.tasks.evaluators.page import PageText
from webserv.tasks.evaluators.url import FinalUrl
from webserv.tasks.scripting import act, cells, click, finish, first_match, script
from webserv.tasks.task import Script
from webserv.tasks.template import Draft
from webserv.types import Observation

CHEAPEST_FIRST = "Price low to high"
DEAREST_FIRST = "Price high to low"


def find_cheapest(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """The cheapest product of a category; the near miss names the second cheapest."""
    for category in shuffled(rng, shop.categories):
        order = sorted(category.products, key=lambda product: product.price)
        if len(order) >= 4 and order[0].price < order[1].price < order[2].price:
            yield Draft(
                f"Which product in the category {category.name} ({category.parent}) is the cheapest? "
                "Answer with its name.",
                (AnswerNames((order[0].title,), shop.titles, ignore=(category.name,)), nothing_else()),
                script(_name_by_price, category, CHEAPEST_FIRST, 0),
                script(_name_by_price, category, CHEAPEST_FIRST, 1),
                {"category": category.name},
            )


def find_dearest(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """The most expensive product of a category; the near miss names the second."""
    for category in shuffled(rng, shop.categories):
        order = sorted(category.products, key=lambda product: -product.price)
        if len(order) >= 4 and order[0].price > order[1].price > order[2].price:
            yield Draft(
                f"In the department {category.parent}, what is the most expensive product of the category "
                f"{category.name}? Answer with its name.",
                (AnswerNames((order[0].title,), shop.titles, ignore=(category.name,)), nothing_else()),
                script(_name_by_price, category, DEAREST_FIRST, 0),
                script(_name_by_price, category, DEAREST_FIRST, 1),
                {"category": category.name},
            )


def _name_by_price(obs: Observation, category: Category, order: str, rank: int) -> Script:
    obs = yield from way.open_category(obs, category.parent, category.name)
    obs = yield from way.sort_by(obs, order)
    yield from finish(way.products_shown(obs)[rank][0])


def open_dearest(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """The page of the most expensive product of a category; the near miss opens the second."""
    for category in shuffled(rng, shop.categories):
        order = sorted(category.products, key=lambda product: -product.price)
        if len(order) >= 4 and order[0].price > order[1].price > order[2].price:
            url = f"{way.HOME}catalogue/{order[0].slug}_{order[0].id}/"
            yield Draft(
                f"Open the page of the most expensive product in the category {category.name} "
                f"({category.parent}) and stay there.",
                (FinalUrl(url, "ignore"), nothing_else()),
                script(_open_by_price, category, 0),
                script(_open_by_price, category, 1),
                {"category": category.name},
            )


def _open_by_price(obs: Observation, category: Category, rank: int) -> Script:
    obs = yield from way.open_category(obs, category.parent, category.name)
    obs = yield from way.sort_by(obs, DEAREST_FIRST)
    title = way.products_shown(obs)[rank][0]
    yield from act(f'click("{way.product_link(obs, title).id}")')
    yield from finish()


_ORDERS = {
    CHEAPEST_FIRST: ("price-asc", "the cheapest first"),
    DEAREST_FIRST: ("price-desc", "the most expensive first"),
    "Customer rating": ("rating", "the best rated first"),
    "Title A to Z": ("title-asc", "in alphabetical order"),
    "Newest": ("newest", "the newest first"),
}


def show_sorted(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A category's products in some order; the near miss sorts them in another."""
    labels = list(_ORDERS)
    for number, category in enumerate(shuffled(rng, shop.categories)):
        label, other = labels[number % len(labels)], labels[(number + 1) % len(labels)]
        key, wording = _ORDERS[label]
        url = f"{way.HOME}catalogue/category/{category.path}_{category.id}/?sort_by={key}"
        yield Draft(
            f"Show me the products of the category {category.name} ({category.parent}), {wording}.",
            (
                FinalUrl(url, "includes"),
                PageText((category.name, category.products[0].title)),
                nothing_else(),
            ),
            script(_show_sorted, category, label),
            script(_show_sorted, category, other),
            {"category": category.name, "order": label},
        )


def _show_sorted(obs: Observation, category: Category, order: str) -> Script:
    obs = yield from way.open_category(obs, category.parent, category.name)
    yield from way.sort_by(obs, order)
    yield from finish()


def open_reviews(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """The page with all reviews of a product; the near miss stays on the product's page, which shows three."""
    for product in shuffled(rng, (product for product in shop.products if product.reviews > 3)):
        url = f"{way.HOME}catalogue/{product.slug}_{product.id}/reviews/"
        titles = tuple(
            dict.fromkeys(r.title for r in shop.reviews if r.product == product.id and r.status == 1)
        )
        yield Draft(
            f"Open the page that shows all customer reviews of the {product.title}.",
            (FinalUrl(url, "ignore"), PageText((product.title, *titles)), nothing_else()),
            script(_open_reviews, product, all_of_them=True),
            script(_open_reviews, product, all_of_them=False),
            {"product": product.title},
        )


def _open_reviews(obs: Observation, product: Product, *, all_of_them: bool) -> Script:
    obs = yield from way.open_product(obs, product.title)
    if all_of_them:
        yield from click(obs, "link", "See all reviews")
    yield from finish()


def count_below(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """How many products of a category cost less than a limit; the near miss counts one too many."""
    for category in shuffled(rng, shop.categories):
        prices = sorted(product.price for product in category.products)
        if len(prices) < 6:
            continue
        limit = Decimal(int(prices[rng.randrange(1, len(prices) - 1)]) + 1)
        count = sum(price < limit for price in prices)
        if limit in prices or count == len(prices):
            continue
        yield Draft(
            f"How many products in the category {category.name} ({category.parent}) cost less than ${limit}?",
            (
                AnswerNumber(Decimal(count), ignore=(f"${limit}", str(limit), category.name)),
                nothing_else(),
            ),
            script(_count_below, category, limit, 0),
            script(_count_below, category, limit, 1),
            {"category": category.name, "limit": str(limit)},
        )


def _count_below(obs: Observation, category: Category, limit: Decimal, off_by: int) -> Script:
    obs = yield from way.open_category(obs, category.parent, category.name)
    obs = yield from way.sort_by(obs, CHEAPEST_FIRST)
    count = sum(price < limit for _, price in way.products_shown(obs))
    yield from finish(str(count + off_by))


def look_up_price(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """The price of a product; the near miss reads that of its neighbour."""
    for product, neighbour in neighbours(shop, rng):
        if product.price != neighbour.price:
            yield Draft(
                f"How much does the {product.title} cost?",
                (AnswerMoney(product.price, "USD", ignore=(product.title,)), nothing_else()),
                script(_tell_price, product),
                script(_tell_price, neighbour),
                {"product": product.title},
            )


def _tell_price(obs: Observation, product: Product) -> Script:
    obs = yield from way.open_product(obs, product.title)
    yield from finish(f"${way.amount(cells(obs, 'Price (incl. tax)')[1])}")


def count_available(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """How many units can be ordered; the near miss reads the number of its neighbour."""
    for product, neighbour in neighbours(shop, rng):
        if product.in_stock > 1 and neighbour.in_stock > 1 and product.in_stock != neighbour.in_stock:
            yield Draft(
                f"How many units of the {product.title} are available at the moment?",
                (AnswerNumber(Decimal(product.in_stock), ignore=(product.title,)), nothing_else()),
                script(_tell_available, product),
                script(_tell_available, neighbour),
                {"product": product.title},
            )


def _tell_available(obs: Observation, product: Product) -> Script:
    obs = yield from way.open_product(obs, product.title)
    yield from finish(first_match(obs, r"In stock \((\d+) available\)"))


def look_up_upc(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """The UPC of a product; the near miss gives that of its neighbour."""
    codes = tuple(product.upc for product in shop.products if product.upc)
    for product, neighbour in neighbours(shop, rng):
        if product.upc and neighbour.upc:
            yield Draft(
                f"What is the UPC (product code) of the {product.title}?",
                (AnswerNames((product.upc,), codes, ignore=(product.title,)), nothing_else()),
                script(_tell_upc, product),
                script(_tell_upc, neighbour),
                {"product": product.title},
            )


def _tell_upc(obs: Observation, product: Product) -> Script:
    obs = yield from way.open_product(obs, product.title)
    yield from finish(cells(obs, "UPC")[1])


def count_reviews(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """How many reviews a product has; the near miss is off by one."""
    for product in shuffled(rng, shop.products):
        if product.reviews:
            yield Draft(
                f"How many customer reviews does the {product.title} have?",
                (AnswerNumber(Decimal(product.reviews), ignore=(product.title,)), nothing_else()),
                script(_tell_reviews, product, 0),
                script(_tell_reviews, product, 1),
                {"product": product.title},
            )


def _tell_reviews(obs: Observation, product: Product, off_by: int) -> Script:
    obs = yield from way.open_product(obs, product.title)
    yield from finish(str(int(cells(obs, "Number of reviews")[1]) + off_by))


def compare_prices(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """The difference of two prices; the near miss forgets to subtract."""
    for one, other in neighbours(shop, rng):
        dear, cheap = (one, other) if one.price > other.price else (other, one)
        if dear.price - cheap.price >= 1 and dear.price - cheap.price not in (dear.price, cheap.price):
            yield Draft(
                f"How many dollars more does the {dear.title} cost than the {cheap.title}?",
                (
                    AnswerMoney(dear.price - cheap.price, "USD", ignore=(dear.title, cheap.title)),
                    nothing_else(),
                ),
                script(_tell_difference, dear, cheap, subtract=True),
                script(_tell_difference, dear, cheap, subtract=False),
                {"dear": dear.title, "cheap": cheap.title},
            )


def _tell_difference(obs: Observation, dear: Product, cheap: Product, *, subtract: bool) -> Script:
    obs = yield from way.open_product(obs, dear.title)
    high = way.amount(cells(obs, "Price (incl. tax)")[1])
    obs = yield from way.open_product(obs, cheap.title)
    low = way.amount(cells(obs, "Price (incl. tax)")[1])
    yield from finish(f"${high - low if subtract else high}")


TEMPLATES = (
    storefront("find-cheapest-v1", find_cheapest, tags=("read", "compare"), steps=20, login=""),
    storefront("find-dearest-v1", find_dearest, tags=("read", "compare"), steps=20, login=""),
    storefront("open-dearest-v1", open_dearest, tags=("navigate", "compare"), steps=20, login=""),
    storefront("show-sorted-v1", show_sorted, tags=("navigate",), steps=15, login=""),
    storefront("open-reviews-v1", open_reviews, tags=("navigate", "review"), steps=15, login=""),
    storefront("count-below-v1", count_below, tags=("read", "count"), steps=20, login=""),
    storefront("look-up-price-v1", look_up_price, tags=("read",), steps=15, login=""),
    storefront("count-available-v1", count_available, tags=("read",), steps=15, login=""),
    storefront("look-up-upc-v1", look_up_upc, tags=("read",), steps=15, login=""),
    storefront("count-reviews-v1", count_reviews, tags=("read", "count"), steps=15, login=""),
    storefront("compare-prices-v1", compare_prices, tags=("read", "compare"), steps=20, login=""),
)
