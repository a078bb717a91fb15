"""Dashboard: vouchers, offers and ranges."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator

from webserv.sites.shop import reference as way
from webserv.sites.shop.evaluators import nothing_else, rows
from webserv.sites.shop.tasks.database import Product, ShopDatabase
from webserv.sites.shop.tasks.kinds import dashboard, shuffled
from webserv.tasks.evaluators.answer import AnswerDate
from webserv.tasks.evaluators.guard import Added, Edited, Removed
from webserv.tasks.scripting import cells, click, fill, finish, script
from webserv.tasks.task import Script
from webserv.tasks.template import Draft
from webserv.types import Observation

_TODAY = datetime.date(2026, 3, 2)
"""The day that the site's clock shows."""
_NEW_VOUCHERS = (
    ("Easter hunt", "EASTER26"),
    ("Newsletter thanks", "NEWS26"),
    ("Loyal friends", "FRIENDS26"),
    ("Garden week", "GREEN26"),
    ("Late summer", "LATE26"),
    ("Trade fair", "FAIR26"),
)
_USAGES = {
    "Single use": "Can be used once by one customer",
    "Once per customer": "Can only be used once per customer",
}
_MULTI_USE = "Can be used multiple times by multiple customers"
_RANGE_NAMES = (
    "Under the radar",
    "Gifts for cooks",
    "Rainy day",
    "Travel light",
    "Desk makeover",
    "First flat",
)


def create_voucher(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new voucher for an existing offer; the near miss keeps the default usage."""
    newest = shop.query("SELECT max(id) FROM voucher_voucher")[0][0]
    offers = shop.query(
        "SELECT id, name FROM offer_conditionaloffer WHERE offer_type = 'Voucher' ORDER BY id"
    )
    for (name, code), (offer_id, offer) in zip(
        shuffled(rng, _NEW_VOUCHERS), shuffled(rng, offers), strict=False
    ):
        end = _TODAY + datetime.timedelta(days=rng.randrange(20, 120))
        usage = rng.choice(list(_USAGES))
        yield Draft(
            f"Create a voucher named \u201c{name}\u201d with the code {code}. It starts on 2026-03-10 at 00:00:00 and "
            f"ends on {end} at 00:00:00, uses the offer \u201c{offer}\u201d, and "
            f"{_USAGES[usage][0].lower()}{_USAGES[usage][1:]}.",
            (
                rows(
                    "new vouchers",
                    "SELECT v.name, v.code, v.usage, v.start_datetime, v.end_datetime, o.conditionaloffer_id"
                    " FROM voucher_voucher v LEFT JOIN voucher_voucher_offers o ON o.voucher_id = v.id"
                    " WHERE v.id > ? ORDER BY o.id",
                    newest,
                    expected=((name, code, usage, "2026-03-10 00:00:00", f"{end} 00:00:00", offer_id),),
                ),
                nothing_else(
                    Added("voucher_voucher"), Added("voucher_voucher_offers", f"voucher_id > {newest}")
                ),
            ),
            script(_create_voucher, name, code, end, offer, _USAGES[usage]),
            script(_create_voucher, name, code, end, offer, ""),
            {"name": name, "code": code, "usage": usage, "offer": offer},
        )


def _create_voucher(
    obs: Observation, name: str, code: str, end: datetime.date, offer: str, usage: str
) -> Script:
    obs = yield from way.dashboard(obs, "Offers", "Vouchers")
    obs = yield from click(obs, "link", "Create new voucher")
    obs = yield from fill(obs, "Name", name)
    obs = yield from fill(obs, "Code", code)
    obs = yield from fill(obs, "Start datetime", "2026-03-10 00:00:00", exact=False)
    obs = yield from fill(obs, "End datetime", f"{end} 00:00:00", exact=False)
    if usage:
        obs = yield from way.choose_dressed(obs, "Usage", _MULTI_USE, usage)
    obs = yield from way.choose_dressed(obs, "Which offers apply for this voucher?", "", offer)
    yield from click(obs, "button", "Save")
    yield from finish()


def rename_voucher(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A voucher gets another name; the near miss changes its code."""
    vouchers = shop.query("SELECT id, name, code, usage FROM voucher_voucher ORDER BY id")
    for id_, name, code, usage in shuffled(rng, vouchers):
        new = f"{name} {rng.choice(('(internal)', '2026', 'again'))}"
        yield Draft(
            f"Rename the voucher with the code {code} to \u201c{new}\u201d.",
            (
                rows(
                    "voucher",
                    "SELECT name, code, usage FROM voucher_voucher WHERE id = ?",
                    id_,
                    expected=((new, code, usage),),
                ),
                nothing_else(Edited("voucher_voucher", f"id = {id_}", ("name",))),
            ),
            script(_edit_voucher, name, "Name", new),
            script(_edit_voucher, name, "Code", f"{code}X"),
            {"code": code, "name": new},
        )


def _edit_voucher(obs: Observation, voucher: str, field: str, value: str) -> Script:
    obs = yield from way.dashboard(obs, "Offers", "Vouchers")
    obs = yield from way.row_action(obs, f'"{voucher}"', "Edit")
    obs = yield from fill(obs, field, value)
    yield from click(obs, "button", "Save")
    yield from finish()


def delete_voucher(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A voucher is deleted; the near miss stops at the confirmation."""
    for id_, name, code in shuffled(
        rng, shop.query("SELECT id, name, code FROM voucher_voucher ORDER BY id")
    ):
        yield Draft(
            f"Delete the voucher {code}.",
            (
                rows("vouchers", "SELECT count(*) FROM voucher_voucher WHERE id = ?", id_, expected=((0,),)),
                nothing_else(
                    Removed("voucher_voucher", f"id = {id_}"),
                    Removed("voucher_voucher_offers", f"voucher_id = {id_}"),
                    Removed("voucher_voucherapplication", f"voucher_id = {id_}"),
                ),
            ),
            script(_delete_voucher, name, confirm=True),
            script(_delete_voucher, name, confirm=False),
            {"code": code},
        )


def _delete_voucher(obs: Observation, name: str, *, confirm: bool) -> Script:
    obs = yield from way.dashboard(obs, "Offers", "Vouchers")
    obs = yield from way.row_action(obs, f'"{name}"', "Delete")
    if confirm:
        yield from click(obs, "button", "Delete")
    yield from finish()


def voucher_end(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """The last day of a voucher; the near miss gives its first."""
    for name, code, start, end in shuffled(
        rng, shop.query("SELECT name, code, start_datetime, end_datetime FROM voucher_voucher ORDER BY id")
    ):
        yield Draft(
            f"On which date does the voucher {code} end?",
            (AnswerDate(datetime.datetime.fromisoformat(end).date()), nothing_else()),
            script(_tell_voucher_date, name, "End datetime", end[:10]),
            script(_tell_voucher_date, name, "Start datetime", start[:10]),
            {"code": code},
        )


def _tell_voucher_date(obs: Observation, name: str, row: str, date: str) -> Script:
    obs = yield from way.dashboard(obs, "Offers", "Vouchers")
    obs = yield from click(obs, "link", name)
    yield from finish(cells(obs, row)[1])


def suspend_offer(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """An offer is suspended; the near miss suspends another."""
    offers = shuffled(
        rng, shop.query("SELECT id, name FROM offer_conditionaloffer WHERE status = 'Open' ORDER BY id")
    )
    for number, (id_, name) in enumerate(offers):
        yield Draft(
            f"Suspend the offer \u201c{name}\u201d for now, without deleting it.",
            (
                rows(
                    "offer",
                    "SELECT status, name FROM offer_conditionaloffer WHERE id = ?",
                    id_,
                    expected=(("Suspended", name),),
                ),
                nothing_else(Edited("offer_conditionaloffer", f"id = {id_}", ("status",))),
            ),
            script(_suspend_offer, name),
            script(_suspend_offer, offers[number - 1][1]),
            {"offer": name},
        )


def _suspend_offer(obs: Observation, name: str) -> Script:
    obs = yield from way.dashboard(obs, "Offers", "Offers")
    obs = yield from click(obs, "link", name)
    yield from click(obs, "button", "Suspend offer")
    yield from finish()


def create_range(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new range with two products; the near miss leaves one out."""
    newest = shop.query("SELECT max(id) FROM offer_range")[0][0]
    products = shuffled(rng, shop.products)
    for number, name in enumerate(shuffled(rng, _RANGE_NAMES)):
        pair = sorted(products[2 * number : 2 * number + 2], key=lambda product: product.id)
        yield Draft(
            f"Create a range named \u201c{name}\u201d and add exactly these two products to it: {pair[0].title} "
            f"(UPC {pair[0].upc}) and {pair[1].title} (UPC {pair[1].upc}).",
            (
                rows(
                    "products of new ranges",
                    "SELECT r.name, r.includes_all_products, p.product_id FROM offer_range r"
                    " LEFT JOIN offer_rangeproduct p ON p.range_id = r.id WHERE r.id > ? ORDER BY p.product_id",
                    newest,
                    expected=tuple((name, 0, product.id) for product in pair),
                ),
                nothing_else(Added("offer_range"), Added("offer_rangeproduct", f"range_id > {newest}")),
            ),
            script(_create_range, name, pair),
            script(_create_range, name, pair[:1]),
            {"name": name, "products": [product.title for product in pair]},
        )


def _create_range(obs: Observation, name: str, products: list[Product]) -> Script:
    obs = yield from way.dashboard(obs, "Catalogue", "Ranges")
    obs = yield from click(obs, "link", "Create new range")
    obs = yield from fill(obs, "Name", name)
    obs = yield from click(obs, "button", "Save and edit products")
    obs = yield from fill(
        obs, "Product SKUs or UPCs", ", ".join(product.upc for product in products), exact=False
    )
    yield from click(obs, "button", "Go!")
    yield from finish()


TEMPLATES = (
    dashboard("create-voucher-v1", create_voucher, tags=("create", "offers"), steps=30),
    dashboard("rename-voucher-v1", rename_voucher, tags=("edit", "offers"), steps=20),
    dashboard("delete-voucher-v1", delete_voucher, tags=("delete", "offers"), steps=20),
    dashboard("voucher-end-v1", voucher_end, tags=("read", "offers"), steps=15),
    dashboard("suspend-offer-v1", suspend_offer, tags=("edit", "offers"), steps=15),
    dashboard("create-range-v1", create_range, tags=("create", "offers"), steps=25),
)
