"""Benchmarks by name: built-in ones and those of plug-ins (entry point group ``webserv.benchmarks``).

An entry is a function without arguments that returns a `Benchmark`.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from webserv.errors import UnknownName
from webserv.tasks.benchmark import Benchmark
from webserv.tasks.task import Task

ENTRY_POINT_GROUP = "webserv.benchmarks"

_BUILT_IN = {
    "shop": "webserv.sites.shop.tasks:load",
}

BenchmarkLoader = Callable[[], Benchmark]


def list_benchmarks() -> list[str]:
    """Names of all benchmarks; nothing is loaded."""
    return sorted({*_BUILT_IN, *(point.name for point in _plug_ins())})


def load_benchmark(name: str) -> Benchmark:
    """Returns a benchmark by name; a built-in one hides a plug-in of the same name.

    Raises:
        UnknownName: There is none of that name, or it is a plug-in that fails to load (a warning says why).
        NotBuilt: A site that its tasks are made from has no snapshot on this host.
    """
    if name in _BUILT_IN:
        module, _, function = _BUILT_IN[name].partition(":")
        return cast("BenchmarkLoader", getattr(importlib.import_module(module), function))()
    for point in _plug_ins():
        if point.name == name:
            loader = _load_plug_in(point)
            if loader is not None:
                return loader()
    raise UnknownName("benchmark", name, list_benchmarks())


def load_task(task_id: str) -> Task:
    """Returns a task by its id, for instance ``shop/find-cheapest-v1:3``.

    Raises:
        UnknownName: There is no such benchmark or task.
        NotBuilt: As for `load_benchmark`.
    """
    return load_benchmark(task_id.partition("/")[0]).task(task_id)


def _plug_ins() -> list[EntryPoint]:
    return sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: point.name)


def _load_plug_in(point: EntryPoint) -> BenchmarkLoader | None:
    try:
        return cast("BenchmarkLoader", point.load())
    except Exception as exc:  # a plug-in's own bug must not break the other benchmarks
        warnings.warn(
            f"Benchmark '{point.name}' ({point.value}) cannot be loaded: {type(exc).__name__}: {exc}",
            stacklevel=3,
        )
        return None
