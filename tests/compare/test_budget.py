"""A comparison and advice within a budget: what there was no time for is named with the reason."""

from __future__ import annotations

from importlib import import_module

import polars as pl
import pytest

import reticent as rt
from reticent.errors import RequestError
from reticent.utility.classification import Exam
from tests.support.compare_jobs import PEOPLE, job


def plan_for_ever(self, cells, promises, rng, **given):
    while True:
        pass


def test_a_candidate_that_does_not_end_is_named_and_the_others_are_measured(monkeypatch):
    monkeypatch.setattr(rt.Burel, "plan", plan_for_ever)
    found = rt.compare(
        job(), frame=PEOPLE, methods=["mondrian", "burel"], attacks=[], classification=False, budget=4
    ).frame()
    rows = {row["name"]: row for row in found.to_dicts()}
    assert rows["mondrian"]["reached"] and not rows["burel"]["reached"]
    assert "no time left for it in the budget" in rows["burel"]["why"]


def test_advice_without_any_time_says_why_there_is_none():
    with pytest.raises(RequestError, match="No method was measured for counts") as refused:
        rt.advise(job(), frame=PEOPLE, purpose="counts", budget=0)
    assert "no time left" in str(refused.value)


def test_methods_that_advice_had_no_time_for_are_named_in_it(monkeypatch):
    monkeypatch.setattr(rt.Burel, "plan", plan_for_ever)
    advice = rt.advise(job(), frame=PEOPLE, purpose="counts", methods=["mondrian", "burel"], runs=1, budget=5)
    assert advice.best["name"] == "mondrian"
    assert "burel was not measured: There was no time left" in str(advice)


def test_learners_that_do_not_end_are_named_of_the_source_too(monkeypatch):
    pytest.importorskip("sklearn", reason="needs the extra `stats`")
    monkeypatch.setattr(Exam, "score_ideal", lambda exam: plan_for_ever(exam, None, None, None))
    found = rt.compare(job(), frame=PEOPLE, methods=["mondrian"], attacks=[], classification=True, budget=6)
    source = next(row for row in found.to_dict()["rows"] if row["name"] == "source as it is")
    assert "no time left for it in the budget" in source["classification_left_out"]


def test_yardsticks_leave_time_for_candidates(monkeypatch):
    measured = import_module("reticent.compare.metrics")
    monkeypatch.setattr(measured, "answer_from_view", lambda sight: plan_for_ever(sight, None, None, None))
    rows = rt.compare(job(), frame=PEOPLE, methods=["mondrian"], attacks=[], classification=False, budget=8).frame()
    reached = dict(zip(rows["name"], rows["reached"], strict=True))
    assert reached["mondrian"] and not reached["columns apart"]
    left_out = rows.filter(pl.col("name") == "columns apart")["why"].item()
    assert "no time left for it in the budget" in left_out
