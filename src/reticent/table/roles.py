"""What each column is to the publisher: its role, its type and how it may be generalized."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, ParamSpec

from reticent.door import flag, typed
from reticent.door import hierarchy as a_hierarchy
from reticent.errors import JobError, suggest
from reticent.table.bounds_given import parse_domain, parse_end, parse_step, parse_values
from reticent.table.labelling import Labelling
from reticent.table.resolving import resolve as resolve
from reticent.table.resolving import with_role as with_role
from reticent.table.written import check_format


class Role(StrEnum):
    IDENTIFYING = "identifying"
    QUASI = "quasi-identifying"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"


PUBLISHED = (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE)

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
    `domain` is the least and the greatest number that can occur, of a sensitive column also a list of values.
    `missing` says what a null in a sensitive column is: refused, or a published category of its own.
    `top` and `bottom` of a quasi-identifier are the bounds beyond which a value is published as the bound.  `round_to` is the
    step an insensitive number is rounded to, `acknowledge` lets a near-unique one pass.  `rows_per_person` of an identifying
    column is the most rows one person has: k-anonymity then counts persons.  `format` says how dates or numbers are written
    as text: `%m/%d/%Y`, `1,234.5` (see `table/written.py`).
    `labels` of a quasi-identifier is how its groups print: see `labelling.py`.
    """

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
    format: str | None = None
    labels: Any = None  # a `Labelling`, or None: as the type of the column has it

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
            labels: Any = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "role", parse_role(self.role))
        typed(self)
        if self.hierarchy is not None:
            a_hierarchy(self.hierarchy, "hierarchy")
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
            parse = parse_values if self.role is Role.SENSITIVE else parse_domain
            object.__setattr__(self, "domain", parse(self.domain))
        for option, role in _ONLY_FOR.items():
            if getattr(self, option) is not None and self.role is not role:
                raise JobError(
                    f"{option} is for {role.value} columns.", attempt=f"role = {role.value!r}, or leaving it out."
                )
        self._check_ends()
        if self.labels is not None:
            object.__setattr__(self, "labels", Labelling.of(self.labels))
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
    "labels": Role.QUASI,
}


def parse_role(role: str) -> Role:
    name = str(role).lower()
    if name in ALIASES:
        return ALIASES[name]
    try:
        return Role(name)
    except ValueError:
        raise JobError(f"Unknown role {role!r}.", attempt=suggest(name, [r.value for r in Role])) from None


Given = ParamSpec("Given")


def _spelled(role: Role) -> Callable[[Callable[Given, Column]], Callable[Given, Column]]:
    """An option that the role does not take is refused by its name, with where it belongs."""

    def refusing(make: Callable[Given, Column]) -> Callable[Given, Column]:
        known = list(signature(make).parameters)

        @wraps(make)
        def made(*args: Given.args, **options: Given.kwargs) -> Column:
            if args:
                raise JobError(f"{make.__name__}() takes its options by name.", attempt=f"{known[0]}=...")
            for name in options:
                if name in _ONLY_FOR and _ONLY_FOR[name] is not role:
                    raise JobError(f"{name} is for {_ONLY_FOR[name].value} columns.", attempt="leaving it out.")
                if name not in known:
                    raise JobError(f"{role.value} columns have no option {name!r}.", attempt=suggest(name, known))
            return make(*args, **options)

        return made

    return refusing


@_spelled(Role.IDENTIFYING)
def identifying(*, rows_per_person: int | None = None) -> Column:
    """Never published; `rows_per_person`, the most rows that one person has, lets k-anonymity count persons."""
    return Column(Role.IDENTIFYING, rows_per_person=rows_per_person)


@_spelled(Role.QUASI)
def quasi(
    *,
    numeric: bool = False,
    type: str | None = None,
    hierarchy: Any = None,
    order: Sequence[Any] | None = None,
    domain: Sequence[Any] | None = None,
    top: Any = None,
    bottom: Any = None,
    missing: str = "refuse",
    format: str | None = None,
    labels: Any = None,
) -> Column:
    """An adversary may know it: it is generalized, by a `hierarchy` (a path or rows), an `order`, or as a range.

    `numeric=True` is `type="numeric"`; the other types are "ordinal", "categorical" and "date".  `domain` is the least and
    the greatest value that can occur, `top` and `bottom` are bounds beyond which a value is published as the bound.
    `format` says how dates or numbers are written as text, `labels` how groups print ("tight", "snapped", "padded", ...).
    """
    if flag(numeric, "numeric") and type not in (None, "numeric"):
        raise JobError(f"numeric=True and type={type!r} contradict each other.", attempt="one of them.")
    kind = "numeric" if numeric else type
    ends = {"top": top, "bottom": bottom}
    return Column(Role.QUASI, kind, hierarchy, order, domain, missing, **ends, format=format, labels=labels)


@_spelled(Role.SENSITIVE)
def sensitive(
    *,
    type: str | None = None,
    hierarchy: Any = None,
    order: Sequence[Any] | None = None,
    domain: Sequence[Any] | None = None,
    missing: str = "refuse",
    format: str | None = None,
) -> Column:
    """What the promise protects; `missing="category"` publishes a null as a value of its own instead of refusing it.

    `domain` is what the column can hold, whoever is in the table: the least and the greatest number, or a list of values.
    """
    return Column(Role.SENSITIVE, type, hierarchy, order, domain, missing, format=format)


@_spelled(Role.INSENSITIVE)
def insensitive(
    *, type: str | None = None, round_to: Any = None, acknowledge: bool = False, format: str | None = None
) -> Column:
    """Carried beside the record it came with; a number may be rounded (`round_to`), a near-unique column `acknowledge`d."""
    return Column(Role.INSENSITIVE, type, round_to=round_to, acknowledge=acknowledge, format=format)
