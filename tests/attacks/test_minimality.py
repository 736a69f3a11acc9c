"""Knowing the method: exact where tables are few, walked over or sampled where they are many, never more than can be shown."""

from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.attacks import attack
from reticent.attacks.group_membership import find_linked_points
from reticent.attacks.minimality.candidate_tables import CandidateTables, conclude_by_enumeration, conclude_by_walk
from reticent.errors import RequestError
from tests.oracle import minimality as oracle

COLUMNS = {"a": rt.quasi(numeric=True, labels="tight"), "s": rt.sensitive()}


def drawn(draw: random.Random, people: int) -> tuple[list[int], list[int]]:
    return sorted(draw.sample(range(20), people)), [draw.randrange(3) for _ in range(people)]


def tables(points: list[int], values: list[int], shown: list[tuple]) -> CandidateTables:
    """As an adversary has them: people linked by the labels of `cut`, which are disjoint."""
    group = [next(at for at, (low, high, *_) in enumerate(shown) if low <= point <= high) for point in points]
    block = find_linked_points(np.arange(len(points)), np.array(group), len(points))
    blocks = tuple(np.flatnonzero(block == number) for number in np.unique(block))
    return CandidateTables(np.array(values), blocks, 3)


def stub(points: list[int], l: int) -> SimpleNamespace:  # noqa: E741
    return SimpleNamespace(publish_table=lambda table, key: oracle.cut(points, tuple(map(int, table)), l, key))


def test_beliefs_equal_an_enumeration_of_all_tables_and_keys_on_two_thousand_tiny_tables():
    draw = random.Random(5)
    compared = 0
    sharper = 0
    while compared < 2_000:
        points, values = drawn(draw, draw.choice((4, 4, 5, 5, 5, 6)))
        l = 2  # noqa: E741
        key = draw.randrange(2)
        keys = draw.choice(([0], [1], [0, 1]))
        if not oracle.keeps(values, l):
            continue
        shown = oracle.cut(points, tuple(values), l, key)
        wanted = oracle.posterior(values, lambda table, at: oracle.cut(points, table, l, at), keys, shown)  # noqa: B023
        found = conclude_by_enumeration(stub(points, l), tables(points, values, shown), shown, keys)
        compared += 1
        assert (found is None) == (wanted is None)
        if wanted is not None:
            assert np.array_equal(found.belief, [[float(share) for share in person] for person in wanted])
            sharper += found.worst > 0.5
    assert sharper > 10, "knowing the method goes beyond one in two"


def test_a_walk_s_interval_holds_the_exact_belief_as_often_as_it_says():
    draw = random.Random(9)
    held = 0
    asked = 0
    while asked < 24:
        points, values = drawn(draw, 8)
        if not oracle.keeps(values, 2):
            continue
        shown = oracle.cut(points, tuple(values), 2, 0)
        these = tables(points, values, shown)
        found = conclude_by_walk(stub(points, 2), these, shown, 0, 600, np.random.default_rng(asked))
        if found is None:
            continue
        exact = conclude_by_enumeration(stub(points, 2), these, shown, [0])
        asked += 1
        held += found.low <= exact.belief[found.whose] <= found.high
        assert np.abs(found.belief - exact.belief)[found.looked_at].max() < 0.25
    assert held >= 20, f"{held} of {asked} intervals hold the exact belief"


def line(points: list[int], values: list[int]) -> pl.DataFrame:
    return pl.DataFrame({"a": points, "s": [f"v{value}" for value in values]})


def released(frame: pl.DataFrame, method: rt.Method | None = None, **changes) -> rt.Release:
    job = {"columns": COLUMNS, "promises": [rt.ProbabilisticLDiversity(2)], "method": method or rt.Mondrian()}
    return rt.publish(rt.Job(**{**job, **changes}), frame=frame, seed=3)


def test_on_a_real_release_it_equals_running_the_method_on_every_table():
    draw = random.Random(2)
    for _ in range(2):
        points, values = drawn(draw, 6)
        values = [0, 0, 1, 1, 2, 2]
        draw.shuffle(values)
        frame = line(points, values)
        found = attack(released(frame), frame, "minimality")

        def publish(table, key, points=points):
            job = rt.Job(columns=COLUMNS, promises=[rt.ProbabilisticLDiversity(2)], method=rt.Mondrian())
            planned = rt.plan(job, frame=line(points, table), seed=key)
            return sorted(zip(planned.groups["a"], planned.histogram().tolist(), strict=True))

        wanted = oracle.posterior(values, publish, [0], publish(tuple(values), 0))
        assert found.to_dict()["how"] == "exact"
        assert np.allclose(found.belief, [[float(share) for share in person] for person in wanted], atol=0)


def test_of_a_large_release_a_group_is_known_not_to_be_cut_further():
    draw = random.Random(4)
    points = sorted(draw.sample(range(4_000), 600))
    frame = line(points, [draw.randrange(3) for _ in points])
    release = released(frame)
    found = attack(release, frame, "minimality", draws=120)
    told = found.to_dict()
    assert told["how"] == "left whole" and told["looked_at"] > 300 and told["why"] is None
    groups = release.frame(bounds=True).group_by("a_lower", "a_upper").len().sort("a_lower")
    by_point = {int(p): v for p, v in frame.sort("a").iter_rows()}
    compared = 0
    where = {point: at for at, point in enumerate(points)}
    for low, high, many in groups.iter_rows():
        if many > 6:
            continue
        people = [point for point in points if low <= point <= high]
        wanted = oracle.left_whole(people, [int(by_point[p][1:]) for p in people], 2)
        here = found.belief[[where[point] for point in people]]
        compared += 1
        if many <= 4:  # at most 24 deals: each was tried
            assert np.allclose(here, [[float(share) for share in person] for person in wanted], atol=1e-12)
    assert compared > 20


def test_a_secret_key_stays_secret_and_a_known_one_is_used():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"a": rng.integers(0, 60, 9), "s": rng.permutation(list("uuuvvvwww"))})
    release = released(frame, rt.Mosaic(effort="quick"))
    secret, known = (attack(release, frame, "minimality", **how).to_dict() for how in ({}, {"key": 3}))
    assert secret["how"] in ("exact", "groups alone") and known["how"] == "exact"
    if secret["how"] == "groups alone":
        assert "secret key" in secret["why"] and secret["worst_posterior"] == secret["worst_group"]


@pytest.mark.parametrize("width", [None, 2])
def test_where_the_release_cannot_be_made_again_nothing_is_added_to_what_groups_say(width):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"a": rng.integers(0, 60, 300), "s": rng.choice(list("uvw"), 300)})
    labels = None if width is None else {"style": "padded", "width": width}
    columns = {"a": rt.quasi(numeric=True, labels=labels), "s": rt.sensitive()}
    method = rt.Mosaic(effort="quick") if width is None else rt.Mondrian()
    found = attack(released(frame, method, columns=columns), frame, "minimality").to_dict()
    assert found["how"] == "groups alone" and found["why"]
    assert found["success"] == found["control"] and found["worst_posterior"] == found["worst_group"]


def test_an_independent_attribute_is_guessed_no_better_by_who_knows_the_method_and_its_median_cuts():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"a": rng.integers(0, 500, 3_000), "s": rng.choice(list("uvwxyz"), 3_000)})
    found = attack(released(frame, rt.Mondrian(cuts="median")), frame, "minimality").to_dict()
    assert found["low"] < found["control_high"] and found["control_low"] < found["high"]


@pytest.mark.parametrize("how", [{"keys": 0}, {"steps": -1}, {"draws": 0}])
def test_a_number_of_runs_that_is_none_is_refused(how):
    frame = line(list(range(8)), [0, 1, 2, 0, 1, 2, 0, 1])
    with pytest.raises(RequestError, match="a whole number of at least 1"):
        attack(released(frame), frame, "minimality", **how)
