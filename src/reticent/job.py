"""The job: the one request that API, command line and studio share.  Job <-> TOML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reticent import accepted, notebook, registry
from reticent.door import an_output, door, optional, options
from reticent.door import path as a_path
from reticent.errors import JobError, suggest
from reticent.limits import refuse_small_parts
from reticent.models.exact import Number, exact, flag
from reticent.models.promises import Promises
from reticent.redaction import redacted
from reticent.table.declaring import columns
from reticent.table.roles import Column
from reticent.table.source import Source

if TYPE_CHECKING:
    from reticent.methods.protocols import Method, Stage
    from reticent.models.shapes import Promise

_LATER: Any = None  # what is left out is filled in when the job is made
PASSWORD_LEFT_OUT = """\
# The URL's password is left out.  Give it by PGPASSWORD, PGPASSFILE or a service file (PGSERVICEFILE), or write
# url = "postgresql://user:${NAME}@host/database" and set the environment variable NAME.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """How to publish: what becomes of undeclared columns, the file format, and how many rows may be withheld.

    `formulas` "quote" puts an apostrophe before texts of a CSV that a spreadsheet would take for formulas.
    `part_rows` cuts a data file of more rows into parts of so many: `data-00000.parquet`, `data-00001.parquet`, ...
    `together` is the greatest belief in a value that this release and earlier ones of the same people may leave together.
    """

    undeclared: str = "refuse"
    format: str = "parquet"
    suppress_at_most: Fraction = Fraction(0)
    formulas: str = "keep"
    together: Fraction | None = None
    part_rows: int | None = None

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self, *, undeclared: str = "refuse", format: str = "parquet", suppress_at_most: Number = 0,
            formulas: str = "keep", together: Number | None = None, part_rows: int | None = None,
        ) -> None: ...  # fmt: skip

    def __post_init__(self) -> None:
        for name, known in (
            ("undeclared", ("refuse", "drop")),
            ("format", ("parquet", "csv")),
            ("formulas", ("keep", "quote")),
        ):
            if not isinstance(getattr(self, name), str) or getattr(self, name) not in known:
                raise JobError(
                    f"release.{name} = {getattr(self, name)!r} is not known.",
                    attempt=suggest(str(getattr(self, name)), known),
                )
        if self.formulas == "quote" and self.format != "csv":
            raise JobError(
                'release.formulas = "quote" is for CSV files, which spreadsheets open.',
                attempt='format = "csv", or leaving formulas out.',
            )
        share = exact(self.suppress_at_most, "suppress_at_most")
        if not 0 <= share <= 1:
            raise JobError("suppress_at_most must be a share of the rows.", attempt="a number from 0 to 1.")
        object.__setattr__(self, "suppress_at_most", share)
        if self.together is not None:
            limit = exact(self.together, "together")
            if not 0 < limit <= 1:
                raise JobError("release.together must be a belief.", attempt="a number above 0 and at most 1, as 0.5.")
            object.__setattr__(self, "together", limit)
        if self.part_rows is not None:
            refuse_small_parts(self.part_rows)


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
            columns: Mapping[str, Column | str],
            promises: Promise | Iterable[Promise],
            method: Method | str | None = None,
            prepare: Stage | Iterable[Stage] = (),
            release: Output = ...,
            jointly: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", accepted.source_of(self.source))
        object.__setattr__(self, "columns", columns(self.columns))
        object.__setattr__(self, "promises", accepted.promises_of(self.promises))
        object.__setattr__(self, "prepare", accepted.stages_of(self.prepare))
        object.__setattr__(self, "method", accepted.method_of(self.method))
        an_output(self.release, "release")
        flag(self.jointly, "jointly")
        if not self.columns:
            raise JobError(
                "The job declares no columns.", attempt="a role for each column; `reticent init DATA` drafts one."
            )

    @classmethod
    @door(path=a_path)
    def read(cls, path: str | Path) -> Job:
        """A job from a TOML file; relative paths in it are relative to it."""
        from reticent.job_file import read

        return read(path)

    @classmethod
    @door(beside=optional(a_path))
    def from_dict(cls, table: Mapping[str, Any], beside: Path | None = None) -> Job:
        """A job from what a TOML file says, each field checked."""
        from reticent.job_file import job_of

        return job_of(table, beside)

    def to_dict(self) -> dict[str, Any]:
        """The job as TOML would hold it; frames and built hierarchies as their rows."""
        source: dict[str, Any] = {
            name: list(value) if isinstance(value, tuple) else value for name, value in _set_fields(self.source).items()
        }
        if "url" in source:
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

        text, url = dumps(self.to_dict()), self.source.url
        return text if url is None or redacted(url) == url else PASSWORD_LEFT_OUT + text

    def _repr_html_(self) -> str:
        return notebook.job(self)

    def at(self, **changes: Any) -> Job:
        """The same job with some parts replaced."""
        options(changes, [f.name for f in fields(self)], "A job")
        return replace(self, **changes)


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
    if column.labels is not None:
        found["labels"] = column.labels.plain()
    if "hierarchy" in found and not isinstance(found["hierarchy"], str | Mapping):
        from reticent.table.hierarchy import Hierarchy

        found["hierarchy"] = Hierarchy.of(found["hierarchy"]).rows()
    return found
