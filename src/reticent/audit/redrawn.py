"""A perturbed release against its source: the same people, the stated distribution, and values redrawn as the matrix says.

People whose quasi-identifiers are unique show what became of their value.  Of those with v_i a share M[i][i] should keep it: the number
that did is compared with its expectation in standard deviations.  A release that was not redrawn, or by another matrix, is far off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import polars as pl

from reticent.audit.provenance import read_source
from reticent.errors import AuditFailed

ROWS, FAR = "\x00rows", 6.0  # standard deviations: one honest release in half a billion


@dataclass(frozen=True, eq=False)
class Redrawn:
    """`unmatched` people are in one table and not in the other; `deviation` is None where nobody is unique."""

    rows: int
    unmatched: int
    distribution: bool
    unique: int
    deviation: float | None

    @property
    def passed(self) -> bool:
        return not self.unmatched and self.distribution and (self.deviation is None or abs(self.deviation) < FAR)

    def to_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "unmatched": self.unmatched, "distribution": self.distribution, "unique": self.unique,
                "deviation": self.deviation, "passed": self.passed}  # fmt: skip

    def __str__(self) -> str:
        deviation = (
            "nobody is unique"
            if self.deviation is None
            else f"{self.deviation:+.1f} standard deviations from what the matrix says"
        )
        return (f"  against the source ({self.rows:,} rows): {'passed' if self.passed else 'FAILED'}\n"
                f"    {self.unmatched:,} people in one table only; the stated distribution is {'' if self.distribution else 'NOT '}the source's\n"
                f"    values kept by {self.unique:,} unique people: {deviation}")  # fmt: skip


def against_source(frame: pl.DataFrame, columns: Sequence[dict[str, Any]], values: Sequence[str], matrix: Sequence[Sequence[Fraction]],
                   distribution: Sequence[Fraction] | None, source: Any, missing: Sequence[str] = ()) -> Redrawn:  # fmt: skip
    rows = read_source(source, missing)
    quasi = [column["name"] for column in columns if column["role"] == "quasi-identifying"]
    sensitive = next(column["name"] for column in columns if column["role"] == "sensitive")
    absent = [name for name in (*quasi, sensitive) if name not in rows.columns]
    if absent:
        raise AuditFailed(f"{len(absent)} published column(s) are not in the source: {', '.join(map(repr, absent))}.",
                          attempt="the source it was made from.")  # fmt: skip
    theirs = rows.select(pl.col(name).cast(frame.schema[name]) for name in (*quasi, sensitive))
    counts = [table.group_by(quasi).agg(pl.len().alias(ROWS), pl.col(sensitive).first()) for table in (frame, theirs)]
    both = counts[0].join(counts[1], on=quasi, how="full", nulls_equal=True, suffix="\x00source")
    unmatched = int(
        (both[ROWS].fill_null(0).cast(pl.Int64) - both[f"{ROWS}\x00source"].fill_null(0).cast(pl.Int64)).abs().sum()
    )
    held = dict(theirs[sensitive].cast(pl.String).value_counts().iter_rows())
    stated = distribution is None or [Fraction(held.get(value, 0), max(len(theirs), 1)) for value in values] == list(
        distribution
    )
    alone = both.filter((pl.col(ROWS) == 1) & (pl.col(f"{ROWS}\x00source") == 1))
    kept = int((alone[sensitive] == alone[f"{sensitive}\x00source"]).sum())
    stays = {value: float(matrix[i][i]) for i, value in enumerate(values)}
    expected = [stays.get(value, 0.0) for value in alone[f"{sensitive}\x00source"].cast(pl.String).to_list()]
    spread = sqrt(sum(p * (1 - p) for p in expected))
    deviation = (kept - sum(expected)) / spread if spread else None if kept == round(sum(expected)) else float("inf")
    return Redrawn(len(theirs), unmatched, stated, len(alone), deviation)
