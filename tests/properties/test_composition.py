"""For random tables and methods: joined with nothing, a release says what it says alone, counted here row by row from its files."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.attacks.composition.attack import attack_by_composition
from reticent.attacks.overlap import attack_by_overlap
from reticent.attacks.target import observe

QUICK = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
COLUMNS = {"a": rt.quasi(numeric=True), "b": rt.quasi(numeric=True), "s": rt.sensitive()}
VALUES = "uvw"
Person = tuple[int, int, str]


@st.composite
def people(draw: st.DrawFn) -> list[Person]:
    one = st.tuples(st.integers(0, 9), st.integers(0, 3), st.sampled_from(VALUES))
    return draw(st.lists(one, min_size=6, max_size=40))


def released(rows: list[Person], method: rt.Method, promise: object) -> tuple[rt.Release, pl.DataFrame]:
    frame = pl.DataFrame(rows, schema=["a", "b", "s"], orient="row")
    job = rt.Job(columns=COLUMNS, promises=[promise], method=method)
    try:
        return rt.publish(job, frame=frame, seed=1), frame
    except rt.PromiseUnreachable:
        assume(False)
        raise


def by_labels(release: rt.Release) -> dict[tuple[int, ...], Counter]:
    """Each group's ends, with how many of its rows hold each value."""
    found: dict[tuple[int, ...], Counter] = {}
    for *ends, value in release.frame(bounds=True).select("a_lower", "a_upper", "b_lower", "b_upper", "s").iter_rows():
        found.setdefault(tuple(map(int, ends)), Counter())[value] += 1
    return found


def shares(held: Counter) -> list[float]:
    return [float(Fraction(held[value], held.total())) for value in VALUES]


def believed(found, rows: list[Person]) -> dict[tuple[int, int], dict[str, float]]:
    """The attack's beliefs by quasi-identifiers, which it lists in order; its values are those that occur, in order."""
    occurring = sorted({value for *_, value in rows})
    points = sorted({(a, b) for a, b, _ in rows})
    return {point: dict(zip(occurring, row, strict=True)) for point, row in zip(points, found.belief, strict=True)}


@QUICK
@given(people(), st.sampled_from([2, 3, 5]))
def test_where_labels_are_disjoint_a_release_alone_says_the_shares_of_each_person_s_group(rows, k):
    release, frame = released(rows, rt.Mondrian(), rt.KAnonymity(k))
    found = attack_by_composition(release, frame)
    groups = by_labels(release)
    for (a, b), belief in believed(found, rows).items():
        (held,) = [held for (a0, a1, b0, b1), held in groups.items() if a0 <= a <= a1 and b0 <= b <= b1]
        assert [belief.get(value, 0.0) for value in VALUES] == shares(held)
    assert found.to_dict()["rule"] == "exact" and found.to_dict()["releases"] == 1


@QUICK
@given(people())
def test_where_groups_are_published_a_release_alone_says_the_shares_of_the_groups_of_a_person_s_equals(rows):
    release, frame = released(rows, rt.Anatomy(), rt.ProbabilisticLDiversity(2))
    held: dict[int, Counter] = {}
    for group, value, count in release.tables["sensitive"].select("group", "s", "count").iter_rows():
        held.setdefault(group, Counter())[value] += count
    found = believed(attack_by_composition(release, frame), rows)
    for point, belief in found.items():
        theirs = [
            group for a, b, group in release.tables["quasi"].select("a", "b", "group").iter_rows() if (a, b) == point
        ]
        mixed = np.mean([shares(held[group]) for group in theirs], axis=0)
        assert np.allclose([belief.get(value, 0.0) for value in VALUES], mixed, rtol=1e-12, atol=1e-15)


@QUICK
@given(people())
def test_where_labels_overlap_a_release_alone_says_what_the_overlap_attack_says_up_to_its_measured_error(rows):
    release, frame = released(rows, rt.Mosaic(effort="quick"), rt.ProbabilisticLDiversity(2))
    try:
        other = attack_by_overlap(observe(release, frame))
    except rt.RequestError:
        return  # no two labels cover one person
    found = attack_by_composition(release, frame)
    assert np.abs(found.belief - other.belief).max() <= (other.details["error"] or 0.0) + 1e-12
    assert found.worst_posterior <= other.details["worst_group"] <= 0.5
