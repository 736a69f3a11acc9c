"""The audit of anatomized releases takes nothing of the files on trust: not their order, not their numbers, not their types."""

from collections import Counter
from datetime import datetime

import numpy as np
import polars as pl
import pytest

import reticent as rt
from reticent.audit.anatomized import read_histograms
from reticent.audit.row_matching import link_rows
from reticent.audit.source_comparison import ComparedRows, ConvertedSource
from reticent.errors import BundleDamaged
from reticent.format.data_writer import write_data
from reticent.format.manifest import ColumnEntry
from reticent.methods.anatomy import Anatomy
from tests.support.release_folders import resealed

COLUMN = ColumnEntry(name="illness", role="sensitive", type="categorical")


@pytest.fixture
def release() -> rt.Release:
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 40, 203),
            "city": rng.choice(["Ulm", "Bonn", "Kiel"], 203),
            "illness": rng.choice(["flu", "cold", "gout", "mumps", "acne", "asthma"], 203),
        }
    )
    columns = {"age": rt.quasi(), "city": rt.quasi(), "illness": rt.sensitive()}
    return rt.publish(rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(3)], method=Anatomy()), frame=frame)


def forge(release: rt.Release, **changes) -> None:
    """Change files and seal the folder anew, as a forger would."""
    for name, change in changes.items():
        path = release.folder / f"{name}.parquet"
        write_data(path, change(pl.read_parquet(path)), "parquet")
    resealed(release.folder)


def shuffled(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.sample(fraction=1, shuffle=True, seed=7)


def renumbered(number):
    """Other numbers, and the rows in their order."""
    change = number(pl.col("group").cast(pl.Int64))
    return lambda frame: frame.with_columns(group=change).sort("group", maintain_order=True)


def test_the_verdict_is_the_same_however_the_files_are_written(release):
    before = rt.audit(release.folder)
    wide = renumbered(lambda g: g)
    forge(release, quasi=wide, sensitive=wide)
    after = rt.audit(release.folder)
    assert after.kept is True
    assert (after.exact, after.groups, after.rows) == (before.exact, before.groups, before.rows)
    assert after.utility == pytest.approx(before.utility)


@pytest.mark.parametrize("number", [lambda g: g * 9973 + 5, lambda g: -g], ids=["with gaps", "negative"])
def test_groups_that_are_not_numbered_from_0_are_refused(release, number):
    """A number of a group that may be any number can carry anything, and be as large as it likes."""
    change = renumbered(number)
    forge(release, quasi=change, sensitive=change)
    with pytest.raises(BundleDamaged, match="of 'group' are missing, or not from 0 to 202"):
        rt.audit(release.folder)


def split(frame: pl.DataFrame) -> pl.DataFrame:
    """Group 0 as if it had one of its values twice: rows and values agree in number."""
    rest = frame.filter(pl.col("group") != 0)
    mine = frame.filter(group=0)
    return pl.concat([mine.head(len(mine) - 1), mine.head(1), rest])


def first(column: str, value):
    """A column with another value in its first row."""
    return at(0, column, value)


def last(column: str, value):
    return at(-1, column, value)


def at(row: int, column: str, value):
    here = pl.int_range(pl.len()) == row % pl.len()
    return lambda f: f.with_columns(pl.when(here).then(value).otherwise(column).alias(column))


FAULTS = {
    "rows unsorted": ({"quasi": shuffled}, "not sorted by all that they show"),
    "rows of a group the other way round": (
        {"quasi": lambda f: f.sort("group", pl.int_range(pl.len()), descending=[False, True])},
        "not sorted by all",
    ),
    "values unsorted": ({"sensitive": shuffled}, "not listed once each, sorted by group and value"),
    "values of a group the other way round": (
        {"sensitive": lambda f: f.sort("group", "illness", descending=[False, True])},
        "not listed once each, sorted",
    ),
    "the last group first": ({"quasi": lambda f: f.reverse(), "sensitive": lambda f: f.reverse()}, "sorted by group"),
    "a value twice, next to itself": (
        {"sensitive": lambda f: split(f).sort("group", "illness")},
        "not listed once each",
    ),
    "a value twice, apart": ({"sensitive": lambda f: shuffled(split(f))}, "not listed once each"),
    "a count of zero": ({"sensitive": first("count", 0)}, "are missing, or not from 1"),
    "a negative count": ({"sensitive": first("count", -1)}, "are missing, or not from 1"),
    "counts that cancel": (
        {"sensitive": lambda f: f.with_columns(count=pl.Series([-1, 3] + [1] * (len(f) - 2)))},
        "are missing, or not from 1",
    ),
    "a count too many": ({"sensitive": first("count", 2)}, "1 group.* not as many rows as values"),
    "a count that is missing": ({"sensitive": first("count", None)}, "missing"),
    "a listed group that is missing": ({"sensitive": first("group", None)}, "missing"),
    "a row's group that is missing": ({"quasi": first("group", None)}, "missing"),
    "a row in another group": ({"quasi": first("group", 3)}, "2 group.* not as many rows as values"),
    "a row in a group that is not listed": ({"quasi": first("group", 10**6)}, "not from 0 to 202"),
    "a group with a gap in one file": ({"sensitive": last("group", 2 * 10**9)}, "not from 0 to 202"),
    "a negative group in one file": ({"sensitive": first("group", -7)}, "not from 0 to 202"),
    "a group too large for 32 bits": ({"sensitive": first("group", 1 << 40)}, "another type"),
    "no values": ({"sensitive": lambda f: f.head(0)}, "no group has values"),
    "rows too few": ({"quasi": lambda f: f.head(len(f) - 1)}, "the manifest says 203"),
    "no rows": ({"quasi": lambda f: f.head(0), "sensitive": lambda f: f.head(0)}, "0 rows"),
    "groups that are texts": ({"sensitive": lambda f: f.with_columns(group=pl.lit("first"))}, "another type"),
    "counts that are fractions of text": ({"sensitive": lambda f: f.with_columns(count=pl.lit("x"))}, "another type"),
    "ages that are texts": ({"quasi": lambda f: f.with_columns(age=pl.lit("old"))}, "another type"),
    "a column too many": ({"quasi": lambda f: f.with_columns(name=pl.lit("Ann"))}, "other columns"),
    "a column too few": ({"quasi": lambda f: f.drop("city")}, "other columns"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_forged_file_is_refused(release, fault):
    changes, said = FAULTS[fault]
    forge(release, **changes)
    with pytest.raises(BundleDamaged, match=said):
        rt.audit(release.folder)


def test_k_counts_the_rows_that_agree_in_every_quasi_identifier(release):
    agree = Counter(release.frame().select("age", "city").rows())
    assert rt.audit(release.folder).achieved["k-anonymity"] == min(agree.values())
    forge(release, quasi=lambda f: f.with_columns(age=pl.lit(30, pl.Int64), city=pl.lit("Ulm")))
    resealed(release.folder, lambda stated: stated["columns"][1].update(values=["Ulm"]))
    assert rt.audit(release.folder).achieved["k-anonymity"] == 203


def test_quasi_identifiers_that_differ_by_a_nanosecond_are_not_alike():
    moments = [datetime(2020, 1, 1, 12)] * 3
    frame = pl.DataFrame({"at": moments, "illness": ["flu", "cold", "gout"]}).with_columns(
        pl.col("at").cast(pl.Datetime("ns"))
    )
    columns = {"at": rt.quasi(), "illness": rt.sensitive()}
    release = rt.publish(
        rt.Job(columns=columns, promises=[rt.ProbabilisticLDiversity(3)], method=Anatomy()), frame=frame
    )
    assert rt.audit(release.folder).achieved["k-anonymity"] == 3
    later = pl.col("at") + pl.duration(nanoseconds=pl.int_range(pl.len()))
    forge(release, quasi=lambda f: f.with_columns(later))
    assert rt.audit(release.folder).achieved["k-anonymity"] == 1


@pytest.mark.parametrize("seed", range(40))
def test_each_histogram_is_kept_exactly_once(seed):
    """Few values and counts, so that neighbours often agree, in values alone, in counts alone, or in both."""
    rng = np.random.default_rng(seed)
    most = int(rng.integers(1, 4))
    names = list("abcd")
    rows = []
    for group in range(60):
        length = 2 if seed % 2 else int(rng.integers(1, 5))
        for name in sorted(rng.choice(names, length, replace=False)):
            rows.append((group * 3, str(name), int(rng.integers(1, most + 1))))
    frame = pl.DataFrame(rows, schema=["group", "illness", "count"], orient="row")
    listed = read_histograms(COLUMN, frame)
    held = sorted(set(frame["illness"]))
    truth = {tuple((held.index(v), c) for g, v, c in rows if g == group) for group, _, _ in rows}
    found = listed.distinct()
    kept = Counter(
        tuple(zip(found.value[found.group == g].tolist(), found.count[found.group == g].tolist(), strict=True))
        for g in range(found.groups)
    )
    assert set(kept) == truth and set(kept.values()) == {1}
    assert found.totals.tolist() == [sum(c for _, v, c in rows if v == name) for name in held]
    assert listed.sizes.sum() == frame["count"].sum() and len(listed.sizes) == 60


def test_rows_beyond_the_source_are_counted_nulls_among_them():
    held = pl.DataFrame({"age": [1, 1, 2, None], "city": ["a", "a", None, None]})
    shown = pl.DataFrame({"age": [1, 2, None, None, 3], "city": ["a", None, None, None, "a"], "count": [3, 1, 1, 1, 2]})
    shown = shown.select(pl.exclude("count").repeat_by("count").explode())
    whole = ConvertedSource(held, {}, pl.Series([True] * 4))
    assert link_rows(ComparedRows(shown), whole, ComparedRows(held), ["age", "city"]).unmatched == 1 + 0 + 1 + 2
    assert link_rows(ComparedRows(held), whole, ComparedRows(held), ["age", "city"]).unmatched == 0
