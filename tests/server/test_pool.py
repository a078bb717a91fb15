"""The pool of worlds, on the native engine."""

import asyncio

import pytest

from webserv.errors import UserError
from webserv.server.pool import PoolOptions, WorldPool

pytestmark = pytest.mark.root


async def _until(condition) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


async def test_a_warm_pool_hands_out_prepared_worlds_and_refills(native, guestbook):
    async with WorldPool(native, {"guestbook": guestbook}, options=PoolOptions(max_worlds=4, warm=2)) as pool:
        await pool.warm(["guestbook"])
        first = await pool.acquire(["guestbook"])
        assert pool.statistics().acquired_ready == 1
        await _until(lambda: pool.statistics().ready == 2)
        second = await pool.acquire(["guestbook"])
        assert second is not first
        assert pool.statistics().acquired_ready == 2
        await pool.release(first)
        await pool.release(first)
        await pool.release(second)
    assert native.statistics().worlds_open == 0


async def test_no_more_worlds_than_allowed_and_whoever_waits_is_served(native, guestbook):
    async with WorldPool(native, {"guestbook": guestbook}, options=PoolOptions(max_worlds=3, warm=1)) as pool:
        most = 0

        async def use() -> None:
            nonlocal most
            world = await pool.acquire(["guestbook"])
            most = max(most, native.statistics().worlds_open)
            await asyncio.sleep(0)
            await pool.release(world)

        await asyncio.gather(*(use() for _ in range(20)))
        assert most <= 3
        assert pool.statistics().acquired == 20
        assert pool.statistics().waiting == 0


async def test_a_cancelled_wait_takes_no_place(native, guestbook):
    async with WorldPool(native, {"guestbook": guestbook}, options=PoolOptions(max_worlds=1, warm=0)) as pool:
        held = await pool.acquire(["guestbook"])
        waiting = asyncio.get_running_loop().create_task(pool.acquire(["guestbook"]))
        await _until(lambda: pool.statistics().waiting == 1)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await pool.release(held)
        async with asyncio.timeout(10):
            world = await pool.acquire(["guestbook"])
        await pool.release(world)


async def test_a_world_that_died_while_it_was_ready_is_not_handed_out(native, guestbook):
    async with WorldPool(native, {"guestbook": guestbook}, options=PoolOptions(max_worlds=2, warm=1)) as pool:
        await pool.warm(["guestbook"])
        (ready,) = pool._ready[("guestbook",)]
        await ready.sites["guestbook"].process.kill()
        world = await pool.acquire(["guestbook"])
        assert world is not ready
        world.check_alive()


async def test_a_world_held_too_long_is_taken_back_and_says_so(native, guestbook):
    options = PoolOptions(max_worlds=1, warm=0, lifetime_s=0.05)
    async with WorldPool(native, {"guestbook": guestbook}, options=options) as pool:
        world = await pool.acquire(["guestbook"])
        async with asyncio.timeout(10):
            await world.wait_failed()
        assert "was held for longer than" in str(world.failure)
        assert pool.statistics().expired == 1
        await pool.release(world)


async def test_a_site_that_the_pool_does_not_have_is_refused(native, guestbook):
    async with WorldPool(native, {"guestbook": guestbook}) as pool:
        with pytest.raises(UserError, match="not opened for site 'forum'"):
            await pool.acquire(["forum"])


async def test_a_prepared_world_of_other_sites_makes_room(native, guestbook):
    snapshots = {"guestbook": guestbook}
    async with WorldPool(native, snapshots, options=PoolOptions(max_worlds=1, warm=1)) as pool:
        await pool.warm(["guestbook"])
        async with asyncio.timeout(20):
            world = await pool.acquire([])
        assert dict(world.sites) == {}


async def test_whoever_asks_first_is_served_first(native, guestbook):
    async with WorldPool(native, {"guestbook": guestbook}, options=PoolOptions(max_worlds=1, warm=0)) as pool:
        held = await pool.acquire(["guestbook"])
        served: list[int] = []

        async def use(number: int) -> None:
            world = await pool.acquire(["guestbook"])
            served.append(number)
            await pool.release(world)

        waiting = [asyncio.get_running_loop().create_task(use(number)) for number in range(4)]
        await _until(lambda: pool.statistics().waiting == 4)
        await pool.release(held)
        await asyncio.gather(*waiting)
        assert served == [0, 1, 2, 3]


async def test_a_cancel_at_any_moment_loses_no_world_and_no_place(native, guestbook):
    async with WorldPool(native, {"guestbook": guestbook}, options=PoolOptions(max_worlds=2, warm=0)) as pool:
        for turns in range(40):
            asking = asyncio.get_running_loop().create_task(pool.acquire(["guestbook"]))
            for _ in range(turns):
                await asyncio.sleep(0.0005)  # the moment of the cancel moves through the whole opening
            asking.cancel()
            (got,) = await asyncio.gather(asking, return_exceptions=True)
            if not isinstance(got, BaseException):
                await pool.release(got)
        await _until(lambda: native.statistics().worlds_open == pool.statistics().ready)
        async with asyncio.timeout(20):
            worlds = [await pool.acquire(["guestbook"]) for _ in range(2)]
        for world in worlds:
            await pool.release(world)


async def test_closing_tells_whoever_waits_and_refuses_whoever_comes(native, guestbook):
    pool = WorldPool(native, {"guestbook": guestbook}, options=PoolOptions(max_worlds=1, warm=0))
    await pool.acquire(["guestbook"])
    waiting = asyncio.get_running_loop().create_task(pool.acquire(["guestbook"]))
    await _until(lambda: pool.statistics().waiting == 1)
    await pool.close()
    with pytest.raises(UserError, match="closed"):
        await waiting
    with pytest.raises(UserError, match="closed"):
        await pool.acquire(["guestbook"])
    assert native.statistics().worlds_open == 0
