"""What the benchmarks share: arguments, percentiles, the machine, tables and JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from webserv.server._linux.memory import available_bytes


@dataclass(frozen=True)
class Row:
    """One line of a result table."""

    what: str
    value: float
    unit: str
    budget: float | None = None
    """Largest value that the issue allows; None for figures reported beside."""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Value over budget; at most 1 is within."""
        return self.value / self.budget if self.budget else None


def parse_arguments(description: str) -> argparse.Namespace:
    """``--quick`` (within 45 s) and ``--json FILE``."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="fewer repeats; ends within 45 s")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    return parser.parse_args()


def median(values: Sequence[float]) -> float:
    """The 50th percentile."""
    return statistics.median(values)


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` (0 to 1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def machine() -> dict[str, Any]:
    """Where it was measured."""
    return {
        "system": platform.platform(),
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load_1min": round(os.getloadavg()[0], 2),
        "memory_available_gib": round((available_bytes() or 0) / 2**30, 1),
    }


def report(title: str, rows: Sequence[Row], arguments: argparse.Namespace, **extra: Any) -> None:
    """Prints the table and writes the JSON file if one was asked for."""
    where = machine()
    table = Table(title=title, caption=", ".join(f"{key} {value}" for key, value in where.items()))
    for heading, side in (("what", "left"), ("measured", "right"), ("budget", "right"), ("ratio", "right")):
        table.add_column(heading, justify=side)
    table.add_column("note")
    for row in rows:
        budget = "" if row.budget is None else f"{row.budget:g} {row.unit}"
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        table.add_row(row.what, f"{row.value:.1f} {row.unit}", budget, ratio, row.note)
    Console().print(table)
    if arguments.json:
        figures = [{**vars(row), "ratio": row.ratio} for row in rows]
        content = {"title": title, "machine": where, "rows": figures, **extra}
        arguments.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
