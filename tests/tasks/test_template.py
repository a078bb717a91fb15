import pytest

from webserv.errors import InvalidTask
from webserv.tasks.evaluators.answer import AnswerIs
from webserv.tasks.scripting import finish
from webserv.tasks.template import Draft, Template


def drafts(source, rng):
    order = list(source)
    rng.shuffle(order)
    for name in order:
        yield Draft(
            f"Say {name}", (AnswerIs((name,)),), lambda task, obs: finish("x"), lambda task, obs: finish()
        )


def template(instances=3):
    return Template(
        "toy/say-v1", drafts, ("toy",), ("http://toy.example/",), tags=("read",), instances=instances
    )


def test_instances_are_numbered_distinct_and_repeatable():
    source = ["a", "b", "b", "c", "d"]
    tasks = template().tasks(source)
    assert [task.id for task in tasks] == ["toy/say-v1:0", "toy/say-v1:1", "toy/say-v1:2"]
    assert len({task.intent for task in tasks}) == 3
    assert [task.intent for task in template().tasks(source)] == [task.intent for task in tasks]
    assert tasks[0].template == "toy/say-v1"
    assert tasks[0].benchmark == "toy"


def test_too_little_material_is_an_error_that_names_the_template():
    with pytest.raises(InvalidTask, match="'toy/say-v1' finds material for 2 of its 3 instances"):
        template().tasks(["a", "b", "b"])
