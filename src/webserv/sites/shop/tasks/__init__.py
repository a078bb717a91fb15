"""The benchmark `shop`: tasks in the storefront and in the dashboard, made from the snapshot's database.

Begin with `kinds.py`, then any of the modules; each holds templates of one area. A template is a generator of drafts:
intent, checks, a reference solution and a near miss. `database.py` holds the facts that they are made from.
"""

from __future__ import annotations

from itertools import chain

from webserv.server.site import load_site
from webserv.server.snapshot import find_snapshot
from webserv.sites.shop.evaluators import SITE
from webserv.sites.shop.tasks import (
    account,
    basket,
    browsing,
    dashboard_categories,
    dashboard_offers,
    dashboard_orders,
    dashboard_people,
    dashboard_products,
    dashboard_stock,
    history,
    wishes_and_reviews,
)
from webserv.sites.shop.tasks.database import ShopDatabase
from webserv.tasks.benchmark import Benchmark
from webserv.tasks.template import Template

CUSTOMER_EMAIL = "emma.clark@shop.example"
"""Who the login ``customer`` is; see `webserv/sites/shop/seed/people.py`."""

TEMPLATES: tuple[Template[ShopDatabase], ...] = (
    *browsing.TEMPLATES,
    *history.TEMPLATES,
    *basket.TEMPLATES,
    *account.TEMPLATES,
    *wishes_and_reviews.TEMPLATES,
    *dashboard_orders.TEMPLATES,
    *dashboard_products.TEMPLATES,
    *dashboard_stock.TEMPLATES,
    *dashboard_categories.TEMPLATES,
    *dashboard_offers.TEMPLATES,
    *dashboard_people.TEMPLATES,
)


def load() -> Benchmark:
    """Makes all tasks from the shop's snapshot; takes about a fifth of a second.

    Raises:
        NotBuilt: The shop has no snapshot on this host.
    """
    shop = ShopDatabase(find_snapshot(load_site(SITE)).database, CUSTOMER_EMAIL)
    return make_benchmark(shop)


def make_benchmark(shop: ShopDatabase) -> Benchmark:
    """Makes all tasks from a given database of the shop."""
    return Benchmark(
        name="shop",
        description="A web shop's storefront and staff dashboard (django-oscar)",
        sites=(SITE,),
        tasks=tuple(chain.from_iterable(template.tasks(shop) for template in TEMPLATES)),
    )
