"""Decision of whether the source's people could have been put into the published groups.

A release whose values are listed apart from its rows shows, for each group, how often each combination of the other
columns occurs (`published`) and how often each sensitive value (`listed`); the source shows how many people with a
combination have a value (`people`). The groups are honest only if numbers x[combination, group, value] exist that add up
to all three. That is a three-dimensional transportation problem, NP-hard in general, and easy in nearly every release:

1. What follows at once is fixed: people of one combination who share a value, or who are all in one group; groups with
   one value or one combination left. Nothing is left where combinations are unique.
2. Values are given to the rows of each group and exchanged until every combination has the values of its people
   (`kernels/value_exchanges`). The result is counted again: it proves that an assignment exists.
3. Where none is found, bounds on every x are tightened until nothing changes, which proves that there is none if they
   cross; then a search tries every value of each x, within a budget.

Where all of that ends without an answer, the answer is "undecided". Where the owner's notes have a witness, which gives
the source value of each published row, no search is needed: `is_assignment` counts it, and takes nothing on trust.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from reticent.kernels import value_exchanges

ASSIGNMENT_EXISTS = "exists"
NO_ASSIGNMENT = "none"
ASSIGNMENT_UNDECIDED = "undecided"
MAX_ROWS = 1 << 24  # rows whose values are exchanged
MAX_PAIRS = 1 << 28  # pairs of rows in one group, over all groups
MAX_TRIPLES = 1 << 20  # numbers whose bounds are tightened
MAX_PASSED_PAIRS = 1 << 22  # pairs of a row and a value of its group
MAX_SEARCH_TRIPLES = 1 << 12
MAX_ROUNDS = 200
MAX_FIRST_LOOKS = 1 << 21  # pairs of rows that are examined before anything else is tried
LOOKS_PER_ROW = 1 << 10
MAX_LOOKS = 1 << 25
LOOKS_PER_PATH = 1 << 15
PATH_STEPS = 1 << 13
SEARCH_NODES = 600
SEARCH_WORK = 1 << 21  # numbers whose bounds are tightened in a search, each time anew


def decide_assignment(published: PairTally, listed: PairTally, people: PairTally, max_rows: int = MAX_ROWS) -> str:
    """Decide whether the people could have been put into the groups.

    Parameters: rows by (combination, group), rows by (group, value) and people by (combination, value). Returns
    ASSIGNMENT_EXISTS, NO_ASSIGNMENT or ASSIGNMENT_UNDECIDED.
    """
    try:
        problem = fix_determined_people(AssignmentProblem.from_tallies(published, listed, people))
        return _decide(problem, max_rows)
    except NoAssignmentError:
        return NO_ASSIGNMENT


def is_assignment(
    published: PairTally,
    listed: PairTally,
    people: PairTally,
    combination: np.ndarray,
    group: np.ndarray,
    value: np.ndarray,
) -> bool:
    """Tell whether rows with these combinations, groups and values are an assignment, by counting them.

    Parameters: as of `decide_assignment`, their pairs in order, and one element for each published row.
    """
    return (
        _equals(published, _count_pairs(combination, group))
        and _equals(listed, _count_pairs(group, value))
        and _has_room(people, _count_pairs(combination, value))
    )


@dataclass(frozen=True, eq=False)
class PairTally:
    """How many rows have each pair of codes; pairs are distinct, and no count is zero.  `add_up` puts them in order."""

    first: np.ndarray
    second: np.ndarray
    count: np.ndarray

    @classmethod
    def add_up(cls, first: np.ndarray, second: np.ndarray, count: np.ndarray) -> PairTally:
        """Add up the counts of equal pairs."""
        width = int(second.max(initial=-1)) + 1
        keys, place = np.unique(first.astype(np.int64) * width + second, return_inverse=True)
        total = np.zeros(len(keys), np.int64)
        np.add.at(total, place.reshape(-1), count)
        nonzero = total != 0
        keys = keys[nonzero]
        return cls(keys // max(width, 1), keys % max(width, 1), total[nonzero])

    def __len__(self) -> int:
        return len(self.count)

    def select(self, chosen: np.ndarray) -> PairTally:
        return PairTally(self.first[chosen], self.second[chosen], self.count[chosen])

    def take_away(self, first: np.ndarray, second: np.ndarray, count: np.ndarray) -> PairTally:
        """Subtract these counts; a count may become negative."""
        return PairTally.add_up(
            np.concatenate([self.first, first]),
            np.concatenate([self.second, second]),
            np.concatenate([self.count, -count]),
        )


class NoAssignmentError(Exception):
    """A proof that no assignment exists."""


@dataclass(frozen=True, eq=False)
class AssignmentProblem:
    """`published` counts rows by (combination, group), `listed` by (group, value), `people` people by (combination, value)."""

    published: PairTally
    listed: PairTally
    people: PairTally
    combinations: int
    groups: int
    values: int

    @classmethod
    def from_tallies(cls, published: PairTally, listed: PairTally, people: PairTally) -> AssignmentProblem:
        """Number the codes that occur from 0 on, if every group has as many rows as values and no combination lacks people."""
        numbered = [
            np.unique(np.concatenate(codes), return_inverse=True)
            for codes in (
                (published.first, people.first),
                (published.second, listed.first),
                (listed.second, people.second),
            )
        ]
        sizes = [len(distinct) for distinct, _ in numbered]
        codes = [place.reshape(-1) for _, place in numbered]
        rows = len(published)
        problem = cls(
            PairTally.add_up(codes[0][:rows], codes[1][:rows], published.count),
            PairTally.add_up(codes[1][rows:], codes[2][: len(listed)], listed.count),
            PairTally.add_up(codes[0][rows:], codes[2][len(listed) :], people.count),
            *sizes,
        )
        problem.require_sums()
        return problem

    def require_sums(self) -> None:
        """Require that no count is negative, that groups have as many rows as values, and that nobody is lacking."""
        if self.listed.count.min(initial=0) < 0 or self.people.count.min(initial=0) < 0:
            raise NoAssignmentError(f"{int((self.listed.count < 0).sum())} values are listed too seldom")
        group_rows = _sum_by(self.published.second, self.published.count, self.groups)
        group_values = _sum_by(self.listed.first, self.listed.count, self.groups)
        if (group_rows != group_values).any() or (self.spare < 0).any():
            raise NoAssignmentError("groups have other numbers of rows and values, or more people than there are")

    @property
    def spare(self) -> np.ndarray:
        """Number of people of each combination who are not published."""
        people = _sum_by(self.people.first, self.people.count, self.combinations)
        return people - _sum_by(self.published.first, self.published.count, self.combinations)

    def replace(self, published: PairTally, listed: PairTally, people: PairTally) -> AssignmentProblem:
        """Return the problem that is left of this one, its codes numbered as they are."""
        problem = AssignmentProblem(published, listed, people, self.combinations, self.groups, self.values)
        problem.require_sums()
        return problem

    def select(self, combinations: np.ndarray, groups: np.ndarray) -> AssignmentProblem:
        """Select the part of the problem with some combinations and groups, which no others share."""
        return AssignmentProblem.from_tallies(
            self.published.select(combinations[self.published.first]),
            self.listed.select(groups[self.listed.first]),
            self.people.select(combinations[self.people.first]),
        )


def fix_determined_people(problem: AssignmentProblem) -> AssignmentProblem:
    """Take out people whose group and value follow at once, until nobody's does."""
    for _ in range(MAX_ROUNDS):
        before = len(problem.published)
        for step in (_fix_combinations, _fix_groups):
            if len(problem.published):
                problem = step(problem)
        if len(problem.published) == before:
            break
    if not len(problem.published) and len(problem.listed):
        raise NoAssignmentError("values are left over")
    return problem


class ValueExchange:
    """Rows with values that are exchanged within groups until no combination has more rows of a value than people."""

    def __init__(self, problem: AssignmentProblem):
        self.problem = problem
        published = problem.published
        listed = problem.listed
        people = problem.people
        order = np.argsort(published.second, kind="stable")
        count = published.count[order]
        rows = np.zeros((int(count.sum()), 6), np.int32)
        rows[:, 0] = np.repeat(published.first[order], count)
        rows[:, 1] = np.repeat(published.second[order], count)
        rows[:, 2] = np.repeat(listed.second, listed.count)
        pairs = _list_possible_pairs(problem)
        capacity = np.zeros(len(pairs), np.int64)
        capacity[np.searchsorted(pairs, people.first * problem.values + people.second)] = people.count
        cells = np.zeros((len(pairs), 5), np.int32)
        cells[:, 0] = pairs // problem.values
        cells[:, 1] = pairs % problem.values
        cells[:, 2] = np.minimum(capacity, len(rows) + 1)
        cells[:, 3] = -1
        cells[:, 4] = capacity > 0
        self._room = capacity
        combinations = np.zeros((problem.combinations + 1, 2), np.int32)
        combinations[:, 0] = np.searchsorted(cells[:, 0], np.arange(problem.combinations + 1))
        combinations[:-1, 1] = np.bincount(people.first, minlength=problem.combinations)
        self._rows = rows
        self._cells = cells
        self._combinations = combinations
        sizes = np.bincount(rows[:, 1], minlength=problem.groups)
        self._starts = np.append(0, np.cumsum(sizes)).astype(np.int32)
        self._path = np.zeros((PATH_STEPS, 8), np.int32)
        self._visited = np.zeros((4 * PATH_STEPS, 2), np.int64)
        self._draws = 12345
        self._marks = 0
        seats = np.zeros((int(sizes.max(initial=0)) + 1, 5), np.int32)
        if value_exchanges.seat_rows(rows, cells, combinations, self._starts, seats) >= 0:
            raise NoAssignmentError("a group lists values that its people do not have")

    def run(self, looks: int) -> bool:
        """Exchange values, looking at so many pairs of rows; True if an assignment was found and counted again."""
        state = np.array([self._draws, looks, LOOKS_PER_PATH, self._marks], np.int64)
        excess = value_exchanges.exchange_values(
            self._rows, self._cells, self._combinations, self._starts, self._path, self._visited, state
        )
        self._draws = int(state[0])
        self._marks = int(state[3])
        return excess == 0 and self._is_assignment()

    def _is_assignment(self) -> bool:
        problem = self.problem
        combination = self._rows[:, 0].astype(np.int64)
        group = self._rows[:, 1].astype(np.int64)
        value = self._cells[self._rows[:, 3], 1].astype(np.int64)
        if (self._cells[self._rows[:, 3], 0] != combination).any():
            return False
        ones = np.ones(len(value), np.int64)
        listed = PairTally.add_up(group, value, ones)
        wanted = problem.listed
        people = np.bincount(self._rows[:, 3], minlength=len(self._cells))
        return (
            bool((people <= self._room).all())
            and np.array_equal(listed.first, wanted.first)
            and np.array_equal(listed.second, wanted.second)
            and np.array_equal(listed.count, wanted.count)
        )

    def combinations_with_excess(self) -> np.ndarray:
        return np.unique(self._cells[self._cells[:, 2] < 0, 0])


def split_into_components(problem: AssignmentProblem, combinations: np.ndarray) -> Iterator[AssignmentProblem]:
    """Yield the connected parts of a problem that have some of these combinations.

    Combinations are connected by groups.
    """
    part = _label_components(problem)
    of_group = np.zeros(problem.groups, np.int64)
    of_group[problem.published.second] = part[problem.published.first]
    for label in np.unique(part[combinations]).tolist():
        yield problem.select(part == label, of_group == label)


@dataclass(frozen=True, eq=False)
class AssignmentBounds:
    """Every x of a part with its least and greatest value; `lines[f][i]` is the sum of family f to which x[i] belongs.

    The families are rows by (combination, group), rows by (group, value) and people by (combination, value); the sum of a
    line lies between the `min_sums` and `max_sums` of its family.
    """

    lines: tuple[np.ndarray, np.ndarray, np.ndarray]
    min_sums: tuple[np.ndarray, np.ndarray, np.ndarray]
    max_sums: tuple[np.ndarray, np.ndarray, np.ndarray]
    low: np.ndarray
    high: np.ndarray

    def tighten(self, low: np.ndarray, high: np.ndarray) -> AssignmentBounds | None:
        """Tighten bounds until nothing changes; None where they cross."""
        low = low.copy()
        high = high.copy()
        for _ in range(MAX_ROUNDS):
            changed = False
            for line, min_sum, max_sum in zip(self.lines, self.min_sums, self.max_sums, strict=True):
                lows = _sum_by(line, low, len(min_sum))
                highs = _sum_by(line, high, len(min_sum))
                if (lows > max_sum).any() or (highs < min_sum).any():
                    return None
                higher = np.maximum(low, (min_sum - highs)[line] + high)
                lower = np.minimum(high, (max_sum - lows)[line] + low)
                if (higher > lower).any():
                    return None
                changed = changed or bool((higher != low).any()) or bool((lower != high).any())
                low = higher
                high = lower
            if not changed:
                break
        return AssignmentBounds(self.lines, self.min_sums, self.max_sums, low, high)


def compute_tight_bounds(problem: AssignmentProblem) -> AssignmentBounds | None:
    """Compute the bounds of a part, as tight as they follow from each other.

    Return None where there are too many to be computed.

    Raises NoAssignmentError where they cross.
    """
    published = problem.published
    listed = problem.listed
    people = problem.people
    starts = np.searchsorted(listed.first, np.arange(problem.groups + 1))
    row, entry = _join_rows_with_values(published, starts)
    if len(row) > MAX_TRIPLES:
        return None
    keys = people.first * problem.values + people.second
    wanted = published.first[row] * problem.values + listed.second[entry]
    person = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    possible = keys[person] == wanted
    row = row[possible]
    entry = entry[possible]
    person = person[possible]
    high = np.minimum(np.minimum(published.count[row], listed.count[entry]), people.count[person])
    lacking = np.maximum(people.count - problem.spare[people.first], 0)
    start = AssignmentBounds(
        (row, entry, person),
        (published.count, listed.count, lacking),
        (published.count, listed.count, people.count),
        np.zeros(len(row), np.int64),
        high,
    )
    bounds = start.tighten(start.low, start.high)
    if bounds is None:
        raise NoAssignmentError("the bounds of who may have which value cross")
    return bounds


def search_assignment(bounds: AssignmentBounds) -> bool | None:
    """Try every value of each x, the narrowest first; None where the budget does not suffice."""
    if int((bounds.low < bounds.high).sum()) > MAX_SEARCH_TRIPLES:
        return None
    waiting = [bounds]
    for _ in range(min(SEARCH_NODES, SEARCH_WORK // len(bounds.low) + 1)):
        if not waiting:
            return False
        current = waiting.pop()
        slack = current.high - current.low
        if not slack.any():
            return True
        place = int(np.where(slack > 0, slack, np.iinfo(np.int64).max).argmin())
        lower = current.high.copy()
        higher = current.low.copy()
        lower[place] -= 1
        higher[place] = current.high[place]
        for low, high in ((current.low, lower), (higher, current.high)):
            narrowed = current.tighten(low, high)
            if narrowed is not None:
                waiting.append(narrowed)
    return None


def _decide(problem: AssignmentProblem, max_rows: int) -> str:
    """Decide what is left by exchanges and, in the components where they fail, by bounds and a search."""
    if not len(problem.published):
        return ASSIGNMENT_EXISTS
    rows = int(problem.published.count.sum())
    in_group = _sum_by(problem.published.second, problem.published.count, problem.groups)
    if rows > max_rows or float((in_group.astype(np.float64) ** 2).sum()) > MAX_PAIRS:
        return ASSIGNMENT_UNDECIDED
    exchange = ValueExchange(problem)
    if exchange.run(MAX_FIRST_LOOKS + 8 * rows):
        return ASSIGNMENT_EXISTS
    undecided = False
    parts = list(split_into_components(problem, exchange.combinations_with_excess()))
    tightened = [compute_tight_bounds(part) for part in parts]
    if exchange.run(min(MAX_FIRST_LOOKS + LOOKS_PER_ROW * rows, MAX_LOOKS)):
        return ASSIGNMENT_EXISTS
    for part, bounds in zip(parts, tightened, strict=True):
        if bounds is None:
            undecided = True
            continue
        exists = search_assignment(bounds)
        if exists is False:
            return NO_ASSIGNMENT
        if exists is None and not ValueExchange(part).run(MAX_FIRST_LOOKS):
            undecided = True
    return ASSIGNMENT_UNDECIDED if undecided else ASSIGNMENT_EXISTS


def _equals(wanted: PairTally, counted: PairTally) -> bool:
    """Tell whether two tallies, each in the order of its pairs, are the same."""
    return (
        np.array_equal(wanted.first, counted.first)
        and np.array_equal(wanted.second, counted.second)
        and np.array_equal(wanted.count, counted.count)
    )


def _count_pairs(first: np.ndarray, second: np.ndarray) -> PairTally:
    """Count equal pairs by sorting them, which costs less than `PairTally.add_up` of ones."""
    width = max(int(second.max(initial=0)) + 1, 1)
    keys = np.sort(first.astype(np.int64) * width + second)
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    return PairTally(keys[starts] // width, keys[starts] % width, np.diff(np.append(starts, len(keys))))


def _has_room(people: PairTally, counted: PairTally) -> bool:
    """Tell whether no pair was counted more often than people have it; pairs of `people` are in order."""
    if not len(people) or not len(counted):
        return not len(counted)
    width = int(max(people.second.max(), counted.second.max())) + 1
    keys = people.first * width + people.second
    wanted = counted.first * width + counted.second
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return bool(((keys[place] == wanted) & (people.count[place] >= counted.count)).all())


def _sum_by(codes: np.ndarray, count: np.ndarray, size: int) -> np.ndarray:
    """Sum the counts of each code, in whole numbers: sums in doubles are exact below 2^53."""
    return np.bincount(codes, weights=count, minlength=size).astype(np.int64)


def _fix_combinations(problem: AssignmentProblem) -> AssignmentProblem:
    """Take out people of a combination who share a value, or who are all in one group."""
    published = problem.published
    listed = problem.listed
    people_tally = problem.people
    values = np.bincount(people_tally.first, minlength=problem.combinations)
    groups = np.bincount(published.first, minlength=problem.combinations)
    one_value = values == 1
    one_group = (groups == 1) & (problem.spare == 0) & ~one_value
    value = np.zeros(problem.combinations, np.int64)
    value[people_tally.first] = people_tally.second
    group = np.zeros(problem.combinations, np.int64)
    group[published.first] = published.second
    single_value_rows = one_value[published.first]
    single_group_people = one_group[people_tally.first]
    if not single_value_rows.any() and not single_group_people.any():
        unpublished = groups[people_tally.first] == 0
        return problem.replace(published, listed, people_tally.select(~unpublished)) if unpublished.any() else problem
    fixed = one_value | one_group | (groups == 0)
    return problem.replace(
        published.select(~fixed[published.first]),
        listed.take_away(
            np.concatenate([published.second[single_value_rows], group[people_tally.first[single_group_people]]]),
            np.concatenate([value[published.first[single_value_rows]], people_tally.second[single_group_people]]),
            np.concatenate([published.count[single_value_rows], people_tally.count[single_group_people]]),
        ),
        people_tally.select(~fixed[people_tally.first]),
    )


def _fix_groups(problem: AssignmentProblem) -> AssignmentProblem:
    """Take out rows of groups in which one value, or one combination, is left."""
    published = problem.published
    listed = problem.listed
    people = problem.people
    one_value = np.bincount(listed.first, minlength=problem.groups) == 1
    one_combination = (np.bincount(published.second, minlength=problem.groups) == 1) & ~one_value
    value = np.zeros(problem.groups, np.int64)
    value[listed.first] = listed.second
    combination = np.zeros(problem.groups, np.int64)
    combination[published.second] = published.first
    single_value_rows = one_value[published.second]
    single_combination_entries = one_combination[listed.first]
    if not single_value_rows.any() and not single_combination_entries.any():
        return problem
    fixed = one_value | one_combination
    return problem.replace(
        published.select(~fixed[published.second]),
        listed.select(~fixed[listed.first]),
        people.take_away(
            np.concatenate([published.first[single_value_rows], combination[listed.first[single_combination_entries]]]),
            np.concatenate([value[published.second[single_value_rows]], listed.second[single_combination_entries]]),
            np.concatenate([published.count[single_value_rows], listed.count[single_combination_entries]]),
        ),
    )


def _list_possible_pairs(problem: AssignmentProblem) -> np.ndarray:
    """List pairs of a combination and a value, as one number each: those that people have, and those of one group.

    The latter are nobody's, but values may pass through them while they are exchanged; they are left out where there
    are too many.
    """
    people_pairs = problem.people.first * problem.values + problem.people.second
    starts = np.searchsorted(problem.listed.first, np.arange(problem.groups + 1))
    row, entry = _join_rows_with_values(problem.published, starts)
    if len(row) > MAX_PASSED_PAIRS:
        return people_pairs
    group_pairs = problem.published.first[row] * problem.values + problem.listed.second[entry]
    return np.union1d(people_pairs, group_pairs)


def _label_components(problem: AssignmentProblem) -> np.ndarray:
    """Label each combination with the least one that it is connected with."""
    label = np.arange(problem.combinations)
    combination = problem.published.first
    group = problem.published.second
    while True:
        of_group = np.full(problem.groups, problem.combinations, np.int64)
        np.minimum.at(of_group, group, label[combination])
        lower = label.copy()
        np.minimum.at(lower, combination, of_group[group])
        lower = lower[lower]
        if np.array_equal(lower, label):
            return label
        label = lower


def _join_rows_with_values(published: PairTally, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Join each entry of `published` with each value that its group lists.

    Return nothing but the length where there are too many.
    """
    entries = np.diff(starts)[published.second]
    total = int(entries.sum())
    if total > MAX_PASSED_PAIRS:
        return np.broadcast_to(np.int64(0), total), np.broadcast_to(np.int64(0), total)
    row = np.repeat(np.arange(len(published)), entries)
    offset = np.arange(total) - np.repeat(np.cumsum(entries) - entries, entries)
    return row, np.repeat(starts[published.second], entries) + offset
