"""Tilings, the groups as flat arrays, and the sweeps that re-solve them.

A `Tiling` has in group g quota[i] rows of cell[i] for i in starts[g] .. starts[g + 1].

`SweepBudget` decides how often, over what and on how many threads groups are re-solved.  A sweep puts the groups in an
order in which near ones are mostly neighbours, cuts that order into blocks and re-solves each block by itself.  Blocks
share nothing, so threads take them as they come and the result is the same for any number of threads.  What sweep
number i does depends on i and the seed alone: more effort is the same search, carried on.

`TilingProposal` is what a sweep proposes: blocks of groups, each re-solved by itself, that are accepted or rejected as
a whole.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from reticent.data.cells import Cells, pack_codes
from reticent.errors import JobError
from reticent.methods.mosaic.kernel_tables import LossSpace
from reticent.models.promise import BoundPromises, CandidateGroups
from reticent.models.rational_bounds import parse_fraction
from reticent.validation import integer
from reticent.workers import run_in_workers

EFFORT_SWEEPS = {"quick": 3, "balanced": 60, "thorough": 300}  # sweeps
MAX_SEED = 2**31 - 2
MAX_DEFAULT_THREADS = 8
SEARCH_TIME_SHARE = 0.95  # of the CPU seconds: what was found is still to be put together

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class SweepProgress:
    """What a watcher receives after every sweep; it returns True to have the best so far published."""

    sweep: int
    loss: float
    cpu_seconds: float
    done: float  # the share of the sweeps, or of the CPU seconds


SweepWatch = Callable[[SweepProgress], bool | None]


@dataclass
class SweepBudget:
    """A budget of sweeps, or of CPU seconds, that a watcher or Ctrl-C can end early, for every search that has it."""

    most: int
    seconds: float
    watch: SweepWatch | None
    threads: int
    began: float
    is_ended: bool = False

    @classmethod
    def from_options(cls, effort: str | int | float, watch: SweepWatch | None, threads: int | None) -> SweepBudget:
        threads = min(os.cpu_count() or 1, MAX_DEFAULT_THREADS) if threads is None else integer(threads, "threads")
        if threads < 1:
            raise JobError("threads must be 1 or more.", attempt="threads = 2, or leaving it out.")
        if isinstance(effort, str):
            if effort not in EFFORT_SWEEPS:
                raise JobError(
                    f"Unknown effort {effort!r}.", attempt="quick, balanced, thorough, or a number of CPU seconds."
                )
            return cls(EFFORT_SWEEPS[effort], float("inf"), watch, threads, time.process_time())
        seconds = float(parse_fraction(effort, "effort"))
        if seconds <= 0:
            raise JobError(
                "effort must be above 0 CPU seconds.", attempt='"quick", "balanced", "thorough" or a number such as 10.'
            )
        return cls(1 << 30, seconds, watch, threads, time.process_time())

    @classmethod
    def from_sweeps(cls, sweeps: int) -> SweepBudget:
        return cls(sweeps, float("inf"), None, min(os.cpu_count() or 1, MAX_DEFAULT_THREADS), time.process_time())

    def has_time_left(self, share: float) -> bool:
        """Tell whether less than this share of the time has passed."""
        return time.process_time() - self.began < share * self.seconds

    def make_progress(self, number: int, loss: float, spent: float) -> SweepProgress:
        return SweepProgress(number, loss, spent, min(max(number / self.most, spent / self.seconds), 1.0))

    def improve(
        self,
        start: Result,
        loss: Callable[[Result], float],
        sweep: Callable[[Result, int], Result | None],
        kind: Callable[[], tuple[Hashable, float]] = lambda: (None, 0.0),
    ) -> Result:
        """Carry on from `start`; a first Ctrl-C, as much as the watcher, ends the search and keeps the best so far.

        `kind` is that of the next sweep and its cost.  It is taken if there is time for one as long as the last of its kind; where
        there was none, a sweep of cost 1 is thought to take half as long as the start did.
        """
        best = start
        seconds_of_kind: dict[Hashable, float] = {}
        unknown = (time.process_time() - self.began) / 2
        try:
            for number in range(0 if self.is_ended else self.most):
                spent = time.process_time() - self.began
                (ahead, cost) = kind()
                enough = spent + seconds_of_kind.get(ahead, unknown * cost) > SEARCH_TIME_SHARE * self.seconds
                if enough:
                    break
                if self.watch and self.watch(self.make_progress(number, loss(best), spent)):
                    self.is_ended = True
                    break
                result = sweep(best, number)
                if result is None:
                    break
                best = result
                seconds_of_kind[ahead] = time.process_time() - self.began - spent
        except KeyboardInterrupt:
            self.is_ended = True
        return best

    def run_blocks(self, blocks: np.ndarray, run: Callable[[np.ndarray, int, np.ndarray], Result]) -> list[Result]:
        """Call run(part of the blocks, worker, flag that ends it), in the order of the blocks."""
        return run_in_workers(run, [part for part in np.array_split(blocks, self.threads) if len(part)])


def order_by_gray_code(codes: np.ndarray, sizes: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Order by a reflected mixed-radix key, the first column most significant: neighbours differ little in one column."""
    odd = np.zeros(len(codes), bool)
    digits = np.empty((len(codes), len(columns)), np.int64)
    for index, j in enumerate(columns):
        digit = np.where(odd, sizes[j] - 1 - codes[:, j], codes[:, j])
        low = (digit & 1).astype(bool)
        odd = low if sizes[j] % 2 == 0 else odd ^ low
        digits[:, index] = digit
    words = pack_codes(digits, sizes[columns])
    return np.lexsort(words[::-1]) if len(words) > 1 else np.argsort(words[0], kind="stable")


def divide_into_blocks(groups: int, width: int, draw: np.random.Generator) -> np.ndarray:
    """Return (blocks, 3): first group, last group + 1, seed; the first block is of random width, so that borders move."""
    edges = np.unique(np.concatenate([[0], np.arange(int(draw.integers(1, width + 1)), groups, width), [groups]]))
    seeds = draw.integers(1, MAX_SEED, len(edges) - 1)
    return np.ascontiguousarray(np.column_stack([edges[:-1], edges[1:], seeds]), np.int64)


def reorder_groups(starts: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where each entry of the groups in their new order comes from, and the new starts."""
    length = np.diff(starts)[order]
    fresh = np.concatenate([[0], np.cumsum(length)])
    return np.repeat(starts[:-1][order] - fresh[:-1], length) + np.arange(fresh[-1]), fresh


@dataclass(frozen=True, eq=False)
class Tiling:
    cell: np.ndarray
    quota: np.ndarray
    starts: np.ndarray

    @classmethod
    def empty(cls) -> Tiling:
        return cls(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(1, np.int64))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def groups(self, cells: Cells) -> CandidateGroups:
        return CandidateGroups(cells, self.cell, self.quota, self.starts)

    def sizes(self) -> np.ndarray:
        return np.add.reduceat(self.quota, self.starts[:-1]).astype(np.int64)

    def boxes(self, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
        codes = cells.codes[self.cell]
        return np.minimum.reduceat(codes, self.starts[:-1]), np.maximum.reduceat(codes, self.starts[:-1])

    def loss(self, cells: Cells, space: LossSpace) -> float:
        return float((space.compute_loss_per_row(*self.boxes(cells)) * self.sizes()).sum() / cells.rows)

    def take_groups(self, groups: np.ndarray) -> Tiling:
        """Return some of the groups, in this order."""
        source, starts = reorder_groups(self.starts, groups)
        return Tiling(self.cell[source], self.quota[source], starts)

    def join_tiling(self, other: Tiling) -> Tiling:
        return Tiling(
            np.concatenate([self.cell, other.cell]),
            np.concatenate([self.quota, other.quota]),
            np.concatenate([self.starts, other.starts[1:] + self.starts[-1]]),
        )


def make_tiling(cell: np.ndarray, group: np.ndarray, quota: np.ndarray) -> Tiling:
    """Make groups from entries in any order; entries of one cell in one group are added up."""
    order = np.lexsort((cell, group))
    cell = cell[order]
    group = group[order]
    quota = quota[order]
    fresh = np.ones(len(cell), bool)
    fresh[1:] = (cell[1:] != cell[:-1]) | (group[1:] != group[:-1])
    entries = np.flatnonzero(fresh)
    starts = np.append(np.flatnonzero(np.diff(group[entries], prepend=group[0] - 1)), len(entries))
    return Tiling(
        cell[entries].astype(np.int32), np.add.reduceat(quota, entries).astype(np.int32), starts.astype(np.int64)
    )


@dataclass(frozen=True, eq=False)
class TilingProposal:
    """A proposal of `fresh` groups in place of `old`, with the block of each group of either."""

    old: Tiling
    old_block: np.ndarray
    fresh: Tiling
    block: np.ndarray

    @classmethod
    def from_blocks(cls, old: Tiling, blocks: np.ndarray, fresh: Tiling, groups: np.ndarray) -> TilingProposal:
        """Make a proposal; `groups` is how many groups each of the blocks (first, last + 1, seed) has become."""
        numbers = np.arange(len(blocks))
        return cls(old, np.repeat(numbers, blocks[:, 1] - blocks[:, 0]), fresh, np.repeat(numbers, groups))

    def accept_allowed_blocks(self, cells: Cells, bound: BoundPromises) -> Tiling:
        """Accept the blocks all of whose groups the promises allow; the others stay as they were."""
        broken = np.zeros(int(self.old_block[-1]) + 1, bool)
        broken[self.block[~bound.allow(self.fresh.groups(cells))]] = True
        if not broken.any():
            return self.fresh
        accepted = np.flatnonzero(~broken[self.block])
        return self.fresh.take_groups(accepted).join_tiling(
            self.old.take_groups(np.flatnonzero(broken[self.old_block]))
        )

    def add_untouched_groups(self, rest: Tiling) -> TilingProposal:
        """Return the same proposal with groups that were left alone, as a block of their own."""
        if not len(rest):
            return self
        last = int(self.old_block[-1]) + 1
        own = np.full(len(rest), last)
        return TilingProposal(
            self.old.join_tiling(rest),
            np.append(self.old_block, own),
            self.fresh.join_tiling(rest),
            np.append(self.block, own),
        )
