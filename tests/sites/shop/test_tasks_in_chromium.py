"""Tasks in a real browser on real clones: their reference scores 1, their near miss 0.

One instance of every template, another each week, so that in five weeks all have run; ``make test-full`` runs them all.
"""

from __future__ import annotations

import asyncio
import datetime
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest

from webserv.env import WebEnv
from webserv.env_host import EnvHost
from webserv.server.snapshot import Snapshot
from webserv.sites.shop.tasks import load
from webserv.tasks.task import ScriptFactory, Task
from webserv.types import StepResult

pytestmark = [pytest.mark.shop, pytest.mark.browser, pytest.mark.root, pytest.mark.slow]

ENVS = 4
"""Side by side; two processors are busy with that many."""


INSTANCES = 5


def chosen_instances(setting: str, today: datetime.date) -> list[int]:
    """Numbers of the instances to run: `setting` is a number, ``all``, or empty for that of the week."""
    if setting == "all":
        return list(range(INSTANCES))
    # Whole weeks since year 1, not the week of the year: that would run instance 1 twice around most new years.
    return [int(setting) if setting else today.toordinal() // 7 % INSTANCES]


def test_five_weeks_run_all_instances():
    start = datetime.date(2026, 12, 7)
    weeks = [chosen_instances("", start + datetime.timedelta(weeks=number)) for number in range(INSTANCES)]
    assert sorted(weeks) == [[0], [1], [2], [3], [4]]
    assert chosen_instances("", start) == chosen_instances("", start + datetime.timedelta(days=1))
    assert chosen_instances("3", start) == [3]
    assert chosen_instances("all", start) == [0, 1, 2, 3, 4]


@pytest.fixture
async def host(shop_snapshot: Snapshot) -> AsyncIterator[EnvHost]:
    async with EnvHost(sites=("shop",), max_worlds=ENVS + 1, warm=ENVS) as host:
        yield host


async def run(env: WebEnv, task: Task, make_script: ScriptFactory) -> StepResult:
    """One episode; a script that ends without ``terminate`` gets one."""
    script = make_script(task, await env.reset(task))
    action = next(script)
    while True:
        result = await env.step(action)
        if result.terminated or result.truncated:
            return result
        action = script.send(result.observation)


async def failures(host: EnvHost, episodes: list[tuple[Task, ScriptFactory, float]]) -> list[str]:
    """Runs episodes in several envs and says which did not get the score they should."""
    queue: Iterator[tuple[Task, ScriptFactory, float]] = iter(episodes)
    found: list[str] = []

    async def work() -> None:
        env = host.make_env()
        try:
            for task, make_script, wanted in queue:
                result = await run(env, task, make_script)
                if result.failure is not None or result.reward != wanted:
                    said = result.failure or (result.score and result.score.evidence)
                    found.append(f"{task.id} scored {result.reward} rather than {wanted}: {said}")
        finally:
            await env.close()

    async with asyncio.TaskGroup() as group:
        for _ in range(ENVS):
            group.create_task(work())
    return found


@pytest.mark.timeout(3600)
async def test_references_score_one_and_near_misses_zero(host):
    episodes = []
    numbers = chosen_instances(
        os.environ.get("WEBSERV_TASK_INSTANCE", ""), datetime.datetime.now(datetime.UTC).date()
    )
    for task in load().select([f"*:{number}" for number in numbers]):
        assert task.reference is not None
        assert task.near_miss is not None
        episodes += [(task, task.reference, 1.0), (task, task.near_miss, 0.0)]
    assert await failures(host, episodes) == []


async def test_terminating_at_once_and_running_out_of_budget_score_zero(host):
    def give_up(task, obs):
        yield "terminate()"

    def dawdle(task, obs):
        while True:
            yield 'scroll("down")'

    tasks = load().select(["find-cheapest-v1:1", "place-order-v1:1", "set-price-v1:1"])
    episodes = [(task, give_up, 0.0) for task in tasks]
    episodes += [(replace(task, max_steps=2), dawdle, 0.0) for task in tasks]
    assert await failures(host, episodes) == []


async def test_damage_beside_the_goal_scores_zero(host):
    """The right note on the right order, but another order is cancelled on the way."""
    benchmark = load()
    note, cancel = benchmark.task("shop/add-note-v1:0"), benchmark.task("shop/set-status-v1:0")

    def both(task, obs):
        script = cancel.reference(cancel, obs)
        action = next(script)
        while not action.startswith("terminate"):
            obs = yield action
            action = script.send(obs)
        yield from note.reference(note, obs)

    assert note.params["order"] != cancel.params["order"]
    assert await failures(host, [(note, note.reference, 1.0), (note, both, 0.0)]) == []
