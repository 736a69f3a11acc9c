"""A command opens the files of its source no more often than it has to."""

from __future__ import annotations

from tests.house.measure import trace_publish

MAX_OPENS = 3
"""Is there a byte, what does the first line hold, and is every row as wide as it: Polars reads the rows itself."""


def test_publishing_opens_a_csv_three_times_at_most():
    assert 0 < trace_publish().opened <= MAX_OPENS
