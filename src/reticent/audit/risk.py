"""Re-identification risk of a raw table or of a release (El Emam & Dankar 2008; the measures ARX reports).

A record's risk is 1 / F, with F the number of people it could be:
    prosecutor   the adversary knows that the target is in the table: F = people of the record's group
    journalist   the adversary does not know it: F = people of a population table who fit the group's labels
    marketer     the share of all records that the adversary re-identifies on average: the mean risk
A record is at risk if its risk exceeds the threshold. A sample unique is a group of one person.

Where a person may have several rows, F counts persons: by the column that names them where the table has it; otherwise,
as in a release, n rows of at most r a person are taken to be those of n / r persons, rounded down as for k-anonymity.

`rank_identifying_columns` finds the columns, and the pairs of columns, that identify best (Motwani & Xu 2007):
    distinction   distinct combinations / rows
    separation    pairs of rows that differ / all pairs of rows
1 means that the columns are a key. Both are computed from the distinct combinations of all columns, so that no pair
reads the rows again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from reticent.audit.groups import number_values
from reticent.audit.kind import RecomputedRelease, auditor_for
from reticent.audit.measure.exact_comparison import parse_parameter
from reticent.audit.person_counts import GroupPersons, count_population
from reticent.audit.subject import read_folder_subject, read_table_subject, translate_read_errors
from reticent.data.columns import Column, Role
from reticent.data.columns import parse_columns as columns_of
from reticent.errors import ColumnError, pluralize, quote_list, suggest
from reticent.exact_arithmetic import as_ratio, products_at_most
from reticent.ledger.source_options import find_person_columns, resolve_source
from reticent.release import bundle
from reticent.validation import flag, is_job, names, null_values, optional, path_or_table, share, validate_arguments


@dataclass(frozen=True, slots=True)
class IdentifyingColumns:
    """How well a column, or a pair of columns, identifies rows."""

    columns: tuple[str, ...]
    distinction: float
    separation: float


def rank_identifying_columns(
    names: Sequence[str], codes: np.ndarray, sizes: np.ndarray, *, pairs: bool = True
) -> list[IdentifyingColumns]:
    """Rank every column and every pair, best first; `codes[combination, column]`, `sizes` the rows of each combination."""
    sets = [(i,) for i in range(len(names))] + (list(combinations(range(len(names)), 2)) if pairs else [])
    found = [
        IdentifyingColumns(tuple(names[i] for i in chosen), *_measure_combinations(codes[:, chosen], sizes))
        for chosen in sets
    ]
    return sorted(found, key=lambda one: (-one.separation, -one.distinction, len(one.columns)))


def _measure_combinations(codes: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    rows = int(sizes.sum())
    word = np.zeros(len(codes), np.int64)
    for column in codes.T:  # at most two columns, each numbered below the number of rows
        word = word * (int(column.max(initial=0)) + 1) + column
    room = int(word.max(initial=0)) + 1
    if room <= 4 * len(word):  # sums below 2^53 are exact in a float
        held = np.bincount(word, weights=sizes).astype(np.int64)
        held = held[held > 0]
    else:
        order = np.argsort(word, kind="stable")
        held = np.add.reduceat(sizes[order], np.flatnonzero(np.diff(word[order], prepend=-1)))
    together = _count_pairs(held, rows)
    return len(held) / rows, 1 - together / (rows * (rows - 1)) if rows > 1 else 1.0


def _count_pairs(held: np.ndarray, rows: int) -> int:
    """Count ordered pairs of rows with equal values; in Python's integers where NumPy's could overflow."""
    if rows < 1 << 31:
        held = held.astype(np.int64, copy=False)
        return int((held * (held - 1)).sum())
    return sum(size * (size - 1) for size in held.tolist())


DEFAULT_THRESHOLD = Fraction(1, 5)


@dataclass(frozen=True, slots=True)
class AdversaryRisk:
    """Risk by one adversary: the `highest` and the `average` risk of a record, and how many records are at risk."""

    highest: float
    average: float
    at_risk: int

    def to_dict(self) -> dict[str, Any]:
        return {"highest": self.highest, "average": self.average, "at_risk": self.at_risk}


@dataclass(frozen=True, slots=True)
class PersonRisk:
    """Risk of persons who have several rows: how many persons, how many with a record at risk, how many with a record
    in a group of their own.
    """

    count: int
    at_risk: int
    unique: int

    def to_dict(self) -> dict[str, Any]:
        return {"count": self.count, "at_risk": self.at_risk, "unique": self.unique}


@dataclass(frozen=True, eq=False)
class Risk:
    """Risk of a table.

    `people` are counted where a column names them; `rows_per_person` is the most rows of one, as declared or counted.
    """

    rows: int
    groups: int
    threshold: float
    prosecutor: AdversaryRisk
    journalist: AdversaryRisk | None
    sample_uniques: int
    population_uniques: int | None
    columns: tuple[IdentifyingColumns, ...]
    rows_per_person: int = 1
    people: PersonRisk | None = None
    notes: tuple[str, ...] = ()

    @property
    def marketer(self) -> float:
        """The mean risk: by the population where there is one, by the table itself otherwise."""
        return (self.journalist or self.prosecutor).average

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "rows": self.rows,
            "groups": self.groups,
            "threshold": self.threshold,
            "prosecutor": self.prosecutor.to_dict(),
            "marketer": self.marketer,
            "sample_uniques": self.sample_uniques,
            "columns": [
                {"columns": list(one.columns), "distinction": one.distinction, "separation": one.separation}
                for one in self.columns
            ],
        }
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
        lines += [
            f"  {' and '.join(one.columns):<40} separates {one.separation:.4%} of pairs, {one.distinction:.4g} distinct per row"
            for one in self.columns[:12]
        ]
        lines += ["", *self.notes] if self.notes else []
        return "\n".join(lines)

    def _heading(self) -> list[str]:
        """Describe how many records, groups and people there are, and who is alone."""
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


@validate_arguments(
    table=path_or_table,
    quasi=optional(names),
    columns=optional(columns_of),
    job=optional(is_job),
    population=optional(path_or_table),
    threshold=share,
    missing=null_values,
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
    threshold: object = DEFAULT_THRESHOLD,
    missing: Sequence[str] = (),
    pairs: bool = True,
    person: Iterable[str] | None = None,
) -> Risk:
    """Compute the risk of a release folder, an opened release, or any table: a path or a frame, with the
    quasi-identifiers by name (all columns if none).

    `person` names the columns of a table, or of a population, that identify the person of a row; by default those for
    which the job, or a release's owner's job, declares `rows_per_person`.
    """
    declared = dict(columns or (job.columns if job is not None else {}))
    naming = find_person_columns(table, declared, person)
    found = _recount_table(table, quasi, declared, job, missing, naming)
    _require_person_columns(found, person)
    people = None
    if population is not None:
        read, frame = resolve_source(table, population, job, missing=missing)
        people = count_population(found, read if frame is None else frame, read.missing, naming)
    return replace(
        _compute_recounted_risk(found, naming, people, threshold, pairs), notes=_list_notes(found, declared, naming)
    )


def compute_risk_before(
    release: Any,
    source: Any,
    *,
    job: Any = None,
    population: Any = None,
    threshold: object = DEFAULT_THRESHOLD,
    missing: Sequence[str] = (),
    person: Iterable[str] | None = None,
) -> Risk:
    """Compute the risk in the source of a release, by the quasi-identifiers that it publishes.

    Persons are counted as the release's are.
    """
    manifest = bundle.read_manifest(Path(getattr(release, "folder", release)))
    naming = find_person_columns(release, None if job is None else job.columns, person)
    quasi = [column.name for column in manifest.find_columns_with_role(Role.QUASI)]
    found = _recount_table(source, quasi, {}, job, missing, naming)
    _require_person_columns(found, person)
    subject = replace(found.subject, rows_per_person=max(found.subject.rows_per_person, manifest.rows_per_person))
    people = None
    if population is not None:
        read, frame = resolve_source(release, population, job, missing=missing)
        people = count_population(found, read if frame is None else frame, read.missing, naming)
    return _compute_recounted_risk(replace(found, subject=subject), naming, people, threshold, True)


def _compute_recounted_risk(
    found: RecomputedRelease, naming: Sequence[str], people: np.ndarray | None, threshold: object, pairs: bool
) -> Risk:
    persons = _find_group_persons(found, naming)
    each = found.subject.rows_per_person if persons is None else persons.most
    return compute_group_risk(
        list(found.labels),
        found.groups.labels,
        found.groups.sizes,
        people,
        threshold,
        pairs=pairs,
        rows_per_person=each,
        persons=persons,
    )


def compute_group_risk(
    names: Sequence[str],
    labels: np.ndarray,
    sizes: np.ndarray,
    people: np.ndarray | None = None,
    threshold: object = DEFAULT_THRESHOLD,
    *,
    pairs: bool = True,
    rows_per_person: int = 1,
    persons: GroupPersons | None = None,
) -> Risk:
    """Compute the risk from groups alone. A population is never smaller than what the table itself shows of it."""
    limit = parse_parameter(threshold)
    held = count_least_persons(sizes, rows_per_person) if persons is None else persons.each
    largest = None if people is None else np.maximum(people, held)
    prosecutor = _compute_adversary_risk(sizes, held, limit)
    journalist = None
    if largest is not None:
        journalist = _compute_adversary_risk(sizes, largest, limit)
    told = None
    if persons is not None and rows_per_person > 1:
        told = PersonRisk(
            persons.count,
            persons.count_persons_in(find_exposed_groups(held, limit)),
            persons.count_persons_in(held == 1),
        )
    return Risk(
        int(sizes.sum()),
        len(sizes),
        float(limit),
        prosecutor,
        journalist,
        int((held == 1).sum()),
        None if largest is None else int((largest == 1).sum()),
        tuple(rank_identifying_columns(names, labels, sizes, pairs=pairs)),
        rows_per_person,
        told,
    )


def count_least_persons(sizes: np.ndarray, rows_per_person: int) -> np.ndarray:
    """Count the persons whose rows each group has at least, rounded against the publisher as for k-anonymity; at least
    one.
    """
    return np.maximum(sizes // rows_per_person, 1)


def find_exposed_groups(people: np.ndarray, limit: Fraction) -> np.ndarray:
    """Find the groups of so many people in which a person is found with a probability above the limit: 1 / people >
    limit.
    """
    numerator, denominator = as_ratio(limit)
    return ~products_at_most(np.ones(1, np.int64), denominator, people, numerator)


def _compute_adversary_risk(sizes: np.ndarray, people: np.ndarray, limit: Fraction) -> AdversaryRisk:
    exposed = find_exposed_groups(people, limit)
    return AdversaryRisk(1 / int(people.min()), float((sizes / people).sum() / sizes.sum()), int(sizes[exposed].sum()))


def _recount_table(
    table: Any,
    quasi: Iterable[str] | None,
    columns: Mapping[str, Column],
    job: Any,
    missing: Sequence[str],
    naming: Sequence[str],
) -> RecomputedRelease:
    folder = getattr(table, "folder", table)
    if isinstance(folder, str | Path) and Path(folder).is_dir():
        subject = read_folder_subject(folder)
    else:
        declared = dict(columns)
        declared |= {name: Column(Role.QUASI) for name in quasi or () if name not in declared}
        given, frame = resolve_source(None, folder, job, missing=missing)
        table = given if frame is None else frame
        others = {name: Column(Role.IDENTIFYING) for name in naming if name not in declared}
        subject = read_table_subject(
            table, {**(declared or {"*": Column(Role.QUASI)}), **others}, missing=given.missing
        )
    with translate_read_errors(subject, staged=False):
        return auditor_for(subject.kind).recount(subject, each_row=False, thorough=False)


def _find_group_persons(found: RecomputedRelease, naming: Sequence[str]) -> GroupPersons | None:
    """Find who is in each group, where a plain table has a column that names persons; of several columns, the one that
    names the fewest.
    """
    columns = _number_persons(found, naming)
    if not columns:
        return None
    of_row = np.unique(found.groups.word, return_inverse=True)[1].reshape(-1)
    counted = [GroupPersons.from_rows(codes, of_row, len(found.groups)) for codes in columns]
    return min(counted, key=lambda one: one.count)


def _number_persons(found: RecomputedRelease, naming: Sequence[str]) -> list[np.ndarray]:
    """Number each row's person, by each of the naming columns that a plain table has."""
    beside = found.subject.undeclared
    if beside is None:
        return []
    tables = (beside, found.frame)
    return [number_values(table[name]).codes for name in naming for table in tables if name in table.columns]


def _require_person_columns(found: RecomputedRelease, person: Iterable[str] | None) -> None:
    """Require that a column stated to name persons exists, unless the table is a release, which has none."""
    if found.subject.undeclared is None:
        return
    present = {*found.subject.undeclared.columns, *found.frame.columns}
    absent = [name for name in person or () if name not in present]
    if absent:
        raise ColumnError(
            f"The table lacks {pluralize(len(absent), 'column')} to count persons by: {quote_list(absent)}.",
            attempt=suggest(absent[0], sorted(present)),
        )


def _list_notes(found: RecomputedRelease, declared: Mapping[str, Column], naming: Sequence[str]) -> tuple[str, ...]:
    """List notes on identifying columns of a plain table that repeat, though nothing declares that they name persons."""
    beside = found.subject.undeclared
    identifiers = [name for name, column in declared.items() if column.role is Role.IDENTIFYING]
    if naming or beside is None or found.subject.rows_per_person > 1:
        return ()
    values = {name: number_values(beside[name]).times() for name in identifiers if name in beside.columns}
    if any(times.max(initial=0) <= 1 for times in values.values()):
        return ()
    return tuple(
        f"The identifying column {name!r} repeats, up to {int(times.max()):,} times, and rows were counted. If it names persons, "
        "rows_per_person in the job or --person counts persons."
        for name, times in values.items()
    )
