"""The hierarchies that manifests hold, built once: opening, loss, cover and measures ask for the same tree again."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256

from reticent.table.hierarchy import Hierarchy

LEAVES = 10_000  # of a tree that is remembered by its rows
MAX_LARGE_TREES = 2  # of more leaves, remembered by a digest of their rows
_large: OrderedDict[bytes, Hierarchy] = OrderedDict()


def tree_of(rows: Sequence[Sequence[str]]) -> Hierarchy:
    """The tree of a column's entry; raises `HierarchyError` where the rows are none."""
    if len(rows) <= LEAVES:
        return _remembered(tuple(map(tuple, rows)))
    digest = sha256(json.dumps(rows).encode()).digest()
    tree = _large.pop(digest, None) or Hierarchy.of(rows)
    _large[digest] = tree
    while len(_large) > MAX_LARGE_TREES:
        _large.popitem(last=False)
    return tree


@lru_cache(maxsize=64)
def _remembered(rows: tuple[tuple[str, ...], ...]) -> Hierarchy:
    return Hierarchy.of(rows)
