"""What two releases of one job have in common, whichever engine made them and in whatever pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import reticent as rt
from reticent import catalogue

ENGINES = [name for name in catalogue.ENGINES if name not in (catalogue.ENGINE, "spark")]
"""Engines that give every row the outcome that `local` gives it; `test_spark.py` has what Spark promises."""

SIZES = {
    "reticent.release.sound.LITTLE": 0,
    "reticent.release.data.HELD": 97,
    "reticent.engines.buckets.BYTES": 600,
    "reticent.engines.ranked.BUCKET": 31,
    "reticent.engines.expanded.PIECE": 23,
    "reticent.engines.expanded.ROWS": 50,
    "reticent.engines.looked.HELD": 16,
    "reticent.engines.stream.PIECE": 19,
    "reticent.engines.stream.READ": 2_400,
    "reticent.table.spanned.NARROW": 0,
    "reticent.table.spanned.SPAN": 4_000,
    "reticent.table.spanned.PIECE": 900,
    "reticent.table.spanned.FIRST": 500,
}


@contextmanager
def in_pieces(rows: int = 37) -> Iterator[None]:
    """Everything that `stream` does in pieces, in pieces of a few rows."""
    with ExitStack() as patched:
        for name, value in {**SIZES, "reticent.engines.stream.at_once": lambda lazy: rows}.items():
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
