"""The parameters of promises, methods and stages as a manifest may hold them: the catalogue's fields, checked for a stranger's file.

A parameter that no job may have is refused by its name before anything is computed from it.  The constructors read the same fields
with a check of their own (`reticent.door.parameters`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from reticent.catalogue import Field, Relation
from reticent.catalogue.fields import WEIGHTS
from reticent.release import shape
from reticent.release.numbers import fraction
from reticent.release.shape import Checker, Misshapen


def weights(value: Any) -> Mapping[str, Any]:
    """A weight for each column that has one."""
    return checker(WEIGHTS)(value)


def refuse_weightless(given: Mapping[str, Any] | None, quasi: Sequence[str]) -> None:
    """Weights are those of quasi-identifiers, 1 where nothing is said, and one of them is above 0: their sum divides."""
    if given and not set(given) <= set(quasi):
        raise Misshapen("a weight is that of no quasi-identifier", inside=True)
    if given and not any(fraction(given.get(name, 1)) for name in quasi):
        raise Misshapen("all weights are 0", inside=True)


def checker(field: Field) -> Checker:
    """The check of one field: returns the value as it is, or raises `Misshapen`."""

    def check(value: Any) -> Any:
        return _CHECKS[field.kind](field, value)

    return check


def checkers(fields: Mapping[str, Field]) -> dict[str, Checker]:
    """The check of each parameter of a promise, method or stage."""
    return {name: checker(field) for name, field in fields.items()}


def required(fields: Mapping[str, Field]) -> set[str]:
    """The parameters that must be there; a table that an audit is handed by itself need not be named."""
    return {name for name, field in fields.items() if field.required and field.kind != "file"}


def refuse_unrelated(where: str, relations: Sequence[Relation], given: Mapping[str, Any]) -> None:
    """Refuse parameters that are not what they must be to each other."""
    for relation in relations:
        first, second = given.get(relation.first), given.get(relation.second)
        if relation.kind == "less" and first is not None and second is not None:
            if not fraction(first) < fraction(second):
                raise Misshapen(f"{relation.first!r} of {where} is not below {relation.second!r}", inside=True)
        elif relation.kind == "exclusive" and first is not None and second is not None:
            raise Misshapen(f"{where} has both {relation.first!r} and {relation.second!r}", inside=True)
        elif relation.kind == "requires" and _asks(relation, first) and not _meets(relation, second):
            raise Misshapen(f"{relation.first!r} and {relation.second!r} of {where} do not go together", inside=True)


def _asks(relation: Relation, first: Any) -> bool:
    return first is not None if relation.value is None else first == relation.value


def _meets(relation: Relation, second: Any) -> bool:
    return second is not None if relation.needed is None else second == relation.needed


def refuse_strange_columns(
    where: str, fields: Mapping[str, Field], given: Mapping[str, Any], columns: Mapping[str, Sequence[str]]
) -> None:
    """Refuse parameters that name a column which the release does not have; `columns` are those of each role, "any" all of them."""
    for name, value in given.items():
        for column, role in _columns(fields[name], value):
            if column not in columns.get(role, ()):
                kind = "column of the release" if role == "any" else f"{role} column"
                raise Misshapen(f"{name!r} of {where} names what is no {kind}", inside=True)


def _columns(field: Field, value: Any) -> Iterator[tuple[str, str]]:
    """The columns that a parameter names, and the role that each must have."""
    if field.kind == "column" and field.keys and isinstance(value, str):
        yield value, field.keys
    elif field.kind == "table" and field.keys and isinstance(value, Mapping):
        for key in value:
            yield key, field.keys
    elif field.kind == "list" and field.each is not None and isinstance(value, list):
        for entry in value:
            yield from _columns(field.each, entry)
    elif field.kind == "record" and isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _columns(field.fields[key], entry)
    elif field.kind == "either":
        yield from _columns(_alternative(field, value), value)


def _alternative(field: Field, value: Any) -> Field:
    """The first alternative that takes the value."""
    for one in field.alternatives:
        try:
            checker(one)(value)
            return one
        except Misshapen:
            continue
    raise Misshapen(f"neither {field.wanted}")


def _check_number(field: Field, value: Any) -> Any:
    if isinstance(value, bool):
        raise Misshapen(f"not {field.wanted}")
    number = fraction(shape.number(value))
    broken = [
        field.kind == "whole" and number != int(number),
        field.least is not None and (number <= field.least if field.above else number < field.least),
        field.most is not None and (number >= field.most if field.below else number > field.most),
        field.finest is not None and number.limit_denominator(field.finest) != number,
    ]
    if any(broken):
        raise Misshapen(f"not {field.wanted}")
    return value


def _check_flag(field: Field, value: Any) -> bool:
    return shape.flag(value)


def _check_text(field: Field, value: Any) -> str:
    return shape.text(value)


def _check_choice(field: Field, value: Any) -> Any:
    known = not isinstance(value, bool) and isinstance(value, str | int)
    if not known or str(value) not in {str(choice) for choice in field.choices}:
        raise Misshapen(f"not {field.wanted}")
    return value


def _check_list(field: Field, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Misshapen(f"not {field.wanted}")
    _check_entries(field, len(value))
    assert field.each is not None, "a list has a type of entries"
    return [checker(field.each)(entry) for entry in value]


def _check_table(field: Field, value: Any) -> dict[str, Any]:
    table = shape.mapping(value)
    _check_entries(field, len(table))
    assert field.each is not None, "a table has a type of entries"
    checked = {shape.text(key): checker(field.each)(entry) for key, entry in table.items()}
    if field.positive and not any(fraction(entry) for entry in checked.values()):
        raise Misshapen("a table of nothing but 0")
    return checked


def _check_entries(field: Field, entries: int) -> None:
    if field.entries is None:
        return
    fewest, most = field.entries
    if not fewest <= entries <= most:
        raise Misshapen(f"not {field.wanted}: it has {entries:,}")


def _check_record(field: Field, value: Any) -> dict[str, Any]:
    return _fields(value, checkers(field.fields), required(field.fields))


def _check_variant(field: Field, value: Any) -> dict[str, Any]:
    table = shape.mapping(value)
    if len(table) != 1 or next(iter(table)) not in field.fields:
        raise Misshapen(f"not {field.wanted}")
    return _fields(table, checkers(field.fields), set())


def _fields(value: Any, known: Mapping[str, Checker], needed: set[str]) -> dict[str, Any]:
    """A table inside a parameter; what is wrong in it is told beside the parameter's name."""
    try:
        return shape.fields("it", value, known, needed)
    except Misshapen as error:
        raise Misshapen(f"wrong: {error}" if error.inside else str(error)) from None


def _check_either(field: Field, value: Any) -> Any:
    """By the alternatives of the value's own shape: a table that is wrong inside is refused by what is wrong in it."""
    shaped = [one for one in field.alternatives if one.published and _has_shape(one, value)]
    if len(shaped) == 1:
        return checker(shaped[0])(value)
    for one in shaped:
        try:
            return checker(one)(value)
        except Misshapen:
            continue
    raise Misshapen(f"not {field.wanted}")


def _has_shape(field: Field, value: Any) -> bool:
    if isinstance(value, Mapping):
        return field.kind in ("table", "record", "variant", "matrix")
    if isinstance(value, list):
        return field.kind in ("list", "grid")
    return field.kind not in ("table", "record", "variant", "matrix", "list", "grid")


def _check_grid(field: Field, value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) != 3:
        raise Misshapen(f"not {field.wanted}")
    least, greatest, step = (fraction(shape.number(number)) for number in value)
    if step <= 0 or greatest <= least or (greatest - least) % step:
        raise Misshapen("no grid of whole steps above 0")
    return value


def _check_matrix(field: Field, value: Any) -> Mapping[str, Any]:
    """Distances: a square with every value once, 0 on the diagonal, the same both ways and never negative."""
    table = _fields(
        value,
        {"values": shape.listed(shape.text), "rows": shape.listed(shape.listed(shape.number))},
        {"values", "rows"},
    )
    names, rows = table["values"], [[fraction(number) for number in row] for row in table["rows"]]
    size = len(names)
    _check_entries(field, size)
    if len(set(names)) != size or len(rows) != size or any(len(row) != size for row in rows):
        raise Misshapen("no square with every value once")
    if any(row[at] for at, row in enumerate(rows)) or any(
        rows[i][j] != rows[j][i] or rows[i][j] < 0 for i in range(size) for j in range(i)
    ):
        raise Misshapen("no distances: 0 on the diagonal, the same both ways, never negative")
    return table


_CHECKS: dict[str, Callable[[Field, Any], Any]] = {
    "number": _check_number,
    "whole": _check_number,
    "flag": _check_flag,
    "text": _check_text,
    "column": _check_text,
    "choice": _check_choice,
    "value": _check_text,
    "file": _check_text,
    "list": _check_list,
    "table": _check_table,
    "record": _check_record,
    "variant": _check_variant,
    "either": _check_either,
    "grid": _check_grid,
    "matrix": _check_matrix,
}
