"""Storefront: what the customer ordered earlier."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from itertools import permutations

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
    """Which of three orders was sent in some way; the near miss names another of them."""
    orders = list(shop.orders_of(shop.customer))
    # A name of one method alone would be right too often: few are in use.
    for trio in shuffled(rng, permutations(orders, 3)):
        for order in trio:
            if [other.shipping_method for other in trio].count(order.shipping_method) == 1:
                numbers = tuple(other.number for other in trio)
                yield Draft(
                    f"Exactly one of my orders {numbers[0]}, {numbers[1]} and {numbers[2]} was sent with "
                    f"{order.shipping_method.lower()}. Which one? Answer with its number.",
                    (AnswerNames((order.number,), numbers), nothing_else()),
                    script(_tell_sent_with, numbers, order.shipping_method, wanted=True),
                    script(_tell_sent_with, numbers, order.shipping_method, wanted=False),
                    {"choices": list(numbers), "method": order.shipping_method},
                )
                break


def _tell_sent_with(obs: Observation, numbers: tuple[str, ...], method: str, *, wanted: bool) -> Script:
    for number in numbers:
        obs = yield from way.open_order(obs, number)
        if (method in obs.text) is wanted:
            break
    yield from finish(number)


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
    storefront("shipping-paid-v1", shipping_paid, tags=("read", "account"), steps=20, same=2),
    storefront("shipping-method-v1", shipping_method, tags=("read", "compare", "account"), steps=30),
    storefront("units-ordered-v1", units_ordered, tags=("read", "account", "count"), steps=20),
    storefront("date-bought-v1", date_bought, tags=("read", "account"), steps=40),
)
