"""Parses a question: SQL text into aggregates, a condition and GROUP BY.

`parse_question` accepts SELECT [columns,] COUNT(*) | COUNT, SUM, AVG, MIN or MAX of a column [, ...] FROM release
[WHERE ...] [GROUP BY columns].  Anything else is refused by its name: nothing is answered that was not asked.

`parse_statements` makes a tree of each statement, none deeper than the functions that walk it can go.

Conditions have AND, OR, NOT, comparisons, BETWEEN, IN and IS NULL, with SQL's three-valued logic: a row for which a
condition is unknown is not selected.  `check_condition` checks the parts and converts literals to the types of their
columns; `make_condition` converts the result to the `Condition` of estimators.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import isfinite
from typing import Any

import polars as pl
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from reticent.data.parsing import parse_dtype, parse_texts
from reticent.errors import RequestError, suggest
from reticent.estimate.condition import IS_NULL, Atom, CompoundCondition, Condition, NegatedCondition
from reticent.format.manifest import ColumnEntry, Manifest

MAX_DEPTH = 200  # conditions within one another; a chain of ANDs is one, too
MAX_LITERALS = 1_000  # that one question compares with: what it takes to answer grows with their square
MAX_LITERALS_PARSED = 4 * MAX_LITERALS  # of one statement, counted roughly: parsing costs 16 microseconds for each
MAX_CHARACTERS = 1_000_000  # of one statement
TOKEN_PATTERN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\b\d[\w.]*|;")
"""A text, a quoted name, the beginning of a number (1e-5 counts twice), or the end of a statement."""
PART_NAMES: dict[Any, str] = {
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE), "A comparison"),
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.DPipe: "||", exp.Star: "*", exp.Window: "OVER (a window)",
    exp.Literal: "A value", exp.Placeholder: "A placeholder", exp.Tuple: "A list", exp.Boolean: "TRUE or FALSE", exp.Neg: "-",
    exp.Paren: "What stands in brackets", exp.NullSafeEQ: "IS NOT DISTINCT FROM", exp.NullSafeNEQ: "IS DISTINCT FROM",
    exp.GroupingSets: "GROUPING SETS", exp.IgnoreNulls: "IGNORE NULLS", exp.SimilarTo: "SIMILAR TO", exp.Case: "CASE",
    exp.IntDiv: "DIV", exp.BitwiseAnd: "&", exp.BitwiseOr: "|", exp.BitwiseXor: "^", exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>", exp.Bracket: "[...]",
    **dict.fromkeys((exp.RegexpLike, exp.RegexpILike), "A regular expression"),
}  # fmt: skip
"""What SQL, or a sentence, calls a part whose class in sqlglot has another name."""
COMPARISON_SIGNS: dict[Any, str] = {exp.EQ: "=", exp.NEQ: "<>", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="}
MIRRORED_SIGNS = {"=": "=", "<>": "<>", ">": "<", ">=": "<=", "<": ">", "<=": ">="}
SUPPORTED_CONDITIONS = "AND, OR, NOT, =, <>, <, <=, >, >=, BETWEEN, IN (...) and IS NULL, on columns and values"
AGGREGATE_NAMES: dict[Any, str] = {exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max"}
QUESTION_SHAPE = "SELECT COUNT(*) or SUM, AVG, MIN or MAX of a column FROM release WHERE ... GROUP BY ..."
TABLE_NAME = "release"
CLAUSE_NAMES = {
    "joins": "JOIN", "order": "ORDER BY", "with_": "WITH", "windows": "WINDOW", "laterals": "LATERAL", "pivots": "PIVOT", "locks": "FOR",
    "sample": "SAMPLE", "connect": "CONNECT BY", "cluster": "CLUSTER BY", "sort": "SORT BY", "distribute": "DISTRIBUTE BY",
    "kind": "SELECT AS",
}  # fmt: skip
"""Where sqlglot's word is not SQL's own."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate of a column; `column` None: of rows."""

    name: str
    column: str | None

    def __str__(self) -> str:
        return f"{self.name.upper()}({self.column or '*'})"


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A parsed question; `where` is checked, and its literals have the types of their columns."""

    aggregates: tuple[Aggregate, ...]
    where: Any | None
    by: tuple[str, ...]


def parse_question(text: str, manifest: Manifest) -> ParsedQuestion:
    tree = _parse_select(text)
    columns = {column.name: column for column in manifest.columns}
    grouping = tree.args.get("group")
    by = tuple(dict.fromkeys(_parse_group_column(node, columns) for node in (grouping.expressions if grouping else ())))
    where = tree.args.get("where")
    return ParsedQuestion(
        _parse_aggregates(tree.expressions, by, columns),
        None if where is None else check_condition(where.this, columns),
        by,
    )


def parse_statements(text: str, what: str, attempt: str) -> list[Any]:
    """Parse the statements; None for an empty one.  `what` names the text in the error if it is no SQL.

    A statement that is too long is refused before anything is parsed.
    """
    _require_parsable_size(text)
    try:
        trees = sqlglot.parse(text, read="duckdb")
    except SqlglotError:
        raise RequestError(f"{what} is no SQL that is understood.", attempt=attempt) from None
    except RecursionError:
        raise _make_depth_error() from None
    for tree in trees:
        _require_shallow(tree)
        _require_few_literals(tree)
    return list(trees)


def split_conjunction(condition: Any | None) -> list[Any]:
    """List the conditions that AND joins at the top."""
    if condition is None:
        return []
    if isinstance(condition, exp.Paren):
        return split_conjunction(condition.this)
    if isinstance(condition, exp.And):
        return [*split_conjunction(condition.left), *split_conjunction(condition.right)]
    return [condition]


def join_conjunction(conditions: Sequence[Any]) -> Any | None:
    return (
        reduce(lambda a, b: exp.And(this=exp.Paren(this=a), expression=exp.Paren(this=b)), conditions)
        if conditions
        else None
    )


def check_condition(condition: Any, columns: Mapping[str, ColumnEntry]) -> Any:
    """Return the condition with known parts only, columns quoted, and each literal written in its column's type."""
    if isinstance(condition, exp.Paren):
        return exp.Paren(this=check_condition(condition.this, columns))
    if isinstance(condition, exp.And | exp.Or):
        return type(condition)(
            this=exp.Paren(this=check_condition(condition.left, columns)),
            expression=exp.Paren(this=check_condition(condition.right, columns)),
        )
    if isinstance(condition, exp.Not):
        return exp.Not(this=exp.Paren(this=check_condition(condition.this, columns)))
    if isinstance(condition, exp.Is) and isinstance(condition.expression, exp.Null):
        return exp.Is(this=_check_column(condition.this, columns), expression=exp.Null())
    if isinstance(condition, exp.Between) and not condition.args.get("symmetric"):
        column = _check_column(condition.this, columns)
        low, high = (_convert_literal(condition.args[end], columns[column.name]) for end in ("low", "high"))
        return exp.Between(this=column, low=low, high=high)
    if isinstance(condition, exp.In) and condition.expressions:
        column = _check_column(condition.this, columns)
        return exp.In(
            this=column, expressions=[_convert_literal(value, columns[column.name]) for value in condition.expressions]
        )
    if type(condition) in COMPARISON_SIGNS and isinstance(condition, exp.Binary):
        return _check_comparison(condition, columns)
    raise RequestError(f"{name_part(condition)} is not understood in a condition.", attempt=f"{SUPPORTED_CONDITIONS}.")


def make_condition(tree: Any | None, columns: Mapping[str, ColumnEntry]) -> Condition | None:
    """Convert a typed condition to the form of estimators."""
    return None if tree is None else _convert_condition(tree, columns)


def read_literal(literal: Any, column: ColumnEntry) -> Any:
    """Return the value of a literal."""
    if isinstance(literal, exp.Boolean):
        return bool(literal.this)
    text = literal.name
    if parse_dtype(column.dtype).is_numeric():
        is_whole = len(text) < 30 and text.lstrip("+-").isdigit() and abs(int(text)) < 1 << 64
        return int(text) if is_whole else float(text)
    return parse_texts([text], column.dtype)[0]


def name_part(part: Any) -> str:
    """Name a part of a question in SQL's words; no value of it is quoted."""
    if isinstance(part, exp.Column):
        return f"The column {part.name!r}"
    if isinstance(part, exp.Between):
        return "BETWEEN SYMMETRIC" if part.args.get("symmetric") else "BETWEEN"
    if type(part) in PART_NAMES:
        return PART_NAMES[type(part)]
    if isinstance(part, exp.Func) and not isinstance(part, exp.Binary):
        return f"The function {part.name if isinstance(part, exp.Anonymous) else part.sql_name()}"
    return type(part).__name__.upper()


def find_extra_part(part: Any, known: Collection[str]) -> str | None:
    """Return the name of an argument of a part that is not among those known; None if there is none."""
    return next((name for name, value in part.args.items() if value and name not in known), None)


def _parse_select(text: str) -> exp.Select:
    trees = parse_statements(text, "The question", QUESTION_SHAPE + ".")
    if len(trees) != 1 or not isinstance(trees[0], exp.Select):
        kind = (
            type(trees[0]).__name__.upper() if len(trees) == 1 and trees[0] is not None else f"{len(trees)} statements"
        )
        raise RequestError(f"{kind} is not understood: a question is one SELECT.", attempt=QUESTION_SHAPE + ".")
    tree = trees[0]
    if clause := find_extra_part(tree, ("expressions", "from_", "where", "group")):
        raise RequestError(
            f"{CLAUSE_NAMES.get(clause, clause.upper())} is not understood.", attempt=QUESTION_SHAPE + "."
        )
    if tree.find(exp.Subquery) or sum(1 for _ in tree.find_all(exp.Select)) > 1:
        raise RequestError("A question within a question is not understood.", attempt=QUESTION_SHAPE + ".")
    _require_release_table(tree)
    if (grouping := tree.args.get("group")) and (extra := find_extra_part(grouping, ("expressions",))):
        word = extra.upper().replace("_", " ")
        raise RequestError(f"GROUP BY with {word} is not understood.", attempt="GROUP BY and the names of columns.")
    return tree


def _parse_group_column(node: Any, columns: dict[str, ColumnEntry]) -> str:
    if not isinstance(node, exp.Column):
        raise RequestError(
            f"{name_part(node)} is not understood in GROUP BY, which is by columns.",
            attempt="GROUP BY and the names of columns.",
        )
    if node.name not in columns:
        raise RequestError(f"The release has no column {node.name!r}.", attempt=suggest(node.name, list(columns)))
    return node.name


def _parse_aggregates(
    selected: Sequence[Any], by: Sequence[str], columns: dict[str, ColumnEntry]
) -> tuple[Aggregate, ...]:
    """Parse the selected aggregates; other selected columns must be those of GROUP BY."""
    aggregates = []
    for expression in selected:
        inner = expression.this if isinstance(expression, exp.Alias) else expression
        if isinstance(inner, exp.Column):
            if _parse_group_column(inner, columns) not in by:
                raise RequestError(
                    f"{inner.name!r} is shown and is not in GROUP BY.", attempt=f"GROUP BY {inner.name}."
                )
        elif type(inner) in AGGREGATE_NAMES:
            aggregates.append(_parse_aggregate(inner, columns))
        else:
            raise RequestError(f"{name_part(inner)} is not understood as what to select.", attempt=QUESTION_SHAPE + ".")
    if not aggregates:
        raise RequestError("The question has no aggregate.", attempt=QUESTION_SHAPE + ".")
    return tuple(dict.fromkeys(aggregates))


def _require_parsable_size(text: str) -> None:
    if len(text) <= MAX_LITERALS_PARSED:
        return
    literals = 0
    start = 0
    for token in TOKEN_PATTERN.finditer(text):
        if token.group() == ";":
            _require_few_characters(token.start() - start)
            literals = 0
            start = token.end()
            continue
        literals += 1
        if literals > MAX_LITERALS_PARSED:
            raise RequestError(
                f"A question compares with {MAX_LITERALS:,} values at the most; one has more than {MAX_LITERALS_PARSED:,}.",
                attempt="BETWEEN in place of a list, or several questions whose counts add up.",
            )
    _require_few_characters(len(text) - start)


def _make_depth_error() -> RequestError:
    return RequestError(
        f"More than {MAX_DEPTH} conditions stand within one another.",
        why="A chain of ANDs or ORs is counted, too.",
        attempt="IN (...) or BETWEEN in place of many comparisons, or several questions.",
    )


def _require_shallow(tree: Any) -> None:
    level = [] if tree is None else [tree]
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise _make_depth_error()
        level = [inner for outer in level for inner in outer.iter_expressions()]


def _require_few_literals(tree: Any) -> None:
    literal_count = 0 if tree is None else sum(1 for _ in tree.find_all(exp.Literal))
    if literal_count > MAX_LITERALS:
        raise RequestError(
            f"A question compares with {MAX_LITERALS:,} values at the most; this one has {literal_count:,}.",
            attempt="BETWEEN in place of a list, or several questions whose counts add up.",
        )


def _check_column(node: Any, columns: Mapping[str, ColumnEntry]) -> exp.Column:
    if not isinstance(node, exp.Column):
        raise RequestError(
            f"{name_part(node)} is not understood where a column is asked.", attempt=f"{SUPPORTED_CONDITIONS}."
        )
    if node.name not in columns:
        raise RequestError(f"The release has no column {node.name!r}.", attempt=suggest(node.name, list(columns)))
    return exp.column(node.name, quoted=True)


def _convert_literal(node: Any, column: ColumnEntry) -> Any:
    """Convert a value to the column's type; a text for a number, or the reverse, is read as the column's type.

    A number keeps its sign in its text: sqlglot would put a node for the sign around it.
    """
    dtype = parse_dtype(column.dtype)
    inner = node.this if isinstance(node, exp.Paren) or _is_date_cast(node, dtype) else node
    sign = "-" if isinstance(inner, exp.Neg) else ""
    inner = inner.this if sign else inner
    if isinstance(inner, exp.Boolean) and dtype == pl.Boolean:
        return exp.Boolean(this=inner.this)
    if isinstance(inner, exp.Column):
        raise RequestError(
            f"A comparison of {column.name!r} with {inner.name!r} is not understood: a comparison is of one column with a value.",
            attempt=f"{SUPPORTED_CONDITIONS}.",
        )
    if isinstance(inner, exp.Null):
        raise RequestError(
            "A comparison with NULL is not understood: it selects nobody.", attempt=f"{column.name} IS NULL."
        )
    if not isinstance(inner, exp.Literal):
        raise RequestError(f"{name_part(inner)} is not understood as a value.", attempt=f"{SUPPORTED_CONDITIONS}.")
    text = sign + inner.name
    if dtype.is_numeric():
        if not _is_finite(text):
            raise RequestError(f"{column.name!r} holds numbers, and it is compared with a text.", attempt="a number.")
        return exp.Literal(this=text, is_string=False)
    if dtype == pl.String:
        return exp.Literal.string(text)
    try:
        read_literal(exp.Literal.string(text), column)
    except Exception:
        raise RequestError(
            f"{column.name!r} is compared with a text that is no {column.dtype}.", attempt="a value as it is published."
        ) from None
    return exp.Literal.string(text)


def _check_comparison(comparison: Any, columns: Mapping[str, ColumnEntry]) -> Any:
    left = comparison.left
    right = comparison.right
    if isinstance(left, exp.Column) and isinstance(right, exp.Column):
        for side in (left, right):
            _check_column(side, columns)
        raise RequestError(
            f"A comparison of {left.name!r} with {right.name!r} is not understood: a comparison is of one column with a value.",
            attempt=f"{SUPPORTED_CONDITIONS}.",
        )
    if isinstance(left, exp.Column):
        return type(comparison)(
            this=_check_column(left, columns), expression=_convert_literal(right, columns[left.name])
        )
    if isinstance(right, exp.Column):
        return type(comparison)(
            this=_convert_literal(left, columns[_check_column(right, columns).name]),
            expression=_check_column(right, columns),
        )
    strange = next((name_part(side) for side in (left, right) if not isinstance(side, exp.Literal)), None)
    subject = "A comparison without a column" if strange is None else f"{strange} in a comparison"
    raise RequestError(f"{subject} is not understood.", attempt=f"{SUPPORTED_CONDITIONS}.")


def _convert_condition(tree: Any, columns: Mapping[str, ColumnEntry]) -> Condition:
    if isinstance(tree, exp.Paren):
        return _convert_condition(tree.this, columns)
    if isinstance(tree, exp.And | exp.Or):
        return CompoundCondition(
            isinstance(tree, exp.And), (_convert_condition(tree.left, columns), _convert_condition(tree.right, columns))
        )
    if isinstance(tree, exp.Not):
        return NegatedCondition(_convert_condition(tree.this, columns))
    if isinstance(tree, exp.Is):
        return Atom(tree.this.name, IS_NULL)
    entry = columns[next(tree.find_all(exp.Column)).name]
    if isinstance(tree, exp.Between):
        return CompoundCondition(
            True, (_make_atom(entry, ">=", tree.args["low"]), _make_atom(entry, "<=", tree.args["high"]))
        )
    if isinstance(tree, exp.In):
        return CompoundCondition(False, tuple(_make_atom(entry, "=", literal) for literal in tree.expressions))
    assert isinstance(tree, exp.Binary)
    if isinstance(tree.left, exp.Column):
        return _make_atom(entry, COMPARISON_SIGNS[type(tree)], tree.right)
    return _make_atom(entry, MIRRORED_SIGNS[COMPARISON_SIGNS[type(tree)]], tree.left)


def _require_release_table(tree: exp.Select) -> None:
    """Refuse a question that is not to the whole release, under its name or its alias in FROM."""
    source = tree.args.get("from_")
    table = None if source is None else source.this
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise RequestError("A question is put to one table: the release.", attempt=f"FROM {TABLE_NAME}.")
    if table.args.get("db") or table.name.lower() != TABLE_NAME:
        raise RequestError(
            "A question is put to the release, and FROM names another table.",
            why=f"Whatever is published, a question calls it {TABLE_NAME}.",
            attempt=f"FROM {TABLE_NAME}.",
        )
    alias = table.args.get("alias")
    if clause := find_extra_part(table, ("this", "alias")) or (alias and find_extra_part(alias, ("this",))):
        raise RequestError(
            f"{CLAUSE_NAMES.get(clause, clause.upper())} after FROM {TABLE_NAME} is not understood.",
            attempt=f"FROM {TABLE_NAME}.",
        )
    for column in tree.find_all(exp.Column):
        if column.table and (column.args.get("db") or column.table.lower() not in (TABLE_NAME, table.alias.lower())):
            raise RequestError(
                f"{column.name!r} is asked of another table than the release.",
                attempt=f"{column.name}, without a table.",
            )


def _parse_aggregate(call: Any, columns: dict[str, ColumnEntry]) -> Aggregate:
    name = AGGREGATE_NAMES[type(call)]
    argument = call.this
    attempt = "COUNT(*), or COUNT of a column." if name == "count" else f"{name.upper()} of a column."
    if argument is None:
        raise RequestError(f"{name.upper()} of nothing is not understood.", attempt=attempt)
    if isinstance(argument, exp.Distinct):
        raise RequestError(f"{name.upper()}(DISTINCT ...) is not understood.", attempt=attempt)
    if find_extra_part(call, ("this", "big_int")) or find_extra_part(argument, ("this", "table")):
        raise RequestError(f"{name.upper()} of more than a column is not understood.", attempt=attempt)
    if name == "count" and isinstance(argument, exp.Star):
        return Aggregate(name, None)
    if not isinstance(argument, exp.Column):
        raise RequestError(f"{name.upper()} of an expression is not understood.", attempt=attempt)
    column = columns[_parse_group_column(argument, columns)]
    if name != "count" and not parse_dtype(column.dtype).is_numeric():
        raise RequestError(
            f"{name.upper()} of {column.name!r} cannot be answered: its values are no numbers.",
            attempt=f"COUNT(*), with a condition on it, or {name.upper()} of a column of numbers.",
        )
    return Aggregate(name, column.name)


def _require_few_characters(characters: int) -> None:
    if characters > MAX_CHARACTERS:
        raise RequestError(
            f"A question has {MAX_CHARACTERS:,} characters at the most; one has {characters:,}.",
            attempt="BETWEEN in place of a list, or several questions whose counts add up.",
        )


def _is_date_cast(node: Any, dtype: Any) -> bool:
    """Tell whether a part is DATE '2020-01-31', a cast in sqlglot; casts that would change a value are not understood."""
    return isinstance(node, exp.Cast) and dtype.is_temporal() and node.to.is_type(*exp.DataType.TEMPORAL_TYPES)


def _is_finite(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _make_atom(column: ColumnEntry, test: str, literal: Any) -> Atom:
    atom = Atom(column.name, test, read_literal(literal, column))
    _require_within_bounds(column, atom)
    return atom


def _require_within_bounds(column: ColumnEntry, atom: Atom) -> None:
    """Refuse a comparison whose result is different for values beyond a declared top or bottom: the release cannot answer it."""
    for end, side, safe_tests in ((column.top, "top", ("<", ">=")), (column.bottom, "bottom", (">", "<="))):
        if end is None:
            continue
        limit = read_literal(exp.Literal.string(str(end)), column)
        beyond = atom.value > limit if side == "top" else atom.value < limit
        if beyond or (atom.value == limit and atom.test not in safe_tests):
            raise RequestError(
                f"Column {column.name!r} is published up to a declared {side} of {end}: what lies beyond it is not told apart.",
                attempt=f"{column.name} {safe_tests[1]} {end}.",
            )
