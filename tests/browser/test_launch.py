"""What Chromium's flags keep inside of the world, and what a failed launch changes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Error as PlaywrightError

from webserv.browser.executable import find_executable
from webserv.browser.fleet import BrowserFleet
from webserv.browser.launch import host_of, launch_flags
from webserv.browser.options import BrowserOptions
from webserv.browser.session import BrowserSession
from webserv.errors import BrowserFailed
from webserv.testing.page_server import PageServer

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

CALL_HOME = """
<script>
const pc = new RTCPeerConnection({iceServers: [
  {urls: "stun:127.0.0.1:PORT"},
  {urls: "turn:127.0.0.1:PORT?transport=udp", username: "u", credential: "c"},
]});
pc.createDataChannel("x");
pc.onicecandidate = event => { if (!event.candidate) document.title += " webrtc" };
pc.createOffer().then(offer => pc.setLocalDescription(offer));
new WebTransport("https://127.0.0.1:PORT/").ready.catch(() => { document.title += " webtransport" });
</script>
"""


class Udp(asyncio.DatagramProtocol):
    """Keeps what it gets."""

    def __init__(self) -> None:
        self.received: list[bytes] = []

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.received.append(data)


@contextlib.asynccontextmanager
async def socks_proxy(pages: PageServer, asked: list[str]) -> AsyncIterator[str]:
    """A SOCKS5 proxy (RFC 1928) that takes every name to `pages` and writes down the names."""

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while chunk := await reader.read(65536):
                writer.write(chunk)
                await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly((await reader.readexactly(2))[1])
        writer.write(b"\x05\x00")
        kind = (await reader.readexactly(4))[3]
        length = 4 if kind == 1 else (await reader.readexactly(1))[0]
        name = await reader.readexactly(length)
        asked.append(name.decode() if kind == 3 else socket.inet_ntoa(name))
        await reader.readexactly(2)
        back, out = await asyncio.open_connection("127.0.0.1", int(pages.url("").rpartition(":")[2]))
        writer.write(b"\x05\x00\x00\x01" + bytes(6))
        await asyncio.gather(pump(reader, out), pump(back, writer))

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"socks5://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def wait_for_title(session: BrowserSession, *words: str) -> None:
    async with asyncio.timeout(30):
        while not set(words) <= set((await session.observe()).title.split()):
            await asyncio.sleep(0.05)


async def test_no_datagram_goes_past_the_proxy(fleet: BrowserFleet, pages: PageServer) -> None:
    transport, udp = await asyncio.get_running_loop().create_datagram_endpoint(
        Udp, local_addr=("127.0.0.1", 0)
    )
    port = transport.get_extra_info("sockname")[1]
    pages.pages["/"] = CALL_HOME.replace("PORT", str(port))
    asked: list[str] = []
    async with socks_proxy(pages, asked) as proxy_url:
        session = await fleet.open_session(proxy_url=proxy_url)
        # A secure context, else there is no WebTransport.
        await session.start(["http://localhost/"])
        await wait_for_title(session, "webrtc", "webtransport")
        await session.close()
    transport.close()
    assert asked[0] == "localhost"
    assert udp.received == []


async def test_behind_a_proxy_names_are_resolved_there_only(fleet: BrowserFleet, pages: PageServer) -> None:
    pages.pages["/"] = "<title>World</title>"
    asked: list[str] = []
    async with socks_proxy(pages, asked) as proxy_url:
        session = await fleet.open_session(proxy_url=proxy_url)
        assert (await session.start(["http://shop.example/"])).title == "World"
        assert asked[0] == "shop.example"
        # What needs the host's resolver, past the proxy, in the same browser process.
        browser = session._context.browser
        assert browser is not None
        past_the_proxy = await browser.new_context()
        page = await past_the_proxy.new_page()
        with pytest.raises(PlaywrightError, match="ERR_NAME_NOT_RESOLVED"):
            await page.goto(pages.url("/", host="localhost"))
        await past_the_proxy.close()
        await session.close()


async def test_only_the_host_of_the_proxy_is_left_to_the_resolver() -> None:
    assert host_of("socks5://127.0.0.1:4000") == "127.0.0.1"
    assert "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1" in launch_flags("127.0.0.1")
    assert not any("host-resolver" in flag for flag in launch_flags(host_of(None)))


def make_chromium(folder: Path, script: str) -> str:
    """A stand-in for Chromium that notes whether it was started with its sandbox, and then does what `script` says."""
    path = folder / "chromium"
    path.write_text(
        f"""#!/bin/sh
        case " $* " in *" --no-sandbox "*) mode=without;; *) mode=with;; esac
        echo $mode >> '{folder}/started'
        {script}
        """
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


async def open_with(executable: str) -> None:
    async with BrowserFleet(BrowserOptions(executable=executable)) as fleet:
        fleet._sandbox = True  # as for a user who is not root
        session = await fleet.open_session()
        await session.start([])


async def test_a_launch_that_fails_is_tried_again_with_the_sandbox(tmp_path: Path) -> None:
    chromium = make_chromium(tmp_path, "echo 'error while loading shared libraries' >&2; exit 127")
    with pytest.raises(BrowserFailed, match="could not be started"):
        await open_with(chromium)
    assert (tmp_path / "started").read_text().split() == ["with", "with"]


async def test_a_host_that_refuses_the_sandbox_gets_browsers_without_it_and_a_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    real = find_executable()
    chromium = make_chromium(
        tmp_path, f"[ $mode = without ] && exec '{real}' \"$@\"; echo 'FATAL: No usable sandbox!' >&2; exit 1"
    )
    with caplog.at_level(logging.WARNING, "webserv"):
        await open_with(chromium)
    assert (tmp_path / "started").read_text().split() == ["with", "without"]
    assert [record.getMessage() for record in caplog.records if record.name.startswith("webserv")] == [
        "Chromium's own sandbox does not work on this host; browsers run without it."
    ]


async def test_a_failed_launch_ends_no_other_session(tmp_path: Path, pages: PageServer) -> None:
    pages.pages["/"] = "<title>Alive</title>"
    once = f"[ $(wc -l < '{tmp_path}/started') = 2 ] && exit 1; exec '{find_executable()}' \"$@\""
    options = BrowserOptions(executable=make_chromium(tmp_path, once), contexts_per_browser=1)
    async with BrowserFleet(options) as fleet:
        first = await fleet.open_session()
        await first.start([pages.url("/")])
        second = await fleet.open_session()
        await second.start([])
        assert (await first.step("refresh()")).title == "Alive"
        assert fleet.statistics().browsers == 2
