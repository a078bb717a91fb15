"""Worlds of the real shop in real Chromium: what happens in one stays there, and one episode repeats byte for byte."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from webserv.env import WebEnv
from webserv.env_host import EnvHost
from webserv.server.snapshot import Snapshot
from webserv.sites.shop.tasks import load
from webserv.tasks.task import Task

pytestmark = [pytest.mark.shop, pytest.mark.browser, pytest.mark.slow]

ORDERS = "http://shop.example/accounts/orders/"
COUNT = "SELECT count(*) FROM order_order"


@pytest.fixture(params=[pytest.param("native", marks=pytest.mark.root), "process"])
async def host(request: pytest.FixtureRequest, shop_snapshot: Snapshot) -> AsyncIterator[EnvHost]:
    async with EnvHost(sites=("shop",), engine=request.param, max_worlds=3, warm=1) as host:
        yield host


@pytest.fixture
def order_task(shop_snapshot: Snapshot) -> Task:
    return load().task("shop/place-order-v1:0")


async def _play(env: WebEnv, task: Task) -> tuple[list[str], list[str]]:
    """Runs the reference solution; returns its actions and every observation's text."""
    observation = await env.reset(task)
    assert task.reference is not None
    script = task.reference(task, observation)
    actions, texts = [next(script)], [observation.text]
    while True:
        result = await env.step(actions[-1])
        texts.append(result.observation.text)
        if result.terminated or result.truncated:
            assert result.reward == 1.0, result
            return actions, texts
        actions.append(script.send(result.observation))


async def test_an_order_placed_in_one_world_is_absent_from_another(host, order_task):
    async with host.make_env() as buyer, host.make_env() as bystander:
        await bystander.reset(order_task)
        await bystander.step(f'goto("{ORDERS}")')
        before = await bystander.session.page_text()
        (orders,) = (await bystander.world.sites["shop"].query(COUNT))[0]
        await _play(buyer, order_task)
        assert await buyer.world.sites["shop"].query(COUNT) == [(orders + 1,)]
        assert await bystander.world.sites["shop"].query(COUNT) == [(orders,)]
        await bystander.step("refresh()")
        after = await bystander.session.page_text()
        assert after == before
        (number,) = (
            await buyer.world.sites["shop"].query("SELECT number FROM order_order ORDER BY id DESC LIMIT 1")
        )[0]
        assert number not in after
        assert number in await buyer.session.visit(ORDERS)


async def test_a_fresh_world_equals_its_snapshot_after_another_was_written_to(
    host, order_task, shop_snapshot
):
    async with host.make_env() as env:
        await _play(env, order_task)
        assert await env.world.sites["shop"].digest() != shop_snapshot.digest
        world = await host.pool.acquire(("shop",))
        assert await world.sites["shop"].digest() == shop_snapshot.digest
        await host.pool.release(world)


async def test_the_same_actions_give_the_same_observations_byte_for_byte(host, order_task):
    async with host.make_env() as env, host.make_env() as other:
        first = await _play(env, order_task)
        assert await _play(env, order_task) == first
        assert await _play(other, order_task) == first
