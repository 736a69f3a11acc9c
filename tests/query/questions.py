"""Random questions, as SQL and as the oracle takes them."""

from __future__ import annotations

from datetime import date, datetime, time

AGGREGATES = ("count", "sum", "avg", "min", "max")


def literal(value) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    return "'" + value + "'" if isinstance(value, str) else str(value)


def make_literal_of_days(plain):
    """What writes days and moments as SQL has them, midnights as days, and all else as `plain` does."""

    def literal_of_day(value) -> str:
        if isinstance(value, datetime) and value.time() == time(0):
            return f"'{value.date().isoformat()}'"
        if isinstance(value, datetime):
            return f"'{value.isoformat(sep=' ')}'"
        return f"'{value.isoformat()}'" if isinstance(value, date) else plain(value)

    return literal_of_day


def sql(condition) -> str:
    if condition[0] in ("and", "or"):
        return f"({sql(condition[1])} {condition[0].upper()} {sql(condition[2])})"
    if condition[0] == "not":
        return f"NOT ({sql(condition[1])})"
    if condition[0] == "always":
        return "1 = 1" if condition[1] else "1 = 0"
    if condition[0] == "flag":
        return condition[1].upper()
    if condition[0] == "like":
        return f"{condition[1]} LIKE {literal(condition[2])}"
    if condition[0] == "null":
        return f"{condition[1]} IS NULL"
    if condition[0] == "between":
        return f"{condition[1]} BETWEEN {' AND '.join(map(literal, condition[2]))}"
    if condition[0] == "in":
        return f"{condition[1]} IN ({', '.join(map(literal, condition[2]))})"
    return f"{condition[1]} {condition[0]} {literal(condition[2])}"


def condition(rng, constants: dict, depth: int = 2, *, ordered: bool = False, usual: bool = False):
    """Over these columns, with these constants; `ordered`: texts are compared by their order too.

    `usual`: also as people write SQL: LIKE, a column of true and false alone, in other case, and 1 = 1.
    """
    kind = rng.random()
    if depth and kind < 0.6:
        joined = "and" if rng.random() < 0.5 else "or"
        return joined, *(condition(rng, constants, depth - 1, ordered=ordered, usual=usual) for _ in range(2))
    if depth and kind < 0.7:
        return "not", condition(rng, constants, depth - 1, ordered=ordered, usual=usual)
    if usual and rng.random() < 0.06:
        return "always", bool(rng.random() < 0.5)
    column = list(constants)[rng.integers(len(constants))]
    if usual and isinstance(constants[column][0], bool) and rng.random() < 0.5:
        return "flag", column
    if usual and isinstance(constants[column][0], str) and rng.random() < 0.4:
        text = constants[column][rng.integers(len(constants[column]))]
        patterns = [f"{text[:1]}%", f"%{text[-1:]}", f"_{text[1:]}", text, "%", f"%{text[1:2]}%"]
        return "like", column, patterns[rng.integers(len(patterns))]
    if rng.random() < 0.1:
        return "null", column
    if rng.random() < 0.2:
        some = [constants[column][at] for at in rng.integers(len(constants[column]), size=2)]
        return ("in" if isinstance(some[0], str | bool) or rng.random() < 0.5 else "between"), column, tuple(some)
    compared = constants[column][0]
    alike = isinstance(compared, bool) or (isinstance(compared, str) and not ordered)
    tests = ("=", "<>") if alike else ("=", "<>", "<", "<=", ">", ">=")
    return (
        tests[rng.integers(len(tests))],
        column,
        constants[column][rng.integers(len(constants[column]))],
    )


def columns_of(condition) -> set[str]:
    if condition[0] in ("and", "or", "not"):
        return set().union(*(columns_of(part) for part in condition[1:]))
    if condition[0] == "always":
        return set()
    return {condition[1]}
