"""Audit of a generalized release in parts, for one whose groups outgrow a machine.

Formulas and verdicts are those of `generalized.py`:

    count_partition_values   counts the rows of each combination of sensitive values in some row groups of the file
    SensitiveTotals          sums these counts: the values of the whole release in order, and their distribution
    count_partition_labels   counts the rows of each label of each column in some row groups
    measure_labels           measures a column, all of whose labels are in one part: what they lose, how well they identify
    number_labels            replaces each label by its number
    scatter_rows             turns rows into numbers and sends all rows of one group to one part
    judge_partition          measures the groups of a part against the distribution of the whole release
    combine_partitions       keeps a promise if every part keeps it, and reports the worst of all parts as achieved

The labels of a column are written in order to a file that all processes see, and a label's number is its place there.
No process holds all labels in memory: there may be as many as groups.

Measures that need all rows at once are not reported for such a release: how well pairs of quasi-identifiers identify.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.audit import list_notes
from reticent.audit.generalized import combine_column_losses, measure_column_loss
from reticent.audit.groups import (
    Evidence,
    NumberedColumn,
    PublishedGroups,
    SensitiveColumn,
    group_rows,
    make_sensitive_column,
    number_values,
    rank_values,
)
from reticent.audit.kind import RecomputedRelease, find_worst_measures, measure_column
from reticent.audit.measure import anonymity
from reticent.audit.measure.counts import list_views, parse_parameter
from reticent.audit.result import Audit, Verdict, judge_promise
from reticent.audit.risk import (
    DEFAULT_THRESHOLD,
    AdversaryRisk,
    IdentifyingColumns,
    Risk,
    count_least_persons,
    find_exposed_groups,
    measure_passthrough,
    rank_identifying_columns,
)
from reticent.audit.subject import Subject
from reticent.data.columns import Role
from reticent.errors import BundleDamaged
from reticent.format.data_files import ROW_COUNT_COLUMN, read_partition
from reticent.labels.label_loss import ColumnLoss
from reticent.release.kind import find_data_files, list_schemas
from reticent.utility import loss

COLUMN_KEY = "\x00column"
LABEL_KEY = "\x00label"
LABEL_SCHEMA = {COLUMN_KEY: pl.Int32(), LABEL_KEY: pl.String(), ROW_COUNT_COLUMN: pl.Int64()}
PART_COLUMN = "\x00part"
VALUE_COLUMN = "\x00value"
PARAMETERS_WORST_WHEN_LEAST = ("k", "l")


@dataclass(frozen=True, slots=True)
class ColumnLabelMeasures:
    """What the labels of a column lose, and how well they identify."""

    column: int
    label_loss: ColumnLoss
    identification: IdentifyingColumns


def count_labels(frames: Iterable[pl.DataFrame], subject: Subject) -> Iterator[pl.DataFrame]:
    """Count the rows of each label of each quasi-identifier in some frames."""
    counts: dict[str, list[pl.DataFrame]] = {entry.name: [] for entry in subject.quasi}
    for frame in frames:
        for name, summed in counts.items():
            counted = frame.group_by(pl.col(name).alias(LABEL_KEY)).agg(pl.len().cast(pl.Int64).alias(ROW_COUNT_COLUMN))
            counts[name] = [_sum_label_counts([*summed, counted])]
    for column, summed in enumerate(counts.values()):
        for total in summed:
            yield total.select(pl.lit(column, pl.Int32).alias(COLUMN_KEY), LABEL_KEY, ROW_COUNT_COLUMN)


def measure_labels(frames: Iterable[pl.DataFrame], subject: Subject, folder: Path) -> list[ColumnLabelMeasures]:
    """Measure each column that is in this part, and write its labels to a file in `folder`."""
    return [
        _measure_column_labels(column, subject, folder) for column in pl.concat(list(frames)).partition_by(COLUMN_KEY)
    ]


def number_labels(frames: Iterable[pl.DataFrame], names: Sequence[str], folder: Path) -> Iterator[pl.DataFrame]:
    """Replace the columns of these names by the number of each label, under `name_label_number`."""
    numbered = [
        pl.read_parquet(_find_label_file(folder, column), memory_map=False, glob=False).with_row_index(
            name_label_number(column)
        )
        for column in range(len(names))
    ]
    for frame in frames:
        for name, labels in zip(names, numbered, strict=True):
            frame = frame.join(
                labels, left_on=name, right_on=LABEL_KEY, how="left", nulls_equal=True, maintain_order="left"
            ).drop(name)
        yield frame.with_columns(pl.col(name_label_number(column)).cast(pl.Int32) for column in range(len(names)))


def name_label_number(column: int) -> str:
    """Name the column that holds the numbers of a column's labels."""
    return f"\x00l{column}"


def count_partition_values(subject: Subject, part: int, parts: int) -> pl.DataFrame | None:
    """Count the rows of each combination of sensitive values in some of the row groups."""
    names = [entry.name for entry in subject.find_columns_with_role(Role.SENSITIVE)]
    total = None
    for frame in _read_frames(subject, part, parts, Role.SENSITIVE):
        counted = _count_rows(frame, names)
        total = counted if total is None else _sum_row_counts([total, counted])
    return total


def count_partition_labels(subject: Subject, part: int, parts: int) -> Iterator[pl.DataFrame]:
    """Count the rows of each label in some of the row groups."""
    return count_labels(_read_frames(subject, part, parts, Role.QUASI), subject)


@dataclass(frozen=True, eq=False)
class SensitiveTotals:
    """The combinations of sensitive values in the whole release, each with its number of rows."""

    values: pl.DataFrame
    times: np.ndarray

    @classmethod
    def from_tallies(cls, subject: Subject, tallies: Iterable[pl.DataFrame | None]) -> SensitiveTotals:
        frames = [frame for frame in tallies if frame is not None]
        total = _sum_row_counts(frames) if frames else pl.DataFrame(schema={ROW_COUNT_COLUMN: pl.Int64})
        rows = int(total[ROW_COUNT_COLUMN].sum())
        assert subject.manifest is not None
        if rows != subject.manifest.rows:
            raise BundleDamaged(f"The data has {rows} rows, the manifest says {subject.manifest.rows}.")
        if not rows:
            raise BundleDamaged("The release has no rows.")
        return cls(total.drop(ROW_COUNT_COLUMN), total[ROW_COUNT_COLUMN].to_numpy())

    @property
    def rows(self) -> int:
        return int(self.times.sum())


def scatter_rows(
    subject: Subject, totals: SensitiveTotals, folder: Path, into: int, part: int, parts: int
) -> Iterator[pl.DataFrame]:
    """Turn rows of some row groups into numbers of labels and values, each with its row count and the part it goes to."""
    names = [entry.name for entry in subject.quasi]
    numbers = [name_label_number(column) for column in range(len(names))]
    values = totals.values.with_columns(pl.Series(VALUE_COLUMN, np.arange(len(totals.times), dtype=np.int32)))
    sensitive = totals.values.columns
    for frame in number_labels(_read_frames(subject, part, parts, Role.QUASI, Role.SENSITIVE), names, folder):
        if sensitive:
            frame = frame.join(values, on=sensitive, how="left", nulls_equal=True, maintain_order="left")
        else:
            frame = frame.with_columns(pl.lit(0, pl.Int32).alias(VALUE_COLUMN))
        counted = _count_rows(frame, [*numbers, VALUE_COLUMN])
        word = np.zeros(len(counted), np.uint64)
        for name in numbers:  # any part will do, as long as one group is in one part
            word = (word + counted[name].to_numpy().astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
            word ^= word >> np.uint64(29)
        yield counted.with_columns(pl.Series(PART_COLUMN, (word % np.uint64(into)).astype(np.int32)))


def make_scatter_schema(subject: Subject) -> dict[str, pl.DataType]:
    numbers = [*(name_label_number(column) for column in range(len(subject.quasi))), VALUE_COLUMN]
    return {**dict.fromkeys(numbers, pl.Int32()), ROW_COUNT_COLUMN: pl.Int64(), PART_COLUMN: pl.Int32()}


@dataclass(frozen=True, eq=False)
class PartitionResult:
    """Result of auditing a part of the groups: verdicts, measures, and sums that those of all parts add up to.

    `min_persons` are the fewest in a group, `exposed` the rows at risk, `uniques` the groups of one person, `risks` the
    sum of all rows' risks.
    """

    verdicts: tuple[Verdict, ...]
    achieved: Mapping[str, Any]
    by_column: Mapping[str, Mapping[str, Any]]
    sizes: loss.GroupSizes
    min_persons: int
    exposed: int
    uniques: int
    risks: float


def judge_partition(frames: Iterable[pl.DataFrame], subject: Subject, totals: SensitiveTotals) -> PartitionResult:
    """Measure and judge the groups of one part; all rows of each group are in it."""
    rows = pl.concat(list(frames))
    rows = rows.group_by([name for name in rows.columns if name not in (ROW_COUNT_COLUMN, PART_COLUMN)]).agg(
        pl.col(ROW_COUNT_COLUMN).sum()
    )
    columns = [number_values(rows[name_label_number(index)]) for index in range(len(subject.quasi))]
    groups = group_rows(columns, len(rows), rows[ROW_COUNT_COLUMN].to_numpy())
    sensitive = make_sensitive_columns(subject, totals, rows[VALUE_COLUMN].to_numpy(), groups)
    measures = {column.name: measure_column(column) for column in sensitive}
    achieved = {
        "k-anonymity": anonymity.measure_k(groups.sizes, subject.rows_per_person),
        **find_worst_measures(list(measures.values())),
    }
    evidence = Evidence(
        class_sizes=groups.sizes,
        sizes=groups.sizes,
        sensitive=sensitive,
        withheld=subject.withheld_later,
        stages=subject.stages,
        rows_per_person=subject.rows_per_person,
        columns=subject.columns,
    )
    verdicts = tuple(judge_promise(promise, evidence) for promise in subject.promises)
    limit = parse_parameter(DEFAULT_THRESHOLD)
    sizes = groups.sizes
    persons = count_least_persons(sizes, subject.rows_per_person)
    return PartitionResult(
        verdicts=verdicts,
        achieved=achieved,
        by_column=measures if len(measures) > 1 else {},
        sizes=loss.GroupSizes.from_sizes(sizes),
        min_persons=int(persons.min()),
        exposed=int(sizes[find_exposed_groups(persons, limit)].sum()),
        uniques=int((persons == 1).sum()),
        risks=fsum(sizes / persons),
    )


def make_sensitive_columns(
    subject: Subject, totals: SensitiveTotals, combination: np.ndarray, groups: PublishedGroups
) -> list[SensitiveColumn]:
    """Make the sensitive columns of a part, with the whole release's distribution.

    `combination` is that of each row.
    """
    entries = subject.find_columns_with_role(Role.SENSITIVE)
    jointly = subject.jointly and len(entries) > 1
    named = {promise.column for promise in subject.promises}
    columns = [_make_joint_column(entries, totals, combination, groups)] if jointly else []
    for entry in entries:
        if jointly and entry.name not in named:
            continue
        values = number_values(totals.values[entry.name])
        rank, _ = rank_values(entry, values.distinct)
        value_of_rank = np.zeros(int(rank.max()) + 1, np.int64)  # a value of each rank
        value_of_rank[rank] = np.arange(len(rank))
        ordered = values.distinct.gather(value_of_rank)
        code = rank[values.codes].astype(np.int32)  # of each combination
        counts = groups.counts(NumberedColumn(code[combination], ordered))
        counts = replace(counts, totals=np.bincount(code, totals.times, len(ordered)).astype(np.int64))
        columns.append(make_sensitive_column(entry, list_views(counts, ordered.is_null().to_numpy()), ordered))
    return columns


def combine_partitions(
    subject: Subject, totals: SensitiveTotals, labels: Sequence[ColumnLabelMeasures], parts: Sequence[PartitionResult]
) -> Audit:
    """Combine the results of all parts and the labels of each column into the audit of the release."""
    sizes = loss.GroupSizes(
        groups=sum(part.sizes.groups for part in parts),
        rows=sum(part.sizes.rows for part in parts),
        squares=sum(part.sizes.squares for part in parts),
    )
    if sizes.rows != totals.rows:
        raise BundleDamaged(f"The data has {totals.rows} rows, and {sizes.rows} of them were recounted.")
    columns = sorted(labels, key=lambda measures: measures.column)
    utility = combine_column_losses(subject, [measures.label_loss for measures in columns], sizes)
    achieved = find_worst_measures([part.achieved for part in parts])
    by_column = {name: find_worst_measures([part.by_column[name] for part in parts]) for name in parts[0].by_column}
    verdicts_by_promise = zip(*(part.verdicts for part in parts), strict=True)
    no_sizes = np.zeros(0, np.int64)
    recount = RecomputedRelease(subject, totals.values, no_sizes, no_sizes, (), achieved, utility, totals.times)
    return Audit(
        kind=subject.kind,
        rows=sizes.rows,
        groups=sizes.groups,
        withheld=subject.withheld,
        promises=tuple(_combine_verdicts(verdicts) for verdicts in verdicts_by_promise),
        exact=achieved,
        utility=utility,
        risk=_combine_risks(columns, sizes, parts, subject.rows_per_person),
        by_column=by_column,
        notes=list_notes(recount),
        carried=measure_passthrough(recount),
        about=subject.about,
        withheld_before={} if subject.manifest is None else subject.manifest.withheld_before,
    )


def _sum_label_counts(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames).group_by(LABEL_KEY).agg(pl.col(ROW_COUNT_COLUMN).sum())


def _measure_column_labels(counts: pl.DataFrame, subject: Subject, folder: Path) -> ColumnLabelMeasures:
    column = int(counts[COLUMN_KEY][0])
    labels = _sum_label_counts([counts.drop(COLUMN_KEY)]).sort(LABEL_KEY)
    _write_label_file(labels.select(LABEL_KEY), _find_label_file(folder, column))
    entry = subject.quasi[column]
    rows = labels[ROW_COUNT_COLUMN].to_numpy()
    lost = measure_column_loss(subject, entry, labels[LABEL_KEY], rows)
    assert isinstance(lost, ColumnLoss)  # it is always known for a release of ours
    return ColumnLabelMeasures(
        column, lost, *rank_identifying_columns([entry.name], np.arange(len(rows))[:, None], rows, pairs=False)
    )


def _find_label_file(folder: Path, column: int) -> Path:
    return folder / f"labels-{column}.parquet"


def _read_frames(subject: Subject, part: int, parts: int, *roles: str) -> Iterator[pl.DataFrame]:
    """Read the columns of these roles; where there is none, the first quasi-identifier, so that rows can be counted."""
    assert subject.path is not None and subject.manifest is not None  # a release folder
    file = find_data_files(subject.path, subject.manifest)["data"]
    schema = list_schemas(subject.manifest)["data"]
    names = [entry.name for entry in subject.columns if entry.role in roles] or [subject.quasi[0].name]
    for frame in read_partition(file, schema, names, part, parts):
        floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
        yield frame.with_columns(pl.col(floats).fill_nan(None))


def _count_rows(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    if not names:  # no sensitive column: all rows have the one empty combination
        return pl.DataFrame({ROW_COUNT_COLUMN: [len(frame)]}, schema={ROW_COUNT_COLUMN: pl.Int64})
    return frame.group_by(names).agg(pl.len().cast(pl.Int64).alias(ROW_COUNT_COLUMN))


def _sum_row_counts(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    names = [name for name in frames[0].columns if name != ROW_COUNT_COLUMN]
    if not names:
        return pl.concat(frames).sum()
    return pl.concat(frames).group_by(names).agg(pl.col(ROW_COUNT_COLUMN).sum())


def _make_joint_column(
    entries: Sequence[Any], totals: SensitiveTotals, combination: np.ndarray, groups: PublishedGroups
) -> SensitiveColumn:
    counts = groups.counts(NumberedColumn(combination, pl.Series(np.arange(len(totals.times)))))
    null = totals.values.select(pl.any_horizontal(pl.all().is_null())).to_series().to_numpy()
    views = list_views(replace(counts, totals=totals.times.astype(np.int64)), null)
    return SensitiveColumn(", ".join(entry.name for entry in entries), views, None, joint=True)


def _combine_verdicts(verdicts: Sequence[Verdict]) -> Verdict:
    """Combine the verdicts of all parts on one promise."""
    outcomes = [verdict.kept for verdict in verdicts]
    achieved = {}
    for name in verdicts[0].achieved:
        values = [verdict.achieved[name] for verdict in verdicts]
        achieved[name] = None if None in values else (min if name in PARAMETERS_WORST_WHEN_LEAST else max)(values)
    undecided = None in outcomes and False not in outcomes
    return replace(verdicts[0], achieved=achieved, kept=None if undecided else False not in outcomes)


def _combine_risks(
    labels: Sequence[ColumnLabelMeasures],
    sizes: loss.GroupSizes,
    parts: Sequence[PartitionResult],
    rows_per_person: int,
) -> Risk:
    """Combine the risks of all parts; pairs of columns need all rows at once and are not ranked."""
    min_persons = min(part.min_persons for part in parts)
    exposed = sum(part.exposed for part in parts)
    total_risk = float(sizes.groups) if rows_per_person == 1 else fsum(part.risks for part in parts)
    identifications = [measures.identification for measures in labels]
    return Risk(
        rows=sizes.rows,
        groups=sizes.groups,
        threshold=float(parse_parameter(DEFAULT_THRESHOLD)),
        prosecutor=AdversaryRisk(1 / min_persons, total_risk / sizes.rows, exposed),
        journalist=None,
        sample_uniques=sum(part.uniques for part in parts),
        population_uniques=None,
        columns=tuple(sorted(identifications, key=lambda entry: (-entry.separation, -entry.distinction))),
        rows_per_person=rows_per_person,
    )


def _write_label_file(labels: pl.DataFrame, path: Path) -> None:
    """Write all of the file or nothing: another attempt may be writing the same content at the same time."""
    temporary = path.with_name(f".{path.name}-{uuid.uuid4().hex}")
    labels.write_parquet(temporary)
    os.replace(temporary, path)
