"""What is audited: a release folder as its recipient has it, or a plain table made by another tool.

Both become one `Subject`: a manifest entry for each column, and what was promised.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import polars as pl

from reticent import catalogue
from reticent.errors import ColumnError, JobError
from reticent.release import bundle
from reticent.release.manifest import ColumnEntry, Described, Manifest, promise_entry
from reticent.release.reading.extent import Unreadable
from reticent.release.reading.scale import scale
from reticent.release.shape import Misshapen
from reticent.table.bounds_given import is_range
from reticent.table.grammar import ANY
from reticent.table.header import refuse_record
from reticent.table.hierarchy import Hierarchy
from reticent.table.roles import Column, Role, resolve
from reticent.table.source import Source, collect, is_text, scan
from reticent.table.source_types import has_types
from reticent.table.supported import PUBLISHED, refuse_nested

_CANONICAL = r"^-?(0|[1-9]\d*)(\.\d+)?$"


@dataclass(frozen=True, eq=False)
class Subject:
    """`foreign` is True for a table that some other tool made: its labels are read more leniently, nothing vouches for its files.

    `frame` is such a table; the files of a release are read by its kind.  What it holds beside the columns with a role is
    treated as carried.
    """

    kind: str
    columns: tuple[ColumnEntry, ...]
    promises: tuple[Described, ...]
    withheld: int = 0
    jointly: bool = False
    weights: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    manifest: Manifest | None = None
    rows_per_person: int = 1
    stages: tuple[Described, ...] = ()
    frame: pl.DataFrame | None = None
    undeclared: pl.DataFrame | None = None  # columns of such a table that no role was given, or that identify

    @property
    def foreign(self) -> bool:
        return self.manifest is None

    def named(self, role: str) -> list[ColumnEntry]:
        return [column for column in self.columns if column.role == role]

    @property
    def quasi(self) -> list[ColumnEntry]:
        return self.named(Role.QUASI)


def of_folder(folder: str | Path, expect_digest: str | None = None, promises: Iterable[Any] = ()) -> Subject:
    """A complete, undamaged release; anything else is refused.  `promises` are judged beside those of the manifest."""
    folder = Path(folder)
    manifest = bundle.verify(folder, expect_digest)
    asked = (*manifest.promises, *(described_promise(promise) for promise in promises))
    return Subject(manifest.kind, manifest.columns, asked, manifest.withheld, manifest.jointly, manifest.weights or {}, folder,
                   manifest, manifest.rows_per_person, manifest.prepare)  # fmt: skip


def of_table(table: Any, columns: Mapping[str, Column], promises: Iterable[Any] = (), *, missing: Sequence[str] = (),
               jointly: bool = False) -> Subject:  # fmt: skip
    """A plain CSV or Parquet file, or a frame, with the roles of its columns; columns without a role are looked at as carried ones."""
    given = isinstance(table, str | Path | Source)
    if isinstance(table, Source):
        source, table = table, table.path
    else:
        source = Source(path=str(table) if given else None, missing=tuple(missing))
    frame_given = None if given else table
    lazy = scan(source, frame_given)
    present = lazy.collect_schema().names()
    if not set(columns) & set(present):
        refuse_record(present, lazy)
    # A job declares columns of its source; what identifies a person is rightly not in what was made of it.
    found = resolve(
        {name: column for name, column in columns.items() if column.role is not Role.IDENTIFYING or name in present},
        present,
        "drop",
    )
    roles = {name: column for name, column in found.items() if column.role is not Role.IDENTIFYING}
    if not any(column.role is Role.QUASI for column in roles.values()):
        raise ColumnError("No column is quasi-identifying.", why="Groups are rows that read the same in those columns.",
                          attempt="quasi=[...], or a job that declares them.")  # fmt: skip
    refuse_nested(lazy.collect_schema(), roles)
    others = [name for name, kind in lazy.collect_schema().items() if name not in roles and isinstance(kind, PUBLISHED)]
    frame = collect(lazy.select(*roles, *others), "Reading the table")
    undeclared, frame = frame.select(others), frame.select(list(roles))
    if not len(frame):
        raise ColumnError("The table has no rows.", attempt="a table with rows.")
    texts = (
        {name for name, dtype in frame.schema.items() if is_text(dtype)} if has_types(source, frame_given) else set()
    )
    frame = frame.with_columns(
        pl.col(name).cast(pl.String) for name, column in roles.items() if column.role is Role.QUASI
    )
    entries = tuple(describe_column(name, column, frame[name], is_text=name in texts) for name, column in roles.items())
    each = max((column.rows_per_person or 1 for column in columns.values()), default=1)
    return Subject(catalogue.PLAIN, entries, tuple(described_promise(promise) for promise in promises), jointly=jointly,
                   path=Path(table) if given and table is not None else None, rows_per_person=each, frame=frame, undeclared=undeclared)  # fmt: skip


def describe_column(name: str, column: Column, series: pl.Series, *, is_text: bool = False) -> ColumnEntry:
    """A manifest entry for a column of a plain table: as declared, and otherwise as its values read.

    `is_text`: the table itself says that the column holds text, as a CSV cannot.
    """
    return ColumnEntry(
        name=name,
        role=column.role.value,
        type=column.type or _guess(series, column, is_text=is_text),
        dtype=str(series.dtype),
        null=series.null_count() > 0,
        hierarchy=None if column.hierarchy is None else Hierarchy.of(column.hierarchy, name).rows(),
        order=None if column.order is None else list(column.order),
        domain=list(column.domain) if column.domain is not None and is_range(column.domain) else None,
        top=column.top,
        bottom=column.bottom,
        round_to=column.round_to,
    )


def _guess(series: pl.Series, column: Column, *, is_text: bool) -> str:
    if column.hierarchy is not None or (is_text and _spells_values(series)):
        return "categorical"
    if column.role is not Role.QUASI:
        if series.dtype.is_numeric():
            return "numeric"
        if series.dtype in (pl.Date, pl.Datetime):
            return "date"
        texts = series.drop_nulls().unique()
        return (
            "numeric"
            if series.dtype == pl.String and len(texts) and texts.str.contains(_CANONICAL).all()
            else "categorical"
        )
    try:
        scale(ColumnEntry(name="", role=Role.QUASI, type="numeric"), series.unique().to_list(), foreign=True)
    except Unreadable:
        return "categorical"
    return "numeric"


def _spells_values(series: pl.Series) -> bool:
    """Whether a text column holds no range: the numbers in it, if there are some, are codes as they were written."""
    texts = series.cast(pl.String).drop_nulls().unique()
    return bool((texts.str.contains(_CANONICAL) | (texts == ANY)).all())


def described_promise(promise: Any) -> Described:
    """A promise as a manifest says it: only the fields of a model are read, never what planning makes of them."""
    if isinstance(promise, Described):
        return promise
    if is_dataclass(promise) and not isinstance(promise, type):
        given = {f.name.removesuffix("_"): getattr(promise, f.name) for f in fields(promise)}
        return Described(promise.name, {name: value for name, value in given.items() if value is not None})  # type: ignore[attr-defined]  # a dataclass of ours that has a name
    try:
        return promise_entry(dict(promise))
    except (Misshapen, TypeError, ValueError) as error:
        raise JobError(
            "A promise to judge cannot be read.", why=f"{error}.", attempt="rt.KAnonymity(5), or its table."
        ) from None
