"""What tests of all parts share: where things are kept, the built shop, and which tests may not be skipped.

A test says by its marker what it needs: `root` (the native engine works), `browser` (a real Chromium), `shop` (the
built shop). Where that is lacking it is skipped, unless ``WEBSERV_REQUIRE`` names the marker: then a skip fails.
`make test` sets it to what the machine can run.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest

from webserv.errors import MissingPrerequisite, NotBuilt
from webserv.server.host import probe_native
from webserv.server.site import load_site
from webserv.server.snapshot import Snapshot, ensure_snapshot, find_snapshot

REQUIRED = frozenset(filter(None, os.environ.get("WEBSERV_REQUIRE", "").split(",")))
"""Markers whose tests may not be skipped."""


def pytest_configure(config: pytest.Config) -> None:
    unknown = REQUIRED - {"root", "browser", "shop"}
    if unknown:
        raise pytest.UsageError(
            f"WEBSERV_REQUIRE names no marker of a prerequisite: {', '.join(sorted(unknown))}"
        )


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker, lack in (("root", _lack_of_root), ("browser", _lack_of_browser), ("shop", _lack_of_shop)):
        if item.get_closest_marker(marker) and (reason := lack()):
            pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    required = REQUIRED & {marker.name for marker in item.iter_markers()}
    if report.skipped and required and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = (
            f"skipped, though WEBSERV_REQUIRE names {', '.join(sorted(required))}: {report.longrepr}"
        )
    return report


@cache
def _lack_of_root() -> str:
    native = probe_native()
    return "" if native.works else f"the native engine does not work here: {native.reason}"


@cache
def _lack_of_browser() -> str:
    from webserv.browser.executable import find_executable

    try:
        find_executable()
    except MissingPrerequisite as exc:
        return str(exc)
    return ""


@cache
def _lack_of_shop() -> str:
    if "shop" in REQUIRED:
        return ""  # the fixture builds it
    try:
        find_snapshot(load_site("shop"))
    except NotBuilt as exc:
        return str(exc)
    return ""


@pytest.fixture(scope="session")
def shop_snapshot() -> Snapshot:
    """The seeded shop in this user's own data folder, built once for all runs. Mark the test `shop`."""
    if reason := _lack_of_shop():
        pytest.skip(reason)
    return ensure_snapshot(load_site("shop"))


@pytest.fixture
def webserv_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder for this test, on the disk as it is: no loop pool is made."""
    home = tmp_path / "home"
    monkeypatch.setenv("WEBSERV_HOME", str(home))
    monkeypatch.setenv("WEBSERV_POOL", str(home / "pool"))
    return home
