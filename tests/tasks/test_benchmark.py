import pytest

from webserv.errors import UnknownName
from webserv.tasks.benchmark import Benchmark
from webserv.tasks.task import Task


def make_task(template, number, *tags):
    return Task(
        id=f"toy/{template}-v1:{number}",
        benchmark="toy",
        intent=f"{template} {number}",
        sites=("toy",),
        start_urls=("http://toy.example/",),
        evaluators=(),
        template=f"toy/{template}-v1",
        tags=tags,
    )


@pytest.fixture
def toy():
    tasks = [make_task("find", n, "read") for n in range(3)] + [
        make_task("buy", n, "create") for n in range(3)
    ]
    return Benchmark("toy", "A toy", ("toy",), tuple(tasks))


def ids(tasks):
    return [task.id.removeprefix("toy/") for task in tasks]


def test_a_task_is_found_by_id_and_an_unknown_one_names_the_nearest(toy):
    assert toy.task("toy/buy-v1:1").intent == "buy 1"
    with pytest.raises(UnknownName, match="Did you mean 'toy/buy-v1:1'"):
        toy.task("toy/bui-v1:1")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("toy/find-v1:2", ["find-v1:2"]),
        ("find-v1:2", ["find-v1:2"]),
        ("buy", ["buy-v1:0", "buy-v1:1", "buy-v1:2"]),
        ("buy-v1", ["buy-v1:0", "buy-v1:1", "buy-v1:2"]),
        ("toy/buy-*", ["buy-v1:0", "buy-v1:1", "buy-v1:2"]),
        ("*:0", ["find-v1:0", "buy-v1:0"]),
        ("read", ["find-v1:0", "find-v1:1", "find-v1:2"]),
    ],
)
def test_patterns_match_ids_templates_and_tags(toy, pattern, expected):
    assert ids(toy.select([pattern])) == expected


def test_a_pattern_without_a_match_is_an_error(toy):
    with pytest.raises(UnknownName, match="task 'sell'"):
        toy.select(["buy", "sell"])


def test_what_could_have_been_meant_is_named_once_and_templates_first(toy):
    with pytest.raises(UnknownName) as caught:
        toy.select(["zzz"])
    names = caught.value.known
    assert len(set(names)) == len(names)
    templates = [template.partition("/")[2] for template in toy.templates]
    assert list(names[: len(templates)]) == templates
    assert set(names) == {*templates, *(tag for task in toy.tasks for tag in task.tags)}
    with pytest.raises(UnknownName, match=f"Did you mean '{templates[0]}'"):
        toy.select([templates[0].replace("v", "w")])


def test_a_limit_spreads_over_templates(toy):
    assert ids(toy.select(limit=2)) == ["find-v1:0", "buy-v1:0"]
    assert ids(toy.select(limit=3)) == ["find-v1:0", "buy-v1:0", "find-v1:1"]
    assert toy.select(limit=100) == toy.tasks
    assert toy.select(limit=0) == ()


def test_a_seed_shuffles_repeatably(toy):
    assert toy.select(seed=1) == toy.select(seed=1)
    assert sorted(ids(toy.select(seed=1))) == sorted(ids(toy.tasks))
    assert len({tuple(ids(toy.select(seed=seed))) for seed in range(5)}) > 1
    assert {task.template for task in toy.select(seed=3, limit=2)} == set(toy.templates)
