"""A generalized release audited in parts, for one whose groups outgrow a machine: the same formulas, the same verdicts.

    tallied     each combination of sensitive values with how many rows have it, from some row groups of the file
    Whole       what these say of the whole release: its values in order, its distribution
    labels      the same row groups' labels, which are then numbered and measured column by column (`generalized_labels.py`)
    scattered   rows as numbers, all rows of one group in one part
    judged      the groups of a part, measured against the whole release's distribution
    together    a promise is kept if it is in every part, and what is achieved is the worst of all parts

What is asked of all rows at once is not said of such a release: how well pairs of quasi-identifiers identify.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.audit import generalized_labels
from reticent.audit.audit import notes_of
from reticent.audit.carried import carried
from reticent.audit.evidence import Evidence
from reticent.audit.generalized import utility_from
from reticent.audit.generalized_labels import Told, number_of, numbered
from reticent.audit.grouping import Numbered, PublishedGroups, group, number
from reticent.audit.judge import Verdict, judge
from reticent.audit.kind import Recounted
from reticent.audit.measure import anonymity
from reticent.audit.measure.comparison import exact
from reticent.audit.measure.counts import views
from reticent.audit.measures import measures, worst
from reticent.audit.result import Audit
from reticent.audit.risk import THRESHOLD, Adversary, Risk, exposed_groups, least_persons
from reticent.audit.sensitive import Sensitive, of_counts, ranks
from reticent.audit.subject import Subject
from reticent.errors import BundleDamaged
from reticent.release.data import COUNT, read_part
from reticent.release.kind import data_files, schemas_of
from reticent.table.roles import Role
from reticent.utility import loss

PART, VALUE = "\x00part", "\x00value"
LABELS, COLUMN, told_labels = generalized_labels.SCHEMA, generalized_labels.COLUMN, generalized_labels.told
LEAST_IS_WORST = ("k", "l")


def tallied(subject: Subject, part: int, parts: int) -> pl.DataFrame | None:
    """Combinations of sensitive values with their rows, in some of the row groups."""
    names, found = [entry.name for entry in subject.named(Role.SENSITIVE)], None
    for frame in _frames(subject, part, parts, Role.SENSITIVE):
        here = _counted(frame, names)
        found = here if found is None else _summed([found, here])
    return found


def labels(subject: Subject, part: int, parts: int) -> Iterator[pl.DataFrame]:
    """The labels of some of the row groups, with their rows."""
    return generalized_labels.counted(_frames(subject, part, parts, Role.QUASI), subject)


def _counted(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    if not names:  # no sensitive column: all rows are of one combination of none
        return pl.DataFrame({COUNT: [len(frame)]}, schema={COUNT: pl.Int64})
    return frame.group_by(names).agg(pl.len().cast(pl.Int64).alias(COUNT))


def _summed(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    names = [name for name in frames[0].columns if name != COUNT]
    if not names:
        return pl.concat(frames).sum()
    return pl.concat(frames).group_by(names).agg(pl.col(COUNT).sum())


def _frames(subject: Subject, part: int, parts: int, *roles: str) -> Iterator[pl.DataFrame]:
    """Columns of these roles; where no column has one, of the quasi-identifiers, whose rows are counted all the same."""
    assert subject.path is not None and subject.manifest is not None  # a release folder
    file, schema = data_files(subject.path, subject.manifest)["data"], schemas_of(subject.manifest)["data"]
    shown = [entry.name for entry in subject.columns if entry.role in roles] or [subject.quasi[0].name]
    for frame in read_part(file, schema, shown, part, parts):
        floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
        yield frame.with_columns(pl.col(floats).fill_nan(None))


@dataclass(frozen=True, eq=False)
class Whole:
    """The combinations of sensitive values, each with how many rows have it."""

    values: pl.DataFrame
    times: np.ndarray

    @classmethod
    def of(cls, subject: Subject, tallies: Iterable[pl.DataFrame | None]) -> Whole:
        told = [one for one in tallies if one is not None]
        found = _summed(told) if told else pl.DataFrame(schema={COUNT: pl.Int64})
        rows = int(found[COUNT].sum())
        assert subject.manifest is not None
        if rows != subject.manifest.rows:
            raise BundleDamaged(f"The data has {rows} rows, the manifest says {subject.manifest.rows}.")
        if not rows:
            raise BundleDamaged("The release has no rows.")
        return cls(found.drop(COUNT), found[COUNT].to_numpy())

    @property
    def rows(self) -> int:
        return int(self.times.sum())


def scattered(subject: Subject, whole: Whole, folder: Path, into: int, part: int, parts: int) -> Iterator[pl.DataFrame]:
    """Rows of some row groups as numbers of their labels and values, with how often each occurs and the part it goes to."""
    names = [entry.name for entry in subject.quasi]
    numbers = [number_of(at) for at in range(len(names))]
    values = whole.values.with_columns(pl.Series(VALUE, np.arange(len(whole.times), dtype=np.int32)))
    held = whole.values.columns
    for frame in numbered(_frames(subject, part, parts, Role.QUASI, Role.SENSITIVE), names, folder):
        if held:
            frame = frame.join(values, on=held, how="left", nulls_equal=True, maintain_order="left")
        else:
            frame = frame.with_columns(pl.lit(0, pl.Int32).alias(VALUE))
        counted = _counted(frame, [*numbers, VALUE])
        word = np.zeros(len(counted), np.uint64)
        for name in numbers:  # whichever part it is: one group is in one part
            word = (word + counted[name].to_numpy().astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
            word ^= word >> np.uint64(29)
        yield counted.with_columns(pl.Series(PART, (word % np.uint64(into)).astype(np.int32)))


def scattered_schema(subject: Subject) -> dict[str, pl.DataType]:
    numbers = [*(number_of(at) for at in range(len(subject.quasi))), VALUE]
    return {**dict.fromkeys(numbers, pl.Int32()), COUNT: pl.Int64(), PART: pl.Int32()}


@dataclass(frozen=True, eq=False)
class Judged:
    """What a part of the groups shows."""

    verdicts: tuple[Verdict, ...]
    achieved: Mapping[str, Any]
    by_column: Mapping[str, Mapping[str, Any]]
    sizes: loss.Sizes
    least: int
    exposed: int
    uniques: int
    risks: float  # of all rows, added up


def judged(frames: Iterable[pl.DataFrame], subject: Subject, whole: Whole) -> Judged:
    """The groups of one part; all rows of each are in it."""
    held = pl.concat(list(frames))
    held = held.group_by([name for name in held.columns if name not in (COUNT, PART)]).agg(pl.col(COUNT).sum())
    columns = [number(held[number_of(at)]) for at in range(len(subject.quasi))]
    groups = group(columns, len(held), held[COUNT].to_numpy())
    found = sensitive(subject, whole, held[VALUE].to_numpy(), groups)
    each = {column.name: measures(column) for column in found}
    achieved = {"k-anonymity": anonymity.k(groups.sizes, subject.rows_per_person), **worst(list(each.values()))}
    evidence = Evidence(groups.sizes, groups.sizes, found, subject.withheld, subject.stages, subject.rows_per_person,
                        columns=subject.columns)  # fmt: skip
    verdicts = tuple(judge(promise, evidence) for promise in subject.promises)
    limit, sizes = exact(THRESHOLD), groups.sizes
    persons = least_persons(sizes, subject.rows_per_person)
    exposed = int(sizes[exposed_groups(persons, limit)].sum())
    by_column = each if len(each) > 1 else {}
    return Judged(
        verdicts,
        achieved,
        by_column,
        loss.Sizes.of(sizes),
        int(persons.min()),
        exposed,
        int((persons == 1).sum()),
        fsum(sizes / persons),
    )


def sensitive(subject: Subject, whole: Whole, which: np.ndarray, groups: PublishedGroups) -> list[Sensitive]:
    """The sensitive columns of a part, with the whole release's distribution; `which` combination each row has."""
    entries = subject.named(Role.SENSITIVE)
    jointly = subject.jointly and len(entries) > 1
    named = {promise.column for promise in subject.promises}
    found = [_joint(entries, whole, which, groups)] if jointly else []
    for entry in entries:
        if jointly and entry.name not in named:
            continue
        values = number(whole.values[entry.name])
        rank, _ = ranks(entry, values.distinct)
        one = np.zeros(int(rank.max()) + 1, np.int64)  # a value of each rank
        one[rank] = np.arange(len(rank))
        ordered = values.distinct.gather(one)
        code = rank[values.codes].astype(np.int32)  # of each combination
        counts = groups.counts(Numbered(code[which], ordered))
        counts = replace(counts, totals=np.bincount(code, whole.times, len(ordered)).astype(np.int64))
        found.append(of_counts(entry, views(counts, ordered.is_null().to_numpy()), ordered))
    return found


def _joint(entries: Sequence[Any], whole: Whole, which: np.ndarray, groups: PublishedGroups) -> Sensitive:
    counts = groups.counts(Numbered(which, pl.Series(np.arange(len(whole.times)))))
    null = whole.values.select(pl.any_horizontal(pl.all().is_null())).to_series().to_numpy()
    known = views(replace(counts, totals=whole.times.astype(np.int64)), null)
    return Sensitive(", ".join(entry.name for entry in entries), known, None, joint=True)


def together(subject: Subject, whole: Whole, labels: Sequence[Told], parts: Sequence[Judged]) -> Audit:
    """What all parts show of the release, and the labels of each column."""
    sizes = loss.Sizes(*(sum(getattr(one.sizes, name) for one in parts) for name in ("groups", "rows", "squares")))
    if sizes.rows != whole.rows:
        raise BundleDamaged(f"The data has {whole.rows} rows, and {sizes.rows} of them were recounted.")
    columns = sorted(labels, key=lambda one: one.column)
    utility = utility_from(subject, [one.lost for one in columns], sizes)
    achieved = worst([one.achieved for one in parts])
    by_column = {name: worst([one.by_column[name] for one in parts]) for name in parts[0].by_column}
    none = np.zeros(0, np.int64)
    seen = Recounted(subject, whole.values, none, none, (), achieved, utility, whole.times)
    return Audit(
        subject.kind,
        sizes.rows,
        sizes.groups,
        subject.withheld,
        tuple(_worst(one) for one in zip(*(part.verdicts for part in parts), strict=True)),
        achieved,
        utility,
        _risk(columns, sizes, parts, subject.rows_per_person),
        by_column,
        notes=notes_of(seen),
        carried=carried(seen),
    )


def _worst(verdicts: Sequence[Verdict]) -> Verdict:
    """One promise as all parts show it."""
    kept = [one.kept for one in verdicts]
    achieved = {}
    for name in verdicts[0].achieved:
        values = [one.achieved[name] for one in verdicts]
        achieved[name] = None if None in values else (min if name in LEAST_IS_WORST else max)(values)
    shown = False if False in kept else None if None in kept else True
    return replace(verdicts[0], achieved=achieved, kept=shown)


def _risk(labels: Sequence[Told], sizes: loss.Sizes, parts: Sequence[Judged], rows_per_person: int) -> Risk:
    least, exposed = min(one.least for one in parts), sum(one.exposed for one in parts)
    columns = sorted((one.identifies for one in labels), key=lambda one: (-one.separation, -one.distinction))
    average = sizes.groups / sizes.rows if rows_per_person == 1 else fsum(one.risks for one in parts) / sizes.rows
    prosecutor = Adversary(1 / least, average, exposed)
    uniques = sum(one.uniques for one in parts)
    return Risk(
        sizes.rows,
        sizes.groups,
        float(exact(THRESHOLD)),
        prosecutor,
        None,
        uniques,
        None,
        tuple(columns),
        rows_per_person,
    )
