"""Damage beside the goal, done straight in a copy of the snapshot's database, without a browser."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import pytest

from webserv.server.snapshot import Snapshot
from webserv.sites.shop.evaluators import NOISE_COLUMNS, NOISE_TABLES
from webserv.sites.shop.tasks import CUSTOMER_EMAIL, make_benchmark
from webserv.sites.shop.tasks.database import ShopDatabase
from webserv.tasks.benchmark import Benchmark

pytestmark = pytest.mark.shop

_PRODUCT = "(SELECT id FROM catalogue_product WHERE title = :product)"
_RENAMED = "(SELECT id FROM catalogue_product WHERE title = :title)"
_VOUCHER = "(SELECT id FROM voucher_voucher WHERE code = :code)"
_ORDER = "(SELECT id FROM order_order WHERE number = :order)"

_OWN = f"SELECT id FROM basket_basket WHERE owner_id = (SELECT id FROM auth_user WHERE email = '{CUSTOMER_EMAIL}')"


def _line(basket: str, quantity: str) -> str:
    return (
        "INSERT INTO basket_line (line_reference, quantity, price_currency, date_created, date_updated, basket_id,"
        f" product_id, stockrecord_id) SELECT 'x', {quantity}, 'USD', '2026-03-02', '2026-03-02', ({basket} LIMIT 1),"
        f" product_id, id FROM partner_stockrecord WHERE product_id = {_PRODUCT}"
    )


GOALS = {
    "add-to-basket-v1": (_line(f"{_OWN} AND status = 'Open'", ":quantity"),),
    "set-stock-v1": (f"UPDATE partner_stockrecord SET num_in_stock = :level WHERE product_id = {_PRODUCT}",),
    "rename-product-v1": ("UPDATE catalogue_product SET title = :title WHERE title = :product",),
    "rename-category-v1": ("UPDATE catalogue_category SET name = :name WHERE name = :category",),
    "rename-voucher-v1": ("UPDATE voucher_voucher SET name = :name WHERE code = :code",),
    "rename-page-v1": ("UPDATE django_flatpage SET title = :title WHERE url = :url",),
    "set-status-v1": (
        "UPDATE order_order SET status = :status WHERE number = :order",
        f"UPDATE order_line SET status = :status WHERE order_id = {_ORDER}",
    ),
}
"""What reaches the goal and nothing else, with the task's parameters."""

DAMAGE = [
    ("add-to-basket-v1", _line(f"{_OWN} AND status != 'Open'", "1")),
    ("add-to-basket-v1", _line("SELECT max(id) FROM basket_basket", "1")),
    ("set-stock-v1", "UPDATE catalogue_product SET title = 'Junk' WHERE title = :product"),
    ("set-stock-v1", "UPDATE catalogue_product SET description = '' WHERE title = :product"),
    ("set-stock-v1", "UPDATE catalogue_product SET is_public = 0 WHERE title = :product"),
    ("set-stock-v1", "UPDATE catalogue_product SET upc = 'XX-1' WHERE title = :product"),
    ("set-stock-v1", f"UPDATE partner_stockrecord SET price = 1 WHERE product_id = {_PRODUCT}"),
    ("set-stock-v1", f"UPDATE partner_stockrecord SET low_stock_threshold = 9 WHERE product_id = {_PRODUCT}"),
    ("rename-product-v1", f"DELETE FROM catalogue_productimage WHERE product_id = {_RENAMED}"),
    ("rename-product-v1", f"DELETE FROM catalogue_productattributevalue WHERE product_id = {_RENAMED}"),
    ("rename-product-v1", "UPDATE catalogue_product SET is_discountable = 0 WHERE title = :title"),
    ("rename-product-v1", "UPDATE catalogue_product SET description = '<p>Junk</p>' WHERE title = :title"),
    ("rename-category-v1", "UPDATE catalogue_category SET is_public = 0 WHERE name = :name"),
    (
        "rename-category-v1",
        "UPDATE catalogue_category SET path = 'zzzz' || substr(path, 5) WHERE name = :name",
    ),
    ("rename-voucher-v1", "UPDATE voucher_voucher SET end_datetime = '2031-01-01' WHERE code = :code"),
    ("rename-voucher-v1", "UPDATE voucher_voucher SET usage = 'Single' WHERE code = :code"),
    ("rename-voucher-v1", f"DELETE FROM voucher_voucher_offers WHERE voucher_id = {_VOUCHER}"),
    (
        "rename-voucher-v1",
        "UPDATE offer_benefit SET value = 99 WHERE id = (SELECT min(id) FROM offer_benefit)",
    ),
    ("rename-page-v1", "UPDATE django_flatpage SET content = '' WHERE url = :url"),
    ("rename-page-v1", "UPDATE django_flatpage SET registration_required = 1 WHERE url = :url"),
    ("set-status-v1", f"DELETE FROM order_line WHERE order_id = {_ORDER}"),
    ("set-status-v1", f"UPDATE order_line SET quantity = 9 WHERE order_id = {_ORDER}"),
    ("set-status-v1", "UPDATE order_order SET total_incl_tax = 1 WHERE number = :order"),
    ("set-status-v1", "UPDATE order_order SET user_id = 1 + user_id WHERE number = :order"),
    ("set-status-v1", "INSERT INTO auth_user_groups (user_id, group_id) VALUES (2, 1)"),
    (
        "set-status-v1",
        "INSERT INTO basket_basket (status, owner_id, date_created) VALUES ('Open', 2, '2026-03-02')",
    ),
    (
        "set-status-v1",
        "INSERT INTO order_ordernote (order_id, note_type, message, date_created, date_updated)"
        f" VALUES ({_ORDER}, '', 'Junk', '2026-03-02', '2026-03-02')",
    ),
]


class Databases:
    """An end state that consists of the start's database and a changed copy."""

    answer = None
    url = "http://shop.example/dashboard/"
    text = ""

    def __init__(self, start: sqlite3.Connection, end: sqlite3.Connection) -> None:
        self._start = start
        self._end = end

    async def query(self, site: str, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._end.execute(sql, params).fetchall()

    async def query_start(self, site: str, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._start.execute(sql, params).fetchall()

    async def visit(self, url: str) -> str:
        return ""


@pytest.fixture(scope="module")
def benchmark(shop_snapshot: Snapshot) -> Benchmark:
    return make_benchmark(ShopDatabase(shop_snapshot.database, CUSTOMER_EMAIL))


@pytest.fixture(scope="module")
def start(shop_snapshot: Snapshot) -> Iterator[sqlite3.Connection]:
    address = f"{shop_snapshot.database.as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as database:
        yield database


@pytest.fixture
def end(start: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as database:
        start.backup(database)
        yield database


@pytest.mark.parametrize(
    ("template", "damage"),
    [*((template, "") for template in GOALS), *DAMAGE],
)
async def test_the_goal_alone_scores_one_and_with_damage_zero(benchmark, start, end, template, damage):
    for number in range(5):
        task = benchmark.task(f"shop/{template}:{number}")
        end.execute("SAVEPOINT before")
        changed = [
            end.execute(sql, dict(task.params)).rowcount
            for sql in (*GOALS[template], *([damage] if damage else ()))
        ]
        scores = [await check.evaluate(Databases(start, end)) for check in task.evaluators]
        end.execute("ROLLBACK TO before")
        assert all(changed), f"{task.id}: nothing was changed"
        evidence = [line for score in scores for line in score.evidence]
        assert min(score.value for score in scores) == (0.0 if damage else 1.0), (task.id, evidence)


def test_what_counts_as_noise_exists(start):
    tables = {name for (name,) in start.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert set(NOISE_TABLES) <= tables
    columns = {
        (table, column)
        for table in tables
        for (column,) in start.execute("SELECT name FROM pragma_table_info(?)", (table,))
    }
    for noise in NOISE_COLUMNS:
        table, column = noise.split(".")
        assert any(column == name and table in ("*", of) for of, name in columns), noise
