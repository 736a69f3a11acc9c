"""Learners: each is taught by a release, and says the class of people who were not in it.  Extra `stats`.

Those that need groups take `Examples` of the release and of the people asked about, and give the class of each point.  The
reconstruction tree (Tao et al. 2008, section II-C) learns from redrawn values.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import RequestError
from reticent.release.manifest import Manifest
from reticent.utility.examples import Examples

SEED = 1
MAX_WORK = 1 << 28
"""Lines taught, times features, times classes: of more lines, as many as this allows are drawn at random."""


def naive_bayes(taught: Examples, asked: Examples) -> np.ndarray:
    """Every column's shares of values independent given the class, added one half each."""
    stats()
    from sklearn.naive_bayes import MultinomialNB

    return _predicted(MultinomialNB(alpha=0.5), taught, taught.masses, asked.masses)


def logistic_regression(taught: Examples, asked: Examples) -> np.ndarray:
    stats()
    from sklearn.linear_model import LogisticRegression

    return _predicted(LogisticRegression(max_iter=300, tol=1e-3), taught, taught.places, asked.places)


def decision_tree(taught: Examples, asked: Examples) -> np.ndarray:
    stats()
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=10, min_weight_fraction_leaf=0.002, random_state=SEED)
    return _predicted(tree, taught, taught.places, asked.places)


def random_forest(taught: Examples, asked: Examples) -> np.ndarray:
    stats()
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(
        n_estimators=50, max_depth=12, min_weight_fraction_leaf=0.001, random_state=SEED, n_jobs=1
    )
    return _predicted(forest, taught, taught.places, asked.places)


def reconstruction_tree(
    published: pl.DataFrame, manifest: Manifest, categories: dict[str, list[str]], people: pl.DataFrame
) -> np.ndarray:
    """The name of the class of each of the people; `categories` are the values of each class."""
    stats()
    from reticent.utility.mining import ReconstructingTree

    known = set(map(str, manifest.own["domain"] if "domain" in manifest.own else manifest.own["values"]))
    held = {name: [value for value in values if value in known] for name, values in categories.items()}
    missing = known - {value for values in held.values() for value in values}
    first = next(iter(held))
    held[first] = [*held[first], *missing]  # a declared value that nobody has: in whichever class
    tree = ReconstructingTree(manifest, {name: values for name, values in held.items() if values})
    tree.fit(published, published[manifest.sensitive.name])
    return np.asarray(tree.predict(people), dtype=object)


def stats() -> None:
    """The extra that learners need, by name, where it is not installed."""
    try:
        import scipy  # noqa: F401
        import sklearn  # noqa: F401  both are needed, and one message names them
    except ImportError:
        raise RequestError(
            "Classification needs scipy and scikit-learn, which are not installed.",
            attempt="pip install 'reticent[stats]', or leaving classification out.",
        ) from None


def _max_lines(taught: Examples, features: np.ndarray) -> int:
    return max(MAX_WORK // max(features.shape[1] * taught.people.shape[1], 1), 1)


def _predicted(learner: Any, taught: Examples, features: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """The class of each point asked about; the only class there is, where a release shows one.

    On one thread: products of matrices as small as these keep several threads waiting for each other most of the time, and what
    is learned would depend on how many there are.
    """
    X, y, weight = taught.expanded(features, _max_lines(taught, features), np.random.default_rng(SEED))
    if not len(y):
        return np.zeros(len(asked), np.int64)
    if (y == y[0]).all():
        return np.full(len(asked), y[0])
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # of many classes, or of steps that did not suffice: accuracy says how well it went
        return np.asarray(learner.fit(X, y, sample_weight=weight).predict(asked))
