"""The audit against the source: every published row stands for a source row, and nothing else of the source is in the folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from reticent.audit.covering import match_rows
from reticent.audit.grouping import Numbered
from reticent.audit.leaks import Leak, find
from reticent.audit.order import Order, rank_correlation
from reticent.audit.published import Published
from reticent.errors import AuditFailed
from reticent.table.source import Source, collect, scan


@dataclass(frozen=True, eq=False)
class Provenance:
    """What the comparison with the source found.  `withheld` is how many source rows were not published."""

    rows: int
    withheld: int
    stated: int | None
    unmatched: int
    overlapping: bool
    order: Order
    leaks: tuple[Leak, ...]

    @property
    def passed(self) -> bool:
        """Every row is covered, as many are missing as is stated, the order says nothing, and nothing leaked."""
        counted = self.withheld >= 0 if self.stated is None else self.withheld == self.stated
        return counted and not self.unmatched and self.order.shuffled and not self.leaks

    def to_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "withheld": self.withheld, "unmatched": self.unmatched, "overlapping": self.overlapping, "passed": self.passed,
                "order": {"correlation": self.order.correlation, "p_value": self.order.p_value, "significance": self.order.significance,
                          "shuffled": self.order.shuffled},
                "leaks": [{"column": leak.column, "file": leak.file, "values": leak.values} for leak in self.leaks]}  # fmt: skip

    def __str__(self) -> str:
        lines = [
            f"  against the source ({self.rows:,} rows, {self.withheld:,} of them not published): {'passed' if self.passed else 'FAILED'}"
        ]
        if self.stated is not None and self.withheld != self.stated:
            lines.append(f"    the release says that {self.stated:,} rows were withheld")
        lines.append(f"    {self.unmatched:,} published rows stand for no source row of their own")
        lines.append(f"    row order: rank correlation {self.order.correlation:+.4f}, p = {self.order.p_value:.2g} "
                     f"({'shuffled' if self.order.shuffled else 'NOT shuffled'} at {self.order.significance:g})")  # fmt: skip
        lines += [f"    LEAK: {leak.values:,} value(s) of {leak.column!r} in {leak.file}" for leak in self.leaks]
        return "\n".join(lines if self.leaks else [*lines, "    nothing else of the source was found in the release"])


def trace(published: Published, numbered: Mapping[str, Numbered], source: Any,
          missing: Sequence[str] = ()) -> tuple[Provenance, pl.DataFrame]:  # fmt: skip
    """Compare with the source (a path, a frame, or a `Source` that says how to read it): what was found, and the source's rows."""
    rows = read_source(source, missing)
    absent = [entry["name"] for entry in published.columns if entry["name"] not in rows.columns]
    if absent:
        raise AuditFailed(f"{len(absent)} published column(s) are not in the source: {', '.join(map(repr, absent))}.",
                          why="A release publishes columns of its source under their own names.", attempt="the source it was made from.")  # fmt: skip
    found = match_rows(published, numbered, rows)
    stated = None if published.foreign else published.withheld
    leaks = find(published, rows, found, published.path)
    proven = Provenance(len(rows), len(rows) - len(published.frame), stated, found.unmatched, found.overlapping,
                        rank_correlation(found), tuple(leaks))  # fmt: skip
    return proven, rows


def read_source(source: Any, missing: Sequence[str] = ()) -> pl.DataFrame:
    if isinstance(source, Source):
        return collect(scan(source), "Reading the source")
    if isinstance(source, str | Path):
        return collect(scan(Source(path=str(source), missing=tuple(missing))), "Reading the source")
    return collect(scan(Source(missing=tuple(missing)), source), "Reading the source")
