import json

import pytest
from click.testing import CliRunner

from webserv.cli import tasks as commands
from webserv.errors import NotBuilt, UnknownName
from webserv.tasks.benchmark import Benchmark
from webserv.tasks.evaluators.answer import AnswerIs
from webserv.tasks.task import Task

TASK = Task(
    id="toy/say-v1:0",
    benchmark="toy",
    intent="Say hello",
    sites=("toy",),
    start_urls=("http://toy.example/",),
    evaluators=(AnswerIs(("hello",)),),
    login={"toy": "guest"},
    max_steps=5,
    template="toy/say-v1",
    params={"word": "hello"},
    tags=("read",),
)
TOY = Benchmark("toy", "A toy", ("toy",), (TASK,))


@pytest.fixture
def run(monkeypatch):
    def load(name):
        if name == "shop":
            raise NotBuilt("Site 'shop' is not built on this host.", hint="Run 'webserv setup'.")
        if name != "toy":
            raise UnknownName("benchmark", name, ["shop", "toy"])
        return TOY

    monkeypatch.setattr(commands, "list_benchmarks", lambda: ["shop", "toy"])
    monkeypatch.setattr(commands, "load_benchmark", load)
    monkeypatch.setattr(commands, "load_task", lambda task_id: load(task_id.partition("/")[0]).task(task_id))
    return lambda group, *args: CliRunner().invoke(group, args, catch_exceptions=False)


def test_benchmarks_are_listed_with_what_they_hold_or_lack(run):
    lines = run(commands.benchmarks, "list").output.splitlines()
    assert lines[0].split() == ["shop", "not", "built", "(webserv", "setup)"]
    assert lines[1].split() == ["toy", "1", "templates,", "1", "tasks", "A", "toy"]
    records = json.loads(run(commands.benchmarks, "list", "--json").output)
    assert records[1]["tasks"] == 1


def test_tasks_are_listed_with_their_intents(run):
    assert run(commands.tasks, "list", "--benchmark", "toy").output == "toy/say-v1:0  Say hello\n"
    (record,) = json.loads(run(commands.tasks, "list", "--benchmark", "toy", "--json").output)
    assert record["params"] == {"word": "hello"}


def test_a_task_is_shown_with_its_checks(run):
    output = run(commands.tasks, "show", "toy/say-v1:0").output
    assert "Say hello" in output
    assert "toy: guest" in output
    assert "AnswerIs(accepted=('hello',))" in output
    record = json.loads(run(commands.tasks, "show", "toy/say-v1:0", "--json").output)
    assert record["checks"] == ["AnswerIs(accepted=('hello',))"]


def test_unknown_names_are_errors_with_the_known_ones(run):
    with pytest.raises(UnknownName, match="Known: shop, toy"):
        run(commands.tasks, "list", "--benchmark", "tyo")
    with pytest.raises(UnknownName, match="toy/say-v1:0"):
        run(commands.tasks, "show", "toy/say-v1:9")
    with pytest.raises(UnknownName, match="task 'nothing'"):
        run(commands.tasks, "list", "--benchmark", "toy", "--tasks", "nothing")
