"""Files of columns read a span of bytes at a time: the same rows as by Polars' own scan, and few of them ahead."""

from __future__ import annotations

import threading
from contextlib import closing
from unittest import mock

import polars as pl
import pytest

from reticent.data import columnar
from reticent.data.columnar import SpanReader, SpanSizes, group_frames
from reticent.data.source import Source, iterate_batches, scan_source

TABLE = pl.DataFrame(
    {
        "number": range(1000),
        "text": [None if row % 9 == 0 else "a text of its row " * (row % 5) for row in range(1000)],
        "kind": pl.Series([f"kind {row % 4}" for row in range(1000)], dtype=pl.Categorical),
    }
)
QUERIES = {
    "all": lambda rows: rows,
    "a column": lambda rows: rows.select("text"),
    "none but their number": lambda rows: rows.select(pl.len()),
    "some by a column that is not shown": lambda rows: rows.filter(pl.col("number") % 7 == 3).select("text"),
    "the number of some": lambda rows: rows.filter(pl.col("number") > 870).select(pl.len()),
    "the first": lambda rows: rows.head(333),
    "the first of some": lambda rows: rows.filter(pl.col("number") > 300).head(99),
    "some of the first": lambda rows: rows.head(99).filter(pl.col("number") > 30),
    "from the middle": lambda rows: rows.slice(391, 222),
    "the last": lambda rows: rows.tail(5),
    "with their places": lambda rows: rows.with_row_index().filter(pl.col("number") % 2 == 1),
}


def write_file(folder):
    TABLE.write_parquet(folder / "data.parquet", row_group_size=77)
    return folder / "data.parquet"


def write_arrow(folder):
    TABLE.write_ipc(folder / "data.arrow")
    return folder / "data.arrow"


def write_folder(folder):
    """Files of 300, no and 700 rows."""
    for at, (start, end) in enumerate(((0, 300), (300, 300), (300, 1000))):
        TABLE[start:end].write_parquet(folder / f"part-{at}.parquet", row_group_size=100)
    return folder


def write_hive(folder):
    """Folders whose names are numbers alone, and together are not."""
    for at, name in enumerate(("1", "02", "a b")):
        (folder / f"region={name}").mkdir()
        TABLE[400 * at : 400 * (at + 1)].write_parquet(folder / f"region={name}" / "part.parquet", row_group_size=90)
    return folder


WRITTEN = {"file": write_file, "arrow": write_arrow, "folder": write_folder, "hive": write_hive}


@pytest.mark.parametrize("narrow", [0, 50, 10_000])
@pytest.mark.parametrize("written", WRITTEN)
def test_every_query_has_the_rows_of_a_plain_scan(written, narrow, tmp_path):
    sizes = SpanSizes(
        narrow_row_bytes=narrow,
        narrow_batch_rows=70,
        span_bytes=9_000,
        batch_bytes=2_000,
        first_span_bytes=1_500,
        scan_group_bytes=100,
    )
    source = Source(path=str(WRITTEN[written](tmp_path)))
    plain = scan_source(source)
    spans = scan_source(source, by_pieces=True, sizes=sizes)
    assert plain.collect_schema() == spans.collect_schema()
    for name, query in QUERIES.items():
        for engine in ("in-memory", "streaming"):
            assert query(spans).collect(engine=engine).equals(query(plain).collect()), f"{name}, {engine}"


def test_a_file_without_rows_has_none_by_spans(tmp_path):
    TABLE[:0].write_parquet(tmp_path / "data.parquet")
    found = scan_source(Source(path=str(tmp_path / "data.parquet")), by_pieces=True).collect()
    assert found.schema == TABLE.schema and not len(found)


def test_small_files_are_scanned_together(tmp_path):
    sizes = SpanSizes(narrow_row_bytes=0)
    source = Source(path=str(write_folder(tmp_path)))
    with mock.patch.object(columnar, "_scan_paths", wraps=columnar._scan_paths) as opened:
        assert scan_source(source, by_pieces=True, sizes=sizes).collect().equals(TABLE)
    assert [len(call.args[0]) for call in opened.call_args_list] == [3]


@pytest.mark.parametrize("columns", [1, 40])
@pytest.mark.parametrize("width", [1, 900])
def test_a_span_is_bounded_by_bytes_whatever_rows_are_like(columns, width):
    limits = SpanSizes(span_bytes=1 << 18, first_span_bytes=1 << 12)
    rows = 3_000_000 // (columns * (16 + width))
    table = pl.DataFrame({f"c{at}": ["x" * width] * rows for at in range(columns)})
    spans = SpanReader(table.columns, sizes=limits)
    frames = list(spans.read_spans(table.lazy()))
    assert pl.concat(frames).equals(table)
    sizes = [len(frame) * columns * (16 + width) for frame in frames]
    assert max(sizes) <= 1 << 18 and sum(size > 1 << 17 for size in sizes) >= 9
    assert spans.batch_rows * columns * (16 + width) <= limits.batch_bytes


@pytest.mark.parametrize(
    ("width", "expected"), [(4, [50, 50, 20]), (984, [10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10])]
)
def test_frames_are_put_together_up_to_rows_or_bytes(width, expected):
    table = pl.DataFrame({"text": [f"{row:0{width}d}" for row in range(120)]})
    found = list(group_frames(table.iter_slices(5), 50, 10_000))
    assert [len(frame) for frame in found] == expected and {frame.n_chunks() for frame in found} == {1}
    assert pl.concat(found).equals(table)
    assert not list(group_frames([], 50, 10_000))


def test_rows_that_nobody_takes_are_not_read_ahead(tmp_path):
    """By Polars' own scan all 200,000 would be: they are in few row groups, and an expression stands over them."""
    sizes = SpanSizes(span_bytes=1 << 16, batch_bytes=1 << 12)
    rows = 200_000
    passed = [0]
    idle = threading.Event()
    table = pl.DataFrame({f"c{at}": pl.int_range(rows, eager=True) for at in range(20)})
    table.write_parquet(tmp_path / "data.parquet", row_group_size=25_000)

    def seen(series: pl.Series) -> pl.Series:
        passed[0] += len(series)
        return series

    lazy = scan_source(Source(path=str(tmp_path / "data.parquet")), by_pieces=True, sizes=sizes)
    watched = lazy.with_columns(pl.col("c0").map_batches(seen, return_dtype=pl.Int64, is_elementwise=True))
    with closing(iterate_batches(watched, "Reading", 400)) as taken:
        assert len(next(taken)) == 400
        before = -1
        while passed[0] != before:  # until nothing is read any more
            before = passed[0]
            idle.wait(0.3)
    assert passed[0] < rows // 2
