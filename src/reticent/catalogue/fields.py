"""Field specifications: the type, range, exactness and cost limit of a parameter of a promise, method or stage.

A `Field` is data.  The constructors read it (`reticent.validation`) and so does the reader of manifests
(`reticent.format.schema_checks`), each with a check of its own: a parameter that no job may have is one that no
manifest may have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

FieldKind = Literal[
    "number",  # an exact number: 4, 0.5 or "1/3"
    "whole",  # a whole number
    "flag",  # true or false
    "text",
    "column",  # the name of a column
    "choice",  # one of `choices`
    "value",  # a value of a column, as a text
    "file",  # a path, or a table that a program hands over; a manifest holds the last part of the path
    "list",  # `entries` entries of the type `each`
    "table",  # names, each with an entry of the type `each`
    "record",  # these `fields` and no other
    "variant",  # one of these `fields`, by its name
    "either",  # one of `alternatives`
    "grid",  # [least, greatest, step] of a numeric column
    "matrix",  # { values, rows }: the distance of every two of these values
]

MAX_COUNT = (1 << 53) - 1  # of people and values: what a double counts exactly
MAX_NUMBER = 10**300  # what a double can hold
MAX_SKYLINE_POINTS = 100  # of a skyline: each is an adversary, whose beliefs are computed for every group
MAX_FAKES = 15_000  # of a group: the table of costs grows with their square
MAX_VALUES = 1 << 16  # of a sensitive column that has a target or a declared domain
MAX_COLUMNS = 100_000
MAX_GROUPS = 1_000_000


@dataclass(frozen=True, slots=True)
class Field:
    """Specification of one parameter.

    `least` and `most` bound numbers; `above` and `below` exclude the bound itself.  `finest` is the greatest
    denominator. `entries` are the fewest and the most entries of a list or table; with `keys` its names are those of
    columns of that role. `published` is False for what a job may have and a manifest never holds.  `positive`: not all
    numbers of a table are 0. `refusal` is the sentence that refuses other values ({value} is the number passed), with
    `why` and `attempt` beside it.
    """

    kind: FieldKind
    doc: str = ""
    required: bool = False
    least: int | Fraction | None = None
    most: int | Fraction | None = None
    above: bool = False
    below: bool = False
    finest: int | None = None
    choices: tuple[str | int, ...] = ()
    entries: tuple[int, int] | None = None
    each: Field | None = None
    keys: str = ""
    fields: Mapping[str, Field] = field(default_factory=dict)
    alternatives: tuple[Field, ...] = ()
    published: bool = True
    positive: bool = False
    refusal: str = ""
    why: str = ""
    attempt: str = ""

    @property
    def allowed_values(self) -> str:
        """Describe the values that are allowed: "a number above 0 and at most 1"."""
        if self.kind == "either":
            return " or ".join(dict.fromkeys(one.allowed_values for one in self.alternatives))
        if self.kind == "choice":
            return " or ".join(f'"{choice}"' if isinstance(choice, str) else str(choice) for choice in self.choices)
        if self.kind in ("record", "variant"):
            joint = " and " if self.kind == "record" else " or "
            return f"a table with {joint.join(self.fields)}"
        words = _KIND_NOUNS[self.kind]
        if self.entries is not None:
            fewest, most = self.entries
            words += f" of {fewest} entries" if fewest == most else f" of {fewest:,} to {most:,} entries"
        bounds = []
        if self.least is not None:
            bounds.append(
                f"above {_format_bound(self.least)}" if self.above else f"from {_format_bound(self.least)} on"
            )
        if self.most is not None and self.most != MAX_NUMBER:
            bounds.append(f"below {_format_bound(self.most)}" if self.below else f"at most {_format_bound(self.most)}")
        if self.finest is not None:
            bounds.append(f"no finer than 1/{self.finest:,}")
        return f"{words} {' and '.join(bounds)}" if bounds else words


@dataclass(frozen=True, slots=True)
class Relation:
    """Condition on two parameters.

    "less": the first is below the second.  "exclusive": at most one of them is set.  "requires": where the first is set
    (to `value`, if there is one), so must the second be (to `needed`, if there is one).
    """

    kind: Literal["less", "exclusive", "requires"]
    first: str
    second: str
    refusal: str
    attempt: str
    value: str | bool | None = None
    needed: str | bool | None = None
    why: str = ""


_KIND_NOUNS: dict[str, str] = {
    "number": "a number",
    "whole": "a whole number",
    "flag": "true or false",
    "text": "a text",
    "column": "the name of a column",
    "value": "a value",
    "file": "a path",
    "list": "a list",
    "table": "a table",
    "grid": "[least, greatest, step]",
    "matrix": "{ values, rows }",
}


def _format_bound(bound: int | Fraction) -> str:
    return f"{bound:,}" if isinstance(bound, int) else str(bound)


# Fields that several promises and methods have.

COLUMN_FIELD = Field("column", "the sensitive column that it is about; left out where there is one", keys="sensitive")
ENHANCED_FIELD = Field("flag", "bounds the gain of frequent values by -ln p as well")
TWO_SIDED_FIELD = Field("flag", "bounds losses as well as gains")
WEIGHTS_FIELD = Field(
    "table",
    "how much a column's loss counts, 1 where nothing is said",
    entries=(0, MAX_COLUMNS),
    keys="quasi-identifying",
    each=Field("number", least=0, most=10**9, attempt="1 for an ordinary column."),
)
FILL_FIELD = Field("choice", "neighbours along the Hilbert curve, or by exact distance", choices=("curve", "nearest"))
AXES_FIELD = Field("choice", "axes stretched to one length, or one step per value", choices=("stretched", "steps"))


def make_people_field(refusal: str, attempt: str, least: int = 2, *, doc: str, required: bool = True) -> Field:
    """Make the field of a number of people, rows or values."""
    return Field("whole", doc, required=required, least=least, most=MAX_COUNT, refusal=refusal, attempt=attempt)


def make_positive_field(
    refusal: str, attempt: str, *, doc: str, most: int = MAX_NUMBER, why: str = "", required: bool = True
) -> Field:
    """Make the field of a number above 0."""
    return Field(
        "number", doc, required=required, least=0, above=True, most=most, refusal=refusal, why=why, attempt=attempt
    )
