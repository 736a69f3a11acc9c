"""The ECTree: how many rows each class draws from each bucket (Cao & Karras, VLDB 2012, section 4.4, function biSplit).

From the whole table downwards each node halves every bucket, as long as both halves are allowed.  The left half is rounded
down, and a half may not be empty (errata 1.4).  All nodes of a level are judged at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def bi_split(sizes: np.ndarray, allow: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """(classes, buckets) rows to draw, leaves from left to right; the root is a leaf whether or not it is allowed."""
    nodes = np.asarray(sizes, np.int64).reshape(1, -1)
    place = np.zeros(1, np.uint64)  # the path from the root as a binary fraction
    step = np.uint64(1 << 63)
    leaves, places = [], []
    while len(nodes):
        left = nodes // 2
        right = nodes - left
        split = (left.sum(axis=1) > 0) & (right.sum(axis=1) > 0)
        split[split] = allow(left[split]) & allow(right[split])
        leaves.append(nodes[~split])
        places.append(place[~split])
        nodes = np.concatenate([left[split], right[split]])
        place = np.concatenate([place[split], place[split] + step])
        step >>= np.uint64(1)
    return np.ascontiguousarray(np.concatenate(leaves)[np.argsort(np.concatenate(places))])
