"""The router against a real listener and a real SOCKS5 client."""

import asyncio
import socket
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webserv.errors import HostRefused
from webserv.server.router import LoopbackTarget, Router


async def _echo_server() -> tuple[asyncio.Server, int]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write(b"<end>")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1]


async def _connect(
    router: Router, host: str, port: int
) -> tuple[int, asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", router.port)
    writer.write(b"\x05\x01\x00")
    assert await reader.readexactly(2) == b"\x05\x00"
    writer.write(b"\x05\x01\x00\x03" + bytes([len(host)]) + host.encode() + struct.pack(">H", port))
    reply = await reader.readexactly(10)
    return reply[1], reader, writer


async def test_leads_a_canonical_origin_to_its_target_and_relays_both_ways():
    server, port = await _echo_server()
    router = Router({("shop.example", 80): LoopbackTarget(port)})
    await router.start()
    code, reader, writer = await _connect(router, "Shop.Example.", 80)
    assert code == 0
    payload = bytes(range(256)) * 20_000
    writer.write(payload)
    writer.write_eof()
    assert await reader.read(-1) == payload + b"<end>"
    writer.close()
    await router.close()
    server.close()


async def test_data_sent_right_behind_the_request_is_not_lost():
    server, port = await _echo_server()
    router = Router({("a.example", 80): LoopbackTarget(port)})
    await router.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", router.port)
    writer.write(b"\x05\x01\x00" + b"\x05\x01\x00\x03\x09a.example\x00\x50" + b"early")
    writer.write_eof()
    answer = await reader.read(-1)
    assert answer[:2] == b"\x05\x00"
    assert answer[12:] == b"early<end>"
    writer.close()
    await router.close()
    server.close()


@pytest.mark.parametrize(("host", "port"), [("evil.example", 80), ("shop.example", 81), ("127.0.0.1", 80)])
async def test_what_is_not_in_the_world_is_refused_and_recorded(host: str, port: int):
    router = Router({("shop.example", 80): LoopbackTarget(1)})
    await router.start()
    code, reader, writer = await _connect(router, host, port)
    assert code == 2
    assert await reader.read(-1) == b""
    assert list(router.blocked) == [f"{host}:{port}"]
    assert router.statistics().refused == 1
    writer.close()
    await router.close()


async def test_a_clone_that_does_not_listen_is_reported_as_unreachable():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        free = unused.getsockname()[1]
    router = Router({("shop.example", 80): LoopbackTarget(free)})
    await router.start()
    code, _, writer = await _connect(router, "shop.example", 80)
    assert code == 4
    assert router.statistics().failed == 1
    assert list(router.blocked) == []
    writer.close()
    await router.close()


async def test_a_port_in_use_is_one_clear_line():
    first = Router({})
    await first.start()
    second = Router({})
    with pytest.raises(
        HostRefused, match=rf"Port {first.port} of 127.0.0.1 cannot be used: Address already in use"
    ):
        await second.start(port=first.port)
    await first.close()


async def test_a_connection_that_both_sides_have_ended_is_let_go():
    server, port = await _echo_server()
    router = Router({("a.example", 80): LoopbackTarget(port)})
    await router.start()
    for _ in range(20):
        code, reader, writer = await _connect(router, "a.example", 80)
        assert code == 0
        writer.write_eof()
        assert await reader.read(-1) == b"<end>"
        writer.close()
        await writer.wait_closed()
    async with asyncio.timeout(5):
        while router.statistics().open_connections:
            await asyncio.sleep(0)
    assert router.statistics().connections == 20
    await router.close()
    server.close()


async def test_closing_twice_drops_connections_and_is_harmless():
    server, port = await _echo_server()
    router = Router({("a.example", 80): LoopbackTarget(port)})
    await router.start()
    code, reader, writer = await _connect(router, "a.example", 80)
    assert code == 0
    await router.close()
    await router.close()
    with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
        await reader.readexactly(1)
    writer.close()
    server.close()


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=700))
def test_any_bytes_leave_the_router_alive_and_reach_nothing(raw: bytes):
    async def scenario() -> None:
        router = Router({("a.example", 80): LoopbackTarget(9)})
        await router.start()
        reader, writer = await asyncio.open_connection("127.0.0.1", router.port)
        writer.write(raw)
        writer.write_eof()
        async with asyncio.timeout(5):
            await reader.read(-1)
            writer.close()
            await writer.wait_closed()
        # It still serves others.
        code, _, other = await _connect(router, "b.example", 80)
        assert code == 2
        other.close()
        await other.wait_closed()
        await router.close()

    asyncio.run(scenario())
