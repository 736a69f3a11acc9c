"""Caps of several sensitive columns as the flat tables a kernel reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reticent.models.caps import Caps
from reticent.table.cells import Cells


@dataclass(frozen=True, eq=False)
class Rules:
    """held[cell] = (count, values ...), the values of each sensitive column numbered behind those of the one before."""

    held: np.ndarray
    bounds: np.ndarray
    rules: np.ndarray

    @classmethod
    def of(cls, cells: Cells, caps: tuple[tuple[int, Caps], ...]) -> Rules:
        """Only the columns that a cap speaks of are held."""
        views = {_view(column, cap): (column, cap) for column, cap in caps}
        names = sorted(views)
        sizes = [views[name][1].values for name in names]
        begin = dict(zip(names, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True)) if names else {}
        held = [cells.counts, *(_values(cells, *views[name]) + begin[name] for name in names)]
        bounds = [_bounds(cap) for _, cap in caps]
        rules = [_rule(cap, begin[_view(column, cap)], shift) for (column, cap), shift in
                 zip(caps, np.cumsum([0, *map(len, bounds)]).tolist(), strict=False)]  # fmt: skip
        return cls(
            np.column_stack(held).astype(np.int64),
            np.concatenate([*bounds, np.zeros((0, 4))]).astype(np.int64),
            np.array(rules, np.int64).reshape(-1, 9),
        )


def _view(column: int, caps: Caps) -> tuple[int, bytes]:
    """A column's values, or the sets of them that are counted as one."""
    return column, b"" if caps.family is None else caps.family.tobytes()


def _values(cells: Cells, column: int, caps: Caps) -> np.ndarray:
    return cells.values[:, column] if caps.family is None else caps.family[cells.values[:, column]]


def _bounds(caps: Caps) -> np.ndarray:
    """Upper and lower caps side by side; where there are none, ones that nothing breaks."""
    upper = np.ones((caps.values, 2), np.int64) if caps.upper is None else caps.upper
    lower = np.tile(np.array([0, 1], np.int64), (caps.values, 1)) if caps.lower is None else caps.lower
    return np.hstack([upper, lower])


def _rule(caps: Caps, begin: int, shift: int) -> list[int]:
    floored = 0 if caps.lower is None else int((caps.lower[:, 0] > 0).sum())
    null, without = (code + begin if code >= 0 else -1 for code in (caps.null, caps.without))
    end = begin + caps.values
    return [
        caps.least_size,
        caps.least_distinct,
        null,
        without,
        int(caps.present_only),
        floored,
        begin,
        end,
        shift - begin,
    ]


def least_size(caps: Caps) -> int:
    """A size that every group these caps allow has: each of its values needs so many rows around it."""
    least = max(caps.least_size, caps.least_distinct)
    if caps.upper is None or caps.without >= 0 or not caps.upper[:, 0].any():
        return least
    upper = caps.upper[caps.upper[:, 0] > 0]
    return max(least, int((-(-upper[:, 1] // upper[:, 0])).min()))
