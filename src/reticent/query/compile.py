"""Compiles a question to plain SQL over the tables of a release.

The SQL counts the selected rows of each group, looks up, and adds up.  It has no function of ours and no extension:
what runs is GROUP BY, a join and a sum (Koudas et al., VLDB 2009, section 3.3).  A view could not do it, because the
reader's condition belongs below its aggregation.

Plain SQL can answer one aggregate of the sensitive column, if conditions on that column and on other columns are
separate: `separate_question` splits them, and refuses other questions.

For a release of perturbed values (`compile_perturbed_sql`) every row adds a number that belongs to the value it shows.
A score s of the true value (1 or 0 for COUNT, the value for SUM and AVG) is estimated by w = M^-1 s of the shown one;
the variance of a row is estimated by w^2 - M^-1 s^2 of it (`estimate/reconstruction.py`, which also adds 30 rows of the
whole table's spread). Both are one CASE over the values.  The root of `variance` is the standard error: not every
database has a root.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from sqlglot import exp

from reticent.data.label_grammar import ANY_LABEL, format_range_label, format_set_label, format_value_label
from reticent.errors import RequestError, suggest
from reticent.estimate.condition import Condition, ConditionPieces, convert_to_numbers, make_value_axis
from reticent.estimate.guaranteed_bounds import AnnotatedHierarchy, mask_covered_nodes, mask_wanted_values
from reticent.estimate.published_rows import group_atoms_by_column
from reticent.estimate.question import describe_withheld_rows
from reticent.estimate.reconstruction import BORROWED_ROWS, Reconstruction, require_no_extreme
from reticent.estimate.source_values import is_coded
from reticent.format.manifest import Manifest
from reticent.query.sql import (
    ParsedQuestion,
    is_date_column,
    join_conjunction,
    make_condition,
    parse_question,
    split_conjunction,
)
from reticent.release.kind import reader_for

OTHER_WAYS_TO_ASK = "release.query, or `reticent query` without --print-sql and --at."
SQLGLOT_DIALECTS = {"duckdb": "duckdb", "sqlite": "sqlite", "postgresql": "postgres"}
DOUBLE_TYPES = {"duckdb": "DOUBLE", "sqlite": "REAL", "postgresql": "DOUBLE PRECISION"}
INTEGER_TYPES = {"duckdb": "BIGINT", "sqlite": "INTEGER", "postgresql": "BIGINT"}
TABLE_SUFFIXES = ("quasi", "sensitive", "bounds")


@dataclass(frozen=True, slots=True)
class WithheldRows:
    """Rows that are not published, as a count treats them.

    `must` and `may` are how many of them must and may be counted; `share` is all rows divided by the published ones.
    """

    rows: int
    must: int
    may: int
    share: Fraction


NONE_WITHHELD = WithheldRows(0, 0, 0, Fraction(1))


@dataclass(frozen=True, slots=True)
class SqlQuestion:
    """A question for plain SQL: `where` is over exact columns, as SQL; `holding` over the sensitive one, and `held` the same as SQL."""

    aggregate: str
    where: Any | None
    holding: Condition | None
    held: Any | None
    by: tuple[str, ...]
    withheld: WithheldRows = NONE_WITHHELD


def separate_question(question: ParsedQuestion, manifest: Manifest) -> SqlQuestion:
    sensitive = manifest.sensitive.name
    if len(question.aggregates) != 1:
        raise RequestError(
            f"{len(question.aggregates)} aggregates are not one statement of plain SQL.",
            attempt="one question for each.",
        )
    aggregate = question.aggregates[0]
    if aggregate.name in ("min", "max") and is_date_column(manifest.sensitive) and aggregate.column == sensitive:
        raise RequestError(f"{aggregate} is not printed as plain SQL: it is of dates.", attempt=OTHER_WAYS_TO_ASK)
    if aggregate.column not in (None, sensitive):
        raise RequestError(
            f"{aggregate} is not printed as plain SQL: it is of another column than the sensitive one.",
            attempt=OTHER_WAYS_TO_ASK,
        )
    if sensitive in question.by:
        raise RequestError(
            f"GROUP BY {sensitive!r} is not printed as plain SQL: no row says its value.", attempt=OTHER_WAYS_TO_ASK
        )
    conditions_by_sensitive: tuple[list[Any], list[Any]] = ([], [])
    for part in split_conjunction(question.where):
        names = {column.name for column in part.find_all(exp.Column)}
        if sensitive in names and len(names) > 1:
            raise RequestError(
                f"A condition that mixes {sensitive!r} with other columns is not printed as plain SQL: it is matched.",
                attempt=OTHER_WAYS_TO_ASK,
            )
        conditions_by_sensitive[sensitive in names].append(part)
    columns = {column.name: column for column in manifest.columns}
    holding = make_condition(join_conjunction(conditions_by_sensitive[1]), columns)
    if holding is not None and aggregate.name != "count":
        raise RequestError(
            f"{aggregate} with a condition on {sensitive!r} is not printed as plain SQL: it is matched.",
            attempt=OTHER_WAYS_TO_ASK,
        )
    require_plain_columns(question, manifest)
    withheld = _count_withheld(question, manifest)
    return SqlQuestion(
        aggregate.name,
        join_conjunction(conditions_by_sensitive[0]),
        holding,
        join_conjunction(conditions_by_sensitive[1]),
        question.by,
        withheld,
    )


def require_plain_columns(question: ParsedQuestion, manifest: Manifest) -> None:
    """Refuse questions about values that stand for others: plain SQL would take such a value for itself."""
    names = set() if question.where is None else {column.name for column in question.where.find_all(exp.Column)}
    aggregated = {aggregate.column for aggregate in question.aggregates if aggregate.name != "count"}
    for column in manifest.columns:
        if column.name in aggregated and is_coded(column):
            raise RequestError(
                f"An aggregate of {column.name!r} is not printed as plain SQL: its values stand for others.",
                attempt=OTHER_WAYS_TO_ASK,
            )
        if column.round_to is not None and column.name in names | set(question.by):
            raise RequestError(
                f"A question about {column.name!r} is not printed as plain SQL: its values were rounded, and stand for others.",
                attempt=OTHER_WAYS_TO_ASK,
            )
        if column.name in question.by and is_coded(column):
            raise RequestError(
                f"GROUP BY {column.name!r} is not printed as plain SQL: its top or bottom stands for all values beyond it.",
                attempt=OTHER_WAYS_TO_ASK,
            )


def find_matching_values(domain: pl.Series, question: SqlQuestion) -> tuple[object, ...] | None:
    """Find the values of the domain that meet the condition on the sensitive column; None if there is no such condition."""
    if question.holding is None:
        return None
    axis = make_value_axis(
        str(domain.name), np.arange(len(domain)), domain, group_atoms_by_column(question.holding)[str(domain.name)]
    )
    is_match = ConditionPieces.from_condition([axis], question.holding).met[axis.may.argmax(axis=1)]
    return tuple(domain.filter(pl.Series(is_match)).to_list())


def _drop_rounding(spread: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Set to 0 what is a difference of equal numbers but for rounding, which another processor would round otherwise."""
    return np.where(np.abs(spread) <= 1e-12 * np.abs(weight).max() ** 2, 0.0, spread)


def compile_perturbed_sql(manifest: Manifest, question: SqlQuestion, dialect: str, double: str, table: str) -> str:
    """Compile a question to a perturbed release: `table` is the quoted name of the rows, `dialect` sqlglot's, `double`
    the database's type.
    """
    model = Reconstruction.from_manifest(manifest)
    column = manifest.sensitive
    score = _compute_scores(model.values, question)
    weight = model.inverse @ score
    spread = _drop_rounding(weight**2 - model.inverse @ score**2, weight)
    name = exp.to_identifier(column.name, quoted=True).sql(dialect=dialect)
    literals = [_compile_literal(value, dialect) for value in model.values.to_list()]
    group_columns = [exp.to_identifier(column_name, quoted=True).sql(dialect=dialect) for column_name in question.by]
    keys = "".join(f"{column_name}, " for column_name in group_columns)
    group = f"\nGROUP BY {', '.join(group_columns)}\nORDER BY {', '.join(group_columns)}" if group_columns else ""
    where = "" if question.where is None else f"\n  WHERE {print_condition(question.where, dialect)}"
    weights, spreads = (_compile_case(name, literals, numbers, double) for numbers in (weight, spread))
    rows = f"CAST(COUNT(*) AS {double})"
    total = f"COALESCE(SUM(reticent_weight), CAST(0 AS {double}))"
    variance = (
        f"COALESCE(({rows} * SUM(reticent_spread) + {BORROWED_ROWS} * {rows} * (SELECT reticent_mean FROM whole)) / ({rows} + {BORROWED_ROWS}), "
        f"CAST(0 AS {double}))"
    )
    if question.aggregate != "count":
        total = f"SUM(reticent_weight){f' / {rows}' if question.aggregate == 'avg' else ''}"
        variance += f" / ({rows} * {rows})" if question.aggregate == "avg" else ""
    columns = f"{total} AS estimate, {variance} AS variance"
    comment = ""
    if question.withheld.rows:
        groups = " any of them may be in each group, or in one that has no line;" if group_columns else ""
        comment = f"-- {question.withheld.rows} rows of the source were withheld:{groups} the estimate takes them to be like the others\n"
        share = 1.0 if question.aggregate == "avg" else float(question.withheld.share)
        columns = f"({total}) * {share!r} AS estimate, ({variance}) * {share * share!r} AS variance"
        if question.holding is None and question.aggregate == "count":
            columns = (
                f"({total}) * {share!r} AS estimate, COUNT(*) + {question.withheld.must} AS lower, "
                f"COUNT(*) + {question.withheld.may} AS upper"
            )
        columns += f", {total} AS published_estimate, {variance} AS published_variance"
    return (
        f"{comment}WITH whole AS (\n  SELECT AVG({spreads}) AS reticent_mean FROM {table}\n),\n"
        f"picked AS (\n  SELECT {keys}{weights} AS reticent_weight, {spreads} AS reticent_spread\n  FROM {table}{where}\n)\n"
        f"SELECT {keys}{columns}\nFROM picked{group}"
    )


def compile_sql(manifest: Manifest, text: str, dialect: str, table: str = "release") -> str:
    """Compile the question to a database's SQL; its tables are NAME, or NAME_quasi and so on, as `export` writes them."""
    return compile_question(manifest, parse_question(text, manifest), dialect, table)


def compile_question(manifest: Manifest, parsed: ParsedQuestion, dialect: str, table: str) -> str:
    """Compile a parsed question; ORDER BY and LIMIT are for who reads the lines, for what they leave out has to be said."""
    if dialect not in SQLGLOT_DIALECTS:
        raise RequestError(f"SQL of {dialect!r} is not printed.", attempt=suggest(dialect, list(SQLGLOT_DIALECTS)))
    if parsed.order or parsed.limit is not None:
        raise RequestError(
            "ORDER BY and LIMIT are not printed as plain SQL.",
            why="What is sorted are estimates, and nothing in a table would say so, nor which lines were left out.",
            attempt="the question without them, or `reticent query` with --at in place of --print-sql.",
        )
    kind = reader_for(manifest.kind)
    if "matrix" in manifest.own:
        rows_table = ".".join(map(quote_name, table.split(".")))
        question = separate_question(parsed, manifest)
        return compile_perturbed_sql(manifest, question, SQLGLOT_DIALECTS[dialect], DOUBLE_TYPES[dialect], rows_table)
    if kind.files not in (TABLE_SUFFIXES, TABLE_SUFFIXES[:2]):
        raise RequestError(
            f"Questions to a {manifest.kind} release are not printed as plain SQL: "
            + (
                "its labels are texts that a database does not read."
                if kind.labelled
                else "it has no table of bounds to look up."
            ),
            attempt="release.query, or `reticent query` without --print-sql and --at.",
        )
    question = separate_question(parsed, manifest)
    if question.withheld.rows and kind.files == TABLE_SUFFIXES:
        raise RequestError(
            "Questions to a transformed release with withheld rows are not printed as plain SQL: `bounds` is of published rows.",
            attempt=OTHER_WAYS_TO_ASK,
        )
    names = {name: ".".join(quote_name(part) for part in f"{table}_{name}".split(".")) for name in TABLE_SUFFIXES}
    keys = [f"reticent_key{position}" for position in range(len(question.by))]
    columns = [f"{quote_name(name)} AS {key}" for name, key in zip(question.by, keys, strict=True)]
    condition = (
        "" if question.where is None else f"\n  WHERE {print_condition(question.where, SQLGLOT_DIALECTS[dialect])}"
    )
    group = ", ".join([*map(quote_name, question.by), '"group"'])
    selected = ", ".join([*columns, '"group"'])
    picked = f"picked AS (\n  SELECT {selected}, COUNT(*) AS reticent_n FROM {names['quasi']}{condition}\n  GROUP BY {group}\n)"
    key_columns = "".join(f"{key} AS {quote_name(name)}, " for name, key in zip(question.by, keys, strict=True))
    ending = f"\nGROUP BY {', '.join(keys)}\nORDER BY {', '.join(keys)}" if keys else ""
    if kind.files != TABLE_SUFFIXES:
        return _compile_matching(manifest, question, dialect, names, picked, key_columns, ending)
    if question.aggregate == "count":
        return _compile_count(manifest, question, dialect, names, picked, key_columns, ending)
    return _compile_lookup(manifest, question, dialect, names, picked, key_columns, ending)


def print_condition(condition: Any, dialect: str) -> str:
    """Print a condition as a database reads it; SQLite's LIKE takes a for A, which its GLOB does not."""
    if dialect != "sqlite":
        return str(condition.sql(dialect=dialect))

    def replace_like(node: Any) -> Any:
        if not isinstance(node, exp.Like):
            return node
        wildcards = {"%": "*", "_": "?", "*": "[*]", "?": "[?]", "[": "[[]"}
        pattern = "".join(wildcards.get(letter, letter) for letter in node.expression.name)
        return exp.Glob(this=node.this, expression=exp.Literal.string(pattern))

    return str(condition.transform(replace_like).sql(dialect=dialect))


def add_withheld_columns(published: dict[str, str], withheld: WithheldRows, double: str, integer: str) -> str:
    """Return the columns of a count: of the source's rows and, if some are withheld, of published rows beside them."""
    if not withheld.rows:
        return ", ".join(f"{form} AS {name}" for name, form in published.items())
    share = f"CAST({float(withheld.share)!r} AS {double})"
    lower = f"CAST({published['lower']} + {withheld.must} AS {integer})"
    upper = f"CAST({published['upper']} + {withheld.may} AS {integer})"
    estimate = f"({published['estimate']}) * {share}"
    clamped = f"CASE WHEN {estimate} < {lower} THEN {lower} WHEN {estimate} > {upper} THEN {upper} ELSE {estimate} END"
    columns = [f"{clamped} AS estimate", f"{lower} AS lower", f"{upper} AS upper"]
    columns += [f"{form} AS published_{name}" for name, form in published.items()]
    return ", ".join(columns)


def write_withheld_comment(question: SqlQuestion) -> str:
    """Write the comment for readers of the SQL if rows are withheld."""
    if not question.withheld.rows:
        return ""
    groups = " any of them may be in each group, or in one that has no line;" if question.by else ""
    return f"-- {question.withheld.rows} rows of the source were withheld:{groups} lower and upper count them in\n"


def quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _count_withheld(question: ParsedQuestion, manifest: Manifest) -> WithheldRows:
    """Count the withheld rows; with GROUP BY, any of them may be in each group, and none need be."""
    if not manifest.withheld:
        return NONE_WITHHELD
    columns = {column.name: column for column in manifest.columns}
    condition = make_condition(question.where, columns)
    column = question.aggregates[0].column
    withheld = describe_withheld_rows(manifest.withheld, columns, condition, column, unlisted=bool(question.by))
    share = Fraction(manifest.rows + manifest.withheld, manifest.rows)
    if withheld is None:
        return WithheldRows(manifest.withheld, 0, 0, share)
    must, may = (int(withheld.rows[side].sum()) for side in (withheld.must, withheld.may))
    return WithheldRows(manifest.withheld, must, may, share)


def _compute_scores(values: pl.Series, question: SqlQuestion) -> np.ndarray:
    require_no_extreme(question.aggregate)
    if question.aggregate != "count":
        return convert_to_numbers(values).astype(float)
    matching = find_matching_values(values, question)
    return np.ones(len(values)) if matching is None else values.is_in(list(matching)).to_numpy().astype(float)


def _compile_literal(value: object, dialect: str) -> str:
    if not isinstance(value, str | int | float):
        raise RequestError(
            "Values that are neither texts nor numbers are not printed as plain SQL.", attempt=OTHER_WAYS_TO_ASK
        )
    literal = exp.Literal.string(value) if isinstance(value, str) else exp.convert(value)
    return literal.sql(dialect=dialect)


def _compile_case(name: str, literals: list[str], numbers: np.ndarray, double: str) -> str:
    cases = " ".join(f"WHEN {value} THEN {float(number)!r}" for value, number in zip(literals, numbers, strict=True))
    return f"CAST(CASE {name} {cases} END AS {double})"


def _compile_matching(
    manifest: Manifest,
    question: SqlQuestion,
    dialect: str,
    names: dict[str, str],
    picked: str,
    key_columns: str,
    ending: str,
) -> str:
    """Compile for groups that list exact values: the mean over all matchings, and the least and the most of any."""
    if question.aggregate != "count":
        raise RequestError(
            f"{question.aggregate.upper()} is not printed as plain SQL: there is no table of bounds to look it up in.",
            attempt=OTHER_WAYS_TO_ASK,
        )
    integer = INTEGER_TYPES[dialect]
    double = DOUBLE_TYPES[dialect]
    filter_sql = "1 = 1" if question.held is None else print_condition(question.held, SQLGLOT_DIALECTS[dialect])
    keys = "".join(f"p.reticent_key{position}, " for position in range(len(question.by)))
    counts = (
        f'held AS (\n  SELECT "group", SUM("count") AS total, SUM(CASE WHEN {filter_sql} THEN "count" ELSE 0 END) AS among\n'
        f'  FROM {names["sensitive"]} GROUP BY "group"\n)'
    )
    looked = f'looked AS (\n  SELECT {keys}p.reticent_n, h.* FROM picked p JOIN held h ON h."group" = p."group"\n)'
    estimate = f"COALESCE(SUM(CAST(reticent_n AS {double}) * CAST(among AS {double}) / CAST(total AS {double})), 0)"
    lower = "COALESCE(SUM(CASE WHEN reticent_n + among > total THEN reticent_n + among - total ELSE 0 END), 0)"
    upper = "COALESCE(SUM(CASE WHEN reticent_n < among THEN reticent_n ELSE among END), 0)"
    published = {"estimate": estimate, "lower": f"CAST({lower} AS {integer})", "upper": f"CAST({upper} AS {integer})"}
    columns = add_withheld_columns(published, question.withheld, double, integer)
    comment = write_withheld_comment(question)
    return f"{comment}WITH {picked},\n{counts},\n{looked}\nSELECT {key_columns}{columns}\nFROM looked{ending}"


def _compile_count(
    manifest: Manifest,
    question: SqlQuestion,
    dialect: str,
    names: dict[str, str],
    picked: str,
    key_columns: str,
    ending: str,
) -> str:
    integer = INTEGER_TYPES[dialect]
    double = DOUBLE_TYPES[dialect]
    kind = reader_for(manifest.kind)
    values = find_matching_values(kind.domain({}, manifest), question)
    if values is None:
        columns = ", ".join(
            f"CAST(COALESCE(SUM(reticent_n), 0) AS {integer}) AS {side}" for side in ("estimate", "lower", "upper")
        )
        return f"WITH {picked}\nSELECT {key_columns}{columns}\nFROM picked{ending}"
    annotated = AnnotatedHierarchy.from_manifest(manifest)
    inside, touching = mask_covered_nodes(annotated, values)
    keys = "".join(f"p.reticent_key{position}, " for position in range(len(question.by)))
    counts = (
        f'held AS (\n  SELECT "group", SUM("count") AS total,\n'
        f'    SUM(CASE WHEN {_compile_label_filter(annotated, inside, manifest)} THEN "count" ELSE 0 END) AS within,\n'
        f'    SUM(CASE WHEN {_compile_label_filter(annotated, touching, manifest)} THEN "count" ELSE 0 END) AS touching\n'
        f'  FROM {names["sensitive"]} GROUP BY "group"\n)'
    )
    looked = f'looked AS (\n  SELECT {keys}p.reticent_n, h.* FROM picked p JOIN held h ON h."group" = p."group"\n)'
    share = annotated.float_probabilities @ mask_wanted_values(annotated, values)
    columns = (
        f"CAST(COALESCE(SUM(reticent_n * {_compile_target_case(manifest, share, dialect)}), 0) AS {double}) AS estimate, "
        f"CAST(COALESCE(SUM(CASE WHEN reticent_n > total - within THEN reticent_n - (total - within) ELSE 0 END), 0) AS {integer}) AS lower, "
        f"CAST(COALESCE(SUM(CASE WHEN reticent_n < touching THEN reticent_n ELSE touching END), 0) AS {integer}) AS upper"
    )
    return f"WITH {picked},\n{counts},\n{looked}\nSELECT {key_columns}{columns}\nFROM looked{ending}"


def _compile_lookup(
    manifest: Manifest,
    question: SqlQuestion,
    dialect: str,
    names: dict[str, str],
    picked: str,
    key_columns: str,
    ending: str,
) -> str:
    keys = "".join(f"p.reticent_key{position}, " for position in range(len(question.by)))
    join = (
        f'looked AS (\n  SELECT {keys}p.reticent_n, b.* FROM picked p JOIN {names["bounds"]} b ON b."group" = p."group" AND b.selected = (\n'
        f'    SELECT MIN(x.selected) FROM {names["bounds"]} x WHERE x."group" = p."group" AND x.selected >= p.reticent_n)\n)'
    )
    is_whole = manifest.sensitive.dtype.startswith(("Int", "UInt"))
    exact = INTEGER_TYPES[dialect] if is_whole else DOUBLE_TYPES[dialect]
    sums = {
        "lower": "SUM(sum_lower - (selected - reticent_n) * max_lower)",
        "upper": "SUM(sum_upper - (selected - reticent_n) * min_upper)",
    }
    mean = f"CAST(SUM(reticent_n * {_compile_target_case(manifest, _compute_target_means(manifest), dialect)}) AS {DOUBLE_TYPES[dialect]})"
    if question.aggregate == "sum":
        columns = [f"{mean} AS estimate", *(f"CAST({form} AS {exact}) AS {side}" for side, form in sums.items())]
    elif question.aggregate == "avg":
        rows = f"CAST(SUM(reticent_n) AS {DOUBLE_TYPES[dialect]})"
        columns = [f"{mean} / {rows} AS estimate"]
        columns += [f"CAST({form} AS {DOUBLE_TYPES[dialect]}) / {rows} AS {side}" for side, form in sums.items()]
    else:
        function = question.aggregate.upper()
        columns = [f"CAST({function}({question.aggregate}_{side}) AS {exact}) AS {side}" for side in ("lower", "upper")]
    return f"WITH {picked},\n{join}\nSELECT {key_columns}{', '.join(columns)}\nFROM looked{ending}"


def _compile_label_filter(annotated: AnnotatedHierarchy, is_marked: np.ndarray, manifest: Manifest) -> str:
    """Compile a filter for entries of `sensitive` that are marked nodes, by their labels."""
    labels = [
        _format_node_label(annotated, node, manifest.sensitive.type == "numeric")
        for node in np.flatnonzero(is_marked).tolist()
    ]
    label_list = ", ".join(exp.Literal.string(label).sql() for label in labels)
    return f"label IN ({label_list})" if labels else "1 = 0"


def _compile_target_case(manifest: Manifest, of_target: np.ndarray, dialect: str) -> str:
    """Compile a number of each group's target, by the first group to which the target is assigned."""
    numbers = [
        (group, f"CAST({float(of_target[target])!r} AS {DOUBLE_TYPES[dialect]})")
        for group, target in manifest.own["assigned"]
    ]
    if len(numbers) == 1:
        return numbers[0][1]
    cases = " ".join(f'WHEN "group" >= {group} THEN {number}' for group, number in reversed(numbers[1:]))
    return f"CASE {cases} ELSE {numbers[0][1]} END"


def _compute_target_means(manifest: Manifest) -> np.ndarray:
    annotated = AnnotatedHierarchy.from_manifest(manifest)
    return annotated.float_probabilities @ np.array([float(text) for text in annotated.texts])


def _format_node_label(annotated: AnnotatedHierarchy, node: int, numeric: bool) -> str:
    first = int(annotated.first[node])
    last = int(annotated.last[node])
    if first == last:
        return format_value_label(annotated.texts[first])
    if numeric:
        return format_range_label(annotated.texts[first], annotated.texts[last])
    return (
        ANY_LABEL if last - first + 1 == len(annotated.texts) else format_set_label(annotated.texts[first : last + 1])
    )
