"""A guard over a whole database: nothing changed but what a task names, down to the column."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from webserv.tasks.evaluator import EndState
from webserv.types import Score

_SCHEMA = (
    "SELECT m.name, c.name, c.pk FROM sqlite_master m JOIN pragma_table_info(m.name) c"
    " WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY m.name, c.cid"
)


@dataclass(frozen=True, slots=True)
class Edited:
    """Some columns of some rows may differ; the rows themselves stay, and all their other columns.

    Attributes:
        table: Name of the table.
        where: SQL condition that picks the rows, read at the start.
        columns: What may differ.
    """

    table: str
    where: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Added:
    """New rows may be there, if `where` (read at the end) holds for them. Says nothing about rows of the start."""

    table: str
    where: str = "1"


@dataclass(frozen=True, slots=True)
class Removed:
    """Rows for which `where` (read at the start) holds may be gone."""

    table: str
    where: str


Allowed = Edited | Added | Removed


@dataclass(frozen=True, slots=True)
class NothingElse:
    """Every row of every table is as at the start, apart from what is allowed; NULL and '' are the same.

    A table that nobody thought of is guarded, so what a site writes by itself has to be named.

    Attributes:
        site: Whose database.
        allowed: What the task is about.
        noise_tables: Tables that the site writes by itself.
        noise_columns: Columns that it does, as ``table.column``, or ``*.column`` for those of all tables.
        in_place_of: ``table.column`` to an SQL expression over the table ``t`` that is compared in its place.
    """

    site: str
    allowed: tuple[Allowed, ...] = ()
    noise_tables: tuple[str, ...] = ()
    noise_columns: tuple[str, ...] = ()
    in_place_of: tuple[tuple[str, str], ...] = ()

    async def evaluate(self, state: EndState) -> Score:
        """Compares the clone with the snapshot, table by table."""
        columns: dict[str, list[str]] = {}
        keys: dict[str, str] = {}
        for table, column, is_key in await state.query_start(self.site, _SCHEMA):
            if table in self.noise_tables:
                continue
            columns.setdefault(table, [])
            if is_key and table not in keys:
                keys[table] = f'"{column}"'
            elif f"{table}.{column}" not in self.noise_columns and f"*.{column}" not in self.noise_columns:
                columns[table].append(column)
        self._check(columns)
        # One statement for all tables: a clone's database is read through its namespaces, at a price per question.
        sql = " UNION ALL ".join(
            self._select(table, keys.get(table, "rowid"), of) for table, of in columns.items()
        )
        start = {(table, key): values for table, key, values in await state.query_start(self.site, sql)}
        end = {(table, key): values for table, key, values in await state.query(self.site, sql)}
        changed_rows = {row for row, _ in start.items() ^ end.items()}
        evidence: list[str] = []
        for table in sorted({table for table, _ in changed_rows}):
            of = columns[table]
            touched = {key for name, key in changed_rows if name == table}
            gone = {key for key in touched if (table, key) not in end}
            new = {key for key in touched if (table, key) not in start}
            differing = touched - gone - new
            key_column = keys.get(table, "rowid")
            for kind, changed in ((Removed, gone), (Added, new)):
                if changed:
                    changed = changed - await self._matching(state, kind, table, key_column)
                    word = "gone" if kind is Removed else "new"
                    evidence += [f"FAILED: {table}: row {key} is {word}" for key in sorted(changed, key=str)]
            if differing:
                may_change = await self._editable(state, table, key_column)
                for key in sorted(differing, key=str):
                    before, after = json.loads(start[table, key]), json.loads(end[table, key])
                    evidence += [
                        f"FAILED: {table}: {column} of row {key} is {_short(value)}, was {_short(old)}"
                        for column, old, value in zip(of, before, after, strict=True)
                        if old != value and column not in may_change.get(key, ())
                    ]
        shown = evidence[:20] + ([f"… {len(evidence) - 20} more changes"] if len(evidence) > 20 else [])
        return Score(float(not evidence), tuple(shown) or ("ok: nothing else changed",))

    def _check(self, columns: dict[str, list[str]]) -> None:
        """Refuses allowances for what does not exist: a misspelt one would never be noticed."""
        for allowed in self.allowed:
            wanted = allowed.columns if isinstance(allowed, Edited) else ()
            unknown = set(wanted) - set(columns.get(allowed.table, ()))
            if allowed.table not in columns or unknown:
                raise ValueError(f"{allowed} names no guarded table or columns")

    def _select(self, table: str, key: str, columns: list[str]) -> str:
        instead = dict(self.in_place_of)
        # `quote` keeps 1, 1.0, '1' and x'31' apart, and JSON takes no blobs. Forms save an empty field as '' where
        # there was NULL.
        shown = (instead.get(f"{table}.{column}", f't."{column}"') for column in columns)
        values = ", ".join(f"quote(coalesce({expression}, ''))" for expression in shown)
        return f"SELECT '{table}', t.{key}, json_array({values}) FROM \"{table}\" t"

    async def _matching(
        self, state: EndState, kind: type[Added] | type[Removed], table: str, key: str
    ) -> set[Any]:
        """Keys of the rows that may be new, or gone."""
        ask = state.query if kind is Added else state.query_start
        found: set[Any] = set()
        for allowed in self.allowed:
            if isinstance(allowed, kind) and allowed.table == table:
                sql = f'SELECT {key} FROM "{table}" WHERE {allowed.where}'
                found.update(row[0] for row in await ask(self.site, sql))
        return found

    async def _editable(self, state: EndState, table: str, key: str) -> dict[Any, set[str]]:
        """Keys of the rows that may differ, and in which columns."""
        found: dict[Any, set[str]] = {}
        for allowed in self.allowed:
            if isinstance(allowed, Edited) and allowed.table == table:
                sql = f'SELECT {key} FROM "{table}" WHERE {allowed.where}'
                for row in await state.query_start(self.site, sql):
                    found.setdefault(row[0], set()).update(allowed.columns)
        return found


def _short(value: str) -> str:
    return value if len(value) <= 100 else f"{value[:100]}…"
