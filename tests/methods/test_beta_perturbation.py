from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.audit import audit
from reticent.errors import AuditFailed, BundleDamaged, ColumnError, JobError, PromiseUnreachable
from reticent.estimate.reconstruction import PerturbationEstimator, Reconstruction
from reticent.format.data_writer import write_data
from reticent.methods.beta_perturbation import MATRIX_SCALE, BetaPerturbation, perturb_cells
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.promise import Promises
from reticent.randomness import Random
from reticent.recipe.perturbed import PerturbedWriter
from reticent.recipe.recipe import WITHHELD_GROUP
from tests.support.random_cells import line, random_cells
from tests.support.release_folders import resealed

COLUMNS = {"age": rt.quasi(numeric=True), "town": rt.quasi(), "illness": rt.sensitive()}


def people(rows: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    illness = rng.choice(["flu", "cold", "ulcer", "gout"], rows, p=[0.4, 0.3, 0.2, 0.1])
    return pl.DataFrame(
        {"age": rng.integers(20, 60, rows), "town": rng.choice(["a", "b", ""], rows), "illness": illness}
    )


def published(
    frame: pl.DataFrame, beta: object = 1, *, form: dict | None = None, output: dict | None = None, **how: object
) -> rt.Release:
    job = rt.Job(
        columns=COLUMNS,
        promises=[BetaLikeness(beta, **(form or {}))],
        method=BetaPerturbation(**how),
        release=rt.Output(**(output or {})),
    )
    return rt.publish(job, frame=frame, seed=1)


@pytest.mark.parametrize("matrix", ["rank-one", "theorem3", "optimal"])
def test_a_release_keeps_exact_quasi_identifiers_and_publishes_its_matrix(matrix: str):
    if matrix == "optimal":
        pytest.importorskip("scipy")
    frame = people()
    release = published(frame, matrix=matrix, form={"enhanced": matrix != "theorem3"})
    shown = release.frame()
    assert shown.schema == frame.schema
    assert shown.select("age", "town").sort("age", "town").equals(frame.select("age", "town").sort("age", "town"))
    assert all(sum(Fraction(str(entry)) for entry in row) == 1 for row in release.manifest.own["matrix"])
    assert len(release.manifest.own["distribution"]) == len(release.manifest.own["values"]) == 4
    found = audit(release)
    assert found.kept is None
    assert [verdict.evidence for verdict in found.promises] == ["from parameters"]
    assert found.promises[0].achieved["beta"] <= 1


def test_the_folder_is_closed(tmp_path):
    release = published(people())
    release.save(tmp_path / "r")
    assert sorted(path.name for path in (tmp_path / "r").iterdir()) == ["README.md", "data.parquet", "manifest.json"]
    always = {
        "reticent",
        "format",
        "kind",
        "data",
        "rows",
        "withheld",
        "columns",
        "jointly",
        "promises",
        "method",
        "files",
        "readme",
    }
    assert set(release.manifest.to_dict()) == always | {"values", "matrix", "distribution", "seeded"}
    assert "redrawn" in (tmp_path / "r" / "README.md").read_text()


def test_a_csv_release_reads_back_with_its_types():
    frame = people().with_columns(pl.col("town").replace("", "c"))
    assert published(frame, output={"format": "csv"}).frame().schema == frame.schema


def test_carried_columns_stay_with_their_row():
    frame = people().with_columns(pl.int_range(300).alias("number"))
    job = rt.Job(
        columns={**COLUMNS, "number": rt.insensitive(acknowledge=True)},
        promises=[BetaLikeness(1)],
        method=BetaPerturbation(),
    )
    shown = rt.publish(job, frame=frame, seed=1).frame().sort("number")
    assert shown.select("age", "town").equals(frame.select("age", "town"))
    assert not shown["illness"].equals(frame["illness"])


def test_counts_are_reconstructed_with_a_standard_error():
    frame = people(20_000)
    release = published(frame, 2)
    where = pl.col("age") < 40
    true = frame.filter(where & (pl.col("illness") == "flu")).height
    for by in ("inversion", "em"):
        answer = release.count(where, ["flu"], by=by)
        assert abs(answer.estimate - true) < 5 * answer.std_error
    assert release.count(where).estimate == pytest.approx(frame.filter(where).height)
    assert release.count(where).std_error == pytest.approx(0, abs=1e-3)


def test_published_labels_are_counted_as_they_are_published():
    job = rt.Job(columns=COLUMNS, promises=[rt.KAnonymity(5)])
    release = rt.publish(job, frame=people(), seed=1)
    assert release.count().lower == release.count().upper == len(release.frame())
    with pytest.raises(rt.RequestError, match="a condition on values cannot be put to them"):
        release.count(pl.col("illness") > 3)


def test_draws_hit_each_value_exactly_as_often_as_the_matrix_says():
    """With ten equally likely draws, each once, a row of probabilities in tenths is met exactly."""
    cells = line([0] * 10 + [1] * 10 + [3] * 10, [0] * 30)
    matrix = [[7, 1, 2], [0, 10, 0], [3, 3, 4]]
    every = SimpleNamespace(integers=lambda low, high, size, dtype: np.tile(np.arange(10, dtype=dtype), size // 10))
    recipe = perturb_cells(cells, np.array([0, 1, 3]), matrix, every, scale=10)
    found = np.zeros((3, 3), int)
    for cell, value, quota in zip(recipe.cell, recipe.values[:, 0], recipe.quota, strict=True):
        found[cell, [0, 1, 3].index(value)] += quota
    assert found.tolist() == matrix


def test_rows_are_redrawn_with_the_published_probabilities():
    cells = line([0] * 40_000 + [1] * 20_000, [0] * 60_000)
    recipe = BetaPerturbation().plan(cells, Promises.from_iterable([BetaLikeness("0.3")]), Random.from_seed(3))
    stays = int(recipe.quota[(recipe.cell == 0) & (recipe.values[:, 0] == 0)].sum())
    expected = 40_000 * recipe.matrix[0][0] / MATRIX_SCALE
    assert abs(stays - expected) < 5 * np.sqrt(expected * (1 - recipe.matrix[0][0] / MATRIX_SCALE))


def test_the_distribution_is_never_published_beside_withheld_rows():
    cells = line([0, 1, 2] * 20)
    recipe = BetaPerturbation().plan(cells, Promises.from_iterable([BetaLikeness(1)]), Random.from_seed(1))
    columns = {"x": rt.quasi(numeric=True), "s": rt.sensitive()}
    assert "distribution" in PerturbedWriter.from_recipe(recipe, columns).fields({})
    from dataclasses import replace

    withheld = replace(recipe, group=np.where(np.arange(len(recipe.group)) == 0, WITHHELD_GROUP, 0))
    assert "distribution" not in PerturbedWriter.from_recipe(withheld, columns).fields({})


def reconstruction(matrix: list[list[float]]) -> Reconstruction:
    return Reconstruction("s", pl.Series("s", [f"v{i}" for i in range(len(matrix))]), np.array(matrix))


def test_inversion_is_unbiased():
    matrix = reconstruction([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.2, 0.2, 0.6]])
    counts = np.array([30.0, 5.0, 65.0])
    assert matrix.invert(counts @ matrix.matrix) == pytest.approx(counts)


def test_the_estimated_variance_is_unbiased():
    matrix = reconstruction([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.2, 0.2, 0.6]])
    counts = np.array([30.0, 5.0, 65.0])
    among = np.array([1.0, 0.0, 1.0])
    weight = np.linalg.inv(matrix.matrix) @ among
    true = sum(n * (row @ weight**2 - (row @ weight) ** 2) for n, row in zip(counts, matrix.matrix, strict=True))
    redrawn = PerturbationEstimator(None, matrix.values, None, matrix)
    # All rows are selected, so that what is borrowed from all rows is their own.
    assert redrawn.total((counts @ matrix.matrix)[None], among[None])[1] ** 2 == pytest.approx(true)


def test_expectation_maximisation_is_never_negative_where_inversion_is():
    matrix = reconstruction([[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]])
    observed = np.array([0.0, 10.0, 1.0])
    assert matrix.invert(observed).min() < 0
    found = matrix.maximise(observed)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(11)


def test_expectation_maximisation_agrees_with_inversion_inside_the_domain():
    matrix = reconstruction([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.2, 0.2, 0.6]])
    observed = np.array([30.0, 50.0, 20.0]) @ matrix.matrix
    assert matrix.maximise(observed) == pytest.approx(matrix.invert(observed), rel=1e-3)


def forged(tmp_path, **changes):
    folder = published(people()).save(tmp_path / "r")
    resealed(folder, lambda stated: stated.update(changes))
    return folder


def test_the_audit_finds_a_matrix_that_says_too_much(tmp_path):
    unit = [[int(i == v) for v in range(4)] for i in range(4)]
    found = audit(forged(tmp_path, matrix=unit))
    assert found.kept is False
    assert found.to_dict()["promises"][0]["evidence"] == "from parameters"


@pytest.mark.parametrize(
    "changes",
    [
        {"matrix": [[0.5] * 4] * 4},
        {"matrix": [[1]]},
        {"distribution": [1, 1, 0, 0]},
        {"values": ["flu"]},
        {"withheld": 3},
        {"values": ["a", "b", "c", "d"]},
        {"matrix": [["x"] * 4] * 4},
        {"weights": {"age": 2}},
    ],
)
def test_the_audit_refuses_parameters_that_are_none(tmp_path, changes):
    with pytest.raises(BundleDamaged):
        audit(forged(tmp_path, **changes))


def test_publishing_stops_where_the_audit_finds_the_promise_broken(monkeypatch):
    whole = [[MATRIX_SCALE if i == v else 0 for v in range(4)] for i in range(4)]
    monkeypatch.setattr(BetaPerturbation, "matrix_for", lambda self, counts, promises: whole)
    with pytest.raises(AuditFailed):
        published(people())


def test_a_missing_sensitive_value_is_refused():
    cells = next(
        c for c in (random_cells(n, null=True) for n in range(50)) if c.totals(0)[-1] and (c.totals(0) > 0).sum() > 2
    )
    with pytest.raises(ColumnError, match="missing in"):
        BetaPerturbation().plan(cells, Promises.from_iterable([BetaLikeness(1)]), Random.from_seed(1))


def test_a_single_sensitive_value_is_refused():
    with pytest.raises(ColumnError, match="single value"):
        BetaPerturbation().plan(line([0, 0]), Promises.from_iterable([BetaLikeness(1)]), Random.from_seed(1))


@pytest.mark.parametrize("options", [{"matrix": "best"}, {"conditioning": 0}, {"conditioning": 2}])
def test_wrong_options_are_refused(options: dict):
    with pytest.raises(JobError):
        BetaPerturbation(**options)


def test_theorem_3_has_no_matrix_where_a_cap_reaches_one():
    with pytest.raises(PromiseUnreachable, match="infinite"):
        BetaPerturbation(matrix="theorem3").matrix_for(
            [60, 40], Promises.from_iterable([BetaLikeness(1, enhanced=False)])
        )


def test_against_its_source_a_redrawn_release_is_kept():
    frame = people(3000).with_columns(pl.int_range(3000).alias("age"))
    found = audit(published(frame), source=frame)
    assert found.kept is True
    assert found.to_dict()["source"]["redrawn"]["linked"] == 3000
    assert "passed" in str(found)
    assert found.to_dict()["source"]["passed"] is True


def test_against_its_source_a_release_that_was_not_redrawn_is_broken(tmp_path):
    frame = people(3000).with_columns(pl.int_range(3000).alias("age"))
    folder = published(frame).save(tmp_path / "r")
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=1)
    write_data(folder / "data.parquet", shuffled, "parquet")
    resealed(folder)
    assert audit(folder).kept is None
    found = audit(folder, source=frame)
    assert found.kept is False
    assert found.to_dict()["source"]["redrawn"]["worst"]["p_value"] < 1e-100


def test_other_people_and_another_distribution_are_found():
    frame = people()
    release = published(frame)
    assert audit(release, source=frame.with_columns(pl.col("age") + 1)).source.unmatched > 0
    other = frame.with_columns(pl.lit("flu").alias("illness"))
    assert audit(release, source=other).to_dict()["source"]["redrawn"]["distribution"] is False
    with pytest.raises(AuditFailed, match="not in the source"):
        audit(release, source=frame.drop("town"))
