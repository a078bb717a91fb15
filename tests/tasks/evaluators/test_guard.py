import pytest

from webserv.tasks.evaluators.guard import Added, Edited, NothingElse, Removed

START = """
CREATE TABLE product (id INTEGER PRIMARY KEY, title TEXT, price, seen INTEGER);
CREATE TABLE note (key TEXT PRIMARY KEY, product INTEGER);
CREATE TABLE tag (name TEXT);
CREATE TABLE log (id INTEGER PRIMARY KEY);
INSERT INTO product VALUES (1, 'Oak', 10, 0), (2, 'Elm', NULL, 0);
INSERT INTO note VALUES ('a', 1), ('b', 2);
INSERT INTO tag VALUES ('new');
"""


@pytest.fixture
def judge(end_state, database):
    async def judge(change, *allowed, **kwargs):
        state = end_state(start=database(START), end=database(START + change))
        score = await NothingElse("shop", allowed, **kwargs).evaluate(state)
        assert (score.value == 1.0) is (score.evidence == ("ok: nothing else changed",))
        return score.evidence

    return judge


OK = ("ok: nothing else changed",)


async def test_nothing_may_change_that_is_not_named(judge):
    assert await judge("") == OK
    assert await judge("UPDATE product SET title = 'Ash' WHERE id = 1") == (
        "FAILED: product: title of row 1 is 'Ash', was 'Oak'",
    )
    assert await judge("DELETE FROM note WHERE key = 'a'; INSERT INTO note VALUES ('c', 2)") == (
        "FAILED: note: row a is gone",
        "FAILED: note: row c is new",
    )
    assert await judge("INSERT INTO tag VALUES ('old')") == ("FAILED: tag: row 2 is new",)


async def test_an_edit_may_touch_its_columns_of_its_rows_only(judge):
    edit = Edited("product", "id = 1", ("price",))
    assert await judge("UPDATE product SET price = 11 WHERE id = 1", edit) == OK
    assert await judge("UPDATE product SET price = 11, title = 'Ash' WHERE id = 1", edit) != OK
    assert await judge("UPDATE product SET price = 11", edit) != OK
    assert await judge("DELETE FROM product WHERE id = 1", edit) != OK


async def test_edits_add_up(judge):
    edits = (Edited("product", "id = 1", ("price",)), Edited("product", "id < 3", ("title",)))
    assert await judge("UPDATE product SET price = 11, title = 'Ash' WHERE id = 1", *edits) == OK
    assert await judge("UPDATE product SET price = 11 WHERE id = 2", *edits) != OK


async def test_new_and_removed_rows_are_judged_by_their_condition(judge):
    assert await judge("INSERT INTO note VALUES ('c', 1)", Added("note", "product = 1")) == OK
    assert await judge("INSERT INTO note VALUES ('c', 2)", Added("note", "product = 1")) != OK
    assert await judge("DELETE FROM note WHERE product = 1", Removed("note", "product = 1")) == OK
    assert await judge("DELETE FROM note", Removed("note", "product = 1")) != OK
    assert await judge("UPDATE note SET product = 3", Added("note"), Removed("note", "1")) != OK


async def test_what_the_site_writes_by_itself_is_named(judge):
    assert await judge("INSERT INTO log VALUES (1)", noise_tables=("log",)) == OK
    assert await judge("UPDATE product SET seen = 1", noise_columns=("product.seen",)) == OK
    assert await judge("UPDATE product SET seen = 1", noise_columns=("*.seen",)) == OK
    assert await judge("UPDATE product SET seen = 1", noise_columns=("note.seen",)) != OK
    lower = (("product.title", "lower(t.title)"),)
    assert await judge("UPDATE product SET title = upper(title)", in_place_of=lower) == OK


async def test_values_keep_their_type_but_null_is_empty(judge):
    assert await judge("UPDATE product SET price = '' WHERE id = 2") == OK
    assert await judge("UPDATE product SET price = '10' WHERE id = 1") != OK
    assert await judge("UPDATE product SET price = 0 WHERE id = 2") != OK


@pytest.mark.parametrize("allowed", [Added("notes"), Edited("product", "1", ("titel",))])
async def test_an_allowance_for_what_does_not_exist_is_an_error(judge, allowed):
    with pytest.raises(ValueError, match="names no guarded table or columns"):
        await judge("", allowed)


async def test_evidence_stays_short(judge):
    many = ", ".join(f"({number})" for number in range(1, 31))
    evidence = await judge(f"INSERT INTO log VALUES {many}")
    assert len(evidence) == 21
    assert evidence[-1] == "… 10 more changes"
