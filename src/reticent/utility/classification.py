"""Classification utility: train on a release, score on people who are not in it. Extra `stats`.

The score of a learner is the share of these people whose class it predicts; `baseline` is the share that always
predicting the most frequent class of the source would reach.

Classes (`make_classes`) are the values of a sensitive column as a few classes. Up to MAX_SINGLE_CLASSES values are a
class each. Of more, numbers are halved at the median of the source, categories with a hierarchy are its families below
the root, and others stay a class each. Beyond MAX_CLASSES the least frequent share the last class. A missing value is a
class of its own.

Examples (`Encoder`) are what a release teaches, as scikit-learn takes it: labels as numbers, each with the classes that
its rows have or may have. A label covers codes of a column; its weight lies evenly over them. `places` of a column are
the mean position of what is covered (one number, from 0 to 1) or, of categories, the share of each; `masses` are shares
in both cases, numbers cut into stretches. In groups that do not reveal who has which value, everyone counts with the
group's shares.

Learners that need groups take `Examples` of the release and of the people asked about, and return the class of each
point. The reconstruction tree (Tao et al. 2008, section II-C) learns from redrawn values.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from reticent import catalogue
from reticent.data.cells import Cells
from reticent.data.domain import Domain, RangeDomain, TreeDomain
from reticent.errors import RequestError
from reticent.format.manifest import Manifest
from reticent.labels.adversary_view import Boxes

MAX_SINGLE_CLASSES = 10
MAX_CLASSES = 64
OTHERS = "any other value"
NUMBER_BINS = 16
MAX_CATEGORIES = 128
"""The most categories with a column of their own; the rarest beyond share one."""
LEARNER_SEED = 1
MAX_WORK = 1 << 28
"""The most lines times features times classes to train on; beyond, a random choice of lines is taken."""


@dataclass(frozen=True, eq=False)
class SensitiveClasses:
    """Classes of a sensitive column: `of` is the class of each code, `names` are the names of the classes."""

    of: np.ndarray
    names: tuple[str, ...]

    def sum_by_class(self, counts: np.ndarray) -> np.ndarray:
        """Sum counts of values to counts of classes: (..., values) -> (..., classes)."""
        return counts @ np.eye(len(self.names))[self.of]

    def values(self, domain: Domain) -> dict[str, list[str]]:
        """List the texts of each class; the missing value has none."""
        texts = np.array(domain.texts, object)
        return {name: list(texts[self.of[: len(texts)] == number]) for number, name in enumerate(self.names)}


def make_classes(domain: Domain, totals: np.ndarray) -> SensitiveClasses:
    """Make classes of a domain; `totals` counts the rows of the source that hold each value."""
    class_names = list(domain.texts)
    if len(domain.texts) > MAX_SINGLE_CLASSES:
        if isinstance(domain, RangeDomain):
            half = np.searchsorted(np.cumsum(totals[: len(domain.texts)]), totals[: len(domain.texts)].sum() / 2) + 1
            half = min(max(int(half), 1), len(domain.texts) - 1)
            class_names = [
                f"below {domain.texts[half]}" if number < half else f"{domain.texts[half]} and above"
                for number in range(len(domain.texts))
            ]
        elif isinstance(domain, TreeDomain) and domain.is_from_steward:
            family = {row[0]: row[-2] if len(row) > 2 else row[0] for row in domain.hierarchy.rows()}
            class_names = [family.get(text, text) for text in domain.texts]
        class_names = _join_rare(class_names, totals[: len(domain.texts)])
    if domain.null:
        class_names.append("missing")
    names = tuple(dict.fromkeys(class_names))
    place = {name: number for number, name in enumerate(names)}
    return SensitiveClasses(np.array([place[name] for name in class_names], np.int64), names)


@dataclass(frozen=True, eq=False)
class Examples:
    """Training or test data: features `places` and `masses` (examples, features), and `people` (examples, classes), how
    many people each example stands for.
    """

    places: np.ndarray
    masses: np.ndarray
    people: np.ndarray

    def expand(
        self, of: np.ndarray, max_lines: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return features, class and weight, one line for each class that an example has; if more than `max_lines`, a
        random choice of them.
        """
        example, class_of_line = np.nonzero(self.people > 0)
        if len(example) > max_lines:
            chosen = np.sort(rng.choice(len(example), max_lines, replace=False))
            example = example[chosen]
            class_of_line = class_of_line[chosen]
        return of[example], class_of_line, self.people[example, class_of_line]


class Encoder:
    """Encodes the codes of each quasi-identifier as features."""

    def __init__(self, cells: Cells):
        self.tables = [
            _make_feature_tables(domain, _count_rows_by_code(cells, axis)) for axis, domain in enumerate(cells.quasi)
        ]

    def encode_codes(self, codes: np.ndarray, people: np.ndarray) -> Examples:
        """Encode people with exact quasi-identifiers."""
        places, masses = (
            np.concatenate([pair[side][codes[:, axis]] for axis, pair in enumerate(self.tables)], axis=1)
            for side in (0, 1)
        )
        return Examples(places, masses, people)

    def encode_boxes(self, boxes: Boxes, people: np.ndarray) -> Examples:
        features: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        for axis, (pair, column) in enumerate(zip(self.tables, boxes.covers, strict=True)):
            covered = column.table(np.arange(len(pair[0]))).T.astype(float)
            covered /= np.maximum(covered.sum(axis=1, keepdims=True), 1)
            for parts, table in zip(features, pair, strict=True):
                parts.append((covered @ table)[boxes.label[axis]])
        return Examples(np.concatenate(features[0], axis=1), np.concatenate(features[1], axis=1), people)


def make_examples_from_view(sight: Any, encoder: Encoder, classes: SensitiveClasses) -> Examples:
    """Make examples of what groups teach."""
    if isinstance(sight, Boxes):
        return encoder.encode_boxes(sight, classes.sum_by_class(sight.counts))
    points, point_of_row = np.unique(sight.codes, axis=0, return_inverse=True)
    people = np.zeros((len(points), len(classes.names)))
    np.add.at(people, point_of_row.reshape(-1), sight.people[:, None] * classes.sum_by_class(sight.shares)[sight.group])
    return encoder.encode_codes(points, people)


def make_examples_from_cells(cells: Cells, encoder: Encoder, classes: SensitiveClasses) -> Examples:
    """Make examples of the people themselves, to teach or to be asked about."""
    points, point_of_cell = np.unique(cells.codes, axis=0, return_inverse=True)
    people = np.zeros((len(points), len(classes.names)))
    np.add.at(people, (point_of_cell.reshape(-1), classes.of[cells.values[:, 0]]), cells.counts)
    return encoder.encode_codes(points, people)


@dataclass(frozen=True, eq=False)
class Exam:
    """An exam: `known` are the cells of the people that releases are made of, `asked` those of the others, in the same
    codes.
    """

    known: Cells
    asked: Cells
    people: pl.DataFrame  # the people asked about, as rows

    @cached_property
    def classes(self) -> SensitiveClasses:
        return make_classes(self.known.sensitive[0], self.known.totals(0))

    @cached_property
    def encoder(self) -> Encoder:
        return Encoder(self.known)

    @cached_property
    def examples(self) -> Examples:
        return make_examples_from_cells(self.asked, self.encoder, self.classes)

    @property
    def baseline(self) -> float:
        often = int(self.classes.sum_by_class(self.known.totals(0)).argmax())
        return float(self.examples.people[:, often].sum() / self.examples.people.sum())

    def score_ideal(self) -> dict[str, float]:
        """Score learners that were taught by the people themselves, as they are."""
        return self._score_examples(make_examples_from_cells(self.known, self.encoder, self.classes))

    def of_groups(self, sight: Any) -> dict[str, float]:
        """Score learners that were taught by what groups show."""
        return self._score_examples(make_examples_from_view(sight, self.encoder, self.classes))

    def score_perturbed(self, published: pl.DataFrame, manifest: Manifest) -> dict[str, float]:
        """Score learners that were taught by rows whose values were redrawn."""
        column = manifest.sensitive.name
        domain = self.known.sensitive[0]
        categories = {name: values for name, values in self.classes.values(domain).items() if values}
        of = {text: self.classes.names[self.classes.of[code]] for code, text in enumerate(domain.texts)}
        truth = self.people[column].cast(pl.String).replace_strict(of, default="missing", return_dtype=pl.String)
        accuracies = {}
        for name, row in catalogue.LEARNERS.items():
            if row.reconstructs:
                predicted = catalogue.load_object(row.function)(published, manifest, categories, self.people)
                accuracies[name] = float(np.mean(predicted == truth.to_numpy()))
        return accuracies

    def _score_examples(self, taught: Examples) -> dict[str, float]:
        examples = self.examples
        accuracies = {}
        example_numbers = np.arange(len(examples.people))
        for name, row in catalogue.LEARNERS.items():
            if not row.reconstructs:
                predicted = catalogue.load_object(row.function)(taught, examples)
                accuracies[name] = float(examples.people[example_numbers, predicted].sum() / examples.people.sum())
        return accuracies


def score_release(release: Any, exam: Exam) -> dict[str, float]:
    """Compute the accuracy of each learner that can be taught by a release: from its groups, or from redrawn values."""
    own = release.manifest.own
    if "matrix" in own or ("domain" in own and "p" in own):
        return exam.score_perturbed(release.frame(), release.manifest)
    try:
        return exam.of_groups(release.sight(exam.known))
    except RequestError as error:
        raise RequestError(f"Nothing can be learned from the release: {error.what}") from None


def naive_bayes(taught: Examples, test: Examples) -> np.ndarray:
    """Predict with naive Bayes: every column's shares of values are independent given the class, with one half added to
    each.
    """
    require_stats_extra()
    from sklearn.naive_bayes import MultinomialNB

    return _predict(MultinomialNB(alpha=0.5), taught, taught.masses, test.masses)


def logistic_regression(taught: Examples, test: Examples) -> np.ndarray:
    require_stats_extra()
    from sklearn.linear_model import LogisticRegression

    return _predict(LogisticRegression(max_iter=300, tol=1e-3), taught, taught.places, test.places)


def decision_tree(taught: Examples, test: Examples, max_work: int = MAX_WORK) -> np.ndarray:
    require_stats_extra()
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=10, min_weight_fraction_leaf=0.002, random_state=LEARNER_SEED)
    return _predict(tree, taught, taught.places, test.places, max_work)


def random_forest(taught: Examples, test: Examples) -> np.ndarray:
    require_stats_extra()
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(
        n_estimators=50, max_depth=12, min_weight_fraction_leaf=0.001, random_state=LEARNER_SEED, n_jobs=1
    )
    return _predict(forest, taught, taught.places, test.places)


def reconstruction_tree(
    published: pl.DataFrame, manifest: Manifest, categories: dict[str, list[str]], people: pl.DataFrame
) -> np.ndarray:
    """Predict the name of the class of each of the people; `categories` are the values of each class."""
    require_stats_extra()
    from reticent.utility.mining import ReconstructingTree

    domain = set(map(str, manifest.own["domain"] if "domain" in manifest.own else manifest.own["values"]))
    published_categories = {name: [value for value in values if value in domain] for name, values in categories.items()}
    missing = domain - {value for values in published_categories.values() for value in values}
    first = next(iter(published_categories))
    published_categories[first] = [
        *published_categories[first],
        *missing,
    ]  # a declared value that nobody has: any class will do
    tree = ReconstructingTree(manifest, {name: values for name, values in published_categories.items() if values})
    tree.fit(published, published[manifest.sensitive.name])
    return np.asarray(tree.predict(people), dtype=object)


def require_stats_extra() -> None:
    """Require the extra that learners need, and name it where it is not installed."""
    try:
        import scipy  # noqa: F401
        import sklearn  # noqa: F401  both are needed, and one message names them
    except ImportError:
        raise RequestError(
            "Classification needs scipy and scikit-learn, which are not installed.",
            attempt="pip install 'reticent[stats]', or leaving classification out.",
        ) from None


def _join_rare(class_names: list[str], totals: np.ndarray) -> list[str]:
    """Return the class of each value, at most MAX_CLASSES in all: those of the fewest rows are one class, named OTHERS."""
    rows: dict[str, int] = {}
    for name, total in zip(class_names, totals.tolist(), strict=True):
        rows[name] = rows.get(name, 0) + total
    if len(rows) <= MAX_CLASSES:
        return class_names
    frequent = set(sorted(rows, key=lambda name: -rows[name])[: MAX_CLASSES - 1])
    return [name if name in frequent else OTHERS for name in class_names]


def _make_feature_tables(domain: Domain, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Make the features of each code: (codes, places) and (codes, masses)."""
    if isinstance(domain, RangeDomain):
        places = np.full((domain.size, 1), 0.5)
        positions = np.asarray(domain.positions, float)[: len(domain.texts)]
        span = (positions[-1] - positions[0]) if len(positions) else 0
        places[: len(positions), 0] = (positions - positions[0]) / span if span else 0.5
        until = np.cumsum(rows) - rows / 2
        stretch = np.minimum((until / max(rows.sum(), 1) * NUMBER_BINS).astype(int), NUMBER_BINS - 1)
        return places, np.eye(NUMBER_BINS)[stretch]
    order = np.argsort(-rows, kind="stable")
    column = np.empty(domain.size, np.int64)
    column[order] = np.minimum(np.arange(domain.size), MAX_CATEGORIES - 1)
    shares = np.eye(min(domain.size, MAX_CATEGORIES))[column]
    return shares, shares


def _count_rows_by_code(cells: Cells, axis: int) -> np.ndarray:
    return np.bincount(cells.codes[:, axis], weights=cells.counts, minlength=cells.quasi[axis].size)


def _predict(
    learner: Any, taught: Examples, features: np.ndarray, test_features: np.ndarray, max_work: int = MAX_WORK
) -> np.ndarray:
    """Predict the class of each point asked about; the only class there is, where a release shows one.

    It runs on one thread: matrix products as small as these keep several threads waiting for each other most of the
    time, and the result would depend on how many there are.
    """
    max_lines = max(max_work // max(features.shape[1] * taught.people.shape[1], 1), 1)
    X, y, weight = taught.expand(features, max_lines, np.random.default_rng(LEARNER_SEED))
    if not len(y):
        return np.zeros(len(test_features), np.int64)
    if (y == y[0]).all():
        return np.full(len(test_features), y[0])
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # warnings on many classes, or on too few steps: accuracy shows how well it went
        return np.asarray(learner.fit(X, y, sample_weight=weight).predict(test_features))
