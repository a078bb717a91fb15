"""Worlds of the shop: how fast they come and go, what they weigh.

Scenarios, each on the native engine:

- ``zygote``: asked for a world → first correct page (the catalogue, 200, with products), one after another
- ``boot``: the same by starting the processes; the ratio between both is printed
- ``cp + process``: the rival that needs no WebServ: copy the data folder, start the server, wait for the page
- ``deletion``: asked → processes, mounts, limits and files are gone
- ``memory``: proportional set size of each of 50 clones that have served five pages each

Repeat with: ``.venv/bin/python bench/worlds.py [--quick] [--json FILE]``
"""

from __future__ import annotations

import asyncio
import http.client
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from measure import Row, median, parse_arguments, percentile, report
from webserv.server._linux.processes import memory_pss_bytes, process_tree
from webserv.server.engines.native import NativeEngine
from webserv.server.engines.sandbox import fixed_environment
from webserv.server.router import LoopbackTarget, Target
from webserv.server.site import load_site
from webserv.server.snapshot import Snapshot, ensure_snapshot

PAGE, MARK = "/catalogue/", b"product_pod"
PAGES = ("/", "/catalogue/", "/search/?q=mug", "/basket/", "/accounts/login/")


def get(target: Target, path: str) -> bytes:
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection("shop.example", timeout=30)
    sock = target.open_socket()
    try:
        sock.connect(target.address)
        connection.sock = sock
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise OSError(f"{path} answered {response.status}")
        return body
    finally:
        connection.close()
        sock.close()


def check_page(target: Target) -> None:
    """Asks for the catalogue and insists on products."""
    if MARK not in get(target, PAGE):
        raise OSError(f"{PAGE} shows no products")


async def measure_mode(
    engine: NativeEngine, snapshot: Snapshot, mode: str, repeats: int
) -> tuple[list[float], list[float]]:
    """Milliseconds to the first correct page and to deletion."""
    first, deleted = [], []
    for _ in range(repeats):
        began = time.perf_counter()
        world = await engine.open_world([snapshot], start_mode=mode)
        check_page(world.sites["shop"].target)
        first.append((time.perf_counter() - began) * 1e3)
        began = time.perf_counter()
        await world.close()
        deleted.append((time.perf_counter() - began) * 1e3)
    return first, deleted


def measure_plain(snapshot: Snapshot, data: Path, repeats: int) -> list[float]:
    """The same without WebServ: copy, start, poll."""
    times = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
            probe.close()
            began = time.perf_counter()
            shutil.copytree(data, Path(folder, "data"))
            boot = snapshot.site.boot
            values = {
                "data": f"{folder}/data",
                "image": str(snapshot.image),
                "address": "127.0.0.1",
                "port": str(port),
            }
            environment = fixed_environment(snapshot, os.environ.get("WEBSERV_OWNER", ""), f"{folder}/data")
            environment |= {key: value.format_map(values) for key, value in boot.environment.items()}
            process = subprocess.Popen(
                [part.format_map(values) for part in boot.command],
                env=environment,
                cwd=snapshot.image / "app",
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                while True:
                    try:
                        check_page(LoopbackTarget(port))
                        break
                    except OSError:
                        if process.poll() is not None:
                            raise
                        time.sleep(0.01)
                times.append((time.perf_counter() - began) * 1e3)
            finally:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return times


async def measure_memory(
    engine: NativeEngine, snapshot: Snapshot, count: int
) -> tuple[list[float], list[float]]:
    """MiB of each of `count` clones that stand at once, and milliseconds to close each."""
    worlds = [await engine.open_world([snapshot]) for _ in range(count)]
    for world in worlds:
        for path in PAGES:
            get(world.sites["shop"].target, path)
    sizes = [
        sum(memory_pss_bytes(pid) for pid in process_tree(world.sites["shop"].process.pid)) / 2**20
        for world in worlds
    ]
    deleted = []
    for world in worlds:
        began = time.perf_counter()
        await world.close()
        deleted.append((time.perf_counter() - began) * 1e3)
    return sizes, deleted


async def main() -> None:
    """Measures and reports."""
    arguments = parse_arguments(__doc__.splitlines()[0])
    repeats, boots, clones = (20, 3, 50) if arguments.quick else (100, 15, 50)
    snapshot = ensure_snapshot(load_site("shop"), print)
    async with NativeEngine() as engine:
        await engine.prepare([snapshot])
        await measure_mode(engine, snapshot, "zygote", 3)
        zygote, deleted = await measure_mode(engine, snapshot, "zygote", repeats)
        boot, _ = await measure_mode(engine, snapshot, "boot", boots)
        plain = await asyncio.to_thread(measure_plain, snapshot, snapshot.data(engine.storage), boots)
        sizes, crowd_deleted = await measure_memory(engine, snapshot, clones)
    fast = median(zygote)
    rows = [
        Row(
            "zygote: asked → first correct page, p50",
            fast,
            "ms",
            60,
            f"p95 {percentile(zygote, 0.95):.1f} ms, n={repeats}",
        ),
        Row(
            "boot: asked → first correct page, p50",
            median(boot),
            "ms",
            None,
            f"{median(boot) / fast:.0f}× the zygote's, n={boots}",
        ),
        Row(
            "cp + process: asked → first correct page, p50",
            median(plain),
            "ms",
            None,
            f"{median(plain) / fast:.0f}× the zygote's, n={boots}",
        ),
        Row("deletion, p50", median(deleted), "ms", 30, f"p95 {percentile(deleted, 0.95):.1f} ms"),
        Row(
            f"deletion with {clones} standing, p50",
            median(crowd_deleted),
            "ms",
            30,
            f"p95 {percentile(crowd_deleted, 0.95):.1f} ms",
        ),
        Row(
            f"memory of each of {clones} clones (PSS), p50",
            median(sizes),
            "MiB",
            35,
            f"largest {max(sizes):.1f} MiB, after {len(PAGES)} pages each",
        ),
    ]
    report("Worlds of the shop", rows, arguments, zygote_ms=zygote, boot_ms=boot, plain_ms=plain)


if __name__ == "__main__":
    asyncio.run(main())
