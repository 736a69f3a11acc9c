"""Re-identification risk of a raw table or of a release (El Emam & Dankar 2008; the measures ARX reports).

A record's risk is 1 / F, with F the number of people it could be:
    prosecutor   the adversary knows that the target is in the table: F = people of the record's group
    journalist   he does not: F = people of a population table who fit the group's labels
    marketer     the share of all records he re-identifies on average: the mean risk
A record is at risk if its risk exceeds the threshold.  A sample unique is a group of one person.

Where a person may have several rows, F counts persons: by the column that names them where the table has it, and otherwise,
as in a release, n rows of at most r a person are taken to be those of n / r persons, rounded down as k-anonymity does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from reticent.audit.forged import counting
from reticent.audit.group_persons import GroupPersons
from reticent.audit.grouping import number
from reticent.audit.kind import Recounted, eyes
from reticent.audit.measure.comparison import exact
from reticent.audit.population import population_sizes
from reticent.audit.separation import Identifying, identifying
from reticent.audit.subject import of_folder, of_table
from reticent.door import a_job, door, flag, marks, names, optional, place, share
from reticent.errors import ColumnError, listed, some, suggest
from reticent.exact import products_at_most, ratio_of
from reticent.owner.reading import person_columns, reading_of
from reticent.release import bundle
from reticent.table.declaring import columns as columns_of
from reticent.table.roles import Column, Role

THRESHOLD = Fraction(1, 5)


@dataclass(frozen=True, slots=True)
class Adversary:
    """`highest` and `average` risk of a record, and how many records are at risk."""

    highest: float
    average: float
    at_risk: int

    def to_dict(self) -> dict[str, Any]:
        return {"highest": self.highest, "average": self.average, "at_risk": self.at_risk}


@dataclass(frozen=True, slots=True)
class People:
    """Persons who have several rows: how many, how many of them have a record at risk, and how many a record of nobody else."""

    count: int
    at_risk: int
    unique: int

    def to_dict(self) -> dict[str, Any]:
        return {"count": self.count, "at_risk": self.at_risk, "unique": self.unique}


@dataclass(frozen=True, eq=False)
class Risk:
    """`people` are counted where a column names them; `rows_per_person` is the most rows of one, as declared or counted."""

    rows: int
    groups: int
    threshold: float
    prosecutor: Adversary
    journalist: Adversary | None
    sample_uniques: int
    population_uniques: int | None
    columns: tuple[Identifying, ...]
    rows_per_person: int = 1
    people: People | None = None
    notes: tuple[str, ...] = ()

    @property
    def marketer(self) -> float:
        """By the population where there is one, by the table itself otherwise."""
        return (self.journalist or self.prosecutor).average

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"rows": self.rows, "groups": self.groups, "threshold": self.threshold, "prosecutor": self.prosecutor.to_dict(),
                                 "marketer": self.marketer, "sample_uniques": self.sample_uniques,
                                 "columns": [{"columns": list(one.columns), "distinction": one.distinction, "separation": one.separation}
                                             for one in self.columns]}  # fmt: skip
        if self.journalist is not None:
            found |= {"journalist": self.journalist.to_dict(), "population_uniques": self.population_uniques}
        if self.rows_per_person > 1:
            found["rows_per_person"] = self.rows_per_person
        if self.people is not None:
            found["people"] = self.people.to_dict()
        if self.notes:
            found["notes"] = list(self.notes)
        return found

    def __str__(self) -> str:
        lines = [
            *self._heading(),
            "",
            f"  {'':<12}{'highest':>10}{'average':>10}   records at risk (above {self.threshold:.3g})",
        ]
        for name, one in (("prosecutor", self.prosecutor), ("journalist", self.journalist)):
            if one is not None:
                lines.append(
                    f"  {name:<12}{one.highest:>10.4g}{one.average:>10.4g}   {one.at_risk:,} ({one.at_risk / self.rows:.1%})"
                )
        lines += [f"  {'marketer':<12}{'':>10}{self.marketer:>10.4g}", ""]
        lines += [f"  {' and '.join(one.columns):<40} separates {one.separation:.4%} of pairs, {one.distinction:.4g} distinct per row"
                  for one in self.columns[:12]]  # fmt: skip
        lines += ["", *self.notes] if self.notes else []
        return "\n".join(lines)

    def _heading(self) -> list[str]:
        """How many records, groups and people there are, and who is alone."""
        if self.rows_per_person == 1:
            return [f"{self.rows:,} records in {self.groups:,} groups; {self.sample_uniques:,} are unique"]
        alone = f"{self.sample_uniques:,} of {self.groups:,} groups"
        if self.people is None:
            return [
                f"{self.rows:,} records in {self.groups:,} groups, at most {self.rows_per_person:,} of one person; "
                f"{alone} may be of one person alone"
            ]
        return [
            f"{self.rows:,} records of {self.people.count:,} people in {self.groups:,} groups, at most "
            f"{self.rows_per_person:,} of one person; {alone} are of one person alone",
            f"{self.people.at_risk:,} people have a record at risk, {self.people.unique:,} one that is nobody else's",
        ]


@door(
    table=place,
    quasi=optional(names),
    columns=optional(columns_of),
    job=optional(a_job),
    population=optional(place),
    threshold=share,
    missing=marks,
    pairs=flag,
    person=optional(names),
)
def risk(
    table: Any,
    *,
    quasi: Iterable[str] | None = None,
    columns: Mapping[str, Column] | None = None,
    job: Any = None,
    population: Any = None,
    threshold: object = THRESHOLD,
    missing: Sequence[str] = (),
    pairs: bool = True,
    person: Iterable[str] | None = None,
) -> Risk:
    """Risk of a release folder, an opened release, or any table: a path or a frame with the quasi-identifiers by name (all columns if none).

    `person` names the columns of a table, or of a population, that say whose a row is; by default those of which the job, or of a
    release its owner's job, declares `rows_per_person`.
    """
    declared = dict(columns or (job.columns if job is not None else {}))
    naming = person_columns(table, declared, person)
    found = _recounted(table, quasi, declared, job, missing, naming)
    _refuse_absent(found, person)
    people = None
    if population is not None:
        read, frame = reading_of(table, population, job, missing=missing)
        people = population_sizes(found, read if frame is None else frame, read.missing, naming)
    return replace(_risk(found, naming, people, threshold, pairs), notes=_notes(found, declared, naming))


def risk_before(
    release: Any,
    source: Any,
    *,
    job: Any = None,
    population: Any = None,
    threshold: object = THRESHOLD,
    missing: Sequence[str] = (),
    person: Iterable[str] | None = None,
) -> Risk:
    """The risk in the source of a release, by the quasi-identifiers that it publishes; persons are counted as the release's are."""
    manifest = bundle.read_manifest(Path(getattr(release, "folder", release)))
    naming = person_columns(release, None if job is None else job.columns, person)
    quasi = [column.name for column in manifest.named(Role.QUASI)]
    found = _recounted(source, quasi, {}, job, missing, naming)
    _refuse_absent(found, person)
    subject = replace(found.subject, rows_per_person=max(found.subject.rows_per_person, manifest.rows_per_person))
    people = None
    if population is not None:
        read, frame = reading_of(release, population, job, missing=missing)
        people = population_sizes(found, read if frame is None else frame, read.missing, naming)
    return _risk(replace(found, subject=subject), naming, people, threshold, True)


def _risk(found: Recounted, naming: Sequence[str], people: np.ndarray | None, threshold: object, pairs: bool) -> Risk:
    persons = _persons(found, naming)
    each = found.subject.rows_per_person if persons is None else persons.most
    return of_groups(
        list(found.labels),
        found.groups.labels,
        found.groups.sizes,
        people,
        threshold,
        pairs=pairs,
        rows_per_person=each,
        persons=persons,
    )


def of_groups(
    names: Sequence[str],
    labels: np.ndarray,
    sizes: np.ndarray,
    people: np.ndarray | None = None,
    threshold: object = THRESHOLD,
    *,
    pairs: bool = True,
    rows_per_person: int = 1,
    persons: GroupPersons | None = None,
) -> Risk:
    """From groups alone.  A population is never smaller than what the table itself shows of it."""
    limit = exact(threshold)
    held = least_persons(sizes, rows_per_person) if persons is None else persons.each
    largest = None if people is None else np.maximum(people, held)
    prosecutor, journalist = _adversary(sizes, held, limit), None
    if largest is not None:
        journalist = _adversary(sizes, largest, limit)
    told = None
    if persons is not None and rows_per_person > 1:
        told = People(persons.count, persons.within(exposed_groups(held, limit)), persons.within(held == 1))
    return Risk(
        int(sizes.sum()),
        len(sizes),
        float(limit),
        prosecutor,
        journalist,
        int((held == 1).sum()),
        None if largest is None else int((largest == 1).sum()),
        tuple(identifying(names, labels, sizes, pairs=pairs)),
        rows_per_person,
        told,
    )


def least_persons(sizes: np.ndarray, rows_per_person: int) -> np.ndarray:
    """How many persons the rows of each group are of at least, rounded against the publisher as k-anonymity is; one at least."""
    return np.maximum(sizes // rows_per_person, 1)


def exposed_groups(people: np.ndarray, limit: Fraction) -> np.ndarray:
    """Tell in which groups of so many people a person is found with a probability above the limit: 1 / people > limit."""
    numerator, denominator = ratio_of(limit)
    return ~products_at_most(np.ones(1, np.int64), denominator, people, numerator)


def _adversary(sizes: np.ndarray, people: np.ndarray, limit: Fraction) -> Adversary:
    exposed = exposed_groups(people, limit)
    return Adversary(1 / int(people.min()), float((sizes / people).sum() / sizes.sum()), int(sizes[exposed].sum()))


def _recounted(
    table: Any,
    quasi: Iterable[str] | None,
    columns: Mapping[str, Column],
    job: Any,
    missing: Sequence[str],
    naming: Sequence[str],
) -> Recounted:
    folder = getattr(table, "folder", table)
    if isinstance(folder, str | Path) and Path(folder).is_dir():
        subject = of_folder(folder)
    else:
        declared = dict(columns)
        declared |= {name: Column(Role.QUASI) for name in quasi or () if name not in declared}
        given, frame = reading_of(None, folder, job, missing=missing)
        table = given if frame is None else frame
        others = {name: Column(Role.IDENTIFYING) for name in naming if name not in declared}
        subject = of_table(table, {**(declared or {"*": Column(Role.QUASI)}), **others}, missing=given.missing)
    with counting(subject, staged=False):
        return eyes(subject.kind).recount(subject, each_row=False, thorough=False)


def _persons(found: Recounted, naming: Sequence[str]) -> GroupPersons | None:
    """Who is in each group, where a plain table has a column that says so; of several columns the one that names the fewest."""
    columns = _person_codes(found, naming)
    if not columns:
        return None
    of_row = np.unique(found.groups.word, return_inverse=True)[1].reshape(-1)
    counted = [GroupPersons.of(codes, of_row, len(found.groups)) for codes in columns]
    return min(counted, key=lambda one: one.count)


def _person_codes(found: Recounted, naming: Sequence[str]) -> list[np.ndarray]:
    """The number of each row's person, by each of the columns that a plain table has."""
    beside = found.subject.undeclared
    if beside is None:
        return []
    tables = (beside, found.frame)
    return [number(table[name]).codes for name in naming for table in tables if name in table.columns]


def _refuse_absent(found: Recounted, person: Iterable[str] | None) -> None:
    """A column that is said to name persons must be there, unless it is a release's, which has none."""
    if found.subject.undeclared is None:
        return
    present = {*found.subject.undeclared.columns, *found.frame.columns}
    absent = [name for name in person or () if name not in present]
    if absent:
        raise ColumnError(
            f"The table lacks {some(len(absent), 'column')} to count persons by: {listed(absent)}.",
            attempt=suggest(absent[0], sorted(present)),
        )


def _notes(found: Recounted, declared: Mapping[str, Column], naming: Sequence[str]) -> tuple[str, ...]:
    """Identifying columns of a plain table that repeat, though nothing says that they name persons."""
    beside = found.subject.undeclared
    identifiers = [name for name, column in declared.items() if column.role is Role.IDENTIFYING]
    if naming or beside is None or found.subject.rows_per_person > 1:
        return ()
    values = {name: number(beside[name]).times() for name in identifiers if name in beside.columns}
    if any(times.max(initial=0) <= 1 for times in values.values()):
        return ()
    return tuple(
        f"The identifying column {name!r} repeats, up to {int(times.max()):,} times, and rows were counted. If it names persons, "
        "rows_per_person in the job or --person counts persons."
        for name, times in values.items()
    )
