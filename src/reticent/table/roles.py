"""What each column is to the publisher: its role, its type and how it may be generalized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from reticent.errors import ColumnError, JobError, suggest
from reticent.table.written import check_format


class Role(StrEnum):
    IDENTIFYING = "identifying"
    QUASI = "quasi-identifying"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


ALIASES = {
    "identifier": Role.IDENTIFYING,
    "id": Role.IDENTIFYING,
    "quasi": Role.QUASI,
    "qi": Role.QUASI,
    "quasi-identifier": Role.QUASI,
    "sa": Role.SENSITIVE,
}
TYPES = ("numeric", "ordinal", "categorical", "date")


@dataclass(frozen=True, slots=True)
class Column:
    """One column as the steward declares it.

    `type` None is decided from the data: numbers and dates of a typed source are ranges, everything else a category.
    `hierarchy` is a path, rows in ARX layout, or a `Hierarchy`.  `order` lists an ordinal column's values.
    `missing` says what a null in a sensitive column is: refused, or a published category of its own.
    `top` and `bottom` of a quasi-identifier are the bounds beyond which a value is published as the bound.  `round_to` is the
    step an insensitive number is rounded to, `acknowledge` lets a near-unique one pass.  `rows_per_person` of an identifying
    column is the most rows one person has: k-anonymity then counts persons.  `format` says how dates or numbers are written
    as text: `%m/%d/%Y`, `1,234.5` (see `table/written.py`).
    """

    role: Role
    type: str | None = None
    hierarchy: Any = None
    order: tuple[str, ...] | None = None
    domain: tuple[Any, Any] | None = None
    missing: str = "refuse"
    acknowledge: bool = False
    top: Any = None
    bottom: Any = None
    round_to: Any = None
    rows_per_person: int | None = None
    format: str | None = None

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
            format: str | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "role", parse_role(self.role))
        if self.type is not None and self.type not in TYPES:
            raise JobError(f"Unknown column type {self.type!r}.", attempt=suggest(str(self.type), TYPES))
        if self.format is not None:
            object.__setattr__(self, "type", check_format(self.format, self.type))
        if self.missing not in ("refuse", "category"):
            raise JobError(f"missing = {self.missing!r} is not known.", attempt='"refuse" or "category".')
        if self.order is not None:
            if not isinstance(self.order, list | tuple):
                raise JobError("An order is a list of values.", attempt='order = ["low", "middle", "high"].')
            object.__setattr__(self, "order", tuple(map(str, self.order)))
            object.__setattr__(self, "type", "ordinal")
        if self.type == "ordinal" and not self.order:
            raise JobError("An ordinal column needs its values in order.", attempt='order = ["low", "middle", "high"].')
        if self.domain is not None:
            object.__setattr__(self, "domain", parse_domain(self.domain))
        for option, role in _ONLY_FOR.items():
            if getattr(self, option) is not None and self.role is not role:
                raise JobError(
                    f"{option} is for {role.value} columns.", attempt=f"role = {role.value!r}, or leaving it out."
                )
        self._check_ends()
        if self.round_to is not None:
            object.__setattr__(self, "round_to", parse_step(self.round_to))
        if self.rows_per_person is not None and (
            not isinstance(self.rows_per_person, int)
            or isinstance(self.rows_per_person, bool)
            or self.rows_per_person < 1
        ):
            raise JobError("rows_per_person must be a whole number of 1 or more.", attempt="rows_per_person = 3.")

    def _check_ends(self) -> None:
        for side in ("bottom", "top"):
            object.__setattr__(self, side, parse_end(getattr(self, side), side))
        ends = [end for end in (self.bottom, self.top) if end is not None]
        if ends and self.type not in (None, "numeric", "date"):
            raise JobError(
                f"A column of type {self.type!r} has no top or bottom.", attempt='type = "numeric" or "date".'
            )
        if len(ends) == 2 and (isinstance(ends[0], str) != isinstance(ends[1], str) or ends[0] > ends[1]):
            raise JobError("The bottom must not lie above the top.", attempt="bottom = 18, top = 80.")


_ONLY_FOR = {
    "top": Role.QUASI,
    "bottom": Role.QUASI,
    "round_to": Role.INSENSITIVE,
    "rows_per_person": Role.IDENTIFYING,
}


def parse_role(role: str) -> Role:
    name = str(role).lower()
    if name in ALIASES:
        return ALIASES[name]
    try:
        return Role(name)
    except ValueError:
        raise JobError(f"Unknown role {role!r}.", attempt=suggest(name, [r.value for r in Role])) from None


def parse_domain(domain: Any) -> tuple[Any, Any]:
    """The least and the greatest number that a column can hold."""
    try:
        least, greatest = domain
        if float(least) <= float(greatest):
            return least, greatest
    except (TypeError, ValueError):
        pass
    raise JobError("A domain is two numbers, the least first.", attempt="domain = [0, 120].")


def parse_end(value: Any, side: str) -> int | float | str | None:
    """A bound as a job declares it: a number, or a date as text."""
    try:
        if value is None or isinstance(value, date):
            return None if value is None else value.isoformat()
        if isinstance(value, str):
            datetime.fromisoformat(value)
            return value
        return parse_number(value)
    except (TypeError, ValueError, OverflowError):
        raise JobError(
            f"{side} must be a number or a date.", attempt=f'{side} = 80, or {side} = "2001-12-31".'
        ) from None


def parse_step(value: Any) -> int | float:
    try:
        if (step := parse_number(value)) > 0:
            return step
    except (TypeError, ValueError, OverflowError):
        pass
    raise JobError("round_to must be a number above 0.", attempt="round_to = 10.")


def parse_number(value: Any) -> int | float:
    """A finite number, whole where it is."""
    if isinstance(value, bool | str):
        raise TypeError
    number = float(value)
    return int(value) if number == int(number) else number


def identifying(**how: Any) -> Column:
    """Never published; used to count persons."""
    return Column(Role.IDENTIFYING, **how)


def quasi(*, numeric: bool = False, **how: Any) -> Column:
    """An adversary may know it: it is generalized."""
    given: dict[str, Any] = {"type": "numeric"} if numeric else {}
    return Column(Role.QUASI, **given, **how)


def sensitive(**how: Any) -> Column:
    """What the promise protects."""
    return Column(Role.SENSITIVE, **how)


def insensitive(**how: Any) -> Column:
    """Carried unchanged beside the record it came with."""
    return Column(Role.INSENSITIVE, **how)


def resolve(declared: Mapping[str, Column], present: Sequence[str], undeclared: str = "refuse") -> dict[str, Column]:
    """Columns of the data with their declaration, in the data's order; glob patterns give way to exact names."""
    patterns = [name for name in declared if any(mark in name for mark in "*?[") and name not in present]
    exact = [name for name in declared if name not in patterns]
    if exact and not set(exact) & set(present):
        # Where no name fits, the first line may be a record: it is not quoted.
        raise ColumnError(
            f"None of the {len(exact)} declared columns is among the {len(present)} of the data.",
            attempt="a header line in the file, and its names in the job.",
        )
    repeated = sorted({name for name in present if list(present).count(name) > 1})
    if repeated:
        raise ColumnError(
            f"The data has {len(repeated)} column name(s) twice: {', '.join(map(repr, repeated))}.",
            attempt="renaming one of each.",
        )
    absent = [name for name in exact if name not in present]
    if absent:
        said = " ".join(f"Column {name!r} is declared but not in the data." for name in absent)
        raise ColumnError(said, attempt="; ".join(suggest(name, present) for name in absent))
    found: dict[str, Column] = {}
    for name in present:
        pattern = next((p for p in patterns if fnmatchcase(name, p)), None)
        if name in declared:
            found[name] = declared[name]
        elif pattern is not None:
            found[name] = declared[pattern]
    missing = [name for name in present if name not in found]
    if missing and undeclared == "refuse":
        listed = ", ".join(map(repr, missing[:8])) + (", ..." if len(missing) > 8 else "")
        raise ColumnError(
            f"{len(missing)} column(s) of the data have no role: {listed}.",
            why="An undeclared column is never published silently.",
            attempt='giving each a role, or undeclared = "drop".',
        )
    return found


def with_role(columns: Mapping[str, Column], role: Role) -> list[str]:
    return [name for name, column in columns.items() if column.role is role]
