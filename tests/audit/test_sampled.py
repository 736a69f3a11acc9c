"""The audit of sampled releases: what the files show, what the source shows, and what a forger changes."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.audit.measure.statistical_tests import assess_draws
from reticent.errors import BundleDamaged
from reticent.release import bundle
from tests.support.sampled_forgeries import forge

RNG = np.random.default_rng(7)
ROWS = 6000
TABLE = pl.DataFrame(
    {
        "a": RNG.integers(0, 600, ROWS),
        "b": RNG.choice(list("vwxyz"), ROWS),
        "s": RNG.choice(6, ROWS, p=[0.5, 0.1, 0.1, 0.1, 0.1, 0.1]),
    }
)
JOB = rt.Job(
    columns={"a": rt.quasi(), "b": rt.quasi(), "s": rt.sensitive(domain=[0, 5])},
    promises=[rt.RhoGuarantee("0.3", "0.6", "0.4"), rt.DeltaGrowth("0.4", "0.4")],
    method=rt.PerturbedGeneralization(k=5, draw="one"),
)


@pytest.fixture
def folder(tmp_path) -> Path:
    return Path(rt.publish(JOB, frame=TABLE, seed=1).save(tmp_path / "release"))


def of_an_older_version(folder: Path, **fields) -> Path:
    """The folder as a version wrote it that did not ask for a declared domain, and does not say what declared it."""
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest.pop("declared")
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").write_text(bundle.format_manifest(manifest))
    return forge(folder, **fields)


def test_a_domain_of_the_values_that_occur_is_not_kept_against_who_knows_everybody_else(tmp_path):
    """One person has a value that nobody else has: the domain names it, and the adversary of the promise knows whose it is."""
    table = TABLE.with_columns(s=pl.when(pl.int_range(pl.len()) == 11).then(9).otherwise("s"))
    job = JOB.at(columns={**JOB.columns, "s": rt.sensitive(domain=[0, 1, 2, 3, 4, 5, 9])})
    folder = Path(rt.publish(job, frame=table, seed=1).save(tmp_path / "release"))
    declared = rt.audit(folder, source=table)
    assert declared.kept is True
    assert declared.to_dict()["source"]["domain"]["single_holders"] == 1
    of_an_older_version(folder)
    alone = rt.audit(folder)
    assert {verdict.kept for verdict in alone.promises} == {None}
    assert all("declared" in verdict.why for verdict in alone.promises)
    found = rt.audit(folder, source=table)
    assert found.verdict == "broken"
    assert found.promises[0].achieved["rho2"] == 1
    assert found.to_dict()["source"]["domain"] == {"declared": False, "values": 7, "occurring": 7, "single_holders": 1}
    attacked = rt.attack(folder, table, "corruption", lambda_="0.4", rho1="0.3").to_dict()
    assert (attacked["worst_posterior"], attacked["domain_declared"], attacked["single_holders"]) == (1.0, False, 1)


def test_two_holders_of_a_value_are_told_apart_from_none_by_an_undeclared_domain(tmp_path):
    """Who corrupts all but the two knows that one of them has it: a prior w becomes w / (1 - (1 - w)^2)."""
    table = TABLE.with_columns(s=pl.when(pl.int_range(pl.len()) < 2).then(9).otherwise("s"))
    job = JOB.at(columns={**JOB.columns, "s": rt.sensitive(domain=[0, 1, 2, 3, 4, 5, 9])})
    job = job.at(promises=[rt.RhoGuarantee("0.1", "0.45", "0.2")])
    folder = of_an_older_version(Path(rt.publish(job, frame=table, seed=1).save(tmp_path / "release")))
    found = rt.audit(folder, source=table)
    w = Fraction(1, 10)
    assert found.promises[0].achieved["rho2"] == w / (1 - (1 - w) ** 2) > Fraction(45, 100)
    assert found.promises[0].kept is False
    assert found.to_dict()["source"]["domain"]["single_holders"] == 0


def test_a_manifest_that_says_a_hierarchy_declared_its_domain_has_that_hierarchy(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    for said in ("hierarchy", "order", "nobody", "range"):
        manifest["domain"] = manifest["domain"] if said != "range" else ["0", "1", "2", "3", "5"]
        (folder / "manifest.json").write_text(bundle.format_manifest({**manifest, "declared": said}))
        with pytest.raises(BundleDamaged, match="declare"):
            rt.audit(folder)


def test_persons_with_several_rows_are_judged_by_all_of_them(tmp_path):
    """Older versions published them with the p of one row; the audit multiplies what their rows say."""
    promises = [rt.RhoGuarantee("0.2", "0.4", "0.2")]
    columns = {**JOB.columns, "who": rt.identifying()}
    table = TABLE.with_columns(who=pl.int_range(pl.len()) // 2)
    job = rt.Job(columns=columns, promises=promises, method=rt.PerturbedGeneralization(k=10, draw="one"))
    folder = Path(rt.publish(job, frame=table, seed=1).save(tmp_path / "release"))
    one = rt.audit(folder).to_dict()["promises"][0]
    two = rt.audit(forge(folder, rows_per_person=2, k=5)).to_dict()["promises"][0]
    p = Fraction(str(rt.open(folder).manifest.own["p"]))
    m = 6
    lift = (1 + p / (10 * (1 - p) / m)) ** 2
    posterior = Fraction(1, 5) * lift / (Fraction(1, 5) * lift + Fraction(4, 5))
    assert two["achieved"]["rho2"] == pytest.approx(float(posterior))
    assert (one["kept"], two["kept"]) == (None, False)


def test_an_honest_release_is_undecided_from_its_files_and_kept_against_its_source(folder):
    alone = rt.audit(folder)
    assert alone.kept is None
    assert {verdict.evidence for verdict in alone.promises} == {"from parameters"}
    found = rt.audit(folder, source=TABLE).to_dict()
    assert found["kept"] is True
    assert found["source"]["drawn"]["passed"]
    assert found["source"]["drawn"]["tests"] == 7
    assert found["withheld"] == 0
    assert {"rho-guarantee", "delta-growth", "k-anonymity"} <= set(found["achieved"])


def test_too_few_groups_to_tell_leave_the_promise_undecided(tmp_path):
    """The groups are the source's, but values that were never perturbed would have passed the test as well."""
    few = TABLE.head(30)
    folder = rt.publish(JOB, frame=few, seed=2).save(tmp_path / "release")
    found = rt.audit(folder, source=few)
    assert found.source.findings[0].passed
    assert found.source.findings[0].facts["drawn"]["telling"] is False
    assert found.kept is None
    assert {verdict.kept for verdict in found.promises} == {None}
    assert all(verdict.why for verdict in found.promises)


def test_a_smaller_p_than_was_used_does_not_explain_the_values(folder):
    data = rt.open(folder).frame()
    true = TABLE.with_row_index()
    forged = data.with_columns(s=pl.lit(0, dtype=pl.Int64))  # every group shows its most frequent value
    found = rt.audit(forge(folder, forged), source=true.drop("index"))
    assert found.kept is False
    assert found.source.findings[0].passed is False


def test_a_wrong_g_is_found_against_the_source(folder):
    data = rt.open(folder).frame()
    found = rt.audit(forge(folder, data.with_columns(G=pl.col("G") + 1)), source=TABLE)
    assert found.kept is False


def test_a_missing_group_is_found_against_the_source(folder):
    found = rt.audit(forge(folder, rt.open(folder).frame().head(-1)), source=TABLE)
    assert found.kept is False
    assert found.source.withheld > 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda data: data.with_columns(G=pl.lit(4, dtype=pl.Int64)), "fewer than 5"),
        (lambda data: pl.concat([data, data.head(1)]), "cover the same person"),
        (lambda data: data.with_columns(s=pl.lit(9, dtype=pl.Int64)), "not in the domain"),
    ],
)
def test_files_that_break_the_kind_are_refused(folder, change, says):
    with pytest.raises(BundleDamaged, match=says):
        rt.audit(forge(folder, change(rt.open(folder).frame())))


@pytest.mark.parametrize(
    "fields", [{"p": 0.95}, {"k": 1}, {"domain": list("0123456789abcdefghijklmnop"), "declared": "list"}]
)
def test_parameters_that_do_not_give_the_promise_break_it(folder, fields):
    found = rt.audit(forge(folder, **fields))
    assert found.kept is False or fields.get("k") == 1
    if "k" in fields:
        assert {verdict.kept for verdict in found.promises} == {False}


@pytest.mark.parametrize("fields", [{"p": 0}, {"p": 1}, {"p": "x"}, {"k": 0}, {"domain": ["0"]}, {"distribution": [1]}])
def test_a_manifest_that_says_something_else_is_refused(folder, fields):
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(bundle.format_manifest({**manifest, **fields}))
    with pytest.raises(BundleDamaged):
        rt.audit(folder)


def test_a_cut_that_overlaps_another_is_found_in_sets_and_ranges(folder):
    data = rt.open(folder).frame()
    wider = data.with_columns(
        a=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("[0, 59]")).otherwise("a"),
        b=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("{v, w, x, y, z}")).otherwise("b"),
    )
    with pytest.raises(BundleDamaged, match="cover the same person"):
        rt.audit(forge(folder, wider))


DENSE = TABLE.with_columns(a=pl.col("a") // 15)


@pytest.fixture
def dense_folder(tmp_path) -> Path:
    job = JOB.at(method=rt.PerturbedGeneralization(k=5))
    return Path(rt.publish(job, frame=DENSE, seed=1).save(tmp_path / "dense"))


def test_several_rows_of_a_group_are_kept_against_their_source(dense_folder):
    found = rt.audit(dense_folder, source=DENSE)
    assert found.kept is True
    assert found.groups == len(rt.open(dense_folder).frame().unique(["a", "b"]))
    assert found.utility["rows_per_group"] > 4
    assert found.achieved["k-anonymity"] == rt.open(dense_folder).frame()["G"].min()


@pytest.mark.parametrize(
    "change",
    [
        lambda data: pl.concat([data, data.head(1)]),
        lambda data: data.tail(-1),
        lambda data: data.with_columns(G=pl.col("G") + 5),
        lambda data: data.with_columns(G=pl.when(pl.int_range(pl.len()) == 0).then(pl.col("G") + 1).otherwise("G")),
    ],
)
def test_a_label_with_other_rows_than_are_drawn_of_its_people_is_refused(dense_folder, change):
    with pytest.raises(BundleDamaged, match="rows"):
        rt.audit(forge(dense_folder, change(rt.open(dense_folder).frame())))


def test_several_rows_of_a_label_are_refused_where_the_manifest_does_not_say_that_many_are_drawn(dense_folder):
    method = json.loads((dense_folder / "manifest.json").read_text())["method"]
    assert method.pop("draw") == "many"
    with pytest.raises(BundleDamaged, match="cover the same person"):
        rt.audit(forge(dense_folder, method=method))


def test_several_rows_that_were_never_perturbed_are_found(dense_folder):
    data = rt.open(dense_folder).frame()
    forged = data.with_columns(s=pl.lit(0, dtype=pl.Int64))
    found = rt.audit(forge(dense_folder, forged), source=DENSE)
    assert found.kept is False
    assert found.source.findings[0].passed is False


def test_draws_without_replacement_pass_the_tests_of_draws_and_unperturbed_ones_do_not():
    rng = np.random.default_rng(3)
    groups = 60
    size = 40
    m = 8
    p = 0.4
    drawn = 10
    true = rng.choice(m, (groups, size), p=[0.4, 0.2, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05])
    group = np.repeat(np.arange(groups), size)
    pairs, count = np.unique(group * m + true.ravel(), return_counts=True)
    rows = np.repeat(np.arange(groups), drawn)
    places = {"'x'": np.arange(groups, dtype=float)}
    worst = []
    for _ in range(200):
        value = np.concatenate([rng.choice(people, drawn, replace=False) for people in true])
        shown = np.where(rng.random(len(value)) < p, value, rng.integers(0, m, len(value)))
        worst.append(assess_draws(pairs // m, pairs % m, count, shown, p, m, places, rows).worst)
        assert not assess_draws(pairs // m, pairs % m, count, value, p, m, places, rows).passed
    assert min(worst) > 1e-3  # p-values that are bounds: 200 honest draws come nowhere near what condemns


def test_honest_draws_pass_and_unperturbed_ones_do_not():
    rng = np.random.default_rng(3)
    groups = 400
    size = 6
    m = 8
    p = 0.25
    true = rng.choice(m, (groups, size), p=[0.4, 0.2, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05])
    group = np.repeat(np.arange(groups), size)
    pairs, count = np.unique(group * m + true.ravel(), return_counts=True)
    drawn_value = true[np.arange(groups), rng.integers(0, size, groups)]
    kept = rng.random(groups) < p
    honest = np.where(kept, drawn_value, rng.integers(0, m, groups))
    assert assess_draws(pairs // m, pairs % m, count, honest, p, m).passed
    forged = assess_draws(pairs // m, pairs % m, count, drawn_value, p, m)
    assert not forged.passed
    assert forged.has_power


def test_the_loss_of_flat_columns_is_that_of_any_other_column(folder):
    """The audit's short way gives what each label's own loss gives."""
    from reticent.audit.sampled import _make_labels
    from reticent.labels.crucial_tuple import read_column
    from reticent.labels.label_loss import ColumnLabels, FlatLabels

    release = rt.open(folder)
    entry = next(column for column in release.columns if column.name == "b")
    column = read_column(entry, release.frame()["b"])
    short = _make_labels(column, release.frame()["G"].to_numpy())
    assert isinstance(short, FlatLabels)
    long = ColumnLabels(short.name, short.scale, short.extents, short.rows)
    assert short.loss() == pytest.approx(long.loss())
    assert short.height() == pytest.approx(long.height())
