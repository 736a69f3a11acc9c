"""A perturbed release against its source: honest ones pass, forged ones are found, and the rest is undecided."""

import json
from datetime import date, timedelta
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.audit import audit
from reticent.audit.evidence import Perturbation
from reticent.audit.measure.statistical_tests import TransitionMatrix, bound_log_tail, bound_log_two_sided, score_blocks
from reticent.audit.perturbed import PERTURBATION_SIGNIFICANCE, PerturbationResult, compare_perturbed_rows
from reticent.audit.row_matching import link_blocks
from reticent.audit.source_comparison import ComparedRows, convert_source
from reticent.errors import BundleDamaged
from reticent.format.data_writer import write_data
from reticent.format.manifest import ColumnEntry
from reticent.methods.beta_perturbation import BetaPerturbation
from tests.oracle import perturbation as oracle
from tests.support.release_folders import resealed

VALUES = ["cold", "flu", "gout", "ulcer"]
SHARES = np.array([0.4, 0.3, 0.2, 0.1])
MATRIX = [[Fraction(n, 20) for n in row] for row in ([11, 4, 3, 2], [5, 10, 3, 2], [5, 4, 9, 2], [5, 4, 3, 8])]
COLUMNS = [ColumnEntry(name="age", role="quasi-identifying", type="numeric", dtype="Int64"),
           ColumnEntry(name="town", role="quasi-identifying", type="categorical"),
           ColumnEntry(name="illness", role="sensitive", type="categorical")]  # fmt: skip


def people(rows: int, seed: int = 0, *, alone: bool = True) -> pl.DataFrame:
    """With every row's combination its own, or about three rows to one."""
    rng = np.random.default_rng(seed)
    age = np.arange(rows) if alone else rng.integers(0, rows // 12, rows)
    illness = rng.choice(VALUES, rows, p=SHARES)
    return pl.DataFrame({"age": age, "town": rng.choice(["a", "b", "c", "d"], rows), "illness": illness})


def redraw(frame: pl.DataFrame, matrix, seed: int = 0) -> pl.DataFrame:
    chances = np.array([[float(entry) for entry in row] for row in matrix])
    held = np.searchsorted(VALUES, frame["illness"].to_numpy())
    drawn = (np.random.default_rng([7, seed]).random((len(frame), 1)) > chances.cumsum(axis=1)[held]).sum(axis=1)
    return frame.with_columns(pl.Series("illness", [VALUES[v] for v in drawn.tolist()]))


def compared(shown: pl.DataFrame, source: pl.DataFrame, matrix=MATRIX, **how) -> PerturbationResult:
    held = dict(source["illness"].value_counts().iter_rows())
    stated = [Fraction(held.get(value, 0), len(source)) for value in VALUES]
    there = convert_source(source, COLUMNS)
    shuffled = shown.sample(fraction=1, shuffle=True, seed=1)
    return compare_perturbed_rows(shuffled, COLUMNS, Perturbation(VALUES, matrix, stated), there, **how)


def left(frame: pl.DataFrame, where: pl.Expr, otherwise: pl.DataFrame) -> pl.DataFrame:
    """The rows where a condition holds as they were, the others as given."""
    return otherwise.with_columns(pl.when(where).then(frame["illness"]).otherwise("illness").alias("illness"))


def half_way(matrix=MATRIX):
    return [[(entry + (i == v)) / 2 for v, entry in enumerate(row)] for i, row in enumerate(matrix)]


def changed(matrix=MATRIX):
    """Always to another value."""
    return [[entry / (1 - row[i]) * (v != i) for v, entry in enumerate(row)] for i, row in enumerate(matrix)]


FORGERIES = {
    "nothing was redrawn": lambda frame: frame,
    "the young are exact": lambda frame: left(frame, pl.col("age") < frame["age"].median(), redraw(frame, MATRIX)),
    "the young are exact and the old always changed": lambda frame: left(
        frame, pl.col("age") < frame["age"].median(), redraw(frame, changed())
    ),
    "one town is exact": lambda frame: left(frame, pl.col("town") == "c", redraw(frame, MATRIX)),
    "the young of one half of the towns are exact": lambda frame: left(
        frame, (pl.col("age") < frame["age"].median()) & pl.col("town").is_in(["a", "b"]), redraw(frame, MATRIX)
    ),
    "every second value was left": lambda frame: redraw(frame, half_way()),
    "redrawn from the overall distribution": lambda frame: redraw(frame, [SHARES.tolist()] * 4),
    "permuted": lambda frame: frame.with_columns(pl.col("illness").shuffle(3)),
    "always changed": lambda frame: redraw(frame, changed()),
}


@pytest.mark.parametrize("alone", [True, False], ids=["each alone", "three alike"])
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_release_is_found(forgery: str, alone: bool):
    frame = people(2400 if alone else 6000, alone=alone)
    found = compared(FORGERIES[forgery](frame), frame)
    assert found.passed is False
    assert found.worst[0] <= PERTURBATION_SIGNIFICANCE
    assert "an honest release would show this" in found.why


@pytest.mark.parametrize("alone", [True, False], ids=["each alone", "three alike"])
def test_an_honest_release_is_kept_and_its_p_values_are_no_smaller_than_chance_has_them(alone: bool):
    frame = people(1200 if alone else 3000, alone=alone)
    found = [compared(redraw(frame, MATRIX, seed), frame) for seed in range(60)]
    assert all(one.passed for one in found)
    assert (
        sum(one.worst[0] <= 0.1 for one in found) <= 14
    )  # of 60 that have a chance of 0.1 at most: once in 2,000 runs
    assert all(one.parts == found[0].parts >= 4 for one in found)  # what could be shown is known from the source alone


@pytest.mark.parametrize(
    ("rows", "unseen"),
    [(5, "nothing was redrawn"), (60, "every second value"), (200, "one of the parts by 'age'")],
)
def test_a_table_too_small_to_show_it_is_undecided(rows: int, unseen: str):
    frame = people(rows)
    for seed in range(20):
        found = compared(redraw(frame, MATRIX, seed), frame)
        assert found.passed is None
        assert unseen in found.why
        assert "undecided" in str(found)


def test_few_large_combinations_are_undecided_and_still_condemned_if_nothing_was_redrawn():
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "age": np.zeros(6000, int),
            "town": rng.choice(list("abcdefghijklmnop"), 6000),
            "illness": rng.choice(VALUES, 6000, p=SHARES),
        }
    )
    kept = [[Fraction(int(i == v) + 3 * n, 40) * 10 for v, n in enumerate((4, 3, 2, 1))] for i in range(4)]
    kept = [
        [entry / sum(row) for entry in row] for row in kept
    ]  # half of them kept, and the overall distribution with it
    honest = compared(redraw(frame, kept), frame, kept)
    assert honest.passed is None
    assert honest.linked == 0
    assert compared(frame, frame, kept).passed is False


def test_a_matrix_that_leaves_all_as_it_was_is_kept_by_leaving_all_as_it_was():
    same = [[Fraction(int(i == v)) for v in range(4)] for i in range(4)]
    frame = people(500)
    assert compared(frame, frame, same).passed is True
    one = frame.with_columns(pl.when(pl.col("age") == 7).then(pl.lit("gout")).otherwise("illness").alias("illness"))
    other = frame.with_columns(pl.when(pl.col("age") == 7).then(pl.lit("cold")).otherwise("illness").alias("illness"))
    found = next(found for found in (compared(one, frame, same), compared(other, frame, same)) if not found.passed)
    assert found.worst[0] == 0
    assert "no probability at all" in found.why


def test_withheld_rows_are_neither_missed_nor_needed():
    frame = people(3000)
    shown = redraw(frame, MATRIX).filter(pl.col("age") % 10 != 3)
    assert compared(shown, frame).unmatched == 300
    assert compared(shown, frame, withheld=300).passed is True
    assert compared(frame.filter(pl.col("age") % 10 != 3), frame, withheld=300).passed is False


def test_a_source_value_that_no_published_type_has_stands_for_nobody():
    frame = people(400).with_columns(pl.col("age").cast(pl.String))
    source = frame.with_columns(pl.when(pl.col("age") == "5").then(pl.lit("five")).otherwise("age").alias("age"))
    found = compared(redraw(frame, MATRIX).with_columns(pl.col("age").cast(pl.Int64)), source)
    assert found.unmatched == 2
    assert found.passed is False
    assert "five" not in str(found) + json.dumps(found.to_dict())


def test_values_the_manifest_lists_twice_or_cannot_hold_are_refused():
    frame = people(50)
    numbers = [*COLUMNS[:2], COLUMNS[2].with_changes(dtype="Int64")]
    half = [[Fraction(1, 2)] * 2] * 2
    shown = frame.with_columns(pl.lit(1, pl.Int64).alias("illness"))
    for values in (["1", "01"], ["1", "canary"]):
        with pytest.raises(BundleDamaged) as failure:
            compare_perturbed_rows(shown, numbers, Perturbation(values, half, None), convert_source(shown, numbers))
        assert "canary" not in str(failure.value)


def published(frame: pl.DataFrame, columns, seed: int = 1, **output) -> rt.Release:
    job = rt.Job(columns=columns, promises=[rt.BetaLikeness(1)], method=BetaPerturbation(), release=rt.Output(**output))
    return rt.publish(job, frame=frame, seed=seed)


def test_what_beta_perturbation_publishes_is_kept_on_every_seed():
    frame = people(1500, alone=False)
    columns = {"age": rt.quasi(), "town": rt.quasi(), "illness": rt.sensitive()}
    assert {audit(published(frame, columns, seed), source=frame).kept for seed in range(8)} == {True}


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_bounds_dates_decimals_leading_zeros_and_carried_columns_are_compared_as_published(form: str, tmp_path):
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "age": rng.integers(0, 110, 1500),
            "born": [date(1930, 1, 1) + timedelta(days=int(n)) for n in rng.integers(0, 30_000, 1500)],
            "weight": [f"{n / 10:.2f}" for n in rng.integers(400, 1200, 1500)],
            "zip": [f"{n:05d}" for n in rng.integers(0, 500, 1500)],
            "income": rng.integers(0, 90_000, 1500),
            "illness": rng.choice(["1.20", "2.50", "10.00"], 1500),
        }
    )
    columns = {
        "age": rt.quasi(top=80, bottom=18),
        "born": rt.quasi(top="2000-12-31"),
        "weight": rt.quasi(numeric=True, top=100),
        "zip": rt.quasi(type="categorical"),
        "income": rt.insensitive(round_to=5000),
        "illness": rt.sensitive(),
    }
    release = published(frame, columns, format=form)
    frame.write_csv(tmp_path / "source.csv")
    for source in (frame, tmp_path / "source.csv"):
        found = audit(release, source=source)
        assert found.kept is True, str(found)
        assert found.source.unmatched == 0


def test_a_folder_in_which_nothing_was_redrawn_is_broken(tmp_path):
    frame = people(2000)
    release = published(frame, {"age": rt.quasi(), "town": rt.quasi(), "illness": rt.sensitive()}).save(tmp_path / "r")
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=1)
    write_data(release / "data.parquet", shuffled, "parquet")
    resealed(release)
    assert audit(release).kept is None
    found = audit(release, source=frame)
    assert found.kept is False
    assert found.to_dict()["source"]["redrawn"]["worst"]["p_value"] < 1e-100


@st.composite
def matrices(draw, m: int = 3):
    rows = [draw(st.lists(st.integers(0, 5), min_size=m, max_size=m).filter(any)) for _ in range(m)]
    return [[Fraction(entry, sum(row)) for entry in row] for row in rows]


@settings(deadline=None, max_examples=40)
@given(matrices(), st.lists(st.integers(0, 2), min_size=1, max_size=5), st.data())
def test_bounds_and_moments_are_those_of_going_through_every_outcome(matrix, held, data):
    shown = data.draw(st.lists(st.integers(0, 2), min_size=len(held), max_size=len(held)))
    frame = pl.DataFrame({"q": [0] * len(held)})
    blocks = link_blocks(ComparedRows(frame), ComparedRows(frame), ["q"], (np.array(shown), np.array(held)), 3)
    found = score_blocks(blocks, TransitionMatrix.from_fractions(matrix))
    likeness = oracle.distribution(held, matrix, lambda seen: oracle.likeness(held, seen))
    mean, variance = oracle.moments(likeness)
    assert found.mean[0] == pytest.approx(float(mean))
    assert found.mean[0] + found.rest[0] == pytest.approx(len(held))
    assert found.variance[0] == pytest.approx(float(variance), abs=1e-12)
    observed = oracle.likeness(held, shown)
    assert found.likeness[0] == pytest.approx(float(observed))
    bound = np.exp(bound_log_tail(found.likeness, found.mean, found.rest, found.variance, blocks.sizes))[0]
    assert bound >= float(oracle.tail(likeness, observed)) * (1 - 1e-12) or observed == mean
    if len(set(held)) > 1:
        stays = sum(chance for seen, chance in oracle.outcomes(held, matrix) if oracle.unchanged(held, seen))
        assert found.chance[0] >= float(stays) * (1 - 1e-12)
        assert bool(found.unchanged[0]) is oracle.unchanged(held, shown)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 8), min_size=1, max_size=9))
def test_a_tail_bound_is_never_below_the_exact_tail(eighths):
    """Of a sum of independent indicators, each with its own probability."""
    chances = [Fraction(n, 8) for n in eighths]
    found = {0: Fraction(1)}
    for p in chances:
        found = {k: found.get(k, 0) * (1 - p) + found.get(k - 1, 0) * p for k in range(len(found) + 1)}
    found = {Fraction(k): p for k, p in found.items()}
    mean, variance = oracle.moments(found)
    n = len(chances)
    for x in range(n + 1):
        if x == mean:
            continue
        bound = bound_log_tail(
            np.array(float(x)), np.array(float(mean)), np.array(float(n - mean)), np.array(float(variance)), np.array(n)
        )
        exact = oracle.tail(found, Fraction(x))
        assert np.exp(bound) >= float(exact) * (1 - 1e-12)
        if not exact:
            assert bound == -np.inf or mean not in (0, n)


def test_the_bound_of_a_large_deviation_is_near_the_exact_tail():
    """Of 1,000 rows that keep their value with probability 1/2, 700 do: exactly 7.8e-38; twice that for both sides."""
    found = bound_log_two_sided(*(np.array(x) for x in (700.0, 500.0, 500.0, 250.0, 1000.0)))
    assert 2 * 7e-38 < np.exp(found) < 2e-35
