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

from reticent.data.grammar import ANY_LABEL, format_range_label, format_set_label, format_value_label
from reticent.errors import RequestError, suggest
from reticent.estimate.condition import Condition, ConditionPieces, convert_to_numbers, make_value_axis
from reticent.estimate.guaranteed_bounds import AnnotatedHierarchy, mask_covered_nodes, mask_wanted_values
from reticent.estimate.published_rows import group_atoms_by_column
from reticent.estimate.question import describe_withheld_rows
from reticent.estimate.reconstruction import BORROWED_ROWS, Reconstruction, require_no_extreme
from reticent.estimate.source_values import is_coded
from reticent.format.manifest import Manifest
from reticent.query.sql import ParsedQuestion, join_conjunction, make_condition, parse_question, split_conjunction
from reticent.release.kind import reader_for

OTHER_WAYS_TO_ASK = "release.query, or `reticent query` without --print-sql and --at."


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


def separate_question(asked: ParsedQuestion, manifest: Manifest) -> SqlQuestion:
    sensitive = manifest.sensitive.name
    if len(asked.aggregates) != 1:
        raise RequestError(
            f"{len(asked.aggregates)} aggregates are not one statement of plain SQL.", attempt="one question for each."
        )
    aggregate = asked.aggregates[0]
    if aggregate.column not in (None, sensitive):
        raise RequestError(
            f"{aggregate} is not printed as plain SQL: it is of another column than the sensitive one.",
            attempt=OTHER_WAYS_TO_ASK,
        )
    if sensitive in asked.by:
        raise RequestError(
            f"GROUP BY {sensitive!r} is not printed as plain SQL: no row says its value.", attempt=OTHER_WAYS_TO_ASK
        )
    apart: tuple[list[Any], list[Any]] = ([], [])
    for part in split_conjunction(asked.where):
        names = {column.name for column in part.find_all(exp.Column)}
        if sensitive in names and len(names) > 1:
            raise RequestError(
                f"A condition that mixes {sensitive!r} with other columns is not printed as plain SQL: it is matched.",
                attempt=OTHER_WAYS_TO_ASK,
            )
        apart[sensitive in names].append(part)
    columns = {column.name: column for column in manifest.columns}
    holding = make_condition(join_conjunction(apart[1]), columns)
    if holding is not None and aggregate.name != "count":
        raise RequestError(
            f"{aggregate} with a condition on {sensitive!r} is not printed as plain SQL: it is matched.",
            attempt=OTHER_WAYS_TO_ASK,
        )
    require_plain_columns(asked, manifest)
    withheld = _count_withheld(asked, manifest)
    return SqlQuestion(
        aggregate.name, join_conjunction(apart[0]), holding, join_conjunction(apart[1]), asked.by, withheld
    )


def require_plain_columns(asked: ParsedQuestion, manifest: Manifest) -> None:
    """Refuse questions about values that stand for others: plain SQL would take such a value for itself."""
    named = set() if asked.where is None else {column.name for column in asked.where.find_all(exp.Column)}
    for column in manifest.columns:
        if column.round_to is not None and column.name in named | set(asked.by):
            raise RequestError(
                f"A question about {column.name!r} is not printed as plain SQL: its values were rounded, and stand for others.",
                attempt=OTHER_WAYS_TO_ASK,
            )
        if column.name in asked.by and is_coded(column):
            raise RequestError(
                f"GROUP BY {column.name!r} is not printed as plain SQL: its top or bottom stands for all values beyond it.",
                attempt=OTHER_WAYS_TO_ASK,
            )


def _count_withheld(asked: ParsedQuestion, manifest: Manifest) -> WithheldRows:
    """Count the withheld rows; with GROUP BY, any of them may be in each group, and none need be."""
    if not manifest.withheld:
        return NONE_WITHHELD
    columns = {column.name: column for column in manifest.columns}
    among = make_condition(asked.where, columns)
    column = asked.aggregates[0].column
    found = describe_withheld_rows(manifest.withheld, columns, among, column, unlisted=bool(asked.by))
    share = Fraction(manifest.rows + manifest.withheld, manifest.rows)
    if found is None:
        return WithheldRows(manifest.withheld, 0, 0, share)
    must, may = (int(found.rows[side].sum()) for side in (found.must, found.may))
    return WithheldRows(manifest.withheld, must, may, share)


def find_matching_values(domain: pl.Series, asked: SqlQuestion) -> tuple[object, ...] | None:
    """Find the values of the domain that meet the condition on the sensitive column; None if there is no such condition."""
    if asked.holding is None:
        return None
    axis = make_value_axis(
        str(domain.name), np.arange(len(domain)), domain, group_atoms_by_column(asked.holding)[str(domain.name)]
    )
    met = ConditionPieces.from_condition([axis], asked.holding).met[axis.may.argmax(axis=1)]
    return tuple(domain.filter(pl.Series(met)).to_list())


def compile_perturbed_sql(manifest: Manifest, asked: SqlQuestion, dialect: str, double: str, table: str) -> str:
    """Compile a question to a perturbed release: `table` is the quoted name of the rows, `dialect` sqlglot's, `double`
    the database's type.
    """
    model = Reconstruction.from_manifest(manifest)
    column = manifest.sensitive
    score = _compute_scores(model.values, asked)
    weight = model.inverse @ score
    each = weight**2 - model.inverse @ score**2
    name = exp.to_identifier(column.name, quoted=True).sql(dialect=dialect)
    shown = [_compile_literal(value, dialect) for value in model.values.to_list()]
    by = [exp.to_identifier(one, quoted=True).sql(dialect=dialect) for one in asked.by]
    keys = "".join(f"{one}, " for one in by)
    group = f"\nGROUP BY {', '.join(by)}\nORDER BY {', '.join(by)}" if by else ""
    where = "" if asked.where is None else f"\n  WHERE {asked.where.sql(dialect=dialect)}"
    weights, spreads = (_compile_case(name, shown, numbers, double) for numbers in (weight, each))
    rows = f"CAST(COUNT(*) AS {double})"
    total = f"COALESCE(SUM(reticent_weight), CAST(0 AS {double}))"
    variance = (
        f"COALESCE(({rows} * SUM(reticent_spread) + {BORROWED_ROWS} * {rows} * (SELECT reticent_mean FROM whole)) / ({rows} + {BORROWED_ROWS}), "
        f"CAST(0 AS {double}))"
    )
    if asked.aggregate != "count":
        total = f"SUM(reticent_weight){f' / {rows}' if asked.aggregate == 'avg' else ''}"
        variance += f" / ({rows} * {rows})" if asked.aggregate == "avg" else ""
    columns = f"{total} AS estimate, {variance} AS variance"
    comment = ""
    if asked.withheld.rows:
        groups = " any of them may be in each group, or in one that has no line;" if by else ""
        comment = f"-- {asked.withheld.rows} rows of the source were withheld:{groups} the estimate takes them to be like the others\n"
        share = 1.0 if asked.aggregate == "avg" else float(asked.withheld.share)
        columns = f"({total}) * {share!r} AS estimate, ({variance}) * {share * share!r} AS variance"
        if asked.holding is None and asked.aggregate == "count":
            columns = (
                f"({total}) * {share!r} AS estimate, COUNT(*) + {asked.withheld.must} AS lower, "
                f"COUNT(*) + {asked.withheld.may} AS upper"
            )
        columns += f", {total} AS published_estimate, {variance} AS published_variance"
    return (
        f"{comment}WITH whole AS (\n  SELECT AVG({spreads}) AS reticent_mean FROM {table}\n),\n"
        f"picked AS (\n  SELECT {keys}{weights} AS reticent_weight, {spreads} AS reticent_spread\n  FROM {table}{where}\n)\n"
        f"SELECT {keys}{columns}\nFROM picked{group}"
    )


def _compute_scores(values: pl.Series, asked: SqlQuestion) -> np.ndarray:
    require_no_extreme(asked.aggregate)
    if asked.aggregate != "count":
        return convert_to_numbers(values).astype(float)
    among = find_matching_values(values, asked)
    return np.ones(len(values)) if among is None else values.is_in(list(among)).to_numpy().astype(float)


def _compile_literal(value: object, dialect: str) -> str:
    if not isinstance(value, str | int | float):
        raise RequestError(
            "Values that are neither texts nor numbers are not printed as plain SQL.", attempt=OTHER_WAYS_TO_ASK
        )
    literal = exp.Literal.string(value) if isinstance(value, str) else exp.convert(value)
    return literal.sql(dialect=dialect)


def _compile_case(name: str, shown: list[str], numbers: np.ndarray, double: str) -> str:
    cases = " ".join(f"WHEN {value} THEN {float(number)!r}" for value, number in zip(shown, numbers, strict=True))
    return f"CAST(CASE {name} {cases} END AS {double})"


SQLGLOT_DIALECTS = {"duckdb": "duckdb", "sqlite": "sqlite", "postgresql": "postgres"}
DOUBLE_TYPES = {"duckdb": "DOUBLE", "sqlite": "REAL", "postgresql": "DOUBLE PRECISION"}
INTEGER_TYPES = {"duckdb": "BIGINT", "sqlite": "INTEGER", "postgresql": "BIGINT"}
TABLE_SUFFIXES = ("quasi", "sensitive", "bounds")


def compile_sql(manifest: Manifest, text: str, dialect: str, table: str = "release") -> str:
    """Compile the question to a database's SQL; its tables are NAME, or NAME_quasi and so on, as `export` writes them."""
    if dialect not in SQLGLOT_DIALECTS:
        raise RequestError(f"SQL of {dialect!r} is not printed.", attempt=suggest(dialect, list(SQLGLOT_DIALECTS)))
    kind = reader_for(manifest.kind)
    if "matrix" in manifest.own:
        people = ".".join(map(quote_name, table.split(".")))
        asked = separate_question(parse_question(text, manifest), manifest)
        return compile_perturbed_sql(manifest, asked, SQLGLOT_DIALECTS[dialect], DOUBLE_TYPES[dialect], people)
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
    asked = separate_question(parse_question(text, manifest), manifest)
    if asked.withheld.rows and kind.files == TABLE_SUFFIXES:
        raise RequestError(
            "Questions to a transformed release with withheld rows are not printed as plain SQL: `bounds` is of published rows.",
            attempt=OTHER_WAYS_TO_ASK,
        )
    names = {name: ".".join(quote_name(part) for part in f"{table}_{name}".split(".")) for name in TABLE_SUFFIXES}
    keys = [f"reticent_key{at}" for at in range(len(asked.by))]
    columns = [f"{quote_name(name)} AS {key}" for name, key in zip(asked.by, keys, strict=True)]
    condition = "" if asked.where is None else f"\n  WHERE {asked.where.sql(dialect=SQLGLOT_DIALECTS[dialect])}"
    group = ", ".join([*map(quote_name, asked.by), '"group"'])
    listed = ", ".join([*columns, '"group"'])
    picked = f"picked AS (\n  SELECT {listed}, COUNT(*) AS reticent_n FROM {names['quasi']}{condition}\n  GROUP BY {group}\n)"
    shown = "".join(f"{key} AS {quote_name(name)}, " for name, key in zip(asked.by, keys, strict=True))
    ending = f"\nGROUP BY {', '.join(keys)}\nORDER BY {', '.join(keys)}" if keys else ""
    if kind.files != TABLE_SUFFIXES:
        return _compile_matching(manifest, asked, dialect, names, picked, shown, ending)
    if asked.aggregate == "count":
        return _compile_count(manifest, asked, dialect, names, picked, shown, ending)
    return _compile_lookup(manifest, asked, dialect, names, picked, shown, ending)


def _compile_lookup(
    manifest: Manifest, asked: SqlQuestion, dialect: str, names: dict[str, str], picked: str, shown: str, ending: str
) -> str:
    keys = "".join(f"p.reticent_key{at}, " for at in range(len(asked.by)))
    join = (
        f'looked AS (\n  SELECT {keys}p.reticent_n, b.* FROM picked p JOIN {names["bounds"]} b ON b."group" = p."group" AND b.selected = (\n'
        f'    SELECT MIN(x.selected) FROM {names["bounds"]} x WHERE x."group" = p."group" AND x.selected >= p.reticent_n)\n)'
    )
    whole = manifest.sensitive.dtype.startswith(("Int", "UInt"))
    exact = INTEGER_TYPES[dialect] if whole else DOUBLE_TYPES[dialect]
    sums = {
        "lower": "SUM(sum_lower - (selected - reticent_n) * max_lower)",
        "upper": "SUM(sum_upper - (selected - reticent_n) * min_upper)",
    }
    mean = f"CAST(SUM(reticent_n * {_compile_target_case(manifest, _compute_target_means(manifest), dialect)}) AS {DOUBLE_TYPES[dialect]})"
    if asked.aggregate == "sum":
        columns = [f"{mean} AS estimate", *(f"CAST({form} AS {exact}) AS {side}" for side, form in sums.items())]
    elif asked.aggregate == "avg":
        rows = f"CAST(SUM(reticent_n) AS {DOUBLE_TYPES[dialect]})"
        columns = [f"{mean} / {rows} AS estimate"]
        columns += [f"CAST({form} AS {DOUBLE_TYPES[dialect]}) / {rows} AS {side}" for side, form in sums.items()]
    else:
        take = asked.aggregate.upper()
        columns = [f"CAST({take}({asked.aggregate}_{side}) AS {exact}) AS {side}" for side in ("lower", "upper")]
    return f"WITH {picked},\n{join}\nSELECT {shown}{', '.join(columns)}\nFROM looked{ending}"


def _compile_count(
    manifest: Manifest, asked: SqlQuestion, dialect: str, names: dict[str, str], picked: str, shown: str, ending: str
) -> str:
    whole = INTEGER_TYPES[dialect]
    double = DOUBLE_TYPES[dialect]
    kind = reader_for(manifest.kind)
    values = find_matching_values(kind.domain({}, manifest), asked)
    if values is None:
        columns = ", ".join(
            f"CAST(COALESCE(SUM(reticent_n), 0) AS {whole}) AS {side}" for side in ("estimate", "lower", "upper")
        )
        return f"WITH {picked}\nSELECT {shown}{columns}\nFROM picked{ending}"
    annotated = AnnotatedHierarchy.from_manifest(manifest)
    inside, touching = mask_covered_nodes(annotated, values)
    keys = "".join(f"p.reticent_key{at}, " for at in range(len(asked.by)))
    held_ = (
        f'held AS (\n  SELECT "group", SUM("count") AS total,\n'
        f'    SUM(CASE WHEN {_compile_label_filter(annotated, inside, manifest)} THEN "count" ELSE 0 END) AS within,\n'
        f'    SUM(CASE WHEN {_compile_label_filter(annotated, touching, manifest)} THEN "count" ELSE 0 END) AS touching\n'
        f'  FROM {names["sensitive"]} GROUP BY "group"\n)'
    )
    looked = f'looked AS (\n  SELECT {keys}p.reticent_n, h.* FROM picked p JOIN held h ON h."group" = p."group"\n)'
    share = annotated.float_probabilities @ mask_wanted_values(annotated, values)
    columns = (
        f"CAST(COALESCE(SUM(reticent_n * {_compile_target_case(manifest, share, dialect)}), 0) AS {double}) AS estimate, "
        f"CAST(COALESCE(SUM(CASE WHEN reticent_n > total - within THEN reticent_n - (total - within) ELSE 0 END), 0) AS {whole}) AS lower, "
        f"CAST(COALESCE(SUM(CASE WHEN reticent_n < touching THEN reticent_n ELSE touching END), 0) AS {whole}) AS upper"
    )
    return f"WITH {picked},\n{held_},\n{looked}\nSELECT {shown}{columns}\nFROM looked{ending}"


def _compile_matching(
    manifest: Manifest, asked: SqlQuestion, dialect: str, names: dict[str, str], picked: str, shown: str, ending: str
) -> str:
    """Compile for groups that list exact values: the mean over all matchings, and the least and the most of any."""
    if asked.aggregate != "count":
        raise RequestError(
            f"{asked.aggregate.upper()} is not printed as plain SQL: there is no table of bounds to look it up in.",
            attempt=OTHER_WAYS_TO_ASK,
        )
    whole = INTEGER_TYPES[dialect]
    double = DOUBLE_TYPES[dialect]
    among = "1 = 1" if asked.held is None else asked.held.sql(dialect=SQLGLOT_DIALECTS[dialect])
    keys = "".join(f"p.reticent_key{at}, " for at in range(len(asked.by)))
    held_ = (
        f'held AS (\n  SELECT "group", SUM("count") AS total, SUM(CASE WHEN {among} THEN "count" ELSE 0 END) AS among\n'
        f'  FROM {names["sensitive"]} GROUP BY "group"\n)'
    )
    looked = f'looked AS (\n  SELECT {keys}p.reticent_n, h.* FROM picked p JOIN held h ON h."group" = p."group"\n)'
    estimate = f"COALESCE(SUM(CAST(reticent_n AS {double}) * CAST(among AS {double}) / CAST(total AS {double})), 0)"
    least = "COALESCE(SUM(CASE WHEN reticent_n + among > total THEN reticent_n + among - total ELSE 0 END), 0)"
    most = "COALESCE(SUM(CASE WHEN reticent_n < among THEN reticent_n ELSE among END), 0)"
    published = {"estimate": estimate, "lower": f"CAST({least} AS {whole})", "upper": f"CAST({most} AS {whole})"}
    columns = add_withheld_columns(published, asked.withheld, double, whole)
    comment = write_withheld_comment(asked)
    return f"{comment}WITH {picked},\n{held_},\n{looked}\nSELECT {shown}{columns}\nFROM looked{ending}"


def add_withheld_columns(published: dict[str, str], withheld: WithheldRows, double: str, whole: str) -> str:
    """Return the columns of a count: of the source's rows and, if some are withheld, of published rows beside them."""
    if not withheld.rows:
        return ", ".join(f"{form} AS {name}" for name, form in published.items())
    share = f"CAST({float(withheld.share)!r} AS {double})"
    lower = f"CAST({published['lower']} + {withheld.must} AS {whole})"
    upper = f"CAST({published['upper']} + {withheld.may} AS {whole})"
    estimate = f"({published['estimate']}) * {share}"
    within = f"CASE WHEN {estimate} < {lower} THEN {lower} WHEN {estimate} > {upper} THEN {upper} ELSE {estimate} END"
    columns = [f"{within} AS estimate", f"{lower} AS lower", f"{upper} AS upper"]
    columns += [f"{form} AS published_{name}" for name, form in published.items()]
    return ", ".join(columns)


def write_withheld_comment(asked: SqlQuestion) -> str:
    """Write the comment for readers of the SQL if rows are withheld."""
    if not asked.withheld.rows:
        return ""
    groups = " any of them may be in each group, or in one that has no line;" if asked.by else ""
    return f"-- {asked.withheld.rows} rows of the source were withheld:{groups} lower and upper count them in\n"


def _compute_target_means(manifest: Manifest) -> np.ndarray:
    annotated = AnnotatedHierarchy.from_manifest(manifest)
    return annotated.float_probabilities @ np.array([float(text) for text in annotated.texts])


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


def _compile_label_filter(annotated: AnnotatedHierarchy, marked: np.ndarray, manifest: Manifest) -> str:
    """Compile a filter for entries of `sensitive` that are marked nodes, by their labels."""
    labels = [
        _format_node_label(annotated, node, manifest.sensitive.type == "numeric")
        for node in np.flatnonzero(marked).tolist()
    ]
    listed = ", ".join(exp.Literal.string(label).sql() for label in labels)
    return f"label IN ({listed})" if labels else "1 = 0"


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


def quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
