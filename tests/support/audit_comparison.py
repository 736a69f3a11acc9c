"""Two audits of one release, in memory and in parts of a few rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import pytest

SIZES = {
    "reticent.format.data_files.MAX_COUNTED_BYTES": 0,
    "reticent.format.data_files.MAX_VALUES_COUNTED_AT_ONCE": 97,
    "reticent.audit.source_comparison.MAX_COUNTED_BYTES": -1,
    "reticent.audit.streamed_comparison.MAX_DISTINCT_ROWS_PER_PART": 90,
    "reticent.audit.streamed_comparison.BATCH_ROWS": 41,
    "reticent.audit.streamed_comparison.MAX_TEXTS_AT_ONCE": 53,
    "reticent.audit.order.BATCH_ROWS": 29,
    "reticent.audit.byte_search.WINDOW_BYTES": 997,
    "reticent.audit.manifest_checks.BATCH_ROWS": 31,
}


@contextmanager
def in_parts() -> Iterator[None]:
    with ExitStack() as patched:
        for name, value in SIZES.items():
            patched.enter_context(mock.patch(name, value))
        patched.enter_context(
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
