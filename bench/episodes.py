"""Episodes of the shop: reset and step with one worker, and a crowd of workers on as many worlds.

Scenarios:

- ``reset``: pool warm; a fresh world, logged in, first observation
- ``step``: each action of the reference solutions, page settled and observed; terminate (which evaluates) is apart
- ``fixed wait``: what each step would cost with the 500 ms blind wait of BrowserGym 0.14 in place of settling
- ``crowd``: 32 workers solve 32 tasks at once, wall time after set-up

Repeat with: ``.venv/bin/python bench/episodes.py [--quick] [--json FILE]``
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Sequence

from measure import Row, median, parse_arguments, percentile, report
from webserv.env import WebEnv
from webserv.env_host import EnvHost
from webserv.tasks.registry import load_benchmark
from webserv.tasks.task import Task

FIXED_WAIT_MS = 500.0
"""``pre_observation_delay`` of BrowserGym 0.14."""


async def solve(env: WebEnv, task: Task, times: dict[str, list[float]]) -> float | None:
    """Runs a reference solution; adds milliseconds by part."""
    began = time.perf_counter()
    observation = await env.reset(task)
    times["reset"].append((time.perf_counter() - began) * 1e3)
    assert task.reference is not None
    script = task.reference(task, observation)
    action = next(script)
    while True:
        began = time.perf_counter()
        result = await env.step(action)
        took = (time.perf_counter() - began) * 1e3
        if result.terminated or result.truncated:
            times["terminate"].append(took)
            return result.reward
        times["step"].append(took)
        for part, seconds in result.observation.timings.items():
            times[part].append(seconds * 1e3)
        try:
            action = script.send(result.observation)
        except StopIteration:
            action = "terminate()"


async def one_worker(tasks: Sequence[Task]) -> tuple[dict[str, list[float]], list[float | None]]:
    """One env solves the tasks one after another."""
    times: dict[str, list[float]] = defaultdict(list)
    async with EnvHost(sites=("shop",), max_worlds=4, warm=2) as host:
        env = host.make_env()
        await host.pool.warm(("shop",))
        await solve(env, tasks[0], defaultdict(list))  # the browser's first page is not counted
        rewards = [await solve(env, task, times) for task in tasks]
        await env.close()
    return times, rewards


async def crowd(tasks: Sequence[Task]) -> tuple[float, int, list[float | None]]:
    """As many envs as tasks, all at once; seconds after set-up, most worlds that stood at once, rewards."""
    async with EnvHost(sites=("shop",), max_worlds=len(tasks), warm=len(tasks)) as host:
        await host.pool.warm(("shop",))
        began = time.perf_counter()
        most = 0

        async def run(task: Task) -> float | None:
            nonlocal most
            async with host.make_env() as env:
                reward = await solve(env, task, defaultdict(list))
                most = max(most, host.pool.statistics().in_use)
                return reward

        rewards = await asyncio.gather(*map(run, tasks))
        return time.perf_counter() - began, most, list(rewards)


async def main() -> None:
    """Measures and reports."""
    arguments = parse_arguments(__doc__.splitlines()[0])
    tasks = load_benchmark("shop").tasks
    every = max(1, len(tasks) // (16 if arguments.quick else 96))
    chosen = tasks[::every]
    times, rewards = await one_worker(chosen)
    seconds, most, crowd_rewards = await crowd(tasks[:: len(tasks) // 32][:32])
    parts = ", ".join(
        f"{part} {median(times[part]):.0f}" for part in ("act", "settle", "observe") if times[part]
    )
    step = median(times["step"])
    rows = [
        Row(
            "reset, p50",
            median(times["reset"]),
            "ms",
            600,
            f"p95 {percentile(times['reset'], 0.95):.0f} ms, n={len(times['reset'])}",
        ),
        Row(
            "step, p50",
            step,
            "ms",
            200,
            f"p95 {percentile(times['step'], 0.95):.0f} ms, n={len(times['step'])}; p50 by part: {parts} ms",
        ),
        Row("terminate with evaluation, p50", median(times["terminate"]), "ms"),
        Row(
            "a step with a fixed wait instead",
            step - median(times["settle"]) + FIXED_WAIT_MS,
            "ms",
            None,
            f"{(step - median(times['settle']) + FIXED_WAIT_MS) / step:.1f}× ours, and blind",
        ),
        Row("solved with one worker", 100 * sum(reward == 1.0 for reward in rewards) / len(rewards), "%"),
        Row(
            "32 workers, 32 tasks, wall time",
            seconds,
            "s",
            180,
            f"{most} worlds at once, {sum(reward == 1.0 for reward in crowd_rewards)} solved",
        ),
    ]
    report(
        "Episodes of the shop",
        rows,
        arguments,
        times={part: sorted(values) for part, values in times.items()},
    )


if __name__ == "__main__":
    asyncio.run(main())
