"""The shop's checks: short forms of the general ones, and a guard over all that a task did not ask for."""

from __future__ import annotations

from typing import Any

from webserv.tasks.evaluators.database import AllUnchanged, DatabaseRows

SITE = "shop"

AREAS = {
    "products": "SELECT id, title, slug, upc, description, is_public, structure, parent_id, product_class_id"
    " FROM catalogue_product",
    "stock": "SELECT id, product_id, partner_id, partner_sku, price, num_in_stock, low_stock_threshold"
    " FROM partner_stockrecord",
    # Paths shift when a sibling is put before them; whose child a category is stays.
    "categories": "SELECT id, name, slug, description, is_public, (SELECT p.id FROM catalogue_category p"
    " WHERE p.path = substr(c.path, 1, length(c.path) - 4)) FROM catalogue_category c",
    "product categories": "SELECT id, product_id, category_id FROM catalogue_productcategory",
    "orders": "SELECT id, number, user_id, status, total_incl_tax, shipping_method FROM order_order",
    "order lines": "SELECT id, order_id, product_id, quantity, status FROM order_line",
    "order notes": "SELECT id, order_id, message FROM order_ordernote",
    "delivery addresses": "SELECT id, first_name, last_name, line1, line2, line4, state, postcode, country_id"
    " FROM order_shippingaddress",
    "reviews": "SELECT id, product_id, user_id, status, score, title, body FROM reviews_productreview",
    "review votes": "SELECT id, review_id, user_id, delta FROM reviews_vote",
    "users": "SELECT id, email, first_name, last_name, is_staff, is_active, password FROM auth_user",
    "addresses": "SELECT id, user_id, first_name, last_name, line1, line2, line4, state, postcode,"
    " country_id, is_default_for_shipping, is_default_for_billing FROM address_useraddress",
    "vouchers": "SELECT id, name, code, usage, start_datetime, end_datetime FROM voucher_voucher",
    "offers": "SELECT id, name, status, description, priority, start_datetime, end_datetime"
    " FROM offer_conditionaloffer",
    "ranges": "SELECT id, name, is_public, includes_all_products FROM offer_range",
    "range products": "SELECT id, range_id, product_id FROM offer_rangeproduct",
    "wish lists": "SELECT id, owner_id, name FROM wishlists_wishlist",
    "wish list lines": "SELECT id, wishlist_id, product_id, quantity FROM wishlists_line",
    "stock alerts": "SELECT id, product_id, user_id, status FROM customer_productalert",
    "partners": "SELECT id, name FROM partner_partner",
    "pages": "SELECT id, url, title, content FROM django_flatpage",
    "basket lines": "SELECT id, basket_id, product_id, quantity FROM basket_line",
}
"""What visitors and staff can change, apart from what merely looking around changes (views, sessions)."""


def rows(about: str, sql: str, *params: Any, expected: tuple[tuple[Any, ...], ...]) -> DatabaseRows:
    """The query gives `expected` at the end and did not at the start."""
    return DatabaseRows(SITE, sql, expected, params, about)


def nothing_else(**may_change: str) -> AllUnchanged:
    """Everything is as it was, except what the task is about.

    Args:
        **may_change: Area (with ``_`` for a space) to an SQL condition for the rows that must *not* change,
            for instance ``stock="product_id != 7"``.
    """
    conditions = {area.replace("_", " "): condition for area, condition in may_change.items()}
    unknown = conditions.keys() - AREAS.keys()
    if unknown:
        raise ValueError(f"no such areas of the shop: {sorted(unknown)}")
    return AllUnchanged(
        SITE,
        tuple((area, f"{sql} WHERE {conditions.get(area, '1')} ORDER BY id") for area, sql in AREAS.items()),
    )
