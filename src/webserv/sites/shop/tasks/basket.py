"""Storefront: filling the basket and ordering."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from webserv.sites.shop import reference as way
from webserv.sites.shop.evaluators import nothing_else, rows
from webserv.sites.shop.tasks.database import Order, Product, ShopDatabase
from webserv.sites.shop.tasks.kinds import shuffled, storefront
from webserv.tasks.evaluators.database import DatabaseRows
from webserv.tasks.evaluators.guard import Added, Allowed, Edited, NothingElse
from webserv.tasks.scripting import Steps, click, fill, finish, script
from webserv.tasks.task import Script
from webserv.tasks.template import Draft
from webserv.types import Observation

_BASKET = (
    "SELECT l.product_id, l.quantity FROM basket_line l JOIN basket_basket b ON b.id = l.basket_id"
    " WHERE b.owner_id = ? AND b.status = 'Open' ORDER BY l.product_id"
)
_BASKET_VOUCHERS = (
    "SELECT v.code FROM basket_basket_vouchers bv JOIN voucher_voucher v ON v.id = bv.voucher_id"
    " JOIN basket_basket b ON b.id = bv.basket_id WHERE b.owner_id = ? AND b.status = 'Open' ORDER BY v.code"
)
_NEW_ORDERS = (
    "SELECT l.product_id, l.quantity, o.shipping_code, a.line1, a.line4, a.state, a.postcode"
    " FROM order_order o JOIN order_line l ON l.order_id = o.id"
    " JOIN order_shippingaddress a ON a.id = o.shipping_address_id"
    " WHERE o.id > ? AND o.user_id = ? ORDER BY o.id, l.product_id"
)
_OF_AN_ORDER = (
    "order_line",
    "order_lineprice",
    "order_orderdiscount",
    "order_orderstatuschange",
    "order_communicationevent",
    "payment_source",
    "voucher_voucherapplication",
)
"""Tables with rows of a new order beside its own."""
_METHODS = {"standard": "Standard shipping", "express": "Express shipping", "overnight": "Overnight shipping"}
_VOUCHERS = ("WELCOME10", "FREESHIP", "VIP20")
"""Codes of the seed that any customer may use on any product today."""


def add_to_basket(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """Some units of one product; the near miss takes one too few."""
    for product in _buyable(shop, rng):
        quantity = rng.randrange(2, 7)
        yield Draft(
            f"Put {quantity} units of the {product.title} into my basket.",
            (_basket_holds(shop, (product, quantity)), _basket_guard(shop)),
            script(_fill_basket, [(product, quantity)]),
            script(_fill_basket, [(product, quantity - 1)]),
            {"product": product.title, "quantity": quantity},
        )


def add_two_to_basket(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """Two products; the near miss forgets the second."""
    products = _buyable(shop, rng)
    for first, second in zip(products[::2], products[1::2], strict=False):
        one, two = rng.randrange(1, 4), rng.randrange(2, 5)
        yield Draft(
            f"I need {one} x {first.title} and {two} x {second.title} in my basket. Do not order yet.",
            (_basket_holds(shop, (first, one), (second, two)), _basket_guard(shop)),
            script(_fill_basket, [(first, one), (second, two)]),
            script(_fill_basket, [(first, one)]),
            {"products": [first.title, second.title], "quantities": [one, two]},
        )


def basket_with_voucher(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A product and a voucher code; the near miss does not apply the code."""
    for number, product in enumerate(_buyable(shop, rng)):
        code = _VOUCHERS[number % len(_VOUCHERS)]
        yield Draft(
            f"Put one {product.title} into my basket and apply the voucher code {code} to it.",
            (
                _basket_holds(shop, (product, 1)),
                rows("vouchers of the basket", _BASKET_VOUCHERS, shop.customer.id, expected=((code,),)),
                _basket_guard(shop, Added("basket_basket_vouchers", _in_open_basket(shop))),
            ),
            script(_fill_basket, [(product, 1)], code),
            script(_fill_basket, [(product, 1)]),
            {"product": product.title, "code": code},
        )


def reorder(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """All items of an earlier order; the near miss repeats another order."""
    orders = [order for order in shop.orders_of(shop.customer) if _is_available(shop, order)]
    order_of = shuffled(rng, orders)
    for number, order in enumerate(order_of):
        expected = tuple(sorted((line.product, line.quantity) for line in order.lines))
        yield Draft(
            f"Put everything from my order {order.number} into my basket again, in the same quantities.",
            (
                rows("basket", _BASKET, shop.customer.id, expected=expected),
                _basket_guard(shop),
            ),
            script(_reorder, order),
            script(_reorder, order_of[number - 1]),
            {"order": order.number},
        )


def _reorder(obs: Observation, order: Order) -> Script:
    obs = yield from way.open_order(obs, order.number)
    yield from click(obs, "button", "Re-order all items")
    yield from finish()


@dataclass(frozen=True)
class _Purchase:
    """What a checkout script orders."""

    items: tuple[tuple[Product, int], ...]
    method: str
    line1: str
    """First line of the saved address; empty for the default one."""
    code: str = ""
    place: bool = True


def place_order(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """An order to the default address; the near miss stops at the preview."""
    default = next(address for address in shop.addresses if address.user == shop.customer.id)
    for number, product in enumerate(_buyable(shop, rng)):
        code = list(_METHODS)[number % 3]
        quantity = rng.randrange(1, 4)
        purchase = _Purchase(((product, quantity),), _METHODS[code], "")
        yield Draft(
            f"Order {quantity} x {product.title} for me, with {_METHODS[code].lower()} to my default address.",
            (
                _ordered(shop, ((product, quantity),), code, default.line1),
                _order_guard(shop),
            ),
            script(_buy, purchase),
            script(_buy, _Purchase(purchase.items, purchase.method, "", place=False)),
            {"product": product.title, "quantity": quantity, "method": code},
        )


def ship_elsewhere(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """An order to another saved address; the near miss ships to the default one."""
    others = [address for address in shop.addresses if address.user == shop.customer.id][1:]
    for number, product in enumerate(_buyable(shop, rng)):
        address = others[number % len(others)]
        code = list(_METHODS)[number % 3]
        items = ((product, 1),)
        yield Draft(
            f"Buy one {product.title} and have it sent to my address in {address.city} "
            f"with {_METHODS[code].lower()}.",
            (_ordered(shop, items, code, address.line1), _order_guard(shop)),
            script(_buy, _Purchase(items, _METHODS[code], address.line1)),
            script(_buy, _Purchase(items, _METHODS[code], "")),
            {"product": product.title, "city": address.city, "method": code},
        )


def order_with_voucher(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """An order with a voucher; the near miss orders without it."""
    default = next(address for address in shop.addresses if address.user == shop.customer.id)
    newest = max(order.id for order in shop.orders)
    for number, product in enumerate(_buyable(shop, rng)):
        code = _VOUCHERS[number % len(_VOUCHERS)]
        items = ((product, 2),)
        yield Draft(
            f"Order two of the {product.title} with express shipping to my default address, "
            f"and use the voucher {code}.",
            (
                _ordered(shop, items, "express", default.line1),
                rows(
                    "vouchers of new orders",
                    "SELECT DISTINCT voucher_code FROM order_orderdiscount WHERE order_id > ?",
                    newest,
                    expected=((code,),),
                ),
                _order_guard(shop),
            ),
            script(_buy, _Purchase(items, _METHODS["express"], "", code)),
            script(_buy, _Purchase(items, _METHODS["express"], "")),
            {"product": product.title, "code": code},
        )


def _fill_basket(obs: Observation, items: list[tuple[Product, int]], code: str = "") -> Script:
    obs = yield from _add(obs, items)
    if code:
        obs = yield from _apply_voucher(obs, code)
    yield from finish()


def _add(obs: Observation, items: Iterable[tuple[Product, int]]) -> Steps:
    """Puts products into the basket and ends on its page, where quantities are set."""
    for product, _ in items:
        obs = yield from way.open_product(obs, product.title)
        # Other products' buttons of the same name stand further down.
        obs = yield from click(obs, "button", "Add to basket")
    obs = yield from click(obs, "button|link", "View basket")
    for product, quantity in items:
        if quantity != 1:
            obs = yield from way.set_quantity(obs, product.title, quantity)
    return obs


def _apply_voucher(obs: Observation, code: str) -> Steps:
    obs = yield from click(obs, "link|button", "I have a voucher code...")
    obs = yield from fill(obs, "Code", code)
    return (yield from click(obs, "button", "Add voucher"))


def _buy(obs: Observation, purchase: _Purchase) -> Script:
    obs = yield from _add(obs, purchase.items)
    if purchase.code:
        obs = yield from _apply_voucher(obs, purchase.code)
    obs = yield from click(obs, "link", "Proceed to checkout")
    if purchase.line1:
        obs = yield from way.click_after(obs, purchase.line1, "button", "Ship to this address")
    else:
        obs = yield from click(obs, "button", "Ship to your default shipping address")
    obs = yield from way.click_after(obs, purchase.method, "button", "Select option")
    obs = yield from click(obs, "link|button", "Continue")
    if purchase.place:
        obs = yield from click(obs, "button", "Place order")
    yield from finish()


def _buyable(shop: ShopDatabase, rng: random.Random) -> list[Product]:
    """Products with plenty of stock, one of each category, in random order."""
    return shuffled(
        rng,
        (
            rng.choice([product for product in category.products if product.in_stock >= 10])
            for category in shop.categories
        ),
    )


def _is_available(shop: ShopDatabase, order: Order) -> bool:
    stock = {product.id: product.in_stock for product in shop.products}
    return all(stock.get(line.product or 0, 0) >= line.quantity for line in order.lines)


def _basket_holds(shop: ShopDatabase, *items: tuple[Product, int]) -> DatabaseRows:
    expected = tuple(sorted((product.id, quantity) for product, quantity in items))
    return rows("basket", _BASKET, shop.customer.id, expected=expected)


def _ordered(
    shop: ShopDatabase, items: tuple[tuple[Product, int], ...], method: str, line1: str
) -> DatabaseRows:
    address = next(a for a in shop.addresses if a.user == shop.customer.id and a.line1 == line1)
    place = (address.line1, address.city, address.state, address.postcode)
    return rows(
        "lines of new orders",
        _NEW_ORDERS,
        max(order.id for order in shop.orders),
        shop.customer.id,
        expected=tuple(sorted((product.id, quantity, method, *place) for product, quantity in items)),
    )


def _basket_guard(shop: ShopDatabase, *allowed: Allowed) -> NothingElse:
    """Only the customer's open basket may change; the shop makes one with the first product."""
    return nothing_else(
        Added("basket_basket", f"owner_id = {shop.customer.id} AND status = 'Open'"),
        Added("basket_line", _in_open_basket(shop)),
        *allowed,
    )


def _in_open_basket(shop: ShopDatabase) -> str:
    return (
        f"basket_id IN (SELECT id FROM basket_basket WHERE owner_id = {shop.customer.id} AND status = 'Open')"
    )


def _order_guard(shop: ShopDatabase) -> NothingElse:
    """An order adds rows and reserves stock; rows that were there stay, and nothing is left in the basket."""
    newest = max(order.id for order in shop.orders)
    orders = f"(SELECT id FROM order_order WHERE id > {newest} AND user_id = {shop.customer.id})"
    lines = f"(SELECT id FROM order_line WHERE order_id IN {orders})"
    ordered = f"basket_id IN (SELECT basket_id FROM order_order WHERE id IN {orders})"
    return nothing_else(
        Added("basket_basket", f"owner_id = {shop.customer.id}"),
        Added("basket_line", ordered),
        Added("basket_basket_vouchers", ordered),
        Edited("basket_basket", f"owner_id = {shop.customer.id} AND status = 'Open'", ("status",)),
        Added("order_order", f"id IN {orders}"),
        Added(
            "order_shippingaddress",
            f"id IN (SELECT shipping_address_id FROM order_order WHERE id IN {orders})",
        ),
        Added(
            "order_billingaddress", f"id IN (SELECT billing_address_id FROM order_order WHERE id IN {orders})"
        ),
        *(Added(table, f"order_id IN {orders}") for table in _OF_AN_ORDER),
        *(
            Added(table, f"line_id IN {lines}")
            for table in ("order_lineattribute", "order_orderlinediscount")
        ),
    )


TEMPLATES = (
    storefront("add-to-basket-v1", add_to_basket, tags=("create", "basket"), steps=20),
    storefront("add-two-to-basket-v1", add_two_to_basket, tags=("create", "basket"), steps=30),
    storefront("basket-with-voucher-v1", basket_with_voucher, tags=("create", "basket"), steps=30),
    storefront("reorder-v1", reorder, tags=("create", "basket", "account"), steps=20),
    storefront("place-order-v1", place_order, tags=("create", "checkout"), steps=40),
    storefront("ship-elsewhere-v1", ship_elsewhere, tags=("create", "checkout"), steps=40),
    storefront("order-with-voucher-v1", order_with_voucher, tags=("create", "checkout"), steps=40),
)
