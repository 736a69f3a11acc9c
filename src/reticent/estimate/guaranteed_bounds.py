"""Aggregates over a transformed release with guaranteed bounds (Koudas et al., VLDB 2009, section 3.3).

Quasi-identifiers are exact, so the number a_g of selected rows of each group is known.  Which of the group's N_g
published values they have is not: the least and greatest SUM, MIN and MAX over all choices are in the table `bounds`.
Other questions are answered by matching (`group_matching.py`); for a count with a condition on the sensitive column,
where c_g of N_g values lie within the condition whatever they stand for and d_g may, that is

    COUNT   lower sum of max(0, a_g - (N_g - c_g))    upper sum of min(a_g, d_g)

Where the target is made from the data, totals across groups narrow these bounds (`known_totals.py`).

The estimate is the mean under the groups' targets; for MIN and MAX that of a_g independent draws, kept within the
bounds.

`AnnotatedHierarchy` is the privacy-annotated hierarchy of the release in its manifest (section 3.1).  `tree` lists the
nodes as [first, last] places among `values`, parents before children.  Each of the `targets` gives every node an
integer weight, that of the edge above it; siblings share their parent's probability in the ratio of their weights.
`assigned` lists [group, target] where the target changes, groups ascending.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import polars as pl

from reticent.data.parsing import parse_texts
from reticent.estimate.answer import NO_ANSWER, Answer
from reticent.estimate.condition import list_atoms
from reticent.estimate.group_estimator import GroupEstimator, GroupTypeCounts, ValueChances
from reticent.estimate.group_matching import UnpublishedRows, join_ends
from reticent.estimate.independent_rows import UncertainRows, answer_aggregate, clamp_to_bounds, round_to_double
from reticent.estimate.known_totals import DomainNumbers, KnownTotals, PublishedNodes
from reticent.estimate.question import BoundQuestion
from reticent.format.data_files import Tables
from reticent.format.manifest import Manifest
from reticent.format.schema_checks import MisshapenValue, parse_fraction

MAX_TREE_DEPTH = 256  # nodes above one another: their weights multiply
MAX_TOTAL_DEPTH = 1 << 24  # the depths of all nodes together
GROUP_COLUMN = "group"
COUNT_COLUMN = "count"
SELECTED_COLUMN = "selected"
ROUNDING_ERROR = 2.0**-52


@dataclass(frozen=True, eq=False)
class AnnotatedHierarchy:
    """A privacy-annotated hierarchy: `weights[t, node]` of each target; `assigned` as the manifest has it."""

    texts: Sequence[str]
    first: np.ndarray
    last: np.ndarray
    parent: np.ndarray
    weights: list[list[int]]
    assigned: np.ndarray

    @classmethod
    def from_manifest(cls, manifest: Manifest) -> AnnotatedHierarchy:
        """Read and check it: the tree keeps conditions (1) to (4) of section 3.1, and every target is a distribution over its leaves."""
        own = manifest.own
        texts = own["values"]
        spans = own["tree"]
        targets = own["targets"]
        parent = _find_parents(spans, len(texts))
        for weights in targets:
            if len(weights) != len(spans) or not _is_distribution(weights, parent):
                raise MisshapenValue("a target is no distribution over the tree", inside=True)
        assigned = np.array(own["assigned"], np.int64).reshape(-1, 2)
        ascending = (np.diff(assigned[:, 0]) > 0).all()
        if (
            not len(assigned)
            or assigned[0, 0]
            or not ascending
            or set(assigned[:, 1].tolist()) != set(range(len(targets)))
        ):
            raise MisshapenValue("the targets are not assigned to the groups", inside=True)
        first, last = np.array(spans, np.int64).T
        return cls(texts, first, last, parent, targets, assigned)

    def find_targets(self, groups: np.ndarray) -> np.ndarray:
        """Return the target of each of these groups."""
        return self.assigned[np.searchsorted(self.assigned[:, 0], groups, side="right") - 1, 1]

    @cached_property
    def probabilities(self) -> list[list[Fraction]]:
        """The probability of each node, by target."""
        return [_compute_probabilities(weights, self.parent.tolist()) for weights in self.weights]

    @cached_property
    def leaves(self) -> list[int]:
        """The node of each value."""
        nodes = [0] * len(self.texts)
        for node, (first, last) in enumerate(zip(self.first.tolist(), self.last.tolist(), strict=True)):
            if first == last:
                nodes[first] = node
        return nodes

    def distribution(self, target: int) -> list[Fraction]:
        """Return the probability of each value under a target."""
        return [self.probabilities[target][node] for node in self.leaves]

    @cached_property
    def float_probabilities(self) -> np.ndarray:
        """(targets, values): the nearest doubles."""
        return np.array([[float(p) for p in self.distribution(target)] for target in range(len(self.weights))])


def estimate_with_bounds(tables: Tables, manifest: Manifest, question: BoundQuestion) -> Answer:
    """Answer from `bounds` if no condition is on the sensitive column and its numbers are asked for; otherwise by matching."""
    return question.answer_about_source(lambda bound_question: _estimate_aggregate(tables, manifest, bound_question))


def look_up_bounds(bounds: pl.DataFrame, group: np.ndarray, selected_counts: np.ndarray) -> dict[str, np.ndarray]:
    """Look up the bounds of each group for its number of selected rows: from the row above it, if no slope changes before."""
    bound_groups = bounds[GROUP_COLUMN].to_numpy().astype(np.int64)
    selected = bounds[SELECTED_COLUMN].to_numpy().astype(np.int64)
    stride = int(selected.max()) + 1
    place = np.searchsorted(bound_groups * stride + selected, group * stride + selected_counts)
    looked_up = {name: bounds[name].to_numpy()[place] for name in bounds.columns[2:]}
    shortfall = selected[place] - selected_counts
    looked_up["sum_lower"] = looked_up["sum_lower"] - shortfall * looked_up["max_lower"]
    looked_up["sum_upper"] = looked_up["sum_upper"] - shortfall * looked_up["min_upper"]
    return looked_up


def read_known_totals(tables: Tables, manifest: Manifest, annotated: AnnotatedHierarchy) -> KnownTotals | None:
    """Read the totals across groups that the promise states; None if it states none, or the release is forged."""
    promise = next((entry.parameters for entry in manifest.promises if entry.name == "p-privacy"), None)
    if promise is None:
        return None
    exact = promise.get("exact", False)
    distance = Fraction(0) if exact else parse_fraction(promise.get("distance", "1/20"))
    sensitive = tables["sensitive"]
    node = find_nodes(annotated, sensitive)
    group = sensitive[GROUP_COLUMN].to_numpy().astype(np.int64)
    group_of_row = tables["quasi"][GROUP_COLUMN].to_numpy().astype(np.int64)
    groups = int(max(group.max(initial=-1), group_of_row.max(initial=-1))) + 1
    rows = np.bincount(group_of_row, minlength=groups)
    count = sensitive[COUNT_COLUMN].to_numpy().astype(np.int64)
    if (node < 0).any() or (np.bincount(group, weights=count, minlength=groups) < rows).any():
        return None  # forged, and refused where values are matched with rows
    nodes = PublishedNodes(group, annotated.first[node], annotated.last[node], count)
    target_of_group = annotated.find_targets(np.arange(groups))
    return KnownTotals.from_target(
        promise.get("target", "source"), distance, nodes, rows, target_of_group, annotated.float_probabilities
    )


def mask_wanted_values(annotated: AnnotatedHierarchy, values: tuple[object, ...]) -> np.ndarray:
    """Return which values of the domain are wanted."""
    texts = {str(value) for value in values}
    return np.array([text in texts for text in annotated.texts], bool)


def mask_covered_nodes(annotated: AnnotatedHierarchy, values: tuple[object, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return which nodes lie wholly within the wanted values, and which hold any of them."""
    until = np.append(0, np.cumsum(mask_wanted_values(annotated, values)))
    wanted_count = until[annotated.last + 1] - until[annotated.first]
    return wanted_count == annotated.last - annotated.first + 1, wanted_count > 0


def find_nodes(annotated: AnnotatedHierarchy, sensitive: pl.DataFrame) -> np.ndarray:
    """Find the node of each row of `sensitive` by its ends."""
    place = {text: position for position, text in enumerate(annotated.texts)}
    node = {
        span: position
        for position, span in enumerate(zip(annotated.first.tolist(), annotated.last.tolist(), strict=True))
    }
    ends = sensitive.select("lower", "upper").unique()
    lower, upper = (ends[name].cast(pl.String).to_list() for name in ("lower", "upper"))
    nodes = [node.get((place.get(a, -1), place.get(b, -1)), -1) for a, b in zip(lower, upper, strict=True)]
    with_nodes = sensitive.select("lower", "upper").join(
        ends.with_columns(pl.Series("\x00node", nodes, dtype=pl.Int64)),
        on=["lower", "upper"],
        how="left",
        maintain_order="left",
    )
    return with_nodes["\x00node"].to_numpy()


def _find_parents(spans: Sequence[Sequence[int]], values: int) -> np.ndarray:
    """Find the parent of each node; raise if children do not partition it, or a leaf is not a single value."""
    fault = MisshapenValue("the tree of the sensitive column is no hierarchy over its values", inside=True)
    if any(len(span) != 2 for span in spans) or not spans or list(spans[0]) != [0, values - 1]:
        raise fault
    order = sorted(range(len(spans)), key=lambda node: (spans[node][0], -spans[node][1]))
    parent = [-1] * len(spans)
    covered = [0] * len(spans)
    ancestors: list[int] = []
    work = 0
    for node in order:
        first, last = spans[node]
        while ancestors and spans[ancestors[-1]][1] < first:
            ancestors.pop()
        if first > last or (
            ancestors and (spans[ancestors[-1]][1] < last or list(spans[ancestors[-1]]) == [first, last])
        ):
            raise fault
        if ancestors:
            parent[node] = ancestors[-1]
            covered[ancestors[-1]] += last - first + 1
        ancestors.append(node)
        work += len(ancestors)
        if len(ancestors) > MAX_TREE_DEPTH or work > MAX_TOTAL_DEPTH:
            raise MisshapenValue("the tree of the sensitive column is too deep", inside=True)
    sizes = [last - first + 1 for first, last in spans]
    if any(size > 1 and size != inside for size, inside in zip(sizes, covered, strict=True)) or parent.count(-1) != 1:
        raise fault
    return np.array(parent, np.int64)


def _is_distribution(weights: Sequence[int], parent: np.ndarray) -> bool:
    """Tell whether every node that has a mass passes all of it to its children."""
    parts = [0] * len(weights)
    inner = [False] * len(weights)
    for node, parent_node in enumerate(parent.tolist()):
        if parent_node >= 0:
            parts[parent_node] += weights[node]
            inner[parent_node] = True
    return weights[0] == 1 and all(part > 0 for part, has_children in zip(parts, inner, strict=True) if has_children)


def _compute_probabilities(weights: Sequence[int], parent: Sequence[int]) -> list[Fraction]:
    parts = [0] * len(weights)
    for node, parent_node in enumerate(parent):
        if parent_node >= 0:
            parts[parent_node] += weights[node]
    probabilities = [Fraction(1)] * len(weights)
    for node, parent_node in enumerate(parent):
        if parent_node >= 0:
            probabilities[node] = probabilities[parent_node] * Fraction(weights[node], parts[parent_node])
    return probabilities


def _estimate_aggregate(tables: Tables, manifest: Manifest, question: BoundQuestion) -> Answer:
    column = manifest.sensitive.name
    if "annotated" not in question.known:
        question.known["annotated"] = AnnotatedHierarchy.from_manifest(manifest)
    annotated: AnnotatedHierarchy = question.known["annotated"]
    if (
        question.aggregate == "count"
        or question.column != column
        or any(atom.column == column for atom in list_atoms(question.condition))
    ):
        return _estimate_by_matching(tables, manifest, annotated, question)
    is_selected = question.find_matching_rows()
    if is_selected is None:
        return _estimate_by_matching(tables, manifest, annotated, question)
    selected_counts = np.bincount(tables["quasi"][GROUP_COLUMN].to_numpy()[is_selected], minlength=1).astype(np.int64)
    group = np.flatnonzero(selected_counts)
    if not len(group):
        return NO_ANSWER if question.beside is None else answer_aggregate(question.beside, question.aggregate)
    bounds = look_up_bounds(tables["bounds"], group, selected_counts[group])
    numbers = np.array([float(text) for text in annotated.texts])
    layers = _bound_layers(tables, manifest, annotated, question, selected_counts)
    if question.aggregate in ("sum", "avg"):
        return _bound_sum(
            bounds, annotated, numbers, group, selected_counts[group], question.aggregate, question.beside, layers
        )
    return _bound_extreme(
        bounds, annotated, numbers, group, selected_counts[group], question.aggregate, question.beside, layers
    )


def _find_known_totals(
    tables: Tables, manifest: Manifest, annotated: AnnotatedHierarchy, question: BoundQuestion
) -> KnownTotals | None:
    """Find the totals across groups that the promise states; None if it states none."""
    if "totals" not in question.known:
        question.known["totals"] = read_known_totals(tables, manifest, annotated)
    totals: KnownTotals | None = question.known["totals"]
    return totals


@dataclass(frozen=True, eq=False)
class _BoundLayers:
    """For each number of the domain: how many of the selected rows hold at least it, at least and at most."""

    numbers: DomainNumbers
    lower: np.ndarray
    upper: np.ndarray

    def bound_extreme(self, aggregate: str) -> tuple[int, int]:
        """Return the places of the domain between which MIN or MAX lies.

        MAX is at least a number if some selected row surely holds at least it; MIN is if all of them do.
        """
        needed = int(self.upper[0]) if aggregate == "min" else 1
        least, most = (int(np.flatnonzero(side >= needed).max(initial=0)) for side in (self.lower, self.upper))
        return least, most


def _bound_layers(
    tables: Tables,
    manifest: Manifest,
    annotated: AnnotatedHierarchy,
    question: BoundQuestion,
    selected_counts: np.ndarray,
) -> _BoundLayers | None:
    """Bound the counts of selected rows from each number on, by totals across groups; None if there are none."""
    totals = _find_known_totals(tables, manifest, annotated, question)
    if totals is None:
        return None
    if "numbers" not in question.known:
        question.known["numbers"] = DomainNumbers.from_texts(list(annotated.texts))
    numbers: DomainNumbers | None = question.known["numbers"]
    selected = np.zeros(len(totals.rows), np.int64)
    selected[: len(selected_counts)] = selected_counts
    layers = None if numbers is None else totals.bound_layers(selected)
    return None if numbers is None or layers is None else _BoundLayers(numbers, *layers)


def _estimate_by_matching(
    tables: Tables, manifest: Manifest, annotated: AnnotatedHierarchy, question: BoundQuestion
) -> Answer:
    if "groups" not in question.known:
        question.known["groups"] = _make_group_estimator(tables, manifest, annotated, question)
    groups: GroupEstimator = question.known["groups"]
    model = _TargetChances(annotated)
    return groups.with_rows(question.rows).answer(
        question.condition, question.aggregate, question.column, model, question.beside
    )


def _bound_sum(
    bounds: dict[str, np.ndarray],
    annotated: AnnotatedHierarchy,
    numbers: np.ndarray,
    group: np.ndarray,
    selected_counts: np.ndarray,
    aggregate: str,
    withheld_rows: UncertainRows | None,
    layers: _BoundLayers | None,
) -> Answer:
    mean = (annotated.float_probabilities @ numbers)[annotated.find_targets(group)]
    estimate = float(mean @ selected_counts)
    rows = int(selected_counts.sum())
    whole = bounds["sum_lower"].dtype.kind != "f"
    if whole:
        lower, upper = (Fraction(sum(bounds[side].tolist())) for side in ("sum_lower", "sum_upper"))
    else:  # every sum of doubles is off by at most so many roundings
        rounding_error = (
            (len(group) + 4)
            * ROUNDING_ERROR
            * float(np.abs(bounds["sum_lower"]).sum() + np.abs(bounds["sum_upper"]).sum())
        )
        lower = Fraction(float(bounds["sum_lower"].sum()) - rounding_error)
        upper = Fraction(float(bounds["sum_upper"].sum()) + rounding_error)
    if layers is not None:
        lower = max(lower, layers.numbers.add_up_layers(layers.lower))
        upper = min(upper, layers.numbers.add_up_layers(layers.upper))
        estimate = min(max(estimate, round_to_double(lower, -1)), round_to_double(upper, 1))
    if aggregate == "sum":
        ends = [round_to_double(lower, -1), round_to_double(upper, 1)]
        if withheld_rows is not None:
            ends = list(join_ends("sum", (ends[0], ends[1]), withheld_rows, always=True))
        elif whole:
            ends = [int(lower), int(upper)]
        low, high = (_convert_end(end, whole=whole) for end in ends)
        return Answer(estimate, low, high)
    low = _bound_mean(-lower, rows, UnpublishedRows.from_uncertain_rows(withheld_rows, -1))
    high = _bound_mean(upper, rows, UnpublishedRows.from_uncertain_rows(withheld_rows, 1))
    return Answer(estimate / rows, None if low is None else -low, high)


def _bound_extreme(
    bounds: dict[str, np.ndarray],
    annotated: AnnotatedHierarchy,
    numbers: np.ndarray,
    group: np.ndarray,
    selected_counts: np.ndarray,
    aggregate: str,
    withheld_rows: UncertainRows | None,
    layers: _BoundLayers | None,
) -> Answer:
    is_min = aggregate == "min"
    reduce = np.min if is_min else np.max
    lower = reduce(bounds[f"{aggregate}_lower"]).item()
    upper = reduce(bounds[f"{aggregate}_upper"]).item()
    if layers is not None:
        least, most = layers.bound_extreme(aggregate)
        whole = isinstance(lower, int)
        lower = max(lower, layers.numbers.read_number(least, whole=whole))
        upper = min(upper, layers.numbers.read_number(most, whole=whole))
    if withheld_rows is not None:
        ends = join_ends(aggregate, (lower, upper), withheld_rows, always=True)
        is_whole = bounds["sum_lower"].dtype.kind != "f"
        lower, upper = (_convert_end(end, whole=is_whole) for end in ends)
    shares = annotated.float_probabilities if is_min else annotated.float_probabilities[:, ::-1]
    beyond = np.clip(1 - np.cumsum(shares, axis=1), 0, 1)  # of one draw, past each value
    rows_by_target = np.bincount(annotated.find_targets(group), weights=selected_counts, minlength=len(shares))
    used_targets = np.flatnonzero(rows_by_target)
    all_beyond = np.prod(beyond[used_targets] ** rows_by_target[used_targets][:, None], axis=0)
    chance = -np.diff(all_beyond, prepend=1.0)
    expected = float(chance @ (numbers if is_min else numbers[::-1]))
    return Answer(clamp_to_bounds(expected, lower, upper), lower, upper)


def _make_group_estimator(
    tables: Tables, manifest: Manifest, annotated: AnnotatedHierarchy, question: BoundQuestion
) -> GroupEstimator:
    sensitive, column = tables["sensitive"], manifest.sensitive
    values = parse_texts(list(annotated.texts), column.dtype).alias(column.name)
    published = (
        sensitive[GROUP_COLUMN].to_numpy().astype(np.int64),
        find_nodes(annotated, sensitive),
        sensitive[COUNT_COLUMN].to_numpy().astype(np.int64),
    )
    group = tables["quasi"][GROUP_COLUMN].to_numpy().astype(np.int64)
    group_count = int(max(published[0].max(initial=-1), group.max(initial=-1))) + 1
    totals = _find_known_totals(tables, manifest, annotated, question)
    return GroupEstimator(
        question.rows, group, values, annotated.first, annotated.last, published, group_count, totals=totals
    )


@dataclass(frozen=True, eq=False)
class _TargetChances:
    """Chances of values if every row holds each value with the probability of its group's target."""

    annotated: AnnotatedHierarchy

    def compute_chances(self, rows: GroupTypeCounts, _: GroupTypeCounts, groups: np.ndarray | None) -> ValueChances:
        annotated = self.annotated
        type_count = int(rows[1].max(initial=0)) + 1
        group = rows[0] if groups is None else groups[rows[0]]
        target_and_type, position = np.unique(annotated.find_targets(group) * type_count + rows[1], return_inverse=True)
        number = np.bincount(position.reshape(-1), weights=rows[2], minlength=len(target_and_type))
        values = len(annotated.texts)
        return ValueChances(
            np.repeat(target_and_type % type_count, values),
            np.tile(np.arange(values), len(target_and_type)),
            annotated.float_probabilities[target_and_type // type_count].reshape(-1),
            np.repeat(number, values),
        )

    def shares(self, groups: GroupEstimator, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.annotated.find_targets(np.arange(groups.many)), self.annotated.float_probabilities[:, wanted].sum(
            axis=1
        )


def _convert_end(end: float, *, whole: bool) -> float | None:
    """Return a bound as a whole number or a double; None if it has no end."""
    if not np.isfinite(end):
        return None
    return int(end) if whole else float(end)


def _bound_mean(total: Fraction, rows: int, unpublished: UnpublishedRows | None) -> float | None:
    """Return the greatest mean of rows whose numbers sum to at most `total`, and of unpublished rows; None if it has no end."""
    if unpublished is None:
        return round_to_double(total / rows, 1)
    if not np.isfinite(unpublished.high):
        return None
    mean_of_all = (total + Fraction(unpublished.high) * unpublished.rows) / (rows + unpublished.rows)
    return round_to_double(mean_of_all if unpublished.must else max(total / rows, mean_of_all), 1)
