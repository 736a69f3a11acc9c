"""The yardsticks of section VII-B: a tree from a random subset of the microdata as it is, and from one whose classes are noise.

Both have |D| / k rows, the most that perturbed generalization publishes, and exact quasi-identifiers.  Grown by scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from sklearn.tree import DecisionTreeClassifier


def optimistic(people: pl.DataFrame, classes: np.ndarray, k: int, *, seed: int = 0, **how: Any) -> Any:
    """(tree, encoding): nothing is perturbed."""
    chosen = np.random.default_rng(seed).choice(len(people), len(people) // k, replace=False)
    return _grown(people, classes, chosen, seed, how)


def pessimistic(
    people: pl.DataFrame, values: np.ndarray, of: Mapping[Any, int], k: int, *, seed: int = 0, **how: Any
) -> Any:
    """(tree, encoding): every sensitive value is drawn from the domain, which `of` maps to classes."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(people), len(people) // k, replace=False)
    noise = np.array(list(of.values()))[rng.integers(0, len(of), len(values))]
    return _grown(people, noise, chosen, seed, how)


def _grown(people: pl.DataFrame, classes: np.ndarray, chosen: np.ndarray, seed: int, how: Mapping[str, Any]) -> Any:
    given = {"max_depth": 10, "min_samples_leaf": 25, "random_state": seed, **how}
    encoding = [ordered(people[name][chosen], classes[chosen]) for name in people.columns]
    tree = DecisionTreeClassifier(**given)
    return tree.fit(encoded(people[chosen], encoding), classes[chosen]), encoding


Encoding = Sequence[Mapping[str, float] | None]


def ordered(values: pl.Series, classes: np.ndarray) -> Mapping[str, float] | None:
    """Categories by the mean class of their rows; None for numbers."""
    if values.dtype.is_numeric():
        return None
    rows = pl.DataFrame({"value": values.cast(pl.String), "class": classes.astype(np.float64)})
    means = rows.group_by("value").agg(pl.col("class").mean())
    return dict(zip(means["value"].to_list(), means["class"].to_list(), strict=True))


def encoded(people: pl.DataFrame, encoding: Encoding) -> np.ndarray:
    """Numbers as they are, categories by their place in the encoding."""
    found = []
    for name, means in zip(people.columns, encoding, strict=True):
        column = people[name]
        if means is None:
            found.append(column.to_numpy().astype(np.float64))
        else:
            found.append(
                column.cast(pl.String).replace_strict(dict(means), default=0.0, return_dtype=pl.Float64).to_numpy()
            )
    return np.column_stack(found)
