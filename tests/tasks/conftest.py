"""A frozen end state made by hand, over two SQLite databases."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import hypothesis
import pytest

from webserv.errors import EvaluatorFailed

hypothesis.settings.register_profile("webserv", deadline=None, derandomize=True)
hypothesis.settings.load_profile("webserv")


@dataclass
class HandMadeState:
    """An `EndState` whose parts a test sets."""

    answer: str | None = None
    url: str = "http://shop.example/"
    text: str = ""
    pages: Mapping[str, str] = field(default_factory=dict)
    start: sqlite3.Connection | None = None
    end: sqlite3.Connection | None = None

    async def query(self, site: str, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._read(self.end, sql, params)

    async def query_start(self, site: str, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._read(self.start, sql, params)

    async def visit(self, url: str) -> str:
        return self.pages[url]

    def _read(self, db: sqlite3.Connection | None, sql: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
        if db is None:
            raise EvaluatorFailed("This state has no database.")
        try:
            return db.execute(sql, params).fetchall()
        except sqlite3.Error as exc:
            raise EvaluatorFailed(str(exc)) from exc


@pytest.fixture(scope="session")
def end_state() -> type[HandMadeState]:
    return HandMadeState


@pytest.fixture
def database() -> Iterator[Callable[[str], sqlite3.Connection]]:
    """Makes in-memory databases from SQL scripts."""
    opened = []

    def make(script: str) -> sqlite3.Connection:
        opened.append(sqlite3.connect(":memory:"))
        opened[-1].executescript(script)
        return opened[-1]

    yield make
    for db in opened:
        db.close()
