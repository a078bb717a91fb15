"""Dashboard: looking up orders and working on them."""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise

from webserv.sites.shop import reference as way
from webserv.sites.shop.evaluators import nothing_else, rows
from webserv.sites.shop.tasks.database import Order, ShopDatabase
from webserv.sites.shop.tasks.kinds import dashboard, shuffled
from webserv.tasks.evaluators.answer import AnswerMoney, AnswerNames, AnswerNumber
from webserv.tasks.evaluators.guard import Added, Edited
from webserv.tasks.scripting import Steps, cells, click, fill, finish, first_match, script
from webserv.tasks.task import Script
from webserv.tasks.template import Draft
from webserv.types import Observation

_NEXT = {"Pending": ("Being processed", "Cancelled"), "Being processed": ("Shipped", "Cancelled")}
_NOTES = (
    "Customer will collect the parcel on Friday",
    "Refund agreed by phone",
    "Send a replacement lid with the next delivery",
    "Deliver to the reception desk",
    "Wrap as a gift and leave out the invoice",
    "Address checked, gate code 4417",
)
_POSTCODES = ("60614", "94110", "02139", "30309", "98115", "19103")


def count_orders(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """How many orders were placed in some days; the near miss leaves out the last day."""
    for start, end in _periods(shop, rng):
        count = len(_placed(shop, start, end))
        shorter = end - datetime.timedelta(days=1)
        if len(_placed(shop, start, shorter)) != count:
            yield Draft(
                f"How many orders were placed from {start} to {end}, both days included?",
                (AnswerNumber(Decimal(count), ignore=(str(start), str(end))), nothing_else()),
                script(_tell_statistic, "Total orders", start, end),
                script(_tell_statistic, "Total orders", start, shorter),
                {"from": str(start), "to": str(end)},
            )


def revenue(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """The revenue of some days; the near miss leaves out the last day."""
    for start, end in _periods(shop, rng):
        total = sum((order.total for order in _placed(shop, start, end)), Decimal(0))
        shorter = end - datetime.timedelta(days=1)
        if sum((order.total for order in _placed(shop, start, shorter)), Decimal(0)) != total:
            yield Draft(
                f"What was the total revenue of the orders placed from {start} to {end}, both days included, "
                "according to the order statistics?",
                (AnswerMoney(total, "USD", ignore=(str(start), str(end))), nothing_else()),
                script(_tell_statistic, "Total revenue", start, end),
                script(_tell_statistic, "Total revenue", start, shorter),
                {"from": str(start), "to": str(end)},
            )


def _tell_statistic(obs: Observation, row: str, start: datetime.date, end: datetime.date) -> Script:
    obs = yield from way.dashboard(obs, "Fulfilment", "Statistics")
    obs = yield from fill(obs, "From", start.isoformat(), exact=False)
    obs = yield from fill(obs, "To", end.isoformat())
    obs = yield from click(obs, "button", "Filter result")
    yield from finish(cells(obs, row)[1])


def _periods(shop: ShopDatabase, rng: random.Random) -> Iterator[tuple[datetime.date, datetime.date]]:
    """Periods of ten to thirty days within the time that the shop has orders for."""
    first, last = shop.orders[0].placed.date(), shop.orders[-1].placed.date()
    while True:
        start = first + datetime.timedelta(days=rng.randrange((last - first).days - 40))
        end = start + datetime.timedelta(days=rng.randrange(10, 31))
        # Oscar's statistics count the midnight after the last day as well.
        midnight = datetime.datetime.combine(end + datetime.timedelta(days=1), datetime.time.min)
        if all(order.placed != midnight for order in shop.orders):
            yield start, end


def _placed(shop: ShopDatabase, start: datetime.date, end: datetime.date) -> list[Order]:
    return [order for order in shop.orders if start <= order.placed.date() <= end]


def largest_order(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """The order with the highest total of some days; the near miss names the second."""
    numbers = tuple(order.number for order in shop.orders)
    for start, end in _periods(shop, rng):
        order = sorted(_placed(shop, start, end), key=lambda order: -order.total)
        if 5 <= len(order) <= 20 and order[0].total > order[1].total > order[2].total:
            yield Draft(
                f"Which order placed from {start} to {end} (both days included) has the highest total? "
                "Answer with its number.",
                (AnswerNames((order[0].number,), numbers), nothing_else()),
                script(_tell_largest, start, end, 0),
                script(_tell_largest, start, end, 1),
                {"from": str(start), "to": str(end)},
            )


def _tell_largest(obs: Observation, start: datetime.date, end: datetime.date, rank: int) -> Script:
    obs = yield from _search_orders(obs, {"Date from": start.isoformat(), "Date to": end.isoformat()})
    found = []
    for line in obs.text.splitlines():
        if line.lstrip().startswith("|") and "$" in line:
            found.append((way.amount(line), re.findall(r'"(\d+)"', line)[0]))
    yield from finish(sorted(found, reverse=True)[rank][1])


def _search_orders(obs: Observation, fields: dict[str, str]) -> Steps:
    obs = yield from way.dashboard(obs, "Fulfilment", "Orders")
    obs = yield from click(obs, "link|button", "Advanced Search")
    for name, value in fields.items():
        obs = yield from fill(obs, name, value)
    return (yield from click(obs, "button", "Search"))


def who_ordered(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """The e-mail address behind an order; the near miss gives that of another order."""
    people = {person.id: person for person in shop.people}
    emails = tuple(person.email for person in shop.people)
    order_of = shuffled(rng, (order for order in shop.orders if order.user in people))
    for order, other in pairwise(order_of):
        if order.user != other.user:
            email = people[order.user or 0].email
            yield Draft(
                f"What is the email address of the customer who placed order {order.number}?",
                (AnswerNames((email,), emails, ignore=(order.number,)), nothing_else()),
                script(_tell_who_ordered, order),
                script(_tell_who_ordered, other),
                {"order": order.number},
            )


def _tell_who_ordered(obs: Observation, order: Order) -> Script:
    obs = yield from way.dashboard_order(obs, order.number)
    yield from finish(first_match(obs, r"([\w.]+@shop\.example)"))


def set_status(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """An order moves on; the near miss adds a note instead."""
    open_orders = shuffled(rng, (order for order in shop.orders if order.status in _NEXT))
    for number, order in enumerate(open_orders):
        status = _NEXT[order.status][number % 2]
        yield Draft(
            f"Set the status of order {order.number} to \u201c{status}\u201d.",
            (
                rows(
                    "status of the order and its lines",
                    "SELECT DISTINCT o.status, l.status FROM order_order o LEFT JOIN order_line l"
                    " ON l.order_id = o.id WHERE o.id = ?",
                    order.id,
                    expected=((status, status),),
                ),
                nothing_else(
                    Edited("order_order", f"id = {order.id}", ("status",)),
                    # The lines follow their order, and the shop writes both down.
                    Edited(
                        "order_line",
                        f"order_id = {order.id}",
                        ("status", "num_allocated", "allocation_cancelled"),
                    ),
                    Added("order_orderstatuschange", f"order_id = {order.id}"),
                    _system_notes(order),
                ),
            ),
            script(_set_status, order, status),
            script(_add_note, order, f"Set the status to {status}"),
            {"order": order.number, "status": status},
        )


def _system_notes(order: Order) -> Added:
    """What the shop notes of changes to an order."""
    return Added("order_ordernote", f"order_id = {order.id} AND note_type = 'System'")


def _set_status(obs: Observation, order: Order, status: str) -> Script:
    obs = yield from way.dashboard_order(obs, order.number)
    first = _NEXT[order.status][0]
    obs = yield from way.choose_dressed(obs, "New order status", first, status)
    yield from click(obs, "button", "Change status")
    yield from finish()


def add_note(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A note on an order; the near miss puts it on the order before."""
    newest = shop.query("SELECT coalesce(max(id), 0) FROM order_ordernote")[0][0]
    orders = shuffled(rng, shop.orders)
    for text, order, other in zip(shuffled(rng, _NOTES), orders, orders[7:], strict=False):
        yield Draft(
            f"Add this note to order {order.number}: \u201c{text}\u201d",
            (
                rows(
                    "new notes",
                    "SELECT order_id, message FROM order_ordernote WHERE id > ? ORDER BY id",
                    newest,
                    expected=((order.id, text),),
                ),
                nothing_else(Added("order_ordernote")),
            ),
            script(_add_note, order, text),
            script(_add_note, other, text),
            {"order": order.number, "note": text},
        )


def _add_note(obs: Observation, order: Order, text: str) -> Script:
    obs = yield from way.dashboard_order(obs, order.number)
    obs = yield from click(obs, "link|tab", "Notes")
    obs = yield from fill(obs, "Message", text)
    yield from click(obs, "button", "Save note")
    yield from finish()


def correct_postcode(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """The delivery address of an order gets another postcode; the near miss does not save."""
    orders = shuffled(rng, (order for order in shop.orders if order.status in ("Pending", "Being processed")))
    for order, postcode in zip(orders, shuffled(rng, _POSTCODES), strict=False):
        yield Draft(
            f"The delivery address of order {order.number} has a wrong postcode. Correct it to {postcode}.",
            (
                rows(
                    "delivery address",
                    "SELECT a.first_name, a.last_name, a.line1, a.line2, a.line4, a.state, a.postcode"
                    " FROM order_shippingaddress a JOIN order_order o ON o.shipping_address_id = a.id"
                    " WHERE o.id = ?",
                    order.id,
                    expected=((*order.address[:-1], postcode),),
                ),
                nothing_else(
                    Edited(
                        "order_shippingaddress",
                        f"id = (SELECT shipping_address_id FROM order_order WHERE id = {order.id})",
                        ("postcode",),
                    ),
                    _system_notes(order),
                ),
            ),
            script(_correct_postcode, order, postcode, save=True),
            script(_correct_postcode, order, postcode, save=False),
            {"order": order.number, "postcode": postcode},
        )


def _correct_postcode(obs: Observation, order: Order, postcode: str, *, save: bool) -> Script:
    obs = yield from way.dashboard_order(obs, order.number)
    obs = yield from click(obs, "link|tab", "Shipping")
    obs = yield from click(obs, "link", "Update", exact=False)
    obs = yield from fill(obs, "Post/Zip-code", postcode, exact=False)
    if save:
        yield from click(obs, "button", "Update address")
    yield from finish()


TEMPLATES = (
    dashboard("count-orders-v1", count_orders, tags=("read", "count", "orders"), steps=20),
    dashboard("revenue-v1", revenue, tags=("read", "orders"), steps=20),
    dashboard("largest-order-v1", largest_order, tags=("read", "compare", "orders"), steps=20),
    dashboard("who-ordered-v1", who_ordered, tags=("read", "orders"), steps=20),
    dashboard("set-status-v1", set_status, tags=("edit", "orders"), steps=20),
    dashboard("add-note-v1", add_note, tags=("create", "orders"), steps=20),
    dashboard("correct-postcode-v1", correct_postcode, tags=("edit", "orders"), steps=25),
)
