"""Reader of the generalized kind: one data file, quasi-identifiers as labels, sensitive values unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from reticent.data.cells import Cells
from reticent.data.columns import Role
from reticent.estimate.answer import Answer
from reticent.estimate.question import BoundQuestion, Question
from reticent.format.data_files import Schema, Tables
from reticent.format.manifest import ColumnEntry, Manifest
from reticent.format.schema_checks import Checker, MisshapenValue, parse_fraction
from reticent.labels.adversary_view import build_boxes
from reticent.labels.range_ends import add_label_bounds
from reticent.release.kind import AdversaryView, AskedColumns, NeededColumns, name_count_column, times_counted
from reticent.release.readme import (
    describe_coarsening,
    describe_range_ends,
    format_cell,
    format_heading,
    format_limits,
    format_promises,
    format_reading_section,
    format_rows_per_person,
    format_withheld_rows,
    list_file_subjects,
    render_page,
)
from reticent.release.readme_first_edition import render_first_generalized
from reticent.release.readme_questions import describe_certain_answer, format_asking_section

_SUMMARY = (
    "Columns by which others may recognize a person are made coarser here, an age into a range and a town into a region, so that "
    "rows read alike, and which of them is whose is not said."
)
_LIMITS = (
    "- The promise is about this release alone.",
    "- It limits what the group of a person says about that person.",
)


@dataclass(frozen=True, slots=True)
class GeneralizedReader:
    kind: ClassVar[str] = "generalized"
    assumption: ClassVar[str] = "every point of a row's labels is as likely"
    shows_each_value: ClassVar[bool] = True
    shows_values: ClassVar[bool] = True
    files: ClassVar[tuple[str, ...]] = ("data",)
    own: ClassVar[dict[str, Checker]] = {}
    optional: ClassVar[frozenset[str]] = frozenset()
    labelled: ClassVar[bool] = True
    elsewhere: ClassVar[bool] = False

    def check(self, manifest: Manifest) -> None:
        if not manifest.find_columns_with_role(Role.QUASI):
            raise MisshapenValue("no column is quasi-identifying", inside=True)

    def schemas(self, manifest: Manifest) -> dict[str, Schema]:
        """Return the schema; quasi-identifiers are labels: texts, whatever their values were."""
        return {"data": {c.name: "String" if c.role == Role.QUASI else c.dtype for c in manifest.columns}}

    def check_tables(self, tables: Tables, manifest: Manifest) -> None:
        """Check nothing: labels and values are texts and values, and nothing is sized by them."""

    def frame(self, tables: Tables, manifest: Manifest, *, bounds: bool) -> pl.DataFrame:
        return add_label_bounds(tables["data"], manifest) if bounds else tables["data"]

    def sight(self, tables: Tables, manifest: Manifest, cells: Cells) -> AdversaryView:
        return build_boxes(manifest.find_columns_with_role(Role.QUASI), tables["data"], cells)

    def value_counts(self, tables: Tables, manifest: Manifest, column: str) -> pl.DataFrame:
        return tables["data"].group_by(column).len(name_count_column(column))

    def domain(self, tables: Tables, manifest: Manifest) -> pl.Series:
        return tables["data"][manifest.sensitive.name].unique()

    def list_needed_columns(self, manifest: Manifest, question_columns: AskedColumns) -> dict[str, NeededColumns]:
        """List the needed columns: all labels of a row together are a box, and counts of distinct ones suffice."""
        labels = {column.name for column in manifest.find_columns_with_role(Role.QUASI)}
        return {"data": NeededColumns(question_columns.names | labels, counted=True)}

    def estimate(self, tables: Tables, manifest: Manifest, question: Question) -> Answer:
        """Estimate by the density within each row's box, with bounds over all tables that the labels cover."""
        data = tables["data"]
        times = times_counted(data)
        shown_frame = None if question.where is None else self.frame(tables, manifest, bounds=True)
        bound_question = BoundQuestion.bind(
            data, manifest, question, shown_frame, labels=True, shows_values=True, people=times
        )
        return bound_question.answer_row_by_row(times)

    def readme(self, manifest: Manifest) -> str:
        if manifest.readme == 1:
            return render_first_generalized(manifest)
        return render_page(
            [
                *format_heading(manifest, _SUMMARY),
                *format_reading_section(
                    manifest,
                    f"{list_file_subjects(manifest)[0]} {format_rows_per_person(manifest)}; `manifest.json` says the same of columns and "
                    "promises to programs. Quasi-identifying is what others may know of a person, sensitive what is protected, "
                    "and insensitive what is neither. Rows that read the same in all quasi-identifying columns are a group.",
                    "",
                    "| column | what it is | how to read it |",
                    "|---|---|---|",
                    *(f"| {format_cell(c.name)} | {c.role} | {_describe_column(c)} |" for c in manifest.columns),
                    labelled=True,
                ),
                *format_asking_section(
                    manifest,
                    *describe_certain_answer(
                        "people lie within their labels as all labels of a column together make likely"
                    ),
                ),
                *format_promises(manifest),
                *_describe_counted_rows(manifest),
                *format_withheld_rows(manifest),
                *format_limits(manifest, *_describe_limits(manifest), labelled=True),
            ]
        )


def _describe_column(column: ColumnEntry) -> str:
    if column.role != Role.QUASI:
        return "; ".join([f"as it was ({column.dtype})", *describe_coarsening(column)])
    if column.type == "categorical":
        if column.hierarchy is None:
            return "a value, or a set `{a, b}` of values, one of which it is; `*` is any value"
        return "a value, or a node of the hierarchy in the manifest that covers it; `*` is any value"
    return "a value, or a range `[low, high]` with both ends included; `*` is any value" + "".join(
        f"; {sentence}" for sentence in describe_coarsening(column)
    )


def _describe_limits(manifest: Manifest) -> list[str]:
    limits = [*_LIMITS, f"- It assumes {format_rows_per_person(manifest)}.", *describe_range_ends(manifest)]
    if manifest.rows_per_person > 1:
        limits.append("- Promises about sensitive values count rows: the rows of one person in a group count each.")
    if len(manifest.find_columns_with_role(Role.SENSITIVE)) > 1 and not manifest.jointly:
        limits.append(
            "- Each sensitive column is protected alone: who knows one of a person's sensitive values may learn more about another."
        )
    return limits


def _describe_counted_rows(manifest: Manifest) -> list[str]:
    """Describe what a declared number of rows per person means for promises that count."""
    rows_per_person = manifest.rows_per_person
    promised_sizes = [
        int(parse_fraction(p.parameters["k"]))
        for p in manifest.promises
        if p.name in ("k-anonymity", "alpha-k-anonymity")
    ]
    return [
        f"- Since nobody has more than {rows_per_person} rows, such a group has at least {k * rows_per_person} rows, those of at least {k} persons."
        for k in promised_sizes
        if rows_per_person > 1
    ]


READER = GeneralizedReader()
