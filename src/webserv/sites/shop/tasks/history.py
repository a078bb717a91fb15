"""Storefront: what the customer ordered earlier."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

from webserv.sites.shop import reference as way
from webserv.sites.shop.evaluators import nothing_else
from webserv.sites.shop.tasks.database import Order, ShopDatabase
from webserv.sites.shop.tasks.kinds import shuffled, storefront
from webserv.tasks.evaluators.answer import AnswerDate, AnswerMoney, AnswerNames, AnswerNumber
from webserv.tasks.scripting import cells, finish, first_match, script
from webserv.tasks.task import Script
from webserv.tasks.template import Draft
from webserv.types import Observation


def order_total(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """The total of an order; the near miss gives that of another."""
    for order, other in _pairs(shop, rng):
        if order.total != other.total:
            yield Draft(
                f"What was the total of my order {order.number}, shipping included?",
                (AnswerMoney(order.total, "USD", ignore=(order.number,)), nothing_else()),
                script(_tell_total, order),
                script(_tell_total, other),
                {"order": order.number},
            )


def _tell_total(obs: Observation, order: Order) -> Script:
    obs = yield from way.open_order(obs, order.number)
    yield from finish(f"${way.amount(str(cells(obs, 'Order total')))}")


def shipping_paid(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """What shipping of an order cost; the near miss gives the order's total."""
    for order, _ in _pairs(shop, rng):
        yield Draft(
            f"How much did I pay for the shipping of my order {order.number}?",
            (AnswerMoney(order.shipping, "USD", ignore=(order.number,)), nothing_else()),
            script(_tell_shipping, order, "Shipping total"),
            script(_tell_shipping, order, "Order total"),
            {"order": order.number},
        )


def _tell_shipping(obs: Observation, order: Order, row: str) -> Script:
    obs = yield from way.open_order(obs, order.number)
    yield from finish(f"${way.amount(str(cells(obs, row)))}")


def shipping_method(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """How an order was shipped; the near miss says how another one was."""
    methods = tuple(sorted({order.shipping_method for order in shop.orders}))
    for order, _ in _pairs(shop, rng):
        wrong = next(method for method in methods if method != order.shipping_method)
        accepted = order.shipping_method
        yield Draft(
            f"Which shipping method was used for my order {order.number}? It is one of {', '.join(methods)}.",
            (AnswerNames((accepted,), methods, ignore=(order.number,)), nothing_else()),
            script(_tell_method, order, ""),
            script(_tell_method, order, wrong),
            {"order": order.number},
        )


def _tell_method(obs: Observation, order: Order, wrong: str) -> Script:
    obs = yield from way.open_order(obs, order.number)
    yield from finish(wrong or first_match(obs, r"((?:Standard|Express|Overnight) shipping)"))


def units_ordered(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """How many units of a product were in an order; the near miss counts the order's lines instead."""
    for order in shuffled(rng, shop.orders_of(shop.customer)):
        units = sum(line.quantity for line in order.lines)
        if units != len(order.lines):
            yield Draft(
                f"How many items in all, counting every unit, were in my order {order.number}?",
                (AnswerNumber(Decimal(units), ignore=(order.number,)), nothing_else()),
                script(_tell_units, order, False),
                script(_tell_units, order, True),
                {"order": order.number},
            )
        for line in order.lines:
            if line.quantity > 1:
                yield Draft(
                    f"How many units of the {line.title} did I buy with order {order.number}?",
                    (AnswerNumber(Decimal(line.quantity), ignore=(order.number, line.title)), nothing_else()),
                    script(_tell_line, order, line.title, 0),
                    script(_tell_line, order, line.title, 1),
                    {"order": order.number, "product": line.title},
                )


def _quantities(obs: Observation, order: Order) -> list[int]:
    return [int(first_match(obs, rf"{line.title}(?:\W+\w+)*?\W+(\d+)\W+\$")) for line in order.lines]


def _tell_units(obs: Observation, order: Order, count_lines: bool) -> Script:
    obs = yield from way.open_order(obs, order.number)
    quantities = _quantities(obs, order)
    yield from finish(str(len(quantities) if count_lines else sum(quantities)))


def _tell_line(obs: Observation, order: Order, title: str, off_by: int) -> Script:
    obs = yield from way.open_order(obs, order.number)
    position = [line.title for line in order.lines].index(title)
    yield from finish(str(_quantities(obs, order)[position] + off_by))


def date_bought(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """The day on which the customer ordered a product; the near miss gives the day of another order."""
    orders = list(shop.orders_of(shop.customer))
    bought = Counter(line.title for order in orders for line in order.lines)
    for order, other in _pairs(shop, rng):
        for line in order.lines:
            if bought[line.title] == 1:
                yield Draft(
                    f"On which date did I order the {line.title}?",
                    (AnswerDate(order.placed.date()), nothing_else()),
                    script(_tell_date, orders, line.title, None),
                    script(_tell_date, orders, line.title, other),
                    {"product": line.title},
                )
                break


def _tell_date(obs: Observation, orders: list[Order], title: str, other: Order | None) -> Script:
    """Opens the orders one after another until one holds the product, then reads its date in the list."""
    for order in orders:
        obs = yield from way.open_order(obs, order.number)
        if title in obs.text:
            break
    wanted = other or order
    obs = yield from way.open_account(obs, "Order history")
    yield from finish(cells(obs, wanted.number)[3])


def _pairs(shop: ShopDatabase, rng: random.Random) -> Iterator[tuple[Order, Order]]:
    """The customer's orders in random order, each with the one before it."""
    orders = shuffled(rng, shop.orders_of(shop.customer))
    for number, order in enumerate(orders):
        yield order, orders[number - 1]


TEMPLATES = (
    storefront("order-total-v1", order_total, tags=("read", "account"), steps=20),
    storefront("shipping-paid-v1", shipping_paid, tags=("read", "account"), steps=20),
    storefront("shipping-method-v1", shipping_method, tags=("read", "account"), steps=20),
    storefront("units-ordered-v1", units_ordered, tags=("read", "account", "count"), steps=20),
    storefront("date-bought-v1", date_bought, tags=("read", "account"), steps=40),
)
