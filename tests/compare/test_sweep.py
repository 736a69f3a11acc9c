"""A sweep plans, measures and times every combination, and publishes nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import reticent as rt
from reticent import charts

PEOPLE = rt.datasets.load("census", rows=600, seed=1)


def job(**changes) -> rt.Job:
    columns = {"age": rt.quasi(), "education": rt.quasi(), "salary_class": rt.sensitive()}
    promises = [rt.KAnonymity(5), rt.BetaLikeness(4)]
    return rt.Job(columns=columns, promises=promises, release=rt.Output(undeclared="drop")).at(**changes)


@pytest.fixture(scope="module")
def swept():
    return rt.sweep(job(), frame=PEOPLE, seed=1, k=[2, 40], beta=[1, "5/2", 4])


def test_a_row_for_each_combination_says_what_a_plan_of_its_own_would(swept):
    frame = swept.frame()
    assert frame.columns[:8] == ["k", "beta", "reachable", "groups", "smallest", "withheld", "loss", "seconds"]
    assert frame.select("k", "beta").rows() == [(2, 1.0), (2, 2.5), (2, 4.0), (40, 1.0), (40, 2.5), (40, 4.0)]
    alone = rt.plan(job(promises=[rt.KAnonymity(40), rt.BetaLikeness(4)]), frame=PEOPLE, seed=1)
    last = frame.row(-1, named=True)
    assert (last["groups"], last["loss"]) == (len(alone.sizes), alone.loss)
    assert last["k-anonymity"] == rt.measure(alone)["k-anonymity"] >= 40


def test_nothing_is_published_and_nothing_enters_the_ledger(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETICENT_LEDGER", str(tmp_path / "ledger"))
    rt.sweep(job(), frame=PEOPLE, k=[2, 5])
    assert list(tmp_path.iterdir()) == []


def test_methods_and_their_parameters_are_swept_too():
    frame = rt.sweep(job(), frame=PEOPLE, method=["mondrian", rt.Burel()], k=[2]).frame()
    assert frame["method"].to_list() == ["mondrian", "burel"]
    cuts = rt.sweep(job(), frame=PEOPLE, cuts=["loss", "median"]).frame()
    assert cuts["reachable"].all()


def test_what_cannot_be_reached_or_measured_is_a_row_with_the_reason():
    frame = rt.sweep(job(promises=[rt.KAnonymity(5)]), frame=PEOPLE, k=[5, 601]).frame()
    assert frame["reachable"].to_list() == [True, False]
    assert frame["why"][1]
    exact = job(promises=[rt.ProbabilisticLDiversity(2)], method=rt.Anatomy())
    apart = rt.sweep(exact, frame=PEOPLE, l=[2, 3]).frame()
    assert apart["loss"].to_list() == [None, None]
    assert "as they are" in apart["why"][0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "No parameter is swept"),
        ({"t": [0.1]}, "has a parameter 't'"),
        ({"k": []}, "lists no value"),
        ({"k": 3}, "must be a list of values"),
        ({"k": "23"}, "must be a list of values"),
        ({"k": [2, "many"]}, "k must be a number"),
        ({"k": range(2, 2_000)}, "more than the 1,000"),
        ({"column": ["a"], "method": ["mosiac"]}, "Unknown method"),
    ],
    ids=str,
)
def test_a_wrong_sweep_is_refused_before_any_data_is_read(given, said):
    class Untouched:
        def __getattr__(self, name):
            raise AssertionError(f"the data was asked for {name}")

    with pytest.raises(rt.RequestError, match=said):
        rt.sweep(job(), frame=Untouched(), **given)


def test_a_parameter_of_two_promises_is_refused():
    both = job(promises=[rt.DistinctLDiversity(2), rt.ProbabilisticLDiversity(2)])
    with pytest.raises(rt.RequestError, match="2 promises of the job have a parameter 'l'"):
        rt.sweep(both, frame=PEOPLE, l=[2, 3])


def test_a_chart_is_one_svg_without_script_that_says_what_it_shows(swept, tmp_path):
    pytest.importorskip("vl_convert", reason="the extra charts is not installed")
    pytest.importorskip("altair")
    chart = swept.chart()
    assert chart._repr_svg_().startswith("<svg")
    assert "<script" not in chart.svg and "loss by k and beta" in chart.svg
    saved = chart.save(tmp_path / "loss.svg")
    assert Path(saved).read_text(encoding="utf-8") == chart.svg
    with pytest.raises(rt.RequestError, match="saved as SVG"):
        chart.save(tmp_path / "loss.png")
    assert "seconds by k and beta" in swept.chart("seconds").svg
    with pytest.raises(rt.RequestError, match="measured no 'los'"):
        swept.chart("los")


def test_a_missing_extra_is_named_with_how_to_install_it(swept, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(rt.RequestError, match=r"reticent\[charts\]"):
        charts.draw_lines(swept.frame(), "k", "loss", "loss by k")
