"""The distinct rows of a Parquet file, whatever its columns hold and however its row groups fall."""

from collections import Counter
from datetime import date, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reticent.format.data_files import DataFile, count_distinct_rows, read_data
from reticent.format.distinct_rows import MAX_DIRECT_SPAN, TallyLimits, count_distinct_parquet_rows

LEAST = {
    "UInt8": 0,
    "Int8": -128,
    "Int16": -500,
    "UInt16": 65000,
    "Int32": -(2**31),
    "UInt32": 2**32 - 300,
    "Int64": -(2**62),
    "UInt64": 2**63,
}


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("apart", [256, MAX_DIRECT_SPAN + 1])
@pytest.mark.parametrize("name", LEAST)
def test_whole_numbers_are_counted_as_they_are(name, apart, missing, tmp_path: Path):
    dtype = getattr(pl, name)
    least = LEAST[name]
    rng = np.random.default_rng(3)
    numbers = [least + int(step) for step in rng.integers(0, min(apart, 256), 2000)]
    if apart > 256 and name not in ("UInt8", "Int8", "UInt16", "UInt32"):
        numbers[:2] = [least, least + apart]
    frame = pl.DataFrame({"a": pl.Series(numbers, dtype=dtype), "b": rng.choice(["x", "y"], 2000)})
    if missing:
        frame = frame.with_columns(a=pl.when(pl.int_range(pl.len()) % 7 == 0).then(None).otherwise("a"))
    frame.write_parquet(tmp_path / "data.parquet", row_group_size=700)
    found, times = count_distinct_parquet_rows(tmp_path / "data.parquet", ["a", "b"])
    assert found.schema == frame.schema
    assert len(set(found.rows())) == len(found)
    assert Counter(dict(zip(found.rows(), times.tolist(), strict=True))) == Counter(frame.rows())


def test_moments_keep_their_nanoseconds(tmp_path: Path):
    moments = pl.Series("at", [datetime(2020, 1, 1)] * 3).cast(pl.Datetime("ns")).to_frame()
    moments = moments.with_columns(pl.col("at") + pl.duration(nanoseconds=pl.Series([0, 7, 7])))
    moments.write_parquet(tmp_path / "data.parquet")
    found, times = count_distinct_rows(DataFile.from_path(tmp_path / "data.parquet"), {"at": str(moments["at"].dtype)})
    assert sorted(zip(found["at"].to_physical().to_list(), times.tolist(), strict=True)) == sorted(
        Counter(moments["at"].to_physical().to_list()).items()
    )


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_some_columns_can_be_read_or_counted_alone(suffix, tmp_path: Path):
    frame = pl.DataFrame({"a": [1, 1, 2], "b": ["x", "y", "y"], "c": [date(2020, 1, 1)] * 3})
    path = tmp_path / f"data.{suffix}"
    (frame.write_parquet if suffix == "parquet" else frame.write_csv)(path)
    schema = {"a": "Int64", "b": "String", "c": "Date"}
    assert read_data(DataFile.from_path(path), schema, only=["c", "a"]).equals(frame.select("a", "c"))
    found, times = count_distinct_rows(DataFile.from_path(path), schema, only=["a", "c"])
    assert dict(zip(found["a"], times.tolist(), strict=True)) == {1: 2, 2: 1}


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"word_bits": 5},
        {"word_bits": 7},
        {"word_bits": 0, "waiting_rows": 500},
        {"initial_places": 2, "direct_bits": 0},
        {"direct_bits": 4},
    ],
)
@pytest.mark.parametrize("groups", [300, 5000])
def test_combinations_are_counted_alike_in_a_table_and_where_a_word_is_too_small(limits, groups, tmp_path: Path):
    rng = np.random.default_rng(5)
    texts = rng.choice(["a", "b", "c", None], 2000)
    frame = pl.DataFrame({"a": texts, "b": rng.integers(0, 9, 2000), "c": rng.integers(5, 7, 2000), "d": texts})
    frame.write_parquet(tmp_path / "data.parquet", row_group_size=groups)
    found, times = count_distinct_parquet_rows(
        tmp_path / "data.parquet", frame.columns, tally_limits=TallyLimits(**limits)
    )
    assert len(set(found.rows())) == len(found)
    assert Counter(dict(zip(found.rows(), times.tolist(), strict=True))) == Counter(frame.rows())


def test_a_dictionary_that_lists_a_value_twice_makes_no_two_rows_of_it(tmp_path: Path):
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0], pa.int32()), pa.array(["x", "x", "y"]))
    pq.write_table(pa.table({"a": twice}), tmp_path / "data.parquet", store_schema=False)
    found, times = count_distinct_parquet_rows(tmp_path / "data.parquet", ["a"])
    assert dict(zip(found["a"], times.tolist(), strict=True)) == {"x": 3, "y": 1}
