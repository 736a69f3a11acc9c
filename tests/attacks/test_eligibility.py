"""The eligibility attack: sampled against exact, priors, releases."""

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks.eligibility import number_of_tables, on_release, posterior, small, tables
from reticent.attacks.eligibility_sampled import sampled
from reticent.attacks.priors import Prior
from reticent.errors import JobError, RequestError
from reticent.methods.suppression.stage import KINDS, Suppression


@pytest.mark.parametrize("prior", ["uniform", "shapes", "records", "plausible"])
@pytest.mark.parametrize("kind", ["unsafe", "safe", "randomized", "calibrated"])
def test_sampling_agrees_with_enumeration(kind, prior):
    rng = np.random.default_rng(11)
    for counts, parameter in (([10, 4, 2, 1, 1], 3), ([9, 8, 3, 2], 3)):
        table = tuple(sorted(KINDS[kind].draw(np.array(counts), parameter, rng).tolist(), reverse=True))
        exact = posterior(table, sum(counts), parameter, kind, prior)
        by_count, low, high = sampled(table, sum(counts), parameter, KINDS[kind], Prior(prior), 400, rng)
        assert exact.exact
        for count, share in by_count.items():
            assert share == pytest.approx(float(exact.by_count.get(count, 0)), abs=0.05), (counts, table)
        assert low <= max(by_count.values()) <= high


def test_tables_up_to_renaming_are_partitions():
    for rows, values in ((7, 3), (12, 4), (9, 9), (5, 1)):
        listed = list(tables(rows, values))
        assert len(listed) == len(set(listed)) == number_of_tables(rows, values)
        assert all(
            sum(table) == rows and list(table) == sorted(table, reverse=True) and table[-1] > 0 for table in listed
        )
    assert small(18, 5) and not small(3000, 20)


def test_large_tables_are_attacked_by_sampling_with_an_interval():
    counts = 300 // np.arange(1, 13)
    rng = np.random.default_rng(2)
    table = KINDS["randomized"].draw(counts, 4, rng)
    found = posterior(table, int(counts.sum()), 4, "randomized", samples=400, rng=rng)
    assert not found.exact
    assert 0 <= found.low <= float(found.worst) <= found.high <= 1


def test_an_unknown_prior_is_refused():
    with pytest.raises(JobError, match="uniform"):
        Prior("unifrom")


@pytest.mark.parametrize(("kind", "bounded"), [("safe", True), ("calibrated", True), ("randomized", None)])
def test_a_release_is_attacked_from_what_its_recipient_has(kind, bounded, tmp_path):
    frame = pl.DataFrame({"age": list(range(18)), "illness": ["a"] * 10 + ["b"] * 4 + ["c"] * 2 + ["d", "e"]})
    job = rt.Job(
        columns={"age": rt.quasi(), "illness": rt.sensitive()},
        promises=[rt.ProbabilisticLDiversity(3)],
        prepare=[Suppression(l=3, kind=kind)],
    )
    rt.publish(job, frame=frame, to=tmp_path / "release")
    found = on_release(rt.open(tmp_path / "release"))
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
    assert on_release(rt.publish(job, frame=frame))["worst_posterior"] == 0


def test_the_attack_is_run_by_its_name_and_refuses_a_release_without_suppression(tmp_path):
    frame = pl.DataFrame({"age": list(range(18)), "illness": ["a"] * 10 + ["b"] * 4 + ["c"] * 2 + ["d", "e"]})
    columns = {"age": rt.quasi(), "illness": rt.sensitive()}
    job = rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(3)], prepare=[Suppression(l=3)])
    release = rt.publish(job, frame=frame, to=tmp_path / "release")
    found = rt.attack(tmp_path / "release", None, "eligibility").to_dict()
    assert found["targets"] == release.manifest["withheld"] > 0
    assert found["worst_posterior"] == on_release(release)["worst_posterior"]
    assert found["success"] is None
    plain = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(2)]), frame=frame)
    with pytest.raises(RequestError, match="no such stage"):
        rt.attack(plain, frame, "eligibility")
