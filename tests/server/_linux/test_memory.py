"""Memory left, by the host's and by a container's count."""

from pathlib import Path

from webserv.server._linux.memory import available_bytes

GIB = 1 << 30


def _host(tmp_path: Path) -> Path:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text(f"MemTotal: 1 kB\nMemAvailable: {8 * GIB // 1024} kB\n", encoding="ascii")
    return meminfo


def _group(folder: Path, limit: str, usage: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(limit, encoding="ascii")
    (folder / "memory.current").write_text(usage, encoding="ascii")


def test_without_a_limit_it_is_the_hosts(tmp_path: Path):
    assert available_bytes(_host(tmp_path), tmp_path / "none") == 8 * GIB
    _group(tmp_path / "groups", "max\n", f"{GIB}\n")
    assert available_bytes(_host(tmp_path), tmp_path / "groups") == 8 * GIB


def test_a_containers_limit_counts_with_what_it_uses(tmp_path: Path):
    _group(tmp_path / "groups", f"{4 * GIB}\n", f"{3 * GIB}\n")
    assert available_bytes(_host(tmp_path), tmp_path / "groups") == GIB


def test_a_system_that_does_not_tell_is_unknown(tmp_path: Path):
    assert available_bytes(tmp_path / "no-such-file", tmp_path) is None
