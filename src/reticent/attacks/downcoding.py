"""Downcoding (Cohen, "Attacks on Deidentification's Defenses", USENIX Security 2022): which hidden quasi-identifiers leak?

The adversary has the release and knows nobody's quasi-identifiers.  A group was left whole because no cut of it leaves
k people on both sides: where a group has 2k people or more, most of them must then share one value in *every* column.
For Mondrian with cuts by loss that promises k-anonymity alone, this is certain (`provable`).  Of other methods and
tools' files nothing is claimed: the same inequalities are supposed, and `holds` is how many groups they are true of.

    success     how often the likeliest value of each range, guessed for everybody of the group, is right, with Wilson's
                interval
    control     the same without the inequalities: ranges and their tight ends alone; the baseline is a random value of the
                range
    bits        what the inequalities reveal, on average over groups and columns that could be cut by their size
    possible    by a linear programme with the table's totals known: the share of the values of a range that remain possible
                for a person, beside `possible_control`, without the inequalities; of `programmes` ranges, drawn at random

Targets are hidden values: (person, column) pairs under a range.  No promise of this library is about this adversary.

Compositions (`compute_composition`): how many people of a group may have each value of the range in one column?
Beforehand each person's value is drawn alike from the values under the label.  Known are that an end which is tight is
somebody's, and of a group that could not be cut: no place in the range has k people or more on both sides.  So as many
people as the group has beyond 2k - 2 share one value.  Sums run from value to value over how many people have been
placed (a chain of binomials), forwards and backwards; all terms are non-negative.

The linear programme (`find_possible_values`): which values remain possible, totals being known?  Variables are counts
of (group, value under its label) in one column.  Known are the groups' sizes, the ends that are tight, the number of
people of the whole table at each value (a public statistic), and the inequalities of refused cuts.  A programme over
(group, combination of values) gives the same: no inequality ties two columns of a group, and counts by column that add
up to the same people can always be combined.  Refused cuts are a choice ("fewer than k below, or fewer than k above");
relaxed to shares of a choice they are linear and rule out no table that fits.  So a value whose greatest count is below
1 is impossible; of the others nothing is claimed.  The optimum is HiGHS's (scipy's `linprog`), and a value is called
impossible only below 1 by more than its tolerance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import log, log2
from typing import Any

import numpy as np

from reticent.attacks.group_membership import GroupMembership, find_membership
from reticent.attacks.scoring import AttackOutcome, compute_wilson_interval
from reticent.attacks.target import AttackTarget
from reticent.errors import RequestError
from reticent.labels.adversary_view import Boxes

MAX_PEOPLE_PER_GROUP = 60
"""Of groups with more people nothing is concluded."""
MAX_VARIABLES = 60_000
OPTIMUM_TOLERANCE = 1e-5
"""What a floating-point optimum may be off by: an adversary's arithmetic, and no check of a promise."""
MAX_RANGES_PER_COLUMN = 20
"""So many ranges of each column are asked about by linear programmes."""


@dataclass(frozen=True, eq=False)
class RangeComposition:
    """Composition of a group in one column: `expected` people at each value of the range, and the `chance` of what is known."""

    expected: np.ndarray
    chance: float

    @property
    def bits(self) -> float:
        """How much is known beyond the range itself, in bits."""
        return -log2(self.chance)


@lru_cache(maxsize=20_000)
def compute_composition(people: int, values: int, k: int | None, low: bool, high: bool) -> RangeComposition | None:
    """Compute the composition of a group in one column.

    `low` and `high`: the end is somebody's value.  `k`: no place could be cut; None: that is not known.

    None where nothing fits, and of groups with more than MAX_PEOPLE_PER_GROUP people.
    """
    if people > MAX_PEOPLE_PER_GROUP:
        return None
    after = [np.zeros(people + 1) for _ in range(values + 1)]
    after[0][0] = 1.0
    steps = [
        _compute_step_chances(people, values - position, 1 if _is_end_held(position, values, low, high) else 0)
        for position in range(values)
    ]
    possible_counts = [
        _find_possible_counts(people, k) if position < values else np.ones(people + 1)
        for position in range(1, values + 1)
    ]
    for position, step in enumerate(steps):
        after[position + 1] = (after[position] @ step) * possible_counts[position]
    chance = float(after[values][people])
    if chance <= 0:
        return None
    before = np.zeros(people + 1)
    before[people] = 1.0
    placed = np.arange(people + 1)[None, :] - np.arange(people + 1)[:, None]
    expected = np.zeros(values)
    for position in range(values - 1, -1, -1):
        weight = before * possible_counts[position]
        expected[position] = after[position] @ (steps[position] * np.maximum(placed, 0)) @ weight / chance
        before = steps[position] @ weight
    return RangeComposition(expected, min(chance, 1.0))


def make_uniform_composition(people: int, values: int) -> RangeComposition:
    """Make the composition if only the range is known."""
    return RangeComposition(np.full(values, people / values), 1.0)


def has_no_cut(counts: np.ndarray, k: int) -> bool:
    """Tell whether no place of a true composition has k people or more on both sides."""
    below = np.cumsum(counts)[:-1]
    return not bool(((below >= k) & (counts.sum() - below >= k)).any())


@dataclass(frozen=True, eq=False)
class RangeColumn:
    """Groups with a label in one column: the first code and how many, the people, and which ends are somebody's."""

    first: np.ndarray
    width: np.ndarray
    people: np.ndarray
    tight: np.ndarray  # (groups, 2) bool
    totals: np.ndarray  # (codes,)

    @property
    def begin(self) -> np.ndarray:
        return np.cumsum(self.width) - self.width

    @property
    def code(self) -> np.ndarray:
        """The code of each variable."""
        return np.arange(int(self.width.sum())) - (self.begin - self.first).repeat(self.width)


def find_possible_values(column: RangeColumn, groups: Sequence[int], k: int | None) -> list[np.ndarray] | None:
    """Find for each group in `asked` which values of its range somebody of it may have; None if the programme is too large."""
    optimum = _import_solver()
    matrix, rows = _build_constraints(column, k)
    if matrix is None:
        return None
    possible_by_group = []
    for group in groups:
        start = int(column.begin[group])
        fits = [
            optimum(matrix, rows, start + position, column) >= 1 - OPTIMUM_TOLERANCE
            for position in range(int(column.width[group]))
        ]
        possible_by_group.append(np.array(fits))
    return possible_by_group


@dataclass(frozen=True, eq=False)
class DowncodingOutcome(AttackOutcome):
    """Outcome of an attack with the control, and what the inequalities reveal."""

    details: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {**AttackOutcome.to_dict(self), **self.details}


@dataclass(eq=False)
class GuessTally:
    """Hidden values that were guessed, over columns."""

    targets: int = 0
    hits: float = 0.0
    control: float = 0.0
    chance: float = 0.0
    worst: float = 0.0
    bits: list[float] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)
    skipped: int = 0
    possible: list[float] = field(default_factory=list)
    possible_control: list[float] = field(default_factory=list)


def attack_by_downcoding(
    target: AttackTarget, *, k: int | None = None, programme: bool = False, seed: int = 0
) -> DowncodingOutcome:
    """Guess the hidden values of every group.

    `k`: what groups were to have, by default as promised, else the size of the smallest; `programme` also solves the
    linear programme.
    """
    return downcode(target, k, programme, seed)


def downcode(
    target: AttackTarget,
    k: int | None = None,
    programme: bool = False,
    seed: int = 0,
    max_ranges: int = MAX_RANGES_PER_COLUMN,
) -> DowncodingOutcome:
    """Run the attack with at most so many linear programmes for each column."""
    sight = target.sight
    if not isinstance(sight, Boxes):
        raise RequestError(
            "This attack asks for quasi-identifiers that labels hide; this release publishes them as they are.",
            attempt="another attack.",
        )
    lines = [axis for axis, ends in enumerate(sight.ends) if ends is not None]
    sizes = sight.counts.sum(axis=1)
    min_group_size = _find_promised_k(target) or int(sizes.min(initial=1)) if k is None else k
    if min_group_size < 1 or isinstance(min_group_size, bool):
        raise RequestError("k is a whole number of at least 1.", attempt="k = 5.")
    tally = GuessTally()
    membership = find_membership(target)
    rng = np.random.default_rng(seed)
    for axis in lines:
        _attack_column(target, sight, axis, membership, min_group_size, tally)
        if programme:
            _solve_column_programs(target, sight, axis, min_group_size, tally, rng, max_ranges)
    if not tally.targets:
        raise RequestError(
            "This attack asks for values that ranges hide; this release has no range.",
            attempt="another attack: every label is a category, a single value or `*`.",
        )
    return _make_downcoding_outcome(target, sight, tally, min_group_size)


def _compute_step_chances(people: int, values_left: int, min_people: int) -> np.ndarray:
    """Compute (placed, placed after): the chance that so many of the people left have the next of `left` values, at least `least`."""
    rest = people - np.arange(people + 1)[:, None]
    people_here = np.arange(people + 1)[None, :] - np.arange(people + 1)[:, None]
    if values_left == 1:
        return ((people_here == rest) & (people_here >= min_people)).astype(np.float64)
    factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, people + 1)))])
    is_possible = (people_here >= min_people) & (people_here <= rest)
    ways = (
        factorial[rest] - factorial[np.clip(people_here, 0, people)] - factorial[np.clip(rest - people_here, 0, people)]
    )
    chance = np.exp(
        np.where(
            is_possible,
            ways - people_here * log(values_left) + (rest - people_here) * log(1 - 1 / values_left),
            -np.inf,
        )
    )
    return np.where(is_possible, chance, 0.0)


def _is_end_held(position: int, values: int, low: bool, high: bool) -> bool:
    return (low and position == 0) or (high and position == values - 1)


def _find_possible_counts(people: int, k: int | None) -> np.ndarray:
    """Find which numbers of people below a place are possible, where the group could not be cut there."""
    below = np.arange(people + 1)
    if k is None:
        return np.ones(people + 1)
    return ((below < k) | (people - below < k)).astype(np.float64)


def _import_solver() -> Any:
    try:
        from scipy.optimize import linprog
    except ImportError:
        raise RequestError(
            "The linear programme of the attack 'downcoding' needs scipy.",
            attempt="pip install 'reticent[stats]', or programme = False.",
        ) from None

    def optimum(matrix: Any, limit: np.ndarray | None, variable: int, column: RangeColumn) -> float:
        """Compute the greatest count that one variable can have."""
        equalities, refused = matrix
        variable_count = equalities.shape[1]
        counts = int(column.width.sum())
        goal = np.zeros(variable_count)
        goal[variable] = -1.0
        lower = np.zeros(variable_count)
        upper = np.ones(variable_count)
        upper[:counts] = column.people.repeat(column.width)
        lower[column.begin[column.tight[:, 0]]] = 1.0
        lower[(column.begin + column.width - 1)[column.tight[:, 1]]] = 1.0
        margins = np.concatenate([column.people, column.totals])
        solution = linprog(goal, refused, limit, equalities, margins, np.column_stack([lower, upper]), method="highs")
        return float(-solution.fun) if solution.status == 0 else float("inf")

    return optimum


def _build_constraints(column: RangeColumn, k: int | None) -> tuple[Any, Any]:
    """Build the equalities (groups, totals) and, of groups that could be cut by their size, the constraints of refused cuts."""
    from scipy.sparse import coo_matrix

    counts = int(column.width.sum())
    groups_to_cut = (
        np.zeros(0, np.int64) if k is None else np.flatnonzero((column.people >= 2 * k) & (column.width > 1))
    )
    variable_count = counts + int((column.width[groups_to_cut] - 1).sum())
    if variable_count > MAX_VARIABLES:
        return None, None
    groups = len(column.width)
    row = np.concatenate([np.repeat(np.arange(groups), column.width), groups + column.code])
    ones = (np.ones(2 * counts), (row, np.tile(np.arange(counts), 2)))
    equalities = coo_matrix(ones, shape=(groups + len(column.totals), variable_count)).tocsr()
    if k is None or not len(groups_to_cut):
        return (equalities, None), None
    entries, limit = _build_refused_cut_constraints(column, k, groups_to_cut.tolist(), counts)
    rows_of_entries, variables_of_entries, coefficients = zip(*entries, strict=True)
    return (
        equalities,
        coo_matrix((coefficients, (rows_of_entries, variables_of_entries)), shape=(len(limit), variable_count)).tocsr(),
    ), np.array(limit)


def _find_promised_k(target: AttackTarget) -> int | None:
    promised = [int(promise.parameters["k"]) for promise in target.promises if "k" in promise.parameters]
    return max(promised, default=None)


def _attack_column(
    target: AttackTarget, sight: Boxes, axis: int, membership: GroupMembership, k: int, tally: GuessTally
) -> None:
    cover = sight.covers[axis]
    ends = sight.ends[axis]
    sizes = sight.counts.sum(axis=1)
    assert ends is not None
    code = target.points[membership.point, axis]
    starts = np.searchsorted(membership.group, np.arange(membership.groups + 1))
    for group in _find_range_groups(sight, axis).tolist():
        label = int(sight.label[axis][group])
        people = int(sizes[group])
        first = int(cover.lower[label])
        values = int(cover.upper[label] - cover.lower[label] + 1)
        tight = bool(ends.known[label, 0]), bool(ends.known[label, 1])
        uninformed = compute_composition(people, values, None, *tight) or make_uniform_composition(people, values)
        informed = compute_composition(people, values, k, *tight)
        if informed is None:  # too many people, or the group could have been cut: nothing is known of it
            tally.skipped, informed = tally.skipped + people, uninformed
        entries = slice(starts[group], starts[group + 1])
        true_counts = np.bincount(code[entries] - first, weights=membership.people[entries], minlength=values)
        tally.targets += people
        tally.hits += float(true_counts[_find_likeliest_value(informed.expected)])
        tally.control += float(true_counts[_find_likeliest_value(uninformed.expected)])
        tally.chance += people / values
        tally.worst = max(tally.worst, float(informed.expected.max() / people))
        if people >= 2 * k:
            tally.bits.append(informed.bits - uninformed.bits)
            if (membership.shares[entries] == 1).all() and true_counts.sum() == people:  # its people are known
                tally.held.append(has_no_cut(true_counts, k))


def _solve_column_programs(
    target: AttackTarget,
    sight: Boxes,
    axis: int,
    k: int,
    tally: GuessTally,
    rng: np.random.Generator,
    max_ranges: int,
) -> None:
    cover = sight.covers[axis]
    ends = sight.ends[axis]
    label = sight.label[axis]
    assert ends is not None
    ranged = _find_range_groups(sight, axis)
    if (cover.holes[label] >= 0).any() or not len(ranged):
        return
    sizes = sight.counts.sum(axis=1).astype(np.float64)
    totals = np.bincount(target.points[:, axis], weights=target.people, minlength=target.quasi[axis].size)
    width = cover.upper[label] - cover.lower[label] + 1
    column = RangeColumn(cover.lower[label], width, sizes, ends.known[label] & ends.ranged[label][:, None], totals)
    groups = np.sort(rng.choice(ranged, min(max_ranges, len(ranged)), replace=False)).tolist()
    possible = find_possible_values(column, groups, k)
    possible_control = find_possible_values(column, groups, None)
    if possible is not None and possible_control is not None:
        tally.possible += [float(is_possible.mean()) for is_possible in possible]
        tally.possible_control += [float(is_possible.mean()) for is_possible in possible_control]


def _make_downcoding_outcome(target: AttackTarget, sight: Boxes, tally: GuessTally, k: int) -> DowncodingOutcome:
    target_count = tally.targets
    low, high = compute_wilson_interval(round(tally.hits), target_count)
    control = compute_wilson_interval(round(tally.control), target_count)
    details = {
        "control": tally.control / target_count,
        "control_low": control[0],
        "control_high": control[1],
        "k": k,
        "provable": _is_provable(target, sight),
        "holds": float(np.mean(tally.held)) if tally.held else None,
        "holds_of": len(tally.held),
        "bits": float(np.mean(tally.bits)) if tally.bits else None,
        "ranges": len(tally.bits),
        "skipped": tally.skipped,
        "possible": float(np.mean(tally.possible)) if tally.possible else None,
        "possible_control": float(np.mean(tally.possible_control)) if tally.possible_control else None,
        "programmes": len(tally.possible),
    }
    no_guesses = np.zeros(0)
    return DowncodingOutcome(
        "downcoding",
        target_count,
        tally.hits / target_count,
        low,
        high,
        tally.chance / target_count,
        min(tally.worst, 1.0),
        None,
        no_guesses,
        no_guesses,
        details,
    )


def _build_refused_cut_constraints(
    column: RangeColumn, k: int, groups_to_cut: list[int], choice: int
) -> tuple[list[tuple[int, int, float]], list[float]]:
    """Build the constraints of refused cuts, for each place of each group.

    below <= k - 1 + (people - k + 1) z   and   below >= (people - k + 1) z,   0 <= z <= 1
    """
    entries: list[tuple[int, int, float]] = []
    limit: list[float] = []
    for group in groups_to_cut:
        max_below = float(column.people[group]) - k + 1
        start = int(column.begin[group])
        for place in range(1, int(column.width[group])):
            for sign, bound in ((1.0, float(k - 1)), (-1.0, 0.0)):
                entries += [(len(limit), variable, sign) for variable in range(start, start + place)]
                entries.append((len(limit), choice, -sign * max_below))
                limit.append(bound)
            choice += 1
    return entries, limit


def _find_range_groups(sight: Boxes, axis: int) -> np.ndarray:
    """Find groups with a range of several values in a column."""
    ends = sight.ends[axis]
    assert ends is not None
    label = sight.label[axis]
    cover = sight.covers[axis]
    return np.flatnonzero(ends.ranged[label] & (cover.upper[label] > cover.lower[label]) & (cover.holes[label] < 0))


def _find_likeliest_value(expected: np.ndarray) -> int:
    """Return the middle one of the likeliest values: chances are alike from both ends, and rounding must not choose."""
    likeliest = np.flatnonzero(expected >= expected.max() * (1 - 1e-9))
    return int(likeliest[len(likeliest) // 2])


def _is_provable(target: AttackTarget, sight: Boxes) -> bool:
    """Tell whether the method cannot have left a group that can be cut: Mondrian by loss, for k alone, no two groups reading the same."""
    method = target.made_by
    promise_names = {promise.name for promise in target.promises}
    if method is None or method.name != "mondrian" or method.parameters.get("cuts", "loss") != "loss":
        return False
    has_distinct_labels = method.parameters.get("labels") == "sets" or all(ends is not None for ends in sight.ends)
    return promise_names == {"k-anonymity"} and has_distinct_labels
