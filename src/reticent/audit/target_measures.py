"""What the targets of a transformed release achieve by the classic measures; t and beta against all groups' targets together.

Shares are exact fractions where they decide a promise (alpha, l); a mixture of many targets is reported by the nearest doubles.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import exp, lcm, log
from typing import Any

import numpy as np

from reticent.audit.evidence import Targeted
from reticent.audit.measure.counts import Counts
from reticent.errors import RequestError
from reticent.exact import common_denominator

_ROOM = 1 << 62


class TooFine(list):
    """Stands for counts that no 64 bits hold: whatever looks at them is refused."""

    def __getitem__(self, at: Any) -> Any:
        raise RequestError(
            "The targets of this release are too fine to judge this promise of them.", attempt="its own p-privacy."
        )

    def __iter__(self) -> Iterator[Any]:
        return self[0]


def views_of(targeted: Targeted) -> list[Counts]:
    """The groups as if their values were spread by their targets, in whole numbers: a row for each different target."""
    rows = np.bincount(targeted.target, weights=targeted.rows, minlength=len(targeted.shares)).astype(np.int64).tolist()
    unit = 1
    for shares in targeted.shares:
        unit = lcm(unit, common_denominator(shares))
        if unit * sum(rows) >= _ROOM:
            return TooFine()
    table = np.array(
        [[int(share * unit) * n for share in shares] for shares, n in zip(targeted.shares, rows, strict=True)], np.int64
    )
    group, value = np.nonzero(table)
    return [Counts(group.astype(np.int64), value.astype(np.int64), table[group, value], table.sum(axis=0))]


def measures(targeted: Targeted, kind: str) -> dict[str, Any]:
    alpha = max(max(shares) for shares in targeted.shares)
    table = np.array([[float(share) for share in shares] for shares in targeted.shares])
    rows = np.bincount(targeted.target, weights=targeted.rows, minlength=len(table))
    overall = rows @ table / rows.sum()
    apart = table - overall if len(table) > 1 else np.zeros_like(table)
    found: dict[str, Any] = {
        "alpha": alpha,
        "distinct-l-diversity": min(sum(share > 0 for share in shares) for shares in targeted.shares),
        "probabilistic-l-diversity": Fraction(1) / alpha,
        "entropy-l-diversity": min(exp(-sum(p * log(p) for p in row if p > 0)) for row in table.tolist()),
        "t-closeness-equal": float(np.abs(apart).sum(axis=1).max() / 2),
        "t-closeness-ordered": float(np.abs(np.cumsum(apart, axis=1)).sum(axis=1).max() / max(table.shape[1] - 1, 1)),
        "beta-likeness-basic": float(np.max(np.where(overall > 0, apart / np.where(overall > 0, overall, 1), 0))),
    }
    if kind == "categorical":
        del found["t-closeness-ordered"]
    return found
