"""Random questions, as SQL and as the oracle takes them."""

from __future__ import annotations

AGGREGATES = ("count", "sum", "avg", "min", "max")


def literal(value) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    return "'" + value + "'" if isinstance(value, str) else str(value)


def sql(condition) -> str:
    if condition[0] in ("and", "or"):
        return f"({sql(condition[1])} {condition[0].upper()} {sql(condition[2])})"
    if condition[0] == "not":
        return f"NOT ({sql(condition[1])})"
    if condition[0] == "null":
        return f"{condition[1]} IS NULL"
    if condition[0] == "between":
        return f"{condition[1]} BETWEEN {' AND '.join(map(literal, condition[2]))}"
    if condition[0] == "in":
        return f"{condition[1]} IN ({', '.join(map(literal, condition[2]))})"
    return f"{condition[1]} {condition[0]} {literal(condition[2])}"


def condition(rng, constants: dict, depth: int = 2, *, ordered: bool = False):
    """Over these columns, with these constants; `ordered`: texts are compared by their order too."""
    kind = rng.random()
    if depth and kind < 0.6:
        joined = "and" if rng.random() < 0.5 else "or"
        return joined, *(condition(rng, constants, depth - 1, ordered=ordered) for _ in range(2))
    if depth and kind < 0.7:
        return "not", condition(rng, constants, depth - 1, ordered=ordered)
    column = list(constants)[rng.integers(len(constants))]
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
    return {condition[1]}
