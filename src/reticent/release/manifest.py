"""The manifest of a release as a value: what it says, typed, and nothing that its kind does not have.

`Manifest.of` reads what JSON gave; a key that is not known, at whatever depth, or a value of another type is refused, so that
nothing can be hidden in a manifest and nothing below stumbles over a forged one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from reticent import catalogue, limits
from reticent.release import shape
from reticent.release.column_entry import ColumnEntry as ColumnEntry
from reticent.release.parameters import (
    checkers,
    refuse_strange_columns,
    refuse_unrelated,
    refuse_weightless,
    required,
    weights,
)
from reticent.release.shape import Misshapen
from reticent.table.roles import Role

FORMAT = 1
VERSION = re.compile(r"\d{1,6}(\.\d{1,6}){1,3}[a-z0-9.+-]{0,32}")


@dataclass(frozen=True, slots=True)
class Described:
    """A promise, method or stage as a manifest names it: its name and its parameters."""

    name: str
    parameters: Mapping[str, Any]

    @property
    def column(self) -> str | None:
        return self.parameters.get("column")

    def to_dict(self, key: str = "name") -> dict[str, Any]:
        return {key: self.name, **self.parameters}


def described(value: Any, rows: Mapping[str, Any], key: str, what: str) -> Described:
    """An entry {key: name, parameter: ...} whose name stands in the catalogue, with parameters that it has."""
    given = shape.mapping(value)
    name = given.get(key)
    if not isinstance(name, str) or name not in rows:
        raise Misshapen(f"a {what} is not one that this version knows", inside=True)
    row, where = rows[name], f"the {what} {name}"
    found = shape.fields(where, given, {key: shape.text, **checkers(row.fields)}, {key, *required(row.fields)})
    found.pop(key)
    refuse_unrelated(where, row.relations, found)
    return Described(name, found)


def promise_entry(value: Any) -> Described:
    return described(value, catalogue.PROMISES, "model", "promise")


def _sha256(value: Any) -> str:
    if not re.fullmatch(r"[0-9a-f]{64}", shape.text(value)):
        raise Misshapen("no SHA-256")
    return value


def _version(value: Any) -> str:
    if not VERSION.fullmatch(shape.text(value)):
        raise Misshapen("no version")
    return value


def _file(value: Any) -> Mapping[str, Any]:
    return shape.fields("a file", value, {"sha256": _sha256, "bytes": shape.count}, {"sha256", "bytes"})


def _name(value: Any) -> str:
    """A file's name: of letters, digits and few signs, so that it means the same to every system and every terminal."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}\.[a-z]{1,16}", shape.text(value)):
        raise Misshapen("naming a file outside the folder, or one that is none of a release")
    return value


def _files(value: Any) -> Mapping[str, Any]:
    return {_name(name): _file(entry) for name, entry in shape.mapping(value).items()}


def _part_rows(value: Any) -> int:
    if shape.count(value) < limits.PART_ROWS:
        raise Misshapen("no number of rows that a part may have")
    return value


def _persons(value: Any) -> int:
    if shape.count(value) < 2:
        raise Misshapen("no number of rows that a person may have")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """`own` are the fields that only the release's kind has (a perturbed release's matrix)."""

    kind: str
    rows: int
    withheld: int
    columns: tuple[ColumnEntry, ...]
    promises: tuple[Described, ...]
    method: Described
    data: tuple[str, ...]
    jointly: bool = False
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reticent: str = ""
    format: int = FORMAT
    weights: Mapping[str, Any] | None = None
    seeded: bool = False
    rows_per_person: int = 1
    formulas: str | None = None
    part_rows: int | None = None
    prepare: tuple[Described, ...] = ()
    own: Mapping[str, Any] = field(default_factory=dict)

    OPTIONAL: ClassVar[frozenset[str]] = frozenset(
        {"weights", "seeded", "rows_per_person", "formulas", "part_rows", "prepare"}
    )

    @classmethod
    def of(cls, value: Any, own: Mapping[str, shape.Checker], optional: Iterable[str] = ()) -> Manifest:
        """From what JSON gave; `own` are the shapes of the fields that only this kind has, some of them `optional`."""
        known = {**_FIELDS, **own}
        found = shape.fields("the manifest", value, known, set(known) - cls.OPTIONAL - set(optional))
        kept = {name: entry for name, entry in found.items() if name not in own}
        parts: dict[str, Any] = {
            name: tuple(entry) if isinstance(entry, list) else entry for name, entry in kept.items()
        }
        manifest = cls(
            **parts,
            own={name: entry for name, entry in found.items() if name in own},
        )
        names = [column.name for column in manifest.columns]
        if len(set(names)) != len(names):
            raise Misshapen("a column is described twice", inside=True)
        if not set(manifest.data) <= set(manifest.files):
            raise Misshapen("'data' names no file of the release", inside=True)
        if not manifest.rows:
            raise Misshapen("it has no rows", inside=True)
        manifest._refuse_strange_columns()
        refuse_weightless(manifest.weights, [column.name for column in manifest.named(Role.QUASI)])
        return manifest

    def _refuse_strange_columns(self) -> None:
        """Refuse parameters that name a column which the release does not have."""
        known: dict[str, list[str]] = {"any": [column.name for column in self.columns]}
        for column in self.columns:
            known.setdefault(str(column.role), []).append(column.name)
        described: list[tuple[Mapping[str, Any], Described]] = [(catalogue.PROMISES, one) for one in self.promises]
        described.append((catalogue.METHODS, self.method))
        described += [(catalogue.STAGES, one) for one in self.prepare]
        for rows, one in described:
            refuse_strange_columns(one.name, rows[one.name].fields, one.parameters, known)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; what is unset is left out."""
        found: dict[str, Any] = {
            "reticent": self.reticent,
            "format": self.format,
            "kind": self.kind,
            "data": list(self.data),
            "rows": self.rows,
            "withheld": self.withheld,
            "columns": [column.to_dict() for column in self.columns],
            "jointly": self.jointly,
            "promises": [promise.to_dict("model") for promise in self.promises],
            "method": self.method.to_dict(),
            "files": {name: dict(facts) for name, facts in self.files.items()},
            **self.own,
        }
        if self.weights is not None:
            found["weights"] = dict(self.weights)
        if self.seeded:
            found["seeded"] = True
        if self.rows_per_person > 1:
            found["rows_per_person"] = self.rows_per_person
        if self.formulas is not None:
            found["formulas"] = self.formulas
        if self.part_rows is not None:
            found["part_rows"] = self.part_rows
        if self.prepare:
            found["prepare"] = [stage.to_dict() for stage in self.prepare]
        return found

    def named(self, role: str) -> list[ColumnEntry]:
        return [column for column in self.columns if column.role == role]

    @property
    def sensitive(self) -> ColumnEntry:
        """The first sensitive column: the only one, for kinds that take one."""
        return self.named(Role.SENSITIVE)[0]

    def stage(self, name: str) -> Described | None:
        return next((stage for stage in self.prepare if stage.name == name), None)


_FIELDS: dict[str, shape.Checker] = {
    "reticent": _version,
    "format": shape.count,
    "kind": shape.text,
    "data": shape.listed(_name),
    "rows": shape.count,
    "withheld": shape.count,
    "columns": shape.listed(ColumnEntry.of),
    "jointly": shape.flag,
    "promises": shape.listed(promise_entry),
    "method": lambda value: described(value, catalogue.METHODS, "name", "method"),
    "weights": weights,
    "seeded": shape.flag,
    "rows_per_person": _persons,
    "formulas": shape.one_of("quote", "present"),
    "part_rows": _part_rows,
    "prepare": shape.listed(lambda value: described(value, catalogue.STAGES, "name", "stage")),
    "files": _files,
}
