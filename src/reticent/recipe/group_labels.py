"""The label a group publishes in each quasi-identifier, and the merging of groups whose labels are equal.

A label is a hierarchy's node, a range, or where the steward asks the exact set of values.  The recipient sees labels only,
so groups with equal labels are one group: they are merged before any final check.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from reticent.models.shapes import Groups
from reticent.randomness import Random
from reticent.recipe.recipe import Padded, Recipe, spans_of
from reticent.table.domain import Domain, TreeDomain
from reticent.table.label_styles import narrowed
from reticent.table.printed import PaddedDomain, PrintedDomain


@dataclass(frozen=True, eq=False)
class Labels:
    """For each quasi-identifier the distinct labels, and which of them each group publishes."""

    texts: tuple[list[str | None], ...]
    of_group: np.ndarray  # (groups, quasi) int32


def coalesce(recipe: Recipe) -> tuple[Recipe, Labels]:
    """The same rows, equal labels in one group, and the labels."""
    found = labels_of(recipe)
    if pl.DataFrame(found.of_group, orient="row").n_unique() == recipe.groups:
        return recipe, found
    unique, first, number = np.unique(found.of_group, axis=0, return_index=True, return_inverse=True)
    padded = {
        at: Padded([column.labels[group] for group in first.tolist()], column.loss[first])
        for at, column in recipe.padded.items()
    }
    return replace(recipe.renumbered(number.reshape(-1)), padded=padded), Labels(found.texts, unique)


def pad(recipe: Recipe, rng: Random) -> Recipe:
    """The recipe with the ends drawn of columns that ask for padded labels; each column's draws are a stream of their own."""
    recipe = _of_what_is_published(recipe)
    padded = {}
    for at, domain in enumerate(recipe.cells.quasi):
        if isinstance(domain, PaddedDomain):
            spans = recipe.spans_of(at)
            most = np.repeat(domain.reach(*spans)[:, None], 2, axis=1) if domain.labelling.share else domain.most
            pads = rng.stream(f"pad {domain.name}").integers(0, most, size=(recipe.groups, 2), endpoint=True)
            padded[at] = Padded(*domain.moved(*spans, pads))
    return replace(recipe, padded=padded) if padded else recipe


def _of_what_is_published(recipe: Recipe) -> Recipe:
    """Steps and limits that are chosen from a column's range are chosen from what is published of it."""
    if not recipe.withheld or not recipe.groups:
        return recipe
    quasi = list(recipe.cells.quasi)
    for at, domain in enumerate(quasi):
        if isinstance(domain, PrintedDomain):
            codes = recipe.cells.codes[recipe.as_groups().cell, at]
            held = codes[codes != domain.null_code]
            first, last = int(held.min(initial=domain.size)), int(held.max(initial=-1))
            if first <= last and (first, last) != (0, len(domain.texts) - 1):
                quasi[at] = narrowed(domain, first, last)
    return replace(recipe, cells=replace(recipe.cells, quasi=tuple(quasi)))


def labels_of(recipe: Recipe) -> Labels:
    """The labels of the groups as they are, whether or not two of them are equal."""
    texts, columns = [], []
    groups = recipe.as_groups()
    codes = recipe.cells.codes.take(groups.cell, axis=0)  # all columns at once: cells lie where their rows do not
    for at, domain in enumerate(recipe.cells.quasi):
        if at in recipe.padded:
            labels, of_group = _distinct(recipe.padded[at].labels, np.arange(recipe.groups))
        elif isinstance(domain, TreeDomain) and (domain.style or recipe.labels) == "sets":
            labels, of_group = _sets(groups, domain, codes[:, at])
        else:
            labels, of_group = _spans(domain, *spans_of(groups, codes[:, at]))
        texts.append(labels)
        columns.append(of_group)
    return Labels(tuple(texts), np.column_stack(columns).astype(np.int32))


def _spans(domain: Domain, lower: np.ndarray, upper: np.ndarray) -> tuple[list[str | None], np.ndarray]:
    pairs, of_group = np.unique(lower.astype(np.int64) * domain.size + upper, return_inverse=True)
    labels = domain.labels(pairs // domain.size, pairs % domain.size)
    return _distinct(labels, of_group)


def _sets(groups: Groups, domain: Domain, codes: np.ndarray) -> tuple[list[str | None], np.ndarray]:
    """A row that is not published counts: the label is the whole group's."""
    if not len(groups):
        return [], np.zeros(0, np.int32)
    if domain.size <= 64:
        return _masks(groups, domain, codes)
    held = np.unique(groups.group * domain.size + codes)
    starts = np.flatnonzero(np.diff(held // domain.size, prepend=-1))
    members = np.split(held % domain.size, starts[1:])
    return _distinct(domain.set_labels(members), np.arange(len(groups)))


def _masks(groups: Groups, domain: Domain, codes: np.ndarray) -> tuple[list[str | None], np.ndarray]:
    """Of a small domain: a bit for each value that a group holds, and each set of them spelled out once."""
    bits = (np.uint64(1) << np.arange(64, dtype=np.uint64))[codes]
    masks, of_group = np.unique(np.bitwise_or.reduceat(bits, groups.offsets[:-1]), return_inverse=True)
    spread = np.unpackbits(masks.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    members = np.nonzero(spread)[1]
    offsets = np.append(0, np.cumsum(spread.sum(axis=1, dtype=np.int64)))
    return _distinct(domain.joined_labels(members, offsets), of_group)


def _distinct(labels: list[str | None], of_group: np.ndarray) -> tuple[list[str | None], np.ndarray]:
    """Two spans may print alike: number the texts, not the spans."""
    if len(set(labels)) == len(labels):
        return labels, of_group.reshape(-1).astype(np.int32)
    number: dict[str | None, int] = {}
    ids = np.array([number.setdefault(label, len(number)) for label in labels], np.int32)
    return list(number), ids[of_group.reshape(-1)]
