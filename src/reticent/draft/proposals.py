"""A role for each column and the reason, what is risky about it, and what else a steward would declare of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from reticent.draft.looks import Look, typed
from reticent.draft.names import identifies, numbers_person
from reticent.errors import some
from reticent.table.builders.proposal import propose, round_width
from reticent.table.roles import Role

NEAR_UNIQUE, OFTEN_UNIQUE, FEW_ROWS, MANY = 0.9, 0.25, 20, 50
MOST_PER_PERSON = 100  # rows of one person; an identifier that repeats more often names something else

_IS_PRIVATE = re.compile(
    r"disease|diagnos|illness|icd|condition|symptom|treat|drug|medic|hiv|cancer|disab|salar|income|wage|earning|debt|credit|"
    r"relig|faith|politic|party|vote|orientation|crime|offen[cs]e|convict|verdict|grade|score|result|occupation|cause",
    re.IGNORECASE,
)
_IS_PLACE_OR_BIRTH = re.compile(
    r"zip|post(al)?_?code|birth|dob|lat(itude)?$|lon(gitude)?$|geo|county|district", re.IGNORECASE
)
_IS_WEIGHT = re.compile(
    r"^(?!.*(kg|lbs?|pounds?|grams?)$)(|.*_)(weight|wgt|wt|pweight|fnlwgt)(_|$)|fnlwgt", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """One column: counts, the type to declare (None: decided from the data), the role and why, what is risky about it, what
    else is `declared` of it, and of a quasi-identifier the hierarchy that `suits` it (empty: none does)."""

    name: str
    distinct: int
    missing: int
    type: str | None
    role: Role
    why: str
    risk: str = ""
    hierarchy: Mapping[str, Any] = field(default_factory=dict)
    suits: str = ""
    declared: Mapping[str, Any] = field(default_factory=dict)


def proposals(looks: Sequence[Look], rows: int) -> tuple[Proposal, ...]:
    found = [_propose(one, rows) for one in looks]
    at = _persons(looks, found)
    if at is not None:
        most = looks[at].most
        found[at] = replace(
            found[at],
            declared={**found[at].declared, "rows_per_person": most},
            why=f"{found[at].why}; one has up to {most} rows, so that k-anonymity counts persons",
        )
    return tuple(found)


def _persons(looks: Sequence[Look], found: Sequence[Proposal]) -> int | None:
    """The identifier that numbers persons: of those that repeat in a way persons do, the one with most values."""
    able = [
        at
        for at, (one, proposal) in enumerate(zip(looks, found, strict=True))
        if proposal.role is Role.IDENTIFYING
        and numbers_person(one.name)
        and not one.missing
        and 1 < one.most <= MOST_PER_PERSON
    ]
    return max(able, key=lambda at: looks[at].distinct, default=None)


def _propose(found: Look, rows: int) -> Proposal:
    many = f"{found.distinct:,} distinct values in {rows:,} rows"
    if found.distinct + bool(found.missing) <= 1:
        return _proposal(found, Role.INSENSITIVE, "it says the same of everybody")
    if identifies(found.name):
        named = "its name is that of an identifier"
        return _proposal(found, Role.IDENTIFYING, f"{named} ({many})", named)
    if found.type == "numeric" and _IS_WEIGHT.search(found.name):
        return _weight(found, many)
    if rows >= FEW_ROWS and found.distinct >= NEAR_UNIQUE * (rows - found.missing):
        free = ", free text" if found.free else ""
        return _proposal(found, Role.IDENTIFYING, f"near-unique: {many}", f"near-unique{free}: {many}")
    if found.free:
        said = f"free text, which may hold names ({many})"
        return _proposal(found, Role.IDENTIFYING, said, said)
    if _IS_PRIVATE.search(found.name):
        return _private(found, many)
    built, suits = propose(typed(found), found.name)
    quasi = _proposal(found, Role.QUASI, f"an adversary may know it ({many})", _risk(found, rows, many))
    code = built.get("build") == "prefixes" and found.type is None and "by its name" in suits
    moved = {**quasi.declared, "hierarchy": built} if code else quasi.declared
    return replace(quasi, declared=moved, hierarchy={} if code else built, suits="" if code else suits,
                   why=f"{quasi.why}; {suits}" if code else quasi.why)  # fmt: skip


def _proposal(found: Look, role: Role, why: str, risk: str = "") -> Proposal:
    declared: dict[str, Any] = {}
    if found.type is not None and role is Role.QUASI:
        declared["type"] = found.type
    if found.format is not None and not found.misfit and role is not Role.IDENTIFYING:
        declared["format"] = found.format
        declared.pop("type", None)
    if found.missing:
        why += f"; {found.missing:,} missing"
    return Proposal(
        found.name, found.distinct, found.missing, found.type, role, why + _fit(found), risk, declared=declared
    )


def _fit(found: Look) -> str:
    """What does not read by the format that fits most, what else does, and which numbers stand apart."""
    if found.codes:
        many = some(found.code_rows, "row", "holds", "hold")
        return f"; {many} a number that files use for missing: see `missing` above, bands are proposed without it"
    if found.far:
        many = some(found.far, "row", "holds", "hold")
        return (
            f"; {many} a number several ranges away from all others: a code for missing, or `top` and `bottom` bound it"
        )
    if found.misfit:
        return f'; {found.format} reads all but {found.misfit:,} of its distinct values: mend them, then format = "{found.format}"'
    return f'; every value reads as "{found.other}" too' if found.other else ""


def _weight(found: Look, many: str) -> Proposal:
    """A survey's weight is needed beside each row, and an exact one names it."""
    numbers = typed(found).cast(pl.Float64, strict=False).drop_nulls()
    step = round_width(numbers, 20)
    said = _proposal(found, Role.INSENSITIVE, f"a weight, rounded so that it singles nobody out ({many})")
    risk = f"a survey's weight is carried, rounded to {step}; the weight of a body is quasi-identifying"
    return replace(said, risk=risk, declared={**said.declared, "round_to": step})


def _private(found: Look, many: str) -> Proposal:
    said = _proposal(found, Role.SENSITIVE, f"its name is that of something private ({many})")
    if found.missing:
        said = replace(said, declared={**said.declared, "missing": "category"},
                       why=f'{said.why}, published as a category of their own; missing = "refuse" stops instead')  # fmt: skip
    built, _ = propose(found.values, f"code {found.name}") if found.type is None else ({}, "")
    return replace(said, hierarchy=built) if built.get("build") == "prefixes" else said


def _risk(found: Look, rows: int, many: str) -> str:
    """Why a quasi-identifier deserves a second look."""
    if _IS_PLACE_OR_BIRTH.search(found.name):
        return "a place or a birth date singles people out together with little else"
    if rows >= FEW_ROWS and found.distinct >= OFTEN_UNIQUE * rows:
        return f"many people have a value of their own ({many})"
    unordered = found.distinct > MANY and found.type is None
    return f"many values and no order ({many}): a hierarchy would lose less" if unordered else ""
