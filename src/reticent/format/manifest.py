"""The manifest of a release as a typed value, with nothing in it that its kind does not have.

`Manifest.parse` reads parsed JSON; an unknown key, at whatever depth, or a value of another type is refused, so that
nothing can be hidden in a manifest and nothing that uses it stumbles over a forged one. `ColumnEntry` is the entry of
one published column: the fields that its role has, with values that its type can hold. `ComponentEntry` is that of a
promise, method or stage.

`build_cached_tree` builds the hierarchies that manifests hold, once: opening, loss, cover and measures need the same
tree again. `find_domain_declaration` finds what declared the domain that a release draws sensitive values from.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from functools import lru_cache
from hashlib import sha256
from typing import Any, ClassVar

import polars as pl

from reticent import catalogue
from reticent.catalogue import Field, RowTable
from reticent.catalogue.manifest_fields import COLUMN_ENTRY_FIELDS, MANIFEST_FIELDS
from reticent.data.columns import LabelOptions, Role
from reticent.data.hierarchy import Hierarchy
from reticent.data.parsing import parse_dtype
from reticent.data.text_formats import accept_formats, parse_format_type, require_rates
from reticent.errors import HierarchyError, JobError
from reticent.format import schema_checks
from reticent.format.schema_checks import (
    MisshapenValue,
    list_required_fields,
    make_checkers,
    parse_fraction,
    require_known_columns,
    require_relations,
    require_usable_weights,
)
from reticent.plugins import VERSION_PATTERN as PLUGIN_VERSION_PATTERN
from reticent.plugins import get_namespace, is_plugin_name

MAX_SMALL_TREE_LEAVES = 10_000  # of a tree that is remembered by its rows
MAX_LARGE_TREES = 2  # of more leaves, remembered by a digest of their rows
_LARGE_TREES: OrderedDict[bytes, Hierarchy] = OrderedDict()
FORMAT_VERSION = 1
_PARAMETER_NAME_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
VERSION_PATTERN = re.compile(r"\d{1,6}(\.\d{1,6}){1,3}[a-z0-9.+-]{0,32}")


def build_cached_tree(rows: Sequence[Sequence[str]]) -> Hierarchy:
    """Build the tree of a column's entry; raises `HierarchyError` if the rows are none."""
    if len(rows) <= MAX_SMALL_TREE_LEAVES:
        return _build_small_tree(tuple(map(tuple, rows)))
    digest = sha256(json.dumps(rows).encode()).digest()
    tree = _LARGE_TREES.pop(digest, None) or Hierarchy.of(rows)
    _LARGE_TREES[digest] = tree
    while len(_LARGE_TREES) > MAX_LARGE_TREES:
        _LARGE_TREES.popitem(last=False)
    return tree


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnEntry:
    """A manifest's entry of one published column; None where it states nothing.

    `domain` is where the values of the whole source lie if it was `declared`; else it is where those of published
    rows do.
    """

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
    declared: bool = False
    values: list[str] | None = None
    bottom: Any = None
    top: Any = None
    round_to: Any = None
    format: str | list[str] | None = None
    rates: Mapping[str, Any] | None = None
    labels: Any = None

    @classmethod
    def parse(cls, value: Any) -> ColumnEntry:
        role = schema_checks.check_mapping(value).get("role")
        if not isinstance(role, str) or role not in COLUMN_ENTRY_FIELDS["role"].choices:
            raise MisshapenValue("a column has no role that is published", inside=True)
        checks = {
            name: _make_entry_checker(field)
            for name, field in COLUMN_ENTRY_FIELDS.items()
            if not field.roles or role in field.roles
        }
        entry = cls(**schema_checks.check_fields("a column", value, checks, list_required_fields(COLUMN_ENTRY_FIELDS)))
        _require_ends_fit_type(entry)
        _require_reading_fits_type(entry)
        if entry.type == "ordinal" and entry.order is None:
            raise MisshapenValue("an ordered column has no order", inside=True)
        if entry.hierarchy is not None:
            try:
                build_cached_tree(entry.hierarchy)
            except (HierarchyError, TypeError):
                raise MisshapenValue("a column has a hierarchy that is no tree", inside=True) from None
        return entry

    def to_dict(self) -> dict[str, Any]:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {
            name: value
            for name, value in values.items()
            if value is not None and (name not in ("null", "declared") or value)
        }

    def with_changes(self, **changes: Any) -> ColumnEntry:
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class ComponentEntry:
    """A promise, method or stage in a manifest: its name and its parameters."""

    name: str
    parameters: Mapping[str, Any]

    @property
    def column(self) -> str | None:
        return self.parameters.get("column")

    def to_dict(self, key: str = "name") -> dict[str, Any]:
        return {key: self.name, **self.parameters}


def parse_component(value: Any, rows: Mapping[str, Any], key: str, kind: str) -> ComponentEntry:
    """Parse an entry {key: name, parameter: ...} whose name is in the catalogue, with parameters that it has."""
    table = schema_checks.check_mapping(value)
    name = table.get(key)
    if isinstance(rows, RowTable) and isinstance(name, str) and is_plugin_name(name):
        return _parse_plugin_component(table, name, key, kind)
    if not isinstance(name, str) or name not in rows:
        raise MisshapenValue(f"a {kind} is not one that this version knows", inside=True)
    row = rows[name]
    where = f"the {kind} {name}"
    parameters = schema_checks.check_fields(
        where,
        table,
        {key: schema_checks.check_text, **make_checkers(row.fields)},
        {key, *list_required_fields(row.fields)},
    )
    parameters.pop(key)
    require_relations(where, row.relations, parameters)
    return ComponentEntry(name, parameters)


def _parse_plugin_component(table: Mapping[str, Any], name: str, key: str, kind: str) -> ComponentEntry:
    """Parse the entry of a plugin's promise or method without its plugin: its parameters are of any meaning."""
    parameters = {parameter: value for parameter, value in table.items() if parameter != key}
    for parameter, value in parameters.items():
        if not _PARAMETER_NAME_PATTERN.fullmatch(parameter):
            raise MisshapenValue(f"the {kind} {name} has a parameter of a name that none has", inside=True)
        try:
            schema_checks.check_parameter(value)
        except MisshapenValue as error:
            raise MisshapenValue(f"the {kind} {name} has a parameter that is {error}", inside=True) from None
    if not isinstance(parameters.get("column", ""), str):
        raise MisshapenValue(f"the {kind} {name} names a column by something that is no text", inside=True)
    return ComponentEntry(name, parameters)


def parse_promise(value: Any) -> ComponentEntry:
    return parse_component(value, catalogue.PROMISES, "model", "promise")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a release states about itself; `own` are the fields that only its kind has (a perturbed release's matrix)."""

    kind: str
    rows: int
    withheld: int
    columns: tuple[ColumnEntry, ...]
    promises: tuple[ComponentEntry, ...]
    method: ComponentEntry
    data: tuple[str, ...]
    jointly: bool = False
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reticent: str = ""
    format: int = FORMAT_VERSION
    weights: Mapping[str, Any] | None = None
    seeded: bool = False
    rows_per_person: int = 1
    withheld_before: Mapping[str, int] = field(default_factory=dict)
    formulas: str | None = None
    part_rows: int | None = None
    about: Mapping[str, Any] | None = None
    readme: int = 1
    prepare: tuple[ComponentEntry, ...] = ()
    plugins: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, Any] = field(default_factory=dict)

    OPTIONAL: ClassVar[frozenset[str]] = frozenset(
        {
            "prepare",
            "withheld_before",
            "plugins",
            *(name for name, field in MANIFEST_FIELDS.items() if not field.required),
        }
    )

    @classmethod
    def parse(cls, value: Any, own: Mapping[str, schema_checks.Checker], optional: Iterable[str] = ()) -> Manifest:
        """Read parsed JSON; `own` are the shapes of the fields that only this kind has, some of them `optional`."""
        options = {name: _make_entry_checker(field) for name, field in MANIFEST_FIELDS.items()}
        checks = {**_MANIFEST_CHECKS, **options, **own}
        checked = schema_checks.check_fields("the manifest", value, checks, set(checks) - cls.OPTIONAL - set(optional))
        common = {name: entry for name, entry in checked.items() if name not in own}
        parts: dict[str, Any] = {
            name: tuple(entry) if isinstance(entry, list) else entry for name, entry in common.items()
        }
        manifest = cls(
            **parts,
            own={name: entry for name, entry in checked.items() if name in own},
        )
        names = [column.name for column in manifest.columns]
        if len(set(names)) != len(names):
            raise MisshapenValue("a column is described twice", inside=True)
        if not set(manifest.data) <= set(manifest.files):
            raise MisshapenValue("'data' names no file of the release", inside=True)
        if manifest.about is not None and not manifest.about:
            raise MisshapenValue("'about' says nothing", inside=True)
        if not manifest.rows:
            raise MisshapenValue("it has no rows", inside=True)
        if manifest.withheld_later < 0:
            raise MisshapenValue("more rows were withheld before planning than at all", inside=True)
        manifest._require_known_columns()
        manifest._require_plugins_stated()
        require_usable_weights(
            manifest.weights, [column.name for column in manifest.find_columns_with_role(Role.QUASI)]
        )
        return manifest

    def _require_known_columns(self) -> None:
        """Refuse parameters that name a column which the release does not have."""
        names_by_role: dict[str, list[str]] = {"any": [column.name for column in self.columns]}
        for column in self.columns:
            names_by_role.setdefault(str(column.role), []).append(column.name)
        for component in (*self.promises, self.method):
            if is_plugin_name(component.name) and component.column not in (None, *names_by_role["any"]):
                raise MisshapenValue(f"{component.name} names a column that the release does not have", inside=True)
        described: list[tuple[Mapping[str, Any], ComponentEntry]] = [
            (catalogue.PROMISES, component) for component in self.promises
        ]
        described.append((catalogue.METHODS, self.method))
        described += [(catalogue.STAGES, component) for component in self.prepare]
        for rows, component in described:
            if component.name in rows:
                require_known_columns(component.name, rows[component.name].fields, component.parameters, names_by_role)

    def _require_plugins_stated(self) -> None:
        """Refuse a manifest that does not state the version of each plugin whose promise or method it names.

        It may state others: those that brought a hierarchy or an engine, of which a manifest has no name.
        """
        names = [component.name for component in (*self.promises, self.method)]
        if not {get_namespace(name) for name in names if is_plugin_name(name)} <= set(self.plugins):
            raise MisshapenValue(
                "'plugins' does not state the distributions that promises and method name", inside=True
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest as JSON has it; unset fields are left out."""
        entries: dict[str, Any] = {
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
            entries["weights"] = dict(self.weights)
        if self.seeded:
            entries["seeded"] = True
        if self.rows_per_person > 1:
            entries["rows_per_person"] = self.rows_per_person
        if self.withheld_before:
            entries["withheld_before"] = dict(self.withheld_before)
        if self.formulas is not None:
            entries["formulas"] = self.formulas
        if self.part_rows is not None:
            entries["part_rows"] = self.part_rows
        if self.about is not None:
            entries["about"] = dict(self.about)
        if self.readme > 1:
            entries["readme"] = self.readme
        if self.prepare:
            entries["prepare"] = [stage.to_dict() for stage in self.prepare]
        if self.plugins:
            entries["plugins"] = dict(self.plugins)
        return entries

    def find_columns_with_role(self, role: str) -> list[ColumnEntry]:
        return [column for column in self.columns if column.role == role]

    @property
    def withheld_missing(self) -> int:
        """The number of rows withheld because a value is missing in a column that says `missing = "withhold"`."""
        return self.withheld_before.get("missing", 0)

    @property
    def withheld_surplus(self) -> int:
        """The number of rows withheld because their person has more than `rows_per_person`."""
        return self.withheld_before.get("surplus", 0)

    @property
    def withheld_later(self) -> int:
        """The number of rows that the method or a stage withheld."""
        return self.withheld - self.withheld_missing - self.withheld_surplus

    @property
    def sensitive(self) -> ColumnEntry:
        """The first sensitive column: the only one, for kinds that take one."""
        return self.find_columns_with_role(Role.SENSITIVE)[0]

    def stage(self, name: str) -> ComponentEntry | None:
        return next((stage for stage in self.prepare if stage.name == name), None)


def find_domain_declaration(manifest: Manifest) -> str | None:
    """Return what declared the domain that values were drawn from; None if it is the values that occur.

    Manifests of older versions do not state it: there a hierarchy, an order or the method's own list shows it.
    """
    if "declared" in manifest.own:
        return str(manifest.own["declared"])
    column = manifest.sensitive
    if column.hierarchy is not None:
        return "hierarchy"
    if column.order is not None:
        return "order"
    return "list" if "domain" in manifest.method.parameters else None


@lru_cache(maxsize=64)
def _build_small_tree(rows: tuple[tuple[str, ...], ...]) -> Hierarchy:
    return Hierarchy.of(rows)


def _make_entry_checker(field: Field) -> schema_checks.Checker:
    """Make the check of one field of a column's entry, or of an option of the release."""
    if field.kind == "choice":
        return schema_checks.check_one_of(*map(str, field.choices))
    if field.kind == "integer":
        return _make_count_checker(field)
    return _ENTRY_CHECKS.get(field.kind) or schema_checks.make_checker(field)


def _require_ends_fit_type(entry: ColumnEntry) -> None:
    """Refuse ends and steps that a column of this type cannot have."""
    ends = [*(entry.domain or ()), *(end for end in (entry.bottom, entry.top) if end is not None)]
    if not all(_is_end_of_type(entry.type, end) for end in ends):
        raise MisshapenValue("a column has ends that are none of its type", inside=True)
    if entry.domain and _parse_end(entry.domain[0]) > _parse_end(entry.domain[1]):
        raise MisshapenValue("a column ends before it begins", inside=True)
    if entry.declared and (entry.type != "numeric" or not entry.domain):
        raise MisshapenValue("a column declares a domain that it does not have", inside=True)
    if entry.round_to is not None and (isinstance(entry.round_to, bool | str) or not entry.round_to > 0):
        raise MisshapenValue("a column is rounded to something that is no step", inside=True)
    if entry.order is not None and len(set(entry.order)) != len(entry.order):
        raise MisshapenValue("an order lists a value twice", inside=True)


def _require_reading_fits_type(entry: ColumnEntry) -> None:
    """Refuse several formats that no job can declare, and rates of a column without a number format."""
    try:
        if isinstance(entry.format, list):
            parse_format_type(accept_formats(entry.format), None)
        if entry.rates is not None:
            require_rates(entry.rates, entry.format)
    except JobError:
        raise MisshapenValue("a column states formats that are none", inside=True) from None


def _make_count_checker(field: Field) -> schema_checks.Checker:
    def check(value: Any) -> int:
        count = schema_checks.check_count(value)
        if (field.least is not None and count < field.least) or (field.most is not None and count > field.most):
            raise MisshapenValue(field.refusal)
        return count

    return check


def _is_end_of_type(type: str, end: Any) -> bool:
    is_number = isinstance(end, int | float) and not isinstance(end, bool)
    if type == "numeric":
        return is_number
    if type == "carried" and is_number:
        return True
    if type not in ("date", "carried") or not isinstance(end, str):
        return False
    try:
        _parse_moment(end)
    except ValueError:
        return False
    return True


def _parse_end(end: Any) -> Any:
    return _parse_moment(end) if isinstance(end, str) else parse_fraction(end)


def _parse_moment(text: str) -> datetime:
    """Parse a moment, a day as its midnight; moments with a zone compare as they are written."""
    if len(text) == 10:
        return datetime.combine(date.fromisoformat(text), datetime.min.time())
    return datetime.fromisoformat(text[:26]).replace(tzinfo=None)


def _check_dtype(value: Any) -> str:
    """Check the name of a type that values are read back as."""
    try:
        if str(dtype := parse_dtype(schema_checks.check_text(value))) == value:
            pl.Series([], dtype=dtype).to_arrow()  # a zone that is none is found here
            return value
    except MisshapenValue:
        raise
    except BaseException as error:
        is_panic = type(error).__name__ == "PanicException"  # of Polars, and no Exception
        if not (is_panic or isinstance(error, Exception)):  # Ctrl-C, or a limit of time that is over
            raise
    raise MisshapenValue("no data type that is published")


def _check_ends(value: Any) -> list[Any]:
    """Check the least and the greatest value of a column; empty where every label is `*`."""
    ends = schema_checks.check_list_of(schema_checks.check_scalar)(value)
    if len(ends) not in (0, 2):
        raise MisshapenValue("no least and greatest value")
    return ends


def _check_labels(value: Any) -> Any:
    """Check how ends of ranges were rounded or moved: a style, or a table of the style and its step or width."""
    try:
        if LabelOptions.parse(value).to_plain() == value and LabelOptions.parse(value).style in ("snapped", "padded"):
            return value
    except (JobError, TypeError):
        pass
    raise MisshapenValue("no style of labels")


_ENTRY_CHECKS: dict[str, schema_checks.Checker] = {
    "text": schema_checks.check_text,
    "flag": schema_checks.check_flag,
    "dtype": _check_dtype,
    "list": schema_checks.check_list_of(schema_checks.check_text),
    "rows": schema_checks.check_list_of(schema_checks.check_list_of(schema_checks.check_text)),
    "anything": schema_checks.check_parameter,
    "ends": _check_ends,
    "end": schema_checks.check_scalar,
    "float": schema_checks.check_scalar,
    "labels": _check_labels,
    "weights": schema_checks.make_checker(MANIFEST_FIELDS["weights"]),
}
"""The check of each kind of field that entries and options have, beside choices and whole numbers."""


def _check_sha256(value: Any) -> str:
    if not re.fullmatch(r"[0-9a-f]{64}", schema_checks.check_text(value)):
        raise MisshapenValue("no SHA-256")
    return value


def _check_version(value: Any) -> str:
    if not VERSION_PATTERN.fullmatch(schema_checks.check_text(value)):
        raise MisshapenValue("no version")
    return value


def _check_file(value: Any) -> Mapping[str, Any]:
    return schema_checks.check_fields(
        "a file", value, {"sha256": _check_sha256, "bytes": schema_checks.check_count}, {"sha256", "bytes"}
    )


def _check_file_name(value: Any) -> str:
    """Check a file's name: letters, digits and few signs, which mean the same to every system and terminal."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}\.[a-z]{1,16}", schema_checks.check_text(value)):
        raise MisshapenValue("naming a file outside the folder, or one that is none of a release")
    return value


def _check_files(value: Any) -> Mapping[str, Any]:
    return {_check_file_name(name): _check_file(entry) for name, entry in schema_checks.check_mapping(value).items()}


def _check_withheld_before(value: Any) -> Mapping[str, int]:
    """Check the rows withheld before planning, by reason."""
    return schema_checks.check_fields(
        "the rows withheld before",
        value,
        {"missing": schema_checks.check_count, "surplus": schema_checks.check_count},
        set(),
    )


def _check_plugins(value: Any) -> Mapping[str, str]:
    """Check the versions of distributions by their names."""
    versions = schema_checks.check_mapping(value)
    if not versions or not all(is_plugin_name(f"{name}:any") for name in versions):
        raise MisshapenValue("no table of distributions")
    if not all(isinstance(version, str) and PLUGIN_VERSION_PATTERN.fullmatch(version) for version in versions.values()):
        raise MisshapenValue("no version of a distribution")
    return versions


_MANIFEST_CHECKS: dict[str, schema_checks.Checker] = {
    "reticent": _check_version,
    "format": schema_checks.check_count,
    "kind": schema_checks.check_text,
    "data": schema_checks.check_list_of(_check_file_name),
    "rows": schema_checks.check_count,
    "withheld": schema_checks.check_count,
    "columns": schema_checks.check_list_of(ColumnEntry.parse),
    "promises": schema_checks.check_list_of(parse_promise),
    "method": lambda value: parse_component(value, catalogue.METHODS, "name", "method"),
    "prepare": schema_checks.check_list_of(lambda value: parse_component(value, catalogue.STAGES, "name", "stage")),
    "files": _check_files,
    "withheld_before": _check_withheld_before,
    "plugins": _check_plugins,
}
