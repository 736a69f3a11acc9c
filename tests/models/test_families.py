"""Semantic and proximity beta-likeness: planning, audit and oracle agree."""

import random
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.audit.measure.likeness import list_windows
from reticent.data.codec import COUNT_COLUMN, encode_cells
from reticent.data.columns import Column, quasi
from reticent.errors import JobError
from reticent.methods.burel import Burel
from reticent.models.beta_likeness import BetaLikeness, ProximityLikeness, SemanticLikeness
from reticent.models.beta_likeness import list_windows as windows
from reticent.models.promise import GroupCheckedPromise, Promises
from tests.oracle import families as oracle
from tests.support.plain_groups import TREE, cells_of, groups_by, verdicts

BETAS = [Fraction(1, 4), Fraction(1), Fraction(3, 2), Fraction(4)]


def numeric_cells(groups: list[dict]):
    entries = [(g, value, count) for g, group in enumerate(groups) for value, count in group.items() if count]
    counted = pl.DataFrame(entries, schema={"g": pl.Int64, "s": pl.Int64, COUNT_COLUMN: pl.Int64}, orient="row")
    return encode_cells(counted, {"g": quasi(), "s": Column("sensitive", type="numeric", missing="category")})[0]


def random_groups(seed: int, values: list) -> list[dict]:
    draw = random.Random(seed)
    return [
        {value: draw.randint(1, 6) for value in draw.sample(values, draw.randint(2, len(values)))}
        for _ in range(draw.randint(1, 5))
    ]


@pytest.mark.parametrize("form", [{}, {"enhanced": False}, {"two_sided": True}], ids=["enhanced", "basic", "two-sided"])
def test_semantic_likeness_agrees_with_the_oracle(form: dict):
    seen = set()
    for seed in range(120):
        groups = random_groups(seed, ["s0", "s1", "s2", "s3", "s4", None])
        beta = BETAS[seed % 4]
        kept = bool(verdicts([SemanticLikeness(beta, 1, **form)], cells_of(groups)).all())
        assert kept == oracle.semantic_holds(groups, TREE, 1, beta, **form)
        seen.add(kept)
    assert seen == {True, False}


@pytest.mark.parametrize("enhanced", [True, False])
def test_proximity_likeness_agrees_with_the_oracle(enhanced: bool):
    seen = set()
    for seed in range(120):
        groups = random_groups(seed, [1, 2, 4, 7, 8, None])
        beta = BETAS[seed % 4]
        width = Fraction(seed % 5, 2)
        kept = bool(verdicts([ProximityLikeness(beta, width, enhanced)], numeric_cells(groups)).all())
        assert kept == oracle.proximity_holds(groups, beta, width, enhanced=enhanced)
        seen.add(kept)
    assert seen == {True, False}


def test_windows_are_found_the_same_two_ways():
    for seed in range(300):
        draw = random.Random(seed)
        positions = [Fraction(x, 2) for x in sorted(draw.sample(range(30), draw.randint(1, 9)))]
        width = Fraction(draw.randint(0, 24), 3)
        assert windows(positions, width) == sorted(list_windows(positions, width))


def test_a_window_may_hold_one_value_between_two_that_do_not_fit():
    assert windows([Fraction(0), Fraction(2), Fraction(4)], Fraction(3)) == [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)]


def test_width_0_is_beta_likeness_of_single_values():
    for seed in range(40):
        groups = random_groups(seed, [1, 2, 4, 7, None])
        cells = numeric_cells(groups)
        assert verdicts([ProximityLikeness(1, 0)], cells).tolist() == verdicts([BetaLikeness(1)], cells).tolist()


@pytest.mark.parametrize("promise", [SemanticLikeness(1), ProximityLikeness(1, 2)])
def test_they_are_bound_promises_and_closed_under_union(promise):
    assert isinstance(promise, GroupCheckedPromise)
    for seed in range(60):
        numeric = isinstance(promise, ProximityLikeness)
        groups = random_groups(seed, [1, 2, 4, 7] if numeric else ["s0", "s1", "s2", "s3"])
        cells = numeric_cells(groups) if numeric else cells_of(groups)
        fine = np.flatnonzero(verdicts([promise], cells))
        if len(fine) > 1:
            number = np.where(np.isin(cells.codes[:, 0], fine), 0, 1)
            assert Promises.from_iterable([promise]).bind(cells).allow(groups_by(cells, number))[0]


def people(rows: int = 500) -> pl.DataFrame:
    rng = np.random.default_rng(6)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "wage": rng.integers(0, 12, rows),
            "illness": rng.choice([f"s{i}" for i in range(5)], rows),
        }
    )


@pytest.mark.parametrize(
    ("promise", "sensitive"),
    [
        (SemanticLikeness(1), {"illness": rt.sensitive(hierarchy=TREE)}),
        (SemanticLikeness(1, two_sided=True), {"illness": rt.sensitive(hierarchy=TREE)}),
        (ProximityLikeness(1, 2), {"wage": rt.sensitive(type="numeric")}),
    ],
)
@pytest.mark.parametrize("method", ["mondrian", "burel"])
def test_methods_keep_them_and_the_audit_recounts_them(promise, sensitive: dict, method: str):
    if method == "burel" and not isinstance(promise, SemanticLikeness):
        return
    from reticent import registry

    columns = {"age": rt.quasi(numeric=True), **sensitive}
    frame = people().select(list(columns))
    job = rt.Job(columns=columns, promises=[promise], method=registry.load_method_class(method)())
    release = rt.publish(job, frame=frame, seed=1)
    verdict = release.audited.promises[0]
    assert verdict.kept is True
    assert verdict.evidence == "recounted"
    groups = [
        dict(zip(*part[next(iter(sensitive))].value_counts().get_columns(), strict=True))
        for part in release.frame().partition_by("age")
    ]
    assert len(groups) > 1
    if isinstance(promise, SemanticLikeness):
        assert oracle.semantic_holds(groups, TREE, 1, Fraction(1), two_sided=promise.two_sided)
    else:
        assert oracle.proximity_holds(groups, Fraction(1), Fraction(2))


def test_the_audit_finds_a_family_that_gains_too_much():
    from reticent.audit import audit

    frame = pl.DataFrame(
        {
            "age": ["1"] * 4 + ["2"] * 4,
            "illness": ["s0", "s1", "s0", "s1", "s2", "s3", "s2", "s3"],
            "wage": [1, 2, 1, 2, 8, 9, 8, 9],
        }
    )
    columns = {"age": rt.quasi(), "illness": rt.sensitive(hierarchy=TREE), "wage": rt.sensitive(type="numeric")}
    asked = [SemanticLikeness("0.5", column="illness"), ProximityLikeness("0.5", 1, column="wage")]
    assert [v.kept for v in audit(frame, columns=columns, promises=asked).promises] == [False, False]
    loose = [
        SemanticLikeness(1, enhanced=False, column="illness"),
        ProximityLikeness(3, 1, enhanced=False, column="wage"),
    ]
    assert [v.kept for v in audit(frame, columns=columns, promises=loose).promises] == [True, True]


def test_burel_refuses_values_and_families_together():
    with pytest.raises(JobError, match="one level"):
        Burel().plan(
            cells_of([{"s0": 3, "s2": 3}]), Promises.from_iterable([BetaLikeness(1), SemanticLikeness(1)]), None
        )


@pytest.mark.parametrize(
    ("wrong", "cells"),
    [
        (lambda: SemanticLikeness(1, level=0), None),
        (lambda: SemanticLikeness(0), None),
        (lambda: ProximityLikeness(1, -1), None),
        (lambda: SemanticLikeness(1, level=2), cells_of([{"s0": 1}])),
        (lambda: ProximityLikeness(1, 1), cells_of([{"s0": 1}])),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, cells):
    with pytest.raises(JobError):
        Promises.from_iterable([wrong()]).bind(cells)


@pytest.mark.parametrize(
    "entry",
    [
        {"model": "semantic-beta-likeness", "beta": 1, "level": 2},
        {"model": "semantic-beta-likeness", "beta": "1/3", "two_sided": True},
        {"model": "proximity-beta-likeness", "beta": 4, "width": 2.5},
    ],
)
def test_a_job_can_name_them_and_a_manifest_reads_back(entry: dict):
    from reticent import registry
    from reticent.format.manifest import parse_promise
    from reticent.release.readme import describe_promise

    promise = registry.make_promise(entry)
    said = registry.describe(promise)
    assert entry.items() <= said.items()
    assert registry.make_promise(said) == promise
    assert "beta-likeness, enhanced" in describe_promise(parse_promise(said))


def test_loosening_never_makes_a_kept_group_broken():
    for seed in range(60):
        cells = cells_of(random_groups(seed, ["s0", "s1", "s2", "s3", "s4", None]))
        strict, loose = (verdicts([SemanticLikeness(beta)], cells) for beta in (1, 2))
        assert (loose | ~strict).all()
        cells = numeric_cells(random_groups(seed, [1, 2, 4, 7, 8, None]))
        strict, loose = (verdicts([ProximityLikeness(beta, 2)], cells) for beta in (1, 2))
        assert (loose | ~strict).all()


def test_missing_values_never_help_a_family():
    for seed in range(60):
        groups = random_groups(seed, ["s0", "s1", "s2", "s3", None])
        known = [{value: count for value, count in group.items() if value is not None} for group in groups]
        left = [at for at, group in enumerate(known) if group]
        kept = verdicts([SemanticLikeness(1)], cells_of(groups))
        alone = verdicts([SemanticLikeness(1)], cells_of([known[at] for at in left]))
        assert all(alone[i] for i, at in enumerate(left) if kept[at])
