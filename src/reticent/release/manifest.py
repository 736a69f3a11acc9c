"""The manifest of a release as a value: what it says, typed, and nothing that its kind does not have.

`Manifest.of` reads what JSON gave; a key that is not known, at whatever depth, or a value of another type is refused, so that
nothing can be hidden in a manifest and nothing below stumbles over a forged one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

from reticent import catalogue
from reticent.errors import HierarchyError, JobError
from reticent.release import shape
from reticent.release.shape import Misshapen
from reticent.table.hierarchy import Hierarchy
from reticent.table.labelling import Labelling
from reticent.table.roles import Role

FORMAT = 1


def labels_entry(value: Any) -> Any:
    """How ends of ranges were rounded or moved: a style, or a table of the style and its step or width."""
    try:
        if Labelling.of(value).plain() == value and Labelling.of(value).style in ("snapped", "padded"):
            return value
    except (JobError, TypeError):
        pass
    raise Misshapen("no style of labels")


_SHAPES: dict[str, shape.Checker] = {
    "name": shape.text,
    "role": shape.one_of(Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE),
    "type": shape.one_of("numeric", "date", "ordinal", "categorical", "carried"),
    "dtype": shape.text,
    "null": shape.flag,
    "missing": shape.one_of("refuse", "category"),
    "order": shape.listed(shape.text),
    "hierarchy": shape.listed(shape.listed(shape.text)),
    "built": shape.parameter,
    "domain": shape.listed(shape.scalar),
    "values": shape.listed(shape.text),
    "bottom": shape.scalar,
    "top": shape.scalar,
    "round_to": shape.scalar,
    "labels": labels_entry,
}
_ALWAYS = {"name", "role", "type", "dtype"}
_BY_ROLE: dict[str, set[str]] = {
    Role.QUASI: _ALWAYS | {"null", "order", "hierarchy", "built", "domain", "values", "bottom", "top", "labels"},
    Role.SENSITIVE: _ALWAYS | {"missing", "order", "hierarchy"},
    Role.INSENSITIVE: _ALWAYS | {"round_to"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnEntry:
    """What a manifest says of one published column; None is what it does not say."""

    name: str
    role: str
    type: str
    dtype: str = "String"
    null: bool = False
    missing: str | None = None
    order: list[str] | None = None
    hierarchy: list[list[str]] | None = None
    built: Mapping[str, Any] | None = None
    domain: list[Any] | None = None
    values: list[str] | None = None
    bottom: Any = None
    top: Any = None
    round_to: Any = None
    labels: Any = None

    @classmethod
    def of(cls, value: Any) -> ColumnEntry:
        role = shape.mapping(value).get("role")
        known = _BY_ROLE.get(role) if isinstance(role, str) else None
        if known is None:
            raise Misshapen("a column has no role that is published", inside=True)
        entry = cls(**shape.fields("a column", value, {name: _SHAPES[name] for name in known}, _ALWAYS))
        if entry.type == "ordinal" and entry.order is None:
            raise Misshapen("an ordered column has no order", inside=True)
        if entry.hierarchy is not None:
            try:
                Hierarchy.of(entry.hierarchy)
            except (HierarchyError, TypeError):
                raise Misshapen("a column has a hierarchy that is no tree", inside=True) from None
        return entry

    def to_dict(self) -> dict[str, Any]:
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in given.items() if value is not None and (name != "null" or value)}

    def at(self, **changes: Any) -> ColumnEntry:
        return replace(self, **changes)


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
    known = dict.fromkeys(rows[name].parameters, shape.parameter)
    found = shape.fields(f"the {what} {name}", given, {key: shape.text, **known}, {key})
    found.pop(key)
    return Described(name, found)


def promise_entry(value: Any) -> Described:
    return described(value, catalogue.PROMISES, "model", "promise")


def _file(value: Any) -> Mapping[str, Any]:
    return shape.fields("a file", value, {"sha256": shape.text, "bytes": shape.count}, {"sha256", "bytes"})


def _files(value: Any) -> Mapping[str, Any]:
    if any(not name or "/" in name or "\\" in name or name in (".", "..") for name in shape.mapping(value)):
        raise Misshapen("naming a file outside the folder")
    return {name: _file(entry) for name, entry in value.items()}


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
    prepare: tuple[Described, ...] = ()
    own: Mapping[str, Any] = field(default_factory=dict)

    OPTIONAL: ClassVar[frozenset[str]] = frozenset({"weights", "seeded", "rows_per_person", "prepare"})

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
        return manifest

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
    "reticent": shape.text,
    "format": shape.count,
    "kind": shape.text,
    "data": shape.listed(shape.text),
    "rows": shape.count,
    "withheld": shape.count,
    "columns": shape.listed(ColumnEntry.of),
    "jointly": shape.flag,
    "promises": shape.listed(promise_entry),
    "method": lambda value: described(value, catalogue.METHODS, "name", "method"),
    "weights": shape.parameter,
    "seeded": shape.flag,
    "rows_per_person": _persons,
    "prepare": shape.listed(lambda value: described(value, catalogue.STAGES, "name", "stage")),
    "files": _files,
}
