"""Whole rollouts on real copies of the shop in a real Chromium: one killed in mid-episode, one driven over HTTP."""

import pytest

from webserv.browser.options import BrowserOptions
from webserv.env_host import EnvHost
from webserv.rollout.episode import EpisodeOptions
from webserv.rollout.policies.openai import make_openai
from webserv.rollout.policies.scripted import make_scripted
from webserv.rollout.runner import RunOptions, assign, run_many
from webserv.rollout.store import RunStore, read_digests, read_record
from webserv.tasks.registry import load_benchmark
from webserv.testing.chat_server import ChatServer, completion
from webserv.types import ActionErrorKind, FailureKind
from webserv.viewer.report import write_report

pytestmark = [pytest.mark.browser, pytest.mark.shop, pytest.mark.slow]


@pytest.fixture
async def host(shop_snapshot):
    async with EnvHost(sites=("shop",), max_worlds=4, browser=BrowserOptions(screenshots=True)) as host:
        yield host


async def test_a_copy_that_dies_is_retried_in_a_fresh_one_and_the_others_never_notice(host, tmp_path):
    envs = []

    def make_env():
        envs.append(host.make_env())
        return envs[-1]

    async def kill_first(killed=[]):  # noqa: B006 - once for the whole run
        if not killed and envs[0].world is not None:
            killed.append(envs[0].world.id)
            await envs[0].world.sites["shop"].process.kill()

    class Killing:
        """The reference solution; the first episode's copy is killed before its second action."""

        def __init__(self, policy):
            self.policy, self.steps = policy, 0

        async def act(self, observation):
            self.steps += 1
            if self.steps == 2:
                await kill_first()
            return await self.policy.act(observation)

        async def close(self):
            await self.policy.close()

    scripted = make_scripted()
    assignments = assign(load_benchmark("shop").select(limit=3))
    with RunStore.create(tmp_path / "run", {"benchmark": "shop", "policy": "scripted"}) as store:
        async for record in run_many(
            assignments,
            make_env=make_env,
            make_policy=lambda task, *, seed: Killing(scripted(task, seed=seed)),
            options=RunOptions(workers=2),
            episode_options=EpisodeOptions(policy_name="scripted", keep_screenshot=store.blobs.put),
        ):
            store.add(record)
    digests = read_digests(tmp_path / "run")
    assert [digest.reward for digest in digests.values()] == [1.0, 1.0, 1.0]
    [spoiled] = [digest for digest in digests.values() if digest.attempts]
    assert spoiled.attempts[0].failure.kind is FailureKind.ENV
    assert spoiled.attempts[0].world != spoiled.world
    record = read_record(tmp_path / "run", spoiled.offset)
    assert record.first.screenshot is not None
    assert (tmp_path / "run/blobs" / record.first.screenshot[:2] / record.first.screenshot).exists()
    assert {"reset", "act", "settle", "observe", "screenshot", "evaluate"} <= set(record.timings)
    assert write_report(tmp_path / "run").exists()
    assert host.pool.statistics().in_use == 0


async def test_a_model_behind_an_endpoint_acts_on_what_the_page_shows(host):
    task = load_benchmark("shop").select(limit=1)[0]
    answers = [
        "Let me look around.",
        'I go on.\n```\nclick("no_such_thing")\n```',
        "```\ngoto('http://shop.example/catalogue/')\n```",
        'Action: terminate("no idea")',
    ]
    with ChatServer([completion(answer) for answer in answers]) as server:
        factory = make_openai(model="m", base_url=server.base_url)
        stream = run_many(assign([task]), make_env=host.make_env, make_policy=factory)
        [record] = [record async for record in stream]
        await factory.close()
    kinds = [step.observation.error.kind if step.observation.error else None for step in record.steps]
    assert kinds == [ActionErrorKind.MALFORMED, ActionErrorKind.UNKNOWN_ID, None, None]
    assert (record.reward, record.answer) == (0.0, "no idea")
    prompts = [request["messages"][0]["content"] for request in server.requests]
    assert record.steps[1].observation.error.message in prompts[2]
    assert "URL: http://shop.example/catalogue/" in prompts[3]
