"""The hierarchies that manifests hold, built once: opening, loss, cover and measures ask for the same tree again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from reticent.table.hierarchy import Hierarchy

LEAVES = 10_000  # of a tree that is remembered


def tree_of(rows: Sequence[Sequence[str]]) -> Hierarchy:
    """The tree of a column's entry; raises `HierarchyError` where the rows are none."""
    if len(rows) > LEAVES:
        return Hierarchy.of(rows)
    return _remembered(tuple(map(tuple, rows)))


@lru_cache(maxsize=64)
def _remembered(rows: tuple[tuple[str, ...], ...]) -> Hierarchy:
    return Hierarchy.of(rows)
