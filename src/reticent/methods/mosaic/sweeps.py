"""Sweeps: how often, over what and on how many threads groups are re-solved.

A sweep puts the groups in an order in which near ones are mostly neighbours, cuts that order into blocks and re-solves each
block by itself.  Blocks share nothing, so threads take them as they come and the result is the same for any number of
threads.  What sweep number i does depends on i and the seed alone: more effort is the same search, carried on.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from reticent.door import whole
from reticent.errors import JobError
from reticent.models.exact import exact
from reticent.table.cells import pack
from reticent.workers import run_in_workers

NAMED = {"quick": 3, "balanced": 60, "thorough": 300}  # sweeps
GREATEST_SEED = 2**31 - 2
ENDING = 0.95  # of the CPU seconds: what was found is still to be put together

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Progress:
    """What a watcher is told after every sweep; it returns True to have the best so far published."""

    sweep: int
    loss: float
    cpu_seconds: float
    done: float  # the share of the sweeps, or of the CPU seconds


Watch = Callable[[Progress], bool | None]


@dataclass(frozen=True)
class Sweeps:
    """A budget of sweeps, or of CPU seconds, that a watcher or Ctrl-C can end early."""

    most: int
    seconds: float
    watch: Watch | None
    threads: int
    began: float

    @classmethod
    def of(cls, effort: str | int | float, watch: Watch | None, threads: int | None) -> Sweeps:
        threads = min(os.cpu_count() or 1, 8) if threads is None else whole(threads, "threads")
        if threads < 1:
            raise JobError("threads must be 1 or more.", attempt="threads = 2, or leaving it out.")
        if isinstance(effort, str):
            if effort not in NAMED:
                raise JobError(
                    f"Unknown effort {effort!r}.", attempt="quick, balanced, thorough, or a number of CPU seconds."
                )
            return cls(NAMED[effort], float("inf"), watch, threads, time.process_time())
        seconds = float(exact(effort, "effort"))
        if seconds <= 0:
            raise JobError(
                "effort must be above 0 CPU seconds.", attempt='"quick", "balanced", "thorough" or a number such as 10.'
            )
        return cls(1 << 30, seconds, watch, threads, time.process_time())

    def spare(self, share: float) -> bool:
        """Whether less than this share of the time has passed."""
        return time.process_time() - self.began < share * self.seconds

    def told(self, number: int, loss: float, spent: float) -> Progress:
        return Progress(number, loss, spent, min(max(number / self.most, spent / self.seconds), 1.0))

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
        taken: dict[Hashable, float] = {}
        unknown = (time.process_time() - self.began) / 2
        try:
            for number in range(self.most):
                spent, (ahead, cost) = time.process_time() - self.began, kind()
                enough = spent + taken.get(ahead, unknown * cost) > ENDING * self.seconds
                if enough or (self.watch and self.watch(self.told(number, loss(best), spent))):
                    break
                found = sweep(best, number)
                if found is None:
                    break
                best, taken[ahead] = found, time.process_time() - self.began - spent
        except KeyboardInterrupt:
            pass
        return best

    def over(self, blocks: np.ndarray, run: Callable[[np.ndarray, int, np.ndarray], Result]) -> list[Result]:
        """run(part of the blocks, worker, flag that ends it), in the order of the blocks."""
        return run_in_workers(run, [part for part in np.array_split(blocks, self.threads) if len(part)])


def gray_order(codes: np.ndarray, sizes: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Order by a reflected mixed-radix key, the first column most significant: neighbours differ little in one column."""
    odd = np.zeros(len(codes), bool)
    digits = np.empty((len(codes), len(columns)), np.int64)
    for at, j in enumerate(columns):
        digit = np.where(odd, sizes[j] - 1 - codes[:, j], codes[:, j])
        low = (digit & 1).astype(bool)
        odd = low if sizes[j] % 2 == 0 else odd ^ low
        digits[:, at] = digit
    words = pack(digits, sizes[columns])
    return np.lexsort(words[::-1]) if len(words) > 1 else np.argsort(words[0], kind="stable")


def blocks_of(groups: int, width: int, draw: np.random.Generator) -> np.ndarray:
    """(blocks, 3): first group, last group + 1, seed; the first block is of random width, so that borders move."""
    edges = np.unique(np.concatenate([[0], np.arange(int(draw.integers(1, width + 1)), groups, width), [groups]]))
    seeds = draw.integers(1, GREATEST_SEED, len(edges) - 1)
    return np.ascontiguousarray(np.column_stack([edges[:-1], edges[1:], seeds]), np.int64)


def regrouped(starts: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each entry of the groups in their new order comes from, and the new starts."""
    length = np.diff(starts)[order]
    fresh = np.concatenate([[0], np.cumsum(length)])
    return np.repeat(starts[:-1][order] - fresh[:-1], length) + np.arange(fresh[-1]), fresh
