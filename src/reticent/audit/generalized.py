"""Auditor of generalized releases, and of tables of other tools: groups are the rows whose labels are equal.

`GeneralizedAuditor.recount` groups the rows, measures each sensitive column, and measures from the labels how much
information they lose (`measure_utility`). `GeneralizedAuditor.match` matches rows with source rows that their labels
cover (`row_matching.match_rows`).

`count_off_grid_ranges` checks whether ranges end where the manifest declares that they were snapped to. Only a declared
step can be checked: a step that the method chose is not stated.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.groups import (
    PublishedGroups,
    SensitiveColumn,
    count_joint_column,
    count_sensitive_column,
    group_rows,
    number_values,
)
from reticent.audit.kind import (
    PublishedSourceValues,
    RecomputedRelease,
    SourceMatching,
    find_worst_measures,
    measure_column,
    read_data_rows,
)
from reticent.audit.measure import anonymity
from reticent.audit.measure.counts import parse_parameter
from reticent.audit.order import OrderStatistics
from reticent.audit.row_matching import (
    can_format_shared_values,
    format_shared_values,
    format_texts,
    make_label_axes,
    match_rows,
    number_labels,
)
from reticent.audit.source_comparison import RowKeys, SourceComparison
from reticent.audit.subject import Subject
from reticent.data.columns import LabelOptions, Role
from reticent.data.label_grammar import ANY_LABEL, parse_label
from reticent.errors import BundleDamaged, InternalError, pluralize
from reticent.format.manifest import ColumnEntry
from reticent.labels.cover import rebuild_hierarchy
from reticent.labels.label_loss import ColumnLabels, ColumnLoss, read_column_labels
from reticent.labels.scale import make_scale
from reticent.utility import loss

_MONTHS_PER_STEP = {"month": 1, "quarter": 3, "year": 12, "decade": 120}


@dataclass(frozen=True, slots=True)
class GeneralizedAuditor:
    """The `Auditor` of generalized releases, and of tables of other tools."""

    def recount(self, subject: Subject, *, each_row: bool, thorough: bool) -> RecomputedRelease:
        frame, times = _read_rows(subject, each_row)
        labels = {column.name: number_values(frame[column.name]) for column in subject.quasi}
        groups = group_rows(list(labels.values()), len(frame), times)
        sensitive = _count_sensitive_columns(subject, frame, groups)
        measures = {column.name: measure_column(column) for column in sensitive}
        achieved = {
            "k-anonymity": anonymity.measure_k(groups.sizes, subject.rows_per_person),
            **find_worst_measures(list(measures.values())),
        }
        label_rows = {name: (values.distinct, values.times(groups.times)) for name, values in labels.items()}
        utility, notes = measure_utility(subject, label_rows, loss.GroupSizes.from_sizes(groups.sizes))
        recomputed = RecomputedRelease(
            subject=subject,
            frame=frame,
            class_sizes=groups.sizes,
            sizes=groups.sizes,
            sensitive=sensitive,
            measures=achieved,
            utility=utility,
            times=times,
            by_column=measures if len(measures) > 1 else {},
            notes=tuple(notes),
            labelled=True,
        )
        recomputed.__dict__.update(labels=labels, groups=groups)  # cached properties that are known already
        return recomputed

    def measure_by_source(self, recount: RecomputedRelease, source: SourceComparison) -> RecomputedRelease:
        """Measure the loss of another tool's table once more.

        Labels without a hierarchy may be values of the source, and a hierarchy that is to be built is built of these.
        """
        subject = recount.subject
        subject = replace(subject, columns=tuple(_rebuild_column(entry, source) for entry in subject.columns))
        flat = [entry.name for entry in subject.quasi if entry.type == "categorical" and not entry.hierarchy]
        values = {name: source.values(name)[0].cast(pl.String).drop_nulls().to_list() for name in flat}
        label_rows = {
            name: (column.distinct, column.times(recount.groups.times)) for name, column in recount.labels.items()
        }
        sizes = loss.GroupSizes.from_sizes(recount.groups.sizes)
        utility, notes = measure_utility(subject, label_rows, sizes, values)
        measured = replace(recount, utility=utility, notes=tuple(notes))
        measured.__dict__.update(
            labels=recount.labels, groups=recount.groups
        )  # cached properties that are known already
        return measured

    def in_parts(self) -> Any:
        """Return the module that recounts a release whose groups outgrow one machine."""
        from reticent.audit import generalized_partitions

        return generalized_partitions

    def match(self, recount: RecomputedRelease, source: SourceComparison) -> SourceMatching:
        """Match rows by their sensitive and carried values, which divide them into parts; labels decide within a part."""
        subject = recount.subject
        axes = make_label_axes(subject, recount.labels, source)
        keys = _make_row_keys(subject, source)
        published_values = PublishedSourceValues(source, [entry.name for entry in subject.quasi])
        order = OrderStatistics()
        unmatched = 0
        overlapping = False
        for ours, theirs in source.parts(keys, [entry.name for entry in subject.columns]):
            labels = recount.labels if ours.frame is recount.frame else number_labels(ours, recount.labels)
            matching = match_rows(subject, axes, labels, ours, theirs, source)
            unmatched += matching.unmatched
            overlapping |= matching.overlapping
            published_values.add(theirs, matching.stray)
            order.add(ours, theirs, [matching.compute_mean_places()], matching.shared_values)
        return SourceMatching(
            unmatched,
            published_values.values,
            order.order(source.count_agreeing(keys), source.rows),
            overlapping,
            axes=axes,
        )


def measure_utility(
    subject: Subject,
    labels: Mapping[str, tuple[pl.Series, np.ndarray]],
    sizes: loss.GroupSizes,
    source_values: Mapping[str, Collection[str]] | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """Measure information loss from the labels, each with its number of rows; list what is not known of it.

    `source_values` are the values of columns in the source of a table of another tool, where it is given.
    """
    values = source_values or {}
    losses = [
        measure_column_loss(subject, entry, *labels[entry.name], values.get(entry.name)) for entry in subject.quasi
    ]
    notes = [result for result in losses if isinstance(result, str)]
    return combine_column_losses(subject, [result for result in losses if not isinstance(result, str)], sizes), notes


def measure_column_loss(
    subject: Subject,
    entry: ColumnEntry,
    distinct: pl.Series,
    rows: np.ndarray,
    source_values: Collection[str] | None = None,
) -> ColumnLoss | str:
    """Measure what a column's labels lose.

    A release whose labels cannot be read is damaged; for a table of another tool, return a sentence that its loss is
    not known. Its labels without a hierarchy are known to be values, or sets of them, if the source has all of these.
    """
    texts = distinct.to_list()
    if subject.foreign and entry.type == "categorical" and entry.hierarchy is None:
        if source_values is None and entry.built is not None:
            return (
                f"The hierarchy of {entry.name!r} is built of the source's values: without the source, how much its labels "
                "lose is not known, nor is the whole loss."
            )
        if source_values is None:
            return (
                f"No hierarchy of {entry.name!r} is given: how much its labels lose is not known, nor is the whole loss. "
                "A hierarchy tells it, or the source, if the labels are values of it."
            )
        entry = replace(entry, values=sorted(source_values))
    try:
        column_loss = _read_labels(subject, entry, texts, rows).measure_loss()
    except (ValueError, RecursionError):  # Unreadable, or quoted and no JSON
        if not subject.foreign:
            raise BundleDamaged(f"Column {entry.name!r} holds labels that its schema does not explain.") from None
        if source_values is not None:
            return (
                f"The labels of {entry.name!r} are not all values of the source, and no hierarchy explains them: how much "
                "they lose is not known, nor is the whole loss."
            )
        return f"The labels of {entry.name!r} are not understood: how much they lose is not known."
    if off := count_off_grid_ranges(entry, texts):
        raise BundleDamaged(
            f"Column {entry.name!r} has {pluralize(off, 'label', 'that does', 'that do')} not end on the step that the manifest says."
        )
    return column_loss


def _rebuild_column(entry: ColumnEntry, source: SourceComparison) -> ColumnEntry:
    """Return a column with the hierarchy that its job builds of the source's values."""
    if entry.built is None or entry.role != Role.QUASI:
        return entry
    distinct, times = source.values(entry.name)
    return rebuild_hierarchy(entry, distinct, times.tolist())


def combine_column_losses(subject: Subject, columns: Sequence[ColumnLoss], sizes: loss.GroupSizes) -> dict[str, Any]:
    """Combine the loss of all columns; it is not known where that of a column is not."""
    k = max((int(parse_parameter(p.parameters["k"])) for p in subject.promises if "k" in p.parameters), default=1)
    measures = loss.compute_loss_measures(columns, sizes, withheld=subject.withheld, k=k, weights=subject.weights)
    if len(columns) < len(subject.quasi):
        by_column = {entry.name: measures["ail_by_column"].get(entry.name) for entry in subject.quasi}
        return {**measures, "ail": None, "ail_by_column": by_column, "precision": None}
    return measures


def count_off_grid_ranges(entry: ColumnEntry, labels: list[str | None]) -> int:
    """Count the ranges of a column that have an end which is neither on the declared step nor a declared bound."""
    options = None if entry.labels is None else LabelOptions.parse(entry.labels)
    if options is None or options.step is None or entry.dtype.startswith("Datetime"):
        return 0
    bounds = {str(end) for end in (*(entry.domain or ()), entry.bottom, entry.top) if end is not None}
    bounds |= {"0001-01-01", "9999-12-31"}  # the first and the last day that there is
    off_grid = 0
    for label in labels:
        if label in (None, ANY_LABEL):
            continue
        form, ends = parse_label(str(label))
        if form != "range":
            continue
        start, stop = ends
        starts_well = start in bounds or _starts_on_grid(start, options)
        stops_well = stop in bounds or _stops_on_grid(stop, options)
        off_grid += not (starts_well and stops_well)
    return off_grid


def _read_rows(subject: Subject, each_row: bool) -> tuple[pl.DataFrame, np.ndarray | None]:
    """Read the rows, or each distinct row and how often it occurs; there must be as many as the manifest states."""
    if subject.frame is not None:
        return subject.frame, None
    if subject.manifest is None or subject.path is None:
        raise InternalError("There is neither a table nor a folder to recount.")
    return read_data_rows(subject, subject.manifest, subject.path, each_row=each_row)


def _read_labels(subject: Subject, entry: ColumnEntry, texts: list[str | None], rows: np.ndarray) -> ColumnLabels:
    """Read a column's labels; those of another tool one by one, as it may have written them."""
    if not subject.foreign:
        return read_column_labels(entry, texts, rows)
    scale = make_scale(entry, texts, foreign=True)
    return ColumnLabels(entry.name, scale, scale.read(texts), rows)


def _count_sensitive_columns(subject: Subject, frame: pl.DataFrame, groups: PublishedGroups) -> list[SensitiveColumn]:
    entries = subject.find_columns_with_role(Role.SENSITIVE)
    if subject.jointly and len(entries) > 1:
        named = {promise.column for promise in subject.promises}  # promised of one column beside the combination
        alone = [count_sensitive_column(entry, frame[entry.name], groups) for entry in entries if entry.name in named]
        return [count_joint_column(entries, frame, groups), *alone]
    return [count_sensitive_column(entry, frame[entry.name], groups) for entry in entries]


def _make_row_keys(subject: Subject, source: SourceComparison) -> RowKeys:
    """List the columns in which a published row and its source row must be equal: sensitive and carried ones."""
    return {
        entry.name: (
            partial(format_texts, entry=entry),
            partial(format_shared_values, entry=entry, is_readable=can_format_shared_values(entry, source)),
        )
        for entry in subject.columns
        if entry.role != Role.QUASI
    }


def _starts_on_grid(end: str, options: LabelOptions) -> bool:
    if not isinstance(options.step, str):
        return Fraction(end) % Fraction(str(options.step)) == 0
    day = date.fromisoformat(end)
    if options.step in ("day", "week"):
        return options.step == "day" or day.weekday() == 0
    return day.day == 1 and (day.year * 12 + day.month - 1) % _MONTHS_PER_STEP[options.step] == 0


def _stops_on_grid(end: str, options: LabelOptions) -> bool:
    """Whether a range ends on the grid: whole numbers and days before the next step starts, fractions where it does."""
    if isinstance(options.step, str):
        return _starts_on_grid((date.fromisoformat(end) + timedelta(days=1)).isoformat(), options)
    step = Fraction(str(options.step))
    value = Fraction(end)
    return value % step == 0 or (value + 1) % step == 0


AUDITOR = GeneralizedAuditor()
