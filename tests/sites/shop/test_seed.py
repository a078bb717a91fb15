"""What tasks and evaluators may count on."""

import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from webserv.sites.shop import build

pytestmark = pytest.mark.shop

START = datetime(2026, 3, 2, 12, 0)
BUYABLE = """
    SELECT c.path, p.title, s.price, s.num_in_stock - s.num_allocated
    FROM catalogue_product p
    JOIN partner_stockrecord s ON s.product_id = p.id
    JOIN catalogue_productcategory pc ON pc.product_id = COALESCE(p.parent_id, p.id)
    JOIN catalogue_category c ON c.id = pc.category_id
"""


@pytest.fixture
def database(shop_data: Path):
    with closing(sqlite3.connect(f"file:{shop_data}/shop.sqlite3?immutable=1", uri=True)) as connection:
        yield connection


def count(database, sql, *params):
    return database.execute(f"SELECT count(*) FROM {sql}", params).fetchone()[0]


def test_there_is_enough_of_everything(database):
    assert count(database, "catalogue_product WHERE parent_id IS NULL") >= 300
    assert count(database, "catalogue_category WHERE depth = 1") >= 8
    assert count(database, "catalogue_category WHERE depth = 2") >= 24
    assert count(database, "auth_user WHERE NOT is_staff") >= 60
    assert count(database, "order_order") >= 250
    assert count(database, "reviews_productreview WHERE status = 1") >= 600
    assert count(database, "reviews_productreview WHERE status = 0") >= 10
    assert count(database, "partner_partner") == 3
    assert count(database, "partner_stockalert WHERE status = 'Open'") >= 10
    assert count(database, "voucher_voucher WHERE end_datetime < ?", str(START)) >= 2
    assert (
        count(
            database, "voucher_voucher WHERE start_datetime < ? AND end_datetime > ?", str(START), str(START)
        )
        >= 3
    )
    assert count(database, "offer_conditionaloffer WHERE offer_type = 'Site'") >= 3
    assert count(database, "wishlists_wishlist") >= 4


def test_every_category_has_one_cheapest_and_one_dearest_product(database):
    rows = database.execute(BUYABLE).fetchall()
    for depth in (4, 8):
        shelves: dict[str, dict[str, float]] = {}
        for path, title, price, _ in rows:
            # The sizes of one garment cost the same: they count as one product.
            shelves.setdefault(path[:depth], {})[title.split(", size ")[0]] = price
        assert len(shelves) == (11 if depth == 4 else 38)
        for prices in shelves.values():
            ordered = sorted(prices.values())
            assert ordered[0] < ordered[1]
            assert ordered[-1] > ordered[-2]


def test_titles_and_skus_are_unique(database):
    for column in ("title", "upc"):
        values = [row[0] for row in database.execute(f"SELECT {column} FROM catalogue_product")]
        assert len(set(values)) == len(values)


def test_stock_is_plentiful_low_or_gone(database):
    levels = [row[3] for row in database.execute(BUYABLE)]
    assert min(levels) == 0
    assert sum(level == 0 for level in levels) >= 5
    assert sum(0 < level < 5 for level in levels) >= 10
    assert sum(level >= 12 for level in levels) > 250


def test_orders_span_months_and_all_statuses_and_add_up(database):
    statuses = dict(database.execute("SELECT status, count(*) FROM order_order GROUP BY status"))
    assert set(statuses) == {"Pending", "Being processed", "Shipped", "Complete", "Cancelled"}
    assert min(statuses.values()) >= 4
    first, last = database.execute("SELECT min(date_placed), max(date_placed) FROM order_order").fetchone()
    assert (datetime.fromisoformat(last) - datetime.fromisoformat(first)).days > 240
    wrong = database.execute("""
        SELECT o.number FROM order_order o JOIN order_line l ON l.order_id = o.id
        GROUP BY o.id HAVING abs(o.total_incl_tax - o.shipping_incl_tax - sum(l.line_price_incl_tax)) > 0.001
    """).fetchall()
    assert wrong == []


def test_stock_set_aside_is_what_open_orders_hold(database):
    wrong = database.execute("""
        SELECT s.id FROM partner_stockrecord s LEFT JOIN (
            SELECT stockrecord_id, sum(num_allocated) held FROM order_line GROUP BY stockrecord_id
        ) l ON l.stockrecord_id = s.id WHERE s.num_allocated != coalesce(l.held, 0)
    """).fetchall()
    assert wrong == []


def test_some_products_have_many_reviews_and_some_none_and_ratings_agree(database):
    rows = database.execute("""
        SELECT p.rating, avg(r.score), count(r.id) FROM catalogue_product p
        LEFT JOIN reviews_productreview r ON r.product_id = p.id AND r.status = 1
        WHERE p.parent_id IS NULL GROUP BY p.id
    """).fetchall()
    assert max(number for *_, number in rows) >= 9
    assert sum(number == 0 for *_, number in rows) > 20
    for stored, computed, _ in rows:
        assert stored == pytest.approx(computed) if computed else stored is None


def test_the_prepared_customer_has_orders_an_address_book_and_wish_lists(database):
    email = "emma.clark@shop.example"
    owned = "WHERE {} = (SELECT id FROM auth_user WHERE email = ?)"
    assert count(database, "order_order " + owned.format("user_id"), email) >= 5
    assert count(database, "address_useraddress " + owned.format("user_id"), email) == 3
    assert (
        count(database, f"address_useraddress {owned.format('user_id')} AND is_default_for_shipping", email)
        == 1
    )
    assert count(database, "wishlists_wishlist " + owned.format("owner_id"), email) == 2


def test_everybody_has_a_basket_so_that_looking_around_writes_none(database):
    assert (
        count(
            database, "auth_user WHERE id NOT IN (SELECT owner_id FROM basket_basket WHERE status = 'Open')"
        )
        == 0
    )


def test_no_row_was_dated_by_the_wall_clock(database):
    """Only offers, vouchers and sessions may end after the site's present."""
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {}
    for table in tables:
        for _, column, kind, *_ in database.execute(f"PRAGMA table_info({table})").fetchall():
            if kind in ("datetime", "date"):
                latest = database.execute(f"SELECT max({column}) FROM {table}").fetchone()[0]
                if latest and latest > str(START):
                    found[table] = column
    assert set(found) == {"offer_conditionaloffer", "voucher_voucher", "django_session"}


def test_pictures_have_their_thumbnails(shop_data: Path):
    originals = {path.name for path in (shop_data / "media/products").iterdir()}
    assert len(originals) >= 300
    for size in ("x155", "100x100", "70x70"):
        assert {path.name for path in (shop_data / "media/thumbs" / size / "products").iterdir()} == originals
    assert (
        sum(path.stat().st_size for path in (shop_data / "media").rglob("*") if path.is_file()) < 12_000_000
    )


def test_pictures_differ(shop_data: Path):
    pictures = [path.read_bytes() for path in (shop_data / "media/products").iterdir()]
    assert len(set(pictures)) > len(pictures) * 0.97


@pytest.mark.slow
def test_two_seedings_hold_the_same_content(shop_snapshot, shop_data: Path, tmp_path: Path):
    again = tmp_path / "again"
    metadata = build.build_snapshot(shop_snapshot.image, again, lambda line: None)
    assert sorted(path.name for path in again.iterdir()) == ["media", "search", "shop.sqlite3"]
    assert (again / "shop.sqlite3").read_bytes()[18:20] == b"\x02\x02", "the file is in WAL mode"
    assert metadata["counts"] == shop_snapshot.metadata["counts"]
    assert content(again) == content(shop_data)


def content(data: Path) -> tuple[str, dict[str, bytes]]:
    with closing(sqlite3.connect(f"file:{data}/shop.sqlite3?immutable=1", uri=True)) as connection:
        rows = "\n".join(connection.iterdump())
    media = data / "media"
    return rows, {
        str(path.relative_to(media)): path.read_bytes() for path in media.rglob("*") if path.is_file()
    }
