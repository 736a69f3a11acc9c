"""A release that says nothing: for the control of an attack."""

from __future__ import annotations

import numpy as np


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
