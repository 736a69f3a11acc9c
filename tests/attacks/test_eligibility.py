"""The eligibility attack: how it was had, priors, releases."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks.eligibility.attack import attack_release, compute_posterior
from reticent.attacks.eligibility.posterior_bounds import round_outward
from reticent.attacks.eligibility.suppressed_tables import CountPrior, list_tables
from reticent.errors import JobError, RequestError
from reticent.methods.suppression.stage import SUPPRESSION_KINDS, Suppression


@pytest.mark.parametrize(("rows", "values", "number"), [(7, 3, 4), (12, 4, 15), (9, 9, 1), (5, 1, 1)])
def test_tables_up_to_renaming_are_partitions(rows, values, number):
    listed = list(list_tables(rows, values))
    assert len(listed) == len(set(listed)) == number
    assert all(sum(table) == rows and list(table) == sorted(table, reverse=True) and table[-1] > 0 for table in listed)


@pytest.mark.parametrize("kind", SUPPRESSION_KINDS)
def test_large_tables_are_attacked_without_sampling_under_the_uniform_prior(kind):
    counts = 300 // np.arange(1, 13)
    table = SUPPRESSION_KINDS[kind].draw(counts, 4, np.random.default_rng(2))
    found = compute_posterior(table, int(counts.sum()), 4, kind)
    assert found.how in ("exact", "bounds")
    assert 0 < found.low <= found.worst == found.high <= 1


def test_what_cannot_have_been_published_accuses_nobody():
    for kind in SUPPRESSION_KINDS:
        assert compute_posterior([9, 1, 1], 12, 3, kind).worst == 0
        assert compute_posterior([5, 5], 12, 3, kind).worst == 0


def test_a_release_that_suppression_alone_cannot_have_made_is_refused_instead_of_called_harmless(tmp_path):
    frame = pl.DataFrame({"age": list(range(18)), "illness": ["a"] * 10 + ["b"] * 4 + ["c"] * 2 + ["d", "e"]})
    columns = {"age": rt.quasi(), "illness": rt.sensitive()}
    stage = Suppression(l=3, kind="safe")
    rt.publish(
        rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(3)], prepare=[stage]),
        frame=frame,
        to=tmp_path / "r",
    )
    release = rt.open(tmp_path / "r")
    release.manifest = replace(release.manifest, withheld=1)  # as if 9 of the 10 had been withheld for another reason
    with pytest.raises(RequestError, match="by suppression alone"):
        attack_release(release)


def test_bounds_become_floating_point_numbers_outward():
    third = compute_posterior([2, 2, 2, 1, 1], 18, 3, "safe").worst
    low, high = round_outward(third, third)
    assert low <= third <= high and low < high


def test_an_unknown_prior_is_refused():
    with pytest.raises(JobError, match="uniform"):
        CountPrior("unifrom")


@pytest.mark.parametrize(("kind", "bounded"), [("safe", True), ("calibrated", True), ("randomized", None)])
def test_a_release_is_attacked_from_what_its_recipient_has(kind, bounded, tmp_path):
    frame = pl.DataFrame({"age": list(range(18)), "illness": ["a"] * 10 + ["b"] * 4 + ["c"] * 2 + ["d", "e"]})
    job = rt.Job(
        columns={"age": rt.quasi(), "illness": rt.sensitive()},
        promises=[rt.ProbabilisticLDiversity(3)],
        prepare=[Suppression(l=3, kind=kind, prior="uniform" if kind == "calibrated" else None)],
    )
    rt.publish(job, frame=frame, to=tmp_path / "release")
    found = attack_release(rt.open(tmp_path / "release"))
    assert found["promised"] == pytest.approx(1 / 3)
    assert 0 < found["worst_posterior"] <= 1
    if bounded:
        assert found["worst_posterior"] <= 1 / 3


def test_a_release_from_which_nothing_was_withheld_accuses_nobody():
    frame = pl.DataFrame({"age": list(range(12)), "illness": ["a", "b", "c"] * 4})
    job = rt.Job(
        columns={"age": rt.quasi(), "illness": rt.sensitive()},
        promises=[rt.ProbabilisticLDiversity(3)],
        prepare=[Suppression(l=3)],
    )
    assert attack_release(rt.publish(job, frame=frame))["worst_posterior"] == 0


def test_the_attack_is_run_by_its_name_and_refuses_a_release_without_suppression(tmp_path):
    frame = pl.DataFrame({"age": list(range(18)), "illness": ["a"] * 10 + ["b"] * 4 + ["c"] * 2 + ["d", "e"]})
    columns = {"age": rt.quasi(), "illness": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(3)], prepare=[Suppression(l=3)])
    release = rt.publish(job, frame=frame, to=tmp_path / "release")
    found = rt.attack(tmp_path / "release", None, "eligibility").to_dict()
    assert found["targets"] == release.manifest.withheld > 0
    assert found["worst_posterior"] == attack_release(release)["worst_posterior"]
    assert found["success"] is None
    plain = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(2)]), frame=frame)
    with pytest.raises(RequestError, match="no such stage"):
        rt.attack(plain, frame, "eligibility")
