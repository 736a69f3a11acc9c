"""A sweep within a budget of CPU seconds: it ends with it whatever a method does, and names the combinations it left out."""

from __future__ import annotations

from importlib import import_module

import polars as pl
import pytest

import reticent as rt
from reticent.compare.sweep import NOT_MEASURED, NOT_PLANNED

sweeps = import_module("reticent.compare.sweep")  # the package has the function by this name
PEOPLE = rt.datasets.load("census", rows=600, seed=1)
COLUMNS = {"age": rt.quasi(), "education": rt.quasi(), "salary_class": rt.sensitive()}


def job() -> rt.Job:
    return rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(5)], release=rt.Output(undeclared="drop"))


def work_for_ever(*arguments, **options):
    while True:
        sum(range(1000))


def plan_slowly_from(least: int):
    """Return a planner that never ends for a k of `least` or more."""
    plan = sweeps.plan

    def planned(job, **options):
        return work_for_ever() if next(iter(job.promises)).k >= least else plan(job, **options)

    return planned


def test_a_plan_that_does_not_end_is_stopped_and_named_with_those_after_it(monkeypatch):
    monkeypatch.setattr(sweeps, "plan", plan_slowly_from(10))
    swept = rt.sweep(job(), frame=PEOPLE, seed=1, budget=2, k=[2, 10, 50])
    frame = swept.frame()
    assert frame["reachable"].to_list() == [True, None, None]
    assert frame["why"].to_list() == ["", NOT_PLANNED, NOT_PLANNED]
    assert frame["groups"][0] == len(rt.plan(job().at(promises=[rt.KAnonymity(2)]), frame=PEOPLE, seed=1).sizes)
    assert swept.left_out == ({"k": 10}, {"k": 50})
    assert repr(swept) == "<sweep of 1 plans (2 more were not made, for want of time) over k: 1 reach the promise>"
    assert "2 more were not made" in swept._repr_html_()


def test_a_plan_that_is_not_measured_says_so(monkeypatch):
    monkeypatch.setattr(sweeps, "measure", work_for_ever)
    swept = rt.sweep(job(), frame=PEOPLE, seed=1, budget=1, k=[2])
    assert swept.frame().select("reachable", "loss", "why").rows() == [(True, None, NOT_MEASURED)]
    assert swept.left_out == ()


def test_a_sufficient_budget_changes_nothing():
    free, limited = (rt.sweep(job(), frame=PEOPLE, seed=1, budget=budget, k=[2, 10]).frame() for budget in (None, 600))
    assert free.drop("seconds").equals(limited.drop("seconds"))


def test_a_source_that_is_not_read_in_time_is_refused():
    with pytest.raises(rt.RequestError, match="not read within the budget"):
        rt.sweep(job(), frame=PEOPLE, budget=0, k=[2])


def test_combinations_that_were_left_out_have_no_place_in_a_chart(monkeypatch):
    pytest.importorskip("vl_convert", reason="the extra charts is not installed")
    monkeypatch.setattr(sweeps, "plan", plan_slowly_from(50))
    swept = rt.sweep(job(), frame=PEOPLE, seed=1, budget=2, k=[2, 10, 50])
    assert swept.frame().schema["reachable"] == pl.Boolean
    assert swept.chart().svg.startswith("<svg")
