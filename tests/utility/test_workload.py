from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.data.cells import build_cells
from reticent.engines import local
from reticent.errors import BundleDamaged, JobError
from reticent.format.manifest import ColumnEntry
from reticent.kernels import workload_counts
from reticent.labels.adversary_view import build_boxes
from reticent.methods.beta_perturbation import BetaPerturbation
from reticent.methods.burel import Burel
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.utility.workload import NO_RANGE, Workload, median_relative_error, relative_errors
from tests.support.random_cells import random_cells


def queries(cells, number: int, predicates: int = 1) -> Workload:
    sizes = [domain.size for domain in (*cells.quasi, *cells.sensitive)]
    return Workload.draw(sizes, predicates=predicates, selectivity=0.2, queries=30, rng=np.random.default_rng(number))


def by_hand(cells, workload: Workload, q: int) -> int:
    total = 0
    for codes, value, count in zip(cells.codes, cells.values[:, 0], cells.counts, strict=True):
        row = [*codes.tolist(), int(value)]
        if all(
            workload.upper[q, j] == NO_RANGE or workload.lower[q, j] <= x <= workload.upper[q, j]
            for j, x in enumerate(row)
        ):
            total += int(count)
    return total


@pytest.mark.parametrize("number", range(15))
def test_exact_answers_are_those_counted_by_hand(number: int):
    cells = random_cells(number, null=False)
    workload = queries(cells, number, predicates=len(cells.quasi))
    assert workload.exact(cells).tolist() == [by_hand(cells, workload, q) for q in range(len(workload))]


def test_ranges_have_the_length_that_the_selectivity_asks_for():
    workload = Workload.draw(
        [100, 50, 10, 40], predicates=2, selectivity=0.125, queries=200, rng=np.random.default_rng(1)
    )
    asked = workload.upper != NO_RANGE
    assert (asked[:, :3].sum(axis=1) == 2).all()
    assert asked[:, 3].all()
    lengths = np.where(asked, workload.upper - workload.lower + 1, 0)
    assert [set(lengths[:, j]) - {0} for j in range(4)] == [{50}, {25}, {5}, {20}]
    assert (workload.lower >= 0).all()
    assert (workload.upper < [100, 50, 10, 40]).all()


def people(rows: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 40, rows),
            "town": rng.choice(["a1", "a2", "b1", "b2"], rows),
            "illness": rng.choice(["flu", "cold", "gout"], rows, p=[0.5, 0.3, 0.2]),
        }
    )


TOWNS = [["a1", "a", "*"], ["a2", "a", "*"], ["b1", "b", "*"], ["b2", "b", "*"]]
COLUMNS = {"age": rt.quasi(numeric=True), "town": rt.quasi(hierarchy=TOWNS), "illness": rt.sensitive()}


def published(frame: pl.DataFrame) -> rt.Release:
    return rt.publish(rt.Job(columns=COLUMNS, promises=[BetaLikeness(1)], method=Burel()), frame=frame, seed=1)


def uniform_in_box(frame: pl.DataFrame, cells, workload: Workload, q: int) -> float:
    """Row by row: the share of each label that the query covers."""
    ages = list(cells.quasi[0].texts)
    towns = list(cells.quasi[1].texts)
    under = {"a": ["a1", "a2"], "b": ["b1", "b2"], "*": towns}
    total = Fraction(0)
    for age, town, illness in frame.iter_rows():
        value = cells.sensitive[0].texts.index(illness)
        if not workload.lower[q, 2] <= value <= workload.upper[q, 2]:
            continue
        low, high = (age.strip("[]").split(", ") * 2)[:2] if age != "*" else (ages[0], ages[-1])
        covered = [range(ages.index(low), ages.index(high) + 1), [towns.index(t) for t in under.get(town, [town])]]
        share = Fraction(1)
        for j, codes in enumerate(covered):
            if workload.upper[q, j] != NO_RANGE:
                share *= Fraction(sum(workload.lower[q, j] <= c <= workload.upper[q, j] for c in codes), len(codes))
        total += share
    return float(total)


def test_a_generalized_release_is_estimated_uniformly_within_its_boxes():
    frame = people()
    release = published(frame)
    cells = local.count_rows(frame.lazy(), COLUMNS).cells
    workload = queries(cells, 3, predicates=2)
    found = workload.generalized(release.sight(cells))
    assert found == pytest.approx([uniform_in_box(release.frame(), cells, workload, q) for q in range(len(workload))])


def test_a_release_that_generalizes_nothing_is_answered_exactly():
    frame = people()
    cells = local.count_rows(frame.lazy(), COLUMNS).cells
    workload = queries(cells, 4, predicates=2)
    entries = [
        ColumnEntry(name="age", role="quasi-identifying", type="numeric", domain=[20, 39]),
        ColumnEntry(name="town", role="quasi-identifying", type="categorical", hierarchy=TOWNS),
    ]
    found = workload.generalized(build_boxes(entries, frame.cast({"age": pl.String}), cells))
    assert found == pytest.approx(workload.exact(cells))


def test_a_label_that_the_source_does_not_have_is_refused():
    release = published(people())
    other = local.count_rows(people().with_columns(pl.col("age") + 100).lazy(), COLUMNS).cells
    with pytest.raises(BundleDamaged, match="names no value"):
        release.sight(other)


def test_reconstruction_of_an_undisturbed_table_is_exact():
    cells = random_cells(3, null=False)
    occurring = np.flatnonzero(cells.totals(0))
    workload = queries(cells, 1)
    for by in ("inversion", "em"):
        assert workload.perturbed(cells, np.eye(len(occurring)), occurring, by) == pytest.approx(workload.exact(cells))


def test_reconstruction_is_unbiased_over_many_redraws():
    cells = local.count_rows(people(3000).lazy(), COLUMNS).cells
    promises = Promises.from_iterable([BetaLikeness(2)])
    workload = queries(cells, 1)
    true = workload.exact(cells)
    estimates = []
    for seed in range(60):
        recipe = BetaPerturbation().plan(cells, promises, Random.from_seed(seed))
        published, _ = build_cells(cells.quasi, cells.sensitive, cells.codes[recipe.cell], recipe.values, recipe.quota)
        estimates.append(
            workload.perturbed(published, np.array(recipe.matrix) / recipe.matrix_denominator, recipe.occurring)
        )
    mean = np.mean(estimates, axis=0)
    error = np.std(estimates, axis=0) / np.sqrt(60)
    assert (np.abs(mean - true) < 5 * error + 1e-9).all()


def test_the_baseline_counts_selected_rows_with_the_overall_frequencies():
    cells = random_cells(8, null=False)
    workload = queries(cells, 1)
    selected = workload.histograms(cells).sum(axis=1)
    share = [
        float(cells.totals(0)[low : high + 1].sum()) / cells.rows
        for low, high in zip(workload.lower[:, -1], workload.upper[:, -1], strict=True)
    ]
    assert workload.baseline(cells) == pytest.approx(selected * share)


def test_errors_are_absolute_and_empty_answers_are_dropped():
    assert relative_errors(np.array([1.0, 5.0, 9.0]), np.array([2, 0, 6])).tolist() == [0.5, 0.5]
    assert median_relative_error(np.array([0.0, 3.0, 12.0]), np.array([1, 2, 4])) == 1.0
    assert np.isnan(median_relative_error(np.array([1.0]), np.array([0])))


@pytest.mark.parametrize("options", [{"predicates": 0}, {"predicates": 3}, {"selectivity": 0}, {"selectivity": 1}])
def test_wrong_workloads_are_refused(options: dict):
    with pytest.raises(JobError):
        Workload.draw(
            [5, 5, 5], **{"predicates": 1, "selectivity": 0.1, "queries": 2, "rng": np.random.default_rng(1), **options}
        )


def test_the_kernel_gives_the_same_uncompiled(monkeypatch):
    import importlib.util
    from pathlib import Path

    source = Path(__file__).parents[2] / "src/reticent/kernels/workload_counts.py"
    spec = importlib.util.spec_from_file_location("uncompiled_workload_counts", source)
    plain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plain)
    cells = random_cells(2, null=False)
    workload = queries(cells, 5)
    compiled = workload.histograms(cells)
    assert workload_counts.__name__.endswith("workload_counts")
    monkeypatch.setattr("reticent.utility.workload.select_histograms", plain.select_histograms)
    assert np.array_equal(workload.histograms(cells), compiled)
