"""Re-identification risk of each record, for the owner: a row for each record of a table, or of a release's source.

    prosecutor   1 / f, with f the people of the record's group: the adversary knows that the target is in the table
    journalist   by survey weights, the expected value of 1 / F given f, with F the people of the group in the population

The journalist's risk is the individual risk of Benedetti & Franconi (1998), which sdcMicro's `indivRisk` reports.  With W
the sum of the weights of the group's people and pi = f / W, F is taken to be f plus a negative binomial number, so that

    E(1 / F | f) = integral over v from 0 to 1 of v^(f - 1) / (1 + c v),    c = (1 - pi) / pi

For f = 1 that is pi / (1 - pi) ln(1 / pi).  It is never below 1 / W: the mean of 1 / F exceeds 1 over the mean.  Weights
that sum to less than f count as f.  With a population table F is counted, and the risk is 1 / F.

Of a release the groups are the published ones.  Which of them a source record is in is not published; of the groups
whose labels fit it the riskiest counts.  A record that no group's labels fit was withheld, and has no risk.  Where a
person may have several rows, f and F count persons, and a person's weight is the least of their rows'.

The file of records is the owner's: readable by its user alone, and never written into a release folder.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent import operating_system
from reticent.audit.groups import number_values, pack_columns
from reticent.audit.kind import RecomputedRelease
from reticent.audit.measure.counts import parse_parameter
from reticent.audit.person_counts import cover_rows, iterate_pairs, read_quasi_columns
from reticent.audit.risk import (
    DEFAULT_THRESHOLD,
    AdversaryRisk,
    count_least_persons,
    count_population_people,
    find_exposed_groups,
    recount_table,
    require_person_columns,
)
from reticent.audit.source_comparison import read_source
from reticent.data.columns import Column, parse_columns
from reticent.errors import ColumnError, ComparisonFailed, OutputExists, RequestError, pluralize, suggest
from reticent.format.folder import translate_disk_errors
from reticent.labels.cover import CoveredRegions, join_boxes
from reticent.ledger import private_files
from reticent.ledger.paths import find_enclosing_release
from reticent.ledger.source_options import find_person_columns, resolve_source
from reticent.validation import is_job, names, null_values, optional, path_or_table, share, text, validate_arguments

FILE_ENDINGS = (".csv", ".parquet")
QUADRATURE_POINTS = 64
ESTIMATOR = "benedetti-franconi"
PUBLISHED = "published"
WITHHELD = "withheld"


@dataclass(frozen=True, eq=False)
class RecordRisks:
    """Risk of each record, in the order of the table.

    `frame` has `row` (from 1 on), the columns that name persons, `status` ("published" or "withheld") of a release's
    source, `persons` (f), `prosecutor`, with weights or a population `population` (W or F) and `journalist`, `at_risk`
    (the prosecutor's risk is above the threshold), and of a release `prosecutor_before` and `journalist_before`.
    """

    frame: pl.DataFrame
    threshold: float
    withheld: int
    unaccounted: int
    weights: str | None = None
    estimator: str | None = None

    @property
    def prosecutor(self) -> AdversaryRisk | None:
        """Summary of the prosecutor's risks; None if every record was withheld."""
        return self._summarize("prosecutor")

    @property
    def journalist(self) -> AdversaryRisk | None:
        """Summary of the journalist's risks; None without weights and without a population."""
        return self._summarize("journalist")

    def to_dict(self) -> dict[str, Any]:
        """Return a summary without any record."""
        document: dict[str, Any] = {
            "rows": len(self.frame),
            "withheld": self.withheld,
            "unaccounted": self.unaccounted,
            "threshold": self.threshold,
        }
        for name, summary in (("prosecutor", self.prosecutor), ("journalist", self.journalist)):
            if summary is not None:
                document[name] = summary.to_dict()
        if self.weights is not None:
            document |= {"weights": self.weights, "estimator": self.estimator}
        return document

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the records to a CSV or Parquet file that its user alone can read.

        Parameters: `path` ends in .csv or .parquet; `force` overwrites an existing file. Returns the path. Raises
        `RequestError` for a file in a release folder, or of another ending, and `OutputExists` if there is a file.
        """
        target = choose_records_path(Path(path), force=force)
        content = BytesIO()
        if target.suffix == ".csv":
            self.frame.write_csv(content)
        else:
            self.frame.write_parquet(content)
        with translate_disk_errors(target):
            _write_private(target, content.getvalue())
        return target

    def _summarize(self, name: str) -> AdversaryRisk | None:
        if name not in self.frame.columns:
            return None
        risks = self.frame[name].drop_nulls().to_numpy()
        if not len(risks):
            return None
        at_risk = self.frame["at_risk"] if name == "prosecutor" else self.frame[name] > self.threshold
        return AdversaryRisk(float(risks.max()), float(risks.mean()), int(at_risk.sum() or 0))


@validate_arguments(
    table=path_or_table,
    source=optional(path_or_table),
    quasi=optional(names),
    columns=optional(parse_columns),
    job=optional(is_job),
    weights=optional(text),
    population=optional(path_or_table),
    threshold=share,
    missing=null_values,
    person=optional(names),
)
def record_risk(
    table: Any,
    *,
    source: Any = None,
    quasi: Iterable[str] | None = None,
    columns: Mapping[str, Column] | None = None,
    job: Any = None,
    weights: str | None = None,
    population: Any = None,
    threshold: object = DEFAULT_THRESHOLD,
    missing: Sequence[str] = (),
    person: Iterable[str] | None = None,
) -> RecordRisks:
    """Compute the risk of each record of a table, or of the source of a release.

    Parameters: `table` is a path, a frame or a release folder; of a release, `source` is the data it was made from, and
    needed. `weights` names the column of survey weights, of the table or of the source; `population` is a population
    table instead. The others are those of `rt.risk`.

    Returns `RecordRisks`. Raises `RequestError` for a release without a source, or for weights beside a population,
    `ColumnError` for weights that are no numbers above 0, and `ComparisonFailed` if the source is not the release's.
    """
    if weights is not None and population is not None:
        raise RequestError(
            "Weights estimate the population, and a population table has it: both are given.", attempt="one of them."
        )
    folder = getattr(table, "folder", table)
    is_release = isinstance(folder, str | Path) and Path(folder).is_dir()
    if is_release and source is None:
        raise RequestError(
            "The rows of a release name nobody, and the risk of each record is asked for.",
            why="The records are those of the data that the release was made from.",
            attempt="that data as the source.",
        )
    if not is_release and source is not None:
        raise RequestError("A source is that of a release folder.", attempt="the table alone.")
    declared = dict(columns or (job.columns if job is not None else {}))
    naming = find_person_columns(table, declared, person)
    limit = parse_parameter(threshold)
    if not is_release:
        recount = recount_table(
            table, quasi, declared, job, missing, [*naming, *([] if weights is None else [weights])]
        )
        require_person_columns(recount, person)
        rows = _TableRows.from_recount(recount, naming, weights)
        figures = _measure_equal_rows(rows)
        if population is not None:
            people = count_population_people(recount, table, population, job, missing, naming)
            assert people is not None
            counted = np.maximum(people, rows.persons_per_group)[rows.group]
            figures = replace(figures, population=counted, journalist=1 / counted)
        return _make_record_risks(rows, figures, None, limit, weights, 0)
    release_recount = recount_table(folder, None, {}, None, (), ())
    read_source_table, frame = resolve_source(folder, source, job, missing=missing)
    source_rows = read_source(read_source_table if frame is None else frame, read_source_table.missing)
    published_names = [entry.name for entry in release_recount.subject.quasi]
    rows = _TableRows.from_source(release_recount, source_rows, published_names, naming, weights)
    before = _measure_equal_rows(rows)
    after = _measure_released_rows(release_recount, source_rows, rows)
    if population is not None:
        people = count_population_people(release_recount, folder, population, job, missing, naming)
        assert people is not None
        after = _measure_released_rows(release_recount, source_rows, rows, people)
    stated = int(getattr(release_recount.subject, "withheld", 0) or 0)
    lacking = int((after.persons == 0).sum())
    if lacking > stated:
        raise ComparisonFailed(
            f"{lacking:,} of {len(source_rows):,} records fit no published label, and {stated:,} rows were withheld.",
            why="A record that was published lies under its group's labels.",
            attempt="the source that the release was made from, read as it was (--job).",
        )
    return _make_record_risks(rows, after, before, limit, weights, stated - lacking)


def estimate_individual_risk(people: np.ndarray, population: np.ndarray) -> np.ndarray:
    """Estimate E(1 / F | f) of groups with so many people, and a population estimated by the sum of their weights."""
    people = np.asarray(people, float)
    ratio = np.maximum(np.asarray(population, float) / np.maximum(people, 1), 1.0)
    odds = ratio - 1
    nodes, node_weights = np.polynomial.legendre.leggauss(QUADRATURE_POINTS)
    points = (nodes + 1) / 2
    risks = np.empty(len(people))
    for chunk in np.array_split(np.arange(len(people)), max(len(people) >> 14, 1)):
        powers = points ** (people[chunk, None] - 1)
        risks[chunk] = (powers / (1 + odds[chunk, None] * points)) @ node_weights / 2
    alone = (people == 1) & (odds > 0)
    risks[alone] = np.log1p(odds[alone]) / odds[alone]
    pairs = (people == 2) & (odds > 1e-3)
    risks[pairs] = (1 - np.log1p(odds[pairs]) / odds[pairs]) / odds[pairs]
    return np.minimum(risks, 1 / np.maximum(people, 1))


def choose_records_path(target: Path, *, force: bool) -> Path:
    """Require that the file may be written: a CSV or Parquet file, outside of any release folder, and new unless forced."""
    if target.suffix not in FILE_ENDINGS:
        raise RequestError(f"{target} is neither a .csv nor a .parquet file.", attempt="records.csv.")
    place = Path(os.path.abspath(target)).parent.resolve()
    holder = find_enclosing_release(place)
    if holder is not None:
        raise RequestError(
            f"{target} lies in the release folder {holder}.",
            why="The risk of each record stays with the owner, and a release is handed out whole.",
            attempt="a file elsewhere.",
        )
    if not place.is_dir():
        raise RequestError(f"There is no folder {target.parent}.", attempt="a folder that exists.")
    if target.is_dir():
        raise OutputExists(f"{target} is a folder.", attempt="the name of a file.")
    if os.path.lexists(target) and not force:
        raise OutputExists(f"{target} exists.", attempt="another name, or --force (force=True).")
    return target


@dataclass(frozen=True, eq=False)
class _TableRows:
    """The rows of a table: the group of equal quasi-identifiers of each, its person if a column names them, its weight."""

    group: np.ndarray
    groups: int
    person: np.ndarray | None
    weight: np.ndarray | None
    named: pl.DataFrame
    rows_per_person: int

    @classmethod
    def from_recount(cls, recount: RecomputedRelease, naming: Sequence[str], weights: str | None) -> _TableRows:
        tables = [table for table in (recount.subject.undeclared, recount.frame) if table is not None]
        group = np.unique(recount.groups.word, return_inverse=True)[1].reshape(-1)
        present = {name: table[name] for table in tables for name in table.columns}
        return cls._build(group, present, naming, weights, recount.subject.rows_per_person)

    @classmethod
    def from_source(
        cls,
        recount: RecomputedRelease,
        source: pl.DataFrame,
        quasi: Sequence[str],
        naming: Sequence[str],
        weights: str | None,
    ) -> _TableRows:
        absent = [name for name in quasi if name not in source.columns]
        if absent:
            raise ComparisonFailed(
                f"The source lacks {pluralize(len(absent), 'column')} that the release publishes.",
                attempt="the source that the release was made from.",
            )
        word = pack_columns([number_values(source[name]) for name in quasi], len(source))
        group = np.unique(word, return_inverse=True)[1].reshape(-1)
        present = {name: source[name] for name in source.columns}
        return cls._build(group, present, naming, weights, recount.subject.rows_per_person)

    @classmethod
    def _build(
        cls,
        group: np.ndarray,
        present: Mapping[str, pl.Series],
        naming: Sequence[str],
        weights: str | None,
        rows_per_person: int,
    ) -> _TableRows:
        names_present = [name for name in naming if name in present]
        numbered = [number_values(present[name]).codes for name in names_present]
        person = min(numbered, key=lambda codes: int(codes.max(initial=0))) if numbered else None
        weight = None if weights is None else _parse_weights(present, weights)
        if weight is not None and person is not None:
            least = np.full(int(person.max(initial=0)) + 1, np.inf)
            np.minimum.at(least, person, weight)
            weight = least[person]
        groups = int(group.max(initial=-1)) + 1
        named = pl.DataFrame([present[name] for name in names_present])
        return cls(group, groups, person, weight, named, rows_per_person)

    @property
    def persons_per_group(self) -> np.ndarray:
        """Number of persons in each group; rows divided by the most of a person where no column names them."""
        if self.person is None:
            return count_least_persons(np.bincount(self.group, minlength=self.groups), self.rows_per_person)
        return np.bincount(self.list_people()[0], minlength=self.groups)

    def list_people(self) -> tuple[np.ndarray, np.ndarray]:
        """List the group and a row of each person in each group, once; without a column that names them, of each row."""
        if self.person is None:
            return self.group, np.arange(len(self.group))
        persons = int(self.person.max(initial=0)) + 1
        first = np.unique(self.group.astype(np.int64) * persons + self.person, return_index=True)[1]
        return self.group[first], first


@dataclass(frozen=True, eq=False)
class _RowFigures:
    """For each row: the people that it could be, 0 if it was withheld; and the journalist's figures, if there are any."""

    persons: np.ndarray
    population: np.ndarray | None = None
    journalist: np.ndarray | None = None


def _measure_equal_rows(rows: _TableRows) -> _RowFigures:
    """Measure rows among those with equal quasi-identifiers."""
    persons = rows.persons_per_group
    if rows.weight is None:
        return _RowFigures(persons[rows.group])
    group, row = rows.list_people()
    people = np.bincount(group, minlength=rows.groups)
    population = np.maximum(np.bincount(group, weights=rows.weight[row], minlength=rows.groups), people)
    if rows.person is None:  # rows of at most so many a person, as persons
        people = persons
        population = np.maximum(population / rows.rows_per_person, people)
    risk = estimate_individual_risk(people, population)
    return _RowFigures(persons[rows.group], population[rows.group], risk[rows.group])


def _measure_released_rows(
    recount: RecomputedRelease, source: pl.DataFrame, rows: _TableRows, people: np.ndarray | None = None
) -> _RowFigures:
    """Measure source rows in the riskiest published group whose labels fit them; `people` are a population's, by group."""
    boxes = len(recount.groups)
    persons = count_least_persons(recount.groups.sizes, recount.subject.rows_per_person)
    covers, codes = cover_rows(recount, read_quasi_columns(recount, source, "The source"))
    points = np.column_stack([column.codes for column in codes])
    regions = join_boxes(covers, recount.groups.labels, points)
    fewest = np.full(len(source), np.iinfo(np.int64).max)
    for point, box in iterate_pairs(regions):
        np.minimum.at(fewest, point, persons[box])
    fewest[fewest == np.iinfo(np.int64).max] = 0
    if people is not None:
        population = np.maximum(people, persons).astype(float)
        return _add_journalist(regions, fewest, population, 1 / population)
    if rows.weight is None:
        return _RowFigures(fewest)
    sample = np.zeros(boxes)
    population = np.zeros(boxes)
    person = np.arange(len(source)) if rows.person is None else rows.person
    stride = int(person.max(initial=0)) + 1
    for point, box in iterate_pairs(regions):
        _, first = np.unique(box.astype(np.int64) * stride + person[point], return_index=True)
        sample += np.bincount(box[first], minlength=boxes)
        population += np.bincount(box[first], weights=rows.weight[point[first]], minlength=boxes)
    if rows.person is None:
        sample = count_least_persons(sample.astype(np.int64), rows.rows_per_person)
        population = population / rows.rows_per_person
    sample = np.maximum(sample, persons)
    population = np.maximum(population, sample)
    return _add_journalist(regions, fewest, population, estimate_individual_risk(sample, population))


def _add_journalist(
    regions: CoveredRegions, fewest: np.ndarray, population: np.ndarray, risk: np.ndarray
) -> _RowFigures:
    """Give each row the riskiest of the groups that fit it, by the journalist too."""
    row_risk = np.zeros(len(fewest))
    row_population = np.full(len(fewest), np.inf)
    for point, box in iterate_pairs(regions):
        np.maximum.at(row_risk, point, risk[box])
        np.minimum.at(row_population, point, population[box])
    return _RowFigures(fewest, row_population, row_risk)


def _make_record_risks(
    rows: _TableRows,
    figures: _RowFigures,
    before: _RowFigures | None,
    limit: Any,
    weights: str | None,
    unaccounted: int,
) -> RecordRisks:
    is_published = figures.persons > 0
    columns: dict[str, Any] = {"row": np.arange(1, len(rows.group) + 1)}
    if before is not None:
        columns["status"] = np.where(is_published, PUBLISHED, WITHHELD)
    columns["persons"] = figures.persons
    columns["prosecutor"] = 1 / np.maximum(figures.persons, 1)
    columns["at_risk"] = find_exposed_groups(np.maximum(figures.persons, 1), limit)
    if figures.journalist is not None:
        columns |= {"population": figures.population, "journalist": figures.journalist}
    frame = pl.DataFrame(columns)
    masked = [name for name in frame.columns if name not in ("row", "status")]
    if not is_published.all():
        published = pl.Series(is_published)
        frame = frame.with_columns(pl.when(published).then(pl.col(name)).otherwise(None).alias(name) for name in masked)
    if before is not None:
        frame = frame.with_columns(pl.Series("prosecutor_before", 1 / before.persons))
        if before.journalist is not None:
            frame = frame.with_columns(pl.Series("journalist_before", before.journalist))
    named = rows.named.rename({name: f"person_{name}" for name in rows.named.columns if name in frame.columns})
    frame = pl.concat([frame.select("row"), named, frame.drop("row")], how="horizontal") if named.width else frame
    withheld = int((~is_published).sum())
    return RecordRisks(frame, float(limit), withheld, unaccounted, weights, None if weights is None else ESTIMATOR)


def _parse_weights(present: Mapping[str, pl.Series], name: str) -> np.ndarray:
    """Return the weights as numbers; refuse missing ones, and those that are no numbers above 0."""
    if name not in present:
        raise ColumnError(f"The table has no column {name!r} of weights.", attempt=suggest(name, sorted(present)))
    column = present[name]
    numbers = column.cast(pl.Float64, strict=False)
    unusable = len(numbers) - int((numbers.is_finite() & (numbers > 0)).fill_null(False).to_numpy().sum())
    if unusable:
        raise ColumnError(
            f"The weights {name!r} are no number above 0 in {pluralize(unusable, 'row')}.",
            why="A weight says how many people of the population a record stands for.",
            attempt="a weight for every record.",
        )
    return numbers.to_numpy()


def _write_private(target: Path, content: bytes) -> None:
    """Write a file of mode 600 in one step: it has the whole content, or what was there before."""
    parent = Path(os.path.abspath(target)).parent.resolve()
    if not operating_system.can_recover():
        private_files.write_file(parent / target.name, content)
        return
    part = f".{target.name}.{secrets.token_hex(8)}.part"
    with operating_system.open_folder(parent) as handle:
        try:
            private_files.write_private_file(part, handle, content)
            operating_system.replace_in(part, target.name, handle)
        except BaseException:
            with suppress(OSError):
                operating_system.remove_file_in(part, handle)
            raise
