"""Auditor of generalized releases, and of tables of other tools: groups are the rows whose labels are equal.

`count_off_grid_ranges` checks whether ranges end where the manifest declares that they were snapped to. Only a declared
step can be checked: a step that the method chose is not stated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from reticent.audit.kind import PublishedSourceValues, RecomputedRelease, SourceMatching, read_data_rows
from reticent.audit.measure import anonymity
from reticent.audit.measure.column_measures import find_worst_measures, measure_column
from reticent.audit.measure.exact_comparison import parse_parameter
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
from reticent.data.columns import Role
from reticent.data.grammar import ANY_LABEL, parse_label
from reticent.data.label_options import LabelOptions
from reticent.errors import BundleDamaged, InternalError, pluralize
from reticent.format.manifest import ColumnEntry
from reticent.labels.scale import make_scale
from reticent.utility import loss

_MONTHS_PER_STEP = {"month": 1, "quarter": 3, "year": 12, "decade": 120}


def count_off_grid_ranges(entry: ColumnEntry, labels: list[str | None]) -> int:
    """Count the ranges of a column that have an end which is neither on the declared step nor a declared bound."""
    how = None if entry.labels is None else LabelOptions.parse(entry.labels)
    if how is None or how.step is None or entry.dtype.startswith("Datetime"):
        return 0
    bounds = {str(end) for end in (*(entry.domain or ()), entry.bottom, entry.top) if end is not None}
    bounds |= {"0001-01-01", "9999-12-31"}  # the first and the last day that there is
    found = 0
    for label in labels:
        form, ends = ("value", ()) if label in (None, ANY_LABEL) else parse_label(str(label))
        if form == "range":
            on = (_starts_on_grid(ends[0], how), _stops_on_grid(ends[1], how))
            found += any(not fits and end not in bounds for end, fits in zip(ends, on, strict=True))
    return found


def _starts_on_grid(end: str, how: LabelOptions) -> bool:
    if not isinstance(how.step, str):
        return Fraction(end) % Fraction(str(how.step)) == 0
    day = date.fromisoformat(end)
    if how.step in ("day", "week"):
        return how.step == "day" or day.weekday() == 0
    return day.day == 1 and (day.year * 12 + day.month - 1) % _MONTHS_PER_STEP[how.step] == 0


def _stops_on_grid(end: str, how: LabelOptions) -> bool:
    """Whether a range ends on the grid: whole numbers and days end before the next step starts; fractions where it
    starts.
    """
    if isinstance(how.step, str):
        return _starts_on_grid((date.fromisoformat(end) + timedelta(days=1)).isoformat(), how)
    step = Fraction(str(how.step))
    value = Fraction(end)
    return value % step == 0 or (value + 1) % step == 0


@dataclass(frozen=True, slots=True)
class GeneralizedAuditor:
    """The `Auditor` of generalized releases, and of tables of other tools."""

    def recount(self, subject: Subject, *, each_row: bool, thorough: bool) -> RecomputedRelease:
        frame, times = _read_rows(subject, each_row)
        labels = {column.name: number_values(frame[column.name]) for column in subject.quasi}
        groups = group_rows(list(labels.values()), len(frame), times)
        found = _count_sensitive_columns(subject, frame, groups)
        each = {column.name: measure_column(column) for column in found}
        achieved = {
            "k-anonymity": anonymity.measure_k(groups.sizes, subject.rows_per_person),
            **find_worst_measures(list(each.values())),
        }
        shown = {name: (values.distinct, values.times(groups.times)) for name, values in labels.items()}
        utility, notes = measure_utility(subject, shown, loss.GroupSizes.from_sizes(groups.sizes))
        seen = RecomputedRelease(
            subject,
            frame,
            groups.sizes,
            groups.sizes,
            found,
            achieved,
            utility,
            times,
            each if len(each) > 1 else {},
            tuple(notes),
            labelled=True,
        )
        seen.__dict__.update(labels=labels, groups=groups)  # they are known already
        return seen

    def in_parts(self) -> Any:
        """Return the module that recounts a release whose groups outgrow one machine."""
        from reticent.audit import generalized_partitions

        return generalized_partitions

    def match(self, recounted: RecomputedRelease, source: SourceComparison) -> SourceMatching:
        """Match rows by their sensitive and carried values, which divide them into parts; labels decide within a part."""
        subject = recounted.subject
        axes = make_label_axes(subject, recounted.labels, source)
        keys = _make_row_keys(subject, source)
        kept = PublishedSourceValues(source, [entry.name for entry in subject.quasi])
        seen = OrderStatistics()
        unmatched = 0
        overlapping = False
        for ours, theirs in source.parts(keys, [entry.name for entry in subject.columns]):
            labels = recounted.labels if ours.frame is recounted.frame else number_labels(ours, recounted.labels)
            found = match_rows(subject, axes, labels, ours, theirs, source)
            unmatched = unmatched + found.unmatched
            overlapping = overlapping or found.overlapping
            kept.add(theirs, found.stray)
            seen.add(ours, theirs, [found.compute_mean_places()], found.shared_values)
        return SourceMatching(
            unmatched, kept.values, seen.order(source.count_agreeing(keys), source.rows), overlapping, axes=axes
        )


def _make_row_keys(subject: Subject, source: SourceComparison) -> RowKeys:
    """List the columns in which a published row and its source row must be equal: sensitive and carried ones."""
    return {
        entry.name: (
            partial(format_texts, entry=entry),
            partial(format_shared_values, entry=entry, read=can_format_shared_values(entry, source)),
        )
        for entry in subject.columns
        if entry.role != Role.QUASI
    }


def _read_rows(subject: Subject, each_row: bool) -> tuple[pl.DataFrame, np.ndarray | None]:
    """Read the rows, or each distinct row and how often it occurs; there must be as many as the manifest states."""
    if subject.frame is not None:
        return subject.frame, None
    if subject.manifest is None or subject.path is None:
        raise InternalError("There is neither a table nor a folder to recount.")
    return read_data_rows(subject, subject.manifest, subject.path, each_row=each_row)


def _count_sensitive_columns(subject: Subject, frame: pl.DataFrame, groups: PublishedGroups) -> list[SensitiveColumn]:
    entries = subject.find_columns_with_role(Role.SENSITIVE)
    if subject.jointly and len(entries) > 1:
        named = {promise.column for promise in subject.promises}  # promised of one column beside the combination
        alone = [count_sensitive_column(entry, frame[entry.name], groups) for entry in entries if entry.name in named]
        return [count_joint_column(entries, frame, groups), *alone]
    return [count_sensitive_column(entry, frame[entry.name], groups) for entry in entries]


def measure_utility(
    subject: Subject, labels: Mapping[str, tuple[pl.Series, np.ndarray]], sizes: loss.GroupSizes
) -> tuple[dict[str, Any], list[str]]:
    """Measure information loss from the labels, each with its number of rows.

    Also list sentences on what is not known of it.
    """
    found = [measure_column_loss(subject, entry, *labels[entry.name]) for entry in subject.quasi]
    notes = [one for one in found if isinstance(one, str)]
    return combine_column_losses(subject, [one for one in found if not isinstance(one, str)], sizes), notes


def measure_column_loss(
    subject: Subject, entry: ColumnEntry, distinct: pl.Series, rows: np.ndarray
) -> loss.ColumnLoss | str:
    """Measure what a column's labels lose.

    A release whose labels cannot be read is damaged; for a table of another tool, return a sentence that its loss is
    not known.
    """
    texts = distinct.to_list()
    if subject.foreign and entry.type == "categorical" and entry.hierarchy is None:
        return f"No hierarchy of {entry.name!r} is given: how much its labels lose is not known, nor is the whole loss."
    try:
        lines = make_scale(entry, texts, foreign=subject.foreign)
        found = loss.ColumnLabels(entry.name, lines, lines.read(texts), rows).measure_loss()
    except (ValueError, RecursionError):  # Unreadable, or quoted and no JSON
        if not subject.foreign:
            raise BundleDamaged(f"Column {entry.name!r} holds labels that its schema does not explain.") from None
        return f"The labels of {entry.name!r} are not understood: how much they lose is not known."
    if off := count_off_grid_ranges(entry, texts):
        raise BundleDamaged(
            f"Column {entry.name!r} has {pluralize(off, 'label', 'that does', 'that do')} not end on the step that the manifest says."
        )
    return found


def combine_column_losses(
    subject: Subject, columns: Sequence[loss.ColumnLoss], sizes: loss.GroupSizes
) -> dict[str, Any]:
    """Combine the loss of all columns; it is not known where that of a column is not."""
    k = max((int(parse_parameter(p.parameters["k"])) for p in subject.promises if "k" in p.parameters), default=1)
    found = loss.compute_loss_measures(columns, sizes, withheld=subject.withheld, k=k, weights=subject.weights)
    return found if len(columns) == len(subject.quasi) else {**found, "ail": None, "precision": None}


AUDITOR = GeneralizedAuditor()
