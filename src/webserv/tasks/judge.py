"""`judge`: one score from all evaluators of a task."""

from __future__ import annotations

from collections.abc import Iterable

from webserv.errors import EnvFailure, EvaluatorFailed
from webserv.tasks.evaluator import EndState, Evaluator
from webserv.types import Score


async def judge(evaluators: Iterable[Evaluator], state: EndState) -> Score:
    """Returns the product of the evaluators' scores, with the evidence of all of them.

    Every evaluator is asked even when one has already said 0, so that the evidence is complete.

    Raises:
        EvaluatorFailed: An evaluator raised or gave a value outside 0 to 1, or there is none.
        EnvFailure: What an evaluator needed (clone, browser) has failed.
    """
    value = 1.0
    evidence: list[str] = []
    checks = tuple(evaluators)
    if not checks:
        raise EvaluatorFailed("The task has no evaluator.")
    for check in checks:
        try:
            score = await check.evaluate(state)
        except EnvFailure:
            raise
        except Exception as exc:  # a broken check must not look like a score of 0
            raise EvaluatorFailed(f"{type(check).__name__} raised {type(exc).__name__}: {exc}") from exc
        if not 0.0 <= score.value <= 1.0:
            raise EvaluatorFailed(f"{type(check).__name__} gave {score.value}, which is not within 0 to 1.")
        value *= score.value
        evidence.extend(score.evidence)
    return Score(value, tuple(evidence))
