"""Were the values of these blocks redrawn by this matrix?  An honest release fails with a probability that is bounded.

Each row's value v_i was replaced by v with probability M[i][v], independently.  So each of these is a sum of
independent variables between 0 and 1 whose mean and variance are known from the source, and a bound on its tail
(`tails`) is a p-value:

    transitions   of the rows known to have held v_i, how many show v
    margins       of all rows, how many show v: mean sum_i n_i M[i][v]
    likeness      the sum of c(b, v) over the rows, v the value that a row of block b shows and c(b, v) the share of
                  the block's source rows that hold v.  Of a block of one row, c says whether the value was kept; of
                  others, how like the block is to itself
    unchanged     of the blocks with several values, how many show just the values they held.  A block shows its most
                  frequent value v as often as before with a probability of at most eta / sigma_v (Baillon, Cominetti
                  & Vaisman 2016, eta < 0.469), and of at most the tail's bound

over all rows and over each part of them.  What a forged release would show instead (nothing redrawn, or half of it) is
put to the same tests: whether they would have found it is known from the source alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from reticent.audit.linking import Blocks, Entries
from reticent.audit.measure.tails import log_tail, log_two_sided

KINDS = ("likeness", "unchanged", "margins", "transitions")
ETA = 0.469
TABLE = 1 << 20  # numbers in all transition tables of a partition; beyond, its parts are tested without them
PIECE = 1 << 21  # pairs of values looked at together
DENSE = 7  # a block with more than one in so many of all values is multiplied by the whole matrix


@dataclass(frozen=True, eq=False)
class Matrix:
    """The matrix in floating point; `rest` is 1 - M, rounded from exact numbers so that a small one is as accurate."""

    chance: np.ndarray
    rest: np.ndarray
    variance: np.ndarray

    @classmethod
    def of(cls, exact: Sequence[Sequence[Fraction]]) -> Matrix:
        known = {id(entry): entry for row in exact for entry in row}  # few of the entries are distinct
        floats = {key: (float(entry), float(1 - entry)) for key, entry in known.items()}
        both = np.array([[floats[id(entry)] for entry in row] for row in exact], np.float64)
        chance, rest = np.ascontiguousarray(both[..., 0]), np.ascontiguousarray(both[..., 1])
        return cls(chance, rest, chance * rest)

    def __len__(self) -> int:
        return len(self.chance)


@dataclass(frozen=True, eq=False)
class Scores:
    """Of each block its likeness: as published, expected (and n less that), the variance, and if nothing was redrawn.

    And whether it held `several` values, shows them `unchanged`, and a bound on the chance of that.
    """

    likeness: np.ndarray
    mean: np.ndarray
    rest: np.ndarray
    variance: np.ndarray
    itself: np.ndarray
    several: np.ndarray
    unchanged: np.ndarray
    chance: np.ndarray


def scores(blocks: Blocks, matrix: Matrix) -> Scores:
    held, shown, size = blocks.held, blocks.shown, len(blocks.sizes)
    share = held.count / blocks.sizes[held.block]
    at = _found(held, shown, len(matrix))
    like = shown.count * np.where(at >= 0, share[at], 0.0)
    mean, square = _moments(held, share, matrix, size)
    single = blocks.single
    alone = single[held.block]
    rest = np.where(alone, matrix.rest[held.value, held.value], np.maximum(1 - mean, 0.0))
    variance = np.where(
        alone, matrix.variance[held.value, held.value], np.maximum(square - mean**2, 0.0) + 2.0**-50 * square
    )

    def total(weights: np.ndarray, of: Entries = held) -> np.ndarray:
        return np.bincount(of.block, weights=weights, minlength=size)

    same = total((at >= 0) & (shown.count == held.count[at]), shown) == total(np.ones(len(held)))
    return Scores(
        likeness=total(like, shown),
        mean=total(held.count * mean),
        rest=total(held.count * rest),
        variance=total(held.count * variance),
        itself=total(held.count * share),
        several=~single,
        unchanged=same & ~single,
        chance=_chance_of_no_change(blocks, matrix, ~single),
    )


def _found(held: Entries, shown: Entries, m: int) -> np.ndarray:
    """The entry of `held` with the block and value of each of `shown`, -1 where there is none."""
    keys, wanted = held.block * m + held.value, shown.block * m + shown.value
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return np.where(keys[at] == wanted, at, -1) if len(keys) else np.full(len(wanted), -1)


def _moments(held: Entries, share: np.ndarray, matrix: Matrix, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each entry's rows, the mean of c(b, v) and of its square, v redrawn."""
    width = np.bincount(held.block, minlength=size)
    start = np.append(0, np.cumsum(width))
    mean, square = np.zeros(len(held)), np.zeros(len(held))
    dense = width * DENSE > max(len(matrix), 2 * DENSE)
    entries = np.flatnonzero(~dense[held.block])
    pairs = np.cumsum(width[held.block[entries]])
    for part in np.split(entries, np.searchsorted(pairs, np.arange(PIECE, pairs[-1] if len(pairs) else 0, PIECE))):
        many = width[held.block[part]]
        begins = np.append(0, np.cumsum(many))
        if not begins[-1]:
            continue
        other = np.arange(begins[-1]) + np.repeat(start[held.block[part]] - begins[:-1], many)
        chance = matrix.chance[np.repeat(held.value[part], many), held.value[other]] * share[other]
        mean[part] = np.add.reduceat(chance, begins[:-1])
        square[part] = np.add.reduceat(chance * share[other], begins[:-1])
    wide = np.flatnonzero(dense)
    for some in np.array_split(wide, len(wide) * len(matrix) // PIECE + 1):
        row = np.full(size, -1)
        row[some] = np.arange(len(some))
        here = np.flatnonzero(row[held.block] >= 0)
        at = row[held.block[here]], held.value[here]
        table = np.zeros((len(some), len(matrix)))
        table[at] = share[here]
        mean[here], square[here] = (table @ matrix.chance.T)[at], (table**2 @ matrix.chance.T)[at]
    return mean, square


def _chance_of_no_change(blocks: Blocks, matrix: Matrix, several: np.ndarray) -> np.ndarray:
    """For each block with several values, at most how likely it shows its most frequent one as often as it held it."""
    size, entries = len(blocks.sizes), np.flatnonzero(several[blocks.held.block])
    block, value, count = (a[entries] for a in (blocks.held.block, blocks.held.value, blocks.held.count))
    most = np.zeros(size, np.int64)
    np.maximum.at(most, block, count)
    top = np.zeros(size, np.int64)
    of_most = count == most[block]
    top[block[of_most]] = value[of_most]
    mean, rest, variance = (np.bincount(block, weights=count * table[value, top[block]], minlength=size)[several]
                            for table in (matrix.chance, matrix.rest, matrix.variance))  # fmt: skip
    spread = np.divide(ETA, np.sqrt(variance), out=np.ones(len(mean)), where=variance > ETA**2)
    chance = np.zeros(size)
    chance[several] = np.minimum(spread, np.exp(log_tail(most[several], mean, rest, variance, blocks.sizes[several])))
    return chance


@dataclass(frozen=True, eq=False)
class Tested:
    """One partition: for each kind, how many tests, the least ln p of each part, and which test that was."""

    tests: dict[str, int]
    logs: dict[str, np.ndarray]
    which: dict[str, np.ndarray]


class Parts:
    """The blocks summed up over the parts of one partition; `part` is that of each block."""

    def __init__(self, blocks: Blocks, found: Scores, matrix: Matrix, part: np.ndarray, size: int):
        m = len(matrix)
        self.matrix, self.size = matrix, size

        def over(weights: np.ndarray, within: slice | np.ndarray = slice(None)) -> np.ndarray:
            return np.bincount(part[within], weights=weights[within], minlength=size)

        def table(of: Entries, width: int, code: np.ndarray, within: slice | np.ndarray = slice(None)) -> np.ndarray:
            key = part[of.block[within]] * width + code[within]
            return np.bincount(key, weights=of.count[within], minlength=size * width).reshape(size, -1, m)

        held, shown = blocks.held, blocks.shown
        self.held, self.shown = table(held, m, held.value)[:, 0], table(shown, m, shown.value)[:, 0]
        self.rows = self.held.sum(axis=1)
        self.likeness, self.mean, self.rest, self.variance, self.itself = map(
            over, (found.likeness, found.mean, found.rest, found.variance, found.itself)
        )
        mixed = np.flatnonzero(found.several)
        self.blocks, self.unchanged, self.chance = (
            over(each, mixed) for each in (found.several, found.unchanged, found.chance)
        )
        self.moved = None
        if size * m * m <= TABLE or size == 1:
            true = np.zeros(len(blocks.sizes), np.int64)
            true[held.block] = held.value
            known = np.flatnonzero(~found.several[shown.block])
            self.moved = table(shown, m * m, true[shown.block] * m + shown.value, known)

    def tested(self, share: float | None = None) -> Tested:
        """As published; or as it is expected to be where a `share` of the rows was left as it was."""
        matrix, stay = self.matrix, share
        mean, rest, variance = (self.held @ table for table in (matrix.chance, matrix.rest, matrix.variance))

        def instead(observed: np.ndarray, itself: np.ndarray, expected: np.ndarray) -> np.ndarray:
            return observed if stay is None else stay * itself + (1 - stay) * expected

        like = instead(self.likeness, self.itself, self.mean)
        same = self.unchanged if stay is None else self.blocks * (stay == 1)
        margin = instead(self.shown, self.held, mean)
        more = log_tail(same, self.chance, self.blocks - self.chance, self.chance, self.blocks)
        logs = {
            "likeness": log_two_sided(like, self.mean, self.rest, self.variance, self.rows)[:, None],
            "unchanged": np.where(same > self.chance, more, 0.0)[:, None],
            "margins": log_two_sided(margin, mean, rest, variance, self.rows[:, None]),
        }
        tests = {"likeness": self.rows > 0, "unchanged": self.blocks > 0, "margins": (mean > 0) & (rest > 0)}
        if self.moved is not None:
            rows = self.moved.sum(axis=2, keepdims=True)
            moved = instead(self.moved, rows * np.eye(len(matrix)), rows * matrix.chance)
            mean, rest, variance = (rows * table for table in (matrix.chance, matrix.rest, matrix.variance))
            found = log_two_sided(moved, mean, rest, variance, rows)
            logs["transitions"] = found.reshape(self.size, -1)
            tests["transitions"] = np.broadcast_to(rows > 0, self.moved.shape)
        return Tested(
            {kind: int(there.sum()) for kind, there in tests.items()},
            {kind: found.min(axis=1) for kind, found in logs.items()},
            {kind: found.argmin(axis=1) for kind, found in logs.items()},
        )
