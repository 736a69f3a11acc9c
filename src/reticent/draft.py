"""A first job file for a table: guessed types, a proposed role for every column with the reason, risky columns named.

It shows column names and counts and never a value: a draft is passed around before anybody has thought about roles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from reticent import toml
from reticent.errors import SourceError
from reticent.table import source as sources
from reticent.table.builders.proposal import propose
from reticent.table.header import refuse_record
from reticent.table.roles import Role
from reticent.table.source import Source

MARKS = ("?", "NA", "N/A", "na", "n/a", "NULL", "null", "None", "-", ".")  # what files use for "missing"
NEAR_UNIQUE, OFTEN_UNIQUE, FEW_ROWS, MANY = 0.9, 0.25, 20, 50

_NAMES_PERSON = re.compile(
    r"(^|[\W_])(id|uuid|guid|ssn|nin|nhs|mrn|name|surname|forename|email|e_mail|mail|phone|tel|fax|mobile|address|street|"
    r"passport|licen[cs]e|iban|account|url|ip|plate|vin|serial|person|patient|household)([\W_]|$)|(_id|Id|ID|[a-z]name)$",
    re.IGNORECASE,
)
_IS_PRIVATE = re.compile(
    r"disease|diagnos|illness|icd|condition|symptom|treat|drug|medic|hiv|cancer|disab|salar|income|wage|earning|debt|credit|"
    r"relig|faith|politic|party|vote|orientation|crime|offen[cs]e|convict|verdict|grade|score|result|occupation|cause",
    re.IGNORECASE,
)
_IS_PLACE_OR_BIRTH = re.compile(
    r"zip|post(al)?_?code|birth|dob|lat(itude)?$|lon(gitude)?$|geo|county|district", re.IGNORECASE
)
_NUMBER = r"^\s*[+-]?\d+(\.\d+)?\s*$"
_PADDED = r"^0\d"
_DATE = r"^\d{4}-\d{2}-\d{2}$"


@dataclass(frozen=True, slots=True)
class Proposal:
    """One column: counts, the type to declare (None: decided from the data), the role and why, what is risky about it, and
    of a quasi-identifier the hierarchy that `suits` it (empty: none does)."""

    name: str
    distinct: int
    missing: int
    type: str | None
    role: Role
    why: str
    risk: str = ""
    hierarchy: Mapping[str, Any] = field(default_factory=dict)
    suits: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    source: Source
    rows: int
    marks: tuple[str, ...]
    columns: tuple[Proposal, ...]

    def to_toml(self) -> str:
        """The job file, commented."""
        return "\n".join([*self._head(), *self._source(), *self._columns(), *self._promises(), *_TAIL])

    def _head(self) -> list[str]:
        lines = [
            f"# A draft for {self.rows:,} rows: types are guessed, roles are proposals.  Confirm every line marked CONFIRM;",
            "# nothing is published that you did not declare.",
        ]
        risky = [column for column in self.columns if column.risk]
        if risky:
            lines += ["#", "# Risky columns:", *(f"#   {toml.key_text(c.name)}: {c.risk}" for c in risky)]
        return lines

    def _source(self) -> list[str]:
        lines = ["", "[source]"]
        for name in ("path", "delimiter", "encoding"):
            given = getattr(self.source, name)
            if given is not None and given != ("utf-8" if name == "encoding" else None):
                lines.append(f"{name} = {toml.value_text(given)}")
        given = toml.value_text(list(self.source.missing or self.marks))
        if self.source.missing:
            lines.append(f"missing = {given}")
        elif self.marks:
            lines.append(f"missing = {given}  # CONFIRM: these texts occur and usually mean missing")
        else:
            lines.append('# missing = ["?"]  # texts that mean missing, beside the empty field')
        return lines

    def _columns(self) -> list[str]:
        declared = [f"{toml.key_text(column.name)} = {toml.value_text(_declared(column))}" for column in self.columns]
        width = min(max(map(len, declared)), 72)
        return [
            "",
            "[columns]  # identifying (never published), quasi-identifying, sensitive, insensitive (published as it is)",
            *(text for line, column in zip(declared, self.columns, strict=True)
              for text in (f"{line:<{width}}  # CONFIRM: {column.why}", *_hierarchy_lines(column))),
            "# a column can also have:  hierarchy = \"file.csv\"   order = [\"low\", \"high\"]   missing = \"category\"",
        ]  # fmt: skip

    def _promises(self) -> list[str]:
        sensitive = [column.name for column in self.columns if column.role is Role.SENSITIVE]
        lines = ["", "[[promise]]  # every row reads like at least k - 1 others", 'model = "k-anonymity"', "k = 5"]
        for name in sensitive:
            lines += ["", "[[promise]]  # no group lifts a value's frequency by more than beta, relatively",
                      'model = "beta-likeness"', "beta = 4"]  # fmt: skip
            if len(sensitive) > 1:
                lines.append(f"column = {toml.value_text(name)}")
        if not sensitive:
            lines += ["", "# No column looks sensitive.  Declare the one to protect, and promise something about it:",
                      "# [[promise]]", '# model = "beta-likeness"', "# beta = 4"]  # fmt: skip
        return lines


_TAIL = [
    "", "[method]", 'name = "mondrian"', "", "[release]",
    'undeclared = "refuse"  # or "drop"', 'format = "parquet"     # or "csv"', "",
]  # fmt: skip


def draft(source: Source) -> Draft:
    """Look at every column once, by counts."""
    names = sources.columns(source)
    lazy = sources.scan(source)
    refuse_record(names, lazy)
    frame = sources.collect(lazy, "Reading the table")
    rows = len(frame)
    if not rows:
        raise SourceError("The source has a header and no rows.", attempt="a file with rows.")
    counts = [_looks(column) for column in frame]
    marks = tuple(mark for mark in MARKS if any(mark in (found.get("marks") or ()) for found in counts))
    return Draft(source, rows, marks, tuple(_propose(found, rows) for found in counts))


def _looks(column: pl.Series) -> dict[str, Any]:
    """Distinct and missing values of a column; of text also whether all look like numbers or dates, and which marks occur."""
    column = column.cast(pl.String) if sources.is_text(column.dtype) else column
    values = column.unique().drop_nulls()
    found: dict[str, Any] = {"name": column.name, "dtype": column.dtype, "missing": column.null_count()}
    if column.dtype == pl.String:
        marked = values.is_in(list(MARKS))
        found["marks"] = values.filter(marked).to_list()
        found["missing"] += int(column.is_in(found["marks"]).sum()) if found["marks"] else 0
        values = values.filter(~marked)
        found["length"] = values.str.len_chars().mean()
        found["numbers"] = values.str.contains(_NUMBER).all() and not values.str.contains(_PADDED).any()
        found["dates"] = values.str.contains(_DATE).all()
    return found | {"distinct": len(values), "values": values}


def _type(found: dict[str, Any]) -> str | None:
    if found["dtype"] != pl.String:
        return (
            "numeric" if found["dtype"].is_numeric() else "date" if found["dtype"] in (pl.Date, pl.Datetime) else None
        )
    if not found["distinct"]:
        return None
    return "numeric" if found["numbers"] else "date" if found["dates"] else None


def _propose(found: dict[str, Any], rows: int) -> Proposal:
    name, distinct, missing, kind = found["name"], found["distinct"], found["missing"], _type(found)
    many = f"{distinct:,} distinct values in {rows:,} rows"

    def proposal(role: Role, why: str, risk: str = "") -> Proposal:
        if missing:
            why += f"; {missing:,} missing" + (
                ', refused unless missing = "category"' if role is Role.SENSITIVE else ""
            )
        return Proposal(name, distinct, missing, kind, role, why, risk)

    if distinct + bool(missing) <= 1:
        return proposal(Role.INSENSITIVE, "it says the same of everybody")
    if _NAMES_PERSON.search(name):
        return proposal(
            Role.IDENTIFYING, f"its name is that of an identifier ({many})", "its name is that of an identifier"
        )
    if rows >= FEW_ROWS and distinct >= NEAR_UNIQUE * (rows - missing):
        free = (found.get("length") or 0) > 30
        return proposal(Role.IDENTIFYING, f"near-unique: {many}", f"near-unique{', free text' if free else ''}: {many}")
    if _IS_PRIVATE.search(name):
        return proposal(Role.SENSITIVE, f"its name is that of something private ({many})")
    built, suits = propose(found["values"], name)
    quasi = proposal(Role.QUASI, f"an adversary may know it ({many})", _risk(name, distinct, kind, rows, many))
    return replace(quasi, hierarchy=built, suits=suits)


def _risk(name: str, distinct: int, kind: str | None, rows: int, many: str) -> str:
    """Why a quasi-identifier deserves a second look."""
    if _IS_PLACE_OR_BIRTH.search(name):
        return "a place or a birth date singles people out together with little else"
    if rows >= FEW_ROWS and distinct >= OFTEN_UNIQUE * rows:
        return f"many people have a value of their own ({many})"
    return f"many values and no order ({many}): a hierarchy would lose less" if distinct > MANY and kind is None else ""


def _hierarchy_lines(column: Proposal) -> list[str]:
    """The hierarchy that suits a quasi-identifier, to be moved up into its line."""
    if not column.suits:
        return []
    asked = f"hierarchy = {toml.value_text(column.hierarchy)}" if column.hierarchy else "no hierarchy"
    return [f"#   {asked}: {column.suits}"]


def _declared(column: Proposal) -> dict[str, str]:
    return {"role": column.role.value} | ({"type": column.type} if column.type and column.role is Role.QUASI else {})
