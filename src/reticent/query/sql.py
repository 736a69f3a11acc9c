"""Parses a question: SQL text into aggregates, a condition and GROUP BY.

`parse_question` accepts SELECT [columns,] COUNT(*) | COUNT, SUM, AVG, MIN or MAX of a column [, ...] FROM release
[WHERE ...] [GROUP BY columns] [ORDER BY ...] [LIMIT n].  Anything else is refused by its name: nothing is answered that
was not asked.  A column is meant by its name as it is written, or in other case if only one is called so.

`parse_statements` makes a tree of each statement, none deeper than the functions that walk it can go.

Conditions have AND, OR, NOT, comparisons, BETWEEN, IN, LIKE, IS NULL and columns of true and false, with SQL's
three-valued logic: a row for which a condition is unknown is not selected.  `check_condition` checks the parts and converts literals to the types of their
columns; `make_condition` converts the result to the `Condition` of estimators.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import isfinite
from typing import Any

import polars as pl
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from reticent.data.columns import Role
from reticent.data.parsing import parse_dtype, parse_texts
from reticent.errors import RequestError, quote_list, suggest
from reticent.estimate.condition import (
    COMPARISONS,
    IS_AMONG,
    IS_LIKE,
    IS_NULL,
    Atom,
    CompoundCondition,
    Condition,
    NegatedCondition,
)
from reticent.estimate.source_values import is_coded
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
SUPPORTED_CONDITIONS = "AND, OR, NOT, =, <>, <, <=, >, >=, BETWEEN, IN (...), LIKE and IS NULL, on columns and values"
AGGREGATE_NAMES: dict[Any, str] = {exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max"}
QUESTION_SHAPE = (
    "SELECT COUNT(*) or SUM, AVG, MIN or MAX of a column FROM release WHERE ... GROUP BY ... ORDER BY ... LIMIT n"
)
QUOTING_HINT = 'A name with marks or spaces in it stands in double quotes: "education-num".'
TABLE_NAME = "release"
NUMBER_PATTERN = re.compile(r"[0-9]+(\.[0-9]*)?(e[+-]?[0-9]{1,3})?", re.IGNORECASE)
WHOLE_NUMBER_PATTERN = re.compile(r"[0-9]{1,18}")
DATE_PATTERN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MIDNIGHT_KEY = "midnight"  # marks a literal that was a date and is compared with moments
MIDNIGHT_REMARK = "A date that is compared with moments is the midnight with which it begins, as SQL has it."
NUMBER_AS_TEXT_KEY = "number as text"  # marks a literal that was a number and is compared with texts
NUMBER_AS_TEXT_REMARK = (
    "A number that is compared with texts is read as the text that is written: 1 is '1', and not 'true'."
)
HAVING_REASON = (
    "How many rows a group has, or what they add up to, is known up to bounds: a group may or may not qualify, and which "
    "do is not for a list to say."
)
CLAUSE_NAMES = {
    "joins": "JOIN", "with_": "WITH", "windows": "WINDOW", "laterals": "LATERAL", "pivots": "PIVOT", "locks": "FOR",
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
class OrderTerm:
    """What ORDER BY sorts lines by: a column of GROUP BY, or the estimate of an aggregate."""

    by: str | Aggregate
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A parsed question; `where` is checked, and its literals have the types of their columns.

    `order` is empty if lines are to be in the order of their keys; `limit` None if all are wanted.  `remarks` say how
    the question was understood, where a reader may have meant otherwise.
    """

    aggregates: tuple[Aggregate, ...]
    where: Any | None
    by: tuple[str, ...]
    order: tuple[OrderTerm, ...] = ()
    limit: int | None = None
    remarks: tuple[str, ...] = ()


def parse_question(text: str, manifest: Manifest) -> ParsedQuestion:
    tree = _parse_select(text)
    columns = {column.name: column for column in manifest.columns}
    grouping = tree.args.get("group")
    group_nodes = grouping.expressions if grouping else ()
    by = tuple(dict.fromkeys(_parse_group_term(node, tree.expressions, columns) for node in group_nodes))
    where = _parse_where(tree, columns)
    aggregates = _parse_aggregates(tree.expressions, by, columns)
    marks: set[str] = (
        set() if where is None else {key for literal in where.find_all(exp.Literal) for key in literal.meta}
    )
    remark_by_mark = {MIDNIGHT_KEY: MIDNIGHT_REMARK, NUMBER_AS_TEXT_KEY: NUMBER_AS_TEXT_REMARK}
    return ParsedQuestion(
        aggregates,
        where,
        by,
        _parse_order(tree, aggregates, by, columns),
        _parse_limit(tree),
        tuple(remark for mark, remark in remark_by_mark.items() if mark in marks),
    )


def find_column(name: str, columns: Mapping[str, ColumnEntry]) -> str:
    """Find the column that a question means by a name: the one that is written so or, in other case, the only one."""
    if name in columns:
        return name
    alike = [column for column in columns if column.casefold() == name.casefold()]
    if len(alike) > 1:
        raise RequestError(
            f"{name!r} may be any of several columns: {quote_list(alike)}.", attempt="the name as the release has it."
        )
    if not alike:
        raise RequestError(f"The release has no column {name!r}.", attempt=suggest(name, list(columns)))
    return alike[0]


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


def write_column_name(name: str) -> str:
    """Return a column's name as it stands in a question: in double quotes where it is read as something else without."""
    try:
        column = sqlglot.parse_one(name, read="duckdb") if name.isidentifier() else None
    except SqlglotError:  # a word of SQL, such as case
        column = None
    is_plain = isinstance(column, exp.Column) and column.name == name
    return name if is_plain else exp.to_identifier(name, quoted=True).sql(dialect="duckdb")


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
    """Return the condition with known parts only, columns quoted, and each literal written in its column's type.

    What is true or false for every row (1 = 1) is TRUE or FALSE, and stands alone: joined with others it is left out.
    """
    if isinstance(condition, exp.Paren):
        checked = check_condition(condition.this, columns)
        return checked if isinstance(checked, exp.Boolean) else exp.Paren(this=checked)
    if isinstance(condition, exp.And | exp.Or):
        return _join_checked(
            type(condition), check_condition(condition.left, columns), check_condition(condition.right, columns)
        )
    if isinstance(condition, exp.Not):
        checked = check_condition(condition.this, columns)
        if isinstance(checked, exp.Boolean):
            return exp.Boolean(this=not checked.this)
        return exp.Not(this=exp.Paren(this=checked))
    if isinstance(condition, exp.Boolean):
        return exp.Boolean(this=condition.this)
    if isinstance(condition, exp.Column):
        return _check_flag(condition, True, columns)
    if isinstance(condition, exp.Is):
        return _check_is(condition, columns)
    if isinstance(condition, exp.Between) and not condition.args.get("symmetric"):
        column = _check_column(condition.this, columns)
        low, high = (_convert_literal(condition.args[end], columns[column.name]) for end in ("low", "high"))
        return exp.Between(this=column, low=low, high=high)
    if isinstance(condition, exp.In) and condition.expressions:
        column = _check_column(condition.this, columns)
        return exp.In(
            this=column, expressions=[_convert_literal(value, columns[column.name]) for value in condition.expressions]
        )
    if isinstance(condition, exp.Like):
        return _check_like(condition, columns)
    if type(condition) in COMPARISON_SIGNS and isinstance(condition, exp.Binary):
        return _check_comparison(condition, columns)
    _require_quoted_name(condition, columns)
    raise RequestError(
        f"{name_part(condition)} is not understood in a condition.",
        attempt="LIKE, which tells capital letters from small ones."
        if isinstance(condition, exp.ILike)
        else f"{SUPPORTED_CONDITIONS}.",
    )


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
    trees = parse_statements(text, "The question", f"{QUESTION_SHAPE}. {QUOTING_HINT}")
    if len(trees) != 1 or not isinstance(trees[0], exp.Select):
        kind = (
            type(trees[0]).__name__.upper() if len(trees) == 1 and trees[0] is not None else f"{len(trees)} statements"
        )
        raise RequestError(f"{kind} is not understood: a question is one SELECT.", attempt=QUESTION_SHAPE + ".")
    tree = trees[0]
    if tree.args.get("having"):
        raise RequestError(
            "HAVING cannot be answered.",
            why=HAVING_REASON,
            attempt="the question without HAVING: every group has its bounds; or ORDER BY and LIMIT.",
        )
    if clause := find_extra_part(tree, ("expressions", "from_", "where", "group", "order", "limit")):
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


def _parse_where(tree: exp.Select, columns: Mapping[str, ColumnEntry]) -> Any | None:
    """Check the condition; None if there is none, or none that leaves anybody out."""
    where = tree.args.get("where")
    if where is None:
        return None
    checked = check_condition(where.this, columns)
    return None if isinstance(checked, exp.Boolean) and checked.this else checked


def _parse_group_term(node: Any, selected: Sequence[Any], columns: dict[str, ColumnEntry]) -> str:
    """Parse what GROUP BY names: a column, the place of one in SELECT, or the name that AS gives to one."""
    if isinstance(node, exp.Literal) and not node.is_string:
        node = _find_selected(node, selected, "GROUP BY")
    elif isinstance(node, exp.Column) and not _is_column(node.name, columns):
        node = next((_drop_alias(item) for item in selected if _has_alias(item, node.name)), node)
    if type(node) in AGGREGATE_NAMES:
        raise RequestError("GROUP BY names an aggregate.", attempt="GROUP BY and the names of columns.")
    return _parse_group_column(node, columns)


def _parse_group_column(node: Any, columns: dict[str, ColumnEntry]) -> str:
    if not isinstance(node, exp.Column):
        _require_quoted_name(node, columns)
        raise RequestError(
            f"{name_part(node)} is not understood in GROUP BY, which is by columns.",
            attempt="GROUP BY and the names of columns.",
        )
    return find_column(node.name, columns)


def _find_selected(place: Any, selected: Sequence[Any], clause: str) -> Any:
    """Return what stands at a place of SELECT, counted from 1."""
    number = int(place.name) if WHOLE_NUMBER_PATTERN.fullmatch(place.name) else 0
    if not 1 <= number <= len(selected):
        raise RequestError(
            f"{clause} names a place that SELECT does not have.",
            attempt=f"a number from 1 to {len(selected)}, or a name.",
        )
    return _drop_alias(selected[number - 1])


def _drop_alias(selected: Any) -> Any:
    return selected.this if isinstance(selected, exp.Alias) else selected


def _has_alias(selected: Any, name: str) -> bool:
    return isinstance(selected, exp.Alias) and selected.alias.casefold() == name.casefold()


def _is_column(name: str, columns: Mapping[str, ColumnEntry]) -> bool:
    return any(column.casefold() == name.casefold() for column in columns)


def _parse_order(
    tree: exp.Select, aggregates: Sequence[Aggregate], by: Sequence[str], columns: dict[str, ColumnEntry]
) -> tuple[OrderTerm, ...]:
    """Parse ORDER BY: columns of GROUP BY and selected aggregates, by their names, places or the names that AS gave."""
    order = tree.args.get("order")
    terms = []
    for ordered in order.expressions if order else ():
        extra = find_extra_part(ordered, ("this", "desc", "nulls_first"))
        node = ordered.this
        if isinstance(node, exp.Literal) and not node.is_string:
            node = _find_selected(node, tree.expressions, "ORDER BY")
        elif isinstance(node, exp.Column):
            node = next((_drop_alias(item) for item in tree.expressions if _has_alias(item, node.name)), node)
        if extra or not (isinstance(node, exp.Column) or type(node) in AGGREGATE_NAMES):
            _require_quoted_name(node, columns)
            raise RequestError(
                f"{name_part(node)} is not understood in ORDER BY."
                if not extra
                else "ORDER BY with more is not understood.",
                attempt="columns of GROUP BY and aggregates of SELECT, each with ASC or DESC.",
            )
        term = _parse_aggregate(node, columns) if type(node) in AGGREGATE_NAMES else find_column(node.name, columns)
        if term not in (*aggregates, *by):
            raise RequestError(
                f"ORDER BY names {str(term)!r}, which no line shows.",
                attempt="columns of GROUP BY and aggregates of SELECT.",
            )
        terms.append(OrderTerm(term, bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first"))))
    return tuple(terms)


def _parse_limit(tree: exp.Select) -> int | None:
    limit = tree.args.get("limit")
    if limit is None:
        return None
    number = limit.expression if isinstance(limit, exp.Limit) else None
    is_number = isinstance(number, exp.Literal) and not number.is_string
    digits = number.name if is_number and number is not None else ""
    if find_extra_part(limit, ("expression",)) or not WHOLE_NUMBER_PATTERN.fullmatch(digits) or int(digits) < 1:
        raise RequestError("LIMIT is a whole number of lines, 1 at the least.", attempt="LIMIT 10.")
    return int(digits)


def _require_quoted_name(node: Any, columns: Mapping[str, ColumnEntry]) -> None:
    """Refuse an expression that is a column's name without its quotes: education-num is read as education less num."""
    if not isinstance(node, exp.Expression):
        return
    written = "".join(node.sql(dialect="duckdb").split()).replace('"', "").casefold()
    for name in columns:
        if "".join(name.split()).casefold() == written and not isinstance(node, exp.Column):
            raise RequestError(
                f"Without quotes, the name of the column {name!r} is read as {name_part(node)} between others.",
                attempt=f'"{name}", in double quotes.',
            )


def _parse_aggregates(
    selected: Sequence[Any], by: Sequence[str], columns: dict[str, ColumnEntry]
) -> tuple[Aggregate, ...]:
    """Parse the selected aggregates; other selected columns must be those of GROUP BY."""
    aggregates = []
    for expression in selected:
        inner = expression.this if isinstance(expression, exp.Alias) else expression
        if isinstance(inner, exp.Column):
            if (name := find_column(inner.name, columns)) not in by:
                raise RequestError(f"{name!r} is shown and is not in GROUP BY.", attempt=f"GROUP BY {inner.name}.")
        elif type(inner) in AGGREGATE_NAMES:
            aggregates.append(_parse_aggregate(inner, columns))
        else:
            _require_quoted_name(inner, columns)
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
        _require_quoted_name(node, columns)
        raise RequestError(
            f"{name_part(node)} is not understood where a column is asked.", attempt=f"{SUPPORTED_CONDITIONS}."
        )
    return exp.column(find_column(node.name, columns), quoted=True)


def _join_checked(joined: type, left: Any, right: Any) -> Any:
    """Join two checked conditions by AND or OR, one that is TRUE or FALSE left out or decisive."""
    decisive = joined is exp.Or
    for side, other in ((left, right), (right, left)):
        if isinstance(side, exp.Boolean):
            return side if bool(side.this) == decisive else other
    return joined(this=exp.Paren(this=left), expression=exp.Paren(this=right))


def _check_flag(node: Any, truth: bool, columns: Mapping[str, ColumnEntry]) -> Any:
    """Check a column that stands alone as a condition: one of true and false, or of numbers, of which 0 is false."""
    column = _check_column(node, columns)
    dtype = parse_dtype(columns[column.name].dtype)
    if dtype.is_numeric():
        comparison: Any = exp.NEQ if truth else exp.EQ
        return comparison(this=column, expression=exp.Literal(this="0", is_string=False))
    if dtype != pl.Boolean:
        raise RequestError(
            f"{column.name!r} is no condition: its values are {'texts' if dtype == pl.String else 'dates'}.",
            attempt=f"{write_column_name(column.name)} = 'true', with the text as it is published."
            if dtype == pl.String
            else f"{write_column_name(column.name)} IS NOT NULL, or a comparison with a date.",
        )
    return exp.EQ(this=column, expression=exp.Boolean(this=truth))


def _check_is(condition: Any, columns: Mapping[str, ColumnEntry]) -> Any:
    """Check IS NULL, IS TRUE and IS FALSE; the last two, of what can stand alone, are never unknown."""
    if isinstance(condition.expression, exp.Null):
        return exp.Is(this=_check_column(condition.this, columns), expression=exp.Null())
    if not isinstance(condition.expression, exp.Boolean):
        raise RequestError(
            f"IS {name_part(condition.expression)} is not understood.", attempt="IS NULL, IS TRUE or IS FALSE."
        )
    flag = _check_flag(condition.this, bool(condition.expression.this), columns)
    is_known = exp.Not(this=exp.Paren(this=exp.Is(this=flag.this.copy(), expression=exp.Null())))
    return exp.And(this=exp.Paren(this=flag), expression=exp.Paren(this=is_known))


def _check_like(condition: Any, columns: Mapping[str, ColumnEntry]) -> Any:
    column = _check_column(condition.this, columns)
    entry = columns[column.name]
    pattern = condition.expression
    if parse_dtype(entry.dtype) != pl.String:
        raise RequestError(
            f"LIKE on {column.name!r} is not understood: its values are no texts.", attempt=f"{SUPPORTED_CONDITIONS}."
        )
    if is_coded(entry):
        raise RequestError(
            f"LIKE on {column.name!r} cannot be answered: its top or bottom stands for all values beyond it.",
            attempt=f"{column.name} IN (...), with the values that are meant.",
        )
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        raise RequestError("LIKE is with a text.", attempt=f"{column.name} LIKE 'A%'.")
    if "\\" in pattern.name:
        raise RequestError(
            "A pattern with a backslash is not understood: databases disagree on what it means.",
            attempt="_ for any one character.",
        )
    like = exp.Like(this=column, expression=exp.Literal.string(pattern.name))
    return exp.Not(this=exp.Paren(this=like)) if condition.args.get("negate") else like


def _compare_literals(comparison: Any) -> exp.Boolean | None:
    """Decide a comparison of two values; None if it is not one of two numbers, or of two texts."""
    sides = [_read_constant(side) for side in (comparison.left, comparison.right)]
    if None in sides or isinstance(sides[0], str) != isinstance(sides[1], str):
        return None
    return exp.Boolean(this=bool(COMPARISONS[COMPARISON_SIGNS[type(comparison)]](sides[0], sides[1])))


def _read_constant(node: Any) -> Fraction | str | None:
    if isinstance(node, exp.Paren):
        return _read_constant(node.this)
    if isinstance(node, exp.Neg):
        number = _read_constant(node.this)
        return -number if isinstance(number, Fraction) else None
    if not isinstance(node, exp.Literal) or len(node.name) > 100:
        return None
    if node.is_string:
        return str(node.name)
    return Fraction(node.name) if NUMBER_PATTERN.fullmatch(node.name) else None


def _convert_literal(node: Any, column: ColumnEntry) -> Any:
    """Convert a value to the column's type; a text for a number, or the reverse, is read as the column's type.

    A number keeps its sign in its text: sqlglot would put a node for the sign around it.
    """
    dtype = parse_dtype(column.dtype)
    inner = node.this if isinstance(node, exp.Paren) or _is_date_cast(node, dtype) else node
    sign = "-" if isinstance(inner, exp.Neg) else ""
    inner = inner.this if sign else inner
    if dtype == pl.Boolean and not sign and isinstance(inner, exp.Boolean | exp.Literal):
        return _convert_truth_value(inner, column)
    if isinstance(inner, exp.Boolean) and not sign and (dtype.is_numeric() or dtype == pl.String):
        return _convert_truth_to_number(inner, column)
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
    return _make_typed_literal(sign + inner.name, bool(inner.is_string), column)


def _make_typed_literal(text: str, is_string: bool, column: ColumnEntry) -> exp.Literal:
    """Write a value in the column's type; `is_string`: the question has it in quotes."""
    dtype = parse_dtype(column.dtype)
    is_midnight = isinstance(dtype, pl.Datetime) and DATE_PATTERN.fullmatch(text.strip()) is not None
    if is_midnight and isinstance(dtype, pl.Datetime) and dtype.time_zone is None:
        text = f"{text.strip()} 00:00:00"
    if dtype.is_numeric():
        if not _is_finite(text):
            raise RequestError(f"{column.name!r} holds numbers, and it is compared with a text.", attempt="a number.")
        return exp.Literal(this=text, is_string=False)
    if dtype == pl.String:
        literal = exp.Literal.string(text)
        if not is_string:
            literal.meta[NUMBER_AS_TEXT_KEY] = True
        return literal
    try:
        value = read_literal(exp.Literal.string(text), column)
    except Exception:
        raise RequestError(
            f"{column.name!r} is compared with a text that is no {column.dtype}.", attempt="a value as it is published."
        ) from None
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is None:  # as an export has it, for SQLite compares texts
        text = pl.Series([value], dtype=dtype).cast(pl.String)[0]
    literal = exp.Literal.string(text)
    if is_midnight:
        literal.meta[MIDNIGHT_KEY] = True
    return literal


def _convert_truth_to_number(node: exp.Boolean, column: ColumnEntry) -> exp.Literal:
    """Convert TRUE and FALSE to 1 and 0, for a column of numbers; beside texts they are refused."""
    if parse_dtype(column.dtype) == pl.String:
        raise RequestError(
            f"{column.name!r} holds texts, and it is compared with TRUE or FALSE.",
            attempt=f"{write_column_name(column.name)} = 'true', with the text as it is published.",
        )
    return exp.Literal(this=str(int(node.this)), is_string=False)


def _convert_truth_value(node: Any, column: ColumnEntry) -> exp.Boolean:
    """Convert TRUE, FALSE, 1, 0, 'true' or 'false' for a column of true and false."""
    if isinstance(node, exp.Boolean):
        return exp.Boolean(this=node.this)
    words = {"1": True, "0": False} if not node.is_string else {"true": True, "false": False}
    truth = words.get(node.name.strip().lower())
    if truth is None:
        raise RequestError(
            f"{column.name!r} holds true and false, and it is compared with something else.",
            attempt=f"{column.name}, NOT {column.name}, or TRUE, FALSE, 1 or 0.",
        )
    return exp.Boolean(this=truth)


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
        column = _check_column(left, columns)
        return type(comparison)(this=column, expression=_convert_literal(right, columns[column.name]))
    if isinstance(right, exp.Column):
        column = _check_column(right, columns)
        return type(comparison)(this=_convert_literal(left, columns[column.name]), expression=column)
    if (decided := _compare_literals(comparison)) is not None:
        return decided
    for side in (left, right):
        _require_quoted_name(side, columns)
    strange = next((name_part(side) for side in (left, right) if not isinstance(side, exp.Literal)), None)
    subject = "A comparison without a column" if strange is None else f"{strange} in a comparison"
    raise RequestError(f"{subject} is not understood.", attempt=f"{SUPPORTED_CONDITIONS}.")


def _convert_condition(tree: Any, columns: Mapping[str, ColumnEntry]) -> Condition:
    if isinstance(tree, exp.Paren):
        return _convert_condition(tree.this, columns)
    if isinstance(tree, exp.Boolean):
        return _select_nobody(columns)
    if isinstance(tree, exp.Like):
        return Atom(tree.this.name, IS_LIKE, tree.expression.name)
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


def _select_nobody(columns: Mapping[str, ColumnEntry]) -> Atom:
    """Make the condition that is false for every row: one on a column that is not sensitive, if there is one."""
    names = [name for name, column in columns.items() if column.role != Role.SENSITIVE]
    return Atom((names or list(columns))[0], IS_AMONG, ())


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
    _require_quoted_name(argument, columns)
    if find_extra_part(call, ("this", "big_int")) or find_extra_part(argument, ("this", "table")):
        raise RequestError(f"{name.upper()} of more than a column is not understood.", attempt=attempt)
    if name == "count" and isinstance(argument, exp.Star | exp.Literal):
        return Aggregate(name, None)
    if not isinstance(argument, exp.Column):
        raise RequestError(f"{name.upper()} of an expression is not understood.", attempt=attempt)
    column = columns[find_column(argument.name, columns)]
    if name != "count" and not _can_aggregate(name, column):
        extremes = "MIN, MAX, " if is_date_column(column) else ""
        raise RequestError(
            f"{name.upper()} of {column.name!r} cannot be answered: its values are no numbers.",
            attempt=f"{extremes}COUNT(*), with a condition on it, or {name.upper()} of a column of numbers.",
        )
    return Aggregate(name, column.name)


def is_date_column(column: ColumnEntry) -> bool:
    """Tell whether a column holds days or moments."""
    return parse_dtype(column.dtype) in (pl.Date, pl.Datetime)


def _can_aggregate(name: str, column: ColumnEntry) -> bool:
    """Tell whether the values of a column have the aggregate: numbers any, dates the least and the greatest."""
    return parse_dtype(column.dtype).is_numeric() or (name in ("min", "max") and is_date_column(column))


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
