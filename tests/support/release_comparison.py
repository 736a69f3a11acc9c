"""What two releases of one job have in common, whichever engine made them and in whatever pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl

import reticent as rt
from reticent import catalogue
from reticent.data.columnar import SpanSizes, scan_columnar
from reticent.engines.counting import FrequencyCounter
from reticent.engines.expansion import expand_rows
from reticent.engines.external_sort import RowRanker, choose_bucket_count
from reticent.engines.stream import StreamPassthroughWriter, iterate_row_batches
from reticent.format.data_files import count_distinct_rows_in_parts

ENGINES = [name for name in catalogue.ENGINES if name not in (catalogue.DEFAULT_ENGINE, "spark")]
"""Engines that give every row the outcome that `local` gives it; `test_spark.py` has what Spark promises."""

SMALL_SPANS = SpanSizes(narrow_row_bytes=0, span_bytes=4_000, batch_bytes=900, first_span_bytes=500)
SMALL_STEPS = {
    "reticent.audit.kind.is_small_file": lambda file, schema: False,
    "reticent.audit.passthrough.count_distinct_rows_in_parts": partial(count_distinct_rows_in_parts, max_values=97),
    "reticent.engines.stream.choose_bucket_count": partial(choose_bucket_count, bucket_bytes=600),
    "reticent.engines.stream.RowRanker": partial(RowRanker, bucket_rows=31),
    "reticent.engines.stream.expand_rows": partial(expand_rows, batch_rows=23, max_shuffled_rows=50),
    "reticent.engines.stream.FrequencyCounter": partial(FrequencyCounter, max_held=16),
    "reticent.engines.stream.StreamPassthroughWriter": partial(StreamPassthroughWriter, batch_rows=19),
}
"""The steps of `stream` and of its audit, each with sizes of a few rows."""


def scan_in_small_spans(paths: Sequence[Path], schema: pl.Schema, **options: Any) -> pl.LazyFrame:
    """Scan as the stream engine does, a few rows at a time, whatever sizes are asked for."""
    return scan_columnar(paths, schema, **{**options, "sizes": SMALL_SPANS})


@contextmanager
def in_pieces(rows: int = 37) -> Iterator[None]:
    """Everything that `stream` does in pieces, in pieces of a few rows."""
    steps = {
        **SMALL_STEPS,
        "reticent.data.source.scan_columnar": scan_in_small_spans,
        "reticent.engines.stream.iterate_row_batches": partial(iterate_row_batches, read_rows=rows, read_bytes=2_400),
    }
    with ExitStack() as replaced:
        for name, step in steps.items():
            replaced.enter_context(mock.patch(name, step))
        yield


def rows_of(release: rt.Release) -> dict[str, Counter]:
    """The multiset of rows of each file."""
    return {name: Counter(frame.rows()) for name, frame in release.tables.items()}


def stated(release: rt.Release) -> dict[str, Any]:
    """All that the manifest says, but for the files' checksums."""
    return {name: value for name, value in release.manifest.to_dict().items() if name != "files"}


def assert_same(one: rt.Release, other: rt.Release) -> None:
    assert rows_of(one) == rows_of(other)
    assert stated(one) == stated(other)
    assert [verdict.kept for verdict in one.audited.promises] == [verdict.kept for verdict in other.audited.promises]


CARRIED = ("note", "visits")


def without_carried(release: rt.Release) -> dict[str, Counter]:
    """The multiset of rows of each file, carried columns left out."""
    return {name: Counter(frame.drop(CARRIED, strict=False).rows()) for name, frame in release.tables.items()}
