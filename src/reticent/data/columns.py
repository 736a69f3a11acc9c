"""Column declarations: the role of each column, its type, and how it may be generalized.

- `Column` is a declaration; `identifying`, `quasi`, `sensitive` and `insensitive` make one of each role, and
  `parse_columns` accepts what a caller passes (a role, a table of options or a `Column` for each name).
- `parse_domain` and `parse_values` read the domain that a steward declares; the catalogue's `COLUMN_FIELDS` define
  what the other options may be.
- `resolve_columns` finds the declaration of each column of the data, by its name or by a glob pattern.
- `require_usable_names` refuses columns by their position if their name cannot be printed, distinguished or selected:
  the engine takes `*` and `^...$` for patterns, and a name of control characters cannot be shown.
- `recode_values` rounds (`round_to`) and then codes tops and bottoms (`clip_values`): values beyond a declared bound are
  published as the bound, so that `80` means 80 or more. It works on typed values before they are ranked: codes, and
  everything that is planned and published, contain nothing finer than the step and nothing beyond the bounds. Carried
  columns are in no cell, and are recoded row by row (`data/passthrough.py`).
- `LabelOptions` declare how a column's labels print, and so what the ends of its ranges may disclose:

    labels = "tight"                            a range ends at its group's least and greatest value
    labels = "snapped"                          ends lie on round numbers or calendar steps, chosen from the column's range
    labels = { style = "snapped", step = 5 }    ends lie on multiples of 5; of dates, step = "month"
    labels = { style = "padded", width = 2 }    each end is moved outwards by a secret amount of at most 2; of dates, 2 days
    labels = { style = "padded", width = 2, share = 0.5 }   the same, and at most half of the range: narrow ranges move little
    labels = "nodes", labels = "sets"           of categories: a hierarchy's nodes, or the exact set of a group's values

Types of columns: a frame, a Parquet or Arrow file, a database and a file of a statistics program declare which columns
are text (`has_types`): a text stays text there, whatever it spells ("1", "2" and "9" are codes). A CSV has nothing but
text, and its types are guessed from the values.

`require_supported_types` refuses a type that cannot be published in its role, by the column's name, before a row is
counted. Published values are compared, printed and read back, from Parquet and from CSV. Nested values, bytes,
durations and objects of a program cannot be, and are refused in every role. Numbers of 128 bits and of half
precision, which the files cannot hold, may be identifying, since an identifying column is counted and never written;
they may also be rounded, since that turns them into other numbers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np
import polars as pl

from reticent.catalogue import JOB_TABLES
from reticent.catalogue.choices import AmbiguityChoice, BeyondChoice, ColumnType, MissingChoice
from reticent.catalogue.job_fields import (
    COLUMN_FIELDS,
    LABEL_FIELDS,
    LABEL_RELATIONS,
    RANGE_FIELD,
    VALUES_FIELD,
)
from reticent.data.csv import count_odd_names, is_record, suggest_column
from reticent.data.files import CSV_SUFFIXES, resolve_files
from reticent.data.parsing import parse_dates, parse_numbers, spells_numbers
from reticent.data.source import Source, TextRows, is_text
from reticent.data.spellings import require_final_spellings
from reticent.data.text_formats import accept_formats, parse_format_type, require_rates
from reticent.errors import ColumnError, JobError, pluralize, quote_list, suggest
from reticent.exact_arithmetic import MAX_EXACT_INTEGER, is_whole
from reticent.validation import (
    accept_parameter,
    check_relations,
    check_texts_and_flags,
    describe_type,
    document_parameters,
    flag,
    format_declared_value,
    mapping,
)

if TYPE_CHECKING:
    from reticent.data.domain import Domain

MAX_NAME_LENGTH = 1_000
_UNPRINTABLE_PATTERN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
COLUMNS_EXAMPLE = 'columns = {"age": rt.quasi(), "disease": rt.sensitive()}.'
MAX_SHARE_BEYOND = 0.1  # share of the rows beyond a bound above which a notice is given
PUBLISHABLE_TYPES = (
    pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.Float32, pl.Float64, pl.Decimal,
    pl.String, pl.Categorical, pl.Enum, pl.Boolean, pl.Date, pl.Datetime, pl.Time, pl.Null,
)  # fmt: skip
NESTED_TYPES = (pl.List, pl.Array, pl.Duration, pl.Object)
SUGGESTED_TYPES = {
    pl.Duration: "the number of seconds or days",
    pl.Binary: "text, hexadecimal for one",
    pl.List: "one column for each entry, or text",
    pl.Array: "one column for each entry, or text",
    pl.Struct: "one column for each field",
}
Options = ParamSpec("Options")


def parse_domain(domain: Any) -> tuple[Any, Any]:
    """Return the least and the greatest number that a column can hold."""
    return accept_parameter(RANGE_FIELD, domain, "domain", "column")


def parse_values(domain: Any) -> tuple[Any, ...]:
    """Return what a sensitive column can hold: the least and the greatest number, or a list of values as texts."""
    try:
        return parse_domain(domain)
    except JobError:
        pass
    if isinstance(domain, str | bytes) or not isinstance(domain, Sequence) or not domain:
        raise JobError(VALUES_FIELD.refusal, attempt=VALUES_FIELD.attempt)
    texts = tuple(map(format_declared_value, domain))
    if len(set(texts)) < len(texts):
        raise JobError("A domain lists a value twice.", attempt="each value once.")
    if len(texts) < 2:
        raise JobError("A domain lists one value alone.", attempt=VALUES_FIELD.attempt)
    return texts


def is_numeric_range(domain: Sequence[Any]) -> bool:
    """Tell whether a declared domain is the least and the greatest number, not a list of values."""
    try:
        return len(domain) == 2 and float(domain[0]) <= float(domain[1])
    except (TypeError, ValueError, OverflowError):
        return False


def find_name_fault(name: str) -> str | None:
    """Return why a name cannot be that of a published column, or None."""
    if not name.strip():
        return "is empty"
    if len(name) > MAX_NAME_LENGTH:
        return f"has more than {MAX_NAME_LENGTH:,} characters"
    if _UNPRINTABLE_PATTERN.search(name):
        return "holds a control character"
    if name == "*" or (name.startswith("^") and name.endswith("$")):
        return "is a pattern"
    return None


def require_usable_names(present: Sequence[str], used: Sequence[str]) -> None:
    """Refuse columns of the data that have a role and a name that no release can have.

    The error gives their positions.
    """
    bad = [(present.index(name) + 1, why) for name in used if (why := find_name_fault(name))]
    if bad:
        place, why = bad[0]
        raise ColumnError(
            f"The name of column {place} of the data {why}; so it is with {len(bad)} of {pluralize(len(used), 'column')}.",
            attempt="another name in the source and in the job.",
        )


def resolve_columns(
    declared: Mapping[str, Column], present: Sequence[str], undeclared: str = "refuse"
) -> dict[str, Column]:
    """Return the columns of the data with their declaration, in the data's order; exact names win over glob patterns."""
    occurrences = Counter(present)
    patterns = [name for name in declared if any(mark in name for mark in "*?[") and name not in occurrences]
    exact = [name for name in declared if name not in patterns]
    if exact and not set(exact) & set(present):
        # Where no name fits, the first line may be a record: it is not quoted.
        raise ColumnError(
            f"None of the {len(exact)} declared columns is among the {len(present)} of the data.",
            attempt="a header line in the file, and its names in the job.",
        )
    repeated = sorted(name for name, count in occurrences.items() if count > 1)
    if repeated:
        typed = [name for name in repeated if name in exact]  # others may be a record's values
        if set(exact) & set(present):
            listed = f": {quote_list(typed)}" if typed else ""
            message = f"The data has {pluralize(len(repeated), 'column name')} twice{listed}."
        else:
            message = (
                f"{pluralize(len(repeated), 'name', 'stands', 'stand')} twice in the first line, which may be a record."
            )
        raise ColumnError(message, attempt="renaming one of each.")
    if absent := [name for name in exact if name not in occurrences]:
        sentences = " ".join(f"Column {quote_list([name])} is declared but not in the data." for name in absent)
        raise ColumnError(sentences, attempt="; ".join(dict.fromkeys(suggest_column(name, present) for name in absent)))
    resolved: dict[str, Column] = {}
    for name in present:
        pattern = next((pattern for pattern in patterns if fnmatchcase(name, pattern)), None)
        if name in declared:
            resolved[name] = declared[name]
        elif pattern is not None:
            resolved[name] = declared[pattern]
    missing = [name for name in present if name not in resolved]
    if missing and undeclared == "refuse":
        may_be_values = is_record(present) or count_odd_names(missing)[0] > 0
        listed = "" if may_be_values else f": {quote_list(missing)}"
        raise ColumnError(
            f"The data has {pluralize(len(missing), 'column')} without a role{listed}.",
            why="An undeclared column is never published silently.",
            attempt='giving each a role, or undeclared = "drop".',
        )
    require_usable_names(present, list(resolved))
    return resolved


def find_columns_with_role(columns: Mapping[str, Column], role: Role) -> list[str]:
    return [name for name, column in columns.items() if column.role is role]


class Role(StrEnum):
    """What a column is to a release."""

    IDENTIFYING = "identifying"
    QUASI = "quasi-identifying"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


PUBLISHED_ROLES = (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE)
RECODING_OPTIONS = ("top", "bottom", "round_to")
"""Options that publish other values than the column's own; silently ignored they would publish too much."""
_ROLES_OF_OPTION = {
    name: tuple(map(Role, field.roles))
    for name, field in COLUMN_FIELDS.items()
    if (len(field.roles) == 1 and field.kind != "flag" and field.default is None) or name in RECODING_OPTIONS
}
"""The roles of each option that other roles refuse; what several roles have, and a flag, is ignored by the others."""


@document_parameters(JOB_TABLES["column"])
@dataclass(frozen=True, slots=True)
class Column:
    """One column as the steward declares it."""

    role: Role
    type: str | None = None
    hierarchy: Any = None
    order: tuple[str, ...] | None = None
    domain: tuple[Any, ...] | None = None
    missing: str = "refuse"
    acknowledge: bool = False
    top: Any = None
    bottom: Any = None
    round_to: Any = None
    rows_per_person: int | None = None
    format: str | tuple[str, ...] | None = None
    labels: Any = None  # a `LabelOptions`, or None: as the type of the column has it
    ambiguous: str = "refuse"
    rates: Mapping[str, Any] | None = None
    map: Mapping[str, str] | None = None
    beyond: str = "refuse"

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self,
            role: Role | str,
            type: str | None = None,
            hierarchy: Any = None,
            order: Sequence[Any] | None = None,
            domain: Sequence[Any] | None = None,
            missing: str = "refuse",
            acknowledge: bool = False,
            top: Any = None,
            bottom: Any = None,
            round_to: Any = None,
            rows_per_person: int | None = None,
            format: str | Sequence[str] | None = None,
            labels: Any = None,
            ambiguous: str = "refuse",
            rates: Mapping[str, Any] | None = None,
            map: Mapping[str, str] | None = None,
            beyond: str = "refuse",
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "role", parse_role(self.role))
        check_texts_and_flags(self, COLUMN_FIELDS)
        self._accept("hierarchy", "type")
        if self.format is not None:
            object.__setattr__(self, "format", accept_formats(self.format))
            object.__setattr__(self, "type", parse_format_type(self.format, self.type))
        self._accept("missing", "ambiguous", "rates", "map", "beyond")
        self._check_reading()
        self._check_withholding()
        self._check_order()
        if self.domain is not None:
            parse = parse_values if self.role is Role.SENSITIVE else parse_domain
            object.__setattr__(self, "domain", parse(self.domain))
        self._require_options_of_role()
        self._check_bounds()
        if self.labels is not None:
            object.__setattr__(self, "labels", LabelOptions.parse(self.labels))
        self._accept("round_to", "rows_per_person")
        if self.round_to is not None and self.type not in (None, "numeric"):
            raise JobError(
                f"A column of type {self.type!r} is not rounded.", attempt='type = "numeric", or leaving round_to out.'
            )

        self._require_bounds_on_steps()

    def _require_bounds_on_steps(self) -> None:
        """Refuse a top or bottom that is no multiple of the step: not every published value would be a multiple."""
        if self.round_to is None:
            return
        step = Fraction(str(self.round_to))
        for side in ("bottom", "top"):
            end = getattr(self, side)
            if end is None:
                continue
            if isinstance(end, str):
                raise JobError(f"round_to is for numbers, and {side} is a date.", attempt="one of them.")
            if not is_whole(Fraction(str(end)) / step):
                nearest = round(Fraction(str(end)) / step) * step
                raise JobError(
                    f"{side} = {end} is no multiple of round_to = {self.round_to}.",
                    attempt=f"{side} = {int(nearest) if is_whole(nearest) else float(nearest)}.",
                )

    def _accept(self, *options: str) -> None:
        """Check options that are set by their fields, and store them as they are computed with."""
        for name in options:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, accept_parameter(COLUMN_FIELDS[name], value, name, "column"))

    def _check_reading(self) -> None:
        """Refuse options of reading that nothing would obey: what to do with texts of one format, rates of no numbers."""
        if self.ambiguous == "first" and isinstance(self.format, str | None):
            raise JobError(
                "ambiguous is for columns with several formats.",
                attempt='format = ["%m/%d/%Y", "%d/%m/%Y"], or leaving ambiguous out.',
            )
        if self.rates is not None:
            require_rates(self.rates, self.format)
        if self.map is not None:
            if self.role is Role.IDENTIFYING:
                raise JobError(
                    "map is for columns that are published.",
                    why="An identifying column is never published, and tells whose rows are whose.",
                    attempt="leaving it out.",
                )
            require_final_spellings(self.map)

    def _check_order(self) -> None:
        field = COLUMN_FIELDS["order"]
        if self.order is not None:
            if not isinstance(self.order, list | tuple):
                raise JobError(field.refusal, attempt=field.attempt)
            object.__setattr__(self, "order", tuple(map(str, self.order)))
            object.__setattr__(self, "type", "ordinal")
        if self.type == "ordinal" and not self.order:
            raise JobError("An ordinal column needs its values in order.", attempt=field.attempt)

    def _check_withholding(self) -> None:
        """Refuse withholding that nothing would do, or that would be ignored."""
        if self.missing == "withhold" and self.role not in (Role.QUASI, Role.SENSITIVE):
            raise JobError(
                'missing = "withhold" is for quasi-identifying and sensitive columns.',
                why=f"A null of an {self.role.value} column groups nobody and is no value that a promise protects.",
                attempt="leaving it out.",
            )
        if self.beyond == "withhold" and self.role is not Role.IDENTIFYING:
            raise _make_option_error("beyond", (Role.IDENTIFYING,))
        if self.beyond == "withhold" and self.rows_per_person is None:
            raise JobError(
                'beyond = "withhold" needs rows_per_person: the most rows that one person keeps.',
                attempt='rows_per_person = 4, beyond = "withhold".',
            )

    def _require_options_of_role(self) -> None:
        if self.role is Role.QUASI and self.round_to is not None:
            raise JobError(
                "round_to is for sensitive and insensitive columns.",
                why="A quasi-identifying column is published as ranges, whose ends are rounded instead.",
                attempt=f'labels = {{ style = "snapped", step = {self.round_to} }}, or leaving round_to out.',
            )
        for option, roles in _ROLES_OF_OPTION.items():
            if getattr(self, option) is not None and self.role not in roles:
                raise _make_option_error(option, roles)

    def _check_bounds(self) -> None:
        self._accept("bottom", "top")
        ends = [end for end in (self.bottom, self.top) if end is not None]
        if ends and self.type not in (None, "numeric", "date"):
            raise JobError(
                f"A column of type {self.type!r} has no top or bottom.", attempt='type = "numeric" or "date".'
            )
        if len(ends) == 2 and not _are_ordered(ends[0], ends[1]):
            raise JobError("The bottom must not lie above the top.", attempt="bottom = 18, top = 80.")


def parse_role(role: str) -> Role:
    field = COLUMN_FIELDS["role"]
    name = str(role).lower()
    if name in field.choices or name in field.aliases:
        return Role(field.aliases.get(name, name))
    raise JobError(field.refusal.replace("{text}", repr(role)), attempt=suggest(name, map(str, field.choices)))


def _format_roles(roles: Sequence[Role]) -> str:
    """List roles in words: identifying; sensitive and insensitive."""
    *others, last = [role.value for role in roles]
    return f"{', '.join(others)} and {last}" if others else last


def _make_option_error(option: str, roles: Sequence[Role]) -> JobError:
    """Make the error for an option that the column's role does not have."""
    return JobError(
        f"{option} is for {_format_roles(roles)} columns.",
        attempt=f"role = {roles[0].value!r}, or leaving it out.",
    )


def _are_ordered(bottom: Any, top: Any) -> bool:
    """Tell whether both bounds are numbers or both dates, and the bottom is not above the top."""
    return isinstance(bottom, str) == isinstance(top, str) and bottom <= top


def _require_known_options(role: Role) -> Callable[[Callable[Options, Column]], Callable[Options, Column]]:
    """Refuse an option that the role does not take, by its name, with the role that takes it."""

    def decorate(make: Callable[Options, Column]) -> Callable[Options, Column]:
        option_names = list(signature(make).parameters)

        @wraps(make)
        def make_column(*args: Options.args, **options: Options.kwargs) -> Column:
            if args:
                raise JobError(f"{make.__name__}() takes its options by name.", attempt=f"{option_names[0]}=...")
            for name in options:
                if name in _ROLES_OF_OPTION and role not in _ROLES_OF_OPTION[name]:
                    roles = _format_roles(_ROLES_OF_OPTION[name])
                    raise JobError(f"{name} is for {roles} columns.", attempt="leaving it out.")
                if name not in option_names:
                    raise JobError(
                        f"{role.value} columns have no option {name!r}.", attempt=suggest(name, option_names)
                    )
            return make(*args, **options)

        return make_column

    return decorate


@document_parameters(JOB_TABLES["labels"])
@dataclass(frozen=True, slots=True)
class LabelOptions:
    """Style of a column's labels, and its measures."""

    style: str
    step: Any = None
    width: Any = None
    share: Any = None

    @classmethod
    def parse(cls, given: Any) -> LabelOptions:
        """Parse a style's name, or a table with the style and its measure."""
        if isinstance(given, LabelOptions):
            return given
        table = {"style": given} if isinstance(given, str) else given
        if not isinstance(table, Mapping) or not isinstance(table.get("style"), str):
            raise JobError(
                "labels is the name of a style, or a table that has one.", attempt=LABEL_FIELDS["width"].attempt
            )
        for name in table:
            if name not in LABEL_FIELDS:
                raise JobError(f"labels: {name!r} is not known.", attempt=suggest(str(name), LABEL_FIELDS))
        return cls(**table)

    def __post_init__(self) -> None:
        self._accept("style")
        check_relations(LABEL_RELATIONS, self)
        self._accept("step", "width", "share")

    def _accept(self, *options: str) -> None:
        """Check options that are set by their fields, and store them as labels need them."""
        for name in options:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, accept_parameter(LABEL_FIELDS[name], value, name, "labels"))

    def find_max_pad(self, span: int, max_pad: int) -> int:
        """Return the most units that an end of a range of `span` units is moved by; the width allows `max_pad`."""
        return max_pad if self.share is None else min(max_pad, int(Fraction(str(self.share)) * span))

    def to_plain(self) -> str | dict[str, Any]:
        """Return the options as a job file or a manifest holds them."""
        measures = {name: getattr(self, name) for name in ("step", "width", "share") if getattr(self, name) is not None}
        return {"style": self.style, **measures} if measures else self.style


@_require_known_options(Role.IDENTIFYING)
def identifying(*, rows_per_person: int | None = None, beyond: BeyondChoice = "refuse") -> Column:
    """Declare a column that is never published.

    `rows_per_person`, the most rows that one person has, lets k-anonymity count persons. If a person has more, the
    table is refused; with `beyond="withhold"` as many rows as are too many, drawn at random, are withheld.
    """
    return Column(Role.IDENTIFYING, rows_per_person=rows_per_person, beyond=beyond)


@_require_known_options(Role.QUASI)
def quasi(
    *,
    numeric: bool = False,
    type: ColumnType | None = None,
    hierarchy: Any = None,
    order: Sequence[Any] | None = None,
    domain: Sequence[Any] | None = None,
    top: Any = None,
    bottom: Any = None,
    missing: MissingChoice = "refuse",
    format: str | Sequence[str] | None = None,
    labels: Any = None,
    ambiguous: AmbiguityChoice = "refuse",
    rates: Mapping[str, Any] | None = None,
    map: Mapping[str, str] | None = None,
) -> Column:
    """Declare a column that an adversary may know: it is generalized.

    It is generalized by a `hierarchy` (a path or rows), by an `order`, or as a range. `numeric=True` is
    `type="numeric"`; the other types are "ordinal", "categorical" and "date". `domain` is the least and the greatest
    value that can occur, `top` and `bottom` are bounds beyond which a value is published as the bound. `format` is
    how dates or numbers are written as text, or a list of formats; `ambiguous="first"` lets its order decide where two
    read a text differently, and `rates` says what amounts with each currency sign are worth. `map` replaces spellings
    by others before anything is counted. `labels` is how groups print ("tight", "snapped", "padded", ...).
    `missing="withhold"` withholds rows without a value instead of grouping them with others.
    """
    if flag(numeric, "numeric") and type not in (None, "numeric"):
        raise JobError(f"numeric=True and type={type!r} contradict each other.", attempt="one of them.")
    kind = "numeric" if numeric else type
    ends = {"top": top, "bottom": bottom}
    reading: dict[str, Any] = {"format": format, "ambiguous": ambiguous, "rates": rates, "map": map}
    return Column(Role.QUASI, kind, hierarchy, order, domain, missing, **ends, labels=labels, **reading)


@_require_known_options(Role.SENSITIVE)
def sensitive(
    *,
    type: ColumnType | None = None,
    hierarchy: Any = None,
    order: Sequence[Any] | None = None,
    domain: Sequence[Any] | None = None,
    top: Any = None,
    bottom: Any = None,
    round_to: Any = None,
    missing: MissingChoice = "refuse",
    format: str | Sequence[str] | None = None,
    ambiguous: AmbiguityChoice = "refuse",
    rates: Mapping[str, Any] | None = None,
    map: Mapping[str, str] | None = None,
) -> Column:
    """Declare a column that the promise protects.

    `missing="category"` publishes a null as a value of its own instead of refusing it, `missing="withhold"` withholds
    its row. `domain` is what the column can hold, independently of the people in the table: the least and the
    greatest number, or a list of values. Numbers may be rounded (`round_to`) and then bounded (`top`, `bottom`), dates
    bounded; everything else, promises included, is about the values that result.
    `format`, `ambiguous`, `rates` and `map` say how its texts are read, as for a quasi-identifier.
    """
    reading: dict[str, Any] = {"format": format, "ambiguous": ambiguous, "rates": rates, "map": map}
    recoding = {"top": top, "bottom": bottom, "round_to": round_to}
    return Column(Role.SENSITIVE, type, hierarchy, order, domain, missing, **recoding, **reading)


@_require_known_options(Role.INSENSITIVE)
def insensitive(
    *,
    type: ColumnType | None = None,
    top: Any = None,
    bottom: Any = None,
    round_to: Any = None,
    acknowledge: bool = False,
    format: str | Sequence[str] | None = None,
    ambiguous: AmbiguityChoice = "refuse",
    rates: Mapping[str, Any] | None = None,
    map: Mapping[str, str] | None = None,
) -> Column:
    """Declare a column that is published beside the record it came with.

    A number may be rounded (`round_to`) and bounded (`top`, `bottom`), a date bounded, a near-unique column
    `acknowledge`d. `format`, `ambiguous`, `rates` and `map` say how its texts are read, as for a quasi-identifier.
    """
    reading: dict[str, Any] = {"format": format, "ambiguous": ambiguous, "rates": rates, "map": map}
    recoding = {"top": top, "bottom": bottom, "round_to": round_to}
    return Column(Role.INSENSITIVE, type, **recoding, acknowledge=acknowledge, **reading)


def parse_columns(value: Any, name: str = "columns") -> dict[str, Column]:
    """Turn a caller's columns into `Column`s, by name.

    A column may be a `Column`, a role or a table: {"age": rt.quasi(), "city": "quasi-identifying", "disease":
    {"role": "sensitive"}}.
    """
    if not isinstance(value, Mapping):
        raise JobError(
            f"{name} must be a mapping from column names; it is {describe_type(value)}.", attempt=COLUMNS_EXAMPLE
        )
    return {column: parse_column(declaration, column) for column, declaration in mapping(value, name).items()}


def parse_column(declaration: Any, name: str) -> Column:
    if isinstance(declaration, Column):
        return declaration
    if isinstance(declaration, str | Role):
        return Column(declaration)
    if isinstance(declaration, Mapping):
        return _parse_column_table(declaration, name)
    if getattr(declaration, "__module__", None) == Column.__module__ and callable(declaration):
        raise JobError(
            f"Column {name!r} is given the function {declaration.__name__} itself.",
            attempt=f"rt.{declaration.__name__}().",
        )
    raise JobError(f"Column {name!r} must be a role; it is {describe_type(declaration)}.", attempt=f"{COLUMNS_EXAMPLE}")


@dataclass(frozen=True, slots=True)
class DeclaredBounds:
    """The declared bounds of a column, for tables that are read after it."""

    bottom: Any = None
    top: Any = None


NO_BOUNDS = DeclaredBounds()


def recode_values(name: str, column: Column, values: pl.Series) -> pl.Series:
    """Round numbers to the column's step, if it has one, then move what lies beyond its bounds to the bound."""
    return clip_values(name, column, round_values(name, column.round_to, values))


def round_values(name: str, step: int | float | None, values: pl.Series) -> pl.Series:
    """Round numbers to the nearest multiple of a step, ties to the even one, in double precision."""
    if step is None:
        return values
    if not values.dtype.is_numeric():
        raise ColumnError(
            f"Column {name!r} has the type {values.dtype} and is to be rounded; only numbers can be.",
            attempt="a column of years, months or hours, or leaving round_to out.",
        )
    numbers = values.cast(pl.Float64)
    beyond = int((numbers.abs() > MAX_EXACT_INTEGER).sum())
    if beyond:
        raise make_beyond_doubles_error(name, beyond)
    multiples = (numbers / step).round(mode="half_to_even")
    return multiples.cast(pl.Int64) * step if isinstance(step, int) else multiples * step


def make_beyond_doubles_error(name: str, values: int) -> ColumnError:
    """Make the error for numbers that cannot be rounded because no double holds them."""
    return ColumnError(
        f"Column {name!r} is to be rounded, but {values} of its values are beyond 2^53.",
        why="Double precision does not hold such numbers exactly.",
        attempt="smaller numbers, or leaving round_to out.",
    )


def build_clip_expression(name: str, column: Column, dtype: pl.DataType) -> pl.Expr:
    """Build the expression that moves a column's numbers or dates beyond its bounds to the bound; refuse other types."""
    if not (dtype.is_numeric() or isinstance(dtype, pl.Date | pl.Datetime)):
        require_ordered(name, column)
    bounds = clip_values(name, column, pl.Series(name, [], dtype=dtype))
    ends = [_parse_bound(name, side, getattr(column, side), bounds.dtype) for side in ("bottom", "top")]
    return pl.col(name).clip(*(None if end is None else pl.lit(end, dtype) for end in ends))


def clip_values(name: str, column: Column | DeclaredBounds, values: pl.Series) -> pl.Series:
    """Move numbers or dates that lie beyond the column's bounds to the bound."""
    if column.top is None and column.bottom is None:
        return values
    bounds = [_parse_bound(name, side, getattr(column, side), values.dtype) for side in ("bottom", "top")]
    try:
        return values.clip(*(None if bound is None else pl.lit(bound, values.dtype) for bound in bounds))
    except (pl.exceptions.PolarsError, OverflowError, TypeError, ValueError):
        raise ColumnError(
            f"Column {name!r} has the type {values.dtype}, which cannot hold its top or its bottom.",
            attempt="bounds within that type.",
        ) from None


def count_beyond(name: str, column: Column, values: pl.Series, counts: np.ndarray) -> dict[str, int]:
    """Count the rows that hold a number or a date below the bottom and above the top.

    These are published as the bound.
    """
    bound = column.bottom if column.top is None else column.top
    if bound is None:
        return {}
    is_present = values.is_not_null()
    counts = counts[is_present.to_numpy()]
    parsed = (parse_dates if isinstance(bound, str) else parse_numbers)(name, values.filter(is_present))
    clipped = clip_values(name, column, parsed)
    beyond = {"bottom": parsed < clipped, "top": parsed > clipped}
    return {side: int(counts[is_beyond.to_numpy()].sum()) for side, is_beyond in beyond.items() if is_beyond.any()}


def describe_beyond(name: str, counts: Mapping[str, int], rows: int) -> list[str]:
    """Describe bounds that stand for many rows."""
    return [
        f"Column {name!r}: {count:,} of {rows:,} rows lie {'above its top' if side == 'top' else 'below its bottom'} and are "
        "published as the bound: it says little of them."
        for side, count in counts.items()
        if count > MAX_SHARE_BEYOND * rows
    ]


def require_ordered(name: str, column: Column) -> None:
    """Refuse bounds and steps of a column of categories."""
    if column.top is not None or column.bottom is not None:
        raise ColumnError(
            f"Column {name!r} has a top or a bottom, but its values have no order to be cut at.",
            attempt='type = "numeric" or "date" if they are such, or in its place a hierarchy that puts the rare values '
            "together.",
        )
    if column.round_to is not None:
        raise ColumnError(
            f"Column {name!r} is to be rounded, but its values are no numbers.",
            attempt='type = "numeric", or leaving round_to out.',
        )


def has_types(source: Source, frame: Any = None) -> bool:
    """Tell whether the source declares which of its columns are text and which are numbers."""
    if isinstance(frame, TextRows):
        return False
    if frame is not None:
        return bool(getattr(frame, "has_types", True))  # rows that an engine holds elsewhere know where they came from
    return source.url is not None or source.path is None or resolve_files(source.path).suffix not in CSV_SUFFIXES


def apply_source_types(columns: Mapping[str, Column], schema: Mapping[str, pl.DataType]) -> dict[str, Column]:
    """Make text columns of a typed source categorical, unless a type is declared."""
    return {
        name: replace(column, type="categorical") if _is_undeclared(column) and is_text(schema[name]) else column
        for name, column in columns.items()
    }


def describe_types(
    columns: Mapping[str, Column], domains: Iterable[Domain], schema: Mapping[str, pl.DataType], *, typed: bool
) -> list[str]:
    """Describe text columns without a declared type: taken for numbers in a CSV, kept as text elsewhere.

    `columns` are as they were declared, `schema` is that of the source.
    """
    numeric = []
    categorical = []
    for domain in domains:
        if not _is_undeclared(columns[domain.name]) or not is_text(schema[domain.name]):
            continue
        if domain.kind == "numeric":
            numeric.append(domain.name)
        elif typed and domain.kind == "categorical" and spells_numbers(pl.Series(domain.texts, dtype=pl.String)):
            categorical.append(domain.name)
    sentences = []
    if numeric:
        sentences.append(
            f"{_format_columns(numeric)} read as numbers: a CSV says no types, and every value is one. "
            'Codes are no numbers: type = "categorical" says so, type = "numeric" confirms the guess.'
        )
    if categorical:
        sentences.append(
            f"{_format_columns(categorical)} read as categories: the source says text, though every value is a number. "
            'type = "numeric" reads amounts.'
        )
    return sentences


def require_supported_types(schema: Mapping[str, pl.DataType], columns: Mapping[str, Column]) -> None:
    """Refuse all declared columns whose type cannot have its role, in one error."""
    bad = [name for name, column in columns.items() if not _is_supported(schema[name], column)]
    if not bad:
        return
    named = [f"{name!r} ({columns[name].role.value}) has the type {schema[name].base_type()}" for name in bad]
    first = schema[bad[0]]
    number = f"{'Float32' if first.is_float() else 'Int64'}, Decimal or text"
    instead = number if first.is_numeric() else SUGGESTED_TYPES.get(first.base_type(), "text or numbers")
    raise ColumnError(
        f"{pluralize(len(bad), 'column', 'has a type that does not go with its role', 'have types that do not go with their roles')}: {'; '.join(named)}.",
        why="Its values cannot be compared, printed and read back in every format of a release.",
        attempt=f'{instead} instead of {first.base_type()}, or leaving the column out with undeclared = "drop".',
    )


def require_no_nested(schema: Mapping[str, pl.DataType], names: Iterable[str]) -> None:
    """Refuse columns of a plain table whose values cannot be made texts: lists and durations."""
    bad = [name for name in names if isinstance(schema[name], NESTED_TYPES)]
    if not bad:
        return
    named = [f"{name!r} has the type {schema[name].base_type()}" for name in bad]
    first = schema[bad[0]].base_type()
    raise ColumnError(
        f"{pluralize(len(bad), 'column', 'holds', 'hold')} values that cannot be compared: {'; '.join(named)}.",
        attempt=f"{SUGGESTED_TYPES.get(first, 'text')} instead of {first}, or naming the other columns (--quasi, or a job).",
    )


def _parse_column_table(options: Mapping[str, Any], name: str) -> Column:
    field_names = [field.name for field in fields(Column)]
    for word in options:
        if word not in field_names:
            raise JobError(f"column {name!r}: {word!r} is not known.", attempt=suggest(str(word), field_names))
    if "role" not in options:
        attempt = 'role = "quasi-identifying", "sensitive", "identifying" or "insensitive".'
        raise JobError(f"Column {name!r} has no role.", attempt=attempt)
    return Column(**options)


def _parse_bound(name: str, side: str, bound: Any, dtype: pl.DataType) -> Any:
    """Parse a bound as a value of the column's type."""
    if bound is None:
        return None
    if dtype.is_temporal() != isinstance(bound, str):
        example = '"2001-12-31"' if dtype.is_temporal() else "80"
        raise ColumnError(
            f"Column {name!r}: {side} is not of the column's type {dtype}.", attempt=f"{side} = {example}."
        )
    if isinstance(bound, str):
        return date.fromisoformat(bound[:10]) if dtype == pl.Date else datetime.fromisoformat(bound)
    if dtype.is_integer() and not isinstance(bound, int):
        raise ColumnError(
            f"Column {name!r} holds whole numbers, and {side} = {bound} is none.", attempt=f"{side} = {round(bound)}."
        )
    return bound


def _is_undeclared(column: Column) -> bool:
    """Tell whether nothing that is declared of a column determines the type of its values."""
    options = (column.type, column.hierarchy, column.domain, column.top, column.bottom, column.round_to)
    return column.role in (Role.QUASI, Role.SENSITIVE) and all(option is None for option in options)


def _format_columns(names: list[str]) -> str:
    return f"Column {quote_list(names)} is" if len(names) == 1 else f"Columns {quote_list(names)} are"


def _is_supported(dtype: pl.DataType, column: Column) -> bool:
    unwritten = column.role is Role.IDENTIFYING or column.round_to is not None
    return isinstance(dtype, PUBLISHABLE_TYPES) or (dtype.is_numeric() and unwritten)
