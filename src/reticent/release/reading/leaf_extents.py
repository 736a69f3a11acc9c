"""What the labels of a tree's column cover, all of them at once: leaves in one array, cut at offsets.

A sampled release has tens of thousands of distinct sets.  Those without quoted members are split and numbered in one go; every
other label is read on its own (`Tree.read`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from reticent.release.reading.extent import EVERYTHING, NULL, Extent
from reticent.release.reading.tree import Tree

LEAVES, ANY, MISSING = 0, 1, 2


@dataclass(frozen=True, eq=False)
class LeafExtents(Sequence[Extent]):
    """`form` of each label (LEAVES, ANY or MISSING); label i covers leaves[offsets[i] : offsets[i + 1]], in order, each once."""

    form: np.ndarray
    offsets: np.ndarray
    leaves: np.ndarray

    def __len__(self) -> int:
        return len(self.form)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        if self.form[at] != LEAVES:
            return EVERYTHING if self.form[at] == ANY else NULL
        at = range(len(self))[at]
        return Extent("leaves", leaves=tuple(self.leaves[self.offsets[at] : self.offsets[at + 1]].tolist()))

    @cached_property
    def counts(self) -> np.ndarray:
        return np.diff(self.offsets)

    @cached_property
    def label(self) -> np.ndarray:
        """The label that each of `leaves` belongs to."""
        return np.repeat(np.arange(len(self)), self.counts)

    def only(self, chosen: np.ndarray) -> LeafExtents:
        """Some of the labels."""
        offsets = np.append(0, np.cumsum(self.counts[chosen]))
        return LeafExtents(self.form[chosen], offsets, self.leaves[chosen[self.label]])

    @property
    def several(self) -> np.ndarray:
        """Whether a label covers more than one value."""
        return (self.form == ANY) | (self.counts > 1)


def leaf_extents(tree: Tree, labels: pl.Series) -> LeafExtents:
    """The extents of distinct labels, as `tree.read` has them one by one."""
    which, leaf, alone = _plain_sets(tree, labels)
    read = tree.read(labels.gather(alone).to_list())
    form = np.full(len(labels), LEAVES, np.uint8)
    form[alone] = [{"any": ANY, "null": MISSING}.get(extent.form, LEAVES) for extent in read]
    lengths = np.fromiter((len(extent.leaves) for extent in read), np.int64, len(read))
    rest = np.fromiter(chain.from_iterable(extent.leaves for extent in read), np.int64, int(lengths.sum()))
    width = max(len(tree.leaf), 1)
    key = np.concatenate([which * width + leaf, np.repeat(alone, lengths) * width + rest])
    if (np.diff(key) <= 0).any():
        key.sort(kind="stable")  # a few sorted stretches
        key = key[np.diff(key, prepend=-1) > 0]
    held = np.bincount(key // width, minlength=len(labels))
    return LeafExtents(form, np.append(0, np.cumsum(held)), key % width)


def _plain_sets(tree: Tree, labels: pl.Series) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(label, leaf) of every member of the sets that name leaves without quotes, and the labels that are none of these."""
    texts = labels.cast(pl.String)
    plain = texts.str.starts_with("{") & texts.str.ends_with("}") & ~texts.str.contains('"', literal=True)
    plain = plain.fill_null(False) & (not tree.foreign)
    at = np.flatnonzero(plain.to_numpy())
    if not len(at):
        return at, at, np.arange(len(labels))
    members = texts.gather(at).str.strip_prefix("{").str.strip_suffix("}").str.split(", ")
    owner = np.repeat(np.arange(len(at)), members.list.len().to_numpy())
    found = members.explode().cast(pl.Enum(list(tree.leaf)), strict=False).to_physical()
    number = np.fromiter(tree.leaf.values(), np.int64, len(tree.leaf))
    known = found.is_not_null().to_numpy()
    whole = np.bincount(owner[~known], minlength=len(at)) == 0
    kept = known & whole[owner]
    alone = np.ones(len(labels), bool)
    alone[at[whole]] = False
    return at[owner[kept]], number[found.to_numpy()[kept].astype(np.int64)], np.flatnonzero(alone)
