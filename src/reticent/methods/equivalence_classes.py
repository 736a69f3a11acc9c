"""Equivalence classes of BUREL and SABRE: their sizes (biSplit) and the rows they draw (Retrieve).

biSplit (Cao & Karras, VLDB 2012, section 4.4; `split_into_classes`) builds the ECTree: how many rows each class draws
from each bucket.  From the whole table downwards each node halves every bucket, as long as both halves are allowed.
The left half is rounded down, and a half may not be empty (errata 1.4).  All nodes of a level are judged at once.

Retrieve (section 4.5; `retrieve_classes`) fills classes of those sizes with near rows of each bucket.  Every cell is a
point of quasi-identifier space: a number's axis is its value, a category's the pre-order of its hierarchy's leaves.
For each class a random free row is the seed, and each bucket gives the free rows nearest to it: along the Hilbert
curve, or by Euclidean distance.  Only quasi-identifiers and the bucket of a row decide where it goes.

Departs from the paper: a cell may be split among classes, ties are broken by cell order, and axes are either stretched
to one length, as the loss of section 4.1 weighs them, or as many steps long as the column has values.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reticent.data.cells import Cells
from reticent.data.domain import Domain, RangeDomain
from reticent.errors import ColumnError, InternalError
from reticent.kernels.burel_curve import fill_along
from reticent.kernels.burel_nearest import fill_nearest
from reticent.kernels.hilbert import compute_hilbert_keys
from reticent.recipe.recipe import Recipe

KEY_BITS = 63
MAX_AXIS_BITS = 20  # squared distances of many axes still fit 64 bits


def split_into_classes(sizes: np.ndarray, allow: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return (classes, buckets) rows to draw, leaves from left to right; the root is a leaf whether or not it is allowed."""
    nodes = np.asarray(sizes, np.int64).reshape(1, -1)
    place = np.zeros(1, np.uint64)  # the path from the root as a binary fraction
    step = np.uint64(1 << 63)
    leaves = []
    places = []
    while len(nodes):
        half = nodes // 2
        other_half = nodes - half
        split = (half.sum(axis=1) > 0) & (other_half.sum(axis=1) > 0)
        split[split] = allow(half[split]) & allow(other_half[split])
        leaves.append(nodes[~split])
        places.append(place[~split])
        nodes = np.concatenate([half[split], other_half[split]])
        place = np.concatenate([place[split], place[split] + step])
        step >>= np.uint64(1)
    return np.ascontiguousarray(np.concatenate(leaves)[np.argsort(np.concatenate(places))])


def require_several_values(method: str, name: str, totals: np.ndarray) -> None:
    if (totals > 0).sum() < 2:
        raise ColumnError(
            f"The sensitive column {name!r} holds a single value.",
            why=f"Everyone has it, so there is nothing that {method} could keep from being learned.",
            attempt="another sensitive column, or not publishing this one.",
        )


def retrieve_classes(
    cells: Cells, bucket: np.ndarray, sizes: np.ndarray, rng: np.random.Generator, *, fill: str, axes: str
) -> Recipe:
    """Return the classes as a recipe.

    `bucket` is that of each cell, `sizes` how many rows each class draws from each bucket.
    """
    bits = choose_curve_bits(cells)
    points = compute_grid(cells, bits, stretch=axes == "stretched")
    takes, place = (_fill_along_curve if fill == "curve" else _fill_nearest_rows)(
        points, bits, bucket, cells.counts, sizes, rng
    )
    return Recipe(cells, place[takes[:, 0]], takes[:, 1].copy(), takes[:, 2].copy(), len(sizes))


def choose_curve_bits(cells: Cells) -> int:
    """Choose the bits of an axis: as many as the largest column needs, and as fit a 63-bit key."""
    largest = max((domain.size for domain in cells.quasi), default=1)
    return min(max(int(largest - 1).bit_length(), 1), max(KEY_BITS // max(len(cells.quasi), 1), 1), MAX_AXIS_BITS)


def compute_grid(cells: Cells, bits: int, *, stretch: bool) -> np.ndarray:
    """Compute (cells, axes) whole coordinates below 2^bits."""
    side = (1 << bits) - 1
    columns = [
        _compute_coordinates(domain, side, stretch)[cells.codes[:, index]] for index, domain in enumerate(cells.quasi)
    ]
    return np.ascontiguousarray(np.column_stack(columns)) if columns else np.zeros((len(cells), 1), np.int64)


def _fill_along_curve(
    points: np.ndarray, bits: int, bucket: np.ndarray, counts: np.ndarray, sizes: np.ndarray, rng: np.random.Generator
):
    keys = np.empty(len(points), np.int64)
    compute_hilbert_keys(np.ascontiguousarray(points[:, : KEY_BITS // bits]), bits, keys)
    place = np.lexsort((keys, bucket))
    remaining = counts[place]
    chains = np.tile(np.arange(len(remaining) + 2, dtype=np.int64), (2, 1))
    takes = _allocate_takes(len(remaining), sizes)
    entries = fill_along(
        keys[place],
        remaining,
        _find_bucket_starts(bucket, sizes.shape[1]),
        sizes,
        *_draw_seeds(remaining, rng),
        chains,
        takes,
    )
    return takes[:entries], place


def _fill_nearest_rows(
    points: np.ndarray, bits: int, bucket: np.ndarray, counts: np.ndarray, sizes: np.ndarray, rng: np.random.Generator
):
    starts = _find_bucket_starts(bucket, sizes.shape[1])
    place, box, alive = _build_bucket_trees(points, np.argsort(bucket, kind="stable"), starts, counts)
    remaining = counts[place]
    takes = _allocate_takes(len(remaining), sizes)
    stack = np.empty((256, 2), np.int64)
    entries = fill_nearest(
        np.ascontiguousarray(points[place]),
        box,
        np.ascontiguousarray([remaining, alive]),
        starts,
        sizes,
        *_draw_seeds(remaining, rng),
        stack,
        takes,
    )
    return takes[:entries], place


def _compute_coordinates(domain: Domain, side: int, stretch: bool) -> np.ndarray:
    """Compute the coordinate of each code; the null is at the far end."""
    steps = np.arange(domain.size, dtype=np.float64)
    if stretch and isinstance(domain, RangeDomain) and len(domain.texts) > 1:
        steps = np.append(
            domain.positions - domain.positions[0], [domain.positions[-1] - domain.positions[0]] * domain.null
        )
    reach = float(steps[-1]) if len(steps) else 0.0
    if reach > 0 and (stretch or reach > side):
        steps = np.rint(steps / reach * side)
    return steps.astype(np.int64)


def _allocate_takes(cells: int, sizes: np.ndarray) -> np.ndarray:
    """Allocate the arrays of takes: a take either empties a cell or ends a class's draw from a bucket."""
    return np.empty((cells + int((sizes > 0).sum()), 3), np.int64)


def _find_bucket_starts(bucket: np.ndarray, buckets: int) -> np.ndarray:
    return np.append(0, np.cumsum(np.bincount(bucket, minlength=buckets))).astype(np.int64)


def _draw_seeds(remaining: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Return every row in random order, as place << bits | offset, and the bits."""
    bits = int(remaining.max(initial=1)).bit_length()
    if len(remaining).bit_length() + bits > KEY_BITS:
        raise InternalError("Rows are too many to be numbered.")
    rows = np.arange(int(remaining.sum()), dtype=np.int64)
    rows += np.repeat((np.arange(len(remaining)) << bits) - (np.cumsum(remaining) - remaining), remaining)
    rng.shuffle(rows)
    return rows, bits


def _build_bucket_trees(points: np.ndarray, place: np.ndarray, starts: np.ndarray, counts: np.ndarray):
    """Build a balanced k-d tree over each bucket: places in order, each subtree's bounding box and rows.

    All ranges of a depth are built at once.
    """
    axes = points.shape[1]
    box = np.empty((len(place), 2 * axes), np.int64)
    alive = np.empty(len(place), np.int64)
    low = starts[:-1]
    high = starts[1:]
    while len(low):
        nonempty = high > low
        low = low[nonempty]
        high = high[nonempty]
        length = high - low
        of_range = np.repeat(np.arange(len(low)), length)
        places = np.arange(len(of_range)) - np.repeat(np.cumsum(length) - length, length) + low[of_range]
        range_points = points[place[places]]
        first = np.cumsum(length) - length
        if not len(low):
            break
        lowest = np.minimum.reduceat(range_points, first)
        highest = np.maximum.reduceat(range_points, first)
        node = (low + high) // 2
        box[node, :axes] = lowest
        box[node, axes:] = highest
        alive[node] = np.add.reduceat(counts[place[places]], first)
        widest = (highest - lowest).argmax(axis=1)
        order = np.lexsort((place[places], range_points[np.arange(len(places)), widest[of_range]], of_range))
        place[places] = place[places][order]
        low = np.concatenate([low, node + 1])
        high = np.concatenate([node, high])
        order = np.argsort(low, kind="stable")
        low = low[order]
        high = high[order]
    return place, box, alive
