"""Storefront: the customer's profile and address book."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from webserv.sites.shop import reference as way
from webserv.sites.shop.evaluators import nothing_else, rows
from webserv.sites.shop.tasks.database import Address, ShopDatabase
from webserv.sites.shop.tasks.kinds import shuffled, storefront
from webserv.tasks.evaluators.guard import Added, Edited, Removed
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
                nothing_else(Edited("auth_user", f"id = {shop.customer.id}", ("last_name",))),
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
                nothing_else(Edited("auth_user", f"id = {shop.customer.id}", ("email",))),
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


_PLACE = ("line1", "line4", "state", "postcode")
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
                nothing_else(Added("address_useraddress", f"user_id = {shop.customer.id}")),
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
                nothing_else(Edited("address_useraddress", f"id = {old.id}", _PLACE)),
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
                nothing_else(
                    Added("address_useraddress", f"user_id = {shop.customer.id}"),
                    Removed("address_useraddress", f"id = {old.id}"),
                ),
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


TEMPLATES = (
    storefront("change-last-name-v1", change_last_name, tags=("edit", "account"), steps=20),
    storefront("change-email-v1", change_email, tags=("edit", "account"), steps=20),
    storefront("add-address-v1", add_address, tags=("create", "account"), steps=30),
    storefront("move-house-v1", move_house, tags=("edit", "account"), steps=30),
    storefront("replace-address-v1", replace_address, tags=("create", "delete", "account"), steps=40),
)
