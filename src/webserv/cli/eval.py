"""`webserv eval`: rolls a policy out on a benchmark."""

from __future__ import annotations

import asyncio
import json
import math
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, get_type_hints

import click
from click.core import ParameterSource
from pydantic import TypeAdapter, ValidationError

from webserv.cli.rollouts import (
    STOPPED,
    HostOpener,
    Patience,
    Results,
    Rollouts,
    concluding,
    exit_code_of,
    host_options,
    make_host,
    print_summary,
    terminable,
)
from webserv.errors import UserError
from webserv.rollout.episode import EpisodeOptions
from webserv.rollout.policies.chat_client import without_userinfo
from webserv.rollout.policies.load import close_policies, load_policy
from webserv.rollout.runner import RunOptions, assign
from webserv.rollout.store import RunStore, read_config
from webserv.server.site import StartModeName
from webserv.tasks.benchmark import Benchmark
from webserv.tasks.registry import load_benchmark
from webserv.tasks.task import Task

RESULTS_DEPEND_ON = (
    "benchmark", "policy", "tasks", "limit", "repeat", "seed", "max_steps", "screenshots", "model", "base_url",
    "temperature", "max_tokens", "history", "policy_options",
)  # fmt: skip
"""Options that decide a run's results: they are kept in ``run.json``, and a resume takes them from there."""


@dataclass(frozen=True)
class EvalOptions:
    """Everything that `webserv eval` can be told; see its help."""

    benchmark: str
    policy: str
    workers: int = 4
    out: Path | None = None
    resume: bool = False
    tasks: tuple[str, ...] = ()
    limit: int | None = None
    repeat: int = 1
    seed: int = 0
    engine: str = "auto"
    start_mode: StartModeName | None = None
    screenshots: bool = True
    keep_prompts: bool = True
    max_steps: int | None = None
    retries: int = 1
    episode_timeout: float | None = 3600.0
    model: str | None = None
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    temperature: float | None = None
    max_tokens: int | None = None
    history: int | None = None
    policy_options: dict[str, Any] = field(default_factory=dict)

    @property
    def config(self) -> dict[str, Any]:
        """What decides the results, as plain JSON and without secrets."""
        config = {name: getattr(self, name) for name in RESULTS_DEPEND_ON}
        address = without_userinfo(self.base_url) if self.base_url else None
        return config | {"tasks": list(self.tasks), "base_url": address}


class Finite(click.FloatRange):
    """A number in a range. NaN, which is in every range to click, and infinity are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or the refusal of wrong usage."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is no finite number.", param, ctx)
        return number


@click.command("eval")
@click.option("--benchmark", default="shop", show_default=True, help="See `webserv benchmarks list`.")
@click.option(
    "--policy",
    default="scripted",
    show_default=True,
    help="scripted, near_miss, random, openai, the name of a plug-in, or module:function.",
)
@click.option("--workers", type=click.IntRange(1), default=4, show_default=True, help="Episodes at once.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder of the run; default runs/TIME-BENCHMARK-POLICY."
)
@click.option(
    "--resume", is_flag=True, help="Go on with the run in --out; what has a reward is not run again."
)
@click.option(
    "--tasks", multiple=True, metavar="PATTERN", help="Task, template or tag, * allowed; repeatable."
)
@click.option("--limit", type=click.IntRange(1), help="At most so many tasks, spread over the templates.")
@click.option(
    "--repeat", type=click.IntRange(1), default=1, show_default=True, help="Rollouts per task (group)."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of environment and policy.")
@click.option("--max-steps", type=click.IntRange(1), help="Budget of steps instead of each task's own.")
@click.option(
    "--retries", type=click.IntRange(0), default=1, show_default=True, help="Per failure of the env."
)
@click.option("--episode-timeout", type=Finite(min=0, min_open=True), default=3600.0, show_default=True)
@click.option("--prompts/--no-prompts", "keep_prompts", default=True, show_default=True, help="Keep prompts.")
@host_options
@click.option("--base-url", help="Of an OpenAI-compatible endpoint, like http://127.0.0.1:8000/v1.")
@click.option("--model", help="The endpoint's name of the model.")
@click.option(
    "--api-key-env", default="OPENAI_API_KEY", show_default=True, help="Variable that holds the key."
)
@click.option("--temperature", type=Finite(min=0), help="Default: the endpoint's.")
@click.option("--max-tokens", type=click.IntRange(1), help="Longest completion; default 1024.")
@click.option("--history", type=click.IntRange(0), help="Past steps that a prompt shows; default all.")
@click.option(
    "--policy-option",
    "policy_options",
    multiple=True,
    metavar="NAME=VALUE",
    help="For other policies; repeatable.",
)
@click.pass_context
def command(ctx: click.Context, /, **given: Any) -> int:
    """Roll out a policy on a benchmark; write records, screenshots, a summary and a report.

    The summary goes to stdout, progress to stderr. Episodes that the environment spoils have no reward, are retried,
    and are counted in no mean. Ctrl-C stops cleanly: --resume goes on.
    """
    given["policy_options"] = dict(_pair(text) for text in given["policy_options"])
    options = EvalOptions(**given)
    if options.resume:
        if options.out is None:
            raise click.UsageError("--resume needs --out: which run should go on?")
        options = _resumed(options, ctx)
    return evaluate(options)


def evaluate(options: EvalOptions) -> int:
    """Runs it and returns the exit code: 0 when the run is complete, 130, 143 or 129 when a signal ended it.

    Raises:
        UserError: Something is wrong that the user can mend.
    """
    benchmark = load_benchmark(options.benchmark)
    chosen = _tasks(benchmark, options)
    make_policy = load_policy(options.policy, **_policy_options(options))
    patience = Patience(options.workers)
    root = options.out or _default_out(options)
    opener = RunStore.resume if options.resume else RunStore.create
    with opener(root, options.config) as store:
        rollouts = Rollouts(
            title=f"{benchmark.name} · {options.model or options.policy}",
            assignments=assign(chosen, seed=options.seed, repeat=options.repeat),
            make_policy=make_policy,
            env=patience.env,
            run=RunOptions(workers=options.workers, retries=options.retries),
            episodes=EpisodeOptions(
                deadlines=patience.deadlines(episode_s=options.episode_timeout),
                policy_name=options.policy,
                keep_screenshot=store.blobs.put if options.screenshots else None,
                keep_prompts=options.keep_prompts,
            ),
        )
        return _run(rollouts, store, lambda say: make_host(benchmark.sites, options, say))


def _run(rollouts: Rollouts, store: RunStore, open_host: HostOpener) -> int:
    try:
        with concluding(
            store, planned=len(rollouts.assignments), tell=lambda results: _tell(results, store.root)
        ):
            asyncio.run(_roll_out(rollouts, store, open_host))
    except STOPPED as stop:
        return exit_code_of(stop, hint=f"Go on with: webserv eval --resume --out {store.root}")
    return 0


async def _roll_out(rollouts: Rollouts, store: RunStore, open_host: HostOpener) -> None:
    with terminable():
        try:
            await rollouts.into(store, open_host)
        finally:
            await close_policies(rollouts.make_policy)


def _tell(results: Results, root: Path) -> None:
    if results.summary.total.episodes:
        print_summary(results.summary)
        click.echo(f"records  {root / 'episodes.jsonl.zst'}\nreport   {results.report}")


def _tasks(benchmark: Benchmark, options: EvalOptions) -> list[Task]:
    chosen = benchmark.select(options.tasks, limit=options.limit)
    if options.max_steps is None:
        return list(chosen)
    return [replace(task, max_steps=options.max_steps) for task in chosen]


def _policy_options(options: EvalOptions) -> dict[str, Any]:
    given = {
        name: getattr(options, name) for name in ("model", "base_url", "temperature", "max_tokens", "history")
    }
    if options.policy == "openai":
        given["api_key_env"] = options.api_key_env
    return given | options.policy_options


def _resumed(options: EvalOptions, ctx: click.Context) -> EvalOptions:
    """What decides the results is taken from the run, unless the command line says otherwise (and is then refused)."""
    assert options.out is not None
    stored = read_config(options.out)
    return replace(
        options,
        **{
            name: _stored_value(options.out, name, stored[name], ctx)
            for name in RESULTS_DEPEND_ON
            if name in stored and ctx.get_parameter_source(name) is ParameterSource.DEFAULT
        },
    )


def _stored_value(root: Path, name: str, value: Any, ctx: click.Context) -> Any:
    """An option from ``run.json``, which people and other versions may have written too."""
    option = next(option for option in ctx.command.params if option.name == name)
    try:
        known = TypeAdapter(get_type_hints(EvalOptions)[name]).validate_json(json.dumps(value), strict=True)
        # The command line's own limits, such as at least one task.
        return known if known is None or option.multiple else option.type.convert(known, option, ctx)
    except (ValidationError, click.BadParameter) as error:
        said = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error.message.rstrip(".")
        raise UserError(
            f"'{root / 'run.json'}' has {name} = {json.dumps(value)}: {said}.",
            hint="Mend it, or name another --out.",
        ) from error


def _pair(text: str) -> tuple[str, Any]:
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        raise UserError(f"'{text}' is no option of a policy.", hint="Write --policy-option NAME=VALUE.")
    try:
        return name.strip().replace("-", "_"), json.loads(value)
    except ValueError:
        return name.strip().replace("-", "_"), value


def _default_out(options: EvalOptions) -> Path:
    policy = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in options.policy)
    return Path("runs") / f"{datetime.now().astimezone():%Y%m%d-%H%M%S}-{options.benchmark}-{policy}"
