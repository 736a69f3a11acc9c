"""Checks of what an untrusted manifest holds: JSON within limits, the shapes of fields, the parameters of components.

- `parse_json` reads JSON within limits: sizes first, then keys, numbers and texts, then depth. Anything beyond a
  limit, a repeated key or an unknown constant is refused with a sentence before anything is computed with it.
- `parse_fraction` reads exact numbers, checking their length first: `Fraction("1e999999999")` is a whole number of a
  thousand million digits, and adding fractions multiplies their denominators. So a number has at most 330 digits,
  before and after the point together with what its exponent makes of them.
- `check_text`, `check_list_of` and the like are the shapes that fields of a manifest may have; anything else is
  refused before it is used.
- `make_checker` turns the catalogue's fields of promises, methods and stages into such checks: a parameter that no
  job may have is refused by its name before anything is computed from it. The constructors read the same fields with
  a check of their own (`reticent.validation`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

from reticent import limits
from reticent.catalogue import Field, Relation
from reticent.catalogue.fields import MAX_COUNT
from reticent.errors import pluralize
from reticent.limits import MAX_MANIFEST_VALUES

MAX_DIGITS = 420
_MAX_BITS = 1400  # 420 digits; the least double is 5e-324
_EXPONENT_PATTERN = re.compile(r"[eE]([-+]?\d+)\s*$")
_INVISIBLE_PATTERN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
Checker = Callable[[Any], Any]
MAX_TEXT_LENGTH = limits.MAX_TEXT_CHARACTERS
MAX_PARAMETER_DEPTH = 8  # tables and lists inside a parameter
MAX_JSON_BYTES = 64 << 20
"""The longest manifest.  One with a matrix of 1,400 values is shorter."""
MAX_JSON_VALUES = MAX_MANIFEST_VALUES
"""The most values, keys, lists and tables in a manifest."""
MAX_TABLE_KEYS = 1 << 16
"""The most keys of one table."""


def parse_fraction(value: Any) -> Fraction:
    """Parse a number as it was written, 0.1 as one tenth.

    Constructors have a parser of their own (`reticent.validation`): an audit shares no code with what planned the release.

    Raises ValueError or TypeError for what is none, or is too long.
    """
    if isinstance(value, bool):
        raise ValueError("a truth value is no number")
    if isinstance(value, float):
        if not isfinite(value):
            raise ValueError("no finite number")
        return Fraction(repr(float(value)))
    if isinstance(value, Decimal):
        value = str(value)
    if isinstance(value, str):
        _require_short_number(value)
    fraction = Fraction(value)
    if max(fraction.numerator.bit_length(), fraction.denominator.bit_length()) > _MAX_BITS:
        raise ValueError(f"a number has more than {MAX_DIGITS} digits")
    return fraction


class MisshapenValue(ValueError):
    """Raised if a value is not of the shape its field has. The message states what was expected, never the value.

    `inside` marks a fault of something inside the field, which is a sentence by itself.
    """

    def __init__(self, message: str, *, inside: bool = False):
        super().__init__(message)
        self.inside = inside


def check_text(value: Any) -> str:
    if not isinstance(value, str):
        raise MisshapenValue("no text")
    if len(value) > MAX_TEXT_LENGTH:
        raise MisshapenValue(f"a text of more than {MAX_TEXT_LENGTH:,} characters")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise MisshapenValue("no text that UTF-8 can write")
    return value


def check_flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise MisshapenValue("neither true nor false")
    return value


def check_count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise MisshapenValue("no number of rows")
    if value > MAX_COUNT:
        raise MisshapenValue(f"a number above {MAX_COUNT:,}")
    return value


def check_number(value: Any) -> Any:
    """Check a finite number, or a text that is one: `0.5`, `"1/3"`."""
    try:
        parse_fraction(value)
    except (TypeError, ValueError, ArithmeticError):
        raise MisshapenValue(f"no number of at most {MAX_DIGITS} digits") from None
    return value


def check_scalar(value: Any) -> Any:
    if not isinstance(
        value, bool | int | float | str | Decimal | Fraction
    ):  # the last two in promises that are asked for
        raise MisshapenValue("no single value")
    if isinstance(value, str):
        return check_text(value)
    return value if isinstance(value, bool) else check_number(value)


def check_list_of(check_entry: Checker) -> Checker:
    """Make the check of a list whose entries have one shape."""

    def check(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise MisshapenValue("no list")
        return [check_entry(entry) for entry in value]

    return check


def check_mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise MisshapenValue("no table")
    return value


def check_one_of(*known: str) -> Checker:
    def check(value: Any) -> str:
        if not isinstance(value, str) or value not in known:
            raise MisshapenValue(f"none of {', '.join(known)}")
        return value

    return check


def check_table_of(check_entry: Checker) -> Checker:
    """Make the check of a table whose entries have one shape."""

    def check(value: Any) -> dict[str, Any]:
        return {check_text(key): check_entry(entry) for key, entry in check_mapping(value).items()}

    return check


def check_either(*shapes: Checker) -> Checker:
    """Make the check for one of several shapes."""

    def check(value: Any) -> Any:
        for shape in shapes[:-1]:
            try:
                return shape(value)
            except MisshapenValue:
                continue
        return shapes[-1](value)

    return check


def check_parameter(value: Any, depth: int = 0) -> Any:
    """Check a parameter of a promise, method or stage: a value, a list of them, or a table of such."""
    if depth > MAX_PARAMETER_DEPTH:
        raise MisshapenValue("nested too deep")
    if isinstance(value, list):
        return [check_parameter(entry, depth + 1) for entry in value]
    if isinstance(value, dict):
        return {check_text(key): check_parameter(entry, depth + 1) for key, entry in value.items()}
    return check_scalar(value)


def check_fields(
    where: str, value: Any, known: Mapping[str, Checker], required: frozenset[str] | set[str]
) -> dict[str, Any]:
    """Check a table with these fields and no other, each of its shape."""
    given = check_mapping(value)
    extra = sorted(set(given) - set(known))
    lacking = sorted(required - set(given))
    if lacking:
        raise MisshapenValue(f"{where} lacks {', '.join(map(repr, lacking))}", inside=True)
    if extra:
        raise MisshapenValue(
            f"{where} has {pluralize(len(extra), 'field', 'that does', 'that do')} not belong", inside=True
        )
    parsed = {}
    for name, entry in given.items():
        try:
            parsed[name] = known[name](entry)
        except MisshapenValue as error:
            raise MisshapenValue(
                str(error) if error.inside else f"{name!r} of {where} is {error}", inside=True
            ) from None
    return parsed


def require_usable_weights(given: Mapping[str, Any] | None, quasi: Sequence[str]) -> None:
    """Require weights of quasi-identifiers only (1 by default), one of them above 0: their sum is a divisor."""
    if given and not set(given) <= set(quasi):
        raise MisshapenValue("a weight is that of no quasi-identifier", inside=True)
    if given and not any(parse_fraction(given.get(name, 1)) for name in quasi):
        raise MisshapenValue("all weights are 0", inside=True)


def make_checker(field: Field) -> Checker:
    """Make the check of one field: it returns the value as it is, or raises `MisshapenValue`."""

    def check(value: Any) -> Any:
        return _FIELD_CHECKS[field.kind](field, value)

    return check


def make_checkers(fields: Mapping[str, Field]) -> dict[str, Checker]:
    """Make the check of each parameter of a promise, method or stage."""
    return {name: make_checker(field) for name, field in fields.items()}


def list_required_fields(fields: Mapping[str, Field]) -> set[str]:
    """List the required parameters; a table that is passed to an audit as a file need not be named."""
    return {name for name, field in fields.items() if field.required and field.kind != "file"}


def require_relations(where: str, relations: Sequence[Relation], given: Mapping[str, Any]) -> None:
    """Refuse parameters that violate a relation between them."""
    for relation in relations:
        first = given.get(relation.first)
        second = given.get(relation.second)
        if relation.kind == "less" and first is not None and second is not None:
            if not parse_fraction(first) < parse_fraction(second):
                raise MisshapenValue(f"{relation.first!r} of {where} is not below {relation.second!r}", inside=True)
        elif relation.kind == "exclusive" and first is not None and second is not None:
            raise MisshapenValue(f"{where} has both {relation.first!r} and {relation.second!r}", inside=True)
        elif (
            relation.kind == "requires" and _relation_applies(relation, first) and not _relation_holds(relation, second)
        ):
            raise MisshapenValue(
                f"{relation.first!r} and {relation.second!r} of {where} do not go together", inside=True
            )


def require_known_columns(
    where: str, fields: Mapping[str, Field], given: Mapping[str, Any], columns: Mapping[str, Sequence[str]]
) -> None:
    """Refuse parameters that name a column which the release lacks.

    `columns` are those of each role, "any" all of them.
    """
    for name, value in given.items():
        for column, role in _list_named_columns(fields[name], value):
            if column not in columns.get(role, ()):
                kind = "column of the release" if role == "any" else f"{role} column"
                raise MisshapenValue(f"{name!r} of {where} names what is no {kind}", inside=True)


def parse_json(raw: bytes) -> Any:
    """Parse JSON; raises `MisshapenValue`, which never quotes it."""
    require_json_size(raw)
    try:
        return json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_require_unique_keys,
            parse_int=_parse_integer,
            parse_float=_parse_float,
            parse_constant=_refuse_constant,
        )
    except RecursionError:
        raise MisshapenValue("its lists and tables are nested too deep", inside=True) from None
    except MisshapenValue:
        raise
    except ValueError:  # no JSON, or no UTF-8
        raise MisshapenValue("it is no JSON", inside=True) from None


def require_json_size(raw: bytes) -> None:
    if len(raw) > MAX_JSON_BYTES:
        raise MisshapenValue(f"it has {len(raw):,} bytes, and {MAX_JSON_BYTES:,} are the most", inside=True)
    values = sum(raw.count(mark) for mark in (b",", b"[", b"{"))
    if values > MAX_JSON_VALUES:
        raise MisshapenValue(f"it has about {values:,} values, and {MAX_JSON_VALUES:,} are the most", inside=True)


def _require_short_number(text: str) -> None:
    written = _EXPONENT_PATTERN.search(text)
    if len(text) > 2 * MAX_DIGITS + 1 or (written and (len(written[1]) > 4 or abs(int(written[1])) > MAX_DIGITS)):
        raise ValueError(f"a number has more than {MAX_DIGITS} digits")


def _relation_applies(relation: Relation, first: Any) -> bool:
    return first is not None if relation.value is None else first == relation.value


def _relation_holds(relation: Relation, second: Any) -> bool:
    return second is not None if relation.needed is None else second == relation.needed


def _list_named_columns(field: Field, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the columns that a parameter names, and the role that each must have."""
    if field.kind == "column" and field.keys and isinstance(value, str):
        yield value, field.keys
    elif field.kind in ("table", "weights") and field.keys and isinstance(value, Mapping):
        for key in value:
            if key != field.other_columns:
                yield key, field.keys
    elif field.kind == "list" and field.each is not None and isinstance(value, list):
        for entry in value:
            yield from _list_named_columns(field.each, entry)
    elif field.kind == "record" and isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _list_named_columns(field.fields[key], entry)
    elif field.kind == "either":
        yield from _list_named_columns(_find_alternative(field, value), value)


def _require_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MAX_TABLE_KEYS:
        raise MisshapenValue(f"a table has {len(pairs):,} keys, and {MAX_TABLE_KEYS:,} are the most", inside=True)
    table = dict(pairs)
    if len(table) != len(pairs):
        raise MisshapenValue("it says something twice", inside=True)
    return table


def _parse_integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise MisshapenValue(f"a number has more than {MAX_DIGITS} digits", inside=True)
    return int(text)


def _parse_float(text: str) -> float:
    if len(text) > MAX_DIGITS or not isfinite(number := float(text)):
        raise MisshapenValue(f"a number has more than {MAX_DIGITS} digits, or is too large", inside=True)
    return number


def _refuse_constant(text: str) -> Any:
    raise MisshapenValue("a number is not finite", inside=True)


def _find_alternative(field: Field, value: Any) -> Field:
    """Return the first alternative that takes the value."""
    for one in field.alternatives:
        try:
            make_checker(one)(value)
            return one
        except MisshapenValue:
            continue
    raise MisshapenValue(f"neither {field.allowed_values}")


def _check_number_field(field: Field, value: Any) -> Any:
    if isinstance(value, bool):
        raise MisshapenValue(f"not {field.allowed_values}")
    number = parse_fraction(check_number(value))
    broken = [
        field.kind == "whole" and number != int(number),
        field.least is not None and (number <= field.least if field.above else number < field.least),
        field.most is not None and (number >= field.most if field.below else number > field.most),
        field.finest is not None and number.limit_denominator(field.finest) != number,
    ]
    if any(broken):
        raise MisshapenValue(f"not {field.allowed_values}")
    return value


def _check_flag_field(field: Field, value: Any) -> bool:
    return check_flag(value)


def _check_text_field(field: Field, value: Any) -> str:
    return check_text(value)


def _check_line_field(field: Field, value: Any) -> str:
    """Check a text that is shown to people: short, of one line, single blanks between words, nothing that cannot be seen."""
    line = check_text(value)
    if not 1 <= len(line) <= (field.most or MAX_TEXT_LENGTH):
        raise MisshapenValue(f"not {field.allowed_values}")
    if " ".join(line.split()) != line or _INVISIBLE_PATTERN.search(line):
        raise MisshapenValue("no line of text: it holds line ends, or characters that cannot be seen")
    return line


def _check_choice_field(field: Field, value: Any) -> Any:
    known = not isinstance(value, bool) and isinstance(value, str | int)
    if not known or str(value) not in {str(choice) for choice in field.choices}:
        raise MisshapenValue(f"not {field.allowed_values}")
    return value


def _check_list_field(field: Field, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise MisshapenValue(f"not {field.allowed_values}")
    _require_entry_count(field, len(value))
    assert field.each is not None, "a list has a type of entries"
    return [make_checker(field.each)(entry) for entry in value]


def _require_entry_count(field: Field, entries: int) -> None:
    if field.entries is None:
        return
    fewest, most = field.entries
    if not fewest <= entries <= most:
        raise MisshapenValue(f"not {field.allowed_values}: it has {entries:,}")


def _check_table_field(field: Field, value: Any) -> dict[str, Any]:
    table = check_mapping(value)
    _require_entry_count(field, len(table))
    assert field.each is not None, "a table has a type of entries"
    checked = {check_text(key): make_checker(field.each)(entry) for key, entry in table.items()}
    if field.positive and not any(parse_fraction(entry) for entry in checked.values()):
        raise MisshapenValue("a table of nothing but 0")
    return checked


def _check_record_field(field: Field, value: Any) -> dict[str, Any]:
    return _check_inner_fields(value, make_checkers(field.fields), list_required_fields(field.fields))


def _check_inner_fields(value: Any, known: Mapping[str, Checker], needed: set[str]) -> dict[str, Any]:
    """Check a table inside a parameter; a fault in it is reported with the parameter's name."""
    try:
        return check_fields("it", value, known, needed)
    except MisshapenValue as error:
        raise MisshapenValue(f"wrong: {error}" if error.inside else str(error)) from None


def _check_variant_field(field: Field, value: Any) -> dict[str, Any]:
    table = check_mapping(value)
    if len(table) != 1 or next(iter(table)) not in field.fields:
        raise MisshapenValue(f"not {field.allowed_values}")
    return _check_inner_fields(table, make_checkers(field.fields), set())


def _check_either_field(field: Field, value: Any) -> Any:
    """Check by the alternatives of the value's own shape: a table with a fault inside is refused by that fault."""
    shaped = [one for one in field.alternatives if one.published and _has_shape(one, value)]
    if len(shaped) == 1:
        return make_checker(shaped[0])(value)
    for one in shaped:
        try:
            return make_checker(one)(value)
        except MisshapenValue:
            continue
    raise MisshapenValue(f"not {field.allowed_values}")


def _has_shape(field: Field, value: Any) -> bool:
    if isinstance(value, Mapping):
        return field.kind in ("table", "weights", "record", "variant", "matrix")
    if isinstance(value, list):
        return field.kind in ("list", "grid")
    return field.kind not in ("table", "weights", "record", "variant", "matrix", "list", "grid")


def _check_grid_field(field: Field, value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) != 3:
        raise MisshapenValue(f"not {field.allowed_values}")
    least, greatest, step = (parse_fraction(check_number(number)) for number in value)
    if step <= 0 or greatest <= least or (greatest - least) % step:
        raise MisshapenValue("no grid of whole steps above 0")
    return value


def _check_matrix_field(field: Field, value: Any) -> Mapping[str, Any]:
    """Check distances: a square with every value once, 0 on the diagonal, symmetric and never negative."""
    table = _check_inner_fields(
        value,
        {"values": check_list_of(check_text), "rows": check_list_of(check_list_of(check_number))},
        {"values", "rows"},
    )
    names = table["values"]
    rows = [[parse_fraction(number) for number in row] for row in table["rows"]]
    size = len(names)
    _require_entry_count(field, size)
    if len(set(names)) != size or len(rows) != size or any(len(row) != size for row in rows):
        raise MisshapenValue("no square with every value once")
    if any(row[at] for at, row in enumerate(rows)) or any(
        rows[i][j] != rows[j][i] or rows[i][j] < 0 for i in range(size) for j in range(i)
    ):
        raise MisshapenValue("no distances: 0 on the diagonal, the same both ways, never negative")
    return table


_FIELD_CHECKS: dict[str, Callable[[Field, Any], Any]] = {
    "number": _check_number_field,
    "whole": _check_number_field,
    "float": _check_number_field,
    "flag": _check_flag_field,
    "text": _check_text_field,
    "line": _check_line_field,
    "column": _check_text_field,
    "choice": _check_choice_field,
    "value": _check_text_field,
    "file": _check_text_field,
    "list": _check_list_field,
    "table": _check_table_field,
    "weights": _check_table_field,
    "record": _check_record_field,
    "variant": _check_variant_field,
    "either": _check_either_field,
    "grid": _check_grid_field,
    "matrix": _check_matrix_field,
}
