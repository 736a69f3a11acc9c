"""The job: the one request that API, command line and studio share, and its conversion to TOML.

Beside objects of ours a `Job` accepts in Python names, tables as in a job file, and a single object where a list is
expected (`resolve_source`, `resolve_promises`, `resolve_method`, `resolve_stages`):

    rt.Job(columns={"age": "quasi-identifying", "d": "sensitive"}, promises=rt.KAnonymity(5), method="mosaic")

Anything else is refused with what to write instead. `dump_toml` writes the small part of TOML that a job needs; the
standard library only reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent import catalogue, html_repr, registry, validation
from reticent.catalogue import JOB_TABLES
from reticent.catalogue.choices import FileFormat, FormulaChoice, UndeclaredChoice
from reticent.catalogue.job_fields import SOURCE_FIELDS
from reticent.data.columns import Column, parse_columns
from reticent.data.source import Source, with_spellings
from reticent.data.spellings import collect_spellings
from reticent.errors import JobError, suggest
from reticent.job.description import About, resolve_about
from reticent.models.promise import Promises
from reticent.models.rational_bounds import Number
from reticent.plugins import is_plugin_name, load_plugin_if_named, require_loaded_class
from reticent.redaction import redact
from reticent.validation import (
    check_parameters,
    describe_type,
    document_parameters,
    flag,
    is_output,
    optional,
    path_or_table,
    promises,
    require_known_options,
    validate_arguments,
)

if TYPE_CHECKING:
    from reticent.methods.base import Method, Stage
    from reticent.models.promise import Promise

PASSWORD_COMMENT = """\
# The URL's password is left out.  Give it by PGPASSWORD, PGPASSFILE or a service file (PGSERVICEFILE), or write
# url = "postgresql://user:${NAME}@host/database" and set the environment variable NAME.
"""
_UNSET: Any = None  # what is left out is filled in when the job is made


@document_parameters(JOB_TABLES["release"])
@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """How to publish: what becomes of undeclared columns, the file format, how many rows may be withheld, and how much may be lost."""

    undeclared: str = "refuse"
    format: str = "parquet"
    suppress_at_most: Fraction = Fraction(0)
    loss_at_most: Fraction | None = None
    formulas: str = "keep"
    together: Fraction | None = None
    odds_at_most: Fraction | None = None
    part_rows: int | None = None

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self,
            *,
            undeclared: UndeclaredChoice = "refuse",
            format: FileFormat = "parquet",
            suppress_at_most: Number = 0,
            loss_at_most: Number | None = None,
            formulas: FormulaChoice = "keep",
            together: Number | None = None,
            odds_at_most: Number | None = None,
            part_rows: int | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self, row=catalogue.JOB_TABLES["release"], owner="release")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to publish, what to promise, and by which method."""

    source: Source = _UNSET
    columns: Mapping[str, Column]
    promises: Promises
    method: Method = _UNSET
    prepare: tuple[Stage, ...] = ()
    release: Output = field(default_factory=Output)
    about: About | None = None
    jointly: bool = False

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self,
            *,
            source: Source | str | Path | None = None,
            columns: Mapping[str, Column | str],
            promises: Promise | Iterable[Promise],
            method: Method | str | None = None,
            prepare: Stage | Iterable[Stage] = (),
            release: Output = ...,
            about: About | Mapping[str, Any] | None = None,
            jointly: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", resolve_source(self.source))
        object.__setattr__(self, "columns", parse_columns(self.columns))
        object.__setattr__(self, "source", with_spellings(self.source, collect_spellings(self.columns)))
        object.__setattr__(self, "promises", resolve_promises(self.promises))
        object.__setattr__(self, "prepare", resolve_stages(self.prepare))
        object.__setattr__(self, "method", resolve_method(self.method))
        is_output(self.release, "release")
        object.__setattr__(self, "about", resolve_about(self.about))
        flag(self.jointly, "jointly")
        if not self.columns:
            raise JobError(
                "The job declares no columns.", attempt="a role for each column; `reticent init DATA` drafts one."
            )

    @classmethod
    @validate_arguments(path=validation.path)
    def read(cls, path: str | Path) -> Job:
        """Read a job from a TOML file; relative paths in it are relative to it."""
        from reticent.job.parse import read_job

        return read_job(path)

    @classmethod
    @validate_arguments(beside=optional(validation.path))
    def from_dict(cls, table: Mapping[str, Any], beside: Path | None = None) -> Job:
        """Make a job from the table of a TOML file, each field checked."""
        from reticent.job.parse import parse_job

        return parse_job(table, beside)

    def to_dict(self) -> dict[str, Any]:
        """Return the job as TOML would hold it; frames and built hierarchies as their rows."""
        source: dict[str, Any] = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in _collect_set_fields(self.source).items()
            if name in SOURCE_FIELDS
        }
        if "url" in source:
            source["url"] = redact(source["url"])
        about = {} if self.about is None else {"about": self.about.to_plain()}
        return {
            "source": source,
            "columns": {name: describe_column(column) for name, column in self.columns.items()},
            "jointly": self.jointly,
            "promise": [registry.describe(promise) for promise in self.promises],
            "prepare": [registry.describe(stage) for stage in self.prepare],
            "method": registry.describe(self.method),
            "release": {
                name: registry.convert_to_plain(value) for name, value in _collect_set_fields(self.release).items()
            },
            **about,
        }

    def to_toml(self) -> str:

        text = dump_toml(self.to_dict())
        url = self.source.url
        return text if url is None or redact(url) == url else PASSWORD_COMMENT + text

    def _repr_html_(self) -> str:
        return html_repr.render_job(self)

    def at(self, **changes: Any) -> Job:
        """Return the same job with some parts replaced."""
        require_known_options(changes, [f.name for f in fields(self)], "A job")
        return replace(self, **changes)


def resolve_source(source: Any) -> Source:
    """Return the `Source` of a path or a URL in a text, a `Source`, or None (a frame is passed later)."""
    if isinstance(source, Source):
        return source
    if source is None:
        return Source()
    if isinstance(source, Mapping):
        require_known_options(source, list(SOURCE_FIELDS), "The source")
        return Source(**source)
    if not isinstance(source, str) and not hasattr(source, "__fspath__"):
        attempt = 'source = "data.csv"; a frame is given to rt.publish(job, frame=...).'
        raise JobError(f"source must be a path; it is {describe_type(source)}.", attempt=attempt)
    if "://" in str(source):
        return Source(url=str(source))
    return Source(path=str(path_or_table(source, "source")))


def resolve_promises(value: Any) -> Promises:
    """Return one promise or several, each an object or its table in a job file."""
    if isinstance(value, Promises):
        return value
    entries = promises(value, "promises")
    made = [
        _make_promise(entry) if isinstance(entry, Mapping) else _check_plugin("promises", entry) for entry in entries
    ]
    return Promises.from_iterable(made)


def resolve_method(method: Any) -> Any:
    """Return a method, given the method, its name, or its table in a job file."""
    if method is None:
        return registry.load_method_class("mondrian")()
    if isinstance(method, str | Mapping):
        load_plugin_if_named("methods", method.get("name") if isinstance(method, Mapping) else method)
        return registry.make_method(method)
    _require_verb(method, "method", "plan", catalogue.METHODS, 'method = "mosaic", or rt.Mosaic().')
    return _check_plugin("methods", method)


def resolve_stages(stages: Any) -> tuple[Any, ...]:
    """Return preparing stages; a single one may be passed without a list."""
    is_single = isinstance(stages, str | Mapping) or not isinstance(stages, Iterable)
    entries = [stages] if is_single else list(stages)
    return tuple(map(_resolve_stage, entries))


def dump_toml(table: Mapping[str, Any]) -> str:
    """Write top-level values, then [tables] of inline values, then [[lists of tables]]."""
    lines = [
        f"{format_toml_key(name)} = {format_toml_value(value)}"
        for name, value in table.items()
        if not isinstance(value, Mapping) and not _is_list_of_tables(value) and value != []
    ]
    for name, value in table.items():
        if isinstance(value, Mapping) and value:
            lines += [
                "",
                f"[{format_toml_key(name)}]",
                *(
                    f"{format_toml_key(key)} = {format_toml_value(entry)}"
                    for key, entry in value.items()
                    if entry is not None
                ),
            ]
        elif _is_list_of_tables(value):
            for entry in value:
                lines += [
                    "",
                    f"[[{format_toml_key(name)}]]",
                    *(
                        f"{format_toml_key(key)} = {format_toml_value(item)}"
                        for key, item in entry.items()
                        if item is not None
                    ),
                ]
    return "\n".join(lines).lstrip("\n") + "\n"


def format_toml_key(name: str) -> str:
    plain = name and all(mark.isascii() and (mark.isalnum() or mark in "-_") for mark in name)
    return name if plain else _quote_toml(name)


def format_toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quote_toml(value)
    if isinstance(value, Mapping):
        return (
            "{ "
            + ", ".join(f"{format_toml_key(key)} = {format_toml_value(entry)}" for key, entry in value.items())
            + " }"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(format_toml_value(entry) for entry in value) + "]"
    if isinstance(value, Fraction) and value != int(value):
        return json.dumps(str(value))
    return str(value)


def format_column(name: str, column: Column) -> str:
    """Format the line that declares a column in the [columns] of a job file."""
    table = describe_column(column)
    return f"{format_toml_key(name)} = {format_toml_value({'role': table.pop('role'), **table})}"


def describe_column(column: Column) -> dict[str, Any]:
    """Return the table of a column as a job file has it, without unset options."""
    table = {
        key: list(value) if isinstance(value, tuple) else value for key, value in _collect_set_fields(column).items()
    }
    table["role"] = column.role.value
    if column.labels is not None:
        table["labels"] = column.labels.to_plain()
    if "hierarchy" in table and not isinstance(table["hierarchy"], str | Mapping):
        from reticent.data.hierarchy import Hierarchy

        table["hierarchy"] = Hierarchy.of(table["hierarchy"]).rows()
    return table


def _collect_set_fields(value: Any) -> dict[str, Any]:
    """Collect the fields that differ from their default."""
    return {
        f.name: getattr(value, f.name)
        for f in fields(value)
        if getattr(value, f.name) is not None and getattr(value, f.name) != f.default
    }


def _require_verb(value: Any, name: str, verb: str, known: Iterable[str], attempt: str) -> None:
    """Refuse an object without this method, and a class where an object is expected."""
    if isinstance(value, type) and callable(getattr(value, verb, None)):
        raise JobError(f"{name} is the class {value.__name__} itself.", attempt=f"rt.{value.__name__}(...).")
    if isinstance(value, type) or not callable(getattr(value, verb, None)) or not hasattr(value, "name"):
        names = suggest("", known)
        raise JobError(f"{name} must be {names[:-1]}; it is {describe_type(value)}.", attempt=attempt)


def _make_promise(entry: Mapping[str, Any]) -> Promise:
    load_plugin_if_named("promises", entry.get("model"))
    return registry.make_promise(entry)


def _check_plugin(group: str, thing: Any) -> Any:
    """Return a promise or method as it is; one of a plugin once its plugin is loaded and its parameters are checked."""
    if is_plugin_name(getattr(thing, "name", None)):
        require_loaded_class(group, thing)
        check_parameters(thing)
    return thing


def _resolve_stage(stage: Any) -> Any:
    if isinstance(stage, str | Mapping):
        return registry.make_stage({"name": stage} if isinstance(stage, str) else stage)
    _require_verb(stage, "prepare", "prepare", catalogue.STAGES, "prepare = [rt.Suppression(l=3)].")
    return stage


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


def _quote_toml(text: str) -> str:
    """Quote a text.  JSON's escapes are TOML's, but JSON does not escape DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
