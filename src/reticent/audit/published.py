"""What is audited: a release folder as its recipient has it, or a plain table made by another tool.

Both become one `Published`: the rows, a manifest entry for each column, and what was promised.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.errors import BundleDamaged, ColumnError, HierarchyError
from reticent.release import bundle
from reticent.release.generalized import count_data, read_data
from reticent.release.reading.scale import Unreadable, scale
from reticent.table.hierarchy import Hierarchy
from reticent.table.roles import Column, Role, resolve
from reticent.table.source import Source, collect, scan

_CANONICAL = r"^-?(0|[1-9]\d*)(\.\d+)?$"


@dataclass(frozen=True, eq=False)
class Published:
    """`frame` holds the rows, or each distinct row once with `times` saying how often it is published.

    `foreign` is True for a table that some other tool made: its labels are read more leniently, nothing vouches for its files.
    """

    kind: str
    frame: pl.DataFrame
    columns: list[dict[str, Any]]
    promises: list[dict[str, Any]]
    withheld: int = 0
    jointly: bool = False
    weights: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    manifest: Mapping[str, Any] | None = None
    foreign: bool = False
    rows_per_person: int = 1
    times: np.ndarray | None = None

    @property
    def rows(self) -> int:
        return len(self.frame) if self.times is None else int(self.times.sum())

    def named(self, role: Role) -> list[dict[str, Any]]:
        return [column for column in self.columns if column["role"] == role]


def open_folder(folder: str | Path, expect_digest: str | None = None, *, each_row: bool = True) -> Published:
    """A complete, undamaged release; anything else is refused.  Without `each_row`, distinct rows are enough."""
    folder = Path(folder)
    _check_shape(bundle.read_manifest(folder), folder)
    manifest = bundle.verify(folder, expect_digest)
    if manifest["kind"] != "generalized":
        raise BundleDamaged(f"The release kind {manifest['kind']!r} cannot be audited by this version.")
    times = None
    try:
        if each_row:
            frame = read_data(folder / manifest["data"][0], manifest["columns"])
        else:
            frame, times = count_data(folder / manifest["data"][0], manifest["columns"])
    except BundleDamaged:
        raise
    except Exception:  # the libraries' messages quote values
        raise BundleDamaged(f"{manifest['data'][0]} does not hold what its manifest says.",
                            why="A column has values of another type.") from None  # fmt: skip
    rows = len(frame) if times is None else int(times.sum())
    if rows != manifest["rows"]:
        raise BundleDamaged(f"The data has {rows} rows, the manifest says {manifest['rows']}.")
    if not rows:
        raise BundleDamaged("The release has no rows.")
    return Published("generalized", frame, manifest["columns"], manifest["promises"], manifest["withheld"], manifest["jointly"],
                     manifest.get("weights", {}), folder, manifest, rows_per_person=manifest.get("rows_per_person", 1), times=times)  # fmt: skip


def _check_shape(manifest: Mapping[str, Any], folder: Path) -> None:
    """The fields have the types the format gives them, so that nothing below stumbles over a forged one."""
    wanted = {
        "rows": int,
        "withheld": int,
        "columns": list,
        "promises": list,
        "jointly": bool,
        "files": dict,
        "data": list,
        "method": dict,
    }
    faults = [f"{name!r} is no {kind.__name__}" for name, kind in wanted.items()
              if not isinstance(manifest[name], kind) or (kind is int and (isinstance(manifest[name], bool) or manifest[name] < 0))]  # fmt: skip
    if not faults:
        faults += [
            f"column {at + 1} is not described"
            for at, column in enumerate(manifest["columns"])
            if not _described(column)
        ]
        faults += [f"promise {at + 1} names no model" for at, promise in enumerate(manifest["promises"])
                   if not isinstance(promise, dict) or not isinstance(promise.get("model"), str)]  # fmt: skip
        faults += [f"file {at + 1} has no checksum" for at, (name, facts) in enumerate(manifest["files"].items())
                   if Path(name).name != name or not isinstance(facts, dict) or not {"sha256", "bytes"} <= set(facts)]  # fmt: skip
        each = manifest.get("rows_per_person", 1)
        if isinstance(each, bool) or not isinstance(each, int) or each < 1:
            faults.append("'rows_per_person' is no number of rows")
        if len(manifest["data"]) != 1 or manifest["data"][0] not in manifest["files"]:
            faults.append("'data' names no file of the release")
        names = [column.get("name") for column in manifest["columns"] if isinstance(column, dict)]
        if len(set(names)) != len(names):
            faults.append("a column is described twice")
    if faults:
        raise BundleDamaged(
            f"The manifest of {folder} is not as format {bundle.FORMAT} has it.", why="; ".join(faults) + "."
        )


def _described(column: Any) -> bool:
    if not isinstance(column, dict) or not all(
        isinstance(column.get(key), str) for key in ("name", "role", "type", "dtype")
    ):
        return False
    if column["role"] not in (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE):
        return False
    if "hierarchy" in column:
        try:
            Hierarchy.of(column["hierarchy"])
        except (HierarchyError, TypeError):
            return False
    return column["type"] != "ordinal" or isinstance(column.get("order"), list)


def open_table(table: Any, columns: Mapping[str, Column], promises: Iterable[Any] = (), *, missing: Sequence[str] = (),
               jointly: bool = False) -> Published:  # fmt: skip
    """A plain CSV or Parquet file, or a frame, with the roles of its columns; columns without a role are left aside."""
    given = isinstance(table, str | Path)
    source = Source(path=str(table) if given else None, missing=tuple(missing))
    lazy = scan(source, None if given else table)
    present = lazy.collect_schema().names()
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
    frame = collect(lazy.select(list(roles)), "Reading the table")
    if not len(frame):
        raise ColumnError("The table has no rows.", attempt="a table with rows.")
    frame = frame.with_columns(
        pl.col(name).cast(pl.String) for name, column in roles.items() if column.role is Role.QUASI
    )
    entries = [describe_column(name, column, frame[name]) for name, column in roles.items()]
    each = max((column.rows_per_person or 1 for column in columns.values()), default=1)
    return Published("generalized", frame, entries, [describe_promise(promise) for promise in promises], jointly=jointly,
                     path=Path(table) if given else None, foreign=True, rows_per_person=each)  # fmt: skip


def describe_column(name: str, column: Column, series: pl.Series) -> dict[str, Any]:
    """A manifest entry for a column of a plain table: as declared, and otherwise as its values read."""
    entry: dict[str, Any] = {
        "name": name,
        "role": column.role.value,
        "dtype": str(series.dtype),
        "null": series.null_count() > 0,
    }
    if column.hierarchy is not None:
        entry["hierarchy"] = Hierarchy.of(column.hierarchy, name).rows()
    if column.order is not None:
        entry["order"] = list(column.order)
    if column.domain is not None:
        entry["domain"] = list(column.domain)
    entry |= {name: given for name in ("top", "bottom", "round_to") if (given := getattr(column, name)) is not None}
    entry["type"] = column.type or _guess(series, column)
    return entry


def _guess(series: pl.Series, column: Column) -> str:
    if column.hierarchy is not None:
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
        scale({"name": "", "type": "numeric"}, series.unique().to_list(), foreign=True)
    except Unreadable:
        return "categorical"
    return "numeric"


def describe_promise(promise: Any) -> dict[str, Any]:
    """A promise as a manifest says it: only the fields of a model are read, never what planning makes of them."""
    if is_dataclass(promise) and not isinstance(promise, type):
        given = {f.name: getattr(promise, f.name) for f in fields(promise)}
        return {"model": promise.name, **{name: value for name, value in given.items() if value is not None}}  # type: ignore[attr-defined]
    return dict(promise)
