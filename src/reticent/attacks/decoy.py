"""A release that says nothing: for the control of an attack."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from reticent.attacks.seen import Seen
from reticent.release.reading.boxes import Boxes
from reticent.release.reading.members import Members


def silent(seen: Seen, rng: np.random.Generator) -> Seen:
    """The same people under the same groups, whose values say nothing."""
    sight, counts = seen.sight, shuffled(seen.counts, rng)
    if isinstance(sight, Boxes):
        return replace(seen, sight=replace(sight, until=np.pad(np.cumsum(counts, axis=1), ((0, 0), (1, 0)))))
    assert isinstance(sight, Members)
    return replace(seen, sight=replace(sight, counts=counts))


def shuffled(counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Groups of the same sizes, the values dealt to their rows at random."""
    if not np.array_equal(counts, np.round(counts)):  # shares of a target: rows have no values to deal
        return counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    whole = counts.astype(np.int64)
    values = rng.permutation(np.repeat(np.arange(whole.shape[1]), whole.sum(axis=0)))
    group = np.repeat(np.arange(len(whole)), whole.sum(axis=1))
    found = np.zeros(whole.shape)
    np.add.at(found, (group, values), 1)
    return found
