"""A source of several files: a folder of Parquet files, with or without hive partitions, a pattern such as `day-*.csv`.

Files stand in the order of their names.  All must have the same columns of the same types: a file that lacks one is refused by
its name.  What begins with `_` or `.` is not data, as Spark and its kin leave it beside.
"""

from __future__ import annotations

import glob as glob_module
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from reticent.errors import SourceError, SourceUnreachable, listed
from reticent.table.opened import suffix_of

CSV, PARQUET, ARROW = {".csv", ".tsv", ".txt", ".data"}, {".parquet", ".pq"}, {".arrow", ".feather", ".ipc"}
_PATTERN = "*?["
_NO_DATA = ("_", ".")
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
        return _together(path, _files_under(path), path)
    if path.is_file():
        return Files((path,))
    if path.exists():
        raise SourceError(
            f"{path} is no regular file.", why="A pipe or a device cannot be read twice, and may never end.",
            attempt="what it gives, saved to a file.",
        )  # fmt: skip
    if any(mark in name for mark in _PATTERN):
        return _together(path, _files_matching(name))
    raise SourceUnreachable(
        f"There is no file {path}.", attempt="a path relative to the working directory or to the job file."
    )


def _files_under(root: Path) -> list[Path]:
    """The files of a folder and of those in it; whatever is no file and no folder is refused, and so are folders that are links."""
    files: list[Path] = []
    for folder, folders, names in os.walk(root, onerror=_refuse_unlisted):
        folders[:] = [name for name in folders if not name.startswith(_NO_DATA)]
        places = [Path(folder, name) for name in (*folders, *names) if not name.startswith(_NO_DATA)]
        for place in places:
            if place.is_file():
                files.append(place)
            elif place.is_symlink() or not place.is_dir() or _is_empty_part(place):
                raise _no_file(place)
    return sorted(files)


def _is_empty_part(folder: Path) -> bool:
    """Whether a folder is called like a file of data and holds nothing."""
    return _kind(folder) != "" and os.access(folder, os.R_OK) and not os.listdir(folder)


def _files_matching(pattern: str) -> list[Path]:
    """The files that a pattern names; whatever else it names is refused, but folders whose files it names too."""
    parts = Path(pattern).parts
    spelled = _spelled(Path(pattern))
    for depth in range(1, len(parts)):  # of a folder that cannot be opened, no file is found
        above = str(Path(*parts[:depth]))
        if glob_module.has_magic(parts[depth - 1]):
            for place in map(Path, glob_module.glob(above, recursive=True)):
                if _is_beside(place, None, spelled):
                    continue
                if place.is_symlink() and not place.exists():
                    raise _no_file(place)
                if place.is_dir():
                    _refuse_unlisted(
                        None if os.access(place, os.R_OK | os.X_OK) else PermissionError(13, "", str(place))
                    )
    found = sorted({Path(place) for place in glob_module.glob(pattern, recursive=True)})
    files = [place for place in found if place.is_file()]
    opened = {folder for file in files for folder in file.parents}
    for place in found:
        if not place.is_file() and place not in opened and not _is_beside(place, None, spelled):
            raise _no_file(place)
    return files


def _refuse_unlisted(error: OSError | None) -> None:
    if error is not None:
        raise SourceUnreachable(
            f"The folder {Path(str(error.filename)).name} among the parts of the source cannot be opened.",
            why="Its rows would be left out.",
            attempt="the right to read it, or a pattern that names the other parts.",
        )


def _no_file(place: Path) -> SourceError:
    """Why something among the parts of a source is none: its rows would be left out without a word."""
    if place.is_symlink() and not place.exists():
        what = f"{place.name} among the parts of the source is a link to nothing."
    elif place.is_symlink():
        what = f"{place.name} among the parts of the source is a link to a folder."
    elif place.is_dir():
        what = f"{place.name} among the parts of the source is a folder."
    else:
        what = f"{place.name} among the parts of the source is no regular file."
    return SourceError(
        what,
        why="Its rows would be left out.",
        attempt="putting the file there, removing it, or a pattern that names the other parts.",
    )


def _together(path: Path, found: Iterable[Path], root: Path | None = None) -> Files:
    spelled = set() if root else _spelled(path)
    paths = tuple(one for one in found if not _is_beside(one, root, spelled))
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


def _spelled(pattern: Path) -> set[str]:
    """The parts of a pattern that are names."""
    return {part for part in pattern.parts if not any(mark in part for mark in _PATTERN)}


def _is_beside(path: Path, root: Path | None, spelled: set[str]) -> bool:
    """Whether something is no data by its name, or by that of a folder it is in."""
    return any(part.startswith(_NO_DATA) for part in _unspelled(path, root, spelled))


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


def damaged(error: BaseException) -> SourceError:
    """What a Parquet or Arrow file is whose header can be read and whose rows cannot."""
    return SourceError(
        f"A Parquet or Arrow file of the source is damaged ({type(error).__name__}).",
        why="Its header can be read, and a part of its rows cannot: it was cut off, or changed since it was written.",
        attempt="copying it again from where it was made, or writing it again.",
    )


def is_fault_of_file(error: BaseException) -> bool:
    """Whether Polars could not read what a file holds; of some it says so in a panic, which is no Exception."""
    return isinstance(error, pl.exceptions.PolarsError | OSError) or type(error).__name__ == "PanicException"
