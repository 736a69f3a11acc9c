"""A decision tree from perturbed rows (Tao et al. 2008, section II-C; SLIQ's greedy growing, Mehta et al. 1996).

Splits are scored by the Gini impurity of class histograms reconstructed from perturbed values, rows weighted by the
people that they stand for (G, shared by the rows of a group), a generalized value lying evenly over the places it covers: a row goes to both sides of a cut in proportion. A split is
made where the classes of its sides differ by more than `z` standard errors, because what perturbation adds looks like
structure in small nodes. Classes, columns and depth are chosen when mining, not when publishing.

`ReconstructingTree` follows scikit-learn's conventions: parameters in the constructor, `fit(X, y)`, `predict`,
`predict_proba`, `score`, `classes_`. X is a release's frame (labels) or people's own values; y the published sensitive
values.

`PerturbedClasses` reconstructs the class histograms behind perturbed values: linearly (inversion), or the most likely
ones that are not negative (ERRATA 5.8). A row that shows value v stands for `contribution[v]` of each class, M^-1 S
with S the classes of values: an unbiased count however rows are added up. Expectation-maximisation works on counts of
shown values; where a value is kept or else drawn uniformly (or by any fixed distribution) it needs no matrix.

`Grower` grows the tree: of every column and place it takes the cut that leaves the purest sides, by reconstructed
histograms. A node is a stretch of places in each column. A row's part in it is the product over columns of the share of
its places that lie in the stretch. For each column, what rows add at each place is gathered by label, so that a node
costs its rows once per column and not once per place; a label is spread over the few places it covers. The cuts of all
columns are scored together.

`optimistic` and `pessimistic` are the yardsticks of section VII-B: a tree from a random subset of the microdata as it
is, and from one whose classes are noise. Both have |D| / k rows, the most that perturbed generalization publishes, and
exact quasi-identifiers. They are grown by scikit-learn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from reticent.data.columns import Role
from reticent.data.parsing import parse_texts
from reticent.errors import RequestError, pluralize, quote_list
from reticent.estimate.row_weights import SIZE_COLUMN, compute_row_weights
from reticent.format.manifest import Manifest
from reticent.kernels.tree_places import spread_tallies
from reticent.utility.mining.features import Feature, LabelPlaces, make_feature

MAX_EM_STEPS = 100
EM_TOLERANCE = 1e-4
MIN_ROW_PART = 1e-6  # a smaller part of a row is left out
Encoding = Sequence[Mapping[str, float] | None]


@dataclass(frozen=True, eq=False)
class PerturbedClasses:
    """Classes of perturbed values: `values` of the sensitive column, the class `of` each, the redrawing `matrix`, and
    the classes' `names`.
    """

    values: pl.Series
    of: np.ndarray
    names: tuple[Any, ...]
    matrix: np.ndarray

    @classmethod
    def from_categories(cls, manifest: Manifest, categories: Mapping[Any, Sequence[Any]] | None) -> PerturbedClasses:
        """Make classes from `categories`, the values of each class; None: each value is a class of its own."""
        own = manifest.own
        column = manifest.sensitive
        if "domain" in own:
            texts = own["domain"]
            p = float(Fraction(str(own["p"])))
            matrix = np.full((len(texts), len(texts)), (1 - p) / len(texts)) + p * np.eye(len(texts))
        elif "matrix" in own:
            texts = own["values"]
            matrix = np.array([[float(Fraction(str(entry))) for entry in row] for row in own["matrix"]])
        else:
            raise RequestError(
                f"A {manifest.kind} release shows values as they were: there is nothing to reconstruct.",
                attempt="any decision tree on its frame().",
            )
        values = parse_texts(list(texts), column.dtype).alias(column.name)
        return cls(values, *_assign_classes(values, categories), matrix)

    @property
    def indicator(self) -> np.ndarray:
        """The class of each value as 0 and 1 (values, classes)."""
        return np.eye(len(self.names))[self.of]

    @property
    def contribution(self) -> np.ndarray:
        """What a row that shows a value adds to each class (values, classes); every line sums to 1."""
        return np.linalg.solve(self.matrix, self.indicator)

    def places(self, values: pl.Series) -> np.ndarray:
        """Find the place of each shown value among `values`."""
        table = pl.DataFrame({"v": self.values.cast(pl.String), "place": np.arange(len(self.values))})
        rows = pl.DataFrame({"v": values.cast(pl.String)})
        place_of_row = rows.join(table, on="v", how="left", maintain_order="left")["place"]
        if place_of_row.null_count():
            raise RequestError(
                f"{pluralize(place_of_row.null_count(), 'row', 'shows', 'show')} a value that the release's domain lacks."
            )
        return place_of_row.to_numpy()

    def maximize_likelihood(self, value_counts: np.ndarray) -> np.ndarray:
        """Convert counts of shown values (..., values) to the most likely counts (..., classes), none negative."""
        flat = np.maximum(value_counts.reshape(-1, len(self.values)), 0)
        total = flat.sum(axis=1, keepdims=True)
        counts = np.repeat(total / len(self.values), len(self.values), axis=1)
        moving = np.arange(len(flat))  # each line on its own, until it hardly moves
        for _ in range(MAX_EM_STEPS):
            before = counts[moving]
            observed = flat[moving]
            expected = before @ self.matrix
            ratio = np.divide(observed, expected, out=np.zeros_like(observed), where=expected > 0)
            counts[moving] = before * (ratio @ self.matrix.T)
            moved = np.abs(counts[moving] - before).sum(axis=1)
            moving = moving[moved > EM_TOLERANCE * np.maximum(total[moving, 0], 1e-300)]
            if not len(moving):
                break
        return (counts @ self.indicator).reshape(*value_counts.shape[:-1], len(self.names))


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows to train on: `covers[c]` are the places of column c's labels; `label` (columns, rows); `shown` the place of
    the value.
    """

    covers: list[LabelPlaces]
    label: np.ndarray
    weight: np.ndarray
    shown: np.ndarray

    def room(self, width: int) -> np.ndarray:
        """Return a line of zeros for each label of the column that has most."""
        return np.zeros((max(len(cover.counts) for cover in self.covers), width))


@dataclass(frozen=True, eq=False)
class Node:
    """A leaf's probabilities, or a cut: places before `at` of `column` go left."""

    share: np.ndarray
    column: int = -1
    at: int = 0
    left: Node | None = None
    right: Node | None = None

    def probabilities(self, places: np.ndarray) -> np.ndarray:
        row_probabilities = np.empty((len(places), len(self.share)))
        waiting: list[tuple[Node, np.ndarray]] = [(self, np.arange(len(places)))]
        while waiting:
            node, rows = waiting.pop()
            if node.left is None or node.right is None:
                row_probabilities[rows] = node.share
                continue
            before = places[rows, node.column] < node.at
            waiting += [(node.left, rows[before]), (node.right, rows[~before])]
        return row_probabilities

    @property
    def leaves(self) -> int:
        return 1 if self.left is None or self.right is None else self.left.leaves + self.right.leaves


@dataclass(frozen=True, slots=True)
class TreeCut:
    gain: float
    column: int
    at: int


@dataclass(frozen=True, eq=False)
class Branch:
    """A node while it is grown: how often each value is `seen` in it, and its cut."""

    seen: np.ndarray
    cut: TreeCut | None = None
    sides: tuple[Branch, ...] = ()

    def all(self) -> list[Branch]:
        return [self, *(branch for side in self.sides for branch in side.all())]

    def convert_to_node(self, shares: Iterator[np.ndarray], above: np.ndarray) -> Node:
        """Convert to nodes with the next of the shares, in the order of `all`; with the one above where a node is
        empty.
        """
        share = next(shares)
        share = share if self.seen.sum() > 0 else above
        if self.cut is None:
            return Node(share)
        left, right = (side.convert_to_node(shares, share) for side in self.sides)
        return Node(share, self.cut.column, self.cut.at, left, right)


@dataclass(frozen=True, eq=False)
class Grower:
    """Grows a tree from training rows, with the parameters of `ReconstructingTree`."""

    rows: TrainingRows
    classes: PerturbedClasses
    contribution: np.ndarray
    least: float
    z: float
    em: bool

    def branch(self, rows: np.ndarray, part: np.ndarray, stretch: np.ndarray, depth: int) -> Branch:
        """Grow the subtree of `rows` with these parts of their weight."""
        weight = part * self.rows.weight[rows]
        value_counts = np.bincount(self.rows.shown[rows], weights=weight, minlength=len(self.contribution))
        cut = self._find_best_cut(rows, part, stretch) if depth and len(rows) else None
        if cut is None:
            return Branch(value_counts)
        upto = self.rows.covers[cut.column].upto
        label = self.rows.label[cut.column][rows]
        first, last = stretch[cut.column]
        span_share = upto[last] - upto[first]
        sides = []
        for low, high in ((first, cut.at), (cut.at, last)):
            inner = stretch.copy()
            inner[cut.column] = low, high
            share = np.divide(upto[high] - upto[low], span_share, out=np.zeros(len(span_share)), where=span_share > 0)
            parts = part * share[label]
            is_present = parts > MIN_ROW_PART
            sides.append(self.branch(rows[is_present], parts[is_present], inner, depth - 1))
        return Branch(value_counts, cut, tuple(sides))

    def _find_best_cut(self, rows: np.ndarray, part: np.ndarray, stretch: np.ndarray) -> TreeCut | None:
        """Find the best cut over all columns with enough rows on both sides; the first of equal ones."""
        weight = part * self.rows.weight[rows]
        tallies = np.column_stack([weight[:, None] * self.tallies(rows), weight**2])
        columns = np.flatnonzero(stretch[:, 1] - stretch[:, 0] >= 2)
        if not len(columns):
            return None
        tallies_by_column = [
            self._cumulate_tallies(rows, tallies, int(column), *map(int, stretch[column])) for column in columns
        ]
        gain = self._compute_gains(np.concatenate(tallies_by_column), tallies.sum(axis=0))
        pick = int(gain.argmax())
        if gain[pick] <= 0:
            return None
        ends = np.cumsum([len(column_tallies) for column_tallies in tallies_by_column])
        position = int(np.searchsorted(ends, pick, side="right"))
        place = pick - (ends[position] - len(tallies_by_column[position]))
        return TreeCut(float(gain[pick]), int(columns[position]), int(stretch[columns[position], 0]) + 1 + int(place))

    def _compute_gains(self, left_tallies: np.ndarray, all_tallies: np.ndarray) -> np.ndarray:
        """Compute what each cut gains, minus infinity where a side is too small or the sides do not differ enough.

        The last tally is of squared weights.
        """
        left = left_tallies[:, :-1]
        left_squares = left_tallies[:, -1]
        total = all_tallies[:-1]
        sides = (left, total - left)
        rows = [side @ self.ones for side in sides]
        error = [np.maximum(left_squares, 1e-300), np.maximum(all_tallies[-1] - left_squares, 1e-300)]
        min_rows = MIN_ROW_PART * float(total @ self.ones)  # less is a rounding error of an empty side
        enough = [(n > min_rows) & (n**2 / e >= self.least) for n, e in zip(rows, error, strict=True)]
        fine = enough[0] & enough[1]
        gains = np.full(len(left), -np.inf)
        if not fine.any():
            return gains
        counts = [self._classes(side[fine]) for side in sides]
        before = self._classes(total[None])
        gain = _compute_gini(before)[0] - _compute_gini(counts[0]) - _compute_gini(counts[1])
        is_apart = self._has_significant_difference(counts, [n[fine] for n in rows], [e[fine] for e in error])
        gains[fine] = np.where(is_apart, gain, -np.inf)
        return gains

    def _cumulate_tallies(self, rows: np.ndarray, tallies: np.ndarray, column: int, low: int, high: int) -> np.ndarray:
        """Sum (cuts, tallies): what lies left of each place of a column where it can be cut.

        The last tally is of squared weights.
        """
        cover = self.rows.covers[column]
        span_share = cover.upto[high] - cover.upto[low]
        scale = np.divide(cover.share, span_share, out=np.zeros(len(span_share)), where=span_share > 0)
        sums = np.zeros((high - low, tallies.shape[1]))
        spread_tallies(self.rows.label[column][rows], tallies, scale, cover.first, cover.place, low, self.held, sums)
        # A row shared by both sides counts by its part, which is no less than the square of it.
        return np.cumsum(sums, axis=0)[:-1]

    @cached_property
    def held(self) -> np.ndarray:
        """Work space in which what rows add is gathered by label."""
        return self.rows.room(len(self.ones) + 2)

    def tallies(self, rows: np.ndarray) -> np.ndarray:
        """Return (rows, tallies): what each row adds to a class or, for expectation-maximisation, whether it shows a
        value.
        """
        return (self.value_indicators if self.em else self.contribution)[self.rows.shown[rows]]

    @property
    def value_indicators(self) -> np.ndarray:
        return np.eye(len(self.contribution))

    @property
    def ones(self) -> np.ndarray:
        return np.ones(len(self.contribution) if self.em else self.contribution.shape[1])

    def _classes(self, tallies: np.ndarray) -> np.ndarray:
        return self.classes.maximize_likelihood(tallies) if self.em else tallies

    def _has_significant_difference(
        self, counts: list[np.ndarray], rows: list[np.ndarray], error: list[np.ndarray]
    ) -> np.ndarray:
        """Whether the share of some class differs by more than z standard errors between the sides."""
        spread = self.contribution.var(axis=0) + 0.25  # of one row's contribution, whatever it holds
        shares = [np.clip(c / n[:, None], 0, 1) for c, n in zip(counts, rows, strict=True)]
        variance = sum((e / n**2)[:, None] * spread for e, n in zip(error, rows, strict=True))
        return (np.abs(shares[0] - shares[1]) > self.z * np.sqrt(variance)).any(axis=1)


def grow_tree(
    rows: TrainingRows, classes: PerturbedClasses, *, max_depth: int, least: float, z: float, em: bool
) -> Node:
    stretch = np.array([[0, cover.places] for cover in rows.covers])
    grower = Grower(rows, classes, classes.contribution, least, z, em)
    even = np.full(len(classes.names), 1 / len(classes.names))
    root = grower.branch(np.arange(len(rows.weight)), np.ones(len(rows.weight)), stretch, max_depth)
    value_counts = np.stack([branch.seen for branch in root.all()])
    shares = classes.maximize_likelihood(value_counts) / np.maximum(value_counts.sum(axis=1, keepdims=True), 1e-300)
    return root.convert_to_node(iter(shares), even)


@dataclass(frozen=True, eq=False)
class FittedTree:
    features: list[Feature]
    classes: PerturbedClasses
    root: Node


class ReconstructingTree(ClassifierMixin, BaseEstimator):
    """A decision tree from the perturbed rows of a sampled or a perturbed release, as a scikit-learn classifier.

    `manifest` (`release.manifest`) explains the columns and how values were perturbed. `categories` are the classes,
    each a list of sensitive values; `columns` the quasi-identifiers to use (all); `by` "inversion" or "em" scores
    splits; `least` is the fewest published rows (by their effective number) on a side.
    """

    def __init__(
        self,
        manifest: Manifest | None = None,
        categories: Mapping[Any, Sequence[Any]] | None = None,
        columns: Sequence[str] | None = None,
        max_depth: int = 8,
        least: float = 50.0,
        z: float = 3.0,
        by: str = "inversion",
    ):
        self.manifest = manifest
        self.categories = categories
        self.columns = columns
        self.max_depth = max_depth
        self.least = least
        self.z = z
        self.by = by

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ReconstructingTree:
        """Fit the tree.

        X: rows as published (weighted by the people that they stand for, unless weights are given); y: their published sensitive values.
        """
        if self.manifest is None:
            raise RequestError(
                "A tree needs the release's manifest.", attempt="ReconstructingTree(release.manifest, ...)."
            )
        if self.by not in ("inversion", "em"):
            raise RequestError(f"Reconstruction by {self.by!r} is not known.", attempt='by = "inversion" or "em".')
        frame = _convert_to_frame(X)
        classes = PerturbedClasses.from_categories(self.manifest, self.categories)
        value_places = classes.places(_convert_to_series(y))
        weight = _read_weights(frame, self.manifest, sample_weight)
        first = classes.contribution[value_places, 0]
        features = [make_feature(entry, frame[entry.name], weight, first) for entry in self._entries(frame)]
        rows = TrainingRows(
            [feature.cover for feature, _ in features],
            np.stack([number for _, number in features]),
            weight,
            value_places,
        )
        root = grow_tree(rows, classes, max_depth=self.max_depth, least=self.least, z=self.z, em=self.by == "em")
        self.grown_ = FittedTree([feature for feature, _ in features], classes, root)
        self.classes_ = np.array(classes.names)
        self.n_features_in_ = len(features)
        return self

    def _entries(self, frame: pl.DataFrame) -> list[Any]:
        assert self.manifest is not None
        entries = {entry.name: entry for entry in self.manifest.find_columns_with_role(Role.QUASI)}
        wanted = list(entries if self.columns is None else self.columns)
        unknown = [name for name in wanted if name not in entries or name not in frame.columns]
        if unknown:
            raise RequestError(
                f"{unknown[0]!r} is no quasi-identifier of the release.", attempt=f"one of {quote_list(entries)}."
            )
        return [entries[name] for name in wanted]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict probabilities (rows, classes); X are people's own values, or labels (a person in the middle of what
        they cover).
        """
        frame = _convert_to_frame(X)
        grown_ = self._require_fitted()
        places = np.column_stack([self._places(feature, frame[feature.entry.name]) for feature in grown_.features])
        return grown_.root.probabilities(places)

    def _places(self, feature: Feature, values: pl.Series) -> np.ndarray:
        from reticent.labels.scale import UnreadableLabel

        try:
            places = feature.places(values)
        except UnreadableLabel:
            places = None
        labelled = values.dtype == pl.String and values.str.starts_with("[").any() | values.str.starts_with("{").any()
        if places is not None and not labelled:
            return places
        from reticent.labels.crucial_tuple import encode_distinct

        value_of_row, distinct = encode_distinct(values)
        label_feature, number = make_feature(feature.entry, distinct, np.ones(len(distinct)), np.zeros(len(distinct)))
        middle = (label_feature.cover.upto[:, number] < 0.5).sum(axis=0) - 1
        return np.clip(middle, 0, len(feature.known) - 1)[value_of_row]

    def predict(self, X: Any) -> np.ndarray:
        most_likely = self.predict_proba(X).argmax(axis=1)
        return self.classes_[most_likely]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the share of rows whose class is predicted; y are sensitive values, or classes already."""
        classes = self._require_fitted().classes
        answers = _convert_to_series(y)
        texts = {str(name) for name in classes.names}
        if self.categories is not None and not set(answers.cast(pl.String).unique()) <= texts:
            truth = self.classes_[classes.of[classes.places(answers)]]
        else:
            truth = self.classes_[[[str(n) for n in classes.names].index(t) for t in answers.cast(pl.String)]]
        return float(np.average(self.predict(X) == truth, weights=sample_weight))

    def _require_fitted(self) -> FittedTree:
        if not hasattr(self, "grown_"):
            raise RequestError("The tree has not been fitted.", attempt="fit(frame, values) first.")
        return self.grown_


def optimistic(people: pl.DataFrame, classes: np.ndarray, k: int, *, seed: int = 0, **options: Any) -> Any:
    """Return (tree, encoding) where nothing is perturbed."""
    chosen = np.random.default_rng(seed).choice(len(people), len(people) // k, replace=False)
    return _fit_yardstick_tree(people, classes, chosen, seed, options)


def pessimistic(
    people: pl.DataFrame, values: np.ndarray, of: Mapping[Any, int], k: int, *, seed: int = 0, **options: Any
) -> Any:
    """Return (tree, encoding) where every sensitive value is drawn from the domain, which `of` maps to classes."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(people), len(people) // k, replace=False)
    noise = np.array(list(of.values()))[rng.integers(0, len(of), len(values))]
    return _fit_yardstick_tree(people, noise, chosen, seed, options)


def order_categories(values: pl.Series, classes: np.ndarray) -> Mapping[str, float] | None:
    """Order categories by the mean class of their rows; None for numbers."""
    if values.dtype.is_numeric():
        return None
    rows = pl.DataFrame({"value": values.cast(pl.String), "class": classes.astype(np.float64)})
    means = rows.group_by("value").agg(pl.col("class").mean())
    return dict(zip(means["value"].to_list(), means["class"].to_list(), strict=True))


def encode_people(people: pl.DataFrame, encoding: Encoding) -> np.ndarray:
    """Encode numbers as they are, categories by their place in the encoding."""
    columns = []
    for name, means in zip(people.columns, encoding, strict=True):
        column = people[name]
        if means is None:
            columns.append(column.to_numpy().astype(np.float64))
        else:
            columns.append(
                column.cast(pl.String).replace_strict(dict(means), default=0.0, return_dtype=pl.Float64).to_numpy()
            )
    return np.column_stack(columns)


def _assign_classes(
    values: pl.Series, categories: Mapping[Any, Sequence[Any]] | None
) -> tuple[np.ndarray, tuple[Any, ...]]:
    if categories is None:
        return np.arange(len(values)), tuple(values.to_list())
    place = {str(value): position for position, value in enumerate(values.to_list())}
    of = np.full(len(values), -1)
    for class_number, listed in enumerate(categories.values()):
        for value in listed:
            if str(value) in place:
                of[place[str(value)]] = class_number
    if (of < 0).any():
        raise RequestError(
            f"The categories leave out {pluralize(int((of < 0).sum()), 'value')} of the sensitive column.",
            attempt="a class for every value.",
        )
    return of, tuple(categories)


def _compute_gini(counts: np.ndarray) -> np.ndarray:
    """Compute rows times impurity of each line; shares are clipped, counts by inversion may be negative."""
    total = counts.sum(axis=1, keepdims=True)
    share = np.clip(np.divide(counts, total, out=np.zeros_like(counts), where=total > 0), 0, 1)
    share /= np.maximum(share.sum(axis=1, keepdims=True), 1e-300)
    return total[:, 0] * (1 - (share**2).sum(axis=1))


def _convert_to_frame(X: Any) -> pl.DataFrame:
    return X if isinstance(X, pl.DataFrame) else pl.DataFrame(X)


def _convert_to_series(y: Any) -> pl.Series:
    return y if isinstance(y, pl.Series) else pl.Series(np.asarray(y))


def _read_weights(frame: pl.DataFrame, manifest: Manifest, sample_weight: Any) -> np.ndarray:
    """Read how many people each row stands for; 1 in a release that has a row for everybody."""
    if sample_weight is not None:
        return np.asarray(sample_weight, np.float64)
    if SIZE_COLUMN not in frame.columns:
        return np.ones(len(frame))
    return compute_row_weights(frame[SIZE_COLUMN].to_numpy(), manifest)


def _fit_yardstick_tree(
    people: pl.DataFrame, classes: np.ndarray, chosen: np.ndarray, seed: int, options: Mapping[str, Any]
) -> Any:
    settings = {"max_depth": 10, "min_samples_leaf": 25, "random_state": seed, **options}
    encoding = [order_categories(people[name][chosen], classes[chosen]) for name in people.columns]
    tree = DecisionTreeClassifier(**settings)
    return tree.fit(encode_people(people[chosen], encoding), classes[chosen]), encoding
