"""Texts that are looked up piece by piece are written as texts that were listed beforehand are."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from reticent.data.columns import NO_BOUNDS
from reticent.data.domain import RangeDomain
from reticent.format.data_writer import write_data, write_data_parts, write_parquet
from reticent.format.row_batches import BatchColumn, CodedColumn, FileRows, LookupColumn, RowBatch
from reticent.partitioned import region_planning

TEXTS = pl.Series("city", [f"city {at:03}" for at in range(300)])
ROWS = 1_000


class Pieces:
    """Rows by number, in pieces of all sizes."""

    def __init__(self, texts: pl.Series, cut: tuple[int, ...] = (1, 37, 400)):
        self.rows = ROWS
        self.beside = {"row": BatchColumn(pl.Int64())}
        numbers = np.random.default_rng(1).integers(0, len(texts), ROWS).astype(np.int32)
        self.frame = pl.DataFrame({"row": np.arange(ROWS), "\x00l0": numbers})
        self.cut = [0, *cut, ROWS]

    def __iter__(self):
        for start, end in zip(self.cut, self.cut[1:], strict=False):
            yield RowBatch(slice(0, 0), self.frame[start:end])


def both(texts: pl.Series) -> tuple[FileRows, FileRows, list[int]]:
    """The same rows with their texts looked up, and listed; and how many were asked for at a time."""
    asked: list[int] = []

    def looked(numbers: np.ndarray) -> pl.Series:
        asked.append(len(numbers))
        return texts.gather(numbers)

    beside = {"row": BatchColumn(pl.Int64())}
    pieces = Pieces(texts)
    one = FileRows({**beside, "city": LookupColumn(looked, "\x00l0", bool(texts.null_count()))}, pieces)
    other = FileRows({**beside, "city": CodedColumn(texts, np.zeros(0, np.int32), beside="\x00l0")}, pieces)
    return one, other, asked


@pytest.mark.parametrize(
    "texts", [TEXTS, pl.concat([TEXTS, pl.Series("city", [None], dtype=pl.String)])], ids=["", "nulls"]
)
def test_the_file_holds_the_same_rows_and_each_row_group_lists_its_own_texts(texts, tmp_path):
    one, other, asked = both(texts)
    for name, rows in (("one", one), ("other", other)):
        write_parquet(tmp_path / f"{name}.parquet", rows.columns, rows.pieces, max_group_rows=250)
    assert pl.read_parquet(tmp_path / "one.parquet").equals(pl.read_parquet(tmp_path / "other.parquet"))
    made, like = (pq.ParquetFile(tmp_path / f"{name}.parquet") for name in ("one", "other"))
    assert made.schema_arrow == like.schema_arrow and made.num_row_groups == like.num_row_groups == 4
    assert len(asked) == 4 and max(asked) <= 250


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_parts_and_csv_hold_the_same_rows(format, tmp_path):
    one, other, _ = both(TEXTS)
    for name, rows in (("one", one), ("other", other)):
        write_data_parts([tmp_path / f"{name}-{at}" for at in range(4)], rows, format, 300)
    for at in range(4):
        assert (tmp_path / f"one-{at}").read_bytes() == (tmp_path / f"other-{at}").read_bytes()


def test_a_text_that_looks_like_a_formula_is_seen_and_quoted(tmp_path):
    one, other, _ = both(pl.Series("city", ["Ulm", "=1+1"]))
    for quote in (False, True):
        assert write_data(tmp_path / "one.csv", one, "csv", quote=quote)
        write_data(tmp_path / "other.csv", other, "csv", quote=quote)
        assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()


@pytest.mark.parametrize("null", [False, True])
def test_labels_of_regions_are_numbered_alike_and_looked_up_a_few_at_a_time(null, tmp_path):
    texts = [f"[{low}, {low + 7}]" for low in range(90)]
    for region in range(3):
        region_planning.write_region_labels(
            tmp_path, region, (["x"], [*texts[region * 20 : region * 20 + 50], *([None] if null else [])])
        )
    domain = RangeDomain(
        "age", "Int64", tuple(map(str, range(100))), null, np.zeros(0), "numeric", np.arange(100), (0, 99), NO_BOUNDS
    )
    told = region_planning.number_labels(tmp_path, 1, domain, 3, batch_labels=16)
    whole = region_planning.read_column_labels(tmp_path, 1)
    assert whole.to_list() == [*sorted(texts), *([None] if null else [])]
    for wanted in ([], [0], [15, 16, 17], [3, 40, 89], list(range(len(whole)))):
        found = region_planning.look_up_labels(tmp_path, 1, np.array(wanted, np.int64), batch_labels=16)
        assert found.to_list() == [whole[at] for at in wanted]
    assert sorted(told, key=str) == ["0", "96", *([None] if null else [])]
    asked = region_planning.read_region_labels(tmp_path, 2)[1]
    assert whole.gather(region_planning.find_label_numbers(whole, asked)).to_list() == asked
