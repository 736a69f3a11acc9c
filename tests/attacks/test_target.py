"""Large releases: an attack that tries a random part of the people says of how many, and says the same of them."""

from __future__ import annotations

import numpy as np
import polars as pl

import reticent as rt
from reticent.attacks import attack
from reticent.attacks.definetti import LearningLimits, learn_and_guess
from reticent.attacks.group_reading import compute_group_beliefs
from reticent.attacks.target import observe, sample_points


def table() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    a = rng.integers(0, 400, 2_000)
    return pl.DataFrame(
        {"a": a, "b": rng.integers(0, 9, 2_000), "s": np.array(list("uvwx"))[(a // 7 + rng.integers(0, 2, 2_000)) % 4]}
    )


def released() -> rt.Release:
    columns = {"a": rt.quasi(numeric=True), "b": rt.quasi(numeric=True), "s": rt.sensitive()}
    return rt.publish(rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(2)]), frame=table(), seed=1)


def test_a_part_of_the_people_is_believed_the_same_of_as_in_the_whole():
    whole = observe(released(), table())
    part = sample_points(whole, 300)
    assert len(part.points) == 300 and part.truth.total == part.people.sum()
    place = {point.tobytes(): at for at, point in enumerate(whole.points)}
    at = [place[point.tobytes()] for point in part.points]
    assert np.array_equal(compute_group_beliefs(part), compute_group_beliefs(whole)[at])


def sample_few(people, points: int):
    """As `sample_points` does, of fewer combinations of quasi-identifiers."""
    return sample_points(people, min(points, 600))


def test_the_control_of_a_part_is_near_that_of_the_whole(monkeypatch):
    release = released()
    whole = {name: attack(release, table(), name).to_dict() for name in ("skewness", "inference")}
    monkeypatch.setattr("reticent.attacks.target.sample_points", sample_few)
    monkeypatch.setattr("reticent.attacks.group_reading.sample_points", sample_few)
    part = {name: attack(release, table(), name).to_dict() for name in whole}
    assert part["skewness"]["targets"] == 2_000
    for name, found in part.items():
        assert found["control"] != whole[name]["control"], "the sample was not used"
        assert abs(found["control"] - whole[name]["control"]) < 0.06
        assert abs(found["success"] - whole[name]["success"]) < 0.06


def test_definetti_says_how_many_it_tried():
    seen = observe(released(), table())
    whole = learn_and_guess(seen).to_dict()
    part = learn_and_guess(seen, limits=LearningLimits(points=600)).to_dict()
    assert part["targets"] < 2_000 == whole["targets"]
    assert abs(part["success"] - whole["success"]) < 0.06


def test_of_a_group_that_is_too_large_by_itself_some_people_are_tried():
    columns = {"a": rt.quasi(numeric=True), "b": rt.quasi(numeric=True), "s": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(900)]), frame=table(), seed=1)
    seen = observe(release, table())
    whole = learn_and_guess(seen).to_dict()
    part = learn_and_guess(seen, limits=LearningLimits(pairs=1_200)).to_dict()  # of four values: 300 combinations
    assert 300 <= part["targets"] < 700 < whole["targets"] == 2_000
    assert abs(part["success"] - whole["success"]) < 0.1
