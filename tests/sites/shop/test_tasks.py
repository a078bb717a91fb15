from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from webserv.server.snapshot import Snapshot
from webserv.sites.shop.tasks import CUSTOMER_EMAIL, TEMPLATES, make_benchmark
from webserv.sites.shop.tasks.database import ShopDatabase
from webserv.tasks.benchmark import Benchmark
from webserv.tasks.evaluators.answer import AnswerDate, AnswerMoney, AnswerNames, AnswerNumber
from webserv.tasks.evaluators.database import DatabaseRows
from webserv.tasks.evaluators.guard import NothingElse
from webserv.tasks.evaluators.normalize.text import words
from webserv.tasks.task import Task

pytestmark = pytest.mark.shop


@pytest.fixture(scope="session")
def benchmark(shop_snapshot: Snapshot) -> Benchmark:
    return make_benchmark(ShopDatabase(shop_snapshot.database, CUSTOMER_EMAIL))


class Said:
    """The end of an episode in which only an answer was given."""

    url = ""
    text = ""

    def __init__(self, answer: str) -> None:
        self.answer = answer

    async def query(self, site: str, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        raise AssertionError("an answer's check reads no database")

    query_start = query

    async def visit(self, url: str) -> str:
        raise AssertionError("an answer's check visits no page")


class Untouched:
    """The end of an episode in which nothing happened."""

    answer = None
    text = ""

    def __init__(self, database: sqlite3.Connection, task: Task) -> None:
        self.url = task.start_urls[0]
        self._database = database

    async def query(self, site: str, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._database.execute(sql, params).fetchall()

    query_start = query

    async def visit(self, url: str) -> str:
        return ""


def test_there_are_enough_templates_of_both_kinds_and_instances_of_each(benchmark):
    assert len(benchmark.templates) == len(TEMPLATES) >= 60
    assert set(Counter(task.template for task in benchmark.tasks).values()) == {5}
    first = [task for task in benchmark.tasks if task.id.endswith(":0")]
    for tag in ("storefront", "dashboard"):
        assert sum(tag in task.tags for task in first) >= 30
    for tag in ("read", "create", "edit", "delete"):
        assert sum(tag in task.tags for task in first) >= 4


def test_ids_and_intents_are_unique(benchmark):
    assert len({task.id for task in benchmark.tasks}) == len(benchmark.tasks)
    assert len({task.intent for task in benchmark.tasks}) == len(benchmark.tasks)


def test_the_same_snapshot_gives_the_same_tasks(benchmark, shop_snapshot):
    again = make_benchmark(ShopDatabase(shop_snapshot.database, CUSTOMER_EMAIL))
    for one, other in zip(benchmark.tasks, again.tasks, strict=True):
        assert (one.id, one.intent, one.params) == (other.id, other.intent, other.params)
        assert one.evaluators == other.evaluators


def test_the_database_may_lie_in_a_folder_with_any_name(shop_snapshot, tmp_path):
    folder = tmp_path / "50% #1? shop"
    folder.mkdir()
    (folder / "shop.sqlite3").symlink_to(shop_snapshot.database)
    assert ShopDatabase(folder / "shop.sqlite3", CUSTOMER_EMAIL).customer.email == CUSTOMER_EMAIL


def test_every_task_is_complete(benchmark):
    for task in benchmark.tasks:
        assert task.reference is not None
        assert task.near_miss is not None
        assert task.evaluators
        assert task.sites == ("shop",)
        assert 10 <= task.max_steps <= 40
        assert set(task.login.values()) <= {"customer", "staff"}
        assert ("dashboard" in task.tags) is (task.login.get("shop") == "staff")
        assert all(url.startswith("http://shop.example/") for url in task.start_urls)


def test_every_task_guards_the_rest_of_the_shop(benchmark):
    for task in benchmark.tasks:
        assert sum(isinstance(check, NothingElse) for check in task.evaluators) == 1, task.id
        reads = {"read", "navigate"} & set(task.tags)
        assert any(isinstance(check, DatabaseRows) for check in task.evaluators) is not bool(reads), task.id


def answers(benchmark: Benchmark) -> dict[str, list[tuple[Task, str]]]:
    """What each template's instances want to hear, as a policy would write it."""
    found: dict[str, list[tuple[Task, str]]] = {}
    for task in benchmark.tasks:
        check = task.evaluators[0]
        if isinstance(check, AnswerNames):
            found.setdefault(task.template, []).append((task, ", ".join(check.expected)))
        elif isinstance(check, AnswerDate | AnswerMoney | AnswerNumber):
            found.setdefault(task.template, []).append((task, str(check.expected)))
    return found


async def test_no_constant_answer_solves_more_than_two_of_five(benchmark):
    for template, wanted in answers(benchmark).items():
        for _, constant in wanted:
            solved = 0
            for task, _ in wanted:
                state = Said(constant)
                solved += (await task.evaluators[0].evaluate(state)).value == 1.0
            # Only three partners and three prices of shipping exist.
            assert solved <= (2 if template in ("shop/supplier-v1", "shop/shipping-paid-v1") else 1), (
                template,
                constant,
            )


def test_no_answer_can_be_read_off_its_intent(benchmark):
    for template, wanted in answers(benchmark).items():
        for task, answer in wanted:
            if "choices" not in task.params:
                tokens = set(words(task.intent))
                joined = "".join(words(task.intent))
                # The part of an e-mail address before the @ is a name, with points.
                parts = words(answer.partition("@")[0])
                assert not set(parts) <= tokens, f"{task.id}: {answer}"
                is_text = any(char.isalpha() for char in answer)
                assert not is_text or "".join(parts) not in joined, f"{task.id}: {answer}"
        listed = [task.params["choices"].index(answer) for task, answer in wanted if "choices" in task.params]
        assert not listed or max(Counter(listed).values()) <= 3, f"{template}: always the same of its choices"


async def test_doing_nothing_scores_zero_on_every_task(benchmark, shop_snapshot):
    with closing(sqlite3.connect(f"file:{shop_snapshot.database}?mode=ro&immutable=1", uri=True)) as database:
        for task in benchmark.tasks:
            state = Untouched(database, task)
            scores = [(await check.evaluate(state)).value for check in task.evaluators]
            assert 0.0 in scores, task.id
            assert scores[-1] == 1.0, f"{task.id}: the guard fails although nothing changed"


def test_the_documentation_lists_every_template_with_its_tags_and_budget():
    page = (Path(__file__).parents[3] / "docs" / "tasks.md").read_text(encoding="utf-8")
    rows = {
        line.split(" | ")[0][3:-1]: line.split(" | ")
        for line in page.splitlines()
        if line.startswith("| `shop/")
    }
    assert rows.keys() == {template.id for template in TEMPLATES}
    assert f"{len(TEMPLATES)} templates with five instances each" in page
    for template in TEMPLATES:
        *_, login, tags, budget = rows[template.id]
        assert login == (template.login.get("shop") or "none")
        assert tags == ", ".join(template.tags[1:])
        assert budget == f"{template.max_steps} |"
