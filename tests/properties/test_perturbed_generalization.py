"""Perturbed generalization: the attack's equations against enumeration, the bounds against attacks, and the laws of its releases."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.attacks.corruption import LinkingSituation
from reticent.audit.groups import SamplingParameters
from reticent.audit.measure import corruption as judged
from reticent.data.cells import Cells
from reticent.data.domain import build_range_domain
from reticent.labels.crucial_tuple import find_crucial_rows, read_column
from reticent.methods.perturbed_generalization.grouping import group_by_specialization
from reticent.models import corruption_guarantees as bounds
from reticent.models.corruption_guarantees import CorruptionSetting
from reticent.models.promise import Promises
from tests.oracle import corruption as oracle

shares = st.integers(1, 19).map(lambda n: Fraction(n, 20))


@st.composite
def distributions(draw, size: int):
    parts = draw(st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(sum))
    return tuple(Fraction(part, sum(parts)) for part in parts)


@st.composite
def situations(draw):
    domain = draw(st.integers(2, 3))
    others = draw(st.lists(distributions(domain), max_size=2))
    corrupted = tuple(draw(st.lists(st.integers(0, domain - 1), max_size=3)))
    size = 1 + len(corrupted) + draw(st.integers(0, len(others)))
    return (
        draw(shares),
        domain,
        draw(st.integers(0, domain - 1)),
        size,
        corrupted,
        tuple(others),
        draw(distributions(domain)),
    )


@settings(max_examples=60, deadline=None)
@given(situations())
def test_equations_9_to_19_are_what_enumeration_gives(found):
    p, domain, y, size, corrupted, others, prior = found
    at = LinkingSituation(p, domain, y, size, corrupted, others)
    assert at.posterior(prior) == oracle.with_extraneous(p, domain, y, prior, corrupted, others, size)


@settings(max_examples=60, deadline=None)
@given(situations(), st.data())
def test_no_attack_exceeds_the_tight_bounds_and_these_never_the_printed_ones(found, data):
    p, domain, y, size, corrupted, others, prior = found
    skew = max(prior)
    assume(skew < 1)
    at = CorruptionSetting(p, size, domain, skew)
    predicate = [x for x in range(domain) if data.draw(st.booleans())]
    before, after = LinkingSituation(p, domain, y, size, corrupted, others).confidence(prior, predicate)
    if before < 1:
        assert after <= bounds.compute_rho2(at, before) <= bounds.compute_rho2_theorem2(at, before)
    assert after - before <= bounds.find_least_bound(lambda most: bounds.delta_holds(at, most))
    most = bounds.find_least_bound(lambda most: bounds.theorem3_holds(at, most))
    assert bounds.delta_holds(at, most)


@settings(max_examples=80, deadline=None)
@given(shares, st.integers(1, 9), st.integers(2, 60), shares, shares, shares)
def test_bounds_grow_with_p_and_fall_with_k_and_the_audit_agrees(p, k, domain, skew, rho1, more):
    assume(skew * domain >= 1 and rho1 < 1)
    at = CorruptionSetting(p, k, domain, skew)
    higher = CorruptionSetting(max(p, more), k, domain, skew)
    larger = CorruptionSetting(p, k + 1, domain, skew)
    assert bounds.compute_rho2(larger, rho1) <= bounds.compute_rho2(at, rho1) <= bounds.compute_rho2(higher, rho1)
    assert (
        bounds.compute_rho2_theorem2(larger, rho1)
        <= bounds.compute_rho2_theorem2(at, rho1)
        <= bounds.compute_rho2_theorem2(higher, rho1)
    )
    for holds in (bounds.delta_holds, bounds.theorem3_holds):
        each = [bounds.find_least_bound(lambda most, s=s, holds=holds: holds(s, most)) for s in (larger, at, higher)]
        assert each == sorted(each)
    same = SamplingParameters(p, k, domain, k)
    assert judged.compute_posterior(same, rho1, min(skew, rho1)) == bounds.compute_rho2(at, rho1)
    for most in (more, bounds.find_least_bound(lambda x: bounds.delta_holds(at, x))):
        assert judged.grows_at_most(same, skew, most) == bounds.delta_holds(at, most)


@settings(max_examples=60, deadline=None)
@given(shares, st.integers(1, 6), st.integers(2, 12), shares)
def test_the_tight_bounds_are_attained(p, k, domain, skew):
    """Q = {y} at the worst prior, everyone else corrupted and none of them at y."""
    assume(Fraction(1, domain) <= skew < 1)
    at = CorruptionSetting(p, k, domain, skew)
    situation = LinkingSituation(p, domain, 0, k, (1,) * (k - 1))
    least = at.rarest
    a = at.k * at.u / p
    peak = Fraction((float(a * a + a)) ** 0.5 - float(a)).limit_denominator(10**9)
    w = min(max(peak, least), skew)
    prior = [w, *[(1 - w) / (domain - 1)] * (domain - 1)]
    assert max(prior[1:]) <= skew
    before, after = situation.confidence(prior, [0])
    bound = bounds.find_least_bound(lambda most: bounds.delta_holds(at, most))
    assert bound - Fraction(3, 10**6) <= after - before <= bound
    assert situation.confidence(prior, [0])[1] == bounds.compute_rho2(CorruptionSetting(p, k, domain, max(w, least)), w)


def halves(perturbed):
    return [(0, 1), (2, 3)]


def specialized(k: int):
    """Our own grouping of people at 0, 1, 2, ... by their perturbed classes, as the oracle asks for it."""

    def grouping(perturbed):
        n = len(perturbed)
        axis = build_range_domain("x", "numeric", "Int64", [str(i) for i in range(n)], np.arange(n), null=False)
        codes = np.arange(n, dtype=np.int32)[:, None]
        cells = Cells((axis,), (), codes, np.zeros((n, 0), np.int32), np.ones(n, np.int64))
        held = np.eye(2, dtype=np.int64)[list(perturbed)]
        groups = group_by_specialization(cells, Promises((rt.RhoGuarantee("0.2", "0.9", "0.8"),)), k, held)
        return [tuple(np.flatnonzero(groups == g).tolist()) for g in np.unique(groups)]

    return grouping


@pytest.mark.parametrize("others", [(0, 0, 0), (0, 0, 1), (0, 1, 1), (1, 1, 1)])
def test_a_grouping_by_quasi_identifiers_keeps_the_tight_bound_and_one_by_perturbed_classes_that_of_k_1(others):
    """Errata 9: four people, k = 2, p = .5, two values, prior .2, all others known."""
    p = Fraction(1, 2)
    prior = (Fraction(4, 5), Fraction(1, 5))
    known = [tuple(Fraction(int(x == value)) for x in range(2)) for value in others]
    strict, free = (bounds.compute_rho2(CorruptionSetting(p, k, 2, Fraction(4, 5)), Fraction(1, 5)) for k in (2, 1))
    assert strict == Fraction(1, 3)
    for victim in range(4):
        priors = [*known[:victim], prior, *known[victim:]]
        assert oracle.worst_posterior(p, 2, priors, halves, victim, [1]) <= strict
        assert oracle.worst_posterior(p, 2, priors, specialized(2), victim, [1]) <= free


def test_specialization_exceeds_what_theorem_2_says():
    p = Fraction(1, 2)
    prior = (Fraction(4, 5), Fraction(1, 5))
    worst = Fraction(0)
    for others in ((a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)):
        known = [tuple(Fraction(int(x == value)) for x in range(2)) for value in others]
        for victim in range(4):
            priors = [*known[:victim], prior, *known[victim:]]
            worst = max(worst, oracle.worst_posterior(p, 2, priors, specialized(2), victim, [1]))
    at = CorruptionSetting(p, 2, 2, Fraction(4, 5))
    assert worst == Fraction(3, 7)
    assert worst > bounds.compute_rho2_theorem2(at, Fraction(1, 5)) > bounds.compute_rho2(at, Fraction(1, 5))


def test_the_tight_bound_is_reached_by_the_whole_pipeline():
    """Of all outcomes of perturbing, grouping by quasi-identifiers and drawing, some reach it."""
    p = Fraction(1, 2)
    prior = (Fraction(4, 5), Fraction(1, 5))
    known = (Fraction(1), Fraction(0))
    assert oracle.worst_posterior(p, 2, [prior, known, known, known], halves, 0, [1]) == Fraction(1, 3)


@st.composite
def tables(draw):
    rows = draw(st.integers(8, 60))
    nulls = draw(st.booleans())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    letters = ["u", "v", "w", "x", "y", None if nulls else "z"]
    return pl.DataFrame(
        {
            "a": rng.integers(0, 9, rows),
            "b": pl.Series([letters[v] for v in rng.choice(6, rows)], dtype=pl.String),
            "s": [str(v) for v in rng.integers(0, 4, rows)],
        }
    )


JOB = rt.Job(
    columns={"a": rt.quasi(), "b": rt.quasi(), "s": rt.sensitive()},
    promises=[rt.DeltaGrowth("0.4", "0.7")],
    method=rt.PerturbedGeneralization(k=3, domain=list("0123")),
)

REFERENCE = pl.DataFrame({"a": [0, 3, 4, 8] * 9, "b": ["u", "v", "x"] * 12, "s": ["0", "1", "1", "2"] * 9})


@settings(max_examples=12, deadline=None)
@given(tables(), st.sampled_from(["loss", "median", "gain"]), st.sampled_from(["one", "many"]))
def test_boxes_are_disjoint_and_cover_every_row_once_and_g_sums_to_the_rows(table, cuts, draw):
    reference = REFERENCE if cuts == "gain" else None
    method = rt.PerturbedGeneralization(k=3, domain=list("0123"), cuts=cuts, reference=reference, draw=draw)
    try:
        release = rt.publish(JOB.at(method=method), frame=table, seed=5)
    except rt.PromiseUnreachable:
        assume(False)
    drawn = release.tables["data"]
    frame = drawn.unique(["a", "b"], maintain_order=True)
    for row in frame.iter_rows(named=True):
        same = drawn.filter(pl.col("a").eq_missing(row["a"]) & pl.col("b").eq_missing(row["b"]))
        assert same["G"].unique().to_list() == [row["G"]]
        assert len(same) == (row["G"] // 3 if draw == "many" else 1)
    assert frame["G"].sum() == len(table)
    assert frame["G"].min() >= 3
    entries = [column for column in release.columns if column.role == "quasi-identifying"]
    columns = [read_column(entry, frame[entry.name], table[entry.name]) for entry in entries]
    owner = find_crucial_rows(columns, [table[entry.name] for entry in entries])
    assert owner is not None
    assert np.array_equal(np.bincount(owner, minlength=len(frame)), frame["G"].to_numpy())
    found = rt.audit(release, source=table)
    assert found.source.findings[0].passed
    assert found.kept is None  # so few groups could not tell values that were left as they were
    assert release.count().estimate == release.count().lower == release.count().upper == len(table)


@settings(max_examples=8, deadline=None)
@given(tables())
def test_nothing_but_the_drawn_values_depends_on_true_ones(table):
    """With a declared domain: other sensitive values, the same draw, and only the sensitive column of the data may differ."""
    other = table.with_columns(pl.Series("s", [str((int(v) + 1) % 4) for v in table["s"]]))
    # Cells are drawn by place: one row for each combination, so that the places are the same.
    table, other = (t.unique(["a", "b"], keep="first", maintain_order=True) for t in (table, other))
    assume(len(table) >= 3)
    try:
        one, two = (rt.publish(JOB, frame=t, seed=9) for t in (table, other))
    except rt.PromiseUnreachable:
        assume(False)
    assert one.frame().drop("s").equals(two.frame().drop("s"))
    first, second = (json.loads((r.folder / "manifest.json").read_text()) for r in (one, two))
    first.pop("files"), second.pop("files")
    assert first == second
    assert (one.folder / "README.md").read_bytes() == (two.folder / "README.md").read_bytes()
