"""A decision tree from perturbed rows (Tao et al. 2008, section II-C; SLIQ's greedy growing, Mehta et al. 1996).

Splits are scored by the Gini impurity of class histograms reconstructed from perturbed values, rows weighted by G, a generalized value
lying evenly over the places it covers: a row goes to both sides of a cut in proportion.  A split is made where the classes of its
sides differ by more than `z` standard errors, because what perturbation adds looks like structure in small nodes.  Which classes,
columns and depth is chosen when mining, not when publishing.

The conventions are scikit-learn's: parameters in the constructor, `fit(X, y)`, `predict`, `predict_proba`, `score`, `classes_`.
X is a release's frame (labels) or people's own values; y the published sensitive values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, ClassifierMixin

from reticent.errors import RequestError, listed
from reticent.release.manifest import Manifest
from reticent.table.roles import Role
from reticent.utility.mining.features import Feature, feature
from reticent.utility.mining.reconstruction import Classes
from reticent.utility.mining.splitting import Node, Rows, grown

WEIGHT = "G"


@dataclass(frozen=True, eq=False)
class Grown:
    features: list[Feature]
    classes: Classes
    root: Node


class ReconstructingTree(ClassifierMixin, BaseEstimator):
    """`manifest` explains the columns and how values were perturbed: `release.manifest` of a sampled or a perturbed release.

    `categories` are the classes, each a list of sensitive values; `columns` the quasi-identifiers to use (all); `by` "inversion" or
    "em" scores splits; `least` is the fewest published rows (by their effective number) on a side.
    """

    def __init__(self, manifest: Manifest | None = None, categories: Mapping[Any, Sequence[Any]] | None = None,
                 columns: Sequence[str] | None = None, max_depth: int = 8, least: float = 50.0, z: float = 3.0,
                 by: str = "inversion"):  # fmt: skip
        self.manifest = manifest
        self.categories = categories
        self.columns = columns
        self.max_depth = max_depth
        self.least = least
        self.z = z
        self.by = by

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ReconstructingTree:
        """X: rows as published (their `G` is the weight unless one is given); y: their published sensitive values."""
        if self.manifest is None:
            raise RequestError(
                "A tree needs the release's manifest.", attempt="ReconstructingTree(release.manifest, ...)."
            )
        if self.by not in ("inversion", "em"):
            raise RequestError(f"Reconstruction by {self.by!r} is not known.", attempt='by = "inversion" or "em".')
        frame = _frame(X)
        classes = Classes.named(self.manifest, self.categories)
        shown = classes.places(_series(y))
        weight = _weight(frame, sample_weight)
        first = classes.contribution[shown, 0]
        found = [feature(entry, frame[entry.name], weight, first) for entry in self._entries(frame)]
        rows = Rows([one.cover for one, _ in found], np.stack([number for _, number in found]), weight, shown)
        root = grown(rows, classes, max_depth=self.max_depth, least=self.least, z=self.z, em=self.by == "em")
        self.grown_ = Grown([one for one, _ in found], classes, root)
        self.classes_ = np.array(classes.names)
        self.n_features_in_ = len(found)
        return self

    def _entries(self, frame: pl.DataFrame) -> list[Any]:
        assert self.manifest is not None
        entries = {entry.name: entry for entry in self.manifest.named(Role.QUASI)}
        wanted = list(entries if self.columns is None else self.columns)
        unknown = [name for name in wanted if name not in entries or name not in frame.columns]
        if unknown:
            raise RequestError(
                f"{unknown[0]!r} is no quasi-identifier of the release.", attempt=f"one of {listed(entries)}."
            )
        return [entries[name] for name in wanted]

    def predict_proba(self, X: Any) -> np.ndarray:
        """(rows, classes); X are people's own values, or labels (a person in the middle of what they cover)."""
        frame, grown_ = _frame(X), self._fitted()
        places = np.column_stack([self._places(one, frame[one.entry.name]) for one in grown_.features])
        return grown_.root.probabilities(places)

    def _places(self, one: Feature, values: pl.Series) -> np.ndarray:
        from reticent.release.reading.extent import Unreadable

        try:
            found = one.places(values)
        except Unreadable:
            found = None
        labelled = values.dtype == pl.String and values.str.starts_with("[").any() | values.str.starts_with("{").any()
        if found is not None and not labelled:
            return found
        from reticent.release.reading.crucial import numbered

        which, distinct = numbered(values)
        again, number = feature(one.entry, distinct, np.ones(len(distinct)), np.zeros(len(distinct)))
        middle = (again.cover.upto[:, number] < 0.5).sum(axis=0) - 1
        return np.clip(middle, 0, len(one.known) - 1)[which]

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted; y are sensitive values, or classes already."""
        classes, given = self._fitted().classes, _series(y)
        texts = {str(name) for name in classes.names}
        if self.categories is not None and not set(given.cast(pl.String).unique()) <= texts:
            truth = self.classes_[classes.of[classes.places(given)]]
        else:
            truth = self.classes_[[[str(n) for n in classes.names].index(t) for t in given.cast(pl.String)]]
        return float(np.average(self.predict(X) == truth, weights=sample_weight))

    def _fitted(self) -> Grown:
        if not hasattr(self, "grown_"):
            raise RequestError("The tree has not been fitted.", attempt="fit(frame, values) first.")
        return self.grown_


def _frame(X: Any) -> pl.DataFrame:
    return X if isinstance(X, pl.DataFrame) else pl.DataFrame(X)


def _series(y: Any) -> pl.Series:
    return y if isinstance(y, pl.Series) else pl.Series(np.asarray(y))


def _weight(frame: pl.DataFrame, given: Any) -> np.ndarray:
    if given is not None:
        return np.asarray(given, np.float64)
    return frame[WEIGHT].to_numpy().astype(np.float64) if WEIGHT in frame.columns else np.ones(len(frame))
