"""What the carried columns of a release give away: how many rows have a value of their own, and how a value goes with a sensitive one.

Association is Cramer's V: with O the rows of a pair of values and E those expected of independent columns, chi^2 = sum (O - E)^2 / E
and V^2 = chi^2 / (n (min(r, c) - 1)).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reticent.audit.grouping import Numbered, number
from reticent.audit.kind import Recounted
from reticent.table.roles import Role


def carried(recounted: Recounted) -> list[dict[str, Any]]:
    """An entry for each carried column: `distinct` values, the share of rows whose value is `unique`, and `association`."""
    subject, frame = recounted.subject, recounted.frame
    sensitive = {c.name: number(frame[c.name]) for c in subject.named(Role.SENSITIVE) if c.name in frame.columns}
    found = []
    columns = [frame[entry.name] for entry in subject.named(Role.INSENSITIVE)]
    columns += [] if subject.undeclared is None else subject.undeclared.get_columns()
    for column in columns:
        values = number(column)
        times = np.bincount(values.codes, minlength=len(values))
        found.append({"column": column.name, "distinct": len(values), "unique": float((times == 1).sum() / len(frame)),
                      "association": {name: cramers_v(values, other) for name, other in sensitive.items()}})  # fmt: skip
    return found


def cramers_v(one: Numbered, other: Numbered) -> float:
    least = min(len(one), len(other))
    if least < 2:
        return 0.0
    rows = len(one.codes)
    pairs, observed = np.unique(one.codes.astype(np.int64) * len(other) + other.codes, return_counts=True)
    expected = (np.bincount(one.codes)[pairs // len(other)] / rows) * np.bincount(other.codes)[pairs % len(other)]
    # A pair that does not occur adds E: all E sum to n, so those of absent pairs are n less those of present ones.
    square = ((observed - expected) ** 2 / expected).sum() + (rows - expected.sum())
    return float(min(np.sqrt(max(square, 0.0) / (rows * (least - 1))), 1.0))
