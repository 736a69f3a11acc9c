"""Top and bottom coding: what lies beyond a declared bound is published as the bound, and nowhere else."""

import tomllib
from collections import Counter
from datetime import date, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reticent as rt
from reticent.errors import ColumnError, JobError
from tests.oracle.groups import histograms, rows_of
from tests.oracle.measures import k_anonymity
from tests.support.release_folders import resealed

ROWS = st.lists(st.tuples(st.integers(0, 120), st.sampled_from("abc")), min_size=4, max_size=40)


def table(rows=200):
    return pl.DataFrame(
        {
            "age": [17 + (i * 37) % 83 for i in range(rows)],
            "born": [date(1920, 1, 1) + timedelta(days=(i * 7919) % 30_000) for i in range(rows)],
            "weight": [40 + (i * 13) % 90 + 0.5 for i in range(rows)],
            "illness": [["flu", "cold", "gout", "mumps"][i % 4] for i in range(rows)],
        }
    )


def job(**columns):
    declared = {"age": rt.quasi(top=80, bottom=20), "born": rt.quasi(bottom="1930-01-01"), "weight": rt.quasi(top=100)}
    return rt.Job(columns={**declared, "illness": rt.sensitive(), **columns}, promises=[rt.KAnonymity(4)])


@settings(deadline=None, max_examples=30)
@given(ROWS, st.integers(0, 60), st.integers(0, 60))
def test_a_release_is_that_of_the_clipped_table(rows, bottom, more):
    """Coding the ends in the job or in the data before it gives the same published rows, and the oracle's k."""
    frame = pl.DataFrame(rows, schema=["age", "s"], orient="row")
    columns = {"age": rt.quasi(bottom=bottom, top=bottom + more), "s": rt.sensitive()}
    promises = [rt.KAnonymity(2)]
    coded = rt.publish(rt.Job(columns=columns, promises=promises), frame=frame)
    by_hand = rt.publish(
        rt.Job(columns={"age": rt.quasi(), "s": rt.sensitive()}, promises=promises),
        frame=frame.with_columns(pl.col("age").clip(bottom, bottom + more)),
    )
    assert Counter(coded.frame().iter_rows()) == Counter(by_hand.frame().iter_rows())
    assert k_anonymity(histograms(rows_of(coded.frame().to_dicts(), ["age"], "s"))) >= 2
    assert rt.audit(coded, source=frame).source.passed


def test_the_manifest_and_the_recipient_s_readme_say_what_a_bound_means():
    release = rt.publish(job(), frame=table())
    entries = {entry.name: entry for entry in release.columns}
    assert (entries["age"].bottom, entries["age"].top, entries["age"].domain) == (20, 80, [20, 80])
    assert entries["born"].bottom == "1930-01-01"
    readme = (release.folder / "README.md").read_text()
    assert "`20` means 20 or less; `80` means 80 or more" in readme
    assert "`1930-01-01` means 1930-01-01 or earlier" in readme


def test_bounds_of_a_range_are_open_where_it_was_coded():
    frame = rt.publish(job(), frame=table()).frame(bounds=True)
    assert frame["age_upper"].max() < 80
    assert frame.filter(pl.col("age").str.contains("80"))["age_upper"].null_count() > 0
    assert frame["age_lower"].min() > 20
    assert frame["born_lower"].min() > date(1930, 1, 1)


def test_the_audit_against_the_source_codes_the_ends_alike():
    found = rt.audit(rt.publish(job(), frame=table()), source=table())
    assert found.kept
    assert found.source.unmatched == 0


def test_the_audit_finds_values_beyond_the_bound(tmp_path):
    """A folder that declares a top and publishes an age above it."""
    release = rt.publish(job(age=rt.quasi()), frame=table())
    release.save(tmp_path / "release")
    folder = tmp_path / "release"

    def declare(stated):
        next(c for c in stated["columns"] if c["name"] == "age")["top"] = 80

    resealed(folder, declare)
    found = rt.audit(folder, source=table())
    assert found.kept is False
    assert "age" in {leak.column for leak in found.source.leaks}


@pytest.mark.parametrize(
    "hierarchy",
    [
        {"build": "intervals", "width": [10, 20]},
        [[str(age), f"{age // 10 * 10}s", "*"] for age in range(20, 81)],
    ],
    ids=["built", "the steward's"],
)
def test_bounds_work_under_a_hierarchy(hierarchy):
    release = rt.publish(job(age=rt.quasi(top=80, bottom=20, type="numeric", hierarchy=hierarchy)), frame=table())
    assert rt.audit(release, source=table()).kept


def test_text_and_timestamps_are_coded_as_what_they_read_as(tmp_path):
    frame = table().select(
        pl.col("age").cast(pl.String), "illness", seen=pl.datetime(2001, 1, 1) + pl.duration(hours=pl.int_range(200))
    )
    columns = {"age": rt.quasi(top=80), "seen": rt.quasi(top=datetime(2001, 1, 5, 12)), "illness": rt.sensitive()}
    wanted = rt.Job(columns=columns, promises=[rt.KAnonymity(4)])
    release = rt.publish(wanted, frame=frame)
    assert next(c for c in release.columns if c.name == "seen").top == "2001-01-05T12:00:00"
    assert rt.audit(release, source=frame).kept
    assert rt.Job.from_dict(tomllib.loads(wanted.to_toml())).columns == dict(wanted.columns)


@pytest.mark.parametrize(
    "how",
    [
        {"top": True},
        {"top": "eighty"},
        {"top": 10, "bottom": 20},
        {"top": 10, "bottom": "2001-01-01"},
        {"top": float("nan")},
        {"top": 3, "type": "categorical"},
        {"top": 3, "order": ["1", "2"]},
    ],
)
def test_bounds_that_bound_nothing_are_refused_before_data_is_read(how):
    with pytest.raises(JobError):
        rt.quasi(**how)


@pytest.mark.parametrize("how", [{"top": 80.5}, {"top": "2001-01-01"}])
def test_a_bound_of_another_type_than_its_column_is_refused(how):
    with pytest.raises(ColumnError, match="'age'"):
        rt.publish(job(age=rt.quasi(**how)), frame=table())


def test_categories_have_no_top():
    with pytest.raises(ColumnError, match="no order"):
        rt.publish(job(born=rt.quasi(top=3)), frame=table().with_columns(born=pl.lit("Ulm")))


def test_an_identifying_column_is_not_coded():
    with pytest.raises(JobError, match="top is for quasi-identifying, sensitive and insensitive columns"):
        rt.Column("identifying", top=80)
