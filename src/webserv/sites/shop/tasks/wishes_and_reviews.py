"""Storefront: wish lists, reviews and stock alerts."""

from __future__ import annotations

import random
from collections.abc import Iterator

from webserv.sites.shop import reference as way
from webserv.sites.shop.evaluators import nothing_else, rows
from webserv.sites.shop.tasks.database import Product, ShopDatabase
from webserv.sites.shop.tasks.kinds import shuffled, storefront
from webserv.tasks.evaluators.guard import Added
from webserv.tasks.scripting import click, fill, finish, script
from webserv.tasks.task import Script
from webserv.tasks.template import Draft
from webserv.types import Observation

_REVIEWS = (
    ("Better than the old one", "It replaced one that I had used for ten years, and I do not look back.", 5),
    ("Good but pricey", "No complaints about how it works. I only wish it had cost a little less.", 4),
    ("Average at best", "It is usable, yet I had hoped for more after all that I had read.", 3),
    ("Came with a dent", "The box was fine, so it must have been packed like that.", 2),
    ("Sent it back", "It stopped working on the very first day.", 1),
    ("A pleasant surprise", "I bought it on a whim and now recommend it to everybody.", 5),
)


def wish_for(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A product on a wish list; the near miss uses the other list."""
    lists = shop.query(
        "SELECT id, name FROM wishlists_wishlist WHERE owner_id = ? ORDER BY id", shop.customer.id
    )
    wished = {product for (product,) in shop.query("SELECT product_id FROM wishlists_line")}
    for number, product in enumerate(_one_per_category(shop, rng)):
        (list_id, name), (_, other) = lists[number % 2], lists[(number + 1) % 2]
        if product.id not in wished:
            yield Draft(
                f"Add the {product.title} to my wish list \u201c{name}\u201d.",
                (
                    rows(
                        "wish lists with the product",
                        "SELECT wishlist_id FROM wishlists_line WHERE product_id = ? ORDER BY id",
                        product.id,
                        expected=((list_id,),),
                    ),
                    nothing_else(Added("wishlists_line", f"product_id = {product.id}")),
                ),
                script(_wish_for, product, name),
                script(_wish_for, product, other),
                {"product": product.title, "list": name},
            )


def _wish_for(obs: Observation, product: Product, name: str) -> Script:
    obs = yield from way.open_product(obs, product.title)
    obs = yield from click(obs, "link|button", "Add to wish list")
    yield from click(obs, "link|menuitem", f"Add to '{name}' wish list")
    yield from finish()


def new_wish_list(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new wish list with a product on it; the near miss makes the list without the product."""
    names = shuffled(
        rng, ("Garden party", "Holiday trip", "For Grandma", "Home office", "Rainy days", "Next summer")
    )
    newest = shop.query("SELECT max(id) FROM wishlists_wishlist")[0][0]
    for name, product in zip(names, _one_per_category(shop, rng), strict=False):
        yield Draft(
            f"Start a new wish list called \u201c{name}\u201d and put the {product.title} on it.",
            (
                rows(
                    "new wish lists",
                    "SELECT w.owner_id, w.name, l.product_id FROM wishlists_wishlist w"
                    " LEFT JOIN wishlists_line l ON l.wishlist_id = w.id WHERE w.id > ? ORDER BY l.id",
                    newest,
                    expected=((shop.customer.id, name, product.id),),
                ),
                nothing_else(Added("wishlists_wishlist"), Added("wishlists_line", f"wishlist_id > {newest}")),
            ),
            script(_new_wish_list_with, product, name),
            script(_new_wish_list, name),
            {"product": product.title, "list": name},
        )


def _new_wish_list_with(obs: Observation, product: Product, name: str) -> Script:
    obs = yield from way.open_product(obs, product.title)
    obs = yield from click(obs, "link|button", "Add to wish list")
    obs = yield from click(obs, "link|menuitem", "Create a new wishlist")
    obs = yield from fill(obs, "Name", name, exact=False)
    yield from click(obs, "button", "Save")
    yield from finish()


def _new_wish_list(obs: Observation, name: str) -> Script:
    obs = yield from way.open_account(obs, "Wish Lists")
    obs = yield from click(obs, "link", "Create a new wish list")
    obs = yield from fill(obs, "Name", name, exact=False)
    yield from click(obs, "button", "Save")
    yield from finish()


def write_review(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A review with title, stars and text; the near miss gives another number of stars."""
    newest = max(review.id for review in shop.reviews)
    mine = {review.product for review in shop.reviews if review.user == shop.customer.id}
    products = (product for product in _one_per_category(shop, rng) if product.id not in mine)
    for (title, body, score), product in zip(_REVIEWS, products, strict=False):
        yield Draft(
            f"Write a review of the {product.title}: {score} out of 5 stars, titled \u201c{title}\u201d, "
            f"with the text \u201c{body}\u201d",
            (
                rows(
                    "new reviews",
                    "SELECT product_id, user_id, score, title, body FROM reviews_productreview WHERE id > ?",
                    newest,
                    expected=((product.id, shop.customer.id, score, title, body),),
                ),
                nothing_else(Added("reviews_productreview")),
            ),
            script(_write_review, product, title, body, score),
            script(_write_review, product, title, body, score % 5 + 1),
            {"product": product.title, "score": score},
        )


def _write_review(obs: Observation, product: Product, title: str, body: str, score: int) -> Script:
    obs = yield from way.open_product(obs, product.title)
    obs = yield from click(obs, "link", "Write a review")
    obs = yield from fill(obs, "Title", title, exact=False)
    obs = yield from way.give_stars(obs, score)
    obs = yield from fill(obs, "Body", body, exact=False)
    yield from click(obs, "button", "Save review")
    yield from finish()


def find_helpful(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A vote for a review; the near miss votes against it."""
    people = {person.id: person for person in shop.people}
    for product in _one_per_category(shop, rng, reviewed=True):
        reviews = [review for review in shop.reviews if review.product == product.id and review.status == 1]
        review = reviews[0]
        writer = people.get(review.user or 0)
        if writer is None or len({r.title for r in reviews}) < len(reviews) or len(reviews) > 3:
            continue
        yield Draft(
            f"{writer.name} reviewed the {product.title} under the title \u201c{review.title}\u201d. "
            "Say that this review is helpful.",
            (
                rows(
                    "my votes",
                    "SELECT review_id, delta FROM reviews_vote WHERE user_id = ? ORDER BY id",
                    shop.customer.id,
                    expected=((review.id, 1),),
                ),
                nothing_else(Added("reviews_vote", f"user_id = {shop.customer.id}")),
            ),
            script(_vote, product, review.title, "Yes"),
            script(_vote, product, review.title, "No"),
            {"product": product.title, "review": review.title},
        )


def _vote(obs: Observation, product: Product, title: str, vote: str) -> Script:
    obs = yield from way.open_product(obs, product.title)
    yield from way.click_after(obs, f'"{title}"', "button", vote)
    yield from finish()


def ask_for_alert(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A stock alert for a product that is sold out; the near miss puts it on a wish list."""
    for product in shuffled(rng, (product for product in shop.products if product.in_stock <= 0)):
        yield Draft(
            f"The {product.title} is sold out. Have the shop notify me when it is back in stock.",
            (
                rows(
                    "alerts",
                    "SELECT product_id, status FROM customer_productalert WHERE user_id = ? ORDER BY id",
                    shop.customer.id,
                    expected=((product.id, "Active"),),
                ),
                nothing_else(Added("customer_productalert", f"user_id = {shop.customer.id}")),
            ),
            script(_ask_for_alert, product),
            script(_wish_for, product, "Birthday ideas"),
            {"product": product.title},
        )


def _ask_for_alert(obs: Observation, product: Product) -> Script:
    obs = yield from way.open_product(obs, product.title)
    yield from click(obs, "button", "Notify me")
    yield from finish()


def _one_per_category(shop: ShopDatabase, rng: random.Random, *, reviewed: bool = False) -> Iterator[Product]:
    """A product of each category in random order; with `reviewed`, only those with one to three reviews."""
    for category in shuffled(rng, shop.categories):
        fitting = [p for p in category.products if p.in_stock > 0 and (not reviewed or 1 <= p.reviews <= 3)]
        if fitting:
            yield rng.choice(fitting)


TEMPLATES = (
    storefront("wish-for-v1", wish_for, tags=("create", "wish list"), steps=20),
    storefront("new-wish-list-v1", new_wish_list, tags=("create", "wish list"), steps=25),
    storefront("write-review-v1", write_review, tags=("create", "review"), steps=25),
    storefront("find-helpful-v1", find_helpful, tags=("edit", "review"), steps=20),
    storefront("ask-for-alert-v1", ask_for_alert, tags=("create", "account"), steps=20),
)
