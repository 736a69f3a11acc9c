"""Large releases: an attack that tries a random part of the people says of how many, and says the same of them."""

from __future__ import annotations

import numpy as np
import polars as pl

import reticent as rt
from reticent.attacks import attack
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


def test_the_control_of_a_part_is_near_that_of_the_whole_and_definetti_says_how_many_it_tried(monkeypatch):
    release = released()
    whole = {name: attack(release, table(), name).to_dict() for name in ("skewness", "definetti", "inference")}
    for module in (
        "reticent.attacks.MAX_CONTROL_POINTS",
        "reticent.attacks.definetti.MAX_POINTS",
        "reticent.attacks.group_reading.MAX_CONTROL_POINTS",
    ):
        monkeypatch.setattr(module, 600)
    part = {name: attack(release, table(), name).to_dict() for name in whole}
    assert part["definetti"]["targets"] < 2_000 == part["skewness"]["targets"]
    for name, found in part.items():
        assert abs(found["control"] - whole[name]["control"]) < 0.06
        assert abs(found["success"] - whole[name]["success"]) < 0.06


def test_of_a_group_that_is_too_large_by_itself_some_people_are_tried(monkeypatch):
    columns = {"a": rt.quasi(numeric=True), "b": rt.quasi(numeric=True), "s": rt.sensitive()}
    release = rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(900)]), frame=table(), seed=1)
    whole = attack(release, table(), "definetti").to_dict()
    monkeypatch.setattr("reticent.attacks.definetti.MAX_PAIRS", 1_200)  # of four values: 300 combinations
    part = attack(release, table(), "definetti").to_dict()
    assert 300 <= part["targets"] < 700 < whole["targets"] == 2_000
    assert abs(part["success"] - whole["success"]) < 0.1
