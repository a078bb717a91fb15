from __future__ import annotations

import re
import signal
import socket
import subprocess

import pytest

from webserv.server.owner import owners_dir

ENGINES = [pytest.param("native", marks=pytest.mark.root), "process"]


def read_until(process: subprocess.Popen[str], pattern: str) -> str:
    """Everything that is printed up to the line that matches; fails with stderr when it never comes."""
    said = ""
    for line in process.stdout:
        said += line
        if re.search(pattern, line):
            return said
    pytest.fail(f"{said}\n{process.stderr.read()}")


def get(proxy_port: int, host: str) -> bytes:
    """A page through the world's SOCKS5 proxy, with the host resolved there (RFC 1928)."""
    with socket.create_connection(("127.0.0.1", proxy_port), timeout=20) as sock:
        sock.sendall(
            b"\x05\x01\x00\x05\x01\x00\x03" + bytes([len(host)]) + host.encode() + (80).to_bytes(2, "big")
        )
        stream = sock.makefile("rb")
        assert stream.read(2) == b"\x05\x00"
        if stream.read(10)[1] != 0:
            return b"refused"
        sock.sendall(f"GET / HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
        return stream.read()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_world_is_open_until_it_is_told_to_end_and_leaves_nothing(run, start, webserv_home, engine, ending):
    run("setup")
    with start("world", "open", "guestbook", "--engine", engine) as process:
        said = read_until(process, "curl")
        port = int(re.search(r"socks5://127\.0\.0\.1:(\d+)", said)[1])
        page = get(port, "guestbook.example")
        elsewhere = get(port, "elsewhere.example")
        process.send_signal(ending)
        complaint = process.communicate(timeout=60)[1]

    assert process.returncode == 0, complaint
    assert f"({engine} engine" in said
    assert b"<h1>Guestbook</h1>" in page
    assert elsewhere == b"refused"
    assert complaint.endswith("Closed.\n")
    assert list(owners_dir().iterdir()) == []
    assert list((webserv_home / "pool" / "clones").glob("*/*")) == []


def test_it_prints_a_browser_command_that_can_be_copied(run, start):
    run("setup")
    with start("world", "open", "guestbook", "--engine", "process", "--login", "guest") as process:
        said = read_until(process, "document.cookie")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

    assert re.search(
        r"chromium --proxy-server=socks5://127\.0\.0\.1:\d+ '--proxy-bypass-list=<-loopback>'", said
    )
    assert "data, not privileges" in said
    assert "document.cookie = 'who=guest; path=/'" in said


def test_a_proxy_port_can_be_chosen_and_a_taken_one_is_one_line(run, start):
    run("setup")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run("world", "open", "guestbook", "--engine", "process", "--port", port)
        assert done.returncode == 1
        assert f"error: Port {port} of 127.0.0.1 cannot be used" in done.stderr
        assert "Traceback" not in done.stderr
    with start("world", "open", "guestbook", "--engine", "process", "--port", port) as process:
        assert f"socks5://127.0.0.1:{port}" in read_until(process, "curl")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nope"], "There is no site 'nope'. Known: guestbook."),
        (["guestbook", "--engine", "nativ"], "There is no engine 'nativ'. Did you mean 'native'?"),
        (["guestbook", "--login", "admin"], "There is no login 'admin'. Known: guest."),
    ],
)
def test_unknown_names_are_answered_with_the_known_ones(run, arguments, words):
    run("setup")

    done = run("world", "open", *arguments)

    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_site_that_is_not_built_is_told_with_the_command(run):
    done = run("world", "open", "guestbook")

    assert done.returncode == 1
    assert "hint: Run 'webserv setup'." in done.stderr


def test_a_site_that_dies_ends_the_command_with_a_line(run, start):
    run("setup")
    with start("world", "open", "guestbook", "--engine", "process", "--start-mode", "boot") as process:
        said = read_until(process, "curl")
        port = int(re.search(r"socks5://127\.0\.0\.1:(\d+)", said)[1])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
            sock.sendall(b"\x05\x01\x00\x05\x01\x00\x03\x11guestbook.example\x00\x50")
            sock.sendall(b"GET /die HTTP/1.0\r\nHost: guestbook.example\r\n\r\n")
            complaint = process.communicate(timeout=60)[1]

    assert process.returncode == 1
    assert "error: The environment failed: Site 'guestbook' of world w1 ended" in complaint
    assert "Traceback" not in complaint
