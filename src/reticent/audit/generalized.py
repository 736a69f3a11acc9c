"""The audit's eyes on a generalized release, and on tables of other tools: groups are the rows whose labels are equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.compared import Compared, Keys
from reticent.audit.covering import axes_of, borne, borne_reads, labels_of, match_rows, texts_of
from reticent.audit.data_rows import data_rows
from reticent.audit.grid import off_the_grid
from reticent.audit.grouping import PublishedGroups, group, number
from reticent.audit.kind import Kept, Matching, Recounted
from reticent.audit.measure import anonymity
from reticent.audit.measure.comparison import exact
from reticent.audit.measures import measures, worst
from reticent.audit.order import Seen
from reticent.audit.sensitive import Sensitive, jointly, recount
from reticent.audit.subject import Subject
from reticent.errors import BundleDamaged, InternalError, some
from reticent.release.manifest import ColumnEntry
from reticent.release.reading.scale import scale
from reticent.table.roles import Role
from reticent.utility import loss


@dataclass(frozen=True, slots=True)
class Generalized:
    def recount(self, subject: Subject, *, each_row: bool, thorough: bool) -> Recounted:
        frame, times = _rows(subject, each_row)
        labels = {column.name: number(frame[column.name]) for column in subject.quasi}
        groups = group(list(labels.values()), len(frame), times)
        found = _sensitive(subject, frame, groups)
        each = {column.name: measures(column) for column in found}
        achieved = {"k-anonymity": anonymity.k(groups.sizes, subject.rows_per_person), **worst(list(each.values()))}
        shown = {name: (values.distinct, values.times(groups.times)) for name, values in labels.items()}
        utility, notes = utility_of(subject, shown, loss.Sizes.of(groups.sizes))
        seen = Recounted(subject, frame, groups.sizes, groups.sizes, found, achieved, utility, times,
                         each if len(each) > 1 else {}, tuple(notes), labelled=True)  # fmt: skip
        seen.__dict__.update(labels=labels, groups=groups)  # they are known already
        return seen

    def in_parts(self) -> Any:
        """How a release is recounted whose groups outgrow a machine."""
        from reticent.audit import generalized_in_parts

        return generalized_in_parts

    def match(self, recounted: Recounted, source: Compared) -> Matching:
        """Rows by what they bear; labels decide within a part."""
        subject = recounted.subject
        axes, keys = axes_of(subject, recounted.labels, source), _keys(subject, source)
        kept, seen = Kept(source, [entry.name for entry in subject.quasi]), Seen()
        unmatched, overlapping = 0, False
        for ours, theirs in source.parts(keys, [entry.name for entry in subject.columns]):
            labels = recounted.labels if ours.frame is recounted.frame else labels_of(ours, recounted.labels)
            found = match_rows(subject, axes, labels, ours, theirs, source)
            unmatched, overlapping = unmatched + found.unmatched, overlapping or found.overlapping
            kept.add(theirs, found.stray)
            seen.add(ours, theirs, [found.mean_places()], found.borne)
        return Matching(unmatched, kept.values, seen.order(source.agreeing(keys), source.rows), overlapping, axes=axes)


def _keys(subject: Subject, source: Compared) -> Keys:
    """What a published and a source row must bear alike: sensitive and carried values."""
    return {
        entry.name: (partial(texts_of, entry=entry), partial(borne, entry=entry, read=borne_reads(entry, source)))
        for entry in subject.columns
        if entry.role != Role.QUASI
    }


def _rows(subject: Subject, each_row: bool) -> tuple[pl.DataFrame, np.ndarray | None]:
    """The rows, or each distinct row and how often it occurs; as many as the manifest says."""
    if subject.frame is not None:
        return subject.frame, None
    if subject.manifest is None or subject.path is None:
        raise InternalError("There is neither a table nor a folder to recount.")
    return data_rows(subject, subject.manifest, subject.path, each_row=each_row)


def _sensitive(subject: Subject, frame: pl.DataFrame, groups: PublishedGroups) -> list[Sensitive]:
    entries = subject.named(Role.SENSITIVE)
    if subject.jointly and len(entries) > 1:
        named = {promise.column for promise in subject.promises}  # promised of one column beside the combination
        alone = [recount(entry, frame[entry.name], groups) for entry in entries if entry.name in named]
        return [jointly(entries, frame, groups), *alone]
    return [recount(entry, frame[entry.name], groups) for entry in entries]


def utility_of(
    subject: Subject, labels: Mapping[str, tuple[pl.Series, np.ndarray]], sizes: loss.Sizes
) -> tuple[dict[str, Any], list[str]]:
    """Information loss from the labels, each with how many rows bear it, and what is not known of it."""
    found = [measured(subject, entry, *labels[entry.name]) for entry in subject.quasi]
    notes = [one for one in found if isinstance(one, str)]
    return utility_from(subject, [one for one in found if not isinstance(one, str)], sizes), notes


def measured(subject: Subject, entry: ColumnEntry, distinct: pl.Series, rows: np.ndarray) -> loss.Measured | str:
    """What a column's labels lose.  A release whose labels cannot be read is damaged; of a foreign table a sentence says that much is not known."""
    texts = distinct.to_list()
    if subject.foreign and entry.type == "categorical" and entry.hierarchy is None:
        return f"No hierarchy of {entry.name!r} is given: how much its labels lose is not known, nor is the whole loss."
    try:
        lines = scale(entry, texts, foreign=subject.foreign)
        found = loss.Labelled(entry.name, lines, lines.read(texts), rows).measured()
    except (ValueError, RecursionError):  # Unreadable, or quoted and no JSON
        if not subject.foreign:
            raise BundleDamaged(f"Column {entry.name!r} holds labels that its schema does not explain.") from None
        return f"The labels of {entry.name!r} are not understood: how much they lose is not known."
    if off := off_the_grid(entry, texts):
        raise BundleDamaged(
            f"Column {entry.name!r} has {some(off, 'label', 'that does', 'that do')} not end on the step that the manifest says."
        )
    return found


def utility_from(subject: Subject, columns: Sequence[loss.Measured], sizes: loss.Sizes) -> dict[str, Any]:
    """The loss of all columns together; not known where that of a column is not."""
    k = max((int(exact(p.parameters["k"])) for p in subject.promises if "k" in p.parameters), default=1)
    found = loss.measures(columns, sizes, withheld=subject.withheld, k=k, weights=subject.weights)
    return found if len(columns) == len(subject.quasi) else {**found, "ail": None, "precision": None}


EYES = Generalized()
