"""Class histograms behind perturbed values: linear (inversion), or the most likely ones that are not negative (ERRATA 5.8).

A row that shows value v stands for `contribution[v]` of each class, M^-1 S with S the classes of values: an unbiased count however rows
are added up.  Expectation-maximisation works on counts of shown values; where a value is kept or else drawn uniformly (or by any fixed
distribution) it needs no matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import RequestError, some
from reticent.release.manifest import Manifest
from reticent.table.types import typed

STEPS, STILL = 100, 1e-4


@dataclass(frozen=True, eq=False)
class Classes:
    """`values` of the sensitive column, the class `of` each, the redrawing `matrix`, and the classes' `names`."""

    values: pl.Series
    of: np.ndarray
    names: tuple[Any, ...]
    matrix: np.ndarray

    @classmethod
    def named(cls, manifest: Manifest, categories: Mapping[Any, Sequence[Any]] | None) -> Classes:
        """`categories` are the values of each class; None: each value is a class of its own."""
        own, column = manifest.own, manifest.sensitive
        if "domain" in own:
            texts, p = own["domain"], float(Fraction(str(own["p"])))
            matrix = np.full((len(texts), len(texts)), (1 - p) / len(texts)) + p * np.eye(len(texts))
        elif "matrix" in own:
            texts = own["values"]
            matrix = np.array([[float(Fraction(str(entry))) for entry in row] for row in own["matrix"]])
        else:
            raise RequestError(
                f"A {manifest.kind} release shows values as they were: there is nothing to reconstruct.",
                attempt="any decision tree on its frame().",
            )
        values = typed(list(texts), column.dtype).alias(column.name)
        return cls(values, *_classes(values, categories), matrix)

    @property
    def indicator(self) -> np.ndarray:
        """(values, classes)."""
        return np.eye(len(self.names))[self.of]

    @property
    def contribution(self) -> np.ndarray:
        """(values, classes): what a row that shows a value adds to each class; every line sums to 1."""
        return np.linalg.solve(self.matrix, self.indicator)

    def places(self, shown: pl.Series) -> np.ndarray:
        """The place of each shown value among `values`."""
        table = pl.DataFrame({"v": self.values.cast(pl.String), "place": np.arange(len(self.values))})
        rows = pl.DataFrame({"v": shown.cast(pl.String)})
        found = rows.join(table, on="v", how="left", maintain_order="left")["place"]
        if found.null_count():
            raise RequestError(
                f"{some(found.null_count(), 'row', 'shows', 'show')} a value that the release's domain lacks."
            )
        return found.to_numpy()

    def maximised(self, seen: np.ndarray) -> np.ndarray:
        """(..., values) counts of shown values -> (..., classes) most likely counts, none negative."""
        flat = np.maximum(seen.reshape(-1, len(self.values)), 0)
        total = flat.sum(axis=1, keepdims=True)
        found = np.repeat(total / len(self.values), len(self.values), axis=1)
        moving = np.arange(len(flat))  # each line on its own, until it hardly moves
        for _ in range(STEPS):
            before, shown = found[moving], flat[moving]
            expected = before @ self.matrix
            ratio = np.divide(shown, expected, out=np.zeros_like(shown), where=expected > 0)
            found[moving] = before * (ratio @ self.matrix.T)
            moved = np.abs(found[moving] - before).sum(axis=1)
            moving = moving[moved > STILL * np.maximum(total[moving, 0], 1e-300)]
            if not len(moving):
                break
        return (found @ self.indicator).reshape(*seen.shape[:-1], len(self.names))


def _classes(values: pl.Series, categories: Mapping[Any, Sequence[Any]] | None) -> tuple[np.ndarray, tuple[Any, ...]]:
    if categories is None:
        return np.arange(len(values)), tuple(values.to_list())
    place = {str(value): at for at, value in enumerate(values.to_list())}
    of = np.full(len(values), -1)
    for number, listed in enumerate(categories.values()):
        for value in listed:
            if str(value) in place:
                of[place[str(value)]] = number
    if (of < 0).any():
        raise RequestError(
            f"The categories leave out {some(int((of < 0).sum()), 'value')} of the sensitive column.",
            attempt="a class for every value.",
        )
    return of, tuple(categories)
