"""What is audited: a release folder as its recipient has it, or a plain table made by another tool.

Both become one `Subject`: a manifest entry for each column, and the promises. A folder is untrusted: everything that is
known to be forged is refused by name where it is read. Where recounting the files still fails, no release was recounted
and none may pass: `translate_read_errors` turns the error into one `BundleDamaged`, which also states that it may be a
bug of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import polars as pl

from reticent import catalogue
from reticent.catalogue.about_fields import ABOUT_FIELDS
from reticent.data.columns import (
    PUBLISHABLE_TYPES,
    Column,
    Role,
    has_types,
    is_numeric_range,
    require_no_nested,
    resolve_columns,
)
from reticent.data.csv import require_header
from reticent.data.declared_hierarchy import is_built_from_values, read_declared_hierarchy
from reticent.data.label_grammar import ANY_LABEL
from reticent.data.source import Source, collect_frame, is_text, scan_source
from reticent.errors import BundleDamaged, ColumnError, JobError, OutOfMemory
from reticent.format.manifest import ColumnEntry, ComponentEntry, Manifest, parse_promise
from reticent.format.schema_checks import MisshapenValue
from reticent.labels.scale import UnreadableLabel, make_scale
from reticent.memory import is_memory_error
from reticent.release import bundle

READ_ERRORS = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, pl.exceptions.PolarsError)
BANDED_TYPES = {"intervals": "numeric", "edges": "numeric", "quantiles": "numeric", "dates": "date"}  # by builder
UNCOUNTED_MESSAGE = "The files of this release cannot be recounted"
_CANONICAL_NUMBER_PATTERN = r"^-?(0|[1-9]\d*)(\.\d+)?$"


@dataclass(frozen=True, eq=False)
class Subject:
    """What is audited: the columns, promises and stages of a release folder or of a table that another tool made.

    A table of another tool is `foreign`: its labels are read more leniently, and nothing vouches for its files. `frame`
    is that table; the files of a release are read by its kind. `undeclared` are its columns without a role, and those
    that identify: they are treated as carried.
    """

    kind: str
    columns: tuple[ColumnEntry, ...]
    promises: tuple[ComponentEntry, ...]
    withheld: int = 0
    jointly: bool = False
    weights: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    manifest: Manifest | None = None
    rows_per_person: int = 1
    stages: tuple[ComponentEntry, ...] = ()
    frame: pl.DataFrame | None = None
    undeclared: pl.DataFrame | None = None

    @property
    def foreign(self) -> bool:
        return self.manifest is None

    @property
    def about(self) -> Mapping[str, Any]:
        """What the publisher says of the release; empty where nothing is said."""
        said = {} if self.manifest is None else self.manifest.about or {}
        return {name: said[name] for name in ABOUT_FIELDS if name in said}

    def find_columns_with_role(self, role: str) -> list[ColumnEntry]:
        return [column for column in self.columns if column.role == role]

    @property
    def quasi(self) -> list[ColumnEntry]:
        return self.find_columns_with_role(Role.QUASI)

    @property
    def complete(self) -> list[str]:
        """The columns of which rows without a value are stated to be withheld."""
        return [column.name for column in self.columns if column.missing == "withhold"]

    @property
    def withheld_missing(self) -> int:
        """The number of rows that are stated to be withheld because a value is missing."""
        return 0 if self.manifest is None else self.manifest.withheld_missing

    @property
    def withheld_surplus(self) -> int:
        """The number of rows that are stated to be withheld because their person has too many."""
        return 0 if self.manifest is None else self.manifest.withheld_surplus

    @property
    def withheld_later(self) -> int:
        """The number of rows that the method or a stage withheld, as far as is stated."""
        return self.withheld - self.withheld_missing - self.withheld_surplus


def read_folder_subject(folder: str | Path, expect_digest: str | None = None, promises: Iterable[Any] = ()) -> Subject:
    """Read a complete, undamaged release; refuse anything else. `promises` are judged beside those of the manifest."""
    folder = Path(folder)
    return make_folder_subject(folder, bundle.verify_bundle(folder, expect_digest), promises)


def make_folder_subject(folder: Path, manifest: Manifest, promises: Iterable[Any] = ()) -> Subject:
    """Make the subject of a release whose manifest was verified against its folder."""
    return Subject(
        kind=manifest.kind,
        columns=manifest.columns,
        promises=(*manifest.promises, *(describe_promise(promise) for promise in promises)),
        withheld=manifest.withheld,
        jointly=manifest.jointly,
        weights=manifest.weights or {},
        path=folder,
        manifest=manifest,
        rows_per_person=manifest.rows_per_person,
        stages=manifest.prepare,
    )


def read_table_subject(
    table: Any,
    columns: Mapping[str, Column],
    promises: Iterable[Any] = (),
    *,
    missing: Sequence[str] = (),
    jointly: bool = False,
) -> Subject:
    """Read a plain CSV or Parquet file, or a frame, with the roles of its columns.

    Columns without a role are treated as carried ones.
    """
    if isinstance(table, Source):
        source = table
        path = Path(table.path) if table.path is not None else None
        frame_in_memory = None
    elif isinstance(table, str | Path):
        source = Source(path=str(table), missing=tuple(missing))
        path = Path(table)
        frame_in_memory = None
    else:
        source = Source(missing=tuple(missing))
        path = None
        frame_in_memory = table
    lazy = scan_source(source, frame_in_memory)
    roles = _resolve_roles(columns, lazy)
    schema = lazy.collect_schema()
    require_no_nested(schema, roles)
    others = [name for name, dtype in schema.items() if name not in roles and isinstance(dtype, PUBLISHABLE_TYPES)]
    rows = collect_frame(lazy.select(*roles, *others), "Reading the table")
    if not len(rows):
        raise ColumnError("The table has no rows.", attempt="a table with rows.")
    frame = rows.select(list(roles))
    text_columns = set()
    if has_types(source, frame_in_memory):
        text_columns = {name for name, dtype in frame.schema.items() if is_text(dtype)}
    frame = frame.with_columns(
        pl.col(name).cast(pl.String) for name, column in roles.items() if column.role is Role.QUASI
    )
    return Subject(
        kind=catalogue.PLAIN_TABLE_KIND,
        columns=tuple(
            describe_column(name, column, frame[name], is_text=name in text_columns) for name, column in roles.items()
        ),
        promises=tuple(describe_promise(promise) for promise in promises),
        jointly=jointly,
        path=path,
        rows_per_person=max((column.rows_per_person or 1 for column in columns.values()), default=1),
        frame=frame,
        undeclared=rows.select(others),
    )


def describe_column(name: str, column: Column, series: pl.Series, *, is_text: bool = False) -> ColumnEntry:
    """Make a manifest entry for a column of a plain table: as declared, and otherwise as its values can be read.

    `is_text`: the table itself types the column as text, which a CSV cannot do.
    """
    is_built = is_built_from_values(column.hierarchy)
    kind = column.type or _guess_type(series, column, is_text=is_text)
    # What is built from values is built from those of the source, which this table need not have; bands are read as ranges.
    built = dict(column.hierarchy) if is_built and kind == "categorical" else None
    given = None if column.hierarchy is None or is_built else read_declared_hierarchy(column.hierarchy, name)
    return ColumnEntry(
        name=name,
        role=column.role.value,
        type=kind,
        dtype=str(series.dtype),
        null=series.null_count() > 0,
        hierarchy=None if given is None else given.rows(),
        built=built,
        order=None if column.order is None else list(column.order),
        domain=list(column.domain) if column.domain is not None and is_numeric_range(column.domain) else None,
        top=column.top,
        bottom=column.bottom,
        round_to=column.round_to,
    )


def describe_promise(promise: Any) -> ComponentEntry:
    """Describe a promise as a manifest does: only the fields of a model are read, never what planning makes of them."""
    if isinstance(promise, ComponentEntry):
        return promise
    if is_dataclass(promise) and not isinstance(promise, type):
        parameters = {f.name.removesuffix("_"): getattr(promise, f.name) for f in fields(promise)}
        return ComponentEntry(promise.name, {name: value for name, value in parameters.items() if value is not None})  # type: ignore[attr-defined]  # a dataclass of ours that has a name
    try:
        return parse_promise(dict(promise))
    except (MisshapenValue, TypeError, ValueError) as error:
        raise JobError(
            "A promise to judge cannot be read.", why=f"{error}.", attempt="rt.KAnonymity(5), or its table."
        ) from None


@contextmanager
def translate_read_errors(subject: Subject, *, staged: bool) -> Iterator[None]:
    """Turn unexpected errors of a block that reads nothing but the folder into `BundleDamaged`.

    Errors on a release that `publish` has just written (`staged`) are our own and are raised as they are.
    """
    try:
        yield
    except BaseException as error:
        panic = type(error).__name__ == "PanicException"  # Polars raises it, and it is no Exception
        if is_memory_error(error):
            raise OutOfMemory from None  # no fault of the folder
        if subject.foreign or staged or not (panic or isinstance(error, READ_ERRORS)):
            raise
        raise BundleDamaged(
            f"{UNCOUNTED_MESSAGE} ({type(error).__name__}).",
            why="They hold what no release of this kind holds, or this is a bug of ours.",
            attempt="getting the folder again from its publisher; if it is as published, reporting this.",
        ) from None


def _resolve_roles(columns: Mapping[str, Column], lazy: pl.LazyFrame) -> dict[str, Column]:
    """Resolve the declared columns that a plain table has, but for those that identify a person.

    A job declares columns of its source; what identifies a person is rightly not in what was made of it.
    """
    present = lazy.collect_schema().names()
    if not set(columns) & set(present):
        require_header(present, lazy)
    expected = {
        name: column for name, column in columns.items() if column.role is not Role.IDENTIFYING or name in present
    }
    resolved = resolve_columns(expected, present, "drop")
    roles = {name: column for name, column in resolved.items() if column.role is not Role.IDENTIFYING}
    if not any(column.role is Role.QUASI for column in roles.values()):
        raise ColumnError(
            "No column is quasi-identifying.",
            why="Groups are rows that read the same in those columns.",
            attempt="quasi=[...], or a job that declares them.",
        )
    return roles


def _guess_type(series: pl.Series, column: Column, *, is_text: bool) -> str:
    """Guess the type of a column that declares none: of a quasi-identifier by whether its labels read as numbers."""
    if is_built_from_values(column.hierarchy):
        kind = BANDED_TYPES.get(column.hierarchy.get("build", ""))
        return kind if kind is not None and _can_read(kind, series) else "categorical"
    if column.hierarchy is not None or (is_text and _spells_values(series)):
        return "categorical"
    if column.role is not Role.QUASI:
        if series.dtype.is_numeric():
            return "numeric"
        if series.dtype in (pl.Date, pl.Datetime):
            return "date"
        texts = series.drop_nulls().unique()
        is_number = series.dtype == pl.String and len(texts) and texts.str.contains(_CANONICAL_NUMBER_PATTERN).all()
        return "numeric" if is_number else "categorical"
    return "numeric" if _can_read("numeric", series) else "categorical"


def _can_read(kind: str, labels: pl.Series) -> bool:
    """Whether all labels read as values or ranges of numbers or dates."""
    try:
        make_scale(
            ColumnEntry(name="", role=Role.QUASI, type=kind), labels.cast(pl.String).unique().to_list(), foreign=True
        )
    except UnreadableLabel:
        return False
    return True


def _spells_values(series: pl.Series) -> bool:
    """Whether a text column holds no range: the numbers in it, if there are some, are codes as they were written."""
    texts = series.cast(pl.String).drop_nulls().unique()
    return bool((texts.str.contains(_CANONICAL_NUMBER_PATTERN) | (texts == ANY_LABEL)).all())
