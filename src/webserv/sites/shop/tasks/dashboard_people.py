"""Dashboard: customers, partners, reviews and pages."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator
from decimal import Decimal

from webserv.sites.shop import reference as way
from webserv.sites.shop.evaluators import nothing_else, rows
from webserv.sites.shop.tasks.database import Order, Person, Review, ShopDatabase, money
from webserv.sites.shop.tasks.kinds import dashboard, shuffled
from webserv.tasks.evaluators.answer import AnswerDate, AnswerMoney, AnswerNames, AnswerNumber
from webserv.tasks.evaluators.guard import Added, Edited, Removed
from webserv.tasks.scripting import cells, click, fill, finish, script
from webserv.tasks.task import Script
from webserv.tasks.template import Draft
from webserv.types import Observation

_PARTNERS = (
    "Alpine Traders",
    "Blue Door Imports",
    "Cobalt & Sons",
    "Delta Forwarding",
    "Evergreen Goods",
    "Fjord Supply",
)
_PAGE_TITLES = ("in short", "at a glance", "(updated)")


def date_joined(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """When a customer registered; the near miss reads another customer's page."""
    joined = dict(shop.query("SELECT id, date_joined FROM auth_user"))
    order_of = shuffled(rng, (person for person in shop.people if not person.staff))
    for number, person in enumerate(order_of):
        yield Draft(
            f"Since when is {person.name} a customer? Answer with the date on which the account was made.",
            (AnswerDate(datetime.datetime.fromisoformat(joined[person.id]).date()), nothing_else()),
            script(_tell_date_joined, person),
            script(_tell_date_joined, order_of[number - 1]),
            {"customer": person.name},
        )


def _tell_date_joined(obs: Observation, person: Person) -> Script:
    obs = yield from way.dashboard_customer(obs, person.name)
    # "March 1, 2025, 4:29 a.m."
    yield from finish(", ".join(cells(obs, "Date joined")[1].split(", ")[:2]))


def cancelled_orders(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """How many orders of a customer were cancelled; the near miss counts the complete ones."""
    people = {person.id: person for person in shop.people}
    by_person: dict[int, list[Order]] = {}
    for order in shop.orders:
        by_person.setdefault(order.user or 0, []).append(order)
    for id_, orders in shuffled(rng, sorted(by_person.items())):
        cancelled = sum(order.status == "Cancelled" for order in orders)
        complete = sum(order.status == "Complete" for order in orders)
        if cancelled != complete and id_ in people:
            yield Draft(
                f"How many of the orders of the customer {people[id_].name} were cancelled?",
                (AnswerNumber(Decimal(cancelled), ignore=(people[id_].name,)), nothing_else()),
                script(_tell_status_count, people[id_], "Cancelled"),
                script(_tell_status_count, people[id_], "Complete"),
                {"customer": people[id_].name},
            )


def _tell_status_count(obs: Observation, person: Person, status: str) -> Script:
    obs = yield from way.dashboard_customer(obs, person.name)
    yield from finish(str(sum(f"| {status} |" in line for line in obs.text.splitlines())))


def total_spent(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """What a customer has spent; the near miss reads another customer's page."""
    spent = dict(shop.query("SELECT user_id, total_spent FROM analytics_userrecord WHERE total_spent > 0"))
    order_of = shuffled(rng, (person for person in shop.people if person.id in spent))
    for number, person in enumerate(order_of):
        other = order_of[number - 1]
        if spent[other.id] != spent[person.id]:
            yield Draft(
                f"Which amount does the dashboard show as the total spent by the customer {person.name}?",
                (AnswerMoney(money(spent[person.id]), "USD", ignore=(person.name,)), nothing_else()),
                script(_tell_total_spent, person),
                script(_tell_total_spent, other),
                {"customer": person.name},
            )


def _tell_total_spent(obs: Observation, person: Person) -> Script:
    obs = yield from way.dashboard_customer(obs, person.name)
    yield from finish(cells(obs, "Total spent")[1])


def create_partner(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A new partner; the near miss shortens its name."""
    newest = shop.query("SELECT max(id) FROM partner_partner")[0][0]
    for name in shuffled(rng, _PARTNERS):
        yield Draft(
            f"Add a new fulfilment partner named \u201c{name}\u201d.",
            (
                rows(
                    "new partners",
                    "SELECT name FROM partner_partner WHERE id > ?",
                    newest,
                    expected=((name,),),
                ),
                nothing_else(Added("partner_partner")),
            ),
            script(_create_partner, name),
            script(_create_partner, name.split()[0]),
            {"name": name},
        )


def _create_partner(obs: Observation, name: str) -> Script:
    obs = yield from way.dashboard(obs, "Fulfilment", "Partners")
    obs = yield from click(obs, "link", "Create new partner")
    obs = yield from fill(obs, "Name", name, exact=False)
    yield from click(obs, "button", "Save")
    yield from finish()


def approve_review(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A review is approved; the near miss rejects it."""
    yield from _moderation(shop, rng, "Approve", 1, "Approved", "Rejected")


def reject_review(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A review is rejected; the near miss approves it."""
    yield from _moderation(shop, rng, "Reject", 2, "Rejected", "Approved")


def _moderation(
    shop: ShopDatabase, rng: random.Random, verb: str, status: int, label: str, wrong: str
) -> Iterator[Draft]:
    titles = dict(shop.query("SELECT id, title FROM catalogue_product"))
    for review in shuffled(rng, _pending(shop)):
        product = titles[review.product]
        yield Draft(
            f"A review of the {product} waits for moderation. {verb} it, leaving its text as it is.",
            (
                rows(
                    "review",
                    "SELECT status, title, body, score FROM reviews_productreview WHERE id = ?",
                    review.id,
                    expected=((status, review.title, review.body, review.score),),
                ),
                nothing_else(Edited("reviews_productreview", f"id = {review.id}", ("status",))),
            ),
            script(_moderate, product, label),
            script(_moderate, product, wrong),
            {"product": product},
        )


def _moderate(obs: Observation, product: str, label: str) -> Script:
    obs = yield from way.pending_reviews(obs)
    obs = yield from way.row_action(obs, f'"{product}"', "Edit")
    obs = yield from way.choose_dressed(obs, "Status", "Approved", label)
    yield from click(obs, "button", "Save")
    yield from finish()


def delete_review(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """A review is deleted; the near miss rejects it."""
    titles = dict(shop.query("SELECT id, title FROM catalogue_product"))
    for review in shuffled(rng, _pending(shop)):
        product = titles[review.product]
        yield Draft(
            f"Delete the review of the {product} that waits for moderation.",
            (
                rows(
                    "reviews",
                    "SELECT count(*) FROM reviews_productreview WHERE id = ?",
                    review.id,
                    expected=((0,),),
                ),
                nothing_else(Removed("reviews_productreview", f"id = {review.id}")),
            ),
            script(_delete_review, product),
            script(_moderate, product, "Rejected"),
            {"product": product},
        )


def _delete_review(obs: Observation, product: str) -> Script:
    obs = yield from way.pending_reviews(obs)
    obs = yield from way.row_action(obs, f'"{product}"', "Delete")
    yield from click(obs, "button", "Delete")
    yield from finish()


def review_author(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """Who wrote a review; the near miss names the author of another one."""
    titles = dict(shop.query("SELECT id, title FROM catalogue_product"))
    people = {person.id: person for person in shop.people}
    names = tuple(person.name for person in shop.people)
    order_of = shuffled(rng, (review for review in _pending(shop) if review.user in people))
    for number, review in enumerate(order_of):
        product, other = titles[review.product], titles[order_of[number - 1].product]
        name = people[review.user or 0].name
        yield Draft(
            f"Who wrote the review of the {product} that still requires moderation? Answer with the full name.",
            (AnswerNames((name,), names, ignore=(product,)), nothing_else()),
            script(_tell_author, product),
            script(_tell_author, other),
            {"product": product},
        )


def _tell_author(obs: Observation, product: str) -> Script:
    obs = yield from way.pending_reviews(obs)
    yield from finish(cells(obs, f'"{product}"')[3].split('"')[1])


def _pending(shop: ShopDatabase) -> list[Review]:
    """Reviews that wait, of products that have only one such."""
    waiting = [review for review in shop.reviews if review.status == 0]
    products = [review.product for review in waiting]
    return [review for review in waiting if products.count(review.product) == 1]


def rename_page(shop: ShopDatabase, rng: random.Random) -> Iterator[Draft]:
    """An information page gets another title; the near miss does not save."""
    pages = shop.query("SELECT id, url, title FROM django_flatpage ORDER BY id")
    for ending in _PAGE_TITLES:
        for id_, url, title in shuffled(rng, pages):
            new = f"{title} {ending}"
            yield Draft(
                f"Change the title of the page {url} to \u201c{new}\u201d.",
                (
                    rows(
                        "page",
                        "SELECT title, url FROM django_flatpage WHERE id = ?",
                        id_,
                        expected=((new, url),),
                    ),
                    nothing_else(Edited("django_flatpage", f"id = {id_}", ("title",))),
                ),
                script(_rename_page, title, new, save=True),
                script(_rename_page, title, new, save=False),
                {"url": url, "title": new},
            )


def _rename_page(obs: Observation, title: str, new: str, *, save: bool) -> Script:
    obs = yield from way.dashboard(obs, "Content", "Pages")
    obs = yield from click(obs, "link", title)
    obs = yield from fill(obs, "Title", new, exact=False)
    if save:
        yield from click(obs, "button", "Save")
    yield from finish()


TEMPLATES = (
    dashboard("date-joined-v1", date_joined, tags=("read", "customers"), steps=15),
    dashboard("cancelled-orders-v1", cancelled_orders, tags=("read", "count", "customers"), steps=15),
    dashboard("total-spent-v1", total_spent, tags=("read", "customers"), steps=15),
    dashboard("create-partner-v1", create_partner, tags=("create", "partners"), steps=15),
    dashboard("approve-review-v1", approve_review, tags=("edit", "review"), steps=20),
    dashboard("reject-review-v1", reject_review, tags=("edit", "review"), steps=20),
    dashboard("delete-review-v1", delete_review, tags=("delete", "review"), steps=20),
    dashboard("review-author-v1", review_author, tags=("read", "review"), steps=15),
    dashboard("rename-page-v1", rename_page, tags=("edit", "pages"), steps=15),
)
