"""Advice names the method that the comparison ranks first, says who is level with it, and what each gives up."""

from __future__ import annotations

from dataclasses import replace

import pytest

import reticent as rt
from reticent.compare.advise import PURPOSES
from tests.support.compare_jobs import PEOPLE, job

METHODS = ["mondrian", "burel", "beta-perturbation", "anatomy"]


@pytest.fixture(scope="module")
def compared():
    pytest.importorskip("sklearn", reason="needs the extra `stats`")
    return rt.compare(job(), frame=PEOPLE, methods=METHODS, attacks=[])


@pytest.mark.parametrize("purpose", PURPOSES)
def test_the_advice_is_what_the_comparison_ranks_first(compared, purpose):
    advice = rt.advise(job(), frame=PEOPLE, purpose=purpose, methods=METHODS, runs=1)
    frame = compared.frame().filter(role="candidate", reached=True)
    first = frame.sort(PURPOSES[purpose].figure, descending=not PURPOSES[purpose].less_is_better)["name"][0]
    assert advice.best["name"] == first
    assert advice.to_dict()["best"] == first and first in advice.sentences()[0] and first in str(advice)
    assert advice.refused == {"anatomy": "anatomy cannot keep beta-likeness."}
    assert "gives up" in str(advice) and "<table" in advice._repr_html_()


def test_methods_within_each_other_s_spread_are_said_to_be_level():
    advice = rt.advise(job(), frame=PEOPLE, purpose="counts", methods=["mondrian", "burel"], runs=2)
    assert [row["name"] for row in advice.level] == ["mondrian"]
    first = advice.best
    touching = {**first, "name": "twin", "value": first["high"], "low": first["high"], "high": first["high"] + 1}
    level = replace(advice, ranked=(first, touching))
    assert [row["name"] for row in level.level] == ["mondrian", "twin"]
    assert "The data does not say which of them is better." in str(level)


def test_where_no_method_is_better_than_none_it_is_said():
    """Values that go with nothing: publishing the columns apart answers as well as anything."""
    shuffled = PEOPLE.with_columns(PEOPLE["salary_class"].shuffle(seed=1))
    tight = job(promises=[rt.BetaLikeness("1/2")])
    advice = rt.advise(tight, frame=shuffled, purpose="counts", methods=["mondrian"], runs=2)
    assert "columns apart" in [row["name"] for row in advice.trivially_better]
    assert "No method is truly better than" in str(advice)


def test_advice_from_a_part_of_the_rows_says_so():
    advice = rt.advise(job(), frame=PEOPLE, purpose="counts", methods=["mondrian"], runs=1, rows=500)
    assert "500 of 900 rows, drawn at random" in str(advice) and "no other method is on its way" in str(advice)
    assert advice.to_dict()["may_overtake"] == [] and advice.to_dict()["comparison"]["of"] == 900
    whole = rt.advise(job(), frame=PEOPLE, purpose="counts", methods=["mondrian"], runs=1)
    assert "drawn at random" not in str(whole)
    with_all = rt.advise(job(), frame=PEOPLE, purpose="counts", methods=["mondrian"], runs=1, rows=900)
    assert "drawn at random" not in str(with_all)


def test_a_part_of_the_rows_shows_who_may_overtake_on_all_of_them():
    """Reconstruction errs by 1 / sqrt(rows), groups by less: a quarter of the part shows which way each goes."""
    people = rt.datasets.load("census", rows=60_000, seed=2)
    methods = ["burel", "beta-perturbation"]
    advice = rt.advise(job(), frame=people, purpose="counts", methods=methods, rows=400)
    assert advice.best["name"] == "burel"
    assert [row["name"] for row in advice.may_overtake] == ["beta-perturbation"]
    assert advice.to_dict()["may_overtake"] == ["beta-perturbation"]
    assert "100 of them" in str(advice) and "on all rows beta-perturbation may do best" in str(advice)
    again = rt.advise(advice.compared, purpose="counts")
    assert again.sentences() == advice.sentences() and again.may_overtake == advice.may_overtake
    everybody = rt.advise(job(), frame=people, purpose="counts", methods=methods, runs=1)
    assert everybody.best["name"] == "beta-perturbation" and everybody.may_overtake == []


def test_a_comparison_gives_advice_for_every_purpose_without_measuring_again(compared):
    for purpose in PURPOSES:
        measured = rt.advise(job(), frame=PEOPLE, purpose=purpose, methods=METHODS, runs=1)
        ranked = rt.advise(compared, purpose=purpose)
        assert ranked.ranked == measured.ranked and ranked.refused == measured.refused
        assert ranked.sentences() == measured.sentences()
    for how in ({"frame": PEOPLE}, {"methods": ["mondrian"]}, {"rows": 500}):
        with pytest.raises(rt.RequestError, match="has been measured"):
            rt.advise(compared, purpose="counts", **how)
    unlearned = rt.compare(job(), frame=PEOPLE, methods=["mondrian"], attacks=[], classification=False)
    with pytest.raises(rt.RequestError, match="No method was measured for classification"):
        rt.advise(unlearned, purpose="classification")


def test_what_cannot_be_advised_is_refused():
    with pytest.raises(rt.RequestError, match="no advice for 'fame'"):
        rt.advise(job(), frame=PEOPLE, purpose="fame")
    with pytest.raises(rt.RequestError, match="No method that is known"):
        rt.advise(job(), frame=PEOPLE, purpose="counts", methods=["anatomy"])
    words = PEOPLE.select("gender", "work_class").with_columns(
        gender=PEOPLE["gender"].cast(str), work_class=PEOPLE["work_class"].cast(str)
    )
    no_numbers = rt.Job(
        columns={"gender": rt.quasi(), "work_class": rt.sensitive(type="categorical")}, promises=[rt.KAnonymity(3)]
    )
    with pytest.raises(rt.RequestError, match="for averages"):
        rt.advise(no_numbers, frame=words, purpose="averages", methods=["mondrian"], runs=1)
    with pytest.raises(rt.RequestError, match="for counts"):
        rt.advise(job(promises=[rt.KAnonymity(2_000)]), frame=PEOPLE, purpose="counts", methods=["mondrian"], runs=1)


def test_the_advice_says_whether_a_promise_holds_against_corruption():
    advice = rt.advise(job(), frame=PEOPLE, purpose="counts", methods=["mondrian"], runs=1)
    said = str(advice)
    assert "No promise here bounds what an adversary learns who knows the sensitive values of other people" in said
    assert "rho-guarantee and delta-growth do, which perturbed-generalization keeps." in said
    values = sorted(PEOPLE["salary_class"].unique().to_list())
    columns = {**job().columns, "salary_class": rt.sensitive(type="numeric", domain=[values[0], values[-1]])}
    corrupted = job(columns=columns, promises=[rt.DeltaGrowth(delta=".5", lambda_=".2")])
    advice = rt.advise(corrupted, frame=PEOPLE, purpose="counts", runs=1)
    assert advice.best["name"] == "perturbed-generalization"
    assert "delta-growth holds against an adversary too who knows the sensitive values of other people" in str(advice)
    assert advice.refused["mondrian"] == "mondrian cannot keep delta-growth."
