"""A data file of a release: its rows in one file, or in parts, flat in the folder: `data-00000.parquet`, `data-00001.parquet`, ...

Where rows are cut is a function of how many there are and of the steward's `part_rows`: a file of no more rows is one file,
`data.parquet`; of more rows every part has `part_rows`, and the last one what is left.  So how a release is cut says nothing but
these two numbers, which its manifest states, and any other cutting is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reticent.errors import BundleDamaged, JobError, some

MOST = 10_000  # parts of one file: a manifest has a line for each, and whoever checks opens each
FORMATS = (".parquet", ".csv")
_PART = re.compile(r"(.+)-(\d{5})")


@dataclass(frozen=True, slots=True)
class DataFile:
    """The rows of one table of a release, in the order of `paths` and, in each, of its rows."""

    name: str
    paths: tuple[Path, ...]

    @classmethod
    def of(cls, path: Path) -> DataFile:
        """A file that is not cut."""
        return cls(path.stem, (path,))

    @property
    def suffix(self) -> str:
        return self.paths[0].suffix

    @property
    def shown(self) -> str:
        """Its name in a message."""
        first = self.paths[0].name
        return first if len(self.paths) == 1 else f"{self.name}{self.suffix} (in {len(self.paths):,} parts)"

    @property
    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self.paths)

    def each(self) -> Iterator[DataFile]:
        """Every file that holds rows of it, by itself."""
        return (DataFile(self.name, (path,)) for path in self.paths)


def part_names(name: str, format: str, rows: int, part_rows: int | None) -> list[str]:
    """The files that so many rows are written to."""
    if part_rows is None or rows <= part_rows:
        return [f"{name}.{format}"]
    parts = parts_for(rows, part_rows)
    if parts > MOST:
        raise JobError(
            f"{rows:,} rows would be {parts:,} files with release.part_rows = {part_rows:,}.",
            why=f"A data file has at most {MOST:,} parts.",
            attempt=f"part_rows = {-(-rows // MOST):,} or more.",
        )
    return [f"{name}-{part:05d}.{format}" for part in range(parts)]


def parts_for(rows: int, part_rows: int) -> int:
    return max(-(-rows // part_rows), 1)


def grouped(data: Sequence[str]) -> dict[str, list[str]]:
    """The files that a manifest lists, by the table whose rows they hold."""
    found: dict[str, list[str]] = {}
    for file in data:
        stem = Path(file).stem
        part = _PART.fullmatch(stem)
        found.setdefault(stem if part is None else part[1], []).append(file)
    return found


def pattern(files: Sequence[str]) -> str:
    """The files of one table as a reader names them: one by its name, parts by a pattern."""
    return files[0] if len(files) == 1 else _PART.sub(r"\1-*", Path(files[0]).stem) + Path(files[0]).suffix


def named(data: Sequence[str], wanted: Sequence[str]) -> dict[str, tuple[str, ...]] | None:
    """The files of each table that a manifest lists, in this order; None where it lists others, or lists them otherwise."""
    found = grouped(data)
    suffixes = {Path(file).suffix for file in data}
    if list(found) != list(wanted) or len(suffixes) != 1 or not suffixes <= set(FORMATS):
        return None
    end = suffixes.pop()
    for name, files in found.items():
        cut = [f"{name}-{part:05d}{end}" for part in range(len(files))]
        if files != [f"{name}{end}"] and (not 2 <= len(files) <= MOST or files != cut):
            return None
    in_order = [file for files in found.values() for file in files]
    return {name: tuple(files) for name, files in found.items()} if in_order == list(data) else None


def refuse_other_cut(files: dict[str, tuple[str, ...]], rows: int, part_rows: int | None) -> None:
    """Refuse a manifest whose files are not those that its first table's rows, and its `part_rows`, are written to."""
    first, *others = files.values()
    right = len(first) == (1 if part_rows is None else parts_for(rows, part_rows))
    cut = any(len(names) > 1 for names in (first, *others))
    if not right or cut != (part_rows is not None):
        stated = "says nothing of parts" if part_rows is None else f"says that parts have {part_rows:,} rows"
        raise BundleDamaged(
            "The release is not cut as its manifest says.",
            why=f"It {stated}, and lists {some(len(first), 'file')} for {some(rows, 'row')}.",
            attempt="getting the folder again from its publisher.",
        )
