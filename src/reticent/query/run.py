"""Answers questions about a release: one question, a database's copy of a release, or a file of questions.

`ask` parses a question and has the reader of the release's kind answer it, once for each group of GROUP BY.
`ask_database` runs the printed SQL (`compile`) in a database that `export` wrote to, where the recipient's data is.
`measure_questions` answers each statement of a steward's own SQL file and measures the answers against the table from
which the release was made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from math import sqrt
from pathlib import Path
from statistics import fmean, median
from typing import Any

import polars as pl
from sqlglot import exp

from reticent.data.database import (
    expand_environment,
    import_driver,
    open_duckdb_readonly,
    open_sqlite_readonly,
    parse_database_path,
    parse_scheme,
    quote_table,
)
from reticent.data.database_errors import (
    DatabaseFault,
    classify_database_error,
    is_interruption,
    translate_reading_error,
)
from reticent.data.parsing import parse_dtype
from reticent.data.text_formats import parse_stated
from reticent.errors import RequestError, ReticentError, SourceUnreachable, pluralize, quote_list
from reticent.estimate.answer import CONFIDENCE_LEVEL, NO_ANSWER, Answer
from reticent.estimate.answers import Answers
from reticent.estimate.condition import join_conditions, list_atoms
from reticent.estimate.density import DENSITIES, require_known_density
from reticent.estimate.independent_rows import clamp_to_bounds
from reticent.estimate.published_rows import PublishedRows
from reticent.estimate.question import BoundQuestion, Question
from reticent.estimate.source_values import AS_PUBLISHED_PREFIX, require_answerable_values
from reticent.format.data_files import Tables
from reticent.format.manifest import ColumnEntry, Manifest
from reticent.limits import read_text_file
from reticent.query.certainty import describe_certainty, list_interval_remarks
from reticent.query.compile import compile_question, separate_question
from reticent.query.group_by import OTHER_GROUPS_TEXT, GroupSelection, iterate_groups
from reticent.query.line_order import AnswerLine, arrange_lines
from reticent.query.sql import (
    QUESTION_SHAPE,
    ParsedQuestion,
    is_date_column,
    make_condition,
    parse_question,
    parse_statements,
)
from reticent.redaction import redact
from reticent.release.kind import AskedColumns, reader_for
from reticent.time_limit import check_deadline, limit_cpu_time

DEFAULT_TIME_LIMIT_SECONDS = 60.0
"""CPU seconds that one question may take, unless it is asked with another limit."""
NORMAL_INTERVAL_NOTE = (
    "The interval takes the estimate to be normally distributed, which it is not where few rows, or nearly none or nearly all of them, "
    "are meant. `reticent query` on the folder has the better one, and bounds."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class QueryOptions:
    """The level of intervals, how perturbed values are reconstructed, and a cache of what earlier questions found.

    `density` is how people are taken to lie within their labels; None is the default, and the only one where a kind has
    no labels.  `time_limit` is in CPU seconds, for each question; None sets no limit.
    """

    level: float = CONFIDENCE_LEVEL
    by: str = "inversion"
    density: str | None = None
    known: dict[str, Any] = field(default_factory=dict)
    time_limit: float | None = DEFAULT_TIME_LIMIT_SECONDS

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise RequestError("The level of an interval lies between 0 and 1.", attempt="level = 0.95.")
        if self.density is not None:
            require_known_density(self.density)
        if self.time_limit is not None and not self.time_limit > 0:
            raise RequestError("The time limit is a number of CPU seconds above 0.", attempt="time_limit = 60.")


def require_density_applies(manifest: Manifest, density: str | None) -> None:
    """Refuse a density for a release whose quasi-identifiers are published as they were."""
    if density is not None and not reader_for(manifest.kind).labelled:
        raise RequestError(
            f"A density is not used in answers from a release of kind {manifest.kind!r}.",
            why="Its quasi-identifiers are published as they were: there are no labels within which people might lie.",
            attempt="the question without a density.",
        )


def ask(tables: Tables, manifest: Manifest, text: str, options: QueryOptions | None = None) -> Answer | Answers:
    """Answer a question; with GROUP BY or several aggregates return `Answers`: line by line, in the order of SELECT."""
    options = options or QueryOptions()
    require_density_applies(manifest, options.density)
    question = parse_question(text, manifest)
    with limit_question_time(options):
        lines = [line for line, _ in iterate_lines(tables, manifest, question, options)]
    answers = finish_answers(lines, question, manifest)
    return answers if question.by or len(question.aggregates) > 1 else answers[0]


def finish_answers(lines: Sequence[AnswerLine], question: ParsedQuestion, manifest: Manifest) -> Answers:
    """Put lines in the order asked for, and say of each answer, and of all of them, what is certain and what is assumed."""
    places, order_remarks = arrange_lines(lines, question)
    names = list_question_columns(question)
    arranged = [answer for place in places for answer in lines[place].answers]
    remarks = [*question.remarks, *order_remarks]
    finished = []
    own_remarks: list[str | None] = []
    for answer in arranged:
        certainty = describe_certainty([answer], manifest, names)
        own = [answer.note, *list_interval_remarks(answer)]
        own_remarks += own
        finished.append(replace(answer, certainty=certainty, note=_join_sentences([certainty, *own, *remarks])))
    certainty = describe_certainty(arranged, manifest, names) if arranged else None
    whole_note = _join_sentences([certainty, *dict.fromkeys(own_remarks), *remarks])
    return Answers(finished, certainty=certainty, note=whole_note)


def list_question_columns(question: ParsedQuestion) -> list[str]:
    """List the columns that a question is about."""
    aggregated = [aggregate.column for aggregate in question.aggregates if aggregate.column is not None]
    compared = [] if question.where is None else [column.name for column in question.where.find_all(exp.Column)]
    return list(dict.fromkeys([*aggregated, *question.by, *compared]))


def find_asked_columns(texts: Iterable[str], manifest: Manifest) -> AskedColumns:
    """Find the columns that some questions name."""
    names: set[str] = set()
    aggregated: set[str] = set()
    for text in texts:
        question = parse_question(text, manifest)
        where = make_condition(question.where, {column.name: column for column in manifest.columns})
        names |= {aggregate.column for aggregate in question.aggregates if aggregate.column is not None}
        names |= set(question.by) | {atom.column for atom in list_atoms(where)}
        aggregated |= {
            aggregate.column
            for aggregate in question.aggregates
            if aggregate.column is not None and aggregate.name != "count"
        }
    return AskedColumns(frozenset(names), frozenset(aggregated))


def limit_question_time(options: QueryOptions) -> AbstractContextManager[None]:
    """Limit the body, which answers one question, to its time limit."""

    def make_error() -> RequestError:
        return RequestError(
            f"The question was not answered within {options.time_limit:g} CPU seconds.",
            why="Work grows with its different constants, with the combinations of GROUP BY and with the rows.",
            attempt="BETWEEN in place of a list, fewer constants or groups, or --time-limit 600 (time_limit=600).",
        )

    return limit_cpu_time(options.time_limit, make_error)


def iterate_lines(
    tables: Tables, manifest: Manifest, parsed: ParsedQuestion, options: QueryOptions
) -> Iterator[tuple[AnswerLine, list[Question]]]:
    """Yield every line of the answer, with the questions that the reader of the kind answered."""
    reader = reader_for(manifest.kind)
    entries = {column.name: column for column in manifest.columns}
    where = make_condition(parsed.where, entries)
    shown = getattr(reader, "shows_values", False)
    counted = getattr(reader, "shows_each_value", False)
    require_answerable_values(manifest.kind, manifest.columns, parsed.by, (), shown=shown, counted=counted)
    for line in iterate_groups(reader, tables, manifest, parsed.by):

        def make_question(aggregate: str, column: str | None, line: GroupSelection = line) -> Question:
            return Question(
                by=options.by,
                density=options.density or DENSITIES[0],
                aggregate=aggregate,
                column=column,
                condition=join_conditions(where, line.condition),
                unlisted=line.rest,
                empty=line.empty,
                outside=where,
                known=options.known,
            )

        answers = []
        questions = []
        for aggregate in parsed.aggregates:
            check_deadline()
            question = make_question(aggregate.name, aggregate.column)
            label = str(aggregate) if len(parsed.aggregates) > 1 else None
            answer = _set_level(reader.estimate(tables, manifest, question), float(options.level))
            answers.append(replace(answer, keys=line.keys or None, of=label, rest=line.rest))
            questions.append(question)
        if line.keys and all(_says_nothing(answer) for answer in answers):
            row_count = reader.estimate(tables, manifest, make_question("count", None))
            if _is_nobody(replace(row_count, rest=line.rest)):
                continue
        dated = [
            _date_answer(answer, entries.get(aggregate.column or ""), aggregate.name)
            for answer, aggregate in zip(answers, parsed.aggregates, strict=True)
        ]
        yield AnswerLine(tuple(dated), line.sort_keys, line.rest), questions


def ask_database(manifest: Manifest, text: str, url: str, table: str) -> Answer | Answers:
    """Answer a question from the tables NAME_quasi, NAME_sensitive and NAME_bounds of a database.

    Lines are sorted and cut off here, as those of `ask` are.
    """
    question = parse_question(text, manifest)
    sql = compile_question(manifest, replace(question, order=(), limit=None), parse_scheme(url), table)
    try:
        _require_single_release(url, table)
        names, rows = _run_sql(url, sql)
    except (ReticentError, ImportError):
        raise
    except Exception as error:
        if is_interruption(error):
            raise KeyboardInterrupt from None
        translated = translate_reading_error(error, redact(url))
        if classify_database_error(error).fault in (DatabaseFault.NO_TABLE, DatabaseFault.NO_SCHEMA):
            advice = f"`reticent export` to it first, with --table {table}."
            translated = type(translated)(translated.what, why=translated.why, attempt=advice)
        raise translated from None
    entries = {column.name: column for column in manifest.columns}
    answers = [_make_answer(dict(zip(names, row, strict=True)), question, entries) for row in rows]
    withheld = separate_question(question, manifest).withheld
    if question.by and withheld.may:
        answers.append(_make_rest_answer(question, withheld.may))
    lines = [AnswerLine((answer,), dict(answer.keys or {}), answer.rest) for answer in answers]
    finished = finish_answers(lines, question, manifest)
    return finished if question.by else finished[0]


def read_questions(path: str | Path) -> list[str]:
    """Read the statements of a file, one after the other; a semicolon ends each."""
    try:
        text = read_text_file(path, "utf-8")
    except (OSError, UnicodeDecodeError):
        raise SourceUnreachable(
            f"The questions {Path(path).name!r} cannot be read.", attempt="a text file of SQL."
        ) from None
    trees = parse_statements(text, "The list of questions", f"{QUESTION_SHAPE}; a semicolon after each.")
    statements = [tree.sql(dialect="duckdb") for tree in trees if tree is not None]
    if not statements:
        raise RequestError("The list has no question.", attempt=QUESTION_SHAPE + ".")
    return statements


def measure_questions(
    tables: Tables,
    manifest: Manifest,
    questions: list[str],
    source: pl.DataFrame | None = None,
    options: QueryOptions | None = None,
) -> list[dict[str, Any]]:
    """Answer each question; with the source, add the `true` answer and the relative `error` of the estimate.

    Every question is parsed before the first is answered.
    """
    options = options or QueryOptions()
    require_density_applies(manifest, options.density)
    parsed_questions = [parse_question(question, manifest) for question in questions]
    rows = None if source is None else cast_source(source, manifest)
    lines = []
    for question, parsed in zip(questions, parsed_questions, strict=True):
        with limit_question_time(options):
            answer_lines = list(iterate_lines(tables, manifest, parsed, options))
        places, _ = arrange_lines([line for line, _ in answer_lines], parsed)
        asked = [question_asked for place in places for question_asked in answer_lines[place][1]]
        answers = finish_answers([line for line, _ in answer_lines], parsed, manifest)
        for answer, question_asked in zip(answers, asked, strict=True):
            line = {"question": question, **answer.to_dict()}
            if rows is not None and not answer.rest and not _asks_rounded_values(question_asked):
                line |= _measure_answer(answer, question_asked, rows, manifest)
            lines.append(line)
    return lines


def cast_source(source: pl.DataFrame, manifest: Manifest) -> pl.DataFrame:
    """Return the release's columns of the source, in the types of the release; numbers are not rounded."""
    missing = [column.name for column in manifest.columns if column.name not in source.columns]
    if missing:
        raise RequestError(
            f"The source lacks {pluralize(len(missing), 'column')} of the release: {quote_list(missing)}.",
            attempt="the data that the release was made from.",
        )
    entries = {column.name: column for column in manifest.columns}
    source = parse_stated(source, entries, {name: column.dtype for name, column in entries.items()})
    columns = []
    for column in manifest.columns:
        dtype = parse_dtype(column.dtype) if column.round_to is None else pl.Float64()
        source_values = _fill_missing(source[column.name])
        values = _read_values(source_values, dtype)
        if unreadable := values.null_count() - source_values.null_count():
            raise RequestError(
                f"{unreadable:,} values of column {column.name!r} of the source do not read as the release has them.",
                attempt="the data that the release was made from, read as its job says.",
            )
        columns.append(values)
    return pl.DataFrame(columns)


def summarize_errors(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the number of answers that have an error, and the median and mean error; empty if none has."""
    errors = [line["error"] for line in lines if "error" in line]
    return {"answers": len(errors), "median": median(errors), "mean": fmean(errors)} if errors else {}


def answer_exactly(source: pl.DataFrame, question: Question) -> float | None:
    """Answer a question from the table itself, where nothing is uncertain."""
    question_of_source = BoundQuestion(
        PublishedRows(source, {}), question.condition, question.aggregate, question.column, sensitive=False
    )
    return question_of_source.answer_row_by_row().upper


def _measure_answer(answer: Answer, question: Question, source: pl.DataFrame, manifest: Manifest) -> dict[str, Any]:
    """Return the true answer and, of numbers, the relative error of the estimate."""
    true_answer = answer_exactly(source, question)
    entry = next((column for column in manifest.columns if column.name == question.column), None)
    if entry is not None and question.aggregate in ("min", "max") and is_date_column(entry):
        return {"true": _convert_place(true_answer, entry)}
    if true_answer and answer.estimate is not None:
        return {"true": true_answer, "error": abs(answer.estimate - true_answer) / abs(true_answer)}
    return {"true": true_answer}


def _date_answer(answer: Answer, entry: ColumnEntry | None, aggregate: str) -> Answer:
    """Return the answer to MIN or MAX of dates with dates in place of their places on the line; others as they are."""
    if entry is None or aggregate not in ("min", "max") or not is_date_column(entry):
        return answer
    estimate = answer.estimate
    if estimate is not None:
        estimate = clamp_to_bounds(round(estimate), answer.lower, answer.upper)
    ends = {"lower": answer.lower, "upper": answer.upper, "estimate": estimate}
    dates = {name: _convert_place(place, entry) for name, place in ends.items()}
    published = None if answer.published is None else _date_answer(answer.published, entry, aggregate)
    return replace(answer, **dates, std_error=None, published=published)


def _convert_place(place: float | None, entry: ColumnEntry) -> Any:
    """Convert a place on the line of days or moments to a date; None beyond the calendar."""
    if place is None:
        return None
    dtype = parse_dtype(entry.dtype)
    physical = pl.Int32 if dtype == pl.Date else pl.Int64
    try:
        return pl.Series([int(place)], dtype=pl.Int64).cast(physical).cast(dtype).to_list()[0]
    except (pl.exceptions.PolarsError, OverflowError, ValueError):
        return None


def _join_sentences(sentences: Sequence[str | None]) -> str | None:
    return " ".join(sentence for sentence in sentences if sentence) or None


def _set_level(answer: Answer, level: float) -> Answer:
    published = None if answer.published is None else replace(answer.published, level=level)
    return replace(answer, level=level, published=published)


def _says_nothing(answer: Answer) -> bool:
    """Tell whether an answer is that of a group without rows: no number, or zero."""
    return not any((answer.estimate, answer.lower, answer.upper, answer.std_error))


def _is_nobody(row_count: Answer) -> bool:
    """Tell whether a group certainly has no rows: SQL has no line for such a group."""
    is_certain = row_count.rest and row_count.estimate == 0 and row_count.std_error == 0 and row_count.published is None
    return row_count.upper == 0 or is_certain


def _require_single_release(url: str, table: str) -> None:
    """Refuse tables that several releases share: their groups are numbered alike, and each has its own manifest."""
    columns, _ = _run_sql(url, f"SELECT * FROM {quote_table(f'{table}_manifest')} LIMIT 0")
    if columns != ["manifest"]:
        raise RequestError(
            f"The tables {table!r} hold several releases, told apart by the column {columns[0]!r}.",
            why="Groups are numbered within a release, and each is asked by its own manifest.",
            attempt="`reticent query` on each release's folder, or `reticent export` without --append.",
        )


def _run_sql(url: str, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    scheme = parse_scheme(url)
    if scheme == "postgresql":
        with (
            import_driver("adbc_driver_postgresql.dbapi", "postgres").connect(expand_environment(url)) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute("SET TRANSACTION READ ONLY")
            cursor.execute(sql)
            table = cursor.fetch_arrow_table()
            return table.column_names, [tuple(row.values()) for row in table.to_pylist()]
    if scheme == "sqlite":
        with closing(open_sqlite_readonly(parse_database_path(url))) as connection:
            cursor = connection.execute(sql)
            return [column[0] for column in cursor.description], cursor.fetchall()
    with open_duckdb_readonly(parse_database_path(url)) as connection:
        cursor = connection.execute(sql)
        return [column[0] for column in cursor.description], cursor.fetchall()


def _make_answer(row: dict[str, Any], question: ParsedQuestion, entries: Mapping[str, ColumnEntry]) -> Answer:
    keys = {name: _read_key(row[name], entries[name]) for name in question.by} or None
    published = None
    if "published_estimate" in row:
        published = _read_numbers(
            {name.removeprefix("published_"): row[name] for name in row if name.startswith("published_")}
        )
    answer = _read_numbers(row)
    if "published_variance" in row and answer.lower is not None and answer.lower == answer.upper:
        answer = replace(answer, std_error=0.0)  # nothing in it is random
    if question.aggregates[0].name == "count" and answer.lower is None and answer.estimate is not None:
        answer = replace(answer, lower=0)
    return replace(answer, keys=keys, published=published)


def _read_key(value: Any, entry: ColumnEntry) -> Any:
    """Return a key as the release has it: SQLite has 1 and 0 for true and false, and texts for dates."""
    dtype = parse_dtype(entry.dtype)
    if dtype == pl.Boolean and isinstance(value, int):
        return bool(value)
    if dtype.is_temporal() and isinstance(value, str):
        return _read_texts(pl.Series([value]), dtype)[0]
    return value


def _make_rest_answer(question: ParsedQuestion, withheld: int) -> Answer:
    """Make the line of all groups without a line of their own, to which only withheld rows can belong."""
    keys = dict.fromkeys(question.by, OTHER_GROUPS_TEXT)
    if question.aggregates[0].name == "count":
        return Answer(0, 0, withheld, keys=keys, published=Answer(0, 0, 0), rest=True)
    note = f"There is no bound: {pluralize(withheld, 'row', 'was', 'were')} withheld."
    return Answer(None, keys=keys, published=NO_ANSWER, rest=True, note=note)


def _asks_rounded_values(question: Question) -> bool:
    """Tell whether a line is of numbers that were rounded to one value: the source has them unrounded."""
    return any(atom.column.startswith(AS_PUBLISHED_PREFIX) for atom in list_atoms(question.condition))


def _fill_missing(values: pl.Series) -> pl.Series:
    """Return values as they are compared: categories as texts, and NaN as missing."""
    if isinstance(values.dtype, pl.Categorical | pl.Enum):
        return values.cast(pl.String)
    return values.fill_nan(None) if values.dtype.is_float() else values


def _read_values(values: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Convert values to the type that the release has; null if they do not read as that."""
    if values.dtype == dtype:
        return values
    try:
        if values.dtype == pl.String:
            return _read_texts(values.str.strip_chars(), dtype)
        if not dtype.is_temporal() or values.dtype.is_temporal() or values.dtype == pl.Null:
            return values.cast(dtype, strict=False)
    except pl.exceptions.PolarsError:
        pass  # no value of the one type is one of the other, as no number is a day
    return pl.Series(values.name, [None] * len(values), dtype=dtype)


def _read_numbers(row: dict[str, Any]) -> Answer:
    if row.get("lower") is None and row.get("estimate") is None:
        return NO_ANSWER
    if row.get("variance") is not None:
        row["std_error"] = sqrt(max(row["variance"], 0.0))
    note = NORMAL_INTERVAL_NOTE if row.get("std_error") else None
    return Answer(row.get("estimate"), row.get("lower"), row.get("upper"), row.get("std_error"), note=note)


def _read_texts(texts: pl.Series, dtype: pl.DataType) -> pl.Series:
    if dtype == pl.Date:
        return texts.str.to_date("%Y-%m-%d", strict=False)
    if isinstance(dtype, pl.Datetime):
        pattern = "%+" if dtype.time_zone else "%Y-%m-%dT%H:%M:%S%.f"
        moments = texts.str.replace(" ", "T", literal=True)
        return moments.str.to_datetime(pattern, time_unit=dtype.time_unit, strict=False).cast(dtype)
    if dtype == pl.Time:
        return texts.str.to_time("%H:%M:%S%.f", strict=False)
    if dtype == pl.Boolean:
        truth_values = {"true": True, "false": False}
        return texts.str.to_lowercase().replace_strict(truth_values, default=None, return_dtype=pl.Boolean)
    if dtype.is_integer():  # a whole number may be written 25.0
        numbers = texts.cast(pl.Float64, strict=False)
        whole_numbers = numbers.set((numbers != numbers.floor()).fill_null(False), None).cast(dtype, strict=False)
        return texts.cast(dtype, strict=False).fill_null(whole_numbers)
    return texts.cast(dtype, strict=False)
