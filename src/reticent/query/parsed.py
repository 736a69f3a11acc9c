"""SQL text as trees, one for each statement, none of them deeper than what walks through it can go."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from reticent.errors import RequestError

DEPTH = 200  # conditions within one another; a chain of ANDs is one, too
VALUES = 1_000  # that one question compares with: what it takes to answer grows with their square
MAX_LITERALS_PARSED = 4 * VALUES  # of one statement, counted roughly: parsing costs 16 microseconds for each
MAX_CHARACTERS = 1_000_000  # of one statement
TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\b\d[\w.]*|;")
"""A text, a quoted name, the beginning of a number (1e-5 counts twice), or the end of a statement."""
SIGNS: dict[Any, str] = {
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


def parsed(text: str, what: str, attempt: str) -> list[Any]:
    """The statements, None for one that is empty; `what` says what is refused where it is no SQL.

    A statement that is too long is refused before anything is parsed.
    """
    _refuse_before_parsing(text)
    try:
        found = sqlglot.parse(text, read="duckdb")
    except SqlglotError:
        raise RequestError(f"{what} is no SQL that is understood.", attempt=attempt) from None
    except RecursionError:
        raise _too_deep() from None
    for tree in found:
        _refuse_deep(tree)
        _refuse_long(tree)
    return list(found)


def called(part: Any) -> str:
    """A part of a question by the name that SQL has for it: no value of it is quoted."""
    if isinstance(part, exp.Column):
        return f"The column {part.name!r}"
    if isinstance(part, exp.Between):
        return "BETWEEN SYMMETRIC" if part.args.get("symmetric") else "BETWEEN"
    if type(part) in SIGNS:
        return SIGNS[type(part)]
    if isinstance(part, exp.Func) and not isinstance(part, exp.Binary):
        return f"The function {part.name if isinstance(part, exp.Anonymous) else part.sql_name()}"
    return type(part).__name__.upper()


def besides(part: Any, known: Collection[str]) -> str | None:
    """The name of something that a part has beside what is known; None where there is nothing."""
    return next((name for name, value in part.args.items() if value and name not in known), None)


def _refuse_deep(tree: Any) -> None:
    level, depth = [] if tree is None else [tree], 0
    while level:
        depth += 1
        if depth > DEPTH:
            raise _too_deep()
        level = [inner for outer in level for inner in outer.iter_expressions()]


def _refuse_before_parsing(text: str) -> None:
    if len(text) <= MAX_LITERALS_PARSED:
        return
    literals = 0
    start = 0
    for token in TOKEN.finditer(text):
        if token.group() == ";":
            _refuse_many_characters(token.start() - start)
            literals = 0
            start = token.end()
            continue
        literals += 1
        if literals > MAX_LITERALS_PARSED:
            raise RequestError(
                f"A question compares with {VALUES:,} values at the most; one has more than {MAX_LITERALS_PARSED:,}.",
                attempt="BETWEEN in place of a list, or several questions whose counts add up.",
            )
    _refuse_many_characters(len(text) - start)


def _refuse_many_characters(characters: int) -> None:
    if characters > MAX_CHARACTERS:
        raise RequestError(
            f"A question has {MAX_CHARACTERS:,} characters at the most; one has {characters:,}.",
            attempt="BETWEEN in place of a list, or several questions whose counts add up.",
        )


def _refuse_long(tree: Any) -> None:
    many = 0 if tree is None else sum(1 for _ in tree.find_all(exp.Literal))
    if many > VALUES:
        raise RequestError(
            f"A question compares with {VALUES:,} values at the most; this one has {many:,}.",
            attempt="BETWEEN in place of a list, or several questions whose counts add up.",
        )


def _too_deep() -> RequestError:
    return RequestError(
        f"More than {DEPTH} conditions stand within one another.", why="A chain of ANDs or ORs is counted, too.",
        attempt="IN (...) or BETWEEN in place of many comparisons, or several questions.",
    )  # fmt: skip
