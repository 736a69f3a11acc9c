"""Labels of groups in each quasi-identifier, the merging of groups with equal labels, and how often range ends isolate a person.

A label is a hierarchy's node, a range, or, if the steward asks for it, the exact set of values.  The recipient sees
labels only, so groups with equal labels are one group: `merge_equal_labels` merges them before any final check.

`measure_end_isolation` counts, for the owner, how often the ends of tight ranges are the value of one person alone.  An
end isolates if exactly one person of its group has the value there.  The control is the same share among any values of
the table inside the range, each range counting alike (`attacks.singling_out` measures it on the release).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
import polars as pl

from reticent.data.columns import Column
from reticent.data.domain import Domain, RangeDomain, TreeDomain
from reticent.data.label_styles import PaddedDomain, WidenedDomain, narrow_labels
from reticent.data.rounding import choose_round_step
from reticent.models.promise import CandidateGroups
from reticent.randomness import Random
from reticent.recipe.recipe import PaddedLabels, Recipe, find_spans

MIN_ISOLATED_SHARE = 0.5
MIN_RATIO_TO_CONTROL = 1.5
MIN_ENDS = 40
"""The owner is told where more than half of at least so many ends isolate, and half as many again as any value does."""


@dataclass(frozen=True, slots=True)
class EndIsolation:
    """Isolation by range ends in one column: the number of ends, and the shares of ends and of any values that isolate one person."""

    name: str
    ends: int
    isolated: float
    control: float
    has_round_step: bool

    @property
    def is_telling(self) -> bool:
        often = self.ends >= MIN_ENDS and self.isolated > MIN_ISOLATED_SHARE
        return often and self.isolated >= MIN_RATIO_TO_CONTROL * self.control

    def __str__(self) -> str:
        remedy = (
            'labels = "snapped"' if self.has_round_step else 'labels = { style = "padded", width = 2, share = 0.34 }'
        )
        return (
            f"{self.isolated:.0%} of {self.ends:,} ends of ranges of {self.name!r} are one person's value alone in their group (of any "
            f"value in the ranges: {self.control:.0%}). {remedy} moves them away from people."
        )


def measure_end_isolation(recipe: Recipe, columns: Mapping[str, Column]) -> list[EndIsolation]:
    """Measure each numeric column whose ranges end at people's values though the job does not ask for it."""
    groups = recipe.as_groups()
    measures = []
    for column_index, domain in enumerate(recipe.cells.quasi):
        tight = isinstance(domain, RangeDomain) and not isinstance(domain, WidenedDomain) and domain.kind == "numeric"
        if not tight or not len(groups) or columns[domain.name].labels is not None or not domain.texts:
            continue
        assert isinstance(domain, RangeDomain)
        codes = recipe.cells.codes[groups.cell, column_index].astype(np.int64)
        measured = _measure_column(domain, codes, groups.group, groups.quota, len(groups), recipe.cells.rows_per_person)
        if measured is not None:
            measures.append(measured)
    return measures


def _measure_column(
    domain: RangeDomain, codes: np.ndarray, group: np.ndarray, quota: np.ndarray, groups: int, rows_per_person: int
) -> EndIsolation | None:
    lower = np.full(groups, domain.size, np.int64)
    upper = np.full(groups, -1, np.int64)
    np.minimum.at(lower, group, codes)
    np.maximum.at(upper, group, codes)
    ranged = (lower < upper) & (upper != domain.null_code)
    if not ranged.any():
        return None
    group_codes, place = np.unique(group * domain.size + codes, return_inverse=True)
    rows = np.bincount(place.reshape(-1), weights=quota)
    alone = rows <= rows_per_person
    of_group = group_codes // domain.size
    code = group_codes % domain.size
    inside = ranged[of_group]
    at_end = inside & ((code == lower[of_group]) | (code == upper[of_group]))
    singles = np.bincount(of_group[inside & alone], minlength=groups)[ranged]
    control = float((singles / (upper - lower + 1)[ranged]).mean())
    step = choose_round_step(Decimal(domain.texts[0]), Decimal(domain.texts[-1]))
    return EndIsolation(domain.name, int(at_end.sum()), float(alone[at_end].mean()), control, step > 1)


@dataclass(frozen=True, eq=False)
class GroupLabels:
    """The distinct labels of each quasi-identifier, and which of them each group publishes."""

    texts: tuple[list[str | None], ...]
    of_group: np.ndarray  # (groups, quasi) int32


def merge_equal_labels(recipe: Recipe) -> tuple[Recipe, GroupLabels]:
    """Merge groups with equal labels; return a recipe of the same rows, and the labels."""
    labels = build_group_labels(recipe)
    if pl.DataFrame(labels.of_group, orient="row").n_unique() == recipe.groups:
        return recipe, labels
    unique, first, number = np.unique(labels.of_group, axis=0, return_index=True, return_inverse=True)
    padded = {
        column_index: PaddedLabels([column.labels[group] for group in first.tolist()], column.loss[first])
        for column_index, column in recipe.padded.items()
    }
    return replace(recipe.renumber(number.reshape(-1)), padded=padded), GroupLabels(labels.texts, unique)


def draw_padded_ends(recipe: Recipe, rng: Random) -> Recipe:
    """Return the recipe with drawn ends in columns that ask for padded labels; each column's draws are a stream of their own."""
    recipe = _narrow_to_published(recipe)
    padded = {}
    for column_index, domain in enumerate(recipe.cells.quasi):
        if isinstance(domain, PaddedDomain):
            spans = recipe.find_column_spans(column_index)
            max_steps = (
                np.repeat(domain.find_max_pads(*spans)[:, None], 2, axis=1)
                if domain.label_options.share
                else domain.max_pad
            )
            pads = rng.stream(f"pad {domain.name}").integers(0, max_steps, size=(recipe.groups, 2), endpoint=True)
            padded[column_index] = PaddedLabels(*domain.format_moved_ends(*spans, pads))
    return replace(recipe, padded=padded) if padded else recipe


def _narrow_to_published(recipe: Recipe) -> Recipe:
    """Narrow domains so that steps and limits chosen from a column's range are chosen from its published range."""
    if not recipe.withheld or not recipe.groups:
        return recipe
    quasi = list(recipe.cells.quasi)
    for column_index, domain in enumerate(quasi):
        if isinstance(domain, WidenedDomain):
            codes = recipe.cells.codes[recipe.as_groups().cell, column_index]
            published_codes = codes[codes != domain.null_code]
            first = int(published_codes.min(initial=domain.size))
            last = int(published_codes.max(initial=-1))
            if first <= last and (first, last) != (0, len(domain.texts) - 1):
                quasi[column_index] = narrow_labels(domain, first, last)
    return replace(recipe, cells=replace(recipe.cells, quasi=tuple(quasi)))


def build_group_labels(recipe: Recipe) -> GroupLabels:
    """Build the labels of the groups as they are, whether or not two of them are equal."""
    texts = []
    columns = []
    groups = recipe.as_groups()
    codes = recipe.cells.codes.take(groups.cell, axis=0)  # all columns at once: cells lie where their rows do not
    for column_index, domain in enumerate(recipe.cells.quasi):
        if column_index in recipe.padded:
            labels, of_group = _number_distinct(recipe.padded[column_index].labels, np.arange(recipe.groups))
        elif isinstance(domain, TreeDomain) and (domain.style or recipe.labels) == "sets":
            labels, of_group = _label_sets(groups, domain, codes[:, column_index])
        else:
            labels, of_group = _label_spans(domain, *find_spans(groups, codes[:, column_index]))
        texts.append(labels)
        columns.append(of_group)
    return GroupLabels(tuple(texts), np.column_stack(columns).astype(np.int32))


def _label_spans(domain: Domain, lower: np.ndarray, upper: np.ndarray) -> tuple[list[str | None], np.ndarray]:
    pairs, of_group = np.unique(lower.astype(np.int64) * domain.size + upper, return_inverse=True)
    labels = domain.labels(pairs // domain.size, pairs % domain.size)
    return _number_distinct(labels, of_group)


def _label_sets(groups: CandidateGroups, domain: Domain, codes: np.ndarray) -> tuple[list[str | None], np.ndarray]:
    """Label groups by exact sets; a row that is not published counts, since the label is the whole group's."""
    if not len(groups):
        return [], np.zeros(0, np.int32)
    if domain.size <= 64:
        return _label_small_sets(groups, domain, codes)
    group_codes = np.unique(groups.group * domain.size + codes)
    starts = np.flatnonzero(np.diff(group_codes // domain.size, prepend=-1))
    members = np.split(group_codes % domain.size, starts[1:])
    return _number_distinct(domain.format_sets(members), np.arange(len(groups)))


def _label_small_sets(
    groups: CandidateGroups, domain: Domain, codes: np.ndarray
) -> tuple[list[str | None], np.ndarray]:
    """Label groups by exact sets of a small domain: a bit for each value that a group holds, each set spelled out once."""
    bits = (np.uint64(1) << np.arange(64, dtype=np.uint64))[codes]
    masks, of_group = np.unique(np.bitwise_or.reduceat(bits, groups.offsets[:-1]), return_inverse=True)
    spread = np.unpackbits(masks.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    members = np.nonzero(spread)[1]
    offsets = np.append(0, np.cumsum(spread.sum(axis=1, dtype=np.int64)))
    return _number_distinct(domain.format_packed_sets(members, offsets), of_group)


def _number_distinct(labels: list[str | None], of_group: np.ndarray) -> tuple[list[str | None], np.ndarray]:
    """Number distinct label texts, not spans: two spans may print alike."""
    if len(set(labels)) == len(labels):
        return labels, of_group.reshape(-1).astype(np.int32)
    number: dict[str | None, int] = {}
    ids = np.array([number.setdefault(label, len(number)) for label in labels], np.int32)
    return list(number), ids[of_group.reshape(-1)]


def name_label_column(column_index: int) -> str:
    """What the numbers of a quasi-identifier's labels are called: as no column of a table is."""
    return f"\x00l{column_index}"


def name_value_column(column_index: int) -> str:
    """The same of a sensitive column's values."""
    return f"\x00v{column_index}"
