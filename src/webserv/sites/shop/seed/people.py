"""Customers, staff, their addresses, baskets, wish lists and prepared sessions."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.auth.hashers import make_password
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.core import signing
from oscar.core.loading import get_model
from shopsite import clock

Country = get_model("address", "Country")
UserAddress = get_model("address", "UserAddress")
WishList = get_model("wishlists", "WishList")
WishListLine = get_model("wishlists", "Line")
User = get_user_model()

PASSWORD = "larkspur-demo"
"""Of everybody in the shop: throw-away, printed in the documentation."""
STAFF_EMAIL = "admin@shop.example"
CUSTOMER_EMAIL = "emma.clark@shop.example"
SESSION_KEYS = {"staff": "stafflogin0000000000000000000000", "customer": "customerlogin0000000000000000000"}

_NAMES = """Emma Clark, Liam Turner, Olivia Hayes, Noah Bennett, Ava Sanders, Mason Brooks, Sophia Reed, Lucas Gray,
Mia Foster, Ethan Price, Isla Morgan, Logan Ward, Harper Cole, Owen Fisher, Ella Stone, Caleb Hunt, Grace Palmer,
Henry Wells, Chloe Barnes, Jack Porter, Lily Warren, Daniel Cross, Zoe Marsh, Samuel Pierce, Nora Hale, Isaac Dunn,
Ruby Lane, Aaron Wolfe, Alice Frost, Julian Nash, Clara West, Dylan Shaw, Hazel Quinn, Felix Boone, Ivy Carver,
Gavin Rhodes, Stella Moss, Ryan Kerr, Maya Lowell, Peter Vance, Naomi Bright, Simon Drake, Leah Winter, Martin Poole,
Tessa Hobbs, Victor Lang, Paula Finch, Oscar Bell, Wendy Cho, Hugo Ramos, Priya Nair, Kenji Mori, Amara Obi,
Sofia Rossi, Jonas Weber, Elena Petrova, Marco Silva, Fatima Khan, Diego Vargas, Ingrid Dahl, Tomas Novak,
Yuki Tanaka, Leila Haddad, Andre Dubois, Bianca Moretti, Carlos Mendez, Daria Ivanova, Edgar Stein"""

_CITIES = (
    ("Portland", "OR", "97205", "+1 503 555"), ("Austin", "TX", "78701", "+1 512 555"),
    ("Denver", "CO", "80203", "+1 303 555"), ("Madison", "WI", "53703", "+1 608 555"),
    ("Savannah", "GA", "31401", "+1 912 555"), ("Burlington", "VT", "05401", "+1 802 555"),
    ("Boise", "ID", "83702", "+1 208 555"), ("Santa Fe", "NM", "87501", "+1 505 555"),
    ("Columbus", "OH", "43215", "+1 614 555"), ("Richmond", "VA", "23220", "+1 804 555"),
    ("Tucson", "AZ", "85701", "+1 520 555"), ("Albany", "NY", "12207", "+1 518 555"),
    ("Seattle", "WA", "98101", "+1 206 555"), ("Chicago", "IL", "60607", "+1 312 555"),
    ("Omaha", "NE", "68102", "+1 402 555"), ("Asheville", "NC", "28801", "+1 828 555"),
)  # fmt: skip
_STREETS = (
    "Maple Street", "Oak Avenue", "Cedar Lane", "Mill Road", "Park Place", "Hillcrest Drive", "Lakeview Terrace",
    "Orchard Way", "Union Street", "Willow Court", "Prospect Avenue", "Spruce Street",
)  # fmt: skip
_COUNTRIES = (
    ("US", "USA", "840", "United States"), ("CA", "CAN", "124", "Canada"), ("GB", "GBR", "826", "United Kingdom"),
    ("DE", "DEU", "276", "Germany"), ("FR", "FRA", "250", "France"), ("AU", "AUS", "036", "Australia"),
    ("JP", "JPN", "392", "Japan"), ("NL", "NLD", "528", "Netherlands"),
)  # fmt: skip


@dataclass(frozen=True)
class People:
    """Who is in the shop."""

    staff: Any
    customers: list[Any]
    """In order of registration; the first is the prepared customer."""


def make_people(rng: random.Random) -> People:
    """Makes countries, users and address books."""
    for order, (alpha2, alpha3, numeric, name) in enumerate(_COUNTRIES):
        Country.objects.create(
            iso_3166_1_a2=alpha2,
            iso_3166_1_a3=alpha3,
            iso_3166_1_numeric=numeric,
            printable_name=name,
            name=name,
            display_order=len(_COUNTRIES) - order,
            is_shipping_country=True,
        )
    clock.set_to(clock.START - timedelta(days=400))
    password = make_password(PASSWORD, salt="larkspur")
    staff = User.objects.create(
        username="admin", email=STAFF_EMAIL, first_name="Robin", last_name="Admin",
        is_staff=True, is_superuser=True, password=password,
    )  # fmt: skip
    customers = []
    for index, name in enumerate(" ".join(part.split()) for part in _NAMES.split(",")):
        joined = timedelta(days=390 - index * 3, hours=rng.randrange(12), minutes=rng.randrange(60))
        clock.set_to(clock.START - joined)
        first, last = name.split()
        email = f"{first}.{last}@shop.example".lower()
        user = User.objects.create(
            username=f"{first}.{last}".lower(),
            email=email,
            first_name=first,
            last_name=last,
            password=password,
        )
        customers.append(user)
        _make_addresses(rng, user, count=3 if index == 0 else rng.choice((1, 1, 1, 2)))
    return People(staff, customers)


def _make_addresses(rng: random.Random, user: Any, *, count: int) -> None:
    for position, (city, state, postcode, phone) in enumerate(rng.sample(_CITIES, count)):
        UserAddress.objects.create(
            user=user,
            first_name=user.first_name,
            last_name=user.last_name,
            line1=f"{rng.randrange(10, 990)} {rng.choice(_STREETS)}",
            line4=city,
            state=state,
            postcode=postcode,
            phone_number=f"{phone} {rng.randrange(100, 200):04d}".replace(" ", ""),
            country_id="US",
            is_default_for_shipping=position == 0,
            is_default_for_billing=position == 0,
        )


def make_open_baskets(people: People) -> None:
    """Gives everybody the basket that Oscar would otherwise write when they first look at a page."""
    for user in (people.staff, *people.customers):
        get_model("basket", "Basket").objects.create(owner=user)


def make_wish_lists(rng: random.Random, people: People, products: list[Any]) -> None:
    """Some customers keep a wish list; the prepared customer has two."""
    owners = [(people.customers[0], "Birthday ideas"), (people.customers[0], "New kitchen")]
    owners += [(user, "Favourites") for user in people.customers[4:40:6]]
    for number, (owner, name) in enumerate(owners):
        wish_list = WishList.objects.create(owner=owner, name=name)
        # The model draws a random key of six characters whenever it has none yet saved.
        WishList.objects.filter(pk=wish_list.pk).update(key=f"list{number:02d}")
        for product in rng.sample(products, rng.randrange(2, 6)):
            WishListLine.objects.create(wishlist=wish_list, product=product, title=product.title, quantity=1)


def make_sessions(people: People) -> None:
    """Writes one logged-in session for the staff user and one for the prepared customer.

    The signature of session data holds the time of signing; it is made to be the site's, so that rows repeat.
    """
    real_time, signing.time = signing.time, SimpleNamespace(time=clock.START.timestamp)
    try:
        for login, user in (("staff", people.staff), ("customer", people.customers[0])):
            data = {
                SESSION_KEY: str(user.pk),
                BACKEND_SESSION_KEY: settings.AUTHENTICATION_BACKENDS[0],
                HASH_SESSION_KEY: user.get_session_auth_hash(),
            }
            Session.objects.create(
                session_key=SESSION_KEYS[login],
                session_data=SessionStore().encode(data),
                expire_date=clock.START + timedelta(days=365),
            )
    finally:
        signing.time = real_time
