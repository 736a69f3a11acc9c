"""Counts and aggregates behind perturbed sensitive values (Cao & Karras, VLDB 2012, section 5).

`Reconstruction`: among the rows in a selection, e'_v show value v; those that held v_i are estimated as N' = E' M^-1
(inversion: unbiased, may be negative), or by expectation-maximisation (never negative; ERRATA 5.8).  Unbiased estimates
may be moved towards their baseline (`shrinkage`).

`PerturbationEstimator` estimates aggregates by unbiased sums of scores, with their standard error. A row that holds x
shows y with probability M[x, y].  A score s(x) of its true value is estimated by w(y), w = M^-1 s, whose mean is s(x);
its variance is the mean of w(y)^2 less s(x)^2, and w(y)^2 - (M^-1 s^2)(y) is an unbiased estimate of it (section 5,
where s is an indicator).  AVG is a ratio; its error is that of the scores off the mean, to the first order. A few rows
do not determine their own spread (eight rows may all show one value): the spread that the same score has over all
published rows gets as much weight as 30 rows.

An interval holds each possible truth from which the estimate does not lie too far (`EstimateSpread`): the variance of a
row is u(x) of its true value x, and if a number of rows more are selected than were estimated, as many more have the u
of selected values.  The interval of a mean is Fieller's.

However values were perturbed, a person's value is one of the manifest's list: bounds are over all of these
(`bound_any_value`), and an answer that mentions the sensitive column without depending on it is as certain as one that
does not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import polars as pl

from reticent.data.parsing import parse_texts
from reticent.errors import RequestError
from reticent.estimate.answer import Answer, EstimateSpread
from reticent.estimate.condition import ColumnAxis, Condition, ConditionPieces, convert_to_numbers, make_value_axis
from reticent.estimate.independent_rows import UncertainRows, answer_aggregate
from reticent.estimate.published_rows import LabelCombinations, PublishedRows, group_atoms_by_column, make_row_types
from reticent.estimate.question import BoundQuestion
from reticent.estimate.shrinkage import Baseline, shrink_answer
from reticent.format.manifest import Manifest

MAX_STEPS = 2000
STEP_TOLERANCE = 1e-9  # relative change at which expectation-maximisation has settled
BORROWED_ROWS = 30  # rows
SEEN_KEY = "seen"
SHARE_TOLERANCE = 1e-9  # a share that differs by less from 0 or 1 is one that was rounded
NO_AVERAGE_MESSAGE = "Nobody is estimated to be in the selection: there is no average."


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """The matrix of a manifest, ready for estimates."""

    column: str
    values: pl.Series
    matrix: np.ndarray

    @classmethod
    def from_manifest(cls, manifest: Manifest) -> Reconstruction:
        column = manifest.sensitive
        matrix = np.array([[float(Fraction(str(entry))) for entry in row] for row in manifest.own["matrix"]])
        return cls(column.name, parse_texts(manifest.own["values"], column.dtype).alias(column.name), matrix)

    @cached_property
    def inverse(self) -> np.ndarray:
        try:
            return np.linalg.inv(self.matrix)
        except np.linalg.LinAlgError:
            raise RequestError("The matrix of this release cannot be inverted.", attempt='by = "em".') from None

    def find_value_places(self, frame: pl.DataFrame) -> np.ndarray:
        """Return the place of each row's value among those of the matrix."""
        place = pl.DataFrame({self.column: self.values, "\x00place": np.arange(len(self.values))})
        return (
            frame.select(self.column)
            .join(place, on=self.column, how="left", nulls_equal=True, maintain_order="left")["\x00place"]
            .to_numpy()
        )

    def invert(self, observed: np.ndarray) -> np.ndarray:
        """Convert rows of observed counts to rows of estimated counts, unbiased."""
        return observed @ self.inverse

    def maximise(self, observed: np.ndarray) -> np.ndarray:
        """Estimate the same by expectation-maximisation: the most likely counts that are not negative."""
        observed_counts = np.atleast_2d(observed).astype(np.float64)
        estimated = np.repeat(observed_counts.sum(axis=1, keepdims=True) / len(self.values), len(self.values), axis=1)
        for _ in range(MAX_STEPS):
            expected = estimated @ self.matrix
            ratio = np.divide(observed_counts, expected, out=np.zeros_like(observed_counts), where=expected > 0)
            better = estimated * (ratio @ self.matrix.T)
            change = np.abs(better - estimated).sum()
            estimated = better
            if change <= STEP_TOLERANCE * max(observed_counts.sum(), 1):
                break
        return estimated.reshape(np.shape(observed))


@dataclass(frozen=True, eq=False)
class ValueScores:
    """By (row types, values): how much of a row of this type is selected if it holds the value, and that times its number."""

    selected: np.ndarray
    number: np.ndarray
    combined: LabelCombinations
    cut: bool  # a label is selected in part, or a number lies somewhere in a range

    def depend_on_value(self, aggregate: str) -> bool:
        """Tell whether the score of some row differs between the values that it may hold."""
        relevant = {"count": [self.selected], "sum": [self.number]}.get(aggregate, [self.selected, self.number])
        return any(bool(_find_varying(score).any()) for score in relevant)

    @property
    def of_row(self) -> np.ndarray:
        return self.combined.of_row

    @classmethod
    def from_rows(
        cls, rows: PublishedRows, values: pl.Series, condition: Condition | None, column: str | None
    ) -> ValueScores:
        sensitive = str(values.name)
        atoms_by_column = group_atoms_by_column(condition)
        names = [name for name in dict.fromkeys([*atoms_by_column, *([column] if column else [])]) if name != sensitive]
        cells = make_row_types(rows, condition, names)
        sensitive_atoms = atoms_by_column.get(sensitive, [])
        axis = rows.get_cached_axis(
            sensitive,
            sensitive_atoms,
            lambda: make_value_axis(sensitive, np.arange(len(values)), values, sensitive_atoms),
        )
        pieces = ConditionPieces.from_condition((*cells.axes, axis), condition)
        piece = axis.may.argmax(axis=1)
        share = {
            quasi_axis.name: quasi_axis.share * (~quasi_axis.null if quasi_axis.name == column else 1)
            for quasi_axis in cells.axes
        }
        selected = np.broadcast_to(pieces.sum_weights(cells.cells, share, sensitive), (cells.many, axis.pieces))[
            :, piece
        ]
        selected = np.where(np.abs(selected - np.round(selected)) < SHARE_TOLERANCE, np.round(selected), selected)
        number = selected
        ranged = False
        if column == sensitive:
            selected = selected * ~axis.null[piece]
            number = selected * (convert_to_numbers(values) if values.dtype.is_numeric() else 1)
        elif column is not None:
            asked_axis = next(quasi_axis for quasi_axis in cells.axes if quasi_axis.name == column)
            mean = asked_axis.mean
            if mean is not None:
                ranged = _is_ranged(asked_axis, cells.cells[column])
                worth = share | {column: share[column] * np.where(np.isfinite(mean), mean, 0)}
                number = np.broadcast_to(pieces.sum_weights(cells.cells, worth, sensitive), (cells.many, axis.pieces))[
                    :, piece
                ]
        cut = ranged or bool(((selected > 0) & (selected < 1)).any())
        return cls(selected, number, cells.combined, cut)


def bound_any_value(question: BoundQuestion, values: pl.Series, weight: np.ndarray | None = None) -> Answer:
    """Compute guaranteed bounds if each person may have any value of the list; the estimate takes all values to be equally likely."""
    sensitive = str(values.name)
    atoms_by_column = group_atoms_by_column(question.condition)
    names = [
        name
        for name in dict.fromkeys([*atoms_by_column, *([question.column] if question.column else [])])
        if name != sensitive
    ]
    cells = make_row_types(question.rows, question.condition, names)
    any_value = (np.zeros(len(values), np.int64), np.arange(len(values)), 1)
    no_codes = np.zeros(0, np.int64)
    axis = make_value_axis(sensitive, no_codes, values, atoms_by_column.get(sensitive, []), any_value)
    pieces = ConditionPieces.from_condition((*cells.axes, axis), question.condition)
    of_cell = {**cells.cells, sensitive: np.zeros(cells.many, np.int64)}
    rows = UncertainRows.from_pieces(pieces, of_cell, cells.count_rows(weight), question.column)
    answer = answer_aggregate(rows.append(question.beside), question.aggregate)
    return question.state_density(answer, rows, names)


def combine_with_bounds(estimated: Answer, bounds: Answer) -> Answer:
    """Combine an estimate with its guaranteed bounds; if these meet there is nothing left to estimate."""
    if estimated.estimate is None:
        return estimated
    if bounds.lower is not None and bounds.lower == bounds.upper:
        return Answer(bounds.lower, bounds.lower, bounds.upper, std_error=0.0)
    return replace(estimated, lower=bounds.lower, upper=bounds.upper)


def require_no_extreme(aggregate: str) -> None:
    if aggregate in ("min", "max"):
        raise RequestError(
            f"{aggregate.upper()} cannot be answered from this release where the sensitive column is asked about.",
            why="Its values were redrawn, and no single row says what a person has.",
            attempt="COUNT, SUM or AVG; or a question that leaves the sensitive column out.",
        )


def compute_fieller_spread(
    center: float, people: float, variances: tuple[float, float, float], bounds: Answer | None
) -> EstimateSpread:
    """Compute the spread of a mean.

    `variances` are the variance of the sum off the mean, its covariance with the count, and the variance of the count.
    """
    variance_off_mean, covariance, count_variance = variances
    ends = None
    if bounds is not None and bounds.lower is not None and bounds.upper is not None:
        ends = float(bounds.lower), float(bounds.upper)
    return EstimateSpread(center, variance_off_mean, -2 * covariance, count_variance, people * people, ends)


def compute_covariances(
    variance: Callable[[np.ndarray], float], first: np.ndarray, second: np.ndarray
) -> tuple[float, float, float]:
    """Compute the variance of one score, its covariance with another, and the variance of that one, from a function of scores."""
    first_variance = variance(first)
    second_variance = variance(second)
    if first_variance <= 0 or second_variance <= 0:
        return max(first_variance, 0.0), 0.0, max(second_variance, 0.0)
    scale = (first_variance / second_variance) ** 0.5
    covariance = (variance(first + scale * second) - variance(first - scale * second)) / (4 * scale)
    return first_variance, covariance, second_variance


@dataclass(frozen=True, eq=False)
class PerturbationEstimator:
    """Estimates over a perturbed release: the value that each row shows, and the inverse of the matrix.

    `times` is how often each row occurs; None if each occurs once.  `baseline` is what shrunk estimates are moved
    towards; None if the manifest does not publish it, and it is estimated from all rows.
    """

    rows: PublishedRows
    values: pl.Series
    shown: np.ndarray
    model: Reconstruction
    times: np.ndarray | None = None
    baseline: Baseline | None = None

    @property
    def inverse(self) -> np.ndarray:
        return self.model.inverse

    def answer(
        self,
        condition: Condition | None,
        aggregate: str,
        column: str | None,
        *,
        by: str,
        scores: ValueScores | None = None,
        bounds: Answer | None = None,
    ) -> Answer:
        require_no_extreme(aggregate)
        scores = scores or ValueScores.from_rows(self.rows, self.values, condition, column)
        types, value_count = scores.selected.shape
        if SEEN_KEY not in scores.combined.tallies:
            type_and_value = scores.of_row * value_count + self.shown
            counts = np.bincount(type_and_value, self.times, minlength=types * value_count)
            scores.combined.tallies[SEEN_KEY] = counts.reshape(types, value_count).astype(float)
        shown_counts = scores.combined.tallies[SEEN_KEY]
        score = scores.selected if aggregate == "count" else scores.number
        total, error = self.total(shown_counts, score)
        if by == "em":
            counts = self.model.maximise(shown_counts)
            total = float((counts * score).sum())
        if aggregate != "avg":
            answer = Answer(total, std_error=error, spread=self._compute_spread(shown_counts, score))
            return self._shrink_total(answer, shown_counts, score, bounds) if by == "shrunk" else answer
        people = float((counts * scores.selected).sum()) if by == "em" else self.total(shown_counts, scores.selected)[0]
        if people < 0.5:
            return Answer(None, note=NO_AVERAGE_MESSAGE)
        score_off_mean = scores.number - scores.selected * (total / people)
        _, error = self.total(shown_counts, score_off_mean)
        variances = compute_covariances(
            lambda some_score: self._compute_variance(shown_counts, some_score), score_off_mean, scores.selected
        )
        spread = compute_fieller_spread(total / people, people, variances, bounds)
        answer = Answer(total / people, std_error=error / people, spread=spread)
        return self._shrink_mean(answer, shown_counts, scores, bounds) if by == "shrunk" else answer

    def total(self, shown_counts: np.ndarray, score: np.ndarray) -> tuple[float, float]:
        weight = score @ self.inverse.T
        row_variance = weight**2 - (score**2) @ self.inverse.T
        rows = shown_counts.sum(axis=1) * score.any(axis=1)
        own_variance = float((shown_counts * row_variance).sum())
        borrowed_variance = float(rows @ (row_variance @ (shown_counts.sum(axis=0) / max(shown_counts.sum(), 1))))
        selected = float(rows.sum())
        variance = (selected * own_variance + BORROWED_ROWS * borrowed_variance) / (selected + BORROWED_ROWS)
        return float((shown_counts * weight).sum()), float(np.sqrt(max(variance, 0.0)))

    def _shrink_total(
        self, answer: Answer, shown_counts: np.ndarray, score: np.ndarray, bounds: Answer | None
    ) -> Answer:
        """Shrink the answer about a sum of scores towards its baseline."""
        baseline = self._baseline.compute_total(shown_counts, score)
        kept = self._compute_kept_share(shown_counts, score)
        target = baseline + kept * (answer.estimate - baseline)
        return shrink_answer(answer, target, baseline if self._baseline.published else None, bounds)

    def _shrink_mean(
        self, answer: Answer, shown_counts: np.ndarray, scores: ValueScores, bounds: Answer | None
    ) -> Answer:
        """Shrink the answer about a mean: its sum and its count alike."""
        baseline_people = self._baseline.compute_total(shown_counts, scores.selected)
        if baseline_people <= 0:
            return answer
        baseline_sum = self._baseline.compute_total(shown_counts, scores.number)
        baseline = baseline_sum / baseline_people
        kept = self._compute_kept_share(shown_counts, scores.number - scores.selected * baseline)
        estimated_sum, _ = self.total(shown_counts, scores.number)
        estimated_people, _ = self.total(shown_counts, scores.selected)
        shrunk_sum = baseline_sum + kept * (estimated_sum - baseline_sum)
        shrunk_people = baseline_people + kept * (estimated_people - baseline_people)
        return shrink_answer(answer, shrunk_sum / shrunk_people, baseline if self._baseline.published else None, bounds)

    def _compute_kept_share(self, shown_counts: np.ndarray, score: np.ndarray) -> float:
        varying = _find_varying(score)
        estimated, error = self.total(shown_counts, score)
        deviation = estimated - self._baseline.compute_total(shown_counts, score)
        return self._baseline.compute_kept_share(shown_counts[varying], deviation, error**2)

    @cached_property
    def _baseline(self) -> Baseline:
        return self.baseline or Baseline(self._overall, self.model.matrix, published=False)

    def _compute_spread(self, shown_counts: np.ndarray, score: np.ndarray) -> EstimateSpread | None:
        """Compute the spread of a sum: its variance at other truths, more of which goes to the less certain row types."""
        varying = _find_varying(score) & (shown_counts.sum(axis=1) > 0)
        center = self.total(shown_counts, score)[0]
        if not varying.any():
            return None
        shown_counts = shown_counts[varying]
        score = score[varying]
        rows = shown_counts.sum(axis=1)
        share = self._estimate_frequencies(shown_counts)
        weight = score @ self.inverse.T
        row_variance = np.maximum(
            weight**2 @ self.model.matrix.T - score**2, 0.0
        )  # the variance of a row, by its true value
        mean_variance = row_variance @ share
        mean = score @ share
        slope = compute_slope(row_variance, score, share)
        row_score = (shown_counts * weight).sum(axis=1) / rows
        variance = rows * mean_variance
        if variance.sum() <= 0:
            return None
        part = variance / variance.sum()
        constant = float((rows * (mean_variance + slope * (row_score - mean))).sum())
        return EstimateSpread(center, constant, float((part * slope).sum()))

    def _compute_variance(self, shown_counts: np.ndarray, score: np.ndarray) -> float:
        varying = _find_varying(score) & (shown_counts.sum(axis=1) > 0)
        if not varying.any():
            return 0.0
        shown_counts = shown_counts[varying]
        score = score[varying]
        weight = score @ self.inverse.T
        row_variance = np.maximum(weight**2 @ self.model.matrix.T - score**2, 0.0)
        return float(shown_counts.sum(axis=1) @ (row_variance @ self._estimate_frequencies(shown_counts)))

    def _estimate_frequencies(self, shown_counts: np.ndarray) -> np.ndarray:
        """Estimate how frequent each true value is among some rows: from these rows, and from all rows if these are few."""
        retention = float(np.trace(self.model.matrix)) / len(self.values)
        own_shares = self._invert_counts(shown_counts)
        rows = float(shown_counts.sum()) * retention * retention
        return (rows * own_shares + BORROWED_ROWS * self._overall) / (rows + BORROWED_ROWS)

    @cached_property
    def _overall(self) -> np.ndarray:
        value_count = len(self.values)
        shown_counts = np.bincount(self.shown, self.times, minlength=value_count).astype(float)
        return (self._invert_counts(shown_counts[None]) * shown_counts.sum() + 1) / (shown_counts.sum() + value_count)

    def _invert_counts(self, shown_counts: np.ndarray) -> np.ndarray:
        estimated = np.maximum(shown_counts.sum(axis=0) @ self.inverse, 0.0)
        return estimated / estimated.sum() if estimated.sum() > 0 else np.full(len(self.values), 1 / len(self.values))


def compute_slope(row_variance: np.ndarray, score: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Compute how the mean of `each` grows with the mean of a score, over values of these shares; 0 for a constant score."""
    mean = score @ share
    variance = score**2 @ share - mean**2
    covariance = (row_variance * score) @ share - (row_variance @ share) * mean
    return np.divide(
        covariance,
        variance,
        out=np.zeros_like(covariance),
        where=variance > SHARE_TOLERANCE * np.maximum(score**2 @ share, SHARE_TOLERANCE),
    )


def _find_varying(score: np.ndarray) -> np.ndarray:
    """Find the row types whose score differs between values."""
    varies: np.ndarray = np.ptp(score, axis=1) > 0
    return varies


def _is_ranged(axis: ColumnAxis, label: np.ndarray) -> bool:
    """Tell whether the number of some row lies anywhere between two ends."""
    if axis.low is None or axis.high is None:
        return False
    return bool((axis.may & (axis.low < axis.high))[label].any())
