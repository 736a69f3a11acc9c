"""`rt.calibrate`: what a suppression costs and tells, from numbers alone."""

from __future__ import annotations

import pytest

import reticent as rt

KINDS = ("unsafe", "safe", "randomized", "calibrated")
COUNTS = [1, 10, 4, 2, 1]


def test_the_mean_withheld_of_a_stage_is_the_one_that_is_calibrated():
    found = rt.calibrate("suppression", counts=COUNTS, l=3)
    for kind in KINDS:
        stage = rt.Suppression(l=3, kind=kind, acknowledge=True if kind == "unsafe" else None)
        assert stage.expected(COUNTS) == found[kind]["suppressed"]


def test_of_an_eligible_table_nothing_is_withheld():
    assert rt.Suppression(l=2).expected([3, 3, 0, 2]) == 0
    with pytest.raises(rt.PromiseUnreachable, match="2 distinct value"):
        rt.Suppression(l=3).expected([5, 1])


@pytest.mark.parametrize("prior", ["uniform", "shapes"])
def test_no_table_is_worse_than_the_worst_of_every_table_of_its_size(prior):
    every = rt.calibrate("suppression", rows=10, values=4, l=3, prior=prior)
    for counts in ([7, 1, 1, 1], [5, 3, 1, 1], [4, 4, 1, 1], [4, 2, 2, 2]):
        found = rt.calibrate("suppression", counts=counts, l=3, prior=prior)
        for kind in KINDS:
            for posterior in ("worst_posterior", "worst_withheld_posterior"):
                assert found[kind][posterior] <= every[kind][posterior] + 1e-12


BAD = {
    "another method": ({"method": "mondrian"}, "cannot be calibrated"),
    "neither counts nor rows": ({}, "from counts, or from rows and values"),
    "counts and rows": ({"counts": [3, 1], "rows": 4, "values": 2}, "from counts, or from rows and values"),
    "no count": ({"counts": []}, "whole numbers above 0"),
    "too many tables": ({"rows": 41, "values": 3}, "cannot be listed"),
    "fewer rows than values": ({"rows": 2, "values": 3}, "cannot be listed"),
    "l that asks for nothing": ({"counts": [3, 1], "l": 1}, "asks for nothing"),
    "an unknown kind": ({"counts": [3, 1], "kinds": ["safest"]}, "'safest' is not known"),
    "an unknown prior": ({"counts": [3, 1], "prior": "none"}, "Unknown prior"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_request_is_refused_with_what_to_try(name):
    given, message = BAD[name]
    with pytest.raises(rt.RequestError, match=message) as caught:
        rt.calibrate(**{"method": "suppression", "l": 3, **given})
    assert caught.value.attempt
