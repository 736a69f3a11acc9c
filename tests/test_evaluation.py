"""One evaluation of candidates: what is refused, what there is no time for, and what is raised."""

from __future__ import annotations

from time import process_time

import pytest

import reticent as rt
from reticent.data.cells import Cells
from reticent.errors import JobError, PromiseUnreachable, RequestError
from reticent.evaluation import BudgetClock, Candidate, Metric, evaluate, take_cells
from reticent.time_limit import TimeLimitReached

JOB = rt.Job(columns={"age": rt.quasi(), "illness": rt.sensitive()}, promises=[rt.KAnonymity(2)])
LENGTH = Metric("length", lambda candidate, text: len(text))


def make_candidate(label: str, **changes) -> Candidate:
    return Candidate(label, JOB, "mondrian", **changes)


def raise_for(error: Exception):
    def make(candidate: Candidate) -> str:
        raise error

    return make


def work_for_ever(*arguments) -> str:
    while True:
        sum(range(1_000))


def test_each_candidate_is_announced_made_and_measured():
    announced = []
    evaluations = list(
        evaluate(
            [make_candidate("a"), make_candidate("bc")],
            lambda candidate: candidate.label,
            [LENGTH, Metric("twice", lambda candidate, text: 2 * len(text))],
            announce=lambda number, candidate: announced.append((number, candidate.label)),
        )
    )
    assert announced == [(0, "a"), (1, "bc")]
    assert [dict(evaluation.figures) for evaluation in evaluations] == [
        {"length": 1, "twice": 2},
        {"length": 2, "twice": 4},
    ]
    assert all(evaluation.reached for evaluation in evaluations)


def test_a_promise_out_of_reach_is_a_finding():
    error = PromiseUnreachable("No.")
    (evaluation,) = evaluate([make_candidate("a")], raise_for(error), [LENGTH])
    assert evaluation.reached is False and evaluation.refusal is error and not evaluation.figures


def test_a_refusal_is_a_finding_for_an_alternative_alone():
    alternative = make_candidate("a", is_alternative=True)
    (evaluation,) = evaluate([alternative], raise_for(JobError("No.")), [LENGTH], refusals=(JobError,))
    assert evaluation.reached is False and evaluation.refusal.what == "No."
    with pytest.raises(JobError):
        list(evaluate([make_candidate("a")], raise_for(JobError("No.")), [LENGTH], refusals=(JobError,)))
    with pytest.raises(RequestError):
        list(evaluate([alternative], raise_for(RequestError("No.")), [LENGTH], refusals=(JobError,)))


def test_a_candidate_without_a_job_has_its_own_reason():
    candidate = Candidate("a", None, "burel", why="It keeps no such promise.")
    (evaluation,) = evaluate([candidate], work_for_ever, [LENGTH])
    assert evaluation.reached is False and evaluation.refusal is None


def test_what_does_not_end_is_stopped_and_what_comes_after_it_is_not_begun():
    clock = BudgetClock(0.1)
    stopped, later = evaluate([make_candidate("a"), make_candidate("b")], work_for_ever, [LENGTH], clock=clock)
    assert stopped.reached is None and later.reached is None
    assert not clock.has_time_left() and clock.compute_used_share() == 1.0


def test_a_metric_there_was_no_time_for_is_named_and_the_others_stay():
    metrics = [LENGTH, Metric("slow", work_for_ever), Metric("later", work_for_ever)]
    (evaluation,) = evaluate([make_candidate("a")], lambda candidate: "text", metrics, clock=BudgetClock(0.1))
    assert evaluation.reached and evaluation.unmeasured == "slow"
    assert evaluation.figures == {"length": 4} and evaluation.subject == "text"


def test_a_clock_without_a_budget_gets_one_from_the_time_that_was_used():
    clock = BudgetClock(None)
    assert not clock.has_time_left()
    clock.start(2.0, 5.0)
    assert clock.budget == 5.0 and clock.has_time_left()
    half = clock.take_share(0.5)
    assert half.budget == pytest.approx(2.5, abs=0.1)


def test_a_plan_of_few_cells_foretells_that_there_is_no_time_for_all():
    cells = rt.count(
        JOB.at(release=rt.Output(undeclared="drop"), columns={"age": rt.quasi(), "salary_class": rt.sensitive()}),
        frame=rt.datasets.load("census", rows=500, seed=1),
    )
    tried: list[Cells] = []
    BudgetClock(60).require_time_for(cells, tried.append)
    assert not tried
    BudgetClock(60).require_time_for(cells, tried.append, min_cells=10)
    assert [len(few) for few in tried] == [len(take_cells(cells, 16))] == [-(-len(cells) // 16)]

    def plan_slowly(few: Cells) -> None:
        began = process_time()
        while process_time() - began < 0.02:
            sum(range(100))

    with pytest.raises(TimeLimitReached):
        BudgetClock(0.2).require_time_for(cells, plan_slowly, min_cells=10)
    with pytest.raises(TimeLimitReached):
        BudgetClock(0).require_time_for(cells, tried.append)
