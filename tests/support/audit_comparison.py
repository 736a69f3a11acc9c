"""Two audits of one release, in memory and in parts of a few rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest import mock

import pytest

from reticent.audit.byte_search import _read_raw_windows
from reticent.audit.source_comparison import is_small_source
from reticent.audit.streamed_comparison import ComparisonSizes, StreamedComparison
from reticent.format.data_files import count_distinct_rows_in_parts, read_batches

SMALL_STEPS = {
    "reticent.audit.kind.is_small_file": lambda file, schema: False,
    "reticent.audit.audit.is_small_source": partial(is_small_source, max_bytes=-1),
    "reticent.audit.passthrough.count_distinct_rows_in_parts": partial(count_distinct_rows_in_parts, max_values=97),
    "reticent.audit.streamed_comparison.StreamedComparison": partial(
        StreamedComparison, sizes=ComparisonSizes(part_rows=90, texts=53, batch_rows=41)
    ),
    "reticent.audit.order.read_batches": lambda file, schema, rows: read_batches(file, schema, 29),
    "reticent.audit.manifest_checks.read_batches": lambda file, schema, rows: read_batches(file, schema, 31),
    "reticent.audit.byte_search._read_raw_windows": partial(_read_raw_windows, window_bytes=997),
}
"""The steps of an audit, each with sizes of a few rows."""


@contextmanager
def in_parts() -> Iterator[None]:
    with ExitStack() as replaced:
        for name, step in SMALL_STEPS.items():
            replaced.enter_context(mock.patch(name, step))
        replaced.enter_context(
            mock.patch(
                "reticent.audit.streamed_comparison.InMemoryComparison", side_effect=AssertionError("a table is held")
            )
        )
        yield


def assert_same(one: Any, other: Any, path: str = "") -> None:
    """Numbers that are sums over rows may differ in their last digits."""
    if isinstance(one, dict):
        assert isinstance(other, dict) and list(one) == list(other), path
        for name in one:
            assert_same(one[name], other[name], f"{path}.{name}")
    elif isinstance(one, list) and isinstance(other, list):
        assert len(one) == len(other), path
        for at, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f"{path}[{at}]")
    elif isinstance(one, float):
        assert other == pytest.approx(one, rel=1e-9, abs=1e-12), path
    else:
        assert one == other, path
