"""The COUNT workload (Cao & Karras, VLDB 2012, sections 5 and 6.2): how well a release answers aggregate queries.

    SELECT COUNT(*) FROM release WHERE A_1 IN R_1 AND ... AND A_lambda IN R_lambda AND SA IN R_SA

Each of the lambda + 1 ranges spans theta^(1 / (lambda + 1)) of its attribute's domain, so that uniform data would be
selected with expected selectivity theta. A categorical attribute's range is one of its leaves in pre-order. A
`Workload` answers its queries by

    exact         from the cells themselves
    perturbed     reconstructed from redrawn values, by inversion or expectation-maximisation
    baseline      exact quasi-identifiers beside the overall distribution, in the way of Anatomy (section 6.3)
    generalized   uniform within each group's box (`Boxes`)
    matched       exact quasi-identifiers, each row with its group's values in their shares (`GroupMembers`): anatomized
                  releases, every matching alike, and transformed ones, under their targets
    sampled       reconstructed, weighted by the people that a row stands for, uniform within boxes

An `Answerer` is a function from a workload to estimates. For each release kind the catalogue names a function that
takes a release's tables, its manifest and the source's cells and returns one; `answer_from_view` does so for anything
that has groups.

Errors of answers:

    relative error    |estimate - true| / true (ERRATA 1.10: absolute before the median); queries whose true answer is 0
                      are dropped
    range error       (upper - lower) / r, r being the span of the column's values (Koudas et al., VLDB 2009, section 5)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from reticent import catalogue
from reticent.data.cells import Cells, build_cells
from reticent.data.columns import Role
from reticent.errors import JobError
from reticent.estimate.answer import Answer
from reticent.estimate.row_weights import SIZE_COLUMN, compute_row_weights
from reticent.format.manifest import ColumnEntry, Manifest
from reticent.kernels.expected_counts import sum_expected_counts
from reticent.kernels.workload_counts import count_overlaps, select_histograms
from reticent.labels.adversary_view import Boxes, GroupMembers, build_boxes, encode_values
from reticent.release.kind import reader_for
from reticent.validation import instance_of, integer, integers, share, validate_arguments

SELECTIVITIES = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 1.0)
MAX_GROUPS_COUNTED = 64  # where people are in so few groups, the people that a query selects are counted by group
NO_RANGE = -1
WEIGHT_UNITS = 1 << 20  # parts of a person that the weight of a row is rounded to
_check_generator = instance_of(
    "numpy.random._generator.Generator", "a generator of random numbers", "np.random.default_rng(1)."
)
Tables = Mapping[str, pl.DataFrame]


def relative_errors(estimate: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Compute |estimate - true| / true where the true answer is not 0."""
    is_selected = truth > 0
    return np.abs(estimate[is_selected] - truth[is_selected]) / truth[is_selected]


def median_relative_error(estimate: np.ndarray, truth: np.ndarray) -> float:
    errors = relative_errors(estimate, truth)
    return float(np.median(errors)) if len(errors) else float("nan")


def mean_relative_error(estimate: np.ndarray, truth: np.ndarray) -> float:
    """Compute the mean, which some papers report (Li, Li & Zhang 2009, figure 6); a few rare answers weigh a lot in it."""
    errors = relative_errors(estimate, truth)
    return float(np.mean(errors)) if len(errors) else float("nan")


def summarize_errors(estimate: np.ndarray, truth: np.ndarray) -> dict[str, float | int]:
    return {
        "queries": int((truth > 0).sum()),
        "median": median_relative_error(estimate, truth),
        "mean": mean_relative_error(estimate, truth),
    }


def group_errors_by_dimension(workload: Workload, estimate: np.ndarray, truth: np.ndarray) -> list[dict[str, Any]]:
    """Summarize errors by the number of quasi-identifiers that queries ask about (Li, Li & Zhang, ICDE 2009, figure 6),
    one line each.
    """
    dimension = (workload.upper[:, :-1] >= 0).sum(axis=1)
    return [
        {"dimension": int(number), **summarize_errors(estimate[dimension == number], truth[dimension == number])}
        for number in np.unique(dimension)
    ]


def group_errors_by_selectivity(
    estimate: np.ndarray, truth: np.ndarray, rows: int, steps: Sequence[float] = SELECTIVITIES
) -> list[dict[str, Any]]:
    """Summarize errors by stretch of selectivities, its upper end included, one line for each that some query has."""
    share = truth / rows
    lines = []
    for above, until in pairwise(steps):
        is_selected = (share > above) & (share <= until)
        if is_selected.any():
            lines.append(
                {"above": above, "until": until, **summarize_errors(estimate[is_selected], truth[is_selected])}
            )
    return lines


def range_errors(answers: Iterable[Answer], span: float) -> np.ndarray:
    """Compute the range errors of answers with guaranteed bounds; those that are NULL, or without an end, are left out."""
    return np.array(
        [
            (answer.upper - answer.lower) / span
            for answer in answers
            if answer.lower is not None and answer.upper is not None
        ]
    )


def _check_sizes(value: Any, name: str) -> Any:
    return value if isinstance(value, Cells) else integers(value, name)


@dataclass(frozen=True, eq=False)
class Workload:
    """Queries as ranges of codes, both ends included.

    The last column is the sensitive one. `upper` NO_RANGE: the attribute is not asked about.
    """

    lower: np.ndarray  # (queries, quasi + 1) int32
    upper: np.ndarray

    def __len__(self) -> int:
        return len(self.lower)

    @classmethod
    @validate_arguments(
        sizes=_check_sizes, predicates=integer, selectivity=share, queries=integer, rng=_check_generator
    )
    def draw(
        cls,
        sizes: Sequence[int] | Cells,
        *,
        predicates: int,
        selectivity: float,
        queries: int,
        rng: np.random.Generator,
    ) -> Workload:
        """Draw random queries over attributes with so many codes each, the sensitive one last; or over those of cells."""
        if isinstance(sizes, Cells):
            sizes = [domain.size for domain in (*sizes.quasi, sizes.sensitive[0])]
        axes = len(sizes) - 1
        if axes < 1 or min(sizes) < 1:
            raise JobError(
                "A workload is over two attributes or more, each with one value or more.", attempt="sizes = [40, 6]."
            )
        if queries < 1:
            raise JobError("A workload has one query or more.", attempt="queries = 1000.")
        if not 1 <= predicates <= axes:
            raise JobError(
                f"A query has 1 to {axes} predicates on quasi-identifiers, not {predicates}.", attempt="predicates = 1."
            )
        if not 0 < selectivity < 1:
            raise JobError("The expected selectivity lies between 0 and 1.", attempt="selectivity = 0.1.")
        share = selectivity ** (1 / (predicates + 1))
        lengths = np.maximum(np.rint(np.array(sizes) * share), 1).astype(np.int64)
        lower = rng.integers(0, np.array(sizes) - lengths + 1, (queries, axes + 1))
        upper = lower + lengths - 1
        has_range = np.argsort(rng.random((queries, axes)), axis=1) < predicates
        upper[:, :axes][~has_range] = NO_RANGE
        return cls(np.ascontiguousarray(lower, np.int32), np.ascontiguousarray(upper, np.int32))

    def among(self, values: int) -> np.ndarray:
        """Return (queries, values): 1 where a sensitive value is in range."""
        code = np.arange(values)
        return ((code >= self.lower[:, -1:]) & (code <= self.upper[:, -1:])).astype(np.float64)

    def histograms(self, cells: Cells) -> np.ndarray:
        """Count (queries, values): the rows that meet the predicates on quasi-identifiers, by sensitive value."""
        fresh = np.ones(len(cells), bool)
        fresh[1:] = (cells.codes[1:] != cells.codes[:-1]).any(axis=1)
        starts = np.flatnonzero(fresh)
        counts = np.zeros((len(self), cells.sensitive[0].size), np.int64)
        select_histograms(
            np.ascontiguousarray(cells.codes[starts].T, np.int32),
            np.append(starts, len(cells)).astype(np.int64),
            np.ascontiguousarray(cells.values[:, 0], np.int32),
            cells.counts,
            self.lower,
            self.upper,
            np.empty(len(starts), np.uint8),
            counts,
        )
        return counts

    def exact(self, cells: Cells, selected: np.ndarray | None = None) -> np.ndarray:
        """Count the rows that each query selects.

        `selected` are the `histograms` of these cells, where they are known already.
        """
        if selected is not None:
            return _sum_in_range(selected, self.among(cells.sensitive[0].size))
        return self.count_by(cells, np.zeros(len(cells), np.int32), 1)[:, 0]

    def count_by(self, cells: Cells, number: np.ndarray, numbers: int) -> np.ndarray:
        """Count (queries, numbers): the rows that meet all predicates, the sensitive one too, by a number that each
        cell has.
        """
        counts = np.zeros((len(self), numbers), np.int64)
        select_histograms(
            np.ascontiguousarray(np.vstack([cells.codes.T, cells.values[:, 0]]), np.int32),
            np.arange(len(cells) + 1),
            np.ascontiguousarray(number, np.int32),
            cells.counts,
            self.lower,
            self.upper,
            np.empty(len(cells), np.uint8),
            counts,
        )
        return counts

    def baseline(self, cells: Cells, selected: np.ndarray | None = None) -> np.ndarray:
        """Estimate with the overall frequency of the values in range for each selected row."""
        selected = self.histograms(cells) if selected is None else selected
        totals = cells.totals(0)
        return selected.sum(axis=1) * (self.among(len(totals)) @ totals) / cells.rows

    def perturbed(
        self, published: Cells, matrix: np.ndarray, occurring: np.ndarray, by: str = "inversion"
    ) -> np.ndarray:
        """Reconstruct the answers from cells with redrawn values; `occurring` are the codes that the matrix is about."""
        from reticent.estimate.reconstruction import Reconstruction

        model = Reconstruction("", pl.Series([str(code) for code in occurring]), matrix)
        observed = self.histograms(published)[:, occurring].astype(np.float64)
        counts = model.invert(observed) if by == "inversion" else model.maximise(observed)
        return _sum_in_range(counts, self.among(published.sensitive[0].size)[:, occurring])

    def generalized(self, boxes: Boxes) -> np.ndarray:
        estimates = np.empty(len(self), np.float64)
        holes, prefix = boxes.holes
        count_overlaps(boxes.first, boxes.last, holes, prefix, boxes.until, self.lower, self.upper, estimates)
        return estimates

    def matched(self, members: GroupMembers, max_groups: int = MAX_GROUPS_COUNTED) -> np.ndarray:
        """Estimate from the expected values of people; people of one point are counted together."""
        if len(members.counts) <= max_groups:
            return self._matched_by_groups(members)
        codes, point = np.unique(members.codes, axis=0, return_inverse=True)
        point = point.reshape(-1)
        until = np.zeros((len(codes), members.shares.shape[1] + 1))
        for value, part in enumerate(members.shares.T):
            until[:, value + 1] = np.bincount(point, members.people * part[members.group], minlength=len(codes))
        estimates = np.empty(len(self), np.float64)
        points = np.ascontiguousarray(codes.T, np.int32)
        sum_expected_counts(points, np.cumsum(until, axis=1), self.lower, self.upper, estimates)
        return estimates

    def _matched_by_groups(self, members: GroupMembers) -> np.ndarray:
        """Count the people of each group whom a query selects, with the group's share of the values in range."""
        selected = np.zeros((len(self), len(members.counts)), np.int64)
        select_histograms(
            np.ascontiguousarray(members.codes.T, np.int32),
            np.arange(len(members.codes) + 1),
            np.ascontiguousarray(members.group, np.int32),
            np.ascontiguousarray(members.people, np.int64),
            self.lower,
            self.upper,
            np.empty(len(members.codes), np.uint8),
            selected,
        )
        until = np.pad(np.cumsum(members.shares, axis=1), ((0, 0), (1, 0)))
        return (selected * (until[:, self.upper[:, -1] + 1] - until[:, self.lower[:, -1]]).T).sum(axis=1)

    def sampled(self, release: SampledRows, cells: Cells) -> np.ndarray:
        """Estimate the rows in range: those seen, less those that noise puts there, over p."""
        frame = release.frame
        texts = list(cells.sensitive[0].texts)
        is_known = frame[release.column].cast(pl.String).is_in(texts).to_numpy()
        units = np.rint(release.weight * WEIGHT_UNITS).astype(np.int64)  # boxes count in whole numbers
        known_boxes = build_boxes(release.entries, frame, cells, weights=np.where(is_known, units, 0))
        rows_in_range = self.generalized(known_boxes) / WEIGHT_UNITS
        all_boxes = build_boxes(release.entries, frame, cells, weights=units)
        free = replace(self, lower=self.lower.copy(), upper=self.upper.copy())
        free.lower[:, -1] = 0
        free.upper[:, -1] = cells.sensitive[0].size - 1
        values_in_range = self.among(len(texts)) @ np.isin(texts, release.domain)
        rows_in_boxes = free.generalized(all_boxes) / WEIGHT_UNITS
        return (rows_in_range - (1 - release.p) * values_in_range / len(release.domain) * rows_in_boxes) / release.p

    @staticmethod
    def median_error(estimate: np.ndarray, true: np.ndarray) -> float:
        """Compute the median of |estimate - true| / true over the queries whose true answer is not 0."""
        return median_relative_error(estimate, true)


@dataclass(frozen=True, eq=False)
class SampledRows:
    """A release of perturbed rows of each group: which column was perturbed over which domain, and the people that
    each row stands for.
    """

    frame: pl.DataFrame
    entries: Sequence[ColumnEntry]
    column: str
    domain: Sequence[str]
    p: float
    weight: np.ndarray

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, manifest: Manifest) -> SampledRows:
        own = manifest.own
        quasi = manifest.find_columns_with_role(Role.QUASI)
        column = manifest.sensitive.name
        weight = compute_row_weights(frame[SIZE_COLUMN].to_numpy(), manifest)
        return cls(frame, quasi, column, list(own["domain"]), float(Fraction(str(own["p"]))), weight)


def make_answerer(tables: Tables, manifest: Manifest, cells: Cells) -> Answerer:
    """Make an answerer by the estimator of the release's kind."""
    answerer: Answerer = catalogue.load_object(catalogue.KINDS[manifest.kind].answers)(tables, manifest, cells)
    return answerer


def answer_from_groups(tables: Tables, manifest: Manifest, cells: Cells) -> Answerer:
    """Answer from groups whose values are published: uniform within boxes, or every matching of a group alike."""
    return answer_from_view(reader_for(manifest.kind).sight(tables, manifest, cells))


def answer_from_view(sight: Any) -> Answerer:
    """Answer from groups that are known already: those of a plan, or of another tool's table."""
    if isinstance(sight, Boxes):
        return lambda workload: workload.generalized(sight)
    return lambda workload: workload.matched(sight)


def answer_from_perturbed(tables: Tables, manifest: Manifest, cells: Cells) -> Answerer:
    """Answer from exact quasi-identifiers, and counts of redrawn values inverted by the matrix."""
    data = tables["data"]
    own = manifest.own
    sensitive = cells.sensitive[0]
    codes = np.column_stack([encode_values(domain, data[domain.name]) for domain in cells.quasi])
    values = encode_values(sensitive, data[sensitive.name])[:, None]
    published, _ = build_cells(cells.quasi, cells.sensitive[:1], codes, values, np.ones(len(data), np.int64))
    matrix = np.array([[float(Fraction(str(entry))) for entry in row] for row in own["matrix"]])
    occurring = encode_values(sensitive, pl.Series(list(own["values"]), dtype=pl.String))
    return lambda workload: workload.perturbed(published, matrix, occurring)


def answer_from_sampled(tables: Tables, manifest: Manifest, cells: Cells) -> Answerer:
    """Answer by reconstruction, weighted by the people that a row stands for, uniform within boxes."""
    release = SampledRows.from_frame(tables["data"], manifest)
    return lambda workload: workload.sampled(release, cells)


def _sum_in_range(histograms: np.ndarray, among: np.ndarray) -> np.ndarray:
    return (histograms * among).sum(axis=1)


Answerer = Callable[[Workload], np.ndarray]
