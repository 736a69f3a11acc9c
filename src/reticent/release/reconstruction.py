"""Counts behind redrawn values (Cao & Karras, VLDB 2012, section 5).

Of the rows in a selection, e'_v show value v; those that held v_i are estimated as N' = E' M^-1 (inversion: unbiased, may be
negative), or by expectation-maximisation (never negative; ERRATA 5.8).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import polars as pl

from reticent.errors import RequestError
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

    def shown(self, frame: pl.DataFrame) -> np.ndarray:
        """The place of each row's value among those of the matrix."""
        place = pl.DataFrame({self.column: self.values, "\x00place": np.arange(len(self.values))})
        return (
            frame.select(self.column)
            .join(place, on=self.column, how="left", nulls_equal=True, maintain_order="left")["\x00place"]
            .to_numpy()
        )

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
