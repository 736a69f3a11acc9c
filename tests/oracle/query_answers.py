"""What SQL answers, over every table that a release leaves possible: by enumeration, with three-valued logic.

A condition is a nested tuple: ("and" | "or", a, b), ("not", a), ("null", column), (test, column, value),
("between", column, (low, high)), ("in", column, values), ("like", column, pattern), ("flag", column) or ("always", truth).
A row is a dict.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from operator import eq, ge, gt, le, lt, ne

TESTS = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def holds(condition, row):
    """True, False, or None where it is unknown."""
    if condition is None:
        return True
    if condition[0] in ("and", "or"):
        sides = [holds(part, row) for part in condition[1:]]
        decided = condition[0] == "or"
        return decided if decided in sides else None if None in sides else not decided
    if condition[0] == "not":
        inner = holds(condition[1], row)
        return None if inner is None else not inner
    if condition[0] == "always":
        return condition[1]
    value = row[condition[1]]
    if condition[0] == "null":
        return value is None
    if value is None:
        return None
    if condition[0] == "flag":
        return value
    if condition[0] == "like":
        return is_like(value, condition[2])
    if condition[0] == "between":
        return condition[2][0] <= value <= condition[2][1]
    return value in condition[2] if condition[0] == "in" else TESTS[condition[0]](value, condition[2])


def is_like(text, pattern):
    """SQL's LIKE, letter by letter."""
    if not pattern:
        return not text
    if pattern[0] == "%":
        return any(is_like(text[start:], pattern[1:]) for start in range(len(text) + 1))
    return bool(text) and pattern[0] in ("_", text[0]) and is_like(text[1:], pattern[1:])


def outcome(condition, column, row):
    """What a row gives to an aggregate: nothing (None), or a number; 1 where rows are counted."""
    if holds(condition, row) is not True:
        return None
    return 1 if column is None else row[column]


def aggregated(name, outcomes):
    held = [one for one in outcomes if one is not None]
    if name == "count":
        return len(held)
    if not held:
        return None
    if name == "avg":
        return Fraction(sum(held), len(held))
    return {"sum": sum, "min": min, "max": max}[name](held)


def ends(name, tables):
    """The least and the greatest answer over lists of outcomes; None where all are NULL."""
    answers = [answer for table in tables if (answer := aggregated(name, table)) is not None]
    return (min(answers), max(answers)) if answers else None


def labelled(rows, condition, column):
    """Rows of {column: [values it may have]}: every row by itself, each distinct outcome once."""
    each = []
    for row in rows:
        points = [dict(zip(row, point, strict=True)) for point in product(*row.values())]
        each.append(sorted({outcome(condition, column, point) for point in points}, key=lambda x: (x is not None, x)))
    return product(*each)


def matched(groups, sensitive, condition, column):
    """Groups of (rows, nodes): every row takes a node of its own and one of the values it stands for; nodes may be left over."""
    each = []
    for rows, nodes in groups:
        found = set()
        for taken in permutations(range(len(nodes)), len(rows)):
            for values in product(*(nodes[at] for at in taken)):
                found.add(
                    tuple(
                        outcome(condition, column, {**row, sensitive: value})
                        for row, value in zip(rows, values, strict=True)
                    )
                )
        each.append(found)
    for together in product(*each):
        yield [one for part in together for one in part]


def distinct(tables):
    """Each list of outcomes once, whatever the order of its rows: those that are not selected left out."""
    return [list(table) for table in {tuple(sorted(one for one in table if one is not None)) for table in tables}]
