"""Numbers that stand for "missing" are found by their looks and by where they stand, told of by column and count, named in drafts."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reticent as rt
from reticent.data.sentinels import find_far_values
from reticent.data.source import Source
from reticent.job.draft import draft_job
from tests.support.code_columns import NO_SENTINELS, SENTINELS, STRETCHED


def found_in(values, each=3):
    values = sorted(values)
    return find_far_values("age", [str(value) for value in values], np.array(values, float), np.full(len(values), each))


@pytest.mark.parametrize("what", SENTINELS)
def test_codes_among_true_values_are_found_with_their_rows(what):
    true, codes = SENTINELS[what]
    far = found_in([*true, *codes])
    assert far is not None
    assert far.codes == tuple(str(code) for code in sorted(codes))
    assert far.rows == 3 * len(codes)


@pytest.mark.parametrize("what", NO_SENTINELS)
def test_values_that_stand_together_are_no_codes(what):
    assert found_in(NO_SENTINELS[what]) is None


@pytest.mark.parametrize("what", STRETCHED)
def test_true_values_that_stretch_a_range_are_counted_and_not_called_codes(what):
    values, many = STRETCHED[what]
    far = found_in(values)
    assert far is not None and far.stretches
    assert (far.codes, far.distinct, far.rows) == ((), many, 3 * many)


@given(st.sets(st.sampled_from([*range(-12, 12), 77, 88, 97, 98, 99, 888, 998, 999, 9999]), min_size=3, max_size=9))
def test_columns_of_few_values_that_all_may_be_codes_keep_two_values_at_least(values):
    far = found_in(values)
    assert far is None or far.distinct <= len(values) - 2


@pytest.mark.parametrize("values", [(-9, -6, -3), (-3, -2, -1), (-9, 99, 999), (7, 8, 9), (-1, 0, 9)])
def test_columns_of_three_values_that_look_like_codes_are_published(values):
    frame = pl.DataFrame({"age": [*values] * 4, "illness": ["flu", "cold", "gout", "pox"] * 3})
    columns = {"age": rt.quasi(numeric=True), "illness": rt.sensitive()}
    assert rt.publish(rt.Job(columns=columns, promises=[rt.KAnonymity(2)]), frame=frame, seed=1).frame().height == 12


def people(ages, missing=()):
    rows = len(ages)
    frame = pl.DataFrame(
        {"age": ages, "city": ["Ulm", "Jena"] * (rows // 2), "illness": ["flu", "cold", "gout", "pox"] * (rows // 4)}
    )
    columns = {"age": rt.quasi(numeric=True), "city": rt.quasi(), "illness": rt.sensitive()}
    return rt.Job(source=rt.Source(missing=missing), columns=columns, promises=[rt.KAnonymity(4)]), frame


AGES = [*range(20, 80), *range(20, 76), 999, 999, 999, 999]


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_publish_and_check_tell_of_codes_by_column_and_count_and_never_name_them(engine):
    job, frame = people(AGES)
    published = rt.publish(job, frame=frame, seed=1, engine=engine).notices
    checked = rt.check(job, frame=frame, methods=[], engine=engine).warnings
    for said in (published, checked):
        told = [notice for notice in said if "'age'" in notice]
        assert len(told) == 1 and "4 rows hold 1 value" in told[0]
        assert "999" not in told[0]


def test_codes_that_are_declared_missing_are_told_of_no_more():
    job, frame = people(AGES, missing=["999"])
    release = rt.publish(job, frame=frame, seed=1)
    assert not [notice for notice in release.notices if "'age'" in notice]
    assert max(map(float, next(entry for entry in release.columns if entry.name == "age").domain)) <= 79


def test_a_declared_range_is_the_stewards_own():
    job, frame = people(AGES)
    for age in (rt.quasi(numeric=True, top=90), rt.quasi(numeric=True, domain=(0, 1000))):
        release = rt.publish(job.at(columns={**job.columns, "age": age}), frame=frame, seed=1)
        assert not [notice for notice in release.notices if "'age'" in notice]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_draft_names_codes_as_missing_and_bands_are_proposed_without_them(ending, tmp_path):
    _, frame = people(AGES)
    path = tmp_path / f"people.{ending}"
    (frame.write_csv if ending == "csv" else frame.write_parquet)(path)
    found = draft_job(Source(path=str(path)))
    assert found.codes == ("999",)
    text = found.to_toml()
    assert 'missing = ["999"]  # CONFIRM' in text
    age = next(column for column in found.columns if column.name == "age")
    assert age.hierarchy["width"][-1] <= 50
    assert "4 rows hold a number that files use for missing" in " ".join(text.replace("#", "").split())
    (tmp_path / "job.toml").write_text(text)
    assert rt.Job.read(tmp_path / "job.toml").source.missing == ("999",)


def test_a_code_that_is_a_value_of_another_column_is_not_declared_missing(tmp_path):
    _, frame = people(AGES)
    frame.with_columns(metres=pl.Series([990 + at % 10 for at in range(120)])).write_csv(tmp_path / "people.csv")
    found = draft_job(Source(path=str(tmp_path / "people.csv")))
    assert (found.codes, found.shared) == ((), ("age",))
    assert 'missing = ["999"]' not in found.to_toml()
    assert "age holds numbers that look like codes" in " ".join(found.to_toml().replace("#", "").split())
    age = next(column for column in found.columns if column.name == "age")
    assert age.hierarchy["width"][-1] <= 50
