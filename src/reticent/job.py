"""The job: the one request that API, command line and studio share.  Job <-> TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent import registry
from reticent.errors import JobError, suggest
from reticent.gathered import Gathered
from reticent.located import located, lying_beside
from reticent.models.exact import Number, exact, flag
from reticent.models.promises import Promises
from reticent.table.roles import Column
from reticent.table.source import Source

if TYPE_CHECKING:
    from reticent.methods.protocols import Method, Stage
    from reticent.models.shapes import Promise

_LATER: Any = None  # what is left out is filled in when the job is made


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """How to publish: what becomes of undeclared columns, the file format, and how many rows may be withheld."""

    undeclared: str = "refuse"
    format: str = "parquet"
    suppress_at_most: Fraction = Fraction(0)

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self, *, undeclared: str = "refuse", format: str = "parquet", suppress_at_most: Number = 0
        ) -> None: ...

    def __post_init__(self) -> None:
        for name, known in (("undeclared", ("refuse", "drop")), ("format", ("parquet", "csv"))):
            if getattr(self, name) not in known:
                raise JobError(
                    f"release.{name} = {getattr(self, name)!r} is not known.",
                    attempt=suggest(str(getattr(self, name)), known),
                )
        share = exact(self.suppress_at_most, "suppress_at_most")
        if not 0 <= share <= 1:
            raise JobError("suppress_at_most must be a share of the rows.", attempt="a number from 0 to 1.")
        object.__setattr__(self, "suppress_at_most", share)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to publish, what to promise, and by which method."""

    source: Source = _LATER
    columns: Mapping[str, Column]
    promises: Promises
    method: Method = _LATER
    prepare: tuple[Stage, ...] = ()
    release: Output = field(default_factory=Output)
    jointly: bool = False

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self,
            *,
            source: Source | str | Path | None = None,
            columns: Mapping[str, Column],
            promises: Iterable[Promise],
            method: Method | None = None,
            prepare: Iterable[Stage] = (),
            release: Output = ...,
            jointly: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.source, Source):
            given = None if self.source is None else str(self.source)
            named = {"url": given} if given is not None and "://" in given else {"path": given}
            object.__setattr__(self, "source", Source(**named))
        object.__setattr__(self, "promises", Promises.of(self.promises))
        object.__setattr__(self, "prepare", tuple(self.prepare))
        if self.method is None:
            object.__setattr__(self, "method", registry.method("mondrian")())
        if not self.columns:
            raise JobError(
                "The job declares no columns.", attempt="a role for each column; `reticent init DATA` drafts one."
            )

    @classmethod
    def read(cls, path: str | Path) -> Job:
        """A job from a TOML file; relative paths in it are relative to it."""
        path = Path(path)
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
        except OSError as error:
            raise JobError(
                f"The job file {path} cannot be read: {error.strerror}.", attempt="`reticent init DATA` drafts one."
            ) from None
        except UnicodeDecodeError:
            raise JobError(f"The job file {path} is not UTF-8.") from None
        except tomllib.TOMLDecodeError as error:
            raise JobError(f"The job file {path} is not valid TOML.", why=str(error)) from None
        return cls.from_dict(table, beside=path.parent)

    @classmethod
    def from_dict(cls, table: Mapping[str, Any], beside: Path | None = None) -> Job:
        _known("the job", table, ("source", "columns", "promise", "prepare", "method", "release", "jointly"))
        for name in ("promise", "prepare"):
            if not isinstance(table.get(name, []), list):
                raise JobError(f"[{name}] must be a list.", attempt=f"[[{name}]] with two brackets.")
        if not isinstance(table.get("columns", {}), Mapping):
            raise JobError("[columns] must be a table.", attempt='lines such as age = "quasi-identifying".')
        return cls(**_parts(table, beside))

    def to_dict(self) -> dict[str, Any]:
        """The job as TOML would hold it; frames and built hierarchies as their rows."""
        source: dict[str, Any] = {
            name: list(value) if isinstance(value, tuple) else value for name, value in _set_fields(self.source).items()
        }
        if "url" in source:
            from reticent.table.database import redacted

            source["url"] = redacted(source["url"])
        return {
            "source": source,
            "columns": {name: _column_dict(column) for name, column in self.columns.items()},
            "jointly": self.jointly,
            "promise": [registry.describe(promise) for promise in self.promises],
            "prepare": [registry.describe(stage) for stage in self.prepare],
            "method": registry.describe(self.method),
            "release": {name: registry.plain(value) for name, value in _set_fields(self.release).items()},
        }

    def to_toml(self) -> str:
        from reticent.toml import dumps

        return dumps(self.to_dict())

    def at(self, **changes: Any) -> Job:
        """The same job with some parts replaced."""
        return replace(self, **changes)


def _parts(table: Mapping[str, Any], beside: Path | None) -> dict[str, Any]:
    """The parts of a job from their tables; the faults of all of them are told at once."""
    gathered = Gathered()
    found: dict[str, Any] = {"columns": {}, "promises": [], "prepare": [], "method": None}
    with gathered.one():
        found["source"] = _source(table.get("source", {}), beside)
    for name, entry in table.get("columns", {}).items():
        with gathered.one():
            found["columns"][name] = _column(name, entry, beside)
    for entry in table.get("promise", []):
        with gathered.one():
            found["promises"].append(_made(registry.promise_from, registry.model, entry, beside))
    for entry in table.get("prepare", []):
        with gathered.one():
            found["prepare"].append(registry.stage_from(entry))
    with gathered.one():
        if "method" in table:
            found["method"] = _made(registry.method_from, registry.method, table["method"], beside)
    with gathered.one():
        found["release"] = _dataclass(Output, "[release]", table.get("release", {}))
    with gathered.one():
        found["jointly"] = flag(table.get("jointly", False), "jointly")
    gathered.settle()
    return found


def _known(where: str, table: Mapping[str, Any], names: Sequence[str]) -> None:
    if not isinstance(table, Mapping):
        raise JobError(f"{where} must be a table.")
    for name in table:
        if name not in names:
            raise JobError(f"{where}: {name!r} is not known.", attempt=suggest(name, names))


def _dataclass(kind: type, where: str, table: Mapping[str, Any]) -> Any:
    _known(where, table, [f.name for f in fields(kind)])
    return kind(**table)


def _source(table: Mapping[str, Any], beside: Path | None) -> Source:
    source: Source = _dataclass(Source, "[source]", table)
    return replace(source, path=located(source.path, beside)) if source.path else source


def _column(name: str, table: Any, beside: Path | None) -> Column:
    if isinstance(table, str):
        table = {"role": table}
    _known(f"column {name!r}", table, [f.name for f in fields(Column)])
    if "role" not in table:
        raise JobError(
            f"Column {name!r} has no role.",
            attempt='role = "quasi-identifying", "sensitive", "identifying" or "insensitive".',
        )
    try:
        column = Column(**table)
    except JobError as error:
        raise JobError(f"Column {name!r}: {error.what}", why=error.why, attempt=error.attempt) from None
    if isinstance(column.hierarchy, str):
        column = replace(column, hierarchy=located(column.hierarchy, beside))
    return column


def _made(make: Callable[[Any], Any], kind: Callable[[str], Any], entry: Any, beside: Path | None) -> Any:
    """A promise or method, the paths that it names (`paths` of its class) lying beside the job file."""
    if not isinstance(entry, Mapping):
        return make(entry)
    name = entry.get("model", entry.get("name"))
    paths = getattr(kind(name), "paths", ()) if isinstance(name, str) else ()
    for path in paths:
        field, _, key = path.partition(".")
        if field in entry:
            entry = {**entry, field: lying_beside(entry[field], key, beside)}
    return make(entry)


def _set_fields(value: Any) -> dict[str, Any]:
    """Fields that differ from their default."""
    return {
        f.name: getattr(value, f.name)
        for f in fields(value)
        if getattr(value, f.name) is not None and getattr(value, f.name) != f.default
    }


def _column_dict(column: Column) -> dict[str, Any]:
    found = {key: list(value) if isinstance(value, tuple) else value for key, value in _set_fields(column).items()}
    found["role"] = column.role.value
    if "hierarchy" in found and not isinstance(found["hierarchy"], str | Mapping):
        from reticent.table.hierarchy import Hierarchy

        found["hierarchy"] = Hierarchy.of(found["hierarchy"]).rows()
    return found
