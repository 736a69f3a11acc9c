"""The audit against the source, for every kind: published rows stand for source rows, their order says nothing, nothing leaked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from reticent.audit.canonical import odd_bytes
from reticent.audit.kind import Finding, Matching, Recounted
from reticent.audit.leaks import Leak, find
from reticent.audit.order import Order, order_of


@dataclass(frozen=True, eq=False)
class Provenance:
    """What the comparison with the source found.  `withheld` is how many source rows were not published.

    `odd` names files whose bytes are not those that the writer makes of their rows.
    """

    rows: int
    withheld: int
    stated: int | None
    unmatched: int
    overlapping: bool
    order: Order
    leaks: tuple[Leak, ...]
    odd: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def passed(self) -> bool:
        """Every row is covered, as many are missing as is stated, the order says nothing, and nothing leaked."""
        counted = self.withheld >= 0 if self.stated is None else self.withheld == self.stated
        fine = all(finding.passed is not False for finding in self.findings)
        return counted and fine and not self.unmatched and self.order.shuffled and not self.leaks and not self.odd

    @property
    def uncovered(self) -> bool:
        """Whether some published rows cannot be rows of this source."""
        return self.unmatched > 0 or self.withheld < 0

    def to_dict(self) -> dict[str, Any]:
        found = {"rows": self.rows, "withheld": self.withheld, "unmatched": self.unmatched, "overlapping": self.overlapping,
                 "passed": self.passed, "order": self.order.to_dict(),
                 "leaks": [{"column": leak.column, "file": leak.file, "values": leak.values} for leak in self.leaks]}  # fmt: skip
        for finding in self.findings:
            found |= finding.facts
        return {**found, "odd_bytes": list(self.odd)} if self.odd else found

    def __str__(self) -> str:
        lines = [
            f"  against the source ({self.rows:,} rows, {self.withheld:,} of them not published): {'passed' if self.passed else 'FAILED'}"
        ]
        if self.stated is not None and self.withheld != self.stated:
            lines.append(f"    the release says that {self.stated:,} rows were withheld")
        lines.append(f"    {self.unmatched:,} published rows stand for no source row of their own")
        lines += [f"    {self.order}", *(f"    {finding.sentence}" for finding in self.findings)]
        lines += [
            f"    {name} is not written as reticent writes it: its bytes may carry more than its rows"
            for name in self.odd
        ]
        lines += [f"    LEAK: {leak.values:,} value(s) of {leak.column!r} in {leak.file}" for leak in self.leaks]
        return "\n".join(lines if self.leaks else [*lines, "    nothing else of the source was found in the release"])


def trace(recounted: Recounted, matching: Matching, source: pl.DataFrame) -> Provenance:
    """What the comparison of a release with its source shows."""
    subject = recounted.subject
    stated = None if subject.foreign else subject.withheld
    leaks = find(recounted, source, matching.stray)
    odd = () if subject.manifest is None or subject.path is None else odd_bytes(subject.path, subject.manifest)
    missing = len(source) - recounted.rows if matching.missing is None else matching.missing
    return Provenance(len(source), missing, stated, matching.unmatched, matching.overlapping,
                      order_of(matching.place, matching.hidden, borne=matching.borne), tuple(leaks), odd, matching.findings)  # fmt: skip
