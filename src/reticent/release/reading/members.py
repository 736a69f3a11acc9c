"""Groups whose people are known: each published row has exact quasi-identifiers and says its group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from reticent.errors import RequestError, some
from reticent.table.cells import Cells
from reticent.table.domain import Domain


@dataclass(frozen=True, eq=False)
class Members:
    """`people` people with the quasi-identifiers `codes` are in `group`; `counts` are the groups' published values."""

    codes: np.ndarray  # (members, quasi)
    group: np.ndarray
    people: np.ndarray
    counts: np.ndarray  # (groups, values)

    @cached_property
    def shares(self) -> np.ndarray:
        return self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)

    def spread(self, axis: int, size: int) -> np.ndarray:
        found = np.zeros((size, self.counts.shape[1]))
        np.add.at(found, self.codes[:, axis], self.shares[self.group] * self.people[:, None])
        return found

    def belief(self, points: np.ndarray) -> np.ndarray:
        found = np.zeros((len(points), self.counts.shape[1]))
        np.add.at(found, self._point(points), self.shares[self.group] * self.people[:, None])
        return found

    def memberships(
        self, points: np.ndarray, people: np.ndarray, nearest: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self._point(points), self.group, self.people

    def keep_members_at(self, points: np.ndarray) -> Members:
        """Leave out the members who are at none of the points; the groups' values stay."""
        kept = self._find_points(points) >= 0
        return replace(self, codes=self.codes[kept], group=self.group[kept], people=self.people[kept])

    def _point(self, points: np.ndarray) -> np.ndarray:
        """Which of the points each member is."""
        found = self._find_points(points)
        if (found < 0).any():
            raise RequestError(
                f"{some(int(self.people[found < 0].sum()), 'published row', 'is', 'are')} not in the source.",
                attempt="the data that the release was made from.",
            )
        return found

    def _find_points(self, points: np.ndarray) -> np.ndarray:
        """Which of the points each member is, -1 where it is none."""
        both = np.concatenate([points, self.codes])
        _, number = np.unique(both, axis=0, return_inverse=True)
        number = number.reshape(-1)
        of = np.full(int(number.max(initial=0)) + 1, -1, np.int64)
        of[number[: len(points)]] = np.arange(len(points))
        return of[number[len(points) :]]


def members(quasi: pl.DataFrame, group: pl.Series, counts: np.ndarray, cells: Cells) -> Members:
    """From exact quasi-identifiers and the group of each row, in the codes of the source's cells."""
    codes = [codes_of(domain, quasi[domain.name]) for domain in cells.quasi]
    rows = np.column_stack([*codes, group.to_numpy().astype(np.int64)])
    distinct, people = np.unique(rows, axis=0, return_counts=True)
    return Members(distinct[:, :-1], distinct[:, -1], people.astype(np.float64), counts)


def codes_of(domain: Domain, series: pl.Series) -> np.ndarray:
    """Codes of published values: those of the source's domain."""
    known = {text: code for code, text in enumerate(domain.texts)}
    texts = series.cast(pl.String)
    found = texts.replace_strict(known, default=-1, return_dtype=pl.Int64)
    coded = pl.select(pl.when(texts.is_null()).then(domain.null_code).otherwise(found)).to_series().to_numpy()
    if (coded < 0).any():
        raise RequestError(
            f"Column {domain.name!r} holds {some(int((coded < 0).sum()), 'value')} that the source lacks."
        )
    return coded
