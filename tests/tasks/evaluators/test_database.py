from decimal import Decimal

import pytest

from webserv.errors import EvaluatorFailed
from webserv.tasks.evaluators.database import AllUnchanged, DatabaseRows, Unchanged, same_rows

START = "CREATE TABLE stock (id, price, count); INSERT INTO stock VALUES (1, '10.00', 5), (2, 20, 6);"
PRICE = "SELECT price FROM stock WHERE id = ?"


async def test_rows_must_hold_at_the_end_and_not_at_the_start(end_state, database):
    done = end_state(
        start=database(START), end=database(START + "UPDATE stock SET price = '12.5' WHERE id = 1")
    )
    idle = end_state(start=database(START), end=database(START))
    check = DatabaseRows("shop", PRICE, ((Decimal("12.50"),),), (1,), about="price")
    assert (await check.evaluate(done)).value == 1.0
    assert (await check.evaluate(idle)).value == 0.0
    vacuous = DatabaseRows("shop", PRICE, ((Decimal(10),),), (1,), about="price")
    score = await vacuous.evaluate(idle)
    assert score.value == 0.0
    assert score.evidence == ("FAILED: price: already [('10.00',)] at the start, so nothing was done",)


async def test_a_guard_fails_when_anything_else_changed(end_state, database):
    guard = Unchanged("shop", "SELECT * FROM stock WHERE id != ? ORDER BY id", (1,), about="other products")
    start = database(START)
    good = end_state(start=start, end=database(START + "UPDATE stock SET count = 0 WHERE id = 1"))
    bad = end_state(start=start, end=database(START + "DELETE FROM stock"))
    assert (await guard.evaluate(good)).value == 1.0
    score = await guard.evaluate(bad)
    assert score.value == 0.0
    assert score.evidence == ("FAILED: other products changed: gone [(2, 20, 6)], new []",)


async def test_several_guards_at_once_name_only_what_changed(end_state, database):
    guard = AllUnchanged(
        "shop", (("prices", "SELECT id, price FROM stock"), ("counts", "SELECT id, count FROM stock"))
    )
    start = database(START)
    changed = end_state(start=start, end=database(START + "UPDATE stock SET count = 0 WHERE id = 1"))
    assert (await guard.evaluate(end_state(start=start, end=start))).evidence == ("ok: nothing else changed",)
    assert (await guard.evaluate(changed)).evidence == (
        "FAILED: counts changed: gone [(1, 5)], new [(1, 0)]",
    )


async def test_a_wrong_statement_is_a_failure_and_no_score(end_state, database):
    state = end_state(start=database(START), end=database(START))
    with pytest.raises(EvaluatorFailed, match="no such table"):
        await Unchanged("shop", "SELECT * FROM stok").evaluate(state)


@pytest.mark.parametrize(
    ("found", "expected", "same"),
    [
        ([(12.5,)], [(Decimal("12.50"),)], True),
        ([("12.50",)], [(Decimal("12.5"),)], True),
        ([(None,)], [(Decimal(0),)], False),
        ([("a ",)], [("a",)], True),
        ([("a\r\nb",)], [("a\nb",)], True),
        ([("A",)], [("a",)], False),
        ([(1,), (2,)], [(2,), (1,)], False),
        ([(1,)], [(1,), (2,)], False),
        ([(1, 2)], [(1,)], False),
        ([(0,)], [(None,)], False),
    ],
)
def test_values_compare_by_meaning(found, expected, same):
    assert same_rows(found, expected) is same
