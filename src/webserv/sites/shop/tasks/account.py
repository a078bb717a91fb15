"""Storefront: the customer's profile, address book, wish lists, reviews and alerts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from webserv.sites.shop import reference as way
from webserv.sites.shop.evaluators import nothing_else, rows
from webserv.sites.shop.tasks.database import Address, Product, ShopDatabase
from webserv.sites.shop.tasks.kinds import shuffled, storefront
from webserv.tasks.scripting import Steps, choose, click, fill, finish, script
from webserv.tasks.task import Script
from webserv.tasks.template import Draft
from webserv.types import Observation

_LAST_NAMES = ("Hartmann", "Okafor", "Lindqvist", "Castellano", "Whitfield", "Marchetti", "Delacroix")
_STREETS = (
    "12 Juniper Close",
    "805 Harbor View",
    "77 Quarry Road",
    "240 Linden Walk",
    "9 Foundry Yard",
    "31 Elm Row",
)
_PLACES = (
    ("Eugene", "OR", "97401"),
    ("Duluth", "MN", "55802"),
    ("Ithaca", "NY", "14850"),
    ("Fresno", "CA", "93721"),
    ("Mobile", "AL", "36602"),
    ("Topeka", "KS", "66603"),
)
_REVIEWS = (
    ("Better than the old one", "It replaced one that I had used for ten years, and I do not look back.", 5),
    ("Good but pricey", "No complaints about how it works. I only wish it had cost a little less.", 4),
    ("Average at best", "It is usable, yet I had hoped for more after all that I had read.", 3),
    ("Came with a dent", "The box was fine, so it must have been packed like that.", 2),
    ("Sent it back", "It stopped working on the very first day.", 1),
    ("A pleasant surprise", "I bought it on a whim and now recommend it to everybody.", 5),
)
_STARS = {1: "One", 2: "Two", 3: "Three", 4: "Four", 5: "Five"}


def change_last_name(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new last name; the near miss does not save."""
    for name in shuffled(rng, _LAST_NAMES):
        yield Draft(
            f"I married: please change the last name in my profile to {name}.",
            (
                rows(
                    "name",
                    "SELECT first_name, last_name, email FROM auth_user WHERE id = ?",
                    shop.customer.id,
                    expected=((shop.customer.first_name, name, shop.customer.email),),
                ),
                nothing_else(users=f"id != {shop.customer.id}"),
            ),
            script(_change_profile, "Last name", name),
            script(_change_profile, "Last name", name, save=False),
            {"last_name": name},
        )


def change_email(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new e-mail address; the near miss changes the name instead."""
    first = shop.customer.first_name.lower()
    for name in shuffled(rng, _LAST_NAMES):
        email = f"{first}.{name.lower()}@mail.example"
        yield Draft(
            f"Change the email address of my account to {email}.",
            (
                rows(
                    "e-mail",
                    "SELECT first_name, last_name, email FROM auth_user WHERE id = ?",
                    shop.customer.id,
                    expected=((shop.customer.first_name, shop.customer.last_name, email),),
                ),
                nothing_else(users=f"id != {shop.customer.id}"),
            ),
            script(_change_profile, "Email address", email),
            script(_change_profile, "Last name", name),
            {"email": email},
        )


def _change_profile(obs: Observation, field: str, value: str, *, save: bool = True) -> Script:
    obs = yield from way.open_account(obs, "Profile")
    obs = yield from click(obs, "link", "Edit profile")
    obs = yield from fill(obs, field, value, exact=False)
    if save:
        yield from click(obs, "button", "Save")
    yield from finish()


@dataclass(frozen=True)
class _NewAddress:
    line1: str
    city: str
    state: str
    postcode: str

    def __str__(self) -> str:
        return f"{self.line1}, {self.city}, {self.state} {self.postcode}"


_ADDRESS_ROW = (
    "SELECT first_name, last_name, line1, line4, state, postcode, country_id FROM address_useraddress"
    " WHERE user_id = ? AND id > ? ORDER BY id"
)


def add_address(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new entry of the address book; the near miss has another postcode."""
    newest = max(address.id for address in shop.addresses)
    for new in _new_addresses(rng):
        wrong = _NewAddress(new.line1, new.city, new.state, new.postcode[:-1] + "9")
        expected = (
            shop.customer.first_name,
            shop.customer.last_name,
            new.line1,
            new.city,
            new.state,
            new.postcode,
        )
        yield Draft(
            f"Add a new address in the United States to my address book: {shop.customer.name}, {new}.",
            (
                rows("new addresses", _ADDRESS_ROW, shop.customer.id, newest, expected=((*expected, "US"),)),
                nothing_else(addresses=f"id <= {newest}"),
            ),
            script(_add_address, shop.customer.name, new),
            script(_add_address, shop.customer.name, wrong),
            {"address": str(new)},
        )


def _add_address(obs: Observation, name: str, new: _NewAddress) -> Script:
    obs = yield from way.open_account(obs, "Address Book")
    obs = yield from click(obs, "link", "Add a new address")
    first, last = name.split()
    obs = yield from fill(obs, "First name", first, exact=False)
    obs = yield from fill(obs, "Last name", last, exact=False)
    obs = yield from _fill_address(obs, new)
    obs = yield from choose(obs, "Country", "United States", exact=False)
    yield from click(obs, "button", "Save")
    yield from finish()


def _fill_address(obs: Observation, new: _NewAddress) -> Steps:
    obs = yield from fill(obs, "First line of address", new.line1, exact=False)
    obs = yield from fill(obs, "City", new.city, exact=False)
    obs = yield from fill(obs, "State/County", new.state, exact=False)
    return (yield from fill(obs, "Post/Zip-code", new.postcode, exact=False))


def move_house(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """An entry of the address book gets a new place; the near miss edits another entry."""
    book = [address for address in shop.addresses if address.user == shop.customer.id]
    for number, new in enumerate(_new_addresses(rng)):
        old, other = book[number % len(book)], book[(number + 1) % len(book)]
        yield Draft(
            f"In my address book, change the address in {old.city} to {new}.",
            (
                rows(
                    "address",
                    "SELECT first_name, last_name, line1, line4, state, postcode FROM address_useraddress"
                    " WHERE id = ?",
                    old.id,
                    expected=((old.first_name, old.last_name, new.line1, new.city, new.state, new.postcode),),
                ),
                nothing_else(addresses=f"id != {old.id}"),
            ),
            script(_move_house, old, new),
            script(_move_house, other, new),
            {"old": old.city, "new": str(new)},
        )


def _move_house(obs: Observation, old: Address, new: _NewAddress) -> Script:
    obs = yield from way.open_account(obs, "Address Book")
    obs = yield from way.click_after(obs, old.line1, "link", "Edit")
    obs = yield from _fill_address(obs, new)
    yield from click(obs, "button", "Save")
    yield from finish()


def replace_address(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """An entry is deleted and another added; the near miss deletes nothing."""
    book = [address for address in shop.addresses if address.user == shop.customer.id][1:]
    newest = max(address.id for address in shop.addresses)
    for number, new in enumerate(_new_addresses(rng)):
        old = book[number % len(book)]
        expected = (
            shop.customer.first_name,
            shop.customer.last_name,
            new.line1,
            new.city,
            new.state,
            new.postcode,
        )
        yield Draft(
            f"Delete my address in {old.city} from my address book and add this one in the United States: "
            f"{shop.customer.name}, {new}.",
            (
                rows("new addresses", _ADDRESS_ROW, shop.customer.id, newest, expected=((*expected, "US"),)),
                rows(
                    "deleted address",
                    "SELECT count(*) FROM address_useraddress WHERE id = ?",
                    old.id,
                    expected=((0,),),
                ),
                nothing_else(addresses=f"id <= {newest} AND id != {old.id}"),
            ),
            script(_replace_address, shop.customer.name, old, new),
            script(_add_address, shop.customer.name, new),
            {"old": old.city, "new": str(new)},
        )


def _replace_address(obs: Observation, name: str, old: Address, new: _NewAddress) -> Script:
    obs = yield from way.open_account(obs, "Address Book")
    # The second button of an entry opens its menu; it has no name.
    obs = yield from way.click_after(obs, old.line1, "button", "")
    obs = yield from way.click_after(obs, old.line1, "link|menuitem", "Delete")
    obs = yield from click(obs, "button", "Delete")
    yield from _add_address(obs, name, new)


def _new_addresses(rng: random.Random) -> Iterator[_NewAddress]:
    for street, place in zip(shuffled(rng, _STREETS), shuffled(rng, _PLACES), strict=True):
        yield _NewAddress(street, *place)


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
                    nothing_else(wish_list_lines=f"product_id != {product.id}"),
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
                nothing_else(wish_lists=f"id <= {newest}", wish_list_lines=f"wishlist_id <= {newest}"),
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
                nothing_else(reviews=f"id <= {newest}"),
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
                nothing_else(review_votes=f"user_id != {shop.customer.id}"),
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
                nothing_else(stock_alerts=f"user_id != {shop.customer.id}"),
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
    storefront("change-last-name-v1", change_last_name, tags=("edit", "account"), steps=20),
    storefront("change-email-v1", change_email, tags=("edit", "account"), steps=20),
    storefront("add-address-v1", add_address, tags=("create", "account"), steps=30),
    storefront("move-house-v1", move_house, tags=("edit", "account"), steps=30),
    storefront("replace-address-v1", replace_address, tags=("create", "delete", "account"), steps=40),
    storefront("wish-for-v1", wish_for, tags=("create", "wish list"), steps=20),
    storefront("new-wish-list-v1", new_wish_list, tags=("create", "wish list"), steps=25),
    storefront("write-review-v1", write_review, tags=("create", "review"), steps=25),
    storefront("find-helpful-v1", find_helpful, tags=("edit", "review"), steps=20),
    storefront("ask-for-alert-v1", ask_for_alert, tags=("create", "account"), steps=20),
)
