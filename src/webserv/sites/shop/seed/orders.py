"""Nine months of orders with lines, payments, shipments and history, and the figures that reports show."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from oscar.core.loading import get_model
from seed.goods import LOW_STOCK_THRESHOLD, Goods
from seed.people import People
from shopsite import clock
from shopsite.shipping import FREE_FROM, Express, Overnight, Standard

Basket = get_model("basket", "Basket")
Line = get_model("order", "Line")
ShippingEventQuantity = get_model("order", "ShippingEventQuantity")
ProductRecord = get_model("analytics", "ProductRecord")
StockAlert = get_model("partner", "StockAlert")
StockRecord = get_model("partner", "StockRecord")

COUNT = 276
FIRST_DAY = 272
"""Days before the site's present."""
SALE_START, SALE_END = datetime(2025, 11, 24, tzinfo=UTC), datetime(2025, 12, 1, tzinfo=UTC)
_PATHS = {
    "Pending": (),
    "Being processed": ("Being processed",),
    "Shipped": ("Being processed", "Shipped"),
    "Complete": ("Being processed", "Shipped", "Complete"),
    "Cancelled": ("Cancelled",),
}
_NOTES = (
    "Customer asked for delivery after 5 pm.",
    "Please leave the parcel with the neighbour.",
    "Gift wrapped on request.",
    "Address confirmed by phone.",
)


@dataclass(frozen=True)
class _Draft:
    moment: datetime
    customer: Any
    status: str
    discount: Decimal
    """Share of the price that a voucher took off."""


def make_orders(rng: random.Random, people: People, goods: Goods, voucher: Any) -> None:
    """Makes all orders, oldest first, so that numbers rise with time; `voucher` was used around the end of November."""
    source_type = get_model("payment", "SourceType").objects.create(name="Credit card")
    shipped = get_model("order", "ShippingEventType").objects.create(name="Shipped")
    get_model("order", "ShippingEventType").objects.create(name="Returned")
    popularity = [1 + (index * 7919 % 13) for index in range(len(goods.buyable))]
    drafts = _draft(rng, people)
    baskets = [_make_basket(draft) for draft in drafts]
    bought: Counter[int] = Counter()
    for draft, basket in zip(drafts, baskets, strict=True):
        items = _choose(rng, goods, popularity)
        order = _make_order(rng, draft, basket, items)
        _make_history(rng, order, draft, shipped, people.staff)
        if draft.discount:
            _use_voucher(order, voucher)
        if draft.status != "Cancelled":
            get_model("payment", "Source").objects.create(
                order=order,
                source_type=source_type,
                currency="USD",
                amount_allocated=order.total_incl_tax,
                amount_debited=order.total_incl_tax,
                reference=f"PAY-{order.number}",
                label=f"**** {1000 + order.pk * 37 % 9000}",
            )
            bought.update({product.pk: quantity for product, quantity in items})
    _reserve_stock()
    _record_analytics(rng, people, goods, bought)


def _draft(rng: random.Random, people: People) -> list[_Draft]:
    moments = sorted(
        clock.START - timedelta(days=FIRST_DAY * rng.random() ** 1.5, minutes=20 + rng.randrange(600))
        for _ in range(COUNT)
    )
    drafts = []
    for index, moment in enumerate(moments):
        age = (clock.START - moment).days
        buyer = 0 if index % 39 == 20 else 1 + int(rng.random() ** 1.4 * 60)
        if rng.random() < 0.07:
            status = "Cancelled"
        elif age < 4:
            status = rng.choice(("Pending", "Pending", "Being processed"))
        elif age < 10:
            status = rng.choice(("Pending", "Being processed", "Being processed", "Shipped"))
        elif age < 22:
            status = rng.choice(("Being processed", "Shipped", "Shipped", "Complete"))
        else:
            status = "Complete"
        discount = Decimal("0.30") if SALE_START <= moment < SALE_END else Decimal(0)
        drafts.append(
            _Draft(moment.replace(second=0, microsecond=0), people.customers[buyer], status, discount)
        )
    return drafts


def _make_basket(draft: _Draft) -> Any:
    clock.set_to(draft.moment - timedelta(minutes=9))
    return Basket.objects.create(owner=draft.customer, status=Basket.SUBMITTED, date_submitted=draft.moment)


def _choose(rng: random.Random, goods: Goods, popularity: list[int]) -> list[tuple[Any, int]]:
    chosen: dict[int, tuple[Any, int]] = {}
    for product in rng.choices(goods.buyable, popularity, k=rng.choice((1, 1, 2, 2, 2, 3, 3, 4, 5))):
        chosen[product.pk] = (product, rng.choice((1, 1, 1, 1, 2, 2, 3)))
    return list(chosen.values())


def _copy_address(draft: _Draft, model: str) -> Any:
    address = draft.customer.addresses.order_by("pk").first()
    copy = get_model("order", model)()
    address.populate_alternative_model(copy)
    copy.save()
    return copy


def _make_order(rng: random.Random, draft: _Draft, basket: Any, items: list[tuple[Any, int]]) -> Any:
    clock.set_to(draft.moment)
    lines = []
    for product, quantity in items:
        stock = product.stockrecords.get()
        before = stock.price * quantity
        after = (before * (1 - draft.discount)).quantize(Decimal("0.01"))
        lines.append((product, quantity, stock, before, after))
    goods_total = sum((after for *_, after in lines), Decimal(0))
    method = rng.choice((Standard, Standard, Standard, Express, Overnight))
    charge = Decimal(0) if method is Standard and goods_total >= FREE_FROM else _charge(method)
    order = get_model("order", "Order").objects.create(
        number=str(100000 + basket.pk),
        site_id=1,
        basket=basket,
        user=draft.customer,
        billing_address=_copy_address(draft, "BillingAddress"),
        shipping_address=_copy_address(draft, "ShippingAddress"),
        currency="USD",
        total_incl_tax=goods_total + charge,
        total_excl_tax=goods_total + charge,
        shipping_incl_tax=charge,
        shipping_excl_tax=charge,
        shipping_method=method.name,
        shipping_code=method.code,
        status=draft.status,
        date_placed=draft.moment,
    )
    waiting = draft.status in ("Pending", "Being processed")
    for product, quantity, stock, before, after in lines:
        line = order.lines.create(
            partner=stock.partner,
            partner_name=stock.partner.name,
            partner_sku=stock.partner_sku,
            stockrecord=stock,
            product=product,
            title=product.title,
            upc=product.upc,
            quantity=quantity,
            line_price_incl_tax=after,
            line_price_excl_tax=after,
            line_price_before_discounts_incl_tax=before,
            line_price_before_discounts_excl_tax=before,
            unit_price_incl_tax=stock.price,
            unit_price_excl_tax=stock.price,
            status=draft.status,
            num_allocated=quantity if waiting else 0,
            allocation_cancelled=draft.status == "Cancelled",
        )
        line.prices.create(
            order=order, quantity=quantity, price_incl_tax=stock.price, price_excl_tax=stock.price
        )
    return order


def _charge(method: Any) -> Decimal:
    charge: Decimal = method.charge if method is Standard else method.charge_incl_tax
    return charge


def _make_history(rng: random.Random, order: Any, draft: _Draft, shipped: Any, staff: Any) -> None:
    moment, old = draft.moment, "Pending"
    for step, new in enumerate(_PATHS[draft.status], start=1):
        moment += timedelta(hours=5 + step * rng.randrange(4, 20))
        moment = min(moment, clock.START - timedelta(minutes=5))
        clock.set_to(moment)
        order.status_changes.create(old_status=old, new_status=new)
        if new == "Shipped":
            event = order.shipping_events.create(event_type=shipped, notes=f"Tracking LK{order.pk:06d}US")
            for line in order.lines.order_by("pk"):
                ShippingEventQuantity.objects.bulk_create(
                    [ShippingEventQuantity(event=event, line=line, quantity=line.quantity)]
                )
        old = new
    if order.pk % 17 == 3:
        order.notes.create(user=staff, note_type="Info", message=rng.choice(_NOTES))


def _use_voucher(order: Any, voucher: Any) -> None:
    offer = voucher.offers.get()
    amount = Decimal(0)
    for line in order.lines.all():
        amount += line.line_price_before_discounts_incl_tax - line.line_price_incl_tax
    get_model("order", "OrderDiscount").objects.create(
        order=order,
        offer_id=offer.pk,
        offer_name=offer.name,
        voucher_id=voucher.pk,
        voucher_code=voucher.code,
        frequency=1,
        amount=amount,
    )
    voucher.record_usage(order, order.user)
    voucher.record_discount({"discount": amount})
    offer.record_usage({"freq": 1, "discount": amount})


def _reserve_stock() -> None:
    """Sets aside what open orders hold. The level to buy from stays as the catalogue drew it; low ones raise alerts."""
    clock.set_to(clock.START - timedelta(hours=2))
    held: Counter[int] = Counter()
    for line in Line.objects.filter(num_allocated__gt=0):
        held[line.stockrecord_id] += line.num_allocated
    for stock in StockRecord.objects.order_by("pk"):
        stock.num_allocated = held[stock.pk]
        stock.num_in_stock += held[stock.pk]
        levels = {"num_allocated": stock.num_allocated, "num_in_stock": stock.num_in_stock}
        StockRecord.objects.filter(pk=stock.pk).update(**levels)
        if stock.is_below_threshold:
            StockAlert.objects.create(stockrecord=stock, threshold=LOW_STOCK_THRESHOLD)


def _record_analytics(rng: random.Random, people: People, goods: Goods, bought: Counter[int]) -> None:
    """Fills the tables behind the dashboard's product and customer reports."""
    for product in (*goods.products, *(item for item in goods.buyable if item.is_child)):
        count = bought[product.pk]
        ProductRecord.objects.create(
            product=product,
            num_purchases=count,
            num_basket_additions=count + rng.randrange(4),
            num_views=count * rng.randrange(6, 15) + rng.randrange(20, 90),
        )
    for user in people.customers:
        orders = list(user.orders.exclude(status="Cancelled").order_by("date_placed"))
        lines = [line for order in orders for line in order.lines.all()]
        get_model("analytics", "UserRecord").objects.create(
            user=user,
            num_product_views=rng.randrange(3, 120),
            num_basket_additions=len(lines) + rng.randrange(4),
            num_orders=len(orders),
            num_order_lines=len(lines),
            num_order_items=sum(line.quantity for line in lines),
            total_spent=sum((order.total_incl_tax for order in orders), Decimal(0)),
            date_last_order=orders[-1].date_placed if orders else None,
        )
