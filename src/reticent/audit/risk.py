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

`measure_passthrough` measures what the carried columns of a release reveal: unique values, and association with
sensitive values. Association is Cramer's V: with O the rows of a pair of values and E those expected of independent
columns, chi^2 = sum (O - E)^2 / E and V^2 = chi^2 / (n (min(r, c) - 1)). A pair that does not occur adds E: all E sum to
n, so those of absent pairs are n less those of present ones. Both are sums over the values of a column: they are added
up a part at a time where a file is large.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.audit.groups import NumberedColumn, number_values
from reticent.audit.kind import RecomputedRelease, auditor_for
from reticent.audit.measure.counts import parse_parameter
from reticent.audit.person_counts import GroupPersons, count_population
from reticent.audit.source_comparison import find_places
from reticent.audit.subject import read_folder_subject, read_table_subject, translate_read_errors
from reticent.data.columns import Column, Role, parse_columns
from reticent.data.declared_hierarchy import is_built_from_values
from reticent.data.singling_out import SinglingOut, count_single_people
from reticent.errors import ColumnError, pluralize, quote_list, suggest
from reticent.exact_arithmetic import as_ratio, products_at_most
from reticent.format.data_files import count_distinct_rows_in_parts
from reticent.ledger.source_options import find_person_columns, resolve_source, resolve_table
from reticent.release import bundle
from reticent.release.kind import find_data_files, list_schemas
from reticent.validation import flag, is_job, names, null_values, optional, path_or_table, share, validate_arguments

DEFAULT_THRESHOLD = Fraction(1, 5)
MAX_DENSE_PAIRS = 1 << 22  # pairs of values that are counted in an array, more of them by a sort
CARRIED_COLUMN = "\x00carried"
CountedPart = tuple[pl.DataFrame, np.ndarray]
"""Distinct rows, and how often each occurs."""


@dataclass(frozen=True, slots=True)
class IdentifyingColumns:
    """How well a column, or a pair of columns, identifies rows."""

    columns: tuple[str, ...]
    distinction: float
    separation: float


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
    """Risk of persons who have several rows.

    `count` persons, of whom `at_risk` have a record at risk, and `unique` one in a group of their own.
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
        document: dict[str, Any] = {
            "rows": self.rows,
            "groups": self.groups,
            "threshold": self.threshold,
            "prosecutor": self.prosecutor.to_dict(),
            "marketer": self.marketer,
            "sample_uniques": self.sample_uniques,
            "columns": [
                {"columns": list(entry.columns), "distinction": entry.distinction, "separation": entry.separation}
                for entry in self.columns
            ],
        }
        if self.journalist is not None:
            document |= {"journalist": self.journalist.to_dict(), "population_uniques": self.population_uniques}
        if self.rows_per_person > 1:
            document["rows_per_person"] = self.rows_per_person
        if self.people is not None:
            document["people"] = self.people.to_dict()
        if self.notes:
            document["notes"] = list(self.notes)
        return document

    def __str__(self) -> str:
        lines = [
            *self._heading(),
            "",
            f"  {'':<12}{'highest':>10}{'average':>10}   records at risk (above {self.threshold:.3g})",
        ]
        for name, entry in (("prosecutor", self.prosecutor), ("journalist", self.journalist)):
            if entry is not None:
                lines.append(
                    f"  {name:<12}{entry.highest:>10.4g}{entry.average:>10.4g}   {entry.at_risk:,} ({entry.at_risk / self.rows:.1%})"
                )
        lines += [f"  {'marketer':<12}{'':>10}{self.marketer:>10.4g}", ""]
        lines += [
            f"  {' and '.join(entry.columns):<40} separates {entry.separation:.4%} of pairs, {entry.distinction:.4g} distinct per row"
            for entry in self.columns[:12]
        ]
        if self.notes:
            lines += ["", *self.notes]
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
    columns=optional(parse_columns),
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
    """Compute the risk of a release folder, an opened release, or any table: a path or a frame.

    `quasi` names the quasi-identifiers of a table (all columns if none).

    `person` names the columns of a table, or of a population, that identify the person of a row; by default those for
    which the job, or a release's owner's job, declares `rows_per_person`.
    """
    declared = dict(columns or (job.columns if job is not None else {}))
    naming = find_person_columns(table, declared, person)
    recount = recount_table(table, quasi, declared, job, missing, naming)
    require_person_columns(recount, person)
    people = count_population_people(recount, table, population, job, missing, naming)
    result = _compute_recounted_risk(recount, naming, people, threshold, pairs)
    return replace(result, notes=_list_notes(recount, declared, naming))


def count_singled_out(
    table: Any,
    *,
    quasi: Iterable[str] | None = None,
    job: Any = None,
    missing: Sequence[str] = (),
    person: Iterable[str] | None = None,
) -> SinglingOut:
    """Count who is alone in a table by each quasi-identifier, by pairs, and adding one at a time; options are those of `risk`."""
    declared = dict(job.columns if job is not None else {})
    naming = find_person_columns(table, declared, person)
    recount = recount_table(table, quasi, declared, job, missing, naming)
    require_person_columns(recount, person)
    labels = recount.groups.labels
    persons = _number_persons(recount, naming)
    if not persons:
        columns = [labels[:, place] for place in range(labels.shape[1])]
        return count_single_people(list(recount.labels), columns, recount.groups.sizes)
    of_row = np.unique(recount.groups.word, return_inverse=True)[1].reshape(-1)
    columns = [labels[of_row, place] for place in range(labels.shape[1])]
    counted = [count_single_people(list(recount.labels), columns, persons=codes) for codes in persons]
    return min(counted, key=lambda entry: entry.people)


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
    recount = recount_table(source, quasi, {}, job, missing, naming)
    require_person_columns(recount, person)
    people = count_population_people(recount, release, population, job, missing, naming)
    subject = replace(recount.subject, rows_per_person=max(recount.subject.rows_per_person, manifest.rows_per_person))
    return _compute_recounted_risk(replace(recount, subject=subject), naming, people, threshold, True)


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
    if persons is None:
        persons_per_group = count_least_persons(sizes, rows_per_person)
    else:
        persons_per_group = persons.persons_per_group
    journalist = None
    population_uniques = None
    if people is not None:
        population_per_group = np.maximum(people, persons_per_group)
        journalist = _compute_adversary_risk(sizes, population_per_group, limit)
        population_uniques = int((population_per_group == 1).sum())
    person_risk = None
    if persons is not None and rows_per_person > 1:
        person_risk = PersonRisk(
            persons.count,
            persons.count_persons_in(find_exposed_groups(persons_per_group, limit)),
            persons.count_persons_in(persons_per_group == 1),
        )
    return Risk(
        rows=int(sizes.sum()),
        groups=len(sizes),
        threshold=float(limit),
        prosecutor=_compute_adversary_risk(sizes, persons_per_group, limit),
        journalist=journalist,
        sample_uniques=int((persons_per_group == 1).sum()),
        population_uniques=population_uniques,
        columns=tuple(rank_identifying_columns(names, labels, sizes, pairs=pairs)),
        rows_per_person=rows_per_person,
        people=person_risk,
    )


def count_least_persons(sizes: np.ndarray, rows_per_person: int) -> np.ndarray:
    """Count the fewest persons that each group's rows can be of, rounded against the publisher; at least one."""
    return np.maximum(sizes // rows_per_person, 1)


def find_exposed_groups(people: np.ndarray, limit: Fraction) -> np.ndarray:
    """Find the groups in which a person is found with a probability above the limit: 1 / people > limit."""
    numerator, denominator = as_ratio(limit)
    return ~products_at_most(np.ones(1, np.int64), denominator, people, numerator)


def rank_identifying_columns(
    names: Sequence[str], codes: np.ndarray, sizes: np.ndarray, *, pairs: bool = True
) -> list[IdentifyingColumns]:
    """Rank every column and every pair, best first; `codes[combination, column]`, `sizes` the rows of each combination."""
    columns = range(len(names))
    column_sets: list[tuple[int, ...]] = [(column,) for column in columns]
    if pairs:
        column_sets += combinations(columns, 2)
    entries = [
        IdentifyingColumns(tuple(names[i] for i in chosen), *_measure_combinations(codes[:, chosen], sizes))
        for chosen in column_sets
    ]
    return sorted(entries, key=lambda entry: (-entry.separation, -entry.distinction, len(entry.columns)))


def measure_passthrough(recount: RecomputedRelease) -> list[dict[str, Any]]:
    """Measure each carried column: `distinct` values, the share of rows whose value is `unique`, and `association`."""
    subject = recount.subject
    frame = recount.frame
    times = np.ones(len(frame), np.int64) if recount.times is None else recount.times
    sensitive = {
        c.name: _SensitiveValues(frame[c.name], times)
        for c in subject.find_columns_with_role(Role.SENSITIVE)
        if c.name in frame.columns
    }
    entries = []
    for name in [entry.name for entry in subject.find_columns_with_role(Role.INSENSITIVE)]:
        if name in frame.columns:
            parts = _list_memory_parts(frame[name], frame, sensitive, times)
        else:
            parts = _count_file_parts(recount, name, sensitive)
        entries.append(_measure_column(name, parts, sensitive, recount.rows))
    if subject.undeclared is not None:
        for column in subject.undeclared.get_columns():
            parts = _list_memory_parts(column, frame, sensitive, times)
            entries.append(_measure_column(column.name, parts, sensitive, recount.rows))
    return entries


def recount_table(
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
        declared = {name: _leave_values_as_they_are(column) for name, column in columns.items()}
        declared |= {name: Column(Role.QUASI) for name in quasi or () if name not in declared}
        table_source, frame = resolve_source(None, folder, job, missing=missing)
        table = table_source if frame is None else frame
        others = {name: Column(Role.IDENTIFYING) for name in naming if name not in declared}
        subject = read_table_subject(
            table, {**(declared or {"*": Column(Role.QUASI)}), **others}, missing=table_source.missing
        )
    with translate_read_errors(subject, staged=False):
        return auditor_for(subject.kind).recount(subject, each_row=False, thorough=False)


def _leave_values_as_they_are(column: Column) -> Column:
    """Return a column without a hierarchy that is to be built of its values: no label of a table is one of its nodes."""
    return replace(column, hierarchy=None) if is_built_from_values(column.hierarchy) else column


def require_person_columns(recount: RecomputedRelease, person: Iterable[str] | None) -> None:
    """Require that a column stated to name persons exists, unless the table is a release, which has none."""
    if recount.subject.undeclared is None:
        return
    present = {*recount.subject.undeclared.columns, *recount.frame.columns}
    absent = [name for name in person or () if name not in present]
    if absent:
        raise ColumnError(
            f"The table lacks {pluralize(len(absent), 'column')} to count persons by: {quote_list(absent)}.",
            attempt=suggest(absent[0], sorted(present)),
        )


def count_population_people(
    recount: RecomputedRelease, release: Any, population: Any, job: Any, missing: Sequence[str], naming: Sequence[str]
) -> np.ndarray | None:
    """Count the people of a population under each group's labels; None where there is no population."""
    if population is None:
        return None
    source, frame = resolve_table(release, population, job, missing=missing)
    return count_population(recount, source if frame is None else frame, source.missing, naming)


def _compute_recounted_risk(
    recount: RecomputedRelease, naming: Sequence[str], people: np.ndarray | None, threshold: object, pairs: bool
) -> Risk:
    """Compute the risk of recounted groups; persons are counted by the columns `naming` them where a table has one."""
    persons = _find_group_persons(recount, naming)
    rows_per_person = recount.subject.rows_per_person if persons is None else persons.max_rows_per_person
    return compute_group_risk(
        list(recount.labels),
        recount.groups.labels,
        recount.groups.sizes,
        people,
        threshold,
        pairs=pairs,
        rows_per_person=rows_per_person,
        persons=persons,
    )


def _list_notes(recount: RecomputedRelease, declared: Mapping[str, Column], naming: Sequence[str]) -> tuple[str, ...]:
    """List notes on identifying columns of a plain table that repeat, though nothing declares that they name persons."""
    undeclared = recount.subject.undeclared
    identifiers = [name for name, column in declared.items() if column.role is Role.IDENTIFYING]
    if naming or undeclared is None or recount.subject.rows_per_person > 1:
        return ()
    values = {name: number_values(undeclared[name]).times() for name in identifiers if name in undeclared.columns}
    if any(times.max(initial=0) <= 1 for times in values.values()):
        return ()
    return tuple(
        f"The identifying column {name!r} repeats, up to {int(times.max()):,} times, and rows were counted. If it names persons, "
        "rows_per_person in the job or --person counts persons."
        for name, times in values.items()
    )


def _compute_adversary_risk(sizes: np.ndarray, people: np.ndarray, limit: Fraction) -> AdversaryRisk:
    return AdversaryRisk(
        highest=1 / int(people.min()),
        average=float((sizes / people).sum() / sizes.sum()),
        at_risk=int(sizes[find_exposed_groups(people, limit)].sum()),
    )


def _measure_combinations(codes: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    """Measure the distinction and the separation of some columns."""
    rows = int(sizes.sum())
    word = np.zeros(len(codes), np.int64)
    for column in codes.T:  # at most two columns, each numbered below the number of rows
        word = word * (int(column.max(initial=0)) + 1) + column
    word_limit = int(word.max(initial=0)) + 1
    if word_limit <= 4 * len(word):  # sums below 2^53 are exact in a float
        combination_rows = np.bincount(word, weights=sizes).astype(np.int64)
        combination_rows = combination_rows[combination_rows > 0]
    else:
        order = np.argsort(word, kind="stable")
        combination_rows = np.add.reduceat(sizes[order], np.flatnonzero(np.diff(word[order], prepend=-1)))
    separation = 1.0
    if rows > 1:
        separation = 1 - _count_equal_pairs(combination_rows, rows) / (rows * (rows - 1))
    return len(combination_rows) / rows, separation


class _SensitiveValues:
    """A sensitive column: its values, and how many rows have each."""

    def __init__(self, column: pl.Series, times: np.ndarray):
        values = number_values(column)
        self.rows = values.times(times)
        self.distinct = values.distinct

    def codes(self, values: NumberedColumn) -> np.ndarray:
        """Convert numbered values to the codes of this column."""
        return find_places(values.distinct, self.distinct)[values.codes]


def _list_memory_parts(
    column: pl.Series, frame: pl.DataFrame, sensitive: dict[str, _SensitiveValues], times: np.ndarray
) -> Iterator[CountedPart]:
    """Yield all rows as they are in memory."""
    yield pl.DataFrame([column.alias(CARRIED_COLUMN), *(frame[name] for name in sensitive)]), times


def _count_file_parts(
    recount: RecomputedRelease, name: str, sensitive: dict[str, _SensitiveValues]
) -> Iterator[CountedPart]:
    """Count the rows of the file, a part at a time."""
    subject = recount.subject
    assert subject.path is not None and subject.manifest is not None  # a plain table is in memory
    files = find_data_files(subject.path, subject.manifest)
    schemas = list_schemas(subject.manifest)
    file = next(file for file, schema in schemas.items() if name in schema)
    for frame, times in count_distinct_rows_in_parts(files[file], schemas[file], name, list(sensitive)):
        yield frame.rename({name: CARRIED_COLUMN}), times


def _measure_column(
    name: str, parts: Iterator[CountedPart], sensitive: dict[str, _SensitiveValues], rows: int
) -> dict[str, Any]:
    """Measure a carried column from the distinct rows of one part after another; no value is in two parts."""
    distinct = 0
    unique = 0
    squares = dict.fromkeys(sensitive, 0.0)
    expected = dict.fromkeys(sensitive, 0.0)
    for frame, times in parts:
        values = number_values(frame[CARRIED_COLUMN])
        value_rows = np.bincount(values.codes, weights=times, minlength=len(values))
        distinct += len(values)
        unique += int((value_rows == 1).sum())
        for other, column in sensitive.items():
            square, sum_of = _sum_present_pairs(
                values.codes, value_rows, column.codes(number_values(frame[other])), column.rows, times, rows
            )
            squares[other] += square
            expected[other] += sum_of
    association = {
        other: _compute_cramers_v(squares[other] + (rows - expected[other]), rows, min(distinct, len(column.distinct)))
        for other, column in sensitive.items()
    }
    return {"column": name, "distinct": distinct, "unique": unique / rows, "association": association}


def _find_group_persons(recount: RecomputedRelease, naming: Sequence[str]) -> GroupPersons | None:
    """Find who is in each group, where a plain table has a column that names persons.

    Of several columns, the one that names the fewest counts.
    """
    columns = _number_persons(recount, naming)
    if not columns:
        return None
    of_row = np.unique(recount.groups.word, return_inverse=True)[1].reshape(-1)
    counted = [GroupPersons.from_rows(codes, of_row, len(recount.groups)) for codes in columns]
    return min(counted, key=lambda counted_persons: counted_persons.count)


def _count_equal_pairs(combination_rows: np.ndarray, rows: int) -> int:
    """Count ordered pairs of rows with equal values; in Python's integers where NumPy's could overflow."""
    if rows < 1 << 31:
        combination_rows = combination_rows.astype(np.int64, copy=False)
        return int((combination_rows * (combination_rows - 1)).sum())
    return sum(size * (size - 1) for size in combination_rows.tolist())


def _sum_present_pairs(
    codes: np.ndarray,
    value_rows: np.ndarray,
    sensitive_codes: np.ndarray,
    sensitive_rows: np.ndarray,
    times: np.ndarray,
    rows: int,
) -> tuple[float, float]:
    """Sum (O - E)^2 / E over pairs that occur, and their E."""
    pair = codes.astype(np.int64) * len(sensitive_rows) + sensitive_codes
    if len(value_rows) * len(sensitive_rows) <= MAX_DENSE_PAIRS:
        observed = np.bincount(pair, weights=times)
        pairs = np.flatnonzero(observed)
        observed = observed[pairs]
    else:
        pairs, place = np.unique(pair, return_inverse=True)
        observed = np.bincount(place.reshape(-1), weights=times)
    expect = (value_rows[pairs // len(sensitive_rows)] / rows) * sensitive_rows[pairs % len(sensitive_rows)]
    return float(((observed - expect) ** 2 / expect).sum()), float(expect.sum())


def _compute_cramers_v(chi_square: float, rows: int, categories: int) -> float:
    """Compute Cramer's V; `categories` is the smaller number of values of both columns."""
    if categories <= 1:
        return 0.0
    return float(min(np.sqrt(max(chi_square, 0.0) / (rows * (categories - 1))), 1.0))


def _number_persons(recount: RecomputedRelease, naming: Sequence[str]) -> list[np.ndarray]:
    """Number each row's person, by each of the naming columns that a plain table has."""
    undeclared = recount.subject.undeclared
    if undeclared is None:
        return []
    tables = (undeclared, recount.frame)
    return [number_values(table[name]).codes for name in naming for table in tables if name in table.columns]
