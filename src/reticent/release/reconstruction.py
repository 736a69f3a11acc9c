"""Counts behind redrawn values (Cao & Karras, VLDB 2012, section 5).

Of the rows in a selection, e'_v show value v; those that held v_i are estimated as N' = E' M^-1 (inversion: unbiased, may be
negative), or by expectation-maximisation (never negative; ERRATA 5.8).  For the rows whose value is in a set with indicator s, the
estimate is sum_v e'_v w_v with w = M^-1 s, and since rows are redrawn independently sum_v e'_v w_v (w_v - 1) is an unbiased
estimate of its variance.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import RequestError
from reticent.release.answer import Answer
from reticent.release.manifest import Manifest
from reticent.table.types import typed

STEPS = 2000
STILL = 1e-9  # relative change at which expectation-maximisation has settled


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """The matrix of a manifest, ready to estimate with."""

    column: str
    values: pl.Series
    matrix: np.ndarray

    @classmethod
    def of(cls, manifest: Manifest) -> Reconstruction:
        column = manifest.sensitive
        matrix = np.array([[float(Fraction(str(entry))) for entry in row] for row in manifest.own["matrix"]])
        return cls(column.name, typed(manifest.own["values"], column.dtype).alias(column.name), matrix)

    @cached_property
    def inverse(self) -> np.ndarray:
        try:
            return np.linalg.inv(self.matrix)
        except np.linalg.LinAlgError:
            raise RequestError("The matrix of this release cannot be inverted.", attempt='by = "em".') from None

    def observed(self, frame: pl.DataFrame, where: pl.Expr | None = None) -> np.ndarray:
        """How many selected rows show each value."""
        rows = frame if where is None else frame.filter(where)
        counted = rows.group_by(self.column).len(name="\x00rows")
        both = self.values.to_frame().join(counted, on=self.column, how="left", maintain_order="left")
        return both["\x00rows"].fill_null(0).to_numpy().astype(np.float64)

    def invert(self, observed: np.ndarray) -> np.ndarray:
        """Rows of observed counts -> rows of estimated counts, unbiased."""
        return observed @ self.inverse

    def maximise(self, observed: np.ndarray) -> np.ndarray:
        """The same by expectation-maximisation: the most likely counts that are not negative."""
        seen = np.atleast_2d(observed).astype(np.float64)
        found = np.repeat(seen.sum(axis=1, keepdims=True) / len(self.values), len(self.values), axis=1)
        for _ in range(STEPS):
            expected = found @ self.matrix
            ratio = np.divide(seen, expected, out=np.zeros_like(seen), where=expected > 0)
            better = found * (ratio @ self.matrix.T)
            moved = np.abs(better - found).sum()
            found = better
            if moved <= STILL * max(seen.sum(), 1):
                break
        return found.reshape(np.shape(observed))

    def among(self, values: Iterable[Any] | None) -> np.ndarray:
        """The indicator of a set of sensitive values; None is all of them."""
        if values is None:
            return np.ones(len(self.values))
        return self.values.is_in(list(values)).to_numpy().astype(np.float64)

    def variance(self, observed: np.ndarray, among: np.ndarray) -> np.ndarray:
        """Of the inverted count of the values in `among`; unbiased, not below 0."""
        weight = self.inverse @ among
        return np.maximum(observed @ (weight * (weight - 1)), 0)

    def count(
        self,
        frame: pl.DataFrame,
        where: pl.Expr | None = None,
        values: Iterable[Any] | None = None,
        *,
        by: str = "inversion",
    ) -> Answer:
        """How many of the selected rows held one of the values, with the standard error that redrawing brings."""
        if by not in ("inversion", "em"):
            raise RequestError(f"Reconstruction by {by!r} is not known.", attempt='by = "inversion" or "em".')
        observed, among = self.observed(frame, where), self.among(values)
        counts = self.invert(observed) if by == "inversion" else self.maximise(observed)
        return Answer(float(counts @ among), std_error=float(np.sqrt(self.variance(observed, among))))
