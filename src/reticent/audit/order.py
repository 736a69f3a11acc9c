"""Tests of whether the order of the published rows reveals the order of the source, or unpublished values.

A row's content points to where its source row may be: the mean position of the source rows it can stand for. The
statistic is Spearman's rank correlation of that position with the row's place in the published file. If the rows were
shuffled, its mean is 0 and its variance exactly 1/(n - 1), whatever the contents (a linear rank statistic over uniform
permutations).

Where labels are so wide that every row may be anywhere, the exact values of a row still point to where it came from:
the second statistic counts the places at which a published row has the values of the source's row. If the rows were
shuffled, the count X exceeds its mean EX by t with a probability of at most exp(-t^2 / (4 EX + 2 t)) (Chatterjee 2007,
proposition 1.1).

Both statistics are sums over rows: of a counted table, over distinct rows and the places where they occur.
`assess_order` computes them at once, `OrderStatistics` from one part of the tables after another.

Kinds that publish exact quasi-identifiers with a group sort their rows by all columns, because any other order could
reveal whose value is whose; `require_sorted_rows` checks it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import erfc, exp, sqrt
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.groups import number_values, rank_values
from reticent.audit.source_comparison import ComparedRows, find_places
from reticent.audit.subject import Subject
from reticent.data.columns import Role
from reticent.errors import BundleDamaged
from reticent.format.data_files import DataFile, read_batches

ORDER_SIGNIFICANCE = 1e-6
"""A shuffled release is called unshuffled once in a million audits."""
_NO_ROWS = pl.DataFrame()
GROUP_COLUMN = "group"
BATCH_ROWS = 1 << 20  # rows that are checked together


@dataclass(frozen=True, slots=True)
class RowOrder:
    """The result of a test of the order.

    `canonical`: rows are sorted by all they show, which was checked, and so reveal nothing more.
    """

    correlation: float
    p_value: float
    significance: float = ORDER_SIGNIFICANCE
    canonical: bool = False
    statistic: str = "rank correlation"

    @property
    def shuffled(self) -> bool:
        return self.canonical or self.p_value >= self.significance

    def to_dict(self) -> dict[str, float | bool]:
        if self.canonical:
            return {"canonical": True, "shuffled": True}
        return {
            "correlation": self.correlation,
            "p_value": self.p_value,
            "significance": self.significance,
            "shuffled": self.shuffled,
        }

    def __str__(self) -> str:
        """Format the result as a sentence without its full stop."""
        if self.canonical:
            return "Rows are sorted by all that they show, which tells nothing more"
        measured = f"{self.statistic} with the source {self.correlation:+.4f}, p = {self.p_value:.2g}"
        return f"Rows are {'in random order' if self.shuffled else 'NOT in random order'} ({measured})"


CANONICAL_ORDER = RowOrder(0.0, 1.0, canonical=True)


def assess_order(*scores: np.ndarray | None, shared_values: tuple[np.ndarray, np.ndarray] | None = None) -> RowOrder:
    """Test the order by these scores of the published rows, each in the order of the file.

    `shared_values` has the numbered exact values of each published and of each source row. The result is that with the
    least p-value; canonical if nothing is tested.
    """
    results = [compute_rank_correlation(score) for score in scores if score is not None]
    if shared_values is not None:
        results.append(assess_agreement(*shared_values))
    return _pick_worst(results)


def compute_rank_correlation(
    score: np.ndarray, times: np.ndarray | None = None, places: np.ndarray | None = None
) -> RowOrder:
    """Correlate a score of each published row with the row's place.

    Of distinct rows, `times` is how often each occurs and `places` the sum of its places.
    """
    rank = np.unique(score, return_inverse=True)[1].astype(np.float64)  # any monotone score keeps the null distribution
    times = np.ones(len(rank)) if times is None else times.astype(np.float64)
    places = np.arange(len(rank), dtype=np.float64) if places is None else places.astype(np.float64)
    n = int(times.sum())
    if n < 3:
        return RowOrder(0.0, 1.0)
    rank = rank - float(np.dot(rank, times)) / n
    spread = sqrt(float(np.dot(rank * times, rank)) * (n * (n * n - 1) / 12))
    if spread == 0:
        return RowOrder(0.0, 1.0)
    correlation = float(np.dot(rank, places - times * ((n - 1) / 2))) / spread
    return RowOrder(correlation, erfc(abs(correlation) * sqrt(n - 1) / sqrt(2)))


def assess_agreement(ours: np.ndarray, theirs: np.ndarray) -> RowOrder:
    """Test how often published rows have the values of the source's rows at the same places."""
    places = min(len(ours), len(theirs))
    n = len(ours)
    if not n:
        return RowOrder(0.0, 1.0)
    agree = int((ours[:places] == theirs[:places]).sum())
    times = np.bincount(ours, minlength=int(theirs.max(initial=0)) + 1)
    return _assess_agreement(agree, float(times[theirs[:places]].sum() / n), places)


class OrderStatistics:
    """Collects scores and exact values of rows, from one part of the tables after another."""

    def __init__(self) -> None:
        self._scores: list[tuple[tuple[np.ndarray, ComparedRows], ...]] = []
        self._shared_values: list[tuple[np.ndarray, np.ndarray]] = []
        self._expected = 0
        self._published = 0
        self._unknown = False

    def add(
        self,
        ours: ComparedRows,
        theirs: ComparedRows,
        scores: Sequence[np.ndarray],
        shared_values: tuple[np.ndarray, np.ndarray] | None,
    ) -> None:
        """Add a part.

        `shared_values` has the numbered exact values of each published and each source row of this part, None where they are
        not known.
        """
        self._scores.append(tuple(_merge_equal_scores(score, ours) for score in scores))
        self._published += ours.rows
        if shared_values is None:
            self._unknown = True
        elif theirs.early is None:
            self._shared_values.append(shared_values)
        else:
            our_values, their_values = shared_values
            size = int(max(our_values.max(initial=0), their_values.max(initial=0))) + 1
            early = np.bincount(their_values, weights=theirs.early, minlength=size)
            self._expected += int(np.dot(ours.tally(our_values, size), early))

    def order(self, agree: int | None, rows: int) -> RowOrder:
        """Return the result with the least p-value over all parts.

        Both tables `agree` at so many places, and the source has `rows` rows.
        """
        results = []
        for parts in zip(*self._scores, strict=True):
            score = np.concatenate([score for score, _ in parts])
            if all(rows_of_part.times is None for _, rows_of_part in parts):
                results.append(compute_rank_correlation(score))
                continue
            times = np.concatenate([rows_of_part.multiplicities for _, rows_of_part in parts])
            places = np.concatenate([rows_of_part.positions for _, rows_of_part in parts])
            results.append(compute_rank_correlation(score, times, places))
        if not self._unknown:
            if agree is None:
                results += [assess_agreement(*shared_values) for shared_values in self._shared_values]
            elif self._published:
                results.append(_assess_agreement(agree, self._expected / self._published, min(self._published, rows)))
        return _pick_worst(results)


def require_sorted_rows(subject: Subject, pieces: Iterable[pl.DataFrame], quasi_values: pl.DataFrame) -> None:
    """Require that rows are sorted by group, quasi-identifiers in the order of their domains, and carried columns.

    Any other order could reveal which row of a group has which value. Each piece of rows is checked together with the
    last row before it; `quasi_values` has all values of the quasi-identifiers.
    """
    places = {}
    for column in subject.quasi:
        distinct = number_values(quasi_values[column.name]).distinct
        places[column.name] = distinct, rank_values(column, distinct)[0]
    last: pl.DataFrame | None = None
    for piece in pieces:
        keys: dict[str, Any] = {GROUP_COLUMN: piece[GROUP_COLUMN]}
        for name, (distinct, rank) in places.items():
            keys[name] = pl.Series(rank[find_places(piece[name], distinct)])
        keys |= {column.name: piece[column.name] for column in subject.find_columns_with_role(Role.INSENSITIVE)}
        rows = pl.DataFrame(keys) if last is None else pl.concat([last, pl.DataFrame(keys)])
        order = rows.select(pl.arg_sort_by(list(keys), nulls_last=True, maintain_order=True)).to_series()
        if not (order.diff().drop_nulls() > 0).all():
            raise BundleDamaged(
                "The rows of the release are not sorted by all that they show.",
                why="Another order can say which row of a group has which value.",
                attempt="the publisher: somebody changed the release after it was published.",
            )
        last = rows.tail(1)


def read_row_batches(file: DataFile, schema: Mapping[str, str]) -> Iterator[pl.DataFrame]:
    """Yield the rows of a file, BATCH_ROWS at a time."""
    return read_batches(file, schema, BATCH_ROWS)


def _pick_worst(results: Sequence[RowOrder]) -> RowOrder:
    return min(results, key=lambda order: order.p_value, default=CANONICAL_ORDER)


def _assess_agreement(agree: int, mean: float, places: int) -> RowOrder:
    above = agree - mean
    if above <= 0:
        return RowOrder(0.0, 1.0, statistic="agreement in place")
    bound = 2 * exp(-above * above / (4 * mean + 2 * above))
    return RowOrder(above / (places - mean), min(bound, 1.0), statistic="agreement in place")


def _merge_equal_scores(score: np.ndarray, rows: ComparedRows) -> tuple[np.ndarray, ComparedRows]:
    """Merge counted rows with equal scores."""
    if rows.times is None:
        return score, rows
    distinct, code = np.unique(score, return_inverse=True)
    times = np.bincount(code, weights=rows.times, minlength=len(distinct))
    places = np.bincount(code, weights=rows.positions, minlength=len(distinct))
    return distinct, ComparedRows(_NO_ROWS, times, places)
