"""Tests of whether values were drawn or redrawn as stated. An honest release fails with a probability that is bounded.

Redrawn by a matrix (`score_blocks`, `PartitionSums`). Each row's value v_i was replaced by v with probability M[i][v],
independently. So each of these is a sum of independent variables between 0 and 1 whose mean and variance are known from
the source, and a bound on its tail (`bound_log_tail`) is a p-value:

    transitions   of the rows known to have held v_i, how many show v
    margins       of all rows, how many show v: mean sum_i n_i M[i][v]
    likeness      the sum of c(b, v) over the rows, v the value that a row of block b shows and c(b, v) the share of
                  the block's source rows that hold v. In a block of one row, c is whether the value was kept; in
                  others, how like the block is to itself
    unchanged     of the blocks with several values, how many show just the values they held. A block shows its most
                  frequent value v as often as before with a probability of at most eta / sigma_v (Baillon, Cominetti
                  & Vaisman 2016, eta < 0.469), and of at most the tail's bound

over all rows and over each part of them. The values that a forged release would show instead (nothing redrawn, or half
of it) are put to the same tests: whether they would have detected it is known from the source alone.

Drawn from a group and perturbed (`assess_draws`). Of group g, with n_v of its G people at v, a published value is v
with probability t_v = p n_v / G + (1 - p) / m, independently of other groups. So each of these is again such a sum,
with a p-value by the same bound, and all of them share one significance (Bonferroni):

    margins       how many rows show v, for each v
    likeness      the sum of c(g, y) over rows, the share of the group that holds the value shown: too high where p is
                  not as small as stated

Several rows of a group are drawn without replacement, so they depend on each other; the bounds stand. With f(x) > 0 the
mean of exp(s c(g, y)) where a drawn person has x, the mean of exp(s sum of c) is that of exp(sum of ln f(x_j)), and a sum
over draws without replacement has no greater mean of a convex function than one over draws with replacement (Hoeffding
1963, theorem 4): there it is the product of the draws' own. Both bounds below are bounds on that product.

`scan_regions` tests whether values were left as they were among neighbours. Of group g the ratio
(q c + (1 - q) / m) / (p c + (1 - p) / m), c the share that holds the value it shows, has the mean 1 in an honest
release, and the product over the rows of any groups has a mean of at most 1, by the same theorem: it is at least 1 / a
with a probability of at most a (Markov). The greatest
product over all stretches of groups that are neighbours by some column, and over rectangles of two columns' bands,
times their number is a p-value, for a q of nearly 1 (nothing was redrawn) and for one halfway to it. Half of the
significance is that of the regions.

Tails of sums of independent variables between 0 and 1. With n summands, mean mu, variance V and an observed sum x at
distance t = |x - mu| from the mean, the probability of a sum as far out on the same side is at most

    exp(-n KL(x/n || mu/n))                         Hoeffding 1963, theorem 1: Chernoff's bound for a binomial
    exp(-V h(t/V)), h(u) = (1 + u) ln(1 + u) - u    Bennett 1962, the sharper one where the variance is small

and the smaller of the two is taken. Rounding is outward: adding n numbers between 0 and 1 errs by less than n * 2^-52
relatively, so mean, n - mean (`rest`, passed separately so that it is as accurate) and variance are made larger by that
much, x is moved towards the mean, and the exponent made smaller. What cannot happen at all (x > 0 = mean, or x < n =
mean) keeps the probability 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import exp, inf, log

import numpy as np
from numpy.typing import ArrayLike

from reticent.audit.row_matching import BlockEntries, LinkedBlocks

_UNIT_ROUNDING = 2.0**-52
_TERM_ERROR = 2.0**-48  # the product with a logarithm errs by less, relatively
DRAW_SIGNIFICANCE = 2e-9  # six standard deviations, on both sides
UNPERTURBED_SHARE = 0.999  # of the values, kept in a region that was not redrawn
BANDS_PER_COLUMN = 8  # bands of a column, where cells of two columns are tested
MAX_PAIRED_COLUMNS = 8
LOG_SLACK = 1e-6  # more than sums of logarithms are off by
DETECTABLE_DEVIATIONS = 3.0  # below its mean, a region that was not redrawn is still found
TEST_KINDS = ("likeness", "unchanged", "margins", "transitions")
MODE_PROBABILITY_FACTOR = 0.469
MAX_TRANSITION_ENTRIES = 1 << 20  # in all tables of a partition; larger ones are tested without transitions
VALUE_PAIRS_PER_CHUNK = 1 << 21  # pairs of values computed together
DENSE_BLOCK_RATIO = 7  # a block with more than one in so many of all values is multiplied by the whole matrix


@dataclass(frozen=True, slots=True)
class RegionScan:
    """Result of the scan of regions.

    `worst` is the natural logarithm of the least p-value, times the number of `tests`; `region` and `groups` describe
    its region.

    Wherever `detectable_groups` neighbouring groups or more were left as they were, by any column, it would be detected; None:
    nowhere.
    """

    tests: float
    worst: float
    region: str
    groups: int
    detectable_groups: int | None


NO_REGION_SCAN = RegionScan(0, 0.0, "", 0, None)


@dataclass(frozen=True, slots=True)
class DrawAssessment:
    """Result of testing the draws of so many `values`: `worst` is the least p-value times the number of tests.

    `has_power`: values left as they were would have been detected.
    """

    values: int
    tests: int
    worst: float
    has_power: bool
    regions: RegionScan = NO_REGION_SCAN

    @property
    def passed(self) -> bool:
        return self.worst > DRAW_SIGNIFICANCE


def assess_draws(
    group: np.ndarray,
    value: np.ndarray,
    count: np.ndarray,
    published: np.ndarray,
    p: float,
    m: int,
    places: Mapping[str, np.ndarray] | None = None,
    group_of_row: np.ndarray | None = None,
) -> DrawAssessment:
    """Test whether the published values of each group look like values drawn from it and perturbed.

    `count` people of `group` have `value` (each pair once); `published` is the published value of each row, and
    `group_of_row` its group (None: one row of each group, in their order). `places` has, by column, where each group
    lies: the published values must not influence it.
    """
    rows = len(published)
    group_of_row = np.arange(rows) if group_of_row is None else group_of_row
    drawn = np.bincount(group_of_row).astype(np.float64)  # rows of each group
    groups = len(drawn)
    size = np.bincount(group, weights=count, minlength=groups)
    share = count / size[group]
    noise = (1 - p) / m
    chance = p * share + noise  # of showing this value
    own = _find_own_shares(group * m + value, share, group_of_row * m + published)
    margins = _compute_margins(value, published, share, drawn[group], p, m)
    mean_of = np.bincount(group, weights=chance * share, minlength=groups)
    square = np.bincount(group, weights=chance * share**2, minlength=groups)
    mean = float(drawn @ mean_of)
    variance = float(drawn @ np.maximum(square - mean_of**2, 0))

    def likeness(x: float) -> float:
        return float(bound_log_two_sided(x, mean, rows - mean, variance, rows))

    tests = m + 1
    worst = min(float(margins.min()), likeness(float(own.sum()))) + log(tests)
    regions = NO_REGION_SCAN
    if places:
        logs = np.log(_compute_likelihood_ratio(share, UNPERTURBED_SHARE, p, m))
        expected = np.bincount(group, weights=share * logs, minlength=groups)
        squared = np.bincount(group, weights=share * logs**2, minlength=groups)
        spread = np.maximum(squared - expected**2, 0.0)
        regions = scan_regions(own, drawn * expected, drawn * spread, p, m, places, group_of_row)
        worst = min(worst, regions.worst) + log(2)
    significance = log(DRAW_SIGNIFICANCE) - (log(2) if places else 0.0)  # half of it is that of the regions
    unperturbed_sum = float(
        drawn @ np.bincount(group, weights=share**2, minlength=groups)
    )  # if no value were perturbed
    has_power = likeness(unperturbed_sum) + log(tests) <= significance
    return DrawAssessment(rows, tests, exp(min(worst, 0.0)), has_power, regions)


def scan_regions(
    own: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
    p: float,
    m: int,
    places: Mapping[str, np.ndarray],
    group_of_row: np.ndarray,
) -> RegionScan:
    """Find the stretch or cell of groups that looks least as if its values had been redrawn.

    `own` is, for each row, the share of its group that holds the value it shows; `mean` and `variance` are those of the
    logarithm of a group's ratio, the product of its rows', if it had not been redrawn.
    """
    groups = len(mean)
    orders = order_neighbours(places)
    grids = _assign_grid_cells(places)
    stretches = len(orders) * groups * (groups + 1) / 2
    tests = 2 * (stretches + len(grids) * (BANDS_PER_COLUMN * (BANDS_PER_COLUMN + 1) // 2) ** 2)
    best = -inf
    region = ""
    size = 0
    for q in (UNPERTURBED_SHARE, (1 + p) / 2):
        row_logs = np.log(_compute_likelihood_ratio(own, q, p, m))
        logs = np.bincount(group_of_row, weights=row_logs, minlength=groups)
        for name, order in orders.items():
            total, length = _find_greatest_stretch(logs[order])
            if total > best:
                best = total
                region = name
                size = length
        for name, cell in grids.items():
            total, length = _find_greatest_rectangle(cell, logs)
            if total > best:
                best = total
                region = name
                size = length
    worst = min(log(tests) - best + LOG_SLACK, 0.0)
    needed = log(tests) + log(2) - log(DRAW_SIGNIFICANCE) + LOG_SLACK
    return RegionScan(tests, worst, region, size, _find_least_stretch(mean, variance, orders, needed))


def order_neighbours(places: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Order the groups by each column; those at one place by the other columns."""
    orders = {}
    for name, place in places.items():
        others = [other for key, other in places.items() if key != name]
        orders[name] = np.lexsort((*others, place))
    return orders


@dataclass(frozen=True, eq=False)
class TransitionMatrix:
    """The matrix in floating point; `rest` is 1 - M, rounded from exact numbers so that a small one is as accurate."""

    chance: np.ndarray
    rest: np.ndarray
    variance: np.ndarray

    @classmethod
    def from_fractions(cls, exact: Sequence[Sequence[Fraction]]) -> TransitionMatrix:
        distinct = {id(entry): entry for row in exact for entry in row}  # few of the entries are distinct
        floats = {key: (float(entry), float(1 - entry)) for key, entry in distinct.items()}
        pairs = np.array([[floats[id(entry)] for entry in row] for row in exact], np.float64)
        chance = np.ascontiguousarray(pairs[..., 0])
        rest = np.ascontiguousarray(pairs[..., 1])
        return cls(chance, rest, chance * rest)

    def __len__(self) -> int:
        return len(self.chance)


@dataclass(frozen=True, eq=False)
class BlockScores:
    """Likeness of each block: as published, expected, its variance, and if nothing was redrawn (`itself`).

    `mean` is expected, and `rest` the number of rows less that. Also whether the block held `several` values, shows them `unchanged`, and a bound on the chance of that.
    """

    likeness: np.ndarray
    mean: np.ndarray
    rest: np.ndarray
    variance: np.ndarray
    itself: np.ndarray
    several: np.ndarray
    unchanged: np.ndarray
    chance: np.ndarray


def score_blocks(blocks: LinkedBlocks, matrix: TransitionMatrix) -> BlockScores:
    """Score how like each block is to itself, as published and as the matrix makes expect."""
    source_entries = blocks.source_entries
    published_entries = blocks.published_entries
    size = len(blocks.sizes)
    share = source_entries.count / blocks.sizes[source_entries.block]
    entry = _find_entries(source_entries, published_entries, len(matrix))
    like = published_entries.count * np.where(entry >= 0, share[entry], 0.0)
    mean, square = _compute_moments(source_entries, share, matrix, size)
    single = blocks.single
    alone = single[source_entries.block]
    rest = np.where(alone, matrix.rest[source_entries.value, source_entries.value], np.maximum(1 - mean, 0.0))
    variance = np.where(
        alone,
        matrix.variance[source_entries.value, source_entries.value],
        np.maximum(square - mean**2, 0.0) + 2.0**-50 * square,
    )

    def total(weights: np.ndarray, of: BlockEntries = source_entries) -> np.ndarray:
        return np.bincount(of.block, weights=weights, minlength=size)

    is_unchanged = total(
        (entry >= 0) & (published_entries.count == source_entries.count[entry]), published_entries
    ) == total(np.ones(len(source_entries)))
    return BlockScores(
        likeness=total(like, published_entries),
        mean=total(source_entries.count * mean),
        rest=total(source_entries.count * rest),
        variance=total(source_entries.count * variance),
        itself=total(source_entries.count * share),
        several=~single,
        unchanged=is_unchanged & ~single,
        chance=_bound_chance_of_no_change(blocks, matrix, ~single),
    )


@dataclass(frozen=True, eq=False)
class PartitionTests:
    """Tests of one partition: for each kind, how many tests, the least ln p of each part, and which test that was."""

    tests: dict[str, int]
    logs: dict[str, np.ndarray]
    worst_tests: dict[str, np.ndarray]


class PartitionSums:
    """Sums of the blocks over the parts of one partition; `part` is that of each block."""

    def __init__(
        self, blocks: LinkedBlocks, scores: BlockScores, matrix: TransitionMatrix, part: np.ndarray, size: int
    ):
        m = len(matrix)
        self.matrix = matrix
        self.size = size

        def sum_by_part(weights: np.ndarray, mask: slice | np.ndarray = slice(None)) -> np.ndarray:
            return np.bincount(part[mask], weights=weights[mask], minlength=size)

        def table(of: BlockEntries, width: int, code: np.ndarray, mask: slice | np.ndarray = slice(None)) -> np.ndarray:
            key = part[of.block[mask]] * width + code[mask]
            return np.bincount(key, weights=of.count[mask], minlength=size * width).reshape(size, -1, m)

        source_entries = blocks.source_entries
        published_entries = blocks.published_entries
        self.source_counts = table(source_entries, m, source_entries.value)[:, 0]
        self.published_counts = table(published_entries, m, published_entries.value)[:, 0]
        self.rows = self.source_counts.sum(axis=1)
        self.likeness, self.mean, self.rest, self.variance, self.itself = map(
            sum_by_part, (scores.likeness, scores.mean, scores.rest, scores.variance, scores.itself)
        )
        mixed = np.flatnonzero(scores.several)
        self.blocks, self.unchanged, self.chance = (
            sum_by_part(block_scores, mixed) for block_scores in (scores.several, scores.unchanged, scores.chance)
        )
        self.moved = None
        if size * m * m <= MAX_TRANSITION_ENTRIES or size == 1:
            source_value = np.zeros(len(blocks.sizes), np.int64)
            source_value[source_entries.block] = source_entries.value
            single_entries = np.flatnonzero(~scores.several[published_entries.block])
            self.moved = table(
                published_entries,
                m * m,
                source_value[published_entries.block] * m + published_entries.value,
                single_entries,
            )

    def run_tests(self, share: float | None = None) -> PartitionTests:
        """Run the tests on what is published.

        With `share`, run them on what is expected if that share of the rows was left as it was.
        """
        matrix = self.matrix
        mean, rest, variance = (self.source_counts @ table for table in (matrix.chance, matrix.rest, matrix.variance))

        def instead(observed: np.ndarray, itself: np.ndarray, expected: np.ndarray) -> np.ndarray:
            return observed if share is None else share * itself + (1 - share) * expected

        like = instead(self.likeness, self.itself, self.mean)
        unchanged = self.unchanged if share is None else self.blocks * (share == 1)
        margin = instead(self.published_counts, self.source_counts, mean)
        excess_bound = bound_log_tail(unchanged, self.chance, self.blocks - self.chance, self.chance, self.blocks)
        logs = {
            "likeness": bound_log_two_sided(like, self.mean, self.rest, self.variance, self.rows)[:, None],
            "unchanged": np.where(unchanged > self.chance, excess_bound, 0.0)[:, None],
            "margins": bound_log_two_sided(margin, mean, rest, variance, self.rows[:, None]),
        }
        tests = {"likeness": self.rows > 0, "unchanged": self.blocks > 0, "margins": (mean > 0) & (rest > 0)}
        if self.moved is not None:
            rows = self.moved.sum(axis=2, keepdims=True)
            moved = instead(self.moved, rows * np.eye(len(matrix)), rows * matrix.chance)
            mean, rest, variance = (rows * table for table in (matrix.chance, matrix.rest, matrix.variance))
            bounds = bound_log_two_sided(moved, mean, rest, variance, rows)
            logs["transitions"] = bounds.reshape(self.size, -1)
            tests["transitions"] = np.broadcast_to(rows > 0, self.moved.shape)
        return PartitionTests(
            {kind: int(applies.sum()) for kind, applies in tests.items()},
            {kind: bounds.min(axis=1) for kind, bounds in logs.items()},
            {kind: bounds.argmin(axis=1) for kind, bounds in logs.items()},
        )


def bound_log_two_sided(
    x: ArrayLike, mean: ArrayLike, rest: ArrayLike, variance: ArrayLike, n: ArrayLike
) -> np.ndarray:
    """Bound ln of twice the tail on the observed side; at most 0."""
    return np.minimum(bound_log_tail(x, mean, rest, variance, n) + np.log(2), 0.0)


def bound_log_tail(x: ArrayLike, mean: ArrayLike, rest: ArrayLike, variance: ArrayLike, n: ArrayLike) -> np.ndarray:
    """Bound ln of the tail on the observed side; at most 0, -inf for what cannot happen."""
    x, mean, rest, variance, n = np.broadcast_arrays(*(np.asarray(a, np.float64) for a in (x, mean, rest, variance, n)))
    error = (n + 8) * _UNIT_ROUNDING
    t = np.maximum(np.abs(x - mean) - error * n, 0.0)
    moved = np.clip(np.where(x > mean, mean + t, mean - t), 0.0, n)
    mean, rest, variance = (a * (1 + error) for a in (mean, rest, variance))
    exponent = np.maximum(_bound_chernoff(moved, n - moved, mean, rest), _bound_bennett(t, variance))
    return -np.where(t > 0, exponent, 0.0)


def _find_own_shares(pairs: np.ndarray, share: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Find the share of each row's group that holds the value it shows; `pairs` and `shown` number groups with values."""
    order = np.argsort(pairs)
    position = np.minimum(np.searchsorted(pairs[order], shown), len(pairs) - 1)
    return np.where(pairs[order][position] == shown, share[order][position], 0.0)


def _compute_margins(
    value: np.ndarray, published: np.ndarray, share: np.ndarray, drawn: np.ndarray, p: float, m: int
) -> np.ndarray:
    """Bound how likely as many rows show each value; of each pair of group and value, `drawn` rows are the group's."""
    rows = len(published)
    noise = (1 - p) / m
    expected_holders = np.bincount(value, weights=drawn * share, minlength=m)
    extra_squares = np.bincount(value, weights=drawn * ((p * share + noise) ** 2 - noise**2), minlength=m)
    mean = p * expected_holders + rows * noise
    variance = np.maximum(mean - (extra_squares + rows * noise**2), 0)
    observed = np.bincount(published, minlength=m).astype(np.float64)
    return bound_log_two_sided(observed, mean, rows - mean, variance, np.full(m, rows))


def _compute_likelihood_ratio(share: np.ndarray, q: float, p: float, m: int) -> np.ndarray:
    """Compute how much likelier the shown value is if values are retained with q instead of p.

    `share` is that of the group's people who have the value.
    """
    ratio: np.ndarray = (q * share + (1 - q) / m) / (p * share + (1 - p) / m)
    return ratio


def _assign_grid_cells(places: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Assign each group to a cell by two columns, each cut into bands of about as many groups."""
    bands = {}
    for name, place in places.items():
        ranks = np.unique(place, return_inverse=True)[1].reshape(-1)
        before = np.cumsum(np.bincount(ranks)) - np.bincount(ranks)
        bands[name] = before[ranks] * BANDS_PER_COLUMN // len(place)
    several = sorted(bands, key=lambda name: -len(np.unique(places[name])))[:MAX_PAIRED_COLUMNS]
    return {
        f"{first} and {second}": bands[first] * BANDS_PER_COLUMN + bands[second]
        for first, second in combinations(several, 2)
    }


def _find_greatest_stretch(logs: np.ndarray) -> tuple[float, int]:
    """Find the greatest sum over consecutive numbers, and how many they are."""
    begin, end = _find_stretch(logs)
    return float(logs[begin:end].sum()), end - begin


def _find_greatest_rectangle(cell: np.ndarray, logs: np.ndarray) -> tuple[float, int]:
    """Find the greatest sum over consecutive bands of one column and of another, and how many groups have it."""
    best = -inf
    size = 0
    sums, counts = (
        np.bincount(cell, weights=weights, minlength=BANDS_PER_COLUMN * BANDS_PER_COLUMN).reshape(
            BANDS_PER_COLUMN, BANDS_PER_COLUMN
        )
        for weights in (logs, np.ones(len(cell)))
    )
    for top in range(BANDS_PER_COLUMN):
        for bottom in range(top, BANDS_PER_COLUMN):
            total, _ = _find_greatest_stretch(sums[top : bottom + 1].sum(axis=0))
            if total > best:
                row = sums[top : bottom + 1].sum(axis=0)
                group_counts = counts[top : bottom + 1].sum(axis=0)
                begin, end = _find_stretch(row)
                best = total
                size = int(group_counts[begin:end].sum())
    return best, size


def _find_least_stretch(
    mean: np.ndarray, variance: np.ndarray, orders: Mapping[str, np.ndarray], needed: float
) -> int | None:
    """Find how many neighbouring groups would be detected, wherever they lie, if their values had not been redrawn."""

    def is_found(length: int) -> bool:
        for order in orders.values():
            sums = np.append(0.0, np.cumsum(mean[order]))
            spreads = np.append(0.0, np.cumsum(variance[order]))
            total = sums[length:] - sums[:-length]
            spread = np.sqrt(np.maximum(spreads[length:] - spreads[:-length], 0.0))
            if (total - DETECTABLE_DEVIATIONS * spread < needed).any():
                return False
        return True

    low = 1
    high = len(mean)
    if not orders or not is_found(high):
        return None
    while low < high:
        middle = (low + high) // 2
        if is_found(middle):
            high = middle
        else:
            low = middle + 1
    return high


def _find_entries(source_entries: BlockEntries, published_entries: BlockEntries, m: int) -> np.ndarray:
    """Find the entry of `source_entries` with the block and value of each of `published_entries`, -1 where there is none."""
    keys = source_entries.block * m + source_entries.value
    wanted = published_entries.block * m + published_entries.value
    position = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return np.where(keys[position] == wanted, position, -1) if len(keys) else np.full(len(wanted), -1)


def _compute_moments(
    source_entries: BlockEntries, share: np.ndarray, matrix: TransitionMatrix, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Compute, for each entry's rows, the mean of c(b, v) and of its square, v redrawn."""
    width = np.bincount(source_entries.block, minlength=size)
    start = np.append(0, np.cumsum(width))
    mean = np.zeros(len(source_entries))
    square = np.zeros(len(source_entries))
    dense = width * DENSE_BLOCK_RATIO > max(len(matrix), 2 * DENSE_BLOCK_RATIO)
    entries = np.flatnonzero(~dense[source_entries.block])
    pairs = np.cumsum(width[source_entries.block[entries]])
    total_pairs = pairs[-1] if len(pairs) else 0
    cuts = np.searchsorted(pairs, np.arange(VALUE_PAIRS_PER_CHUNK, total_pairs, VALUE_PAIRS_PER_CHUNK))
    for part in np.split(entries, cuts):
        widths = width[source_entries.block[part]]
        begins = np.append(0, np.cumsum(widths))
        if not begins[-1]:
            continue
        other = np.arange(begins[-1]) + np.repeat(start[source_entries.block[part]] - begins[:-1], widths)
        chance = (
            matrix.chance[np.repeat(source_entries.value[part], widths), source_entries.value[other]] * share[other]
        )
        mean[part] = np.add.reduceat(chance, begins[:-1])
        square[part] = np.add.reduceat(chance * share[other], begins[:-1])
    wide = np.flatnonzero(dense)
    for blocks_of_chunk in np.array_split(wide, len(wide) * len(matrix) // VALUE_PAIRS_PER_CHUNK + 1):
        row = np.full(size, -1)
        row[blocks_of_chunk] = np.arange(len(blocks_of_chunk))
        entries_of_chunk = np.flatnonzero(row[source_entries.block] >= 0)
        cells = row[source_entries.block[entries_of_chunk]], source_entries.value[entries_of_chunk]
        table = np.zeros((len(blocks_of_chunk), len(matrix)))
        table[cells] = share[entries_of_chunk]
        mean[entries_of_chunk] = (table @ matrix.chance.T)[cells]
        square[entries_of_chunk] = (table**2 @ matrix.chance.T)[cells]
    return mean, square


def _bound_chance_of_no_change(blocks: LinkedBlocks, matrix: TransitionMatrix, several: np.ndarray) -> np.ndarray:
    """Bound, for each block with several values, how likely it shows its most frequent one as often as it held it."""
    size = len(blocks.sizes)
    entries = np.flatnonzero(several[blocks.source_entries.block])
    block, value, count = (
        a[entries] for a in (blocks.source_entries.block, blocks.source_entries.value, blocks.source_entries.count)
    )
    highest_count = np.zeros(size, np.int64)
    np.maximum.at(highest_count, block, count)
    top = np.zeros(size, np.int64)
    is_highest = count == highest_count[block]
    top[block[is_highest]] = value[is_highest]
    mean, rest, variance = (
        np.bincount(block, weights=count * table[value, top[block]], minlength=size)[several]
        for table in (matrix.chance, matrix.rest, matrix.variance)
    )
    spread = np.divide(
        MODE_PROBABILITY_FACTOR, np.sqrt(variance), out=np.ones(len(mean)), where=variance > MODE_PROBABILITY_FACTOR**2
    )
    chance = np.zeros(size)
    chance[several] = np.minimum(
        spread, np.exp(bound_log_tail(highest_count[several], mean, rest, variance, blocks.sizes[several]))
    )
    return chance


def _bound_chernoff(x: np.ndarray, others: np.ndarray, mean: np.ndarray, rest: np.ndarray) -> np.ndarray:
    upper_term = _multiply_log_ratio(x, mean)
    lower_term = _multiply_log_ratio(others, rest)
    impossible = np.isinf(upper_term) | np.isinf(lower_term)
    upper_term = np.where(impossible, 0.0, upper_term)
    lower_term = np.where(impossible, 0.0, lower_term)
    return np.where(
        impossible,
        np.inf,
        np.maximum(upper_term + lower_term - _TERM_ERROR * (np.abs(upper_term) + np.abs(lower_term)), 0.0),
    )


def _bound_bennett(t: np.ndarray, variance: np.ndarray) -> np.ndarray:
    ratio = np.divide(t, variance, out=np.full(t.shape, np.inf), where=variance > 0)
    finite = np.isfinite(ratio)
    grown = (variance + t) * np.log1p(np.where(finite, ratio, 0.0))
    return np.where(finite, np.maximum(grown * (1 - _TERM_ERROR) - t * (1 + _TERM_ERROR), 0.0), np.inf)


def _find_stretch(logs: np.ndarray) -> tuple[int, int]:
    """Find where the consecutive numbers with the greatest sum begin and end."""
    until = np.append(0.0, np.cumsum(logs))
    lowest = np.minimum.accumulate(until)
    end = int((until[1:] - lowest[:-1]).argmax())
    return int(until[: end + 1].argmin()), end + 1


def _multiply_log_ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compute a ln(a / b), 0 at a = 0, infinite where b = 0 < a."""
    ratio = np.divide(a, b, out=np.full(a.shape, np.inf), where=b > 0)
    ratio[a <= 0] = 1.0
    return a * np.log(ratio)
