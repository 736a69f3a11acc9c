"""Reader of the transformed kind (Koudas, Srivastava, Yu & Zhang, VLDB 2009), and its README.

The table `quasi` has exact quasi-identifiers with a group; `sensitive` has the generalized values of each group,
permuted and mixed with fakes; `bounds` has the least and greatest SUM, MIN and MAX of any number of selected rows of a
group. `render_readme` is a function of the manifest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from reticent.data.cells import Cells
from reticent.data.columns import Role
from reticent.data.parsing import parse_texts
from reticent.errors import RequestError, pluralize
from reticent.estimate.answer import Answer
from reticent.estimate.guaranteed_bounds import (
    COUNT_COLUMN,
    GROUP_COLUMN,
    SELECTED_COLUMN,
    AnnotatedHierarchy,
    estimate_with_bounds,
)
from reticent.estimate.question import BoundQuestion, Question
from reticent.format import schema_checks
from reticent.format.data_files import Schema, Tables, require_integers_between
from reticent.format.manifest import Manifest
from reticent.format.schema_checks import MAX_COUNT, Checker, MisshapenValue
from reticent.labels.adversary_view import build_members
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
    list_file_subjects,
    render_page,
)
from reticent.release.readme_first_edition import render_first_transformed
from reticent.release.readme_questions import describe_certain_answer, format_asking_section

_SUM_QUERY = """SELECT SUM(b.sum_lower - (b.selected - p.n) * b.max_lower) AS lower,
       SUM(b.sum_upper - (b.selected - p.n) * b.min_upper) AS upper
FROM (SELECT "group", COUNT(*) AS n FROM quasi GROUP BY "group") p
JOIN bounds b ON b."group" = p."group"
 AND b.selected = (SELECT MIN(x.selected) FROM bounds x WHERE x."group" = p."group" AND x.selected >= p.n)"""
_INTEGER_DTYPE = "Int32"
_BOUND_COLUMNS = ("sum_lower", "sum_upper", "min_lower", "min_upper", "max_lower", "max_upper")


def render_readme(manifest: Manifest) -> str:
    column = format_code(manifest.sensitive.name)
    quasi, sensitive, bounds = list_file_subjects(manifest)
    plain_sql = [
        "With the files as tables of a database, plain SQL gives the bounds of a sum as well, here of all rows (a condition belongs "
        "after `FROM quasi`; for a mean, divide by the number of rows):",
        "",
        "```sql",
        _SUM_QUERY,
        "```",
        "",
    ]
    summary = (
        f"The values of {column} are published by group, made coarser and mixed with fakes: of a person's value the group tells a "
        "distribution that its publisher chose, and sums and means come with bounds that are certain."
    )
    return render_page(
        [
            *format_heading(manifest, summary),
            *format_reading_section(
                manifest,
                f"- {quasi} {format_rows_per_person(manifest)}: every column but {column} as it was, and the row's `group`.",
                f"- {sensitive} each group's values of {column} in no order, coarser (from `lower` to `upper`, printed as `label`), with how many "
                "there are of each (`count`). There may be more values than rows: some are fake, and nothing says which.",
                f"- {bounds}, for each group, between what the sum, the least and the greatest value lie of any number of `selected` rows of it.",
                *describe_coarser_columns(manifest),
                "- `manifest.json` holds what else programs need: the possible values (`values`), how they are made coarser (`tree`: first "
                "and last value of each node), and the distributions of groups (`targets`: the weight of each node among its siblings), "
                "with the group from which on each is `assigned`.",
            ),
            *format_asking_section(
                manifest, *describe_certain_answer("people's values follow their groups' distributions")
            ),
            *(plain_sql if manifest.sensitive.type == "numeric" else ()),
            *format_promises(manifest),
            *_describe_limits(manifest),
        ]
    )


@dataclass(frozen=True, slots=True)
class TransformedReader:
    kind: ClassVar[str] = "transformed"
    assumption: ClassVar[str] = "a group's values are distributed as its target says"
    files: ClassVar[tuple[str, ...]] = ("quasi", "sensitive", "bounds")
    own: ClassVar[dict[str, Checker]] = {
        "values": schema_checks.check_list_of(schema_checks.check_text),
        "tree": schema_checks.check_list_of(schema_checks.check_list_of(schema_checks.check_count)),
        "targets": schema_checks.check_list_of(schema_checks.check_list_of(schema_checks.check_count)),
        "assigned": schema_checks.check_list_of(schema_checks.check_list_of(schema_checks.check_count)),
    }
    optional: ClassVar[frozenset[str]] = frozenset()
    labelled: ClassVar[bool] = False
    elsewhere: ClassVar[bool] = True

    def check(self, manifest: Manifest) -> None:
        if not manifest.find_columns_with_role(Role.QUASI) or len(manifest.find_columns_with_role(Role.SENSITIVE)) != 1:
            raise MisshapenValue("a transformed release has quasi-identifiers and one sensitive column", inside=True)
        if len(set(manifest.own["values"])) != len(manifest.own["values"]):
            raise MisshapenValue("a value of the domain is listed twice", inside=True)
        try:
            AnnotatedHierarchy.from_manifest(manifest)
        except (ValueError, IndexError) as error:
            raise (
                error
                if isinstance(error, MisshapenValue)
                else MisshapenValue("the targets cannot be read", inside=True)
            ) from None

    def schemas(self, manifest: Manifest) -> dict[str, Schema]:
        rows = {column.name: column.dtype for column in manifest.columns if column.role != Role.SENSITIVE}
        sensitive = manifest.sensitive
        numeric = sensitive.type == "numeric"
        end = sensitive.dtype if numeric else "String"
        bound_dtype = "Int64" if sensitive.dtype.startswith(("Int", "UInt")) else "Float64"
        return {
            "quasi": {**rows, GROUP_COLUMN: _INTEGER_DTYPE},
            "sensitive": {
                GROUP_COLUMN: _INTEGER_DTYPE,
                "lower": end,
                "upper": end,
                "label": "String",
                COUNT_COLUMN: _INTEGER_DTYPE,
            },
            "bounds": {
                GROUP_COLUMN: _INTEGER_DTYPE,
                SELECTED_COLUMN: _INTEGER_DTYPE,
                **(dict.fromkeys(_BOUND_COLUMNS, bound_dtype) if numeric else {}),
            },
        }

    def domain(self, tables: Tables, manifest: Manifest) -> pl.Series:
        column = manifest.sensitive
        return parse_texts(list(manifest.own["values"]), column.dtype).alias(column.name)

    def check_tables(self, tables: Tables, manifest: Manifest) -> None:
        for table in tables.values():
            if GROUP_COLUMN in table.columns:
                require_integers_between(table, GROUP_COLUMN, 0, manifest.rows - 1)
        if "sensitive" in tables:
            require_integers_between(tables["sensitive"], COUNT_COLUMN, 1, MAX_COUNT)
        if "bounds" in tables:
            require_integers_between(tables["bounds"], SELECTED_COLUMN, 1, manifest.rows)

    def frame(self, tables: Tables, manifest: Manifest, *, bounds: bool) -> pl.DataFrame:
        """Return the rows with their group; the groups' values are in the table `sensitive`."""
        return add_value_bounds(tables["quasi"], manifest) if bounds else tables["quasi"]

    def sight(self, tables: Tables, manifest: Manifest, cells: Cells) -> AdversaryView:
        """Return the target of every group: what a release tells about the values of its people."""
        annotated = AnnotatedHierarchy.from_manifest(manifest)
        column = cells.sensitive[0]
        rows = np.bincount(tables["quasi"][GROUP_COLUMN].to_numpy())
        place_of_text = {text: place_number for place_number, text in enumerate(annotated.texts)}
        place = [place_of_text.get(text, -1) for text in column.texts]
        if -1 in place:
            raise RequestError(
                f"Column {column.name!r} of the source holds {pluralize(place.count(-1), 'value')} that the target lacks."
            )
        shares = np.zeros((len(annotated.weights), column.size))
        shares[:, : len(place)] = annotated.float_probabilities[:, place]
        counts = shares[annotated.find_targets(np.arange(len(rows)))] * rows[:, None]
        return build_members(tables["quasi"], tables["quasi"][GROUP_COLUMN], counts, cells)

    def value_counts(self, tables: Tables, manifest: Manifest, column: str) -> pl.DataFrame:
        raise RequestError(
            "In a transformed release values are generalized and mixed with fakes: how many people hold each is not published.",
            attempt="release.query, which bounds it.",
        )

    def list_needed_columns(self, manifest: Manifest, question_columns: AskedColumns) -> dict[str, NeededColumns]:
        """List the needed columns: for the sensitive column, groups of rows and bounds of groups; otherwise counts suffice."""
        sensitive = manifest.sensitive.name
        if sensitive not in question_columns.names:
            return {"quasi": NeededColumns(question_columns.names, counted=True)}
        files = {"quasi": NeededColumns((question_columns.names - {sensitive}) | {GROUP_COLUMN}, counted=False)}
        schemas = self.schemas(manifest)
        for name in ("sensitive", "bounds") if sensitive in question_columns.aggregated else ("sensitive",):
            files[name] = NeededColumns(frozenset(schemas[name]), counted=False)
        return files

    def estimate(self, tables: Tables, manifest: Manifest, question: Question) -> Answer:
        """Estimate the mean under the groups' targets, with bounds over all choices of nodes and values."""
        times = times_counted(tables["quasi"])
        bound_question = BoundQuestion.bind(tables["quasi"], manifest, question, people=times)
        if not bound_question.sensitive:
            return bound_question.answer_row_by_row(times)
        return estimate_with_bounds(tables, manifest, bound_question)

    def readme(self, manifest: Manifest) -> str:
        if manifest.readme == 1:
            return render_first_transformed(manifest)
        return render_readme(manifest)


def _describe_limits(manifest: Manifest) -> list[str]:
    return format_limits(
        manifest,
        EXACT_COLUMNS_LIMIT,
        "- The promise is about which value a person has, for somebody who does not know how the values were generalized. One who",
        "  does can infer somewhat more from what the method chose not to publish.",
        "- Who knows the values of all others in a group learns the last one's entry in `sensitive`, up to the fakes.",
        f"- It is about this release alone, and it assumes {format_rows_per_person(manifest)}.",
        *describe_several_rows(
            manifest, "who knows that their rows share a value can compare the groups of these rows"
        ),
    )


READER = TransformedReader()
