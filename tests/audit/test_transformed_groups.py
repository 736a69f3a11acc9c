"""The groups of a transformed release are those that its own manifest declares, which the files show without the source."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.errors import BundleDamaged
from reticent.format.data_writer import write_data
from tests.support.release_folders import resealed

DECLARED = {
    "a column": {"group_by": "city"},
    "columns": {"group_by": ["city", "sex"]},
    "bands": {"group_by": {"age": [30, 45.5], "city": []}},
    "bands of decimals": {"group_by": {"weight": ["60.5", 75]}},
    "mondrian": {"group_by": "mondrian", "k": 12},
    "combinations": {"group_by": ["city"], "within": "qi-sa"},
    "stretches": {"group_by": ["city"], "within": "hilbert", "size": 15},
    "stretches of all": {"within": "hilbert", "size": 20},
    "nothing": {},
}
SENSITIVE = {"categories": ["flu", "cold", "gout", "mumps"], "numbers": [3, 7, 20, 21]}


def make_people(values: str, seed: int = 5) -> pl.DataFrame:
    """Combinations repeat; a tenth of the ages and cities is missing."""
    draw = np.random.default_rng(seed)
    rows = 160
    kinds = pl.DataFrame(
        {
            "age": [None if n % 10 == 3 else int(draw.integers(20, 60)) for n in range(rows // 2)],
            "city": [None if n % 10 == 7 else str(draw.choice(["Ulm", "Bonn", "Kiel"])) for n in range(rows // 2)],
            "sex": draw.choice(["f", "m"], rows // 2),
            "weight": draw.integers(90, 190, rows // 2) / 2,
        }
    )
    return pl.concat([kinds, kinds]).with_columns(illness=pl.Series(draw.choice(SENSITIVE[values], rows)))


def publish_declared(declared: str, values: str) -> tuple[rt.Release, pl.DataFrame]:
    people = make_people(values)
    columns = {name: rt.quasi() for name in ("age", "city", "sex", "weight")}
    job = rt.Job(
        columns={**columns, "illness": rt.sensitive(type="numeric" if values == "numbers" else "categorical")},
        promises=[rt.PPrivacy("uniform")],
        method=rt.Distribution(**DECLARED[declared], fakes=4),
    )
    return rt.publish(job, frame=people, seed=3), people


@pytest.mark.parametrize("values", SENSITIVE)
@pytest.mark.parametrize("declared", DECLARED)
def test_groups_as_they_are_declared_are_kept_with_and_without_the_source(declared, values):
    release, people = publish_declared(declared, values)
    assert rt.audit(release.folder).kept is True
    assert rt.audit(release.folder, source=people).kept is True


def rewrite_rows(release: rt.Release, group: list[int]) -> None:
    """Other groups for the same rows, sorted as the writer sorts them, and the folder sealed again."""
    rows = release.tables["quasi"]
    rows = rows.with_columns(
        pl.Series("group", group, dtype=rows["group"].dtype), pl.int_range(pl.len()).alias("place")
    )
    keys = [pl.col(name) for name in ("group", "age", "city", "sex", "weight")]
    rows = rows.sort(keys, nulls_last=True).drop("place")
    write_data(release.folder / "quasi.parquet", rows, "parquet")
    resealed(release.folder)


def exchange_combinations(rows: pl.DataFrame) -> list[int]:
    """Two combinations of different groups with equally many rows change places: every group has as many rows as before."""
    quasi = ["age", "city", "sex", "weight"]
    found = rows.group_by([*quasi, "group"], maintain_order=True).len().rows(named=True)
    one, other = next(
        (a, b)
        for a in found
        for b in found
        if a["len"] == b["len"] and a["group"] != b["group"] and a["city"] != b["city"] and _band(a) != _band(b)
    )
    moved = {tuple(one[name] for name in quasi): other["group"], tuple(other[name] for name in quasi): one["group"]}
    return [moved.get(tuple(row[name] for name in quasi), row["group"]) for row in rows.iter_rows(named=True)]


def _band(row: dict) -> tuple[bool, bool, bool]:
    return (row["age"] or 0) < 30, (row["age"] or 0) < 45.5, row["weight"] < 60.5


@pytest.mark.parametrize("values", SENSITIVE)
@pytest.mark.parametrize("declared", ["a column", "columns", "bands", "bands of decimals", "stretches"])
def test_rows_that_change_groups_against_the_manifest_are_refused_without_the_source(declared, values):
    release, _ = publish_declared(declared, values)
    rewrite_rows(release, exchange_combinations(release.tables["quasi"]))
    with pytest.raises(BundleDamaged, match="not those that its manifest declares"):
        rt.audit(release.folder)


@pytest.mark.parametrize("declared", [name for name in DECLARED if name not in ("nothing", "combinations")])
def test_a_combination_that_is_divided_between_groups_is_refused_without_the_source(declared):
    release, _ = publish_declared(declared, "categories")
    rows = release.tables["quasi"]
    quasi = ["age", "city", "sex", "weight"]
    first = rows.with_row_index("place").group_by([*quasi, "group"], maintain_order=True).agg(pl.col("place").first())
    one = first.row(0, named=True)
    other = next(row for row in first.iter_rows(named=True) if row["group"] != one["group"])
    group = rows["group"].to_list()
    group[one["place"]], group[other["place"]] = other["group"], one["group"]
    rewrite_rows(release, group)
    with pytest.raises(BundleDamaged, match="not those that its manifest declares"):
        rt.audit(release.folder)


def test_groups_of_other_columns_than_the_manifest_says_are_refused_without_the_source():
    release, _ = publish_declared("a column", "categories")
    for declared in ({"group_by": ["sex"]}, {"group_by": {"age": [40]}}, {"within": "qi-sa"}, {}):
        resealed(
            release.folder, lambda stated, d=declared: stated.update(method={"name": "distribution", "fakes": 4, **d})
        )
        with pytest.raises(BundleDamaged, match="not those that its manifest declares"):
            rt.audit(release.folder)


def test_groups_too_small_for_the_declared_k_are_refused_without_the_source():
    release, _ = publish_declared("mondrian", "categories")
    resealed(release.folder, lambda stated: stated["method"].update(k=60))
    with pytest.raises(BundleDamaged, match="fewer than 60 rows"):
        rt.audit(release.folder)


@pytest.mark.parametrize("values", SENSITIVE)
@pytest.mark.parametrize("left", ["none", "all but one"])
def test_bounds_that_were_emptied_are_refused_without_the_source(values, left):
    release, _ = publish_declared("a column", values)
    bounds = release.tables["bounds"]
    write_data(release.folder / "bounds.parquet", bounds.head(0 if left == "none" else len(bounds) - 1), "parquet")
    resealed(release.folder)
    with pytest.raises(BundleDamaged, match="bounds of the release are not those of its values"):
        rt.audit(release.folder)


@pytest.mark.parametrize("seed", [20, 23, 1, 3])
def test_decimals_spelled_otherwise_in_the_source_are_no_leak(seed):
    """ "0.10" stands in 10.100000000000001, a bound of a sum; 0.1 is published."""
    draw = np.random.default_rng(seed)
    rows = int(draw.integers(30, 90))
    many = int(draw.integers(3, 12))
    doses = [f"{x / 100:.2f}" for x in draw.choice(np.arange(5, 1200), many, replace=False)]
    doses[0] = "0.10" if seed % 2 else doses[0]
    people = pl.DataFrame(
        {
            "age": draw.integers(20, 60, rows),
            "city": draw.choice(["Ulm", "Bonn", "Kiel"], rows),
            "dose": draw.choice(doses, rows),
            "name": [f"person {n}" for n in range(rows)],
        }
    )
    columns = {"age": rt.quasi(), "city": rt.quasi(), "dose": rt.sensitive(), "name": rt.identifying()}
    job = rt.Job(
        columns=columns,
        promises=[rt.PPrivacy("uniform")],
        method=rt.Distribution(group_by=["city"]),
        release=rt.Output(format="csv"),
    )
    release = rt.publish(job, frame=people, seed=seed)
    found = rt.audit(release.folder, source=people)
    assert found.kept is True, found.source.sentences
