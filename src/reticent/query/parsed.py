"""SQL text as trees, one for each statement, none of them deeper than what walks through it can go."""

from __future__ import annotations

from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from reticent.errors import RequestError

DEPTH = 200  # conditions within one another; a chain of ANDs is one, too
VALUES = 1_000  # that one question compares with: what it takes to answer grows with their square


def parsed(text: str, what: str, attempt: str) -> list[Any]:
    """The statements, None for one that is empty; `what` says what is refused where it is no SQL."""
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


def _refuse_deep(tree: Any) -> None:
    level, depth = [] if tree is None else [tree], 0
    while level:
        depth += 1
        if depth > DEPTH:
            raise _too_deep()
        level = [inner for outer in level for inner in outer.iter_expressions()]


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
