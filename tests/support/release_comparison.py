"""What two releases of one job have in common, whichever engine made them and in whatever pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import reticent as rt
from reticent import catalogue

ENGINES = [name for name in catalogue.ENGINES if name not in (catalogue.DEFAULT_ENGINE, "spark")]
"""Engines that give every row the outcome that `local` gives it; `test_spark.py` has what Spark promises."""

SIZES = {
    "reticent.format.data_files.MAX_COUNTED_BYTES": 0,
    "reticent.format.data_files.MAX_VALUES_COUNTED_AT_ONCE": 97,
    "reticent.engines.external_sort.BUCKET_BYTES": 600,
    "reticent.engines.external_sort.SORT_BUCKET_ROWS": 31,
    "reticent.engines.expansion.BATCH_ROWS": 23,
    "reticent.engines.expansion.MAX_SHUFFLED_ROWS": 50,
    "reticent.engines.counting.MAX_HELD_VALUES": 16,
    "reticent.engines.stream.BATCH_ROWS": 19,
    "reticent.engines.stream.READ_BYTES": 2_400,
    "reticent.data.columnar.MAX_NARROW_ROW_BYTES": 0,
    "reticent.data.columnar.SPAN_BYTES": 4_000,
    "reticent.data.columnar.BATCH_BYTES": 900,
    "reticent.data.columnar.FIRST_SPAN_BYTES": 500,
}


@contextmanager
def in_pieces(rows: int = 37) -> Iterator[None]:
    """Everything that `stream` does in pieces, in pieces of a few rows."""
    with ExitStack() as patched:
        for name, value in {**SIZES, "reticent.engines.stream.choose_batch_rows": lambda lazy: rows}.items():
            patched.enter_context(mock.patch(name, value))
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
