"""Orders of rows, or of groups, in which neighbours are near in every column, however many values a column has.

A reflected key (`sweeps.gray_order`) is one order of the columns: where the last ones have many values, neighbours agree in all
columns but these and are far apart in them.  Here cuts are chosen region by region, each for what it saves.
"""

from __future__ import annotations

import numpy as np

from reticent.kernels import mosaic_order as kernel
from reticent.methods.mosaic.space import Space
from reticent.methods.mosaic.sweeps import GREATEST_SEED
from reticent.table.domain import TreeDomain

CHAINED = 64
# A hierarchy's cuts go first: what is not told apart while a region has enough rows of each value never is, and costs a
# whole node, where a number's range grows little by little.
FAVOUR = 4.0
Noise = tuple[np.ndarray, float, int]  # factor of each column, noise of each cut, seed


def cut_order(codes: np.ndarray, space: Space, least: int, leaf: int, noise: Noise | None = None) -> np.ndarray:
    """Points in the order of a tree of cuts; a part of fewer than `least` points saves nothing, one of `leaf` is not cut."""
    n, d = codes.shape
    if n == 0 or d == 0:
        return np.arange(n, dtype=np.int32)
    codes = np.ascontiguousarray(codes, np.int32)
    # 16 bits are sorted by radix
    columns = [codes[:, j].astype(np.uint16 if space.sizes[j] <= 1 << 16 else np.int32) for j in range(d)]
    by = np.stack([np.argsort(column, kind="stable") for column in columns]).astype(np.int32)
    code = np.ascontiguousarray(np.take_along_axis(codes.T, by, axis=1))
    out, sizes = np.zeros(n, np.int32), np.arange(n + 1, dtype=np.float64)
    work = (sizes * np.log(np.maximum(sizes, 1.0)), np.zeros(n, np.int32), np.zeros((2, n), np.int32),
            np.zeros(n + 2, np.int64), np.zeros((n + 1, 2), np.int64), out)  # fmt: skip
    tree = np.array([isinstance(domain, TreeDomain) for domain in space.domains])
    kernel.Orderer((codes, by, code), (space.spans, space.places, space.nodes, np.column_stack([space.trees, tree])),
                   (least, leaf, CHAINED), work, noise or (np.where(tree, FAVOUR, 1.0), 0.0, 1)).run()  # fmt: skip
    return out


def shuffled_cuts(lower: np.ndarray, upper: np.ndarray, space: Space, draw: np.random.Generator) -> np.ndarray:
    """Groups in the order of noisy cuts of random points of their boxes: another neighbourhood every time."""
    point = lower + (draw.random(lower.shape) * (upper - lower + 1)).astype(np.int64)
    tree = np.array([isinstance(domain, TreeDomain) for domain in space.domains])
    factor = np.where(tree, FAVOUR ** draw.random(), 1.0) * np.exp(draw.random(len(tree)) - 0.5)
    return cut_order(point, space, 4, 10, (factor, 0.5, int(draw.integers(1, GREATEST_SEED))))
