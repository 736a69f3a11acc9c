"""Reader of the anatomized kind: exact quasi-identifiers with a group, sensitive values by group.

A question is answered with every way to match the rows and the values of a group being equally likely, and bounded over
all ways. For a count of rows that meet a condition on quasi-identifiers and hold one of some values, with a_g rows of
group g that meet the condition, c_g that hold one of the values and s_g in all, that is

    estimate   sum of a_g c_g / s_g
    lower      sum of max(0, a_g + c_g - s_g)
    upper      sum of min(a_g, c_g)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import polars as pl

from reticent.data.cells import Cells
from reticent.data.columns import Role
from reticent.estimate.answer import Answer
from reticent.estimate.group_estimator import GroupEstimator, GroupTypeCounts, ValueChances
from reticent.estimate.published_rows import PublishedRows, compact_codes
from reticent.estimate.question import BoundQuestion, Question
from reticent.format.data_files import Schema, Tables, require_integers_between
from reticent.format.manifest import Manifest
from reticent.format.schema_checks import Checker, MisshapenValue
from reticent.labels.adversary_view import build_members, encode_values
from reticent.labels.range_ends import add_value_bounds
from reticent.release.kind import AdversaryView, AskedColumns, NeededColumns, times_counted
from reticent.release.readme import (
    EXACT_COLUMNS_LIMIT,
    describe_coarser_columns,
    describe_several_rows,
    format_code,
    format_heading,
    format_limits,
    format_promises,
    format_reading_section,
    format_rows_per_person,
    format_withheld_rows,
    list_file_subjects,
    render_page,
)
from reticent.release.readme_first_edition import render_first_anatomized
from reticent.release.readme_questions import describe_certain_answer, format_asking_section

GROUP_COLUMN = "group"
COUNT_COLUMN = "count"
_INTEGER_DTYPE = "Int32"
MAX_TYPES_COUNTED_ONE_BY_ONE = 8  # types of rows for which values are counted one type after the other


def value_type(values: int) -> np.dtype:
    """Return the type in which an owner's witness numbers this many distinct values."""
    if values <= 1 << 8:
        return np.dtype("<u1")
    return np.dtype("<u2" if values <= 1 << 16 else "<u4")


@dataclass(frozen=True, slots=True)
class AnatomizedReader:
    kind: ClassVar[str] = "anatomized"
    assumption: ClassVar[str] = "every way to match a group's rows with its values is as likely"
    leaning: ClassVar[str] = (
        "Where values go with the other columns, estimates lean towards what independence would give, in every release of the "
        "table alike."
    )
    shows_each_value: ClassVar[bool] = True
    files: ClassVar[tuple[str, ...]] = ("quasi", "sensitive")
    own: ClassVar[dict[str, Checker]] = {}
    optional: ClassVar[frozenset[str]] = frozenset()
    labelled: ClassVar[bool] = False
    elsewhere: ClassVar[bool] = True

    def check(self, manifest: Manifest) -> None:
        if not manifest.find_columns_with_role(Role.QUASI) or len(manifest.find_columns_with_role(Role.SENSITIVE)) != 1:
            raise MisshapenValue("an anatomized release has quasi-identifiers and one sensitive column", inside=True)
        if manifest.weights is not None:
            raise MisshapenValue("an anatomized release loses nothing that columns could be weighted by", inside=True)

    def schemas(self, manifest: Manifest) -> dict[str, Schema]:
        rows = {column.name: column.dtype for column in manifest.columns if column.role != Role.SENSITIVE}
        sensitive = manifest.sensitive
        return {
            "quasi": {**rows, GROUP_COLUMN: _INTEGER_DTYPE},
            "sensitive": {GROUP_COLUMN: _INTEGER_DTYPE, sensitive.name: sensitive.dtype, COUNT_COLUMN: _INTEGER_DTYPE},
        }

    def check_tables(self, tables: Tables, manifest: Manifest) -> None:
        for table in tables.values():
            if GROUP_COLUMN in table.columns:  # a group may be withheld whole
                require_integers_between(table, GROUP_COLUMN, 0, manifest.rows + manifest.withheld - 1)
        if "sensitive" in tables:
            require_integers_between(tables["sensitive"], COUNT_COLUMN, 1, manifest.rows)

    def frame(self, tables: Tables, manifest: Manifest, *, bounds: bool) -> pl.DataFrame:
        """Return the rows with their group; the groups' values are in the table `sensitive`."""
        return add_value_bounds(tables["quasi"], manifest) if bounds else tables["quasi"]

    def sight(self, tables: Tables, manifest: Manifest, cells: Cells) -> AdversaryView:
        group_values = tables["sensitive"]
        column = cells.sensitive[0]
        counts = np.zeros((_count_groups(group_values), column.size), np.int64)
        places = (group_values[GROUP_COLUMN].to_numpy(), encode_values(column, group_values[column.name]))
        np.add.at(counts, places, group_values[COUNT_COLUMN].to_numpy())
        return build_members(tables["quasi"], tables["quasi"][GROUP_COLUMN], counts, cells)

    def value_counts(self, tables: Tables, manifest: Manifest, column: str) -> pl.DataFrame:
        return tables["sensitive"].group_by(column).agg(pl.col(COUNT_COLUMN).cast(pl.Int64).sum().alias("count"))

    def domain(self, tables: Tables, manifest: Manifest) -> pl.Series:
        return tables["sensitive"][manifest.sensitive.name].unique()

    def list_needed_columns(self, manifest: Manifest, question_columns: AskedColumns) -> dict[str, NeededColumns]:
        """List the needed columns: for the sensitive column, the group of each row; otherwise counts of the columns suffice."""
        if manifest.sensitive.name not in question_columns.names:
            return {"quasi": NeededColumns(question_columns.names, counted=True)}
        quasi_names = question_columns.names - {manifest.sensitive.name}
        value_columns = frozenset({GROUP_COLUMN, manifest.sensitive.name, COUNT_COLUMN})
        return {
            "quasi": NeededColumns(quasi_names | {GROUP_COLUMN}, counted=False),
            "sensitive": NeededColumns(value_columns, counted=False),
        }

    def estimate(self, tables: Tables, manifest: Manifest, question: Question) -> Answer:
        """Estimate with every matching of a group's rows and values equally likely, with bounds over all of them."""
        times = times_counted(tables["quasi"])
        bound_question = BoundQuestion.bind(tables["quasi"], manifest, question, counts_values=True, people=times)
        if not bound_question.sensitive:
            return bound_question.answer_row_by_row(times)
        if "held" not in question.known:
            question.known["held"] = _read_group_values(tables["sensitive"], manifest.sensitive.name)
        group_values, values = question.known["held"]
        if "groups" not in bound_question.known:
            places = np.arange(len(values))
            group = tables["quasi"][GROUP_COLUMN].to_numpy().astype(np.int64)
            bound_question.known["groups"] = GroupEstimator(
                bound_question.rows,
                group,
                values,
                places,
                places,
                group_values,
                max(map(_count_groups, tables.values())),
            )
        groups: GroupEstimator = bound_question.known["groups"]

        def ask(part: BoundQuestion) -> Answer:
            return groups.with_rows(part.rows).answer(
                part.condition, part.aggregate, part.column, _EqualChances(), part.beside
            )

        return bound_question.answer_about_source(ask)

    def readme(self, manifest: Manifest) -> str:
        if manifest.readme == 1:
            return render_first_anatomized(manifest)
        column = manifest.sensitive.name
        quasi, sensitive = list_file_subjects(manifest)
        summary = (
            f"Rows stand in groups, and the values of {format_code(column)} are published by group: which row of a group has which of its "
            "values is not said."
        )
        return render_page(
            [
                *format_heading(manifest, summary),
                *format_reading_section(
                    manifest,
                    f"- {quasi} {format_rows_per_person(manifest)}: every column but {format_code(column)} as it was, and the row's `group`.",
                    f"- {sensitive}, for each group, which values of {format_code(column)} its rows have, and how many of them have each (`count`).",
                    *describe_coarser_columns(manifest),
                    "- `manifest.json` says to programs what is promised and which types the columns have.",
                ),
                *format_asking_section(
                    manifest,
                    *describe_certain_answer(
                        "every way to match the rows and the values of a group is as likely as any other"
                    ),
                ),
                *format_promises(manifest),
                *format_withheld_rows(manifest),
                *_describe_limits(manifest),
            ]
        )


def _count_groups(sensitive: pl.DataFrame) -> int:
    return cast("int", sensitive[GROUP_COLUMN].max() or 0) + 1


def _read_group_values(sensitive: pl.DataFrame, column: str) -> tuple[GroupTypeCounts, pl.Series]:
    """Return group, value and number of the published values, and the distinct values."""
    value, values = PublishedRows(sensitive, {}).codes(column)
    return (
        sensitive[GROUP_COLUMN].to_numpy().astype(np.int64),
        value,
        sensitive[COUNT_COLUMN].to_numpy().astype(np.int64),
    ), values


class _EqualChances:
    """Chances of values if every row of a group holds each of its values with their share."""

    def compute_chances(self, rows: GroupTypeCounts, values: GroupTypeCounts, _: np.ndarray | None) -> ValueChances:
        return _compute_chances(rows, values)

    def shares(self, groups: GroupEstimator, are_wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        group, value, number = groups.held
        numbers = np.bincount(group, weights=number * are_wanted[value], minlength=groups.many).astype(np.int64)
        return _compute_group_shares(numbers, groups.people + groups.spare)


def _describe_limits(manifest: Manifest) -> list[str]:
    return format_limits(
        manifest,
        EXACT_COLUMNS_LIMIT,
        "- The promise is about one row's group, for an adversary to whom all ways to match rows and values are equally likely.",
        "  One who knows how the values go with the other columns can do better.",
        "- Where values go with the other columns, estimates lean towards what independence would give; the bounds hold all the same.",
        f"- It is about this release alone, and it assumes {format_rows_per_person(manifest)}.",
        *describe_several_rows(
            manifest, "who knows that their rows share a value can compare the groups of these rows"
        ),
    )


def _compute_chances(rows: GroupTypeCounts, group_values: GroupTypeCounts) -> ValueChances:
    """Compute the chances by types of rows and of values.  Both sides are sorted by group."""
    group, value, number = group_values
    size = np.bincount(group, weights=number).astype(np.int64)
    values = np.flatnonzero(np.bincount(value))
    if len(values) <= MAX_TYPES_COUNTED_ONE_BY_ONE:
        return _compute_chances_by_value(rows, group_values, size, values)
    if int(rows[1].max(initial=0)) < MAX_TYPES_COUNTED_ONE_BY_ONE:
        return _compute_chances_by_share(rows, group_values, size)
    entries = np.bincount(group)
    first = (np.cumsum(entries) - entries)[rows[0]]
    entry_counts = entries[rows[0]]
    row = np.repeat(np.arange(len(entry_counts)), entry_counts)
    entry = np.arange(len(row)) - np.repeat(np.cumsum(entry_counts) - entry_counts, entry_counts) + first[row]
    return ValueChances(rows[1][row], value[entry], number[entry] / size[group[entry]], rows[2][row])


def _compute_group_shares(number: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the kind of each group by its number of values and of wanted values, and the share of each kind."""
    size_base = int(size.max(initial=0)) + 1
    kind, kind_count = compact_codes(number * size_base + size, size_base * size_base)
    share = np.zeros(kind_count)
    share[kind] = number / np.maximum(size, 1)
    return kind, share


def _compute_chances_by_value(
    rows: GroupTypeCounts, group_values: GroupTypeCounts, size: np.ndarray, values: np.ndarray
) -> ValueChances:
    """Compute the chances if there are few values: rows of a type for which a value has the same share are merged."""
    parts = []
    for value in values:
        is_value = group_values[1] == value
        kind, share = _compute_group_shares(
            np.bincount(group_values[0], weights=group_values[2] * is_value, minlength=len(size)).astype(np.int64), size
        )
        counted = np.bincount(rows[1] * len(share) + kind[rows[0]], weights=rows[2])
        occurring = np.flatnonzero(counted)
        parts.append(
            (occurring // len(share), np.full(len(occurring), value), share[occurring % len(share)], counted[occurring])
        )
    kind, value, chance, people = (np.concatenate(part) for part in zip(*parts, strict=True))
    return ValueChances(kind, value, chance, people)


def _compute_chances_by_share(rows: GroupTypeCounts, group_values: GroupTypeCounts, size: np.ndarray) -> ValueChances:
    """Compute the chances with a value of equal share in many groups taken once, with the rows of all of them."""
    group, value, number = group_values
    number_base = int(number.max(initial=0)) + 1
    size_base = int(size.max(initial=0)) + 1
    word, pair_count = compact_codes(value * number_base + number, (int(value.max(initial=0)) + 1) * number_base)
    word, word_count = compact_codes(word * size_base + size[group], pair_count * size_base)
    last = np.zeros(word_count, np.int64)
    last[word] = np.arange(len(word))
    people = [np.zeros(len(size)) for _ in range(int(rows[1].max(initial=0)) + 1)]
    for kind, kind_people in enumerate(people):
        kind_people[rows[0][rows[1] == kind]] = rows[2][rows[1] == kind]
    counted = np.concatenate([np.bincount(word, kind_people[group], minlength=word_count) for kind_people in people])
    occurring = np.flatnonzero(counted)
    last = last[occurring % word_count]
    return ValueChances(occurring // word_count, value[last], number[last] / size[group[last]], counted[occurring])


READER = AnatomizedReader()
