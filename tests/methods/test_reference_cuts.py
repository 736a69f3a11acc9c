"""Cuts that follow a reference table: the place that tells most about its classes, and nothing of the values that are published."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.engines.stream import StreamEngine
from reticent.errors import ReticentError

PROMISE = rt.RhoGuarantee("0.3", "0.6", "0.4")
COLUMNS = {"a": rt.quasi(), "b": rt.quasi(), "s": rt.sensitive(domain=["x", "y", "z"])}


def job(reference, k=4, **changes) -> rt.Job:
    method = rt.PerturbedGeneralization(k=k, cuts="gain", reference=reference)
    return rt.Job(**{"columns": COLUMNS, "promises": [PROMISE], "method": method, **changes})


def make_people(rows, seed, *, told=True) -> pl.DataFrame:
    """People whose value goes with b and with a above 6, or with nothing."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 12, rows)
    b = rng.integers(0, 4, rows)
    kept = np.where((a > 6) == (b > 1), "x", np.where(b > 1, "y", "z"))
    any_value = rng.choice(["x", "y", "z"], rows)
    return pl.DataFrame({"a": a, "b": b, "s": np.where(rng.random(rows) < 0.7, kept, any_value) if told else any_value})


def entropy(values) -> float:
    """Rows times the entropy of their values, in natural units."""
    counts = [values.count(value) for value in set(values)]
    return sum(count * log(len(values) / count) for count in counts)


def find_expected_sides(table, reference, k) -> set[frozenset[int]] | None:
    """The two sides of the cut that tells most, as places of the table's rows; None where chance explains them all."""
    classes = len(set(reference["s"]))
    least = (classes - 1 + 3 * sqrt(2 * (classes - 1))) / 2
    best = None
    for column in ("a", "b"):
        for value in sorted(set(table[column]))[:-1]:
            left = [place for place, held in enumerate(table[column]) if held <= value]
            if not k <= len(left) <= len(table) - k:
                continue
            above = min(held for held in table[column] if held > value)
            parts = [
                [s for held, s in zip(reference[column], reference["s"], strict=True) if (held >= above) == side]
                for side in (False, True)
            ]
            gain = entropy(list(reference["s"])) - sum(map(entropy, parts))
            if gain >= least and (best is None or gain > best[0] + 1e-9):
                right = frozenset(range(len(table))) - frozenset(left)
                best = (gain, {frozenset(left), right})
    return None if best is None else best[1]


def find_sides(release, table) -> set[frozenset[int]]:
    """The groups of a release, as places of the table's rows."""
    frame = release.frame(bounds=True).unique(["a", "b"])
    sides = set()
    for row in frame.iter_rows(named=True):
        inside = pl.lit(True)
        for column in ("a", "b"):
            inside &= pl.col(column).is_between(row[f"{column}_lower"], row[f"{column}_upper"])
        sides.add(frozenset(table.select(pl.arg_where(inside)).to_series().to_list()))
    return sides


@pytest.mark.parametrize("seed", range(25))
def test_the_first_cut_is_where_the_reference_differs_most(seed):
    """Groups of 8 of 20 rows can be cut once: an oracle of plain loops tries every place of both columns."""
    table = make_people(20, seed)
    reference = make_people(300, seed + 100)
    expected = find_expected_sides(table, reference, 8)
    assert expected is not None
    release = rt.publish(job(reference, k=8), frame=table, seed=1)
    assert find_sides(release, table) == expected


@pytest.mark.parametrize("seed", range(5))
def test_where_chance_explains_the_reference_cuts_are_made_at_the_median(seed):
    table = make_people(20, seed)
    reference = make_people(12, seed + 100, told=False)
    assert find_expected_sides(table, reference, 8) is None
    empty = rt.publish(job(reference.clear(), k=8), frame=table, seed=1)
    assert find_sides(rt.publish(job(reference, k=8), frame=table, seed=1), table) == find_sides(empty, table)


@pytest.mark.parametrize("missing", [False, True])
def test_groups_depend_on_quasi_identifiers_and_the_reference_alone(missing):
    """Every other sensitive column gives the same labels and sizes: what is drawn is drawn of the same groups."""
    reference = make_people(500, 2)
    table = make_people(200, 1)
    if missing:
        lacks = pl.int_range(pl.len()) % 5 == 0
        table, reference = (frame.with_columns(a=pl.when(~lacks).then("a")) for frame in (table, reference))
    groups = []
    for seed in range(4):
        values = pl.Series("s", np.random.default_rng(seed).permutation(table["s"].to_numpy()))
        values = values if seed < 3 else pl.Series("s", ["z"] * len(table))
        release = rt.publish(job(reference), frame=table.with_columns(values), seed=seed)
        groups.append(release.frame().select("a", "b", "G").unique().sort("a", "b"))
        found = rt.audit(release, source=table.with_columns(values))
        assert found.source.findings[0].passed and found.kept is not False
    assert all(group.equals(groups[0]) for group in groups)


def test_values_that_the_table_or_the_domain_lacks_are_left_out_and_others_are_ordered():
    """Rows of the reference with another sensitive value, or a text that the table lacks, tell nothing."""
    table = make_people(60, 1).with_columns(b=pl.col("b").replace_strict({0: "p", 1: "q", 2: "r", 3: "t"}))
    reference = make_people(500, 2).with_columns(b=pl.col("b").replace_strict({0: "p", 1: "q", 2: "r", 3: "t"}))
    foreign = reference.with_columns(s=pl.lit("none of these"))
    unknown = reference.with_columns(b=pl.lit("elsewhere"))
    far = pl.DataFrame({"a": [-5, 99], "b": ["p", "t"], "s": ["x", "y"]})
    alone, joined = (
        rt.publish(job(rows), frame=table, seed=1).frame()
        for rows in (pl.concat([reference, far]), pl.concat([reference, far, foreign, unknown]))
    )
    assert alone.equals(joined)


def test_a_job_file_names_the_reference_and_the_release_only_the_last_part_of_its_path(tmp_path):
    (tmp_path / "kept").mkdir()
    make_people(400, 2).write_csv(tmp_path / "kept" / "last-year.csv")
    make_people(200, 1).write_csv(tmp_path / "people.csv")
    lines = [
        '[source]\npath = "people.csv"',
        '[columns]\na = "quasi-identifying"\nb = "quasi-identifying"',
        's = { role = "sensitive", domain = ["x", "y", "z"] }',
        '[method]\nname = "perturbed-generalization"\nk = 4\ncuts = "gain"\nreference = "kept/last-year.csv"',
        '[[promise]]\nmodel = "rho-guarantee"\nrho1 = 0.3\nrho2 = 0.6\nlambda = 0.4',
    ]
    (tmp_path / "job.toml").write_text("\n".join(lines) + "\n")
    read = rt.Job.read(tmp_path / "job.toml")
    local, stream = (
        rt.publish(read, engine=engine, to=tmp_path / str(number), again=True, seed=1)
        for number, engine in enumerate(["local", StreamEngine()])
    )
    assert local.frame().equals(stream.frame())
    assert local.manifest.method.parameters["reference"] == "last-year.csv"
    assert "kept" not in (local.folder / "manifest.json").read_text()
    assert rt.open(tmp_path / "0").count().estimate == 200
    assert "Groups follow a table of other people" in (tmp_path / "0" / "README.md").read_text().replace("\n  ", " ")
    checked = rt.check(read)
    assert checked.reachable
    assert any("what it says of the people who are published" in sentence for sentence in checked.warnings)


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        (make_people(200, 1), "is the table that is published"),
        (make_people(200, 1).sample(fraction=1, shuffle=True, seed=1), "is the table that is published"),
        (make_people(200, 2).drop("s"), "The reference table lacks 1 column"),
        ("nowhere.csv", "nowhere.csv"),
    ],
)
def test_a_reference_that_makes_no_sense_is_refused_with_nothing_written(reference, says, tmp_path):
    with pytest.raises(ReticentError, match=says):
        rt.publish(job(reference), frame=make_people(200, 1), to=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_the_sources_own_file_is_refused(tmp_path):
    make_people(200, 1).write_csv(tmp_path / "people.csv")
    with pytest.raises(ReticentError, match="is the table that is published"):
        rt.publish(job(tmp_path / "people.csv", source=tmp_path / "people.csv"))


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"cuts": "gain"}, "needs a reference table"),
        ({"reference": "last-year.csv"}, 'is for cuts = "gain"'),
        ({"cuts": "gain", "reference": 7}, "reference is a file"),
        (
            {"cuts": "gain", "reference": "a.csv", "grouping": "specialization", "categories": [["x"]]},
            'is for grouping = "mondrian"',
        ),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(parameters, says):
    with pytest.raises(ReticentError, match=says):
        rt.PerturbedGeneralization(k=4, **parameters)
