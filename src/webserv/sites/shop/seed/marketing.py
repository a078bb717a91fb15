"""Ranges, offers, vouchers, reviews, pages, messages and e-mail templates."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.flatpages.models import FlatPage
from django.contrib.sites.models import Site
from oscar.core.loading import get_model
from seed.goods import Goods
from seed.people import People
from shopsite import clock

Benefit = get_model("offer", "Benefit")
Category = get_model("catalogue", "Category")
CommunicationEventType = get_model("communication", "CommunicationEventType")
Condition = get_model("offer", "Condition")
Product = get_model("catalogue", "Product")
Range = get_model("offer", "Range")
Review = get_model("reviews", "ProductReview")

MULTI = "Multi-use"
_GOOD = (
    ("Exactly what I hoped for", "It does what it should and feels solid. I would buy it again."),
    ("Great value", "Better made than others I have tried, and it cost less. Delivery took three days."),
    ("Lovely quality", "You can see that somebody cared about the details. It was carefully packed, too."),
    ("Use it every day", "I have had it for two months now and it still looks like new."),
    ("A present that was welcome", "My sister was delighted with it. The colour is as in the picture."),
    ("Highly recommended", "I compared several shops and am glad I chose this one."),
)
_FAIR = (
    ("Does the job", "Nothing special, but it works. The instructions could be clearer."),
    ("Good, with small flaws", "The finish is a bit uneven on one side. Otherwise I am content."),
    ("Smaller than expected", "It is well made, but do check the measurements before you order."),
    ("Fine for the price", "I would not call it luxurious; for what it costs it is all right."),
)
_POOR = (
    ("Disappointed", "It broke after two weeks of normal use. I have asked for a refund."),
    ("Not as described", "The material feels thinner than the description says."),
    ("Would not buy again", "It arrived late and with a scratch. Customer service was friendly, though."),
)
_PAGES = (
    ("/about/", "About us", "<p>Larkspur &amp; Co. began in 2009 as a market stall in Portland. Today forty of us "
     "choose, test and pack everyday goods that last.</p>"),
    ("/shipping-and-returns/", "Shipping and returns", "<p>Standard shipping costs $5.95 and is free for orders of $75 "
     "and more. Express takes two working days, overnight one.</p><p>You may return unused goods within 45 days.</p>"),
    ("/contact/", "Contact", "<p>Write to hello@shop.example or call +1 503 555 0142, Monday to Friday, 9 am to 5 pm "
     "Pacific time.</p>"),
    ("/privacy/", "Privacy", "<p>We keep what we need to send your parcel, and nothing else.</p>"),
)  # fmt: skip


def make_offers(goods: Goods) -> Any:
    """Makes ranges, site offers and vouchers; returns the voucher that was used in November's sale."""
    clock.set_to(clock.START - timedelta(days=330))
    everything = Range.objects.create(name="All products", includes_all_products=True, is_public=True)
    ranges = {}
    for name in ("Coffee & Tea", "Board Games", "Garden", "Sleeping Gear"):
        ranges[name] = Range.objects.create(name=name, is_public=True)
        ranges[name].included_categories.add(Category.objects.get(name=name))
    picks = Range.objects.create(
        name="Staff picks", is_public=True, description="What we would take home ourselves."
    )
    for product in goods.products[3::41]:
        picks.add_product(product)

    make_offer(
        "10% off coffee and tea", ranges["Coffee & Tea"], ("Percentage", 10), ("2026-02-15", "2026-03-31")
    )
    make_offer(
        "Board games: three for the price of two",
        ranges["Board Games"],
        ("Multibuy", None),
        ("2026-02-01", "2026-04-30"),
        condition=("Count", 3),
    )
    make_offer(
        "Winter sale: 15% off sleeping gear",
        ranges["Sleeping Gear"],
        ("Percentage", 15),
        ("2025-12-27", "2026-01-31"),
    )
    for name, code, where, benefit, days, usage in (
        ("Welcome", "WELCOME10", everything, ("Percentage", 10), ("2025-05-01", "2026-12-31"), "Once per customer"),
        ("Free shipping", "FREESHIP", everything, ("Shipping percentage", 100), ("2026-01-01", "2026-03-31"), MULTI),
        ("VIP thank you", "VIP20", everything, ("Percentage", 20), ("2026-02-20", "2026-03-20"), "Single use"),
        ("Summer sale", "SUMMER25", everything, ("Percentage", 25), ("2025-07-01", "2025-08-31"), MULTI),
        ("Spring preview", "SPRING15", ranges["Garden"], ("Percentage", 15), ("2026-03-20", "2026-05-31"), MULTI),
    ):  # fmt: skip
        make_voucher(name, code, where, benefit, days, usage=usage)
    make_voucher(
        "Garden five",
        "GARDEN5",
        ranges["Garden"],
        ("Absolute", 5),
        ("2026-02-01", "2026-06-30"),
        condition=("Value", 40),
    )
    return make_voucher(
        "November sale", "NOVEMBER30", everything, ("Percentage", 30), ("2025-11-24", "2025-11-30")
    )


def make_offer(
    name: str,
    goods_range: Any,
    benefit: tuple[str, int | None],
    days: tuple[str, str],
    *,
    condition: tuple[str, int] = ("Count", 1),
    offer_type: str = "Site",
) -> Any:
    """Makes an offer that runs from the first moment of the first of `days` to the last of the second."""
    benefit_range = None if benefit[0].startswith("Shipping") else goods_range
    offer = get_model("offer", "ConditionalOffer").objects.create(
        name=name,
        description=f"<p>{name}.</p>",
        offer_type=offer_type,
        condition=Condition.objects.create(range=goods_range, type=condition[0], value=condition[1]),
        benefit=Benefit.objects.create(range=benefit_range, type=benefit[0], value=benefit[1]),
        start_datetime=_moment(days[0]),
        end_datetime=_moment(days[1]) + timedelta(hours=23, minutes=59),
    )
    offer.refresh_from_db()
    return offer


def make_voucher(
    name: str,
    code: str,
    goods_range: Any,
    benefit: tuple[str, int | None],
    days: tuple[str, str],
    *,
    usage: str = MULTI,
    condition: tuple[str, int] = ("Count", 1),
) -> Any:
    """Makes a voucher with an offer of its own."""
    clock.set_to(min(_moment(days[0]) - timedelta(days=9), clock.START - timedelta(days=3)))
    offer = make_offer(
        f"Offer for voucher '{name}'", goods_range, benefit, days, condition=condition, offer_type="Voucher"
    )
    voucher = get_model("voucher", "Voucher").objects.create(
        name=name,
        code=code,
        usage=usage,
        start_datetime=offer.start_datetime,
        end_datetime=offer.end_datetime,
    )
    voucher.offers.add(offer)
    return voucher


def make_reviews(rng: random.Random, people: People, goods: Goods) -> None:
    """Makes reviews: some products have many, some none; the newest wait for a moderator."""
    for index, product in enumerate(goods.products):
        count = (0, 1, 2, 3, 1, 2, 9, 2, 0, 4, 1)[index % 11]
        taste = rng.choice((0.0, 0.15, 0.3, 0.55))
        for customer in rng.sample(people.customers[1:], count):
            score = 5 if rng.random() > taste else rng.choice((4, 4, 3, 2, 1))
            bank = _GOOD if score > 3 else _FAIR if score == 3 else _POOR
            title, body = rng.choice(bank)
            clock.set_to(clock.START - timedelta(days=rng.randrange(9, 300), minutes=rng.randrange(1440)))
            review = Review(
                product=product, user=customer, score=score, title=title, body=body, status=Review.APPROVED,
                total_votes=rng.choice((0, 0, 0, 2, 5)),
            )  # fmt: skip
            review.delta_votes = review.total_votes - 2 * rng.randrange(review.total_votes // 2 + 1)
            Review.objects.bulk_create([review])
    for index, product in enumerate(goods.products[7::26]):
        title, body = (*_GOOD, *_FAIR, *_POOR)[index]
        clock.set_to(clock.START - timedelta(days=6, minutes=-index * 311))
        score = 5 if index < len(_GOOD) else 3 if index < len(_GOOD) + len(_FAIR) else 1
        writer = people.customers[-1 - index]
        review = Review(product=product, user=writer, score=score, title=title, body=body)
        review.status = Review.FOR_MODERATION
        Review.objects.bulk_create([review])
    for product in goods.products:
        Product.objects.filter(pk=product.pk).update(rating=product.calculate_rating())


def make_pages(people: People) -> None:
    """Makes information pages, e-mail templates and a message for the prepared customer."""
    clock.set_to(clock.START - timedelta(days=340))
    site = Site.objects.get(pk=1)
    site.domain, site.name = "shop.example", "Larkspur & Co."
    site.save()
    for url, title, content in _PAGES:
        FlatPage.objects.create(url=url, title=title, content=content).sites.add(site)
    for code, name, subject in (
        ("ORDER_PLACED", "Order placed", "Thank you for your order {{ order.number }}"),
        ("ORDER_SHIPPED", "Order shipped", "Your order {{ order.number }} is on its way"),
        ("ORDER_CANCELLED", "Order cancelled", "Your order {{ order.number }} has been cancelled"),
    ):
        CommunicationEventType.objects.create(
            code=code,
            name=name,
            email_subject_template=subject,
            email_body_template="Dear customer,\n\nwe are glad you chose Larkspur & Co.",
        )
    clock.set_to(clock.START - timedelta(days=5))
    get_model("communication", "Notification").objects.create(
        recipient=people.customers[0],
        subject="Your voucher",
        body="Thank you for shopping with us. Use VIP20 until 20 March for 20% off one order.",
    )


def _moment(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)
