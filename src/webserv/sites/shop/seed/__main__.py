"""Seeds an empty data folder: ``SITE_DATA=... python -m seed``; prints progress, last a line of JSON with facts."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import sys
from pathlib import Path
from typing import Any

import django
from django.conf import settings

SEED = 20260302


def main() -> None:
    """Migrates, seeds, indexes and packs the database."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "shopsite.settings"
    # Indexing happens once at the end rather than with each row.
    settings.HAYSTACK_SIGNAL_PROCESSOR = "haystack.signals.BaseSignalProcessor"
    django.setup()
    from django.core.management import call_command
    from django.db import connection, transaction
    from shopsite import clock

    # Some names (wish list keys, index segments) are drawn from the global generator.
    random.seed(SEED)
    _say("creating tables")
    call_command("migrate", verbosity=0, interactive=False)
    with transaction.atomic():
        facts = _fill()
    _say("building the search index")
    clock.set_to(clock.START)
    call_command("rebuild_index", verbosity=0, interactive=False)
    connection.close()
    _pack(Path(settings.DATABASES["default"]["NAME"]))
    sys.stdout.write(json.dumps(facts) + "\n")


def _fill() -> dict[str, Any]:
    # These need Django to be set up.
    from seed import goods, marketing, orders, people, pictures
    from shopsite import clock

    _say("making customers")
    who = people.make_people(random.Random(SEED))
    _say("making products")
    made = goods.make_goods(random.Random(SEED + 1))
    voucher = marketing.make_offers(made)
    marketing.make_pages(who)
    _say("making orders")
    orders.make_orders(random.Random(SEED + 2), who, made, voucher)
    marketing.make_reviews(random.Random(SEED + 3), who, made)
    clock.set_to(clock.START)
    people.make_open_baskets(who)
    people.make_wish_lists(random.Random(SEED + 4), who, made.products)
    people.make_sessions(who)
    _say("drawing pictures")
    pictures.draw_pictures(made)
    return _facts(who)


def _facts(who: Any) -> dict[str, Any]:
    from oscar.core.loading import get_model
    from seed import people

    def count(app: str, model: str, **filters: Any) -> int:
        return int(get_model(app, model).objects.filter(**filters).count())

    return {
        "sessions": people.SESSION_KEYS,
        "counts": {
            "products": count("catalogue", "Product", parent=None),
            "departments": count("catalogue", "Category", depth=1),
            "categories": count("catalogue", "Category"),
            "customers": len(who.customers),
            "orders": count("order", "Order"),
            "reviews": count("reviews", "ProductReview"),
            "reviews_pending": count("reviews", "ProductReview", status=0),
            "vouchers": count("voucher", "Voucher"),
            "stock_alerts": count("partner", "StockAlert"),
        },
    }


def _pack(path: Path) -> None:
    """Leaves one file in WAL mode, without free pages and without companions, so that a copy is complete."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode=DELETE")
    database.execute("VACUUM")
    database.execute("ANALYZE")
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def _say(message: str) -> None:
    sys.stdout.write(f"> {message}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
