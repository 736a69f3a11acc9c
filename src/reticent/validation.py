"""Validation of arguments of public functions, and of parameters of promises, methods and stages.

`validate_arguments` is the one entry check of the Python interface: it checks arguments before anything is read or
written.

    @validate_arguments(job=is_job, to=optional(path), force=flag)
    def publish(job, *, to=None, force=False): ...

A check takes a value and the parameter's name, and returns the value as the function needs it, or raises an error that
names what was passed, what is expected and what to write. It never quotes a value, only its type. Classes are known by
their full names, so that every layer may use this module. If memory runs out inside the function, the caller gets an
error of ours. The checks of plain values (`text`, `flag`, `integer`, `share`, ...) and of the project's objects
(`path`, `is_job`, `is_engine`, `promise`, ...) are below.

`check_parameters(self)` is what the constructors of promises, methods and stages call: it refuses each parameter that
its `Field` in the catalogue does not allow, and stores the others in the form that is computed with, numbers as exact
fractions of what was written. The reader of manifests has a check of its own over the same fields.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from inspect import BoundArguments, Signature, cleandoc, signature
from keyword import iskeyword
from math import inf
from numbers import Real
from typing import Any, ParamSpec, TypeVar

from reticent import catalogue
from reticent.catalogue import Field, Relation
from reticent.catalogue.fields import MAX_WEIGHT
from reticent.errors import JobError, OutOfMemory, RequestError, quote_list, shorten_text, suggest
from reticent.fork_safety import require_not_forked
from reticent.limits import is_moderate_number, require_moderate_number

ArgumentCheck = Callable[[Any, str], Any]
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Class = TypeVar("Class")
_TABLE_KINDS = ("table", "weights", "record", "variant", "matrix")
_COMPOUND_KINDS = (*_TABLE_KINDS, "list")
_UNSEEN_CHARACTER = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_OUTPUT_ARGUMENT = "to"
_OUTPUT_SYNONYMS = ("folder", "output", "out", "into", "dest", "target", "path", "save", "release", "output_folder")
"""The argument that says where something is written, and what other libraries call it."""
MAX_PATH_PART_BYTES = 255  # bytes in one part of a path, on the file systems we know
_NOT_TABLE_TYPES = (type, bool, int, float, complex, list, tuple, dict, set, frozenset)


def validate_arguments(**checks: ArgumentCheck) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Decorate a function so that each argument passes its check; arguments that are left out keep their default."""

    def guard_function(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        function_signature = signature(function)

        @wraps(function)
        def call_guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            require_not_forked()
            bound = _bind_arguments(function, function_signature, args, kwargs)
            for name, value in bound.arguments.items():
                if name in checks:
                    bound.arguments[name] = checks[name](value, name)
            try:
                return function(*bound.args, **bound.kwargs)
            except MemoryError as error:
                if isinstance(error, OutOfMemory):
                    raise
                raise OutOfMemory from None

        return call_guarded

    return guard_function


def describe_type(value: Any) -> str:
    """Describe a value by its type alone: the value may be a person's."""
    if value is None:
        return "None"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    words = {bool: "True or False", str: "a text", int: "a number", float: "a number", bytes: "bytes"}
    return words.get(type(value), f"an object of type {type(value).__name__!r}")


def make_type_error(name: str, wanted: str, value: Any, attempt: str) -> JobError:
    return JobError(f"{name} must be {wanted}; it is {describe_type(value)}.", attempt=attempt)


def optional(check: ArgumentCheck) -> ArgumentCheck:
    return lambda value, name: None if value is None else check(value, name)


def instance_of(dotted: str, wanted: str, attempt: str) -> ArgumentCheck:
    """Make a check for instances of a class of ours, given by its full name."""

    def check(value: Any, name: str) -> Any:
        if not any(f"{base.__module__}.{base.__qualname__}" == dotted for base in type(value).__mro__):
            raise make_type_error(name, wanted, value, attempt)
        return value

    return check


is_job = instance_of(
    "reticent.job.job.Job", "a job", 'rt.Job(columns={...}, promises=[...]), or rt.Job.read("job.toml").'
)
is_output = instance_of("reticent.job.job.Output", "an output", 'rt.Output(format="csv", undeclared="drop").')
is_about = instance_of("reticent.job.description.About", "what is said of the release", 'rt.About(title="...").')
is_plan = instance_of("reticent.planning.Plan", "a plan", "what rt.plan(job) returns.")
is_cells = instance_of("reticent.data.cells.Cells", "counted cells", "what rt.count(job) returns.")


def parse_fraction(value: object, name: str = "a parameter") -> Fraction:
    """Convert a number exactly as it was written: 0.1 is one tenth."""
    require_moderate_number(value, name)
    try:
        if isinstance(value, bool):
            raise ValueError
        if isinstance(value, float):
            return Fraction(repr(float(value)))  # NumPy's doubles are floats that print otherwise
        return Fraction(value)  # type: ignore[call-overload]  # what is no number raises, and is refused below
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise JobError(f"{name} must be a number.", attempt='a number such as 4, 0.5 or "1/3".') from None


def parse_integer(value: object, name: str) -> int:
    """Convert an integer in any of its spellings: 5, 5.0 or "5"."""
    number = parse_fraction(value, name)
    if number != int(number):
        raise JobError(f"{name} must be a whole number.")
    return int(number)


def strip_keyword_suffix(name: str) -> str:
    """Return the name of a field in job files and manifests: `lambda_`, because Python reserves the word, is `lambda` there."""
    return name.removesuffix("_") if iskeyword(name.removesuffix("_")) else name


def add_keyword_suffix(name: str) -> str:
    """Return the name of a field in Python: the way back of `strip_keyword_suffix`."""
    return f"{name}_" if iskeyword(name) else name


def find_catalogue_row(name: str) -> catalogue.PromiseRow | catalogue.MethodRow | None:
    """Return the catalogue's row of a promise, method or stage; None if the catalogue does not have it."""
    return catalogue.PROMISES.find(name) or catalogue.METHODS.find(name) or catalogue.STAGES.get(name)


def document_parameters(
    row: catalogue.PromiseRow | catalogue.MethodRow | catalogue.JobTableRow,
) -> Callable[[type[Class]], type[Class]]:
    """Decorate a class so that its docstring lists its parameters, as the fields of its row describe them."""

    def add_lines(kind: type[Class]) -> type[Class]:
        lines = [f"- `{add_keyword_suffix(name)}`: {field.doc}." for name, field in row.fields.items()]
        kind.__doc__ = "\n".join([cleandoc(kind.__doc__ or ""), "", "Parameters:", "", *lines])
        return kind

    return add_lines


def check_parameters(
    thing: Any, as_given: tuple[str, ...] = (), row: catalogue.JobTableRow | None = None, owner: str = ""
) -> None:
    """Refuse parameters that the fields of a row do not allow; store the others as they are computed with.

    The row is that of a promise, method or stage by the name of `thing`, unless another is passed, with the name of its
    `owner` in messages. Parameters named in `as_given` are stored unchanged: a manifest has them in the same words.
    """
    own_row = row or find_catalogue_row(thing.name)
    if own_row is None:
        return
    for each in fields(thing):
        name = strip_keyword_suffix(each.name)
        value = getattr(thing, each.name)
        field = own_row.fields.get(name)  # a class made of another may have more
        if field is None or (value is None and each.default is None):
            continue
        accepted = accept_parameter(field, value, name, owner or thing.name)
        if name not in as_given:
            object.__setattr__(thing, each.name, accepted)
    check_relations(own_row.relations, thing)


def check_relations(relations: Iterable[Relation], thing: Any) -> None:
    """Refuse parameters of an object that break a relation between them."""
    values = {strip_keyword_suffix(each.name): getattr(thing, each.name) for each in fields(thing)}
    for relation in relations:
        if is_relation_broken(relation, values):
            raise JobError(relation.refusal, why=relation.why, attempt=relation.attempt)


def is_relation_broken(relation: Relation, values: Mapping[str, Any]) -> bool:
    """Tell whether parameters break a relation between them."""
    first = values.get(relation.first)
    second = values.get(relation.second)
    if relation.kind == "exclusive":
        return first is not None and second is not None
    if relation.kind == "less":
        return first is not None and second is not None and not first < second
    applies = first is not None if relation.value is None else first == relation.value
    holds = second is not None if relation.needed is None else second == relation.needed
    return applies and not holds


def check_texts_and_flags(thing: Any, known: Mapping[str, Field]) -> None:
    """Check that texts and choices of an object are texts, and that its flags are true or false."""
    for name, field in known.items():
        value = getattr(thing, name)
        if value is None and field.default is None:
            continue
        if field.kind in ("text", "choice"):
            text(value, name)
        elif field.kind == "flag":
            flag(value, name)


def accept_parameter(field: Field, value: Any, name: str, owner: str) -> Any:
    """Return the value as it is computed with, or raise an error that names the parameter and its owner."""
    return _ACCEPTORS[field.kind](field, value, name, owner)


def format_declared_value(value: Any) -> str:
    """Return the text that columns print for a value: true and false in lower case, dates as ISO 8601."""
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date) else str(value)


def make_weight_error(column: Any) -> JobError:
    """Make the error of a weight that is no number, or none that a weight may be."""
    return JobError(
        f"The weight of {quote_list([column])} must be a number from 0 to {MAX_WEIGHT:,}.",
        attempt="1 for an ordinary column.",
    )


def text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise make_type_error(name, "a text", value, f'{name} = "...".')
    return value


def flag(value: Any, name: str) -> bool:
    """Check a switch: anything but true and false is refused, the text "false" above all."""
    if not isinstance(value, bool):
        raise JobError(f"{name} must be true or false; it is {describe_type(value)}.")
    return value


def integer(value: Any, name: str) -> int:
    """Check an integer, NumPy's included."""
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise make_type_error(name, "a whole number", value, f"{name} = 1.")
    return value.__index__()


def integers(value: Any, name: str) -> list[int]:
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping) or hasattr(value, "columns"):
        raise make_type_error(name, "a list of whole numbers", value, f"{name} = [10, 4, 2, 1, 1].")
    return [integer(entry, name) for entry in value]


def share(value: Any, name: str) -> Fraction:
    """Check a number from 0 to 1; return it exactly as it was written."""
    require_moderate_number(value, name)
    try:
        number = Fraction(repr(value) if isinstance(value, float) else value)
        if not isinstance(value, bool) and 0 <= number <= 1:
            return number
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        pass
    raise JobError(f"{name} must be a share, from 0 to 1.", attempt=f"{name} = 0.2.")


def seconds(value: Any, name: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf:
        return float(value)
    raise make_type_error(name, "a number of seconds", value, f"{name} = 10.")


def is_callable(value: Any, name: str) -> Any:
    if isinstance(value, type) or not callable(value):
        raise make_type_error(name, "a function", value, f"leaving {name} out.")
    return value


def names(value: Any, name: str) -> list[str]:
    """Check names of columns, methods or texts; a single name may be passed without a list."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list | tuple | set | frozenset) or not all(isinstance(entry, str) for entry in value):
        raise make_type_error(name, "a list of texts", value, f'{name} = ["...", "..."].')
    return list(value)


def value_list(value: Any, name: str) -> list[Any]:
    """Check a list of values of any type; a single text is one value, not its letters."""
    is_other = isinstance(value, str | bytes | Mapping | type) or hasattr(value, "columns")
    if is_other or not isinstance(value, Iterable):
        raise make_type_error(name, "a list of values", value, f"{name} = [...].")
    return list(value)


def null_values(value: Any, name: str) -> tuple[str, ...]:
    """Check the texts that mean missing."""
    return tuple(names(value, name))


def mapping(value: Any, name: str) -> Mapping[str, Any]:
    """Check a mapping with text keys."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise make_type_error(name, "a mapping from names", value, f'{name} = {{"column": ...}}.')
    return value


def require_known_options(options: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse options that are not among those known, for a function that passes its options on."""
    listed = list(known)
    for option in options:
        if option not in listed:
            raise RequestError(f"{what} has no option {option!r}.", attempt=suggest(option, listed))


def weights(value: Any, name: str) -> Mapping[str, Any]:
    """Check column weights: a finite number of 0 or more for each named column."""
    for column, weight in mapping(value, name).items():
        if isinstance(weight, bool) or not isinstance(weight, Real | Decimal) or not 0 <= float(weight) < float("inf"):
            raise JobError(f"The weight of {column!r} must be a number >= 0.", attempt="1 for an ordinary column.")
    return value


def is_engine(value: Any, name: str) -> Any:
    """Check an engine: its name, or an object with an engine's methods."""
    if isinstance(value, str):
        return value
    if isinstance(value, type) or not all(
        hasattr(value, verb)
        for verb in (
            "scan",
            "cache",
            "cast",
            "profile_columns",
            "count",
            "count_distinct_rows",
            "filter_equal",
            "apply",
            "map",
        )
    ):
        raise make_type_error(
            name, "the name of an engine", value, f'{name} = "stream", or rt.Spark(master="local[2]").'
        )
    return value


def path(value: Any, name: str) -> Any:
    """Check a text or a path that a file system can hold."""
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str):
        raise make_type_error(name, "a path", value, f'{name} = "folder/name".')
    spelling = os.fspath(value)
    is_long = any(len(part.encode("utf-8", "surrogatepass")) > MAX_PATH_PART_BYTES for part in spelling.split(os.sep))
    fault = ""
    if not spelling:
        fault = "it is empty"
    elif is_long:
        fault = f"a part is longer than {MAX_PATH_PART_BYTES} bytes"
    elif "\0" in spelling:
        fault = "it holds a NUL"
    if fault:
        raise JobError(f"{name} is no path: {fault}.", attempt=f'{name} = "folder/name".')
    return value


def path_or_table(value: Any, name: str) -> Any:
    """Check a path or another input that the function knows: a frame, an opened release, a `Source`."""
    if isinstance(value, bytes | str | os.PathLike):
        return path(value, name)
    if isinstance(value, _NOT_TABLE_TYPES) or value is None or callable(value):
        raise make_type_error(
            name, "a path or a frame", value, f'{name} = "data.csv", or a pandas, Polars or Arrow table.'
        )
    return value


def promise(value: Any, name: str) -> Any:
    """Check a promise, or its table as in a job file: never a text, nor a class without its parameters."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, type) and hasattr(value, "needs_sensitive"):
        attempt = f"rt.{value.__name__}(...), with its parameters."
        raise JobError(f"{name} holds the class {value.__name__} itself.", attempt=attempt)
    has_parameters = hasattr(value, "needs_sensitive") or hasattr(value, "parameters")
    if isinstance(value, type) or not has_parameters or not isinstance(getattr(value, "name", None), str):
        raise make_type_error(name, "promises", value, "promises = [rt.KAnonymity(5)].")
    return value


def promises(value: Any, name: str) -> list[Any]:
    """Check several promises, or a single one."""
    if isinstance(value, list | tuple | set | frozenset):
        return [promise(entry, name) for entry in value]
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping) and not hasattr(value, "columns"):
        return [promise(entry, name) for entry in value]
    return [promise(value, name)]


def is_ledger(value: Any, name: str) -> Any:
    known = instance_of("reticent.ledger.ledger.Ledger", "a ledger", "")
    return path(value, name) if isinstance(value, str | bytes | os.PathLike) else known(value, name)


def is_hierarchy(value: Any, name: str) -> Any:
    """Check a hierarchy: a path, rows, a table that tells how to build one, or a `Hierarchy`."""
    is_rows = isinstance(value, list | tuple) and all(isinstance(row, list | tuple) for row in value)
    if is_rows or isinstance(value, Mapping):
        return value
    if isinstance(value, str | bytes | os.PathLike):
        return path(value, name)
    attempt = f'{name} = "file.csv", or [["Kiel", "north", "*"], ...].'
    return instance_of("reticent.data.hierarchy.Hierarchy", "a hierarchy", attempt)(value, name)


def _bind_arguments(
    function: Callable[..., Any], function_signature: Signature, args: Any, kwargs: Any
) -> BoundArguments:
    """Bind the arguments to names; too many or too few are refused with the names that exist."""
    try:
        return function_signature.bind(*args, **kwargs)
    except TypeError as error:
        known = [name for name in function_signature.parameters if name != "self"]
        wrong = next((name for name in kwargs if name not in known), "")
        if wrong in _OUTPUT_SYNONYMS and _OUTPUT_ARGUMENT in known:
            wrong = _OUTPUT_ARGUMENT
        raise RequestError(f"{function.__name__}(): {error}.", attempt=suggest(wrong, known)) from None


def _make_refusal(field: Field, value: Any, name: str, owner: str) -> JobError:
    shown = _describe_value(value)
    sentence = (
        field.refusal.replace("{value}", shown) or f"{owner}: {name} must be {field.allowed_values}; it is {shown}."
    )
    return JobError(sentence, why=field.why, attempt=field.attempt or f"another value for {name}.")


def _describe_value(value: Any) -> str:
    """Describe a refused value: a number as it is, shortened; of anything else its type."""
    is_number = isinstance(value, int | float | Fraction | Decimal) and not isinstance(value, bool)
    return shorten_text(str(value), 40) if is_number else describe_type(value)


def _require_bounds(field: Field, number: Any, value: Any, name: str, owner: str) -> None:
    """Refuse a number outside of the bounds of its field."""
    is_low = field.least is not None and (number <= field.least if field.above else number < field.least)
    is_high = field.most is not None and (number >= field.most if field.below else number > field.most)
    if is_high and field.excess is not None:
        sentence, attempt = field.excess
        words = {"{owner}": owner, "{name}": name, "{value}": _describe_value(value)}
        for placeholder, word in words.items():
            sentence = sentence.replace(placeholder, word)
        raise JobError(sentence, attempt=attempt)
    if is_low or is_high:
        raise _make_refusal(field, value, name, owner)


def _accept_number(field: Field, value: Any, name: str, owner: str) -> Any:
    number: int | Fraction = parse_integer(value, name) if field.kind == "whole" else parse_fraction(value, name)
    _require_bounds(field, number, value, name, owner)
    if field.finest is not None and Fraction(number).limit_denominator(field.finest) != number:
        raise _make_refusal(field, value, name, owner)
    return number


def _accept_integer(field: Field, value: Any, name: str, owner: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _make_refusal(field, value, name, owner)
    _require_bounds(field, value, value, name, owner)
    return value


def _accept_float(field: Field, value: Any, name: str, owner: str) -> int | float:
    try:
        number = _parse_double(value)
    except (TypeError, ValueError, OverflowError):
        raise _make_refusal(field, value, name, owner) from None
    _require_bounds(field, number, value, name, owner)
    return number


def _parse_double(value: Any) -> int | float:
    """Parse a finite number, as an integer where it is whole; raises TypeError, ValueError or OverflowError."""
    if isinstance(value, bool | str):
        raise TypeError
    number = float(value)
    return int(value) if number == int(number) else number


def _accept_decimal(field: Field, value: Any, name: str, owner: str) -> int | float:
    """Accept a number or its text; it is stored as an integer where it is whole, else as a double."""
    try:
        if isinstance(value, bool) or not is_moderate_number(value):
            raise ValueError
        number = Decimal(str(value))
        if not number.is_finite():
            raise ValueError
    except (ArithmeticError, ValueError):
        raise _make_refusal(field, value, name, owner) from None
    _require_bounds(field, number, value, name, owner)
    return int(number) if number == int(number) else float(number)


def _accept_end(field: Field, value: Any, name: str, owner: str) -> int | float | str:
    """Accept a number, a date, or the text of a date."""
    try:
        if isinstance(value, date):
            return value.isoformat()
        if isinstance(value, str):
            datetime.fromisoformat(value)
            return value
        return _parse_double(value)
    except (TypeError, ValueError, OverflowError):
        raise JobError(
            f"{name} must be a number or a date.", attempt=f'{name} = 80, or {name} = "2001-12-31".'
        ) from None


def _accept_range(field: Field, value: Any, name: str, owner: str) -> tuple[Any, Any]:
    """Accept the least and the greatest number, as they were written."""
    try:
        lower, upper = value
        if float(lower) <= float(upper):
            return lower, upper
    except (TypeError, ValueError, OverflowError):
        pass
    raise _make_refusal(field, value, name, owner)


def _accept_flag(field: Field, value: Any, name: str, owner: str) -> bool:
    return flag(value, name)


def _accept_text(field: Field, value: Any, name: str, owner: str) -> str:
    return text(value, name)


def _accept_line(field: Field, value: Any, name: str, owner: str) -> str:
    """Accept a text that is shown to people; blanks, tabs and line ends between words become one blank."""
    if not isinstance(value, str):
        raise JobError(f"{owner}: {name} must be a text; it is {describe_type(value)}.", attempt="a text in quotes.")
    if (field.most is not None and len(value) > field.most) or not value.strip():
        fault = f"it has {len(value):,}" if value.strip() else "it is blank"
        raise JobError(
            f"{owner}: {name} must be {field.allowed_values}; {fault}.",
            attempt=f"a shorter text, or leaving {name} out.",
        )
    if _UNSEEN_CHARACTER.search(value):
        raise JobError(
            f"{owner}: {name} holds a character that cannot be seen: a control character, or a mark of direction.",
            why="It is shown on terminals and pages, which obey such characters.",
            attempt="the text without it, typed anew.",
        )
    return " ".join(value.split())


def _accept_choice(field: Field, value: Any, name: str, owner: str) -> Any:
    for choice in field.choices:
        if not isinstance(value, bool) and isinstance(value, str | int) and str(value) == str(choice):
            return choice
    words = [str(choice) for choice in field.choices]
    if field.refusal:
        sentence = field.refusal.replace("{text}", repr(value))
        raise JobError(sentence, why=field.why, attempt=field.attempt or suggest(str(value), words))
    if not isinstance(value, str | int):
        texts = [choice for choice in field.choices if isinstance(choice, str)]
        raise JobError(
            f"{name} must be {field.allowed_values}; it is {describe_type(value)}.", attempt=suggest("", texts)
        )
    raise JobError(
        f"{owner}: {name} = {shorten_text(repr(value), 80)} is not known.",
        attempt=field.attempt or suggest(str(value), words),
    )


def _accept_value(field: Field, value: Any, name: str, owner: str) -> str:
    return format_declared_value(value)


def _accept_file(field: Field, value: Any, name: str, owner: str) -> Any:
    """Accept a path or a table; the function that reads it decides which of them a program may pass."""
    is_empty = isinstance(value, str) and not value.strip()  # it would be read as the working folder
    if is_empty or value is None or isinstance(value, bool | int | float):
        raise _make_refusal(field, value, name, owner)
    return value


def _accept_hierarchy(field: Field, value: Any, name: str, owner: str) -> Any:
    return is_hierarchy(value, name)


def _accept_list(field: Field, value: Any, name: str, owner: str) -> tuple[Any, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise _make_refusal(field, value, name, owner)
    _require_entry_count(field, len(value), name, owner)
    assert field.each is not None, "a list has a type of entries"
    return tuple(accept_parameter(field.each, entry, f"an entry of {name}", owner) for entry in value)


def _require_entry_count(field: Field, count: int, name: str, owner: str) -> None:
    if field.entries is None:
        return
    fewest, most = field.entries
    if count > most:
        raise JobError(
            f"{owner}: {name} has {count:,} entries; {most:,} are the most.",
            why="Each of them costs time and memory, here and wherever the release is audited.",
            attempt=field.attempt or "fewer of them.",
        )
    if count < fewest:
        raise JobError(
            field.refusal or f"{owner}: {name} must be {field.allowed_values}; it has {count:,}.",
            attempt=field.attempt or f"{name} with {fewest} or more.",
        )


def _accept_table(field: Field, value: Any, name: str, owner: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _make_refusal(field, value, name, owner)
    _require_entry_count(field, len(value), name, owner)
    assert field.each is not None, "a table has a type of entries"
    table = {str(key): accept_parameter(field.each, entry, f"{name} of {key!r}", owner) for key, entry in value.items()}
    if field.positive and not any(table.values()):
        raise _make_refusal(field, value, name, owner)
    return table


def _accept_weights(field: Field, value: Any, name: str, owner: str) -> dict[str, Any]:
    table = _accept_table(field, value, name, owner)
    for column, weight in value.items():
        if isinstance(weight, str):
            raise make_weight_error(column)
    return table


def _accept_record(field: Field, value: Any, name: str, owner: str) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not set(value) <= set(field.fields):
        raise _make_refusal(field, value, name, owner)
    if any(inner.required and key not in value for key, inner in field.fields.items()):
        raise _make_refusal(field, value, name, owner)
    return {str(key): accept_parameter(field.fields[key], entry, key, owner) for key, entry in value.items()}


def _accept_variant(field: Field, value: Any, name: str, owner: str) -> dict[str, Any]:
    if not isinstance(value, Mapping) or len(value) != 1 or next(iter(value)) not in field.fields:
        raise _make_refusal(field, value, name, owner)
    ((key, entry),) = value.items()
    return {key: accept_parameter(field.fields[key], entry, key, owner)}


def _accept_either(field: Field, value: Any, name: str, owner: str) -> Any:
    """Accept by the alternative that has the value's shape; if several have it, by the first that accepts the value."""
    fitting = [alternative for alternative in field.alternatives if _has_shape(alternative, value)]
    refusal: JobError | None = None
    for alternative in fitting:
        try:
            return accept_parameter(alternative, value, name, owner)
        except JobError as error:
            refusal = error
    if (
        refusal is not None
        and len(fitting) == 1
        and (fitting[0].refusal or fitting[0].kind in (*_COMPOUND_KINDS, "line"))
    ):
        raise refusal  # it tells what is wrong inside
    raise _make_refusal(field, value, name, owner)


def _has_shape(field: Field, value: Any) -> bool:
    """Tell whether a value could be meant as one of this field's kind."""
    if isinstance(value, Mapping):
        return field.kind in _TABLE_KINDS
    if isinstance(value, str):
        return field.kind in ("choice", "text", "line", "path", "column", "value", "file", "number", "whole")
    if isinstance(value, os.PathLike) or hasattr(value, "columns"):
        return field.kind == "file"
    if isinstance(value, list | tuple):
        return field.kind in ("list", "grid", "range")
    return field.kind in ("number", "whole", "integer", "float", "decimal", "choice", "flag")


def _accept_matrix(field: Field, value: Any, name: str, owner: str) -> Any:
    """Accept a table of values and rows; the function that reads it checks whether they are distances."""
    if not isinstance(value, Mapping) or set(value) != {"values", "rows"}:
        raise _make_refusal(field, value, name, owner)
    return value


def _accept_grid(field: Field, value: Any, name: str, owner: str) -> tuple[Fraction, Fraction, Fraction]:
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise JobError(f"{owner}: a {name} is [least, greatest, step].", attempt=field.attempt)
    lower, upper, step = (parse_fraction(number, name) for number in value)
    if step <= 0 or upper <= lower or (upper - lower) % step:
        raise JobError(
            f"{owner}: a {name} goes from its least to its greatest value in whole steps above 0.",
            attempt=field.attempt,
        )
    return lower, upper, step


_ACCEPTORS: dict[str, Callable[[Field, Any, str, str], Any]] = {
    "number": _accept_number,
    "whole": _accept_number,
    "integer": _accept_integer,
    "float": _accept_float,
    "decimal": _accept_decimal,
    "flag": _accept_flag,
    "text": _accept_text,
    "line": _accept_line,
    "path": _accept_text,
    "column": _accept_text,
    "choice": _accept_choice,
    "value": _accept_value,
    "file": _accept_file,
    "list": _accept_list,
    "table": _accept_table,
    "weights": _accept_weights,
    "record": _accept_record,
    "variant": _accept_variant,
    "either": _accept_either,
    "grid": _accept_grid,
    "range": _accept_range,
    "end": _accept_end,
    "matrix": _accept_matrix,
    "hierarchy": _accept_hierarchy,
}
"""How a constructor accepts a field of each kind; labels have a class of their own, and the rest is of manifests."""
