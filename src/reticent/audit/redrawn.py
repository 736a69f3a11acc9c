"""A perturbed release against its source: the same people, the stated distribution, values redrawn as the matrix says.

Rows are linked by all that is published as it was (`linking`), and the values they show are tested
(`measure/redrawing`) over all rows and over parts of them: bands of about equal rows by each such column, and by pairs
of quasi-identifiers.  An honest release is condemned once in 1 / SIGNIFICANCE audits at most: that much is divided
among the families of tests, and within a family among its tests (Bonferroni).

`passed` is True only where these tests would have shown a release that was not redrawn: all of it; each band, of a
sixteenth of the rows or more, of any one column; and every second value, taken at random, over all rows.  Where the
rows could not have shown that, it is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.as_published import Brought
from reticent.audit.bands import BANDS, SCOPES, Partition, partitions
from reticent.audit.compared import Rows
from reticent.audit.evidence import Redrawing
from reticent.audit.grouping import number
from reticent.audit.linking import Blocks, joined, link
from reticent.audit.measure.redrawing import KINDS, Matrix, Parts, Tested, scores
from reticent.errors import BundleDamaged
from reticent.release.manifest import ColumnEntry
from reticent.table.roles import Role
from reticent.table.types import typed

SIGNIFICANCE = 1e-6
LEAST = 1e-300  # smaller p-values are given as this one; 0 is what cannot happen
FAMILIES = len(KINDS) * len(SCOPES)


@dataclass(frozen=True, eq=False)
class Redrawn:
    """`unmatched` people are in one table only.  Of `linked` rows it is known what became of the value.

    `tested` statements about the redrawing were tested, each over all rows or one part of them; `worst` is the least
    p-value, multiplied by the number of tests it had to compete with, and what it is about.  In so many `parts` values
    left as they were would have shown.
    """

    rows: int
    unmatched: int
    distribution: bool
    linked: int
    tested: int
    worst: tuple[float, str]
    parts: int
    unseen: str  # what these rows could not have shown; empty if nothing
    significance: float = SIGNIFICANCE

    @property
    def passed(self) -> bool | None:
        if self.unmatched or not self.distribution or self.worst[0] <= self.significance:
            return False
        return None if self.unseen else True

    @property
    def why(self) -> str:
        """The reason for the verdict, in a sentence."""
        if self.unmatched:
            return f"{self.unmatched:,} people are in one table only"
        if not self.distribution:
            return "the stated distribution is not the source's"
        if self.worst[0] <= self.significance:
            chance = f"a probability of at most {self.worst[0]:.1e}" if self.worst[0] else "no probability at all"
            return f"an honest release would show this with {chance}: {self.worst[1]}"
        if self.unseen:
            return f"nothing here could show {self.unseen}"
        return (
            f"the matrix explains what is published, overall and in {self.parts:,} parts "
            "that would have shown values left as they were"
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "unmatched": self.unmatched,
            "distribution": self.distribution,
            "linked": self.linked,
            "tested": self.tested,
            "worst": {"p_value": self.worst[0], "of": self.worst[1]},
            "parts": self.parts,
            "significance": self.significance,
            "passed": self.passed,
            "why": self.why,
        }

    def __str__(self) -> str:
        return (
            f"{'undecided: ' if self.passed is None else ''}{self.why};\n"
            f"    {self.tested:,} statements about the redrawing were tested, {self.linked:,} rows linked one by one;\n"
            f"    an honest release fails once in {1 / self.significance:,.0f} audits at most"
        )


def against_source(
    frame: pl.DataFrame, columns: Sequence[ColumnEntry], redrawing: Redrawing, there: Brought, withheld: int = 0
) -> Redrawn:
    """Compare a perturbed release's rows with its source as it would be published; so many rows are said to be `withheld`."""
    found = Comparison(columns, redrawing)
    found.add(Rows(frame), there, Rows(there.frame))
    return found.redrawn(withheld)


class Comparison:
    """Published rows beside source rows, of one part after another; blocks are kept, as many as there are combinations."""

    def __init__(self, columns: Sequence[ColumnEntry], redrawing: Redrawing):
        self.redrawing, self.blocks = redrawing, list[Blocks]()
        self.sensitive = next(column for column in columns if column.role == Role.SENSITIVE)
        self.keys = [column.name for column in columns if column.role != Role.SENSITIVE]
        self.quasi = [column.name for column in columns if column.role == Role.QUASI]
        self.rows, self.unread = 0, 0
        self.counts = np.zeros(len(redrawing.values), np.int64)

    def add(self, ours: Rows, there: Brought, theirs: Rows) -> None:
        """`there` are `theirs` as they would be published."""
        values, name, whole = self.redrawing.values, self.sensitive.name, there.whole.to_numpy()
        shown, held = _codes(self.sensitive, values, ours.frame[name], there.frame[name])
        self.rows += theirs.rows
        self.unread += int(theirs.each[~whole].sum())
        listed = held >= 0
        self.counts += np.bincount(held[listed], weights=theirs.each[listed], minlength=len(values)).astype(np.int64)
        kept = Rows(there.frame.filter(there.whole), theirs.each[whole])
        self.blocks.append(link(ours, kept, self.keys, (shown, held[whole]), len(values)))

    def redrawn(self, withheld: int) -> Redrawn:
        distribution = self.redrawing.distribution
        stated = distribution is None or withheld > 0 or _distributed(self.counts, self.rows, distribution)
        blocks = joined(self.blocks)
        absent = blocks.absent + self.unread
        unmatched = blocks.unmatched + abs(absent - withheld) + blocks.unknown
        linked = int(blocks.sizes[blocks.single].sum())
        battery = _battery(blocks, Matrix.of(self.redrawing.matrix), self.quasi)
        return Redrawn(self.rows, unmatched, stated, linked, *battery)


def _codes(column: ColumnEntry, values: Sequence[str], *series: pl.Series) -> list[np.ndarray]:
    """The place of each value in the manifest's list, -1 for others."""
    try:
        listed = typed(list(values), column.dtype)
    except pl.exceptions.PolarsError:  # its message quotes values
        raise BundleDamaged(f"The manifest lists values that column {column.name!r} cannot hold.") from None
    both = number(pl.concat([listed, *(one.rename(listed.name) for one in series)]))
    place = np.full(len(both), -1)
    place[both.codes[: len(listed)]] = np.arange(len(listed))
    if (place >= 0).sum() < len(listed):
        raise BundleDamaged(f"The manifest lists a value of column {column.name!r} twice.")
    return np.split(place[both.codes[len(listed) :]], np.cumsum([len(one) for one in series])[:-1])


def _distributed(counts: np.ndarray, rows: int, distribution: Sequence[Fraction]) -> bool:
    return [Fraction(count, max(rows, 1)) for count in counts.tolist()] == list(distribution)


def _battery(blocks: Blocks, matrix: Matrix, quasi: Sequence[str]) -> tuple[int, tuple[float, str], int, str]:
    """How many tests, the worst, how many parts would have shown values left as they were, and what would not show."""
    if not len(blocks.sizes):
        return 0, (1.0, "nothing"), 0, "anything: no row of the release is a row of the source"
    found = scores(blocks, matrix)
    done: list[tuple[Partition, Tested]] = []
    forged: list[tuple[str, Tested, np.ndarray]] = []
    open_ = 1 - np.diag(matrix.chance) > 0
    for partition in partitions(blocks, quasi):
        parts = Parts(blocks, found, matrix, partition.part, partition.size)
        done.append((partition, parts.tested()))
        redrawn = parts.held[:, open_].sum(axis=1) > 0  # elsewhere the matrix itself leaves all as it was
        if partition.scope == "all rows":
            forged.append(("that nothing was redrawn", parts.tested(1.0), redrawn))
            forged.append(("that every second value was left as it was", parts.tested(0.5), redrawn))
        elif partition.claimed:
            large = parts.rows * 2 * BANDS >= parts.rows.sum()
            forged.append(
                (f"that one of the parts by {partition.name} was not redrawn", parts.tested(1.0), redrawn & large)
            )
    tests = {(scope, kind): sum(tested.tests.get(kind, 0) for partition, tested in done if partition.scope == scope)
             for scope in SCOPES for kind in KINDS}  # fmt: skip
    scopes = ["all rows", "all rows", *("one column" for _ in forged[2:])]
    shown = [
        _adjusted(tested, scope, tests) <= log(SIGNIFICANCE)
        for (_, tested, _), scope in zip(forged, scopes, strict=True)
    ]
    unseen = next((what for (what, _, asked), seen in zip(forged, shown, strict=True) if (asked & ~seen).any()), "")
    noticed = sum(int((asked & seen).sum()) for (_, _, asked), seen in zip(forged[2:], shown[2:], strict=True))
    return sum(tests.values()), _worst(done, tests, len(matrix)), noticed, unseen


def _adjusted(tested: Tested, scope: str, tests: dict[tuple[str, str], int]) -> np.ndarray:
    """The least ln p of each part, multiplied by the number of tests of its family and of families."""
    every = [logs + log(max(tests[scope, kind], 1)) + log(FAMILIES) for kind, logs in tested.logs.items()]
    return np.min(every, axis=0)


def _worst(done: list[tuple[Partition, Tested]], tests: dict[tuple[str, str], int], m: int) -> tuple[float, str]:
    least, what = inf, "nothing"
    for partition, tested in done:
        for kind, logs in tested.logs.items():
            part = int(logs.argmin())
            adjusted = float(logs[part]) + log(max(tests[partition.scope, kind], 1)) + log(FAMILIES)
            if adjusted < least:
                least, what = adjusted, _statement(partition, kind, part, int(tested.which[kind][part]), m)
    return (0.0 if least == -inf else max(exp(min(least, 0.0)), LEAST)), what


def _statement(partition: Partition, kind: str, part: int, test: int, m: int) -> str:
    """What a test is about; values are named by their place in the manifest's list."""
    about = {
        "likeness": "how many rows show their own value",
        "unchanged": "how many combinations show just the values they held",
        "margins": f"how many rows show value {test + 1} of the manifest's list",
        "transitions": f"how many rows with value {test // m + 1} of the manifest's list show value {test % m + 1}",
    }[kind]
    return about if not partition.name else f"{about}, in part {part + 1} of {partition.size} by {partition.name}"
