import pytest

from webserv.errors import EvaluatorFailed, WorldFailed
from webserv.tasks.judge import judge
from webserv.types import Score


class Says:
    def __init__(self, outcome):
        self.outcome = outcome

    async def evaluate(self, state):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return Score(self.outcome, (f"said {self.outcome}",))


async def test_the_score_is_the_product_and_keeps_all_evidence(end_state):
    assert (await judge([Says(1.0), Says(0.5)], end_state())).value == 0.5
    score = await judge([Says(0.0), Says(1.0)], end_state())
    assert score == Score(0.0, ("said 0.0", "said 1.0"))


async def test_an_evaluators_own_bug_is_a_failure(end_state):
    with pytest.raises(EvaluatorFailed, match="Says raised KeyError: 'x'"):
        await judge([Says(0.0), Says(KeyError("x"))], end_state())


@pytest.mark.parametrize("checks", [[], [Says(1.5)], [Says(-1.0)]])
async def test_no_checks_and_impossible_values_are_failures(end_state, checks):
    with pytest.raises(EvaluatorFailed):
        await judge(checks, end_state())


async def test_failures_of_the_environment_pass_through(end_state):
    with pytest.raises(WorldFailed):
        await judge([Says(WorldFailed("gone"))], end_state())
