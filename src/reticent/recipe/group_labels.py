"""Labels of groups in each quasi-identifier, the merging of groups with equal labels, and what labels lose and reveal.

A label is a hierarchy's node, a range, or, if the steward asks for it, the exact set of values.  The recipient sees
labels only, so groups with equal labels are one group: `merge_equal_labels` merges them before any final check.

`measure_end_isolation` counts, for the owner, how often the ends of tight ranges are the value of one person alone.  An
end isolates if exactly one person of its group has the value there.  The control is the same share among any values of
the table inside the range, each range counting alike (`attacks.singling_out` measures it on the release).

`compute_label_loss` and `compute_total_loss` are what methods minimize (Cao & Karras 2012, equations 2 to 5, over the
source's own domains): each published row loses the weighted mean of what its group's label, or its span, loses in each
column; a withheld row loses 1.  The loss that is reported of a plan follows from what its labels print
(`recipe.planned_loss`).

The manifest explains labels by an entry for each column (`build_quasi_entry`, `build_sensitive_entry`,
`build_passthrough_entry`); `build_exact_entries`, with the functions before it, makes the entries of kinds that publish
exact quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from reticent.data.cells import Cells
from reticent.data.columns import Column, Role, is_numeric_range
from reticent.data.domain import BandDomain, Domain, RangeDomain, TreeDomain, prune_hierarchy
from reticent.data.label_grammar import ANY_LABEL, format_value_label, parse_label
from reticent.data.label_styles import PaddedDomain, WidenedDomain, choose_round_step, narrow_labels
from reticent.data.parsing import parse_texts
from reticent.exact_arithmetic import is_whole
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


def build_group_labels(recipe: Recipe) -> GroupLabels:
    """Build the labels of the groups as they are, whether or not two of them are equal."""
    texts = []
    columns = []
    groups = recipe.as_groups()
    codes = recipe.cells.codes.take(groups.cell, axis=0)  # all columns at once: cells lie where their rows do not
    for column_index, domain in enumerate(recipe.cells.quasi):
        if column_index in recipe.padded:
            labels, of_group = _number_distinct(recipe.padded[column_index].labels, np.arange(recipe.groups))
        elif _prints_sets(domain, recipe):
            labels, of_group = _label_sets(groups, domain, codes[:, column_index])
        else:
            labels, of_group = _label_spans(domain, *find_spans(groups, codes[:, column_index]))
        texts.append(labels)
        columns.append(of_group)
    return GroupLabels(tuple(texts), np.column_stack(columns).astype(np.int32))


def name_label_column(column_index: int) -> str:
    """What the numbers of a quasi-identifier's labels are called: as no column of a table is."""
    return f"\x00l{column_index}"


def name_value_column(column_index: int) -> str:
    """The same of a sensitive column's values."""
    return f"\x00v{column_index}"


def compute_weight_shares(cells: Cells, weights: Mapping[str, Any] | None = None) -> np.ndarray:
    """Compute how much each quasi-identifier's loss counts; the shares sum to 1."""
    column_weights = np.array([float((weights or {}).get(domain.name, 1)) for domain in cells.quasi])
    return column_weights / column_weights.sum()


def compute_column_losses(recipe: Recipe) -> np.ndarray:
    """Compute (groups, quasi): what each group's span loses in each column."""
    lower, upper = recipe.find_spans()
    return np.column_stack(
        [
            domain.loss(lower[:, column_index], upper[:, column_index])
            for column_index, domain in enumerate(recipe.cells.quasi)
        ]
    )


def compute_label_losses(recipe: Recipe) -> np.ndarray:
    """Compute (groups, quasi): what each group's label loses; no less than its span, where labels are snapped or padded."""
    losses = []
    for column_index, domain in enumerate(recipe.cells.quasi):
        padded = recipe.padded.get(column_index)
        losses.append(
            domain.compute_printed_loss(*recipe.find_column_spans(column_index)) if padded is None else padded.loss
        )
    return np.column_stack(losses)


def compute_label_loss(recipe: Recipe, weights: Mapping[str, Any] | None = None) -> float:
    """Compute the mean loss over all rows, a withheld one counting 1: AIL (equation 5)."""
    sizes = recipe.as_groups().sizes
    lost = (
        float(sizes @ (compute_label_losses(recipe) @ compute_weight_shares(recipe.cells, weights)))
        + recipe.all_withheld
    )
    return lost / max(recipe.cells.source_rows, 1)


def compute_total_loss(recipe: Recipe, weights: Mapping[str, Any] | None = None) -> float:
    sizes = recipe.as_groups().sizes
    return (
        float(sizes @ (compute_column_losses(recipe) @ compute_weight_shares(recipe.cells, weights)))
        + recipe.all_withheld
    )


def build_quasi_entry(domain: Domain, published: list[str | None], column: Column) -> dict[str, Any]:
    """Build a quasi-identifier's entry.

    A steward's hierarchy and order are copied as declared; what stems from data is cut down to what is published.
    """
    declared = column.domain is not None
    entry: dict[str, Any] = {
        "name": domain.name,
        "role": "quasi-identifying",
        "type": domain.kind,
        "dtype": domain.dtype,
    }
    entry |= _build_recoding_entry(column, domain.dtype)
    entry |= _build_format_entry(column)
    if None in published:
        entry["null"] = True
    if column.missing == "withhold":
        entry["missing"] = column.missing
    if labelling := getattr(domain, "label_options", None):
        entry["labels"] = labelling.to_plain()
    if isinstance(domain, RangeDomain):
        if domain.kind == "ordinal":
            entry["order"] = list(domain.texts)
        else:
            entry["domain"] = _list_domain_ends(domain) if declared else _find_published_range(domain, published)
            if declared and domain.kind == "numeric":
                entry["declared"] = True  # values outside of it were refused
    elif isinstance(domain, BandDomain) and not domain.is_from_steward:
        entry["domain"] = _list_domain_ends(domain) if declared else _find_published_range(domain, published)
    elif isinstance(domain, TreeDomain) and domain.is_from_steward:
        entry["hierarchy"] = domain.hierarchy.rows()
        if isinstance(domain, BandDomain) and declared:
            entry["domain"] = _list_domain_ends(domain)
    elif isinstance(domain, TreeDomain) and domain.hierarchy.height > 1:
        entry["hierarchy"] = prune_hierarchy(domain, published)
        if request := getattr(domain.hierarchy, "request", None):
            entry["built"] = dict(request)
    else:
        entry["values"] = sorted(
            {text for label in published if label not in (None, ANY_LABEL) for text in parse_label(label)[1]}
        )
    return entry


def select_telling_labels(domain: Domain, published: Iterable[str | None]) -> list[str | None]:
    """Select labels for which `build_quasi_entry` gives the same entry as for all published labels.

    They are no more than the column's values and nodes.
    """
    labels = set(published)
    null: list[str | None] = [None] if None in labels else []
    printed = sorted(label for label in labels if label is not None and label != ANY_LABEL)
    if isinstance(domain, RangeDomain) or (isinstance(domain, BandDomain) and not domain.is_from_steward):
        return (
            null if domain.kind == "ordinal" else [*null, *map(format_value_label, _find_label_ends(domain, printed))]
        )
    telling = set()
    for label in printed:
        form, texts = parse_label(label)
        telling |= {format_value_label(text, quoted=True) for text in texts} if form == "set" else {label}
    return [*null, *sorted(telling)]


def build_sensitive_entry(domain: Domain, column: Column) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": domain.name,
        "role": "sensitive",
        "type": domain.kind,
        "dtype": domain.dtype,
        "missing": column.missing,
        **_build_recoding_entry(column, domain.dtype),
        **_build_format_entry(column),
    }
    if isinstance(domain, RangeDomain) and domain.kind == "ordinal":
        entry["order"] = list(domain.texts)
    declares_range = column.domain is not None and is_numeric_range(column.domain)
    if isinstance(domain, RangeDomain) and domain.kind == "numeric" and declares_range:
        entry |= {"domain": _list_domain_ends(domain), "declared": True}  # values outside of it were refused
    if isinstance(domain, TreeDomain) and domain.is_from_steward:
        entry["hierarchy"] = domain.hierarchy.rows()
    return entry


def build_passthrough_entry(name: str, dtype: str, column: Column | None = None) -> dict[str, Any]:
    """Build the entry of a passthrough column: unchanged, or rounded and bounded."""
    entry = {"name": name, "role": "insensitive", "type": "carried", "dtype": dtype}
    if column is None:
        return entry
    return {
        **entry,
        **_build_recoding_entry(column, dtype),
        **_build_format_entry(column),
    }


def to_json_number(value: Fraction) -> int | float | str:
    """Convert an exact number to JSON: whole, a decimal that reads back exactly, or "1/3"."""
    if is_whole(value):
        return int(value)
    return float(value) if Fraction(repr(float(value))) == value else str(value)


def list_domain_values(domain: Domain) -> pl.Series:
    """List the values of a domain in code order, null last, in the column's own type.

    A hierarchy may list numbers that the type does not have, and no row holds these: they are null here.
    """
    texts = [*domain.texts, *([None] if domain.null else [])]
    return parse_texts(texts, domain.dtype, strict=False).alias(domain.name)


def find_published_cells(recipe: Recipe) -> np.ndarray:
    """Find the cells of which a row is published."""
    is_published = np.zeros(len(recipe.cells), bool)
    is_published[recipe.cell if recipe.is_complete else recipe.cell[recipe.published_entries]] = True
    return np.flatnonzero(is_published)


def list_published_labels(recipe: Recipe, column_index: int, published: np.ndarray) -> list[str | None]:
    """List the labels of the values that published cells show in a quasi-identifier: each value as itself, none of a withheld row."""
    domain = recipe.cells.quasi[column_index]
    codes = np.unique(recipe.cells.codes[published, column_index])
    return [None if code == domain.null_code else format_value_label(domain.texts[code]) for code in codes.tolist()]


def build_exact_entries(
    recipe: Recipe, columns: Mapping[str, Column], types: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Build the manifest's entry for each published column; `types` are those of passthrough columns."""
    cells = recipe.cells
    entries = []
    published = find_published_cells(recipe)
    place = {domain.name: index for index, domain in enumerate(cells.quasi)}
    for name, column in columns.items():
        if column.role is Role.QUASI:
            labels = list_published_labels(recipe, place[name], published)
            entries.append(build_quasi_entry(cells.quasi[place[name]].tight, labels, column))
        elif column.role is Role.SENSITIVE:
            entries.append(build_sensitive_entry(cells.sensitive[0], column))
        elif column.role is Role.INSENSITIVE:
            entries.append(build_passthrough_entry(name, types[name], column))
    return entries


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


def _prints_sets(domain: Domain, recipe: Recipe) -> bool:
    """Tell whether a column prints exact sets: one of categories. Numbers and dates print bands or ranges, by which they are read."""
    is_categorical = isinstance(domain, TreeDomain) and not isinstance(domain, BandDomain)
    return is_categorical and (getattr(domain, "style", None) or recipe.labels) == "sets"


def _number_distinct(labels: list[str | None], of_group: np.ndarray) -> tuple[list[str | None], np.ndarray]:
    """Number distinct label texts, not spans: two spans may print alike."""
    if len(set(labels)) == len(labels):
        return labels, of_group.reshape(-1).astype(np.int32)
    number: dict[str | None, int] = {}
    ids = np.array([number.setdefault(label, len(number)) for label in labels], np.int32)
    return list(number), ids[of_group.reshape(-1)]


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


def _label_spans(domain: Domain, lower: np.ndarray, upper: np.ndarray) -> tuple[list[str | None], np.ndarray]:
    pairs, of_group = np.unique(lower.astype(np.int64) * domain.size + upper, return_inverse=True)
    labels = domain.labels(pairs // domain.size, pairs % domain.size)
    return _number_distinct(labels, of_group)


def _build_recoding_entry(column: Column, dtype: str) -> dict[str, Any]:
    """Build the entry of how values were recoded: a step, and bounds as the column's own values print."""
    entry: dict[str, Any] = {}
    for side in ("bottom", "top"):
        end = getattr(column, side)
        if isinstance(end, str):
            end = end[:10] if dtype == "Date" else datetime.fromisoformat(end).isoformat()
        if end is not None:
            entry[side] = end
    if column.round_to is not None:
        entry["round_to"] = column.round_to
    return entry


def _build_format_entry(column: Column) -> dict[str, Any]:
    """Build the entry of how the source writes the column, so that a comparison with the release reads the source alike."""
    entry: dict[str, Any] = {}
    if column.format is not None:
        entry["format"] = column.format if isinstance(column.format, str) else list(column.format)
    if column.rates is not None:
        entry["rates"] = dict(column.rates)
    return entry


def _list_domain_ends(domain: RangeDomain | BandDomain) -> list[Any]:
    is_integer = domain.dtype.startswith(("Int", "UInt"))
    if isinstance(domain, RangeDomain) and domain.declared_ends is not None:
        return list(domain.declared_ends)
    return [int(end) if is_integer and end == int(end) else end for end in domain.span]


def _find_published_range(domain: RangeDomain | BandDomain, published: Iterable[str | None]) -> list[Any]:
    """Find the least and the greatest end that the labels show."""
    ends = _find_label_ends(domain, [label for label in published if label is not None and label != ANY_LABEL])
    return ends if domain.kind == "date" else [_parse_number(end) for end in ends]


def _find_label_ends(domain: RangeDomain | BandDomain, labels: Iterable[str]) -> list[str]:
    """Find the least and the greatest end of some labels, as these print them; none if there are no labels."""
    ends = [text for label in labels for text in parse_label(label)[1]]
    if not ends:
        return []
    if domain.kind == "date":
        order = dict(zip(ends, parse_texts(ends, domain.dtype).to_physical().to_list(), strict=True))
    else:
        order = {text: Decimal(text) for text in ends}
    return [min(order, key=order.__getitem__), max(order, key=order.__getitem__)]


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


def _parse_number(text: str) -> int | float:
    return int(text) if text.lstrip("+-").isdigit() else float(text)
