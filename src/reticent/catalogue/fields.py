"""Field specifications: the type, range, exactness, default and meaning of one parameter, as data.

A parameter of a promise, method or stage, an option of a column, a source or a release, and a parameter of a manifest
has one `Field` and no other description. It is read by

- the constructors (`reticent.validation`), which refuse other values,
- the reader of job files (`reticent.registry`), which refuses other types by the name of the field,
- the JSON Schema of job files (`reticent.job.schema`),
- the reader of manifests (`reticent.format.schema_checks` and `reticent.format.manifest`), with checks of its own: a
  parameter that no job may have is one that no manifest may have,
- the tables of parameters in the docs, and the docstrings of the classes (`reticent.catalogue.reference`).

The defaults of a constructor stand in its signature too, as Python wants it; tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

FieldKind = Literal[
    "number",  # an exact number: 4, 0.5 or "1/3"
    "whole",  # a whole number in any spelling: 5, 5.0 or "5"
    "integer",  # a whole number as Python and TOML write it
    "float",  # a number that is computed with in double precision, never a text
    "decimal",  # a number or its text, stored as an integer where it is whole, else as a double
    "flag",  # true or false
    "text",
    "line",  # a text to be read by people: blanks and line ends are one blank, at most `most` letters, no controls
    "path",  # a text: the path of a file, relative to the job file
    "column",  # the name of a column
    "choice",  # one of `choices`, or an alias of one
    "value",  # a value of a column, as a text
    "file",  # a path, or a table that a program hands over; a manifest holds the last part of the path
    "list",  # `entries` entries of the type `each`
    "table",  # names, each with an entry of the type `each`
    "weights",  # names of columns, each with a number of the type `each`, which is no text
    "record",  # these `fields` and no other
    "variant",  # one of these `fields`, by its name
    "either",  # one of `alternatives`
    "grid",  # [least, greatest, step] of a numeric column
    "range",  # [least, greatest] of a numeric column
    "end",  # a number or a date
    "matrix",  # { values, rows }: the distance of every two of these values
    "hierarchy",  # a path, rows, or a table that says how to build one
    "labels",  # a style of labels, or a table of the style and its measures
    "part",  # a part of a job that has fields of its own
    # Of manifests alone:
    "dtype",  # the name of a data type
    "rows",  # a list of lists of texts: a hierarchy
    "ends",  # [least, greatest], or nothing
    "anything",  # values, lists and tables
]

MAX_COUNT = (1 << 53) - 1  # of people and values: what a double counts exactly
MAX_NUMBER = 10**300  # what a double can hold
MAX_SKYLINE_POINTS = 100  # of a skyline: each is an adversary, whose beliefs are computed for every group
OTHER_COLUMNS = "default"  # in a table of columns: all that it does not name
MAX_FAKES = 15_000  # of a group: the table of costs grows with their square
MAX_VALUES = 1 << 16  # of a sensitive column that has a target or a declared domain
MAX_COLUMNS = 100_000
MAX_GROUPS = 1_000_000
MAX_WEIGHT = 10**9  # how much more one column may weigh than another


@dataclass(frozen=True, slots=True)
class Field:
    """Specification of one parameter.

    `default` is the constructor's, None where the parameter may be left out; `implied` is the value that it then has,
    and `unset` says in words what is done. `least` and `most` bound numbers; `above` and `below` exclude the bound
    itself. `finest` is the greatest denominator. `aliases` are other words for choices. `entries` are the fewest and
    the most entries of a list or table; with `keys` its names are those of columns of that role,
    and `other_columns` is the name for all columns that it does not name. `roles` are the roles
    of columns that have the option; none are all of them. `published` is False for what a job may have and a manifest
    never holds. `positive`: not all numbers of a table are 0. `refusal` is the sentence that refuses other values, with
    `why` and `attempt` beside it; in it {value} is the number passed and {text} the value as it was written. `excess`
    is another sentence, and what to try, for a number above `most`; in it {owner} and {name} are the parameter's.
    """

    kind: FieldKind
    doc: str = ""
    required: bool = False
    default: Any = None
    implied: Any = None
    unset: str = ""
    least: int | Fraction | None = None
    most: int | Fraction | None = None
    above: bool = False
    below: bool = False
    finest: int | None = None
    choices: tuple[str | int, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    entries: tuple[int, int] | None = None
    each: Field | None = None
    keys: str = ""
    other_columns: str = ""
    fields: Mapping[str, Field] = field(default_factory=dict)
    alternatives: tuple[Field, ...] = ()
    roles: tuple[str, ...] = ()
    published: bool = True
    positive: bool = False
    refusal: str = ""
    why: str = ""
    attempt: str = ""
    excess: tuple[str, str] | None = None

    @property
    def allowed_values(self) -> str:
        """Describe the values that are allowed: "a number above 0 and at most 1"."""
        if self.kind == "either":
            return " or ".join(dict.fromkeys(alternative.allowed_values for alternative in self.alternatives))
        if self.kind == "choice":
            return " or ".join(f'"{choice}"' if isinstance(choice, str) else str(choice) for choice in self.choices)
        if self.kind in ("record", "variant"):
            conjunction = " and " if self.kind == "record" else " or "
            return f"a table with {conjunction.join(self.fields)}"
        words = _KIND_NOUNS[self.kind]
        if self.kind == "line":
            return f"{words} of 1 to {self.most:,} characters" if self.most is not None else words
        if self.entries is not None:
            fewest, most = self.entries
            words += f" of {fewest} entries" if fewest == most else f" of {fewest:,} to {most:,} entries"
        bounds = self._describe_bounds()
        return f"{words} {' and '.join(bounds)}" if bounds else words

    def _describe_bounds(self) -> list[str]:
        bounds = []
        if self.least is not None:
            least = _format_bound(self.least)
            bounds.append(f"above {least}" if self.above else f"from {least} on")
        if self.most is not None and self.most != MAX_NUMBER:
            most = _format_bound(self.most)
            bounds.append(f"below {most}" if self.below else f"at most {most}")
        if self.finest is not None:
            bounds.append(f"no finer than 1/{self.finest:,}")
        return bounds


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


def make_people_field(
    refusal: str,
    attempt: str,
    least: int = 2,
    *,
    doc: str,
    required: bool = True,
    default: int | None = None,
    implied: int | None = None,
    unset: str = "",
) -> Field:
    """Make the field of a number of people, rows or values."""
    return Field(
        "whole",
        doc,
        required=required,
        default=default,
        implied=implied,
        unset=unset,
        least=least,
        most=MAX_COUNT,
        refusal=refusal,
        attempt=attempt,
        excess=(f"{{owner}}: {{name}} = {{value}} is more than can be counted, {MAX_COUNT:,}.", attempt),
    )


def make_positive_field(
    refusal: str, attempt: str, *, doc: str, most: int = MAX_NUMBER, why: str = "", required: bool = True
) -> Field:
    """Make the field of a number above 0."""
    return Field(
        "number", doc, required=required, least=0, above=True, most=most, refusal=refusal, why=why, attempt=attempt
    )


_KIND_NOUNS: dict[str, str] = {
    "number": "a number",
    "whole": "a whole number",
    "integer": "a whole number",
    "float": "a number",
    "decimal": "a number",
    "flag": "true or false",
    "text": "a text",
    "line": "a text",
    "path": "a path",
    "column": "the name of a column",
    "value": "a value",
    "file": "a path",
    "list": "a list",
    "table": "a table",
    "weights": "a table",
    "grid": "[least, greatest, step]",
    "range": "[least, greatest]",
    "end": "a number or a date",
    "matrix": "{ values, rows }",
    "hierarchy": "a path, rows, or a table with build",
    "labels": "a style, or a table with style",
    "part": "a table",
    "dtype": "a data type",
    "rows": "a list of lists",
    "ends": "[least, greatest]",
    "anything": "a value, a list or a table",
}


def _format_bound(bound: int | Fraction) -> str:
    return f"{bound:,}" if isinstance(bound, int) else str(bound)


# Fields that several promises and methods have.

COLUMN_FIELD = Field(
    "column", "the sensitive column that it is about", unset="the only sensitive column", keys="sensitive"
)
ENHANCED_FIELD = Field("flag", "bounds the gain of frequent values by -ln p as well", default=True)
TWO_SIDED_FIELD = Field("flag", "bounds losses as well as gains", default=False)
WEIGHTS_FIELD = Field(
    "weights",
    "how much the loss of a column counts, by its name; 0 gives a column up",
    unset="1 for a column that is not named",
    entries=(0, MAX_COLUMNS),
    keys="quasi-identifying",
    each=Field("number", least=0, most=MAX_WEIGHT, attempt="1 for an ordinary column."),
)
FILL_FIELD = Field(
    "choice",
    'neighbours of a random row along the Hilbert curve, as printed, or by exact distance ("nearest")',
    default="curve",
    choices=("curve", "nearest"),
)
AXES_FIELD = Field(
    "choice",
    'axes stretched to one length, as the loss weighs them, or one step per value ("steps")',
    default="stretched",
    choices=("stretched", "steps"),
)
