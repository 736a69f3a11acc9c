"""The interface between the audit and the release kinds.

`audit/<kind>.py` holds one object, AUDITOR, that follows `Auditor` and does what only the kind knows: it recounts the
files (`RecomputedRelease`) and matches them with the source (`SourceMatching`). `audit.py` does the rest alike for every
kind: digest, shape, checksums, promises and, given the source, leaks in every byte of every file, row order, missing
values and carried columns.

What several kinds share is below the interface: reading the file `data`, and collecting which values of the source are
published.

A table that another tool made has no manifest that states what was withheld or what the other columns are
(`infer_withheld_rows`, `list_third_party_notes`). A column without a role is treated as carried: it is published as it
is. So is a column that a job declares identifying and that is in the table all the same.

`measure_column` computes all measures of a sensitive column by name, which an audit reports whether or not they were
promised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from reticent import catalogue
from reticent.audit.groups import (
    GroupedRows,
    NumberedColumn,
    Perturbation,
    PublishedGroups,
    SamplingParameters,
    SensitiveColumn,
    TargetedGroups,
    group_rows,
    number_values,
)
from reticent.audit.measure import closeness, diversity, likeness
from reticent.audit.order import CANONICAL_ORDER, RowOrder
from reticent.audit.row_matching import LabelAxis
from reticent.audit.source_comparison import ComparedRows, SourceComparison
from reticent.audit.subject import Subject
from reticent.data.columns import Role
from reticent.data.label_grammar import ANY_LABEL
from reticent.data.passthrough import MAX_UNIQUE_PERCENT
from reticent.errors import BundleDamaged
from reticent.format.data_files import DataFile, count_distinct_rows, is_small_file, read_data
from reticent.format.manifest import Manifest
from reticent.release.kind import find_data_files, list_schemas

EXACT_QUASI_NOTE = "quasi-identifiers are published as they are: k is 1 wherever a combination is unique, and that is no fault of this kind"
MEASURES_WORST_WHEN_LEAST = {"k-anonymity", "distinct-l-diversity", "probabilistic-l-diversity", "entropy-l-diversity"}


@dataclass(frozen=True, eq=False)
class RecomputedRelease:
    """What the files of a release show.

    `frame` holds the published rows in the order of their file, or each distinct row once with how often it occurs in
    `times`. `class_sizes` counts the rows that agree in every quasi-identifier, `sizes` those of each group.
    """

    subject: Subject
    frame: pl.DataFrame
    class_sizes: np.ndarray
    sizes: np.ndarray
    sensitive: Sequence[SensitiveColumn]
    measures: Mapping[str, Any]
    utility: Mapping[str, Any]
    times: np.ndarray | None = None
    by_column: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    perturbation: Perturbation | None = None
    targeted: TargetedGroups | None = None
    other_tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)  # further files, by name
    explained: frozenset[str] = frozenset()  # texts of values that the kind publishes whether or not anybody has them
    labelled: bool = False  # whether quasi-identifiers are labels that cover several values
    sampling: SamplingParameters | None = None
    grouped: GroupedRows | None = None

    @cached_property
    def labels(self) -> Mapping[str, NumberedColumn]:
        """Each quasi-identifier of each row as it is published, numbered."""
        return {column.name: number_values(self.frame[column.name]) for column in self.subject.quasi}

    @cached_property
    def groups(self) -> PublishedGroups:
        """The rows grouped by all quasi-identifiers."""
        return group_rows(list(self.labels.values()), len(self.frame), self.times)

    @property
    def foreign(self) -> bool:
        """Whether another tool made the table."""
        return self.subject.foreign

    @property
    def rows(self) -> int:
        return len(self.frame) if self.times is None else int(self.times.sum())

    @property
    def multiplicities(self) -> np.ndarray:
        """How many published rows each row of `frame` stands for."""
        return np.ones(len(self.frame), np.int64) if self.times is None else self.times

    def column(self, name: str) -> pl.Series:
        """Return a published column from whichever file holds it.

        Where distinct rows were counted, carried columns are not available.
        """
        return next(table[name] for table in (self.frame, *self.other_tables.values()) if name in table.columns)


@dataclass(frozen=True, slots=True)
class SourceFinding:
    """One result of the comparison with the source; `passed` is None where the data cannot show it.

    `facts` are the entries for it under "source" in an audit's JSON. A release is not called kept while a `needed`
    finding is open.
    """

    name: str
    passed: bool | None
    facts: Mapping[str, Any]
    sentence: str
    needed: bool = False


@dataclass(frozen=True, eq=False)
class SourceMatching:
    """How published rows stand for source rows.

    `unmatched` published rows stand for no source row of their own; `published_values` has the quasi-identifying values
    of source rows that some published row could stand for. `order` is the test of whether the order of rows depends on the
    source's. `missing` source rows are in no group, where a published row stands for many; None where each stands for
    one. `axes` are, for each labelled column, what its labels cover and the source's rows by value.
    """

    unmatched: int
    published_values: Mapping[str, pl.Series]
    order: RowOrder = CANONICAL_ORDER
    overlapping: bool = False
    findings: tuple[SourceFinding, ...] = ()
    perturbation: Perturbation | None = None
    sampling: SamplingParameters | None = None
    missing: int | None = None
    axes: Sequence[LabelAxis] | None = None


class Auditor(Protocol):
    """How the audit recounts one release kind and matches it with its source."""

    def recount(self, subject: Subject, *, each_row: bool, thorough: bool) -> RecomputedRelease:
        """Recount groups and histograms from the files.

        Raise if they are damaged. Without `each_row`, distinct rows are enough.

        `thorough` checks the order of rows too, where the kind has one; `publish` has just written it, and does not
        need that.
        """

    def match(self, recount: RecomputedRelease, source: SourceComparison) -> SourceMatching:
        """Find how the published rows stand for those of the source."""

    # A kind whose rows do not show their own sensitive values has `describe_sensitive_loss(rows, utility)`: a sentence.


def auditor_for(kind: str) -> Auditor:
    """Load the auditor of a release kind from the catalogue."""
    auditor: Auditor = catalogue.load_object(catalogue.KINDS[kind].auditor)
    return auditor


class PublishedSourceValues:
    """Collects the values of some columns in source rows that were not left out, from one part after another."""

    def __init__(self, source: SourceComparison, names: Sequence[str]):
        self._source = source
        self._names = names
        self._masks = {name: np.zeros(len(source.values(name)[0]), bool) for name in names}

    def add(self, theirs: ComparedRows, stray: np.ndarray) -> None:
        for name in self._names:
            self._masks[name][self._source.number_column(name, theirs).codes[~stray]] = True

    @property
    def values(self) -> dict[str, pl.Series]:
        return {name: self._source.values(name)[0].filter(pl.Series(mask)) for name, mask in self._masks.items()}


def should_read_rows(
    subject: Subject, file: DataFile, schema: Mapping[str, str], *, each_row: bool, thorough: bool = False
) -> bool:
    """Whether a file is read row by row.

    It is where its rows are compared, or where rows have carried columns or an order to be checked (`thorough`) and the
    file is small. Otherwise its distinct rows are counted without the carried columns, which are counted by themselves
    (`passthrough.py`).
    """
    if each_row:
        return True
    needs_rows = thorough or bool(subject.find_columns_with_role(Role.INSENSITIVE))
    return needs_rows and is_small_file(file, schema)


def read_data_rows(
    subject: Subject, manifest: Manifest, folder: Path, *, each_row: bool
) -> tuple[pl.DataFrame, np.ndarray | None]:
    """Read the file `data`: all its rows and None, or each distinct row and how often it occurs.

    There must be as many rows as the manifest states, and at least one.
    """
    file = find_data_files(folder, manifest)["data"]
    schema = list_schemas(manifest)["data"]
    if should_read_rows(subject, file, schema, each_row=each_row):
        frame = read_data(file, schema)
        times = None
    else:
        names = [entry.name for entry in subject.columns if entry.role != Role.INSENSITIVE]
        frame, times = count_distinct_rows(file, schema, names)
    rows = len(frame) if times is None else int(times.sum())
    if rows != manifest.rows:
        raise BundleDamaged(f"The data has {rows} rows, the manifest says {manifest.rows}.")
    if not rows:
        raise BundleDamaged("The release has no rows.")
    return frame, times


def infer_withheld_rows(subject: Subject, source: pl.DataFrame | pl.LazyFrame | None) -> Subject:
    """Return a table of another tool with the number of source rows that it does not have as `withheld`."""
    if subject.frame is None or not isinstance(source, pl.DataFrame):
        return subject
    return replace(subject, withheld=max(len(source) - len(subject.frame), 0))


def find_near_unique_columns(subject: Subject) -> dict[str, int]:
    """Find columns without a role in which too many rows have a value of their own; return how many rows, by column."""
    if subject.undeclared is None:
        return {}
    unique_counts = {}
    for series in subject.undeclared:
        unique_count = int((np.bincount(number_values(series).codes) == 1).sum())
        if unique_count * 100 > MAX_UNIQUE_PERCENT * len(series):
            unique_counts[series.name] = unique_count
    return unique_counts


def list_third_party_notes(recount: RecomputedRelease) -> list[str]:
    """List notes on columns that single people out though nobody gave them a role, and on rows that show nothing."""
    subject = recount.subject
    if subject.undeclared is None:
        return []
    notes = [
        f"Column {name!r} has no role and is near-unique: {own:,} of {recount.rows:,} rows have a value of their own. Who knows it "
        "knows the row, whatever is promised."
        for name, own in find_near_unique_columns(subject).items()
    ]
    hidden = _count_hidden_rows(recount)
    if hidden:
        notes.append(
            f"{hidden:,} rows show * in every quasi-identifier: they are withheld but for their other columns."
        )
    return notes


def measure_column(column: SensitiveColumn) -> dict[str, Any]:
    """Measure everything a sensitive column achieves, by the measures' names; None where no parameter would hold."""
    views = column.views
    measures: dict[str, Any] = {
        "alpha": diversity.measure_alpha(views),
        "distinct-l-diversity": diversity.measure_distinct_l(views),
        "probabilistic-l-diversity": diversity.measure_probabilistic_l(views),
        "entropy-l-diversity": diversity.measure_entropy_l(views),
        "t-closeness-equal": closeness.measure_equal_distance(views),
        "beta-likeness-basic": likeness.measure_beta(views, enhanced=False, two_sided=False),
        "beta-likeness-enhanced": likeness.measure_beta(views, enhanced=True, two_sided=False),
        "beta-likeness-two-sided": likeness.measure_beta(views, enhanced=True, two_sided=True),
        "delta-disclosure": likeness.compute_delta(likeness.find_worst_ratio(views)),
        "delta-disclosure-ignoring-absent": likeness.compute_delta(likeness.find_worst_ratio(views, absent="ignore")),
    }
    if not column.joint:  # combined values of several columns have no order
        measures["t-closeness-ordered"] = closeness.measure_ordered_distance(views)
    if column.paths is not None:
        measures["t-closeness-hierarchical"] = closeness.measure_hierarchical_distance(views, column.paths)
    return measures


def find_worst_measures(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Combine the measures of several sensitive columns: the worst of each."""
    worst: dict[str, Any] = {}
    for name in dict.fromkeys(name for table in tables for name in table):
        values = [table[name] for table in tables if name in table]
        worst[name] = None if None in values else (min if name in MEASURES_WORST_WHEN_LEAST else max)(values)
    return worst


def _count_hidden_rows(recount: RecomputedRelease) -> int:
    """Count the rows that show a star in every quasi-identifier."""
    if not recount.subject.quasi:
        return 0
    is_hidden = pl.all_horizontal((pl.col(entry.name) == ANY_LABEL).fill_null(False) for entry in recount.subject.quasi)
    return int(recount.frame.select(is_hidden.alias("x")).to_series().sum())
