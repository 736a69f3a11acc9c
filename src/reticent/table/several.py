"""A source of several files: a folder of Parquet files, with or without hive partitions, a pattern such as `day-*.csv`.

Files stand in the order of their names.  All must have the same columns of the same types: a file that lacks one is refused by
its name.  What begins with `_` or `.` is not data, as Spark and its kin leave it beside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path

import polars as pl

from reticent.errors import SourceError, SourceUnreachable, listed
from reticent.table.opened import suffix_of

CSV, PARQUET, ARROW = {".csv", ".tsv", ".txt", ".data"}, {".parquet", ".pq"}, {".arrow", ".feather", ".ipc"}
_PATTERN = "*?["
_CODE = re.compile(r"=[+-]?0\d+(\.\d+)?$")


@dataclass(frozen=True)
class Files:
    """The files of a source, all of one kind; of a folder, its `root`.

    `keys`: the columns whose values are said by folders between the root and each file, as Hive lays them out.
    """

    paths: tuple[Path, ...]
    root: Path | None = None
    keys: tuple[str, ...] = ()

    @property
    def codes(self) -> set[str]:
        """Those of the keys that some folder says with a zero before other digits: codes, as they are in a CSV, and no numbers."""
        parts = {part for path in self.paths if self.keys for part in _below(path, self.root or path.parent)[:-1]}
        return {_key(part) for part in parts if _CODE.search(part)}

    @property
    def suffix(self) -> str:
        return suffix_of(self.paths[0])


def files_of(name: str) -> Files:
    """The files that a source's path names."""
    path = Path(name)
    if path.is_dir():
        return _together(path, sorted(found for found in path.rglob("*") if found.is_file()), path)
    if path.is_file():
        return Files((path,))
    if path.exists():
        raise SourceError(
            f"{path} is no regular file.", why="A pipe or a device cannot be read twice, and may never end.",
            attempt="what it gives, saved to a file.",
        )  # fmt: skip
    if any(mark in name for mark in _PATTERN):
        return _together(path, sorted({found for one in glob(name, recursive=True) if (found := Path(one)).is_file()}))
    raise SourceUnreachable(
        f"There is no file {path}.", attempt="a path relative to the working directory or to the job file."
    )


def _together(path: Path, found: Iterable[Path], root: Path | None = None) -> Files:
    spelled = set() if root else {part for part in path.parts if not any(mark in part for mark in _PATTERN)}
    paths = tuple(
        one for one in found if not any(part.startswith(("_", ".")) for part in _unspelled(one, root, spelled))
    )
    kinds = {_kind(one) for one in paths}
    if not paths or kinds == {""}:
        what = f"{path} is a folder and holds" if root else f"The pattern {path} names"
        nowhere = not root and not paths  # a pattern that names nothing is as a file that is not there
        raise (SourceUnreachable if nowhere else SourceError)(
            f"{what} no Parquet, Arrow or CSV file.", attempt="a file, or a folder of Parquet files."
        )
    if len(kinds) > 1:
        raise SourceError(
            f"The files of {path} are not of one kind.", why=f"There are {listed(sorted(one or 'others' for one in kinds))}.",
            attempt="a pattern that names some of them, such as *.parquet.",
        )  # fmt: skip
    return Files(paths, root, _keys(path, paths, root) if root is not None and kinds == {"Parquet"} else ())


def _keys(path: Path, paths: Sequence[Path], root: Path) -> tuple[str, ...]:
    """The columns that folders say, which must be the same for every file: rows of the others would have no value, or be lost."""
    said = {tuple(_key(part) for part in _below(one, root)[:-1] if "=" in part) for one in paths}
    if len(said) > 1:
        known = sorted({name for keys in said for name in keys})
        raise SourceError(
            f"Some files of {path} are in folders that say a value of {listed(known)}, and some are not.",
            attempt="all files in folders of the same columns, or a pattern that names some of them.",
        )
    return said.pop()


def _key(part: str) -> str:
    return part.split("=", 1)[0]


def refuse_above(root: Path, keys: Sequence[str], columns: Iterable[str]) -> list[str]:
    """Columns that folders above the source say, which are none of it; refused where they would stand for one that is."""
    above = [_key(part) for part in root.parts if "=" in part]
    if taken := [name for name in above if name in {*keys, *columns}]:
        raise SourceError(
            f"{root.name} lies in a folder that says a value of {listed(taken)}, which the source has itself.",
            why="Every row would have the folder's value.",
            attempt="a link to the source from elsewhere, or another place for it.",
        )
    return above


def _below(path: Path, root: Path) -> tuple[str, ...]:
    return path.relative_to(root).parts


def _unspelled(path: Path, root: Path | None, spelled: set[str]) -> tuple[str, ...]:
    """What was found of a path and not asked for by its name."""
    return tuple(part for part in (path.parts if root is None else _below(path, root)) if part not in spelled)


def _kind(path: Path) -> str:
    suffix = suffix_of(path)
    return next((name for name, known in (("CSV", CSV), ("Parquet", PARQUET), ("Arrow", ARROW)) if suffix in known), "")


def refuse_unlike(paths: Sequence[Path], schemas: Sequence[dict[str, pl.DataType]], *, named: bool = False) -> None:
    """All files have the columns of the first, in its order and types.

    `named`: the names are names; those of a CSV may be a record.
    """
    first = schemas[0]
    for path, schema in zip(paths, schemas, strict=True):
        if schema == first and list(schema) == list(first):
            continue
        lacking = [name for name in first if name not in schema]
        more = [name for name in schema if name not in first]
        other = [name for name in schema if name in first and schema[name] != first[name]]
        said = [
            f"{len(names)} {what}" + (f" ({listed(names)})" if named else "")
            for names, what in ((lacking, "lack"), (more, "are more"), (other, "differ"))
            if names
        ]
        raise SourceError(
            f"The file {path.name} has other columns than {paths[0].name}.",
            why=f"Of its columns {', '.join(said) or 'the order differs'}.",
            attempt="files with the same columns and types.",
        )


def scan_parquet(files: Files, above: Sequence[str]) -> pl.LazyFrame:
    """Parquet files, with the columns that their folders say, and those `above` the source; codes are texts."""
    paths = list(files.paths)
    lazy = pl.scan_parquet(paths, hive_partitioning=bool(files.keys), glob=False)
    if codes := files.codes:
        said = {name: kind for name, kind in lazy.collect_schema().items() if name in (*files.keys, *above)}
        types = {**said, **dict.fromkeys(codes, pl.String())}
        lazy = pl.scan_parquet(paths, hive_partitioning=True, hive_schema=types, glob=False)
    return lazy
