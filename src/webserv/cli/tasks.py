"""`webserv benchmarks` and `webserv tasks`: what there is to do."""

from __future__ import annotations

import json
from typing import Any

import click

from webserv.errors import NotBuilt, UnknownName
from webserv.tasks.registry import list_benchmarks, load_benchmark, load_task
from webserv.tasks.task import Task


@click.group()
def benchmarks() -> None:
    """Sets of tasks."""


@benchmarks.command("list")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON list.")
def list_command(as_json: bool) -> None:
    """List the benchmarks with their numbers of templates and tasks."""
    records = [_describe(name) for name in list_benchmarks()]
    if as_json:
        click.echo(json.dumps(records, indent=2))
        return
    for record in records:
        count = (
            f"{record['templates']} templates, {record['tasks']} tasks"
            if "tasks" in record
            else record["lack"]
        )
        click.echo(f"{record['name']:<16}{count:<32}{record.get('description', '')}".rstrip())


@click.group()
def tasks() -> None:
    """Single tasks of a benchmark."""


@tasks.command("list")
@click.option("--benchmark", "name", default="shop", show_default=True, help="Which benchmark.")
@click.option(
    "--tasks",
    "patterns",
    multiple=True,
    help="Only those that match: task or template id, or tag. Repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON list.")
def list_tasks(name: str, patterns: tuple[str, ...], as_json: bool) -> None:
    """List tasks with their intents."""
    chosen = load_benchmark(name).select(patterns)
    if as_json:
        click.echo(json.dumps([_record(task) for task in chosen], indent=2, default=str))
        return
    width = max((len(task.id) for task in chosen), default=0) + 2
    for task in chosen:
        click.echo(f"{task.id:<{width}}{task.intent}")


@tasks.command()
@click.argument("task_id")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
def show(task_id: str, as_json: bool) -> None:
    """Show one task: its intent, start, budget and checks."""
    task = load_task(task_id)
    if as_json:
        click.echo(
            json.dumps(
                _record(task) | {"checks": [repr(check) for check in task.evaluators]}, indent=2, default=str
            )
        )
        return
    login = ", ".join(f"{site}: {who}" for site, who in task.login.items()) or "none"
    click.echo(f"{task.id}\n\n{task.intent}\n")
    click.echo(f"starts at   {' '.join(task.start_urls)}")
    click.echo(f"login       {login}")
    click.echo(f"budget      {task.max_steps} actions")
    click.echo(f"tags        {', '.join(task.tags)}")
    click.echo("checks")
    for check in task.evaluators:
        text = repr(check)
        click.echo(f"  {text if len(text) <= 300 else text[:299] + '…'}")


def _describe(name: str) -> dict[str, Any]:
    try:
        benchmark = load_benchmark(name)
    except NotBuilt:
        return {"name": name, "lack": "not built (webserv setup)"}
    except UnknownName:
        return {"name": name, "lack": "cannot be loaded"}
    return {
        "name": name,
        "description": benchmark.description,
        "sites": list(benchmark.sites),
        "templates": len(benchmark.templates),
        "tasks": len(benchmark.tasks),
    }


def _record(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "template": task.template,
        "intent": task.intent,
        "sites": list(task.sites),
        "start_urls": list(task.start_urls),
        "login": dict(task.login),
        "max_steps": task.max_steps,
        "tags": list(task.tags),
        "params": dict(task.params),
    }
