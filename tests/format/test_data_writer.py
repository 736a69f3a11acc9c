"""Row groups of a Parquet file: where they end, and that one is held at a time."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reticent.format.data_writer import count_group_rows, write_parquet
from reticent.format.row_batches import BATCH_ROWS, CodedColumn, FileRows, RowBatch


def schema(**columns: tuple[int, pa.DataType]) -> pa.Schema:
    return pa.schema([(f"{name}_{at}", kind) for name, (many, kind) in columns.items() for at in range(many)])


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        ({}, BATCH_ROWS),
        ({"answer": (794, pa.int8()), "label": (6, pa.dictionary(pa.int32(), pa.string()))}, BATCH_ROWS),
        ({"answer": (800, pa.float64())}, (1 << 29) // 6_400),
        ({"note": (800, pa.string())}, (1 << 29) // 19_200),
        ({"exact": (800, pa.decimal128(12, 3)), "yes": (800, pa.bool_())}, (1 << 29) // 13_600),
    ],
)
def test_a_group_has_as_many_rows_as_its_bytes_allow(columns, rows):
    assert count_group_rows(schema(**columns)) == rows


def test_wide_rows_are_written_in_smaller_groups(tmp_path):
    frame = pl.DataFrame({f"c{at}": pl.int_range(100, eager=True) for at in range(8)})
    rows = FileRows.from_frame(frame)
    write_parquet(tmp_path / "data.parquet", rows.columns, rows.pieces, max_group_bytes=1 << 10)
    stored = pq.read_metadata(tmp_path / "data.parquet")
    assert [stored.row_group(at).num_rows for at in range(stored.num_row_groups)] == [16] * 6 + [4]
    assert pl.read_parquet(tmp_path / "data.parquet").equals(frame)


def test_a_group_is_not_held_while_the_next_is_made(tmp_path):
    rows = 1 << 18
    some = 1 << 15
    groups = 5
    column = CodedColumn(pl.Series(np.arange(some) * 3), np.arange(some))
    held = []

    def made():
        for _ in range(groups * rows // some):
            held.append(pa.total_allocated_bytes())
            yield RowBatch(np.arange(some))

    write_parquet(tmp_path / "data.parquet", {"number": column}, made(), max_group_rows=rows)
    assert pq.read_metadata(tmp_path / "data.parquet").num_row_groups == groups
    first, later = (max(each) - held[0] for each in (held[: rows // some], held))
    assert later < first + 8 * rows // 2, "the first group, and none beside it later"
