"""`reticent calibrate`: costs and posteriors from counts alone."""

from __future__ import annotations

import json

import pytest


def test_suppression_is_calibrated_from_counts(run, place):
    ran = run("calibrate", "suppression", "--counts", "10,4,2,1,1", "--l", 3, "--json")
    assert ran.code == 0
    found = json.loads(ran.out)
    assert (found["rows"], found["eligible"], found["supports"]) == (18, False, 1)
    assert {kind: round(found[kind]["suppressed"], 3) for kind in ("unsafe", "safe", "randomized", "calibrated")} == {
        "unsafe": 6,
        "safe": 10,
        "randomized": 7.889,
        "calibrated": 9.75,
    }
    assert found["safe"]["worst_posterior"] <= found["bound"]
    assert found["calibrated"]["worst_posterior"] <= found["bound"]
    assert found["randomized"]["worst_posterior"] > found["bound"]


def test_both_posteriors_are_reported_and_calibrated_keeps_both(run, place):
    """27 records in 7 values at l = 5: as it was, a release of calibrated told 11/43 of a withheld person."""
    found = json.loads(run("calibrate", "suppression", "--counts", "12,6,3,2,2,1,1", "--l", 5, "--json").out)
    for kind in ("safe", "calibrated"):
        assert 0 < found[kind]["worst_posterior"] <= found["bound"]
        assert 0 < found[kind]["worst_withheld_posterior"] <= found["bound"]
    assert found["randomized"]["worst_withheld_posterior"] > found["bound"]
    assert found["unsafe"]["worst_withheld_posterior"] > found["bound"]


def test_under_a_prior_that_calibrated_is_not_made_for_safe_is_recommended(run, place):
    ran = run("calibrate", "suppression", "--counts", "9,4,3,1,1", "--l", 3, "--prior", "shapes")
    assert 'kind = "safe" stays within it' in ran.out
    assert "whose value was withheld" in ran.out


def test_the_order_of_counts_does_not_matter(run, place):
    one, other = (
        json.loads(run("calibrate", "suppression", "--counts", c, "--l", 3, "--json").out)
        for c in ("9,3,2,1", "1,9,2,3")
    )
    assert {**one, "counts": None} == {**other, "counts": None}


def test_a_person_reads_a_table(run, place):
    ran = run("calibrate", "suppression", "--counts", "10,4,2,1,1", "--l", 3)
    assert "the table IS NOT 3-eligible" in ran.out
    assert "exact" in ran.out


def test_every_posterior_says_how_it_was_had(run, place):
    counts = ",".join(str(900 // i) for i in range(1, 13))
    found = json.loads(run("calibrate", "suppression", "--counts", counts, "--l", 4, "--json").out)
    for kind in ("unsafe", "safe", "randomized", "calibrated"):
        assert found[kind]["how"] == "exact"
        assert found[kind]["attacked"] == found[kind]["releases"]
    assert found["calibrated"]["worst_posterior"] == found["safe"]["worst_posterior"] == 0.25
    assert found["randomized"]["worst_posterior"] > 0.25
    assert found["unsafe"]["suppressed"] <= found["calibrated"]["suppressed"] <= found["safe"]["suppressed"]


def test_of_a_million_rows_bounds_and_the_number_of_releases_attacked_are_given(run, place):
    counts = ",".join(str(220_000 // i) for i in range(1, 51))
    one = json.loads(run("calibrate", "suppression", "--counts", counts, "--l", 8, "--json").out)["randomized"]
    assert one["how"] == "bounds"
    assert 1 / 8 < one["low"] <= one["worst_posterior"] <= one["high"]
    assert one["attacked"] < one["releases"]
    said = run("calibrate", "suppression", "--counts", counts, "--l", 8).out
    assert "certain" in said and "Not every release" in said


def test_an_eligible_table_costs_nothing(run, place):
    found = json.loads(run("calibrate", "suppression", "--counts", "4,4,3", "--l", 2, "--json").out)
    assert found["eligible"] is True
    nothing = {
        "suppressed": 0.0,
        "worst_posterior": 0.0,
        "how": "exact",
        "worst_withheld_posterior": 0.0,
        "withheld_how": "exact",
        "releases": 1,
        "attacked": 1,
    }
    assert found["randomized"] == nothing


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["suppression", "--counts", "5,1", "--l", "3"], 2, "2 distinct value"),
        (["suppression", "--counts", "5,x", "--l", "3"], 1, "whole numbers"),
        (["suppression", "--counts", "5,0", "--l", "2"], 1, "whole numbers"),
        (["suppression", "--l", "2"], 1, "--counts"),
        (["suppression", "--counts", "5,1", "--l", "1"], 1, "asks for nothing"),
        (["suppression", "--counts", "5,1", "--l", "2", "--prior", "flat"], 1, "uniform"),
        (["supression", "--counts", "5,1", "--l", "2"], 1, "suppression"),
    ],
)
def test_a_wrong_request_says_what_to_try(run, place, words, code, said):
    ran = run("calibrate", *words)
    assert ran.code == code
    assert said in ran.err
