"""SIGKILL of a whole evaluation in mid-run: no site, browser or mount outlives it, and `--resume` finishes the run."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from webserv.paths import data_home
from webserv.server._linux.processes import processes_of_owner
from webserv.server.gc import collect
from webserv.server.owner import owners_dir
from webserv.server.snapshot import Snapshot

pytestmark = [pytest.mark.root, pytest.mark.browser, pytest.mark.shop, pytest.mark.slow]

TASKS = 6


def _eval(out: Path, *more: str) -> list[str]:
    command = [
        sys.executable,
        "-m",
        "webserv",
        "eval",
        "--benchmark",
        "shop",
        "--policy",
        "scripted",
    ]
    return [*command, "--tasks", "*:1", "--limit", str(TASKS), "--workers", "2", "--out", str(out), *more]


def _finished(out: Path) -> int:
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    return int(summary["total"]["solved"])


async def _until(condition, timeout_s: float = 90) -> None:
    async with asyncio.timeout(timeout_s):
        while not condition():
            await asyncio.sleep(0.05)


async def test_a_killed_evaluation_leaves_nothing_and_is_resumed(shop_snapshot: Snapshot, tmp_path: Path):
    out = tmp_path / "run"
    known = {path.name for path in owners_dir().iterdir()} if owners_dir().exists() else set()
    process = subprocess.Popen(_eval(out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    records = out / "episodes.jsonl.zst"
    await _until(lambda: records.exists() and records.stat().st_size > 0)
    (owner,) = {path.name for path in owners_dir().iterdir()} - known
    names = {
        Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() for pid in processes_of_owner(owner)
    }
    assert any(name.startswith("chromium") or name.startswith("chrome") for name in names), names
    process.send_signal(signal.SIGKILL)
    process.wait()
    await _until(lambda: processes_of_owner(owner) == [])
    collect()
    assert not (owners_dir() / owner).exists()
    assert not (data_home() / "pool" / "clones" / owner).exists()
    done = subprocess.run(_eval(out, "--resume"), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert _finished(out) == TASKS
