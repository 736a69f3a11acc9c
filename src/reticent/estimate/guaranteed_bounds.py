"""Aggregates over a transformed release with guaranteed bounds (Koudas et al., VLDB 2009, section 3.3).

Quasi-identifiers are exact, so the number a_g of selected rows of each group is known.  Which of the group's N_g
published values they have is not: the least and greatest SUM, MIN and MAX over all choices are in the table `bounds`.
Other questions are answered by matching (`group_matching.py`); for a count with a condition on the sensitive column,
where c_g of N_g values lie within the condition whatever they stand for and d_g may, that is

    COUNT   lower sum of max(0, a_g - (N_g - c_g))    upper sum of min(a_g, d_g)

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
from reticent.estimate.independent_rows import UncertainRows, clamp_to_bounds, round_to_double
from reticent.estimate.independent_rows import answer_aggregate as alone
from reticent.estimate.question import BoundQuestion
from reticent.format.data_files import Tables
from reticent.format.manifest import Manifest
from reticent.format.schema_checks import MisshapenValue

MAX_TREE_DEPTH = 256  # nodes above one another: their weights multiply
MAX_TOTAL_DEPTH = 1 << 24  # the depths of all nodes together


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
        found = [0] * len(self.texts)
        for node, (first, last) in enumerate(zip(self.first.tolist(), self.last.tolist(), strict=True)):
            if first == last:
                found[first] = node
        return found

    def distribution(self, target: int) -> list[Fraction]:
        """Return the probability of each value under a target."""
        return [self.probabilities[target][node] for node in self.leaves]

    @cached_property
    def float_probabilities(self) -> np.ndarray:
        """(targets, values): the nearest doubles."""
        return np.array([[float(p) for p in self.distribution(target)] for target in range(len(self.weights))])


def _find_parents(spans: Sequence[Sequence[int]], values: int) -> np.ndarray:
    """Find the parent of each node; raise if children do not partition it, or a leaf is not a single value."""
    fault = MisshapenValue("the tree of the sensitive column is no hierarchy over its values", inside=True)
    if any(len(span) != 2 for span in spans) or not spans or list(spans[0]) != [0, values - 1]:
        raise fault
    order = sorted(range(len(spans)), key=lambda node: (spans[node][0], -spans[node][1]))
    parent = [-1] * len(spans)
    covered = [0] * len(spans)
    above: list[int] = []
    work = 0
    for node in order:
        first, last = spans[node]
        while above and spans[above[-1]][1] < first:
            above.pop()
        if first > last or (above and (spans[above[-1]][1] < last or list(spans[above[-1]]) == [first, last])):
            raise fault
        if above:
            parent[node] = above[-1]
            covered[above[-1]] += last - first + 1
        above.append(node)
        work += len(above)
        if len(above) > MAX_TREE_DEPTH or work > MAX_TOTAL_DEPTH:
            raise MisshapenValue("the tree of the sensitive column is too deep", inside=True)
    sizes = [last - first + 1 for first, last in spans]
    if any(size > 1 and size != inside for size, inside in zip(sizes, covered, strict=True)) or parent.count(-1) != 1:
        raise fault
    return np.array(parent, np.int64)


def _is_distribution(weights: Sequence[int], parent: np.ndarray) -> bool:
    """Tell whether every node that has a mass passes all of it to its children."""
    parts = [0] * len(weights)
    inner = [False] * len(weights)
    for node, above in enumerate(parent.tolist()):
        if above >= 0:
            parts[above] += weights[node]
            inner[above] = True
    return weights[0] == 1 and all(part > 0 for part, has in zip(parts, inner, strict=True) if has)


def _compute_probabilities(weights: Sequence[int], parent: Sequence[int]) -> list[Fraction]:
    parts = [0] * len(weights)
    for node, above in enumerate(parent):
        if above >= 0:
            parts[above] += weights[node]
    found = [Fraction(1)] * len(weights)
    for node, above in enumerate(parent):
        if above >= 0:
            found[node] = found[above] * Fraction(weights[node], parts[above])
    return found


GROUP_COLUMN = "group"
COUNT_COLUMN = "count"
SELECTED_COLUMN = "selected"
ROUNDING_ERROR = 2.0**-52


def estimate_with_bounds(tables: Tables, manifest: Manifest, put: BoundQuestion) -> Answer:
    """Answer from `bounds` if no condition is on the sensitive column and its numbers are asked for; otherwise by matching."""
    return put.answer_about_source(lambda asked: _estimate_aggregate(tables, manifest, asked))


def _estimate_aggregate(tables: Tables, manifest: Manifest, put: BoundQuestion) -> Answer:
    column = manifest.sensitive.name
    if "annotated" not in put.known:
        put.known["annotated"] = AnnotatedHierarchy.from_manifest(manifest)
    annotated: AnnotatedHierarchy = put.known["annotated"]
    if (
        put.aggregate == "count"
        or put.column != column
        or any(atom.column == column for atom in list_atoms(put.condition))
    ):
        return _estimate_by_matching(tables, manifest, annotated, put)
    chosen = put.find_matching_rows()
    if chosen is None:
        return _estimate_by_matching(tables, manifest, annotated, put)
    met = np.bincount(tables["quasi"][GROUP_COLUMN].to_numpy()[chosen], minlength=1).astype(np.int64)
    group = np.flatnonzero(met)
    if not len(group):
        return NO_ANSWER if put.beside is None else alone(put.beside, put.aggregate)
    found = look_up_bounds(tables["bounds"], group, met[group])
    places = np.array([float(text) for text in annotated.texts])
    if put.aggregate in ("sum", "avg"):
        return _bound_sum(found, annotated, places, group, met[group], put.aggregate, put.beside)
    return _bound_extreme(found, annotated, places, group, met[group], put.aggregate, put.beside)


def _estimate_by_matching(
    tables: Tables, manifest: Manifest, annotated: AnnotatedHierarchy, put: BoundQuestion
) -> Answer:
    if "groups" not in put.known:
        put.known["groups"] = _make_group_estimator(tables, manifest, annotated, put)
    groups: GroupEstimator = put.known["groups"]
    likely = _TargetChances(annotated)
    return groups.with_rows(put.rows).answer(put.condition, put.aggregate, put.column, likely, put.beside)


def _make_group_estimator(
    tables: Tables, manifest: Manifest, annotated: AnnotatedHierarchy, put: BoundQuestion
) -> GroupEstimator:
    sensitive, column = tables["sensitive"], manifest.sensitive
    values = parse_texts(list(annotated.texts), column.dtype).alias(column.name)
    held = (
        sensitive[GROUP_COLUMN].to_numpy().astype(np.int64),
        find_nodes(annotated, sensitive),
        sensitive[COUNT_COLUMN].to_numpy().astype(np.int64),
    )
    group = tables["quasi"][GROUP_COLUMN].to_numpy().astype(np.int64)
    many = int(max(held[0].max(initial=-1), group.max(initial=-1))) + 1
    return GroupEstimator(put.rows, group, values, annotated.first, annotated.last, held, many)


@dataclass(frozen=True, eq=False)
class _TargetChances:
    """Chances of values if every row holds each value with the probability of its group's target."""

    annotated: AnnotatedHierarchy

    def compute_chances(self, rows: GroupTypeCounts, _: GroupTypeCounts, among: np.ndarray | None) -> ValueChances:
        annotated = self.annotated
        wide = int(rows[1].max(initial=0)) + 1
        group = rows[0] if among is None else among[rows[0]]
        word, at = np.unique(annotated.find_targets(group) * wide + rows[1], return_inverse=True)
        number = np.bincount(at.reshape(-1), weights=rows[2], minlength=len(word))
        values = len(annotated.texts)
        return ValueChances(
            np.repeat(word % wide, values),
            np.tile(np.arange(values), len(word)),
            annotated.float_probabilities[word // wide].reshape(-1),
            np.repeat(number, values),
        )

    def shares(self, groups: GroupEstimator, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.annotated.find_targets(np.arange(groups.many)), self.annotated.float_probabilities[:, wanted].sum(
            axis=1
        )


def look_up_bounds(bounds: pl.DataFrame, group: np.ndarray, met: np.ndarray) -> dict[str, np.ndarray]:
    """Look up the bounds of each group for its number of selected rows: from the row above it, if no slope changes before."""
    held = bounds[GROUP_COLUMN].to_numpy().astype(np.int64)
    selected = bounds[SELECTED_COLUMN].to_numpy().astype(np.int64)
    wide = int(selected.max()) + 1
    place = np.searchsorted(held * wide + selected, group * wide + met)
    found = {name: bounds[name].to_numpy()[place] for name in bounds.columns[2:]}
    short = selected[place] - met
    found["sum_lower"] = found["sum_lower"] - short * found["max_lower"]
    found["sum_upper"] = found["sum_upper"] - short * found["min_upper"]
    return found


def _bound_sum(
    found: dict[str, np.ndarray],
    annotated: AnnotatedHierarchy,
    places: np.ndarray,
    group: np.ndarray,
    met: np.ndarray,
    aggregate: str,
    beside: UncertainRows | None,
) -> Answer:
    mean = (annotated.float_probabilities @ places)[annotated.find_targets(group)]
    estimate = float(mean @ met)
    rows = int(met.sum())
    whole = found["sum_lower"].dtype.kind != "f"
    if whole:
        lower, upper = (Fraction(sum(found[side].tolist())) for side in ("sum_lower", "sum_upper"))
    else:  # every sum of doubles is off by at most so many roundings
        off = (
            (len(group) + 4)
            * ROUNDING_ERROR
            * float(np.abs(found["sum_lower"]).sum() + np.abs(found["sum_upper"]).sum())
        )
        lower = Fraction(float(found["sum_lower"].sum()) - off)
        upper = Fraction(float(found["sum_upper"].sum()) + off)
    if aggregate == "sum":
        ends = [round_to_double(lower, -1), round_to_double(upper, 1)]
        if beside is not None:
            ends = list(join_ends("sum", (ends[0], ends[1]), beside, always=True))
        elif whole:
            ends = [int(lower), int(upper)]
        low, high = (None if not np.isfinite(end) else int(end) if whole else float(end) for end in ends)
        return Answer(estimate, low, high)
    low = _bound_mean(-lower, rows, UnpublishedRows.from_uncertain_rows(beside, -1))
    high = _bound_mean(upper, rows, UnpublishedRows.from_uncertain_rows(beside, 1))
    return Answer(estimate / rows, None if low is None else -low, high)


def _bound_mean(total: Fraction, rows: int, unpublished: UnpublishedRows | None) -> float | None:
    """Return the greatest mean of rows whose numbers sum to at most `total`, and of unpublished rows; None if it has no end."""
    if unpublished is None:
        return round_to_double(total / rows, 1)
    if not np.isfinite(unpublished.high):
        return None
    joined = (total + Fraction(unpublished.high) * unpublished.rows) / (rows + unpublished.rows)
    return round_to_double(joined if unpublished.must else max(total / rows, joined), 1)


def _bound_extreme(
    found: dict[str, np.ndarray],
    annotated: AnnotatedHierarchy,
    places: np.ndarray,
    group: np.ndarray,
    met: np.ndarray,
    aggregate: str,
    beside: UncertainRows | None,
) -> Answer:
    least = aggregate == "min"
    take = np.min if least else np.max
    lower = take(found[f"{aggregate}_lower"]).item()
    upper = take(found[f"{aggregate}_upper"]).item()
    if beside is not None:
        ends = join_ends(aggregate, (lower, upper), beside, always=True)
        whole = found["sum_lower"].dtype.kind != "f"
        lower, upper = (None if not np.isfinite(end) else int(end) if whole else float(end) for end in ends)
    shares = annotated.float_probabilities if least else annotated.float_probabilities[:, ::-1]
    beyond = np.clip(1 - np.cumsum(shares, axis=1), 0, 1)  # of one draw, past each value
    of = np.bincount(annotated.find_targets(group), weights=met, minlength=len(shares))
    used = np.flatnonzero(of)
    all_beyond = np.prod(beyond[used] ** of[used][:, None], axis=0)
    chance = -np.diff(all_beyond, prepend=1.0)
    expected = float(chance @ (places if least else places[::-1]))
    return Answer(clamp_to_bounds(expected, lower, upper), lower, upper)


def mask_wanted_values(annotated: AnnotatedHierarchy, values: tuple[object, ...]) -> np.ndarray:
    """Return which values of the domain are wanted."""
    texts = {str(value) for value in values}
    return np.array([text in texts for text in annotated.texts], bool)


def mask_covered_nodes(annotated: AnnotatedHierarchy, values: tuple[object, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return which nodes lie wholly within the wanted values, and which hold any of them."""
    until = np.append(0, np.cumsum(mask_wanted_values(annotated, values)))
    held = until[annotated.last + 1] - until[annotated.first]
    return held == annotated.last - annotated.first + 1, held > 0


def find_nodes(annotated: AnnotatedHierarchy, sensitive: pl.DataFrame) -> np.ndarray:
    """Find the node of each row of `sensitive` by its ends."""
    place = {text: at for at, text in enumerate(annotated.texts)}
    node = {span: at for at, span in enumerate(zip(annotated.first.tolist(), annotated.last.tolist(), strict=True))}
    ends = sensitive.select("lower", "upper").unique()
    lower, upper = (ends[name].cast(pl.String).to_list() for name in ("lower", "upper"))
    known = [node.get((place.get(a, -1), place.get(b, -1)), -1) for a, b in zip(lower, upper, strict=True)]
    joined = sensitive.select("lower", "upper").join(
        ends.with_columns(pl.Series("\x00node", known, dtype=pl.Int64)),
        on=["lower", "upper"],
        how="left",
        maintain_order="left",
    )
    return joined["\x00node"].to_numpy()
