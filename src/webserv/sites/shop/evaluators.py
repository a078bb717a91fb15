"""The shop's checks: short forms of the general ones, and a guard over all that a task did not ask for."""

from __future__ import annotations

from typing import Any

from webserv.tasks.evaluators.database import DatabaseRows
from webserv.tasks.evaluators.guard import Allowed, NothingElse

SITE = "shop"

NOISE_TABLES = (
    "django_session",  # looking around renews it
    "analytics_productrecord",  # counts views and sales
    "analytics_userproductview",
    "analytics_userrecord",
    "analytics_usersearch",
    "communication_email",  # what the shop sends after an order or a change of the account
    "communication_notification",
    "partner_stockalert",  # opened and closed by the shop as stock levels move
)
"""What the shop writes by itself; no form edits these."""

NOISE_COLUMNS = (
    "*.date_updated",
    "basket_basket.date_submitted",  # the status beside it is guarded
    "auth_user.last_login",
    "*.search_text",  # the parts of an address in one text
    "address_useraddress.hash",
    "address_useraddress.num_orders_as_shipping_address",
    "address_useraddress.num_orders_as_billing_address",
    "partner_stockrecord.num_allocated",  # what orders reserve
    "voucher_voucher.num_basket_additions",
    "voucher_voucher.num_orders",
    "voucher_voucher.total_discount",
    "offer_conditionaloffer.num_applications",
    "offer_conditionaloffer.num_orders",
    "offer_conditionaloffer.total_discount",
    "catalogue_product.rating",  # mean of the approved reviews
    "reviews_productreview.total_votes",  # sums of the votes
    "reviews_productreview.delta_votes",
    "catalogue_category.numchild",  # bookkeeping of the tree, whose shape `path` below compares
    "catalogue_category.depth",
    "catalogue_category.ancestors_are_public",
)
"""What it derives from other columns, which are guarded."""


def _markup(column: str) -> tuple[str, str]:
    """The dashboard's editor breaks lines between paragraphs and writes entities as soon as a form is saved."""
    text = f"t.{column.partition('.')[2]}"
    for old, new in (("char(13)", "''"), ("char(10)", "''"), ("'&amp;'", "'&'"), ("'&nbsp;'", "char(160)")):
        text = f"replace({text}, {old}, {new})"
    return column, text


_IN_PLACE_OF = (
    _markup("catalogue_product.description"),
    _markup("catalogue_category.description"),
    _markup("catalogue_category.long_description"),
    _markup("django_flatpage.content"),
    # The voucher form's time picker makes 00:00 of 23:59; the next hour after either is the same.
    ("voucher_voucher.end_datetime", "strftime('%Y-%m-%d %H', t.end_datetime, '+1 minutes')"),
    # Paths shift when a sibling is put before them; whose child a category is stays.
    (
        "catalogue_category.path",
        "(SELECT p.id FROM catalogue_category p WHERE p.path = substr(t.path, 1, length(t.path) - 4))",
    ),
)


def rows(about: str, sql: str, *params: Any, expected: tuple[tuple[Any, ...], ...]) -> DatabaseRows:
    """The query gives `expected` at the end and did not at the start."""
    return DatabaseRows(SITE, sql, expected, params, about)


def nothing_else(*allowed: Allowed) -> NothingElse:
    """Everything in the shop's database is as it was, except what the task is about."""
    return NothingElse(SITE, allowed, NOISE_TABLES, NOISE_COLUMNS, _IN_PLACE_OF)
