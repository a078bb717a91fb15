"""The guestbook: GET lists entries, POST adds one. A few more paths misbehave on purpose, for fault injection."""

import html
import os
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import parse_qs

_data = os.environ["SITE_DATA"]


def application(environ, start_response):
    path = environ["PATH_INFO"]
    status, body, kind = "200 OK", "", "text/html; charset=utf-8"
    headers = []
    if path == "/" and environ["REQUEST_METHOD"] == "POST":
        form = parse_qs(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)).decode())
        with closing(_open()) as connection, connection:
            connection.execute("INSERT INTO entry (text) VALUES (?)", (form.get("text", [""])[0],))
        status, headers = "303 See Other", [("Location", "/")]
    elif path == "/":
        body = _page(environ.get("HTTP_COOKIE", ""))
    elif path == "/die":
        os._exit(3)
    elif path == "/where":
        body = "\n".join([str(os.getpid()), str(os.getuid()), os.uname().nodename, *sorted(os.listdir("/"))])
        kind = "text/plain"
    elif path == "/eat":
        hoard = []
        while True:
            hoard.append(bytearray(os.urandom(1 << 20)) * 8)
    elif path == "/sleep":
        time.sleep(3600)
    elif path == "/forks":
        body, kind = str(_fork_until_refused()), "text/plain"
    elif path == "/reach":
        body, kind = _reach(environ["QUERY_STRING"]), "text/plain"
    elif path == "/pty":
        body, kind = os.ttyname(os.openpty()[1]), "text/plain"
    elif path == "/list":
        body, kind = "\n".join(os.listdir(environ["QUERY_STRING"])), "text/plain"
    elif path == "/fds":
        body, kind = "\n".join(_descriptors()), "text/plain"
    elif path == "/say":
        print(environ["QUERY_STRING"], file=sys.stderr, flush=True)
    elif path == "/read":
        body, kind = _read(environ["QUERY_STRING"]), "text/plain"
    else:
        status, body = "404 Not Found", "no such page"
    start_response(status, [("Content-Type", kind), *headers])
    return [body.encode()]


def _page(cookie):
    with closing(_open()) as connection:
        rows = connection.execute("SELECT text FROM entry ORDER BY id").fetchall()
    entries = "".join(f"<li>{html.escape(text)}</li>" for (text,) in rows)
    who = "guest" if "who=guest" in cookie else "nobody"
    return (
        f"<!doctype html><title>Guestbook</title><h1>Guestbook</h1><p>Signed in as {who}</p><ul>{entries}</ul>"
        '<form method="post"><label>Entry <input name="text"></label><button>Sign</button></form>'
    )


def _open():
    connection = sqlite3.connect(Path(_data, "guestbook.sqlite3"), timeout=10)
    connection.execute("PRAGMA synchronous=OFF")
    return connection


def _descriptors():
    for number in os.listdir("/proc/self/fd"):
        try:
            yield os.readlink(f"/proc/self/fd/{number}")
        except FileNotFoundError:
            pass  # the one that listed the folder


def _fork_until_refused():
    count = 0
    while count < 1000:
        try:
            if os.fork() == 0:
                time.sleep(3600)
        except OSError:
            return count
        count += 1
    return count


def _reach(address):
    import socket

    host, _, port = address.partition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=2):
            return "reached"
    except OSError as exc:
        return f"refused: {exc}"


def _read(path):
    try:
        return Path(path).read_text(errors="replace")[:1000]
    except OSError as exc:
        return f"refused: {exc}"


def load():
    return application


def warm(app):
    body = app({"PATH_INFO": "/404", "REQUEST_METHOD": "GET"}, lambda status, headers: None)
    assert body


def freeze():
    pass


def adopt(data_dir):
    global _data
    _data = data_dir


if __name__ == "__main__":
    import waitress

    waitress.serve(application, host=sys.argv[1], port=int(sys.argv[2]), threads=2)
