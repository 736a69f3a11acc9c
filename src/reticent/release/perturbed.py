"""Reader of the perturbed kind: exact quasi-identifiers, redrawn sensitive values, and the counts behind them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, ClassVar

import polars as pl

from reticent.data.cells import Cells
from reticent.data.columns import Role
from reticent.data.parsing import parse_texts
from reticent.errors import RequestError
from reticent.estimate.answer import Answer
from reticent.estimate.question import BoundQuestion, Question
from reticent.estimate.reconstruction import (
    PerturbationEstimator,
    Reconstruction,
    ValueScores,
    bound_any_value,
    combine_with_bounds,
    require_no_extreme,
)
from reticent.estimate.shrinkage import read_baseline
from reticent.exact_arithmetic import is_whole
from reticent.format import schema_checks
from reticent.format.data_files import Schema, Tables, require_listed_values
from reticent.format.manifest import ComponentEntry, Manifest
from reticent.format.schema_checks import Checker, MisshapenValue, parse_fraction
from reticent.labels.range_ends import add_value_bounds
from reticent.release.kind import AdversaryView, AskedColumns, NeededColumns, times_counted
from reticent.release.readme import (
    EXACT_COLUMNS_LIMIT,
    describe_coarser_columns,
    describe_promise,
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
from reticent.release.readme_first_edition import render_first_perturbed
from reticent.release.readme_questions import describe_random_answer, format_asking_section

PROBABILITY_UNITS = 10**9  # probabilities are so many parts
MAX_CACHED_TEXT_LENGTH = 32  # characters of a number that is remembered


def _check_probability(value: Any) -> Any:
    """Check a probability of nine digits, by which values are drawn: sums of such have nine digits too, however many there are."""
    if isinstance(value, float) or (isinstance(value, str) and len(value) <= MAX_CACHED_TEXT_LENGTH):
        _require_nine_digits(value)
    else:
        _require_nine_digits.__wrapped__(value)
    return value


@lru_cache(maxsize=1 << 14)  # few of a matrix's entries are different
def _require_nine_digits(value: Any) -> None:
    if not is_whole(PROBABILITY_UNITS * parse_fraction(schema_checks.check_number(value))):
        raise MisshapenValue("no number of nine digits")


@dataclass(frozen=True, slots=True)
class PerturbedReader:
    kind: ClassVar[str] = "perturbed"
    files: ClassVar[tuple[str, ...]] = ("data",)
    own: ClassVar[dict[str, Checker]] = {
        "values": schema_checks.check_list_of(schema_checks.check_text),
        "matrix": schema_checks.check_list_of(schema_checks.check_list_of(_check_probability)),
        "distribution": schema_checks.check_list_of(schema_checks.check_number),
    }
    optional: ClassVar[frozenset[str]] = frozenset({"distribution"})
    labelled: ClassVar[bool] = False
    elsewhere: ClassVar[bool] = True

    def check(self, manifest: Manifest) -> None:
        if not manifest.find_columns_with_role(Role.QUASI) or len(manifest.find_columns_with_role(Role.SENSITIVE)) != 1:
            raise MisshapenValue("a perturbed release has quasi-identifiers and one sensitive column", inside=True)
        if manifest.weights is not None:
            raise MisshapenValue("a perturbed release loses nothing that columns could be weighted by", inside=True)
        if len(set(manifest.own["values"])) != len(manifest.own["values"]):
            raise MisshapenValue("a value of the domain is listed twice", inside=True)

    def schemas(self, manifest: Manifest) -> dict[str, Schema]:
        return {"data": {column.name: column.dtype for column in manifest.columns}}

    def check_tables(self, tables: Tables, manifest: Manifest) -> None:
        """Refuse a published value that the manifest does not list."""
        if manifest.sensitive.name in tables["data"].columns:
            require_listed_values(tables["data"], manifest.sensitive.name, manifest.own["values"])

    def frame(self, tables: Tables, manifest: Manifest, *, bounds: bool) -> pl.DataFrame:
        return add_value_bounds(tables["data"], manifest) if bounds else tables["data"]

    def sight(self, tables: Tables, manifest: Manifest, cells: Cells) -> AdversaryView:
        raise RequestError(
            "This attack reads the values that groups hold; in a perturbed release every row's value was redrawn.",
            attempt="--as matrix, or reticent audit, which judges the matrix that values were redrawn by.",
        )

    def value_counts(self, tables: Tables, manifest: Manifest, column: str) -> pl.DataFrame:
        raise RequestError(
            "In a perturbed release every row's value was redrawn: the published counts are not those of the people.",
            attempt="release.count, which estimates them.",
        )

    def domain(self, tables: Tables, manifest: Manifest) -> pl.Series:
        column = manifest.sensitive
        return parse_texts(list(manifest.own["values"]), column.dtype).alias(column.name)

    def list_needed_columns(self, manifest: Manifest, question_columns: AskedColumns) -> dict[str, NeededColumns]:
        """List the needed columns: values were redrawn row by row, so counts of each combination suffice."""
        return {"data": NeededColumns(question_columns.names, counted=True)}

    def estimate(self, tables: Tables, manifest: Manifest, question: Question) -> Answer:
        """Estimate by reconstruction, with a standard error; exact if the question is not about the sensitive column."""
        times = times_counted(tables["data"])
        bound_question = BoundQuestion.bind(tables["data"], manifest, question, people=times)
        if not bound_question.sensitive:
            return bound_question.answer_about_source(lambda part: _mark_exact_answer(part.answer_from_rows(times)))
        if "shown" not in question.known:
            model = Reconstruction.from_manifest(manifest)
            question.known["shown"] = model, model.find_value_places(tables["data"])
        model, shown_places = question.known["shown"]

        require_no_extreme(bound_question.aggregate)
        if question.by == "shrunk" and "baseline" not in question.known:
            question.known["baseline"] = read_baseline(manifest, model.matrix)
        baseline = question.known.get("baseline")

        def ask(part: BoundQuestion) -> Answer:
            scores = ValueScores.from_rows(part.rows, model.values, part.condition, part.column)
            bounds = bound_any_value(part, model.values, times)
            if not scores.depend_on_value(part.aggregate):
                return _mark_exact_answer(bounds)
            redrawn = PerturbationEstimator(part.rows, model.values, shown_places, model, times, baseline)
            answer = redrawn.answer(
                part.condition, part.aggregate, part.column, by=question.by, scores=scores, bounds=bounds
            )
            return combine_with_bounds(answer, bounds)

        return bound_question.answer_about_source(ask)

    def readme(self, manifest: Manifest) -> str:
        if manifest.readme == 1:
            return render_first_perturbed(manifest)
        column = manifest.sensitive.name
        shown_name = format_code(column)
        summary = (
            f"In every row the value of {shown_name} was redrawn at random: no row says what its person has, and counts over many rows "
            "can be estimated."
        )
        return render_page(
            [
                *format_heading(manifest, summary),
                *format_reading_section(
                    manifest,
                    f"- {list_file_subjects(manifest)[0]} {format_rows_per_person(manifest)}. Every column but {shown_name} is as it was.",
                    f"- {shown_name} was redrawn row by row, by the probabilities in `manifest.json`: `matrix[i][v]` is that of publishing "
                    "`values[v]` for a row that had `values[i]`. Do not count it as it is printed: ask as below.",
                    *describe_coarser_columns(manifest),
                ),
                *format_asking_section(manifest, *describe_random_answer(shown_name, manifest)),
                *format_promises(manifest, partial(_describe_likeness, column)),
                *format_withheld_rows(manifest),
                *_describe_limits(manifest),
            ]
        )


def _mark_exact_answer(answer: Answer) -> Answer:
    """Return an answer without an error if nothing in it is random; if rows or values are unknown, it has bounds instead."""
    if answer.lower is None or answer.lower != answer.upper:
        return answer
    return replace(answer, std_error=0.0)


def _describe_likeness(column: str, promise: ComponentEntry) -> str:
    """Describe what beta-likeness means for redrawn values: it is about belief, not about groups."""
    parameters = promise.parameters
    form = ", less for frequent values (enhanced)" if parameters.get("enhanced", True) else ""
    form += ", nor fall by as much" if parameters.get("two_sided") else ""
    return (
        f"Seeing a person's row lifts the belief that they have any one value of {format_code(column)} above its overall frequency by at most "
        f"{parameters['beta']} times that frequency{form} (beta-likeness by perturbation)."
        if promise.name == "beta-likeness"
        else describe_promise(promise)
    )


def _describe_limits(manifest: Manifest) -> list[str]:
    return format_limits(
        manifest,
        EXACT_COLUMNS_LIMIT,
        "- The promise assumes an adversary who knows the overall distribution and these probabilities, and nothing else about",
        f"  the person's value. It is about one row of a person; it assumes {format_rows_per_person(manifest)}.",
        *describe_several_rows(manifest, "values were redrawn row by row, and all their rows together say more"),
        "- It is about this release alone: if the same people's values were redrawn in a second release, both together say more.",
    )


READER = PerturbedReader()
