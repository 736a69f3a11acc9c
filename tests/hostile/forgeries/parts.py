"""Data files in parts that somebody swapped, left out, doubled, renamed or moved rows between."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import reticent as rt
from reticent.format.data_writer import write_data


def part(folder: Path, number: int) -> Path:
    """A part of the table that people are in."""
    name = "quasi" if any(folder.glob("quasi-*")) else "data"
    return next(iter(folder.glob(f"{name}-00000.*"))).with_stem(f"{name}-{number:05d}")


def exchanged(one: Path, other: Path) -> None:
    held = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(held)


def rows_of(path: Path, folder: Path) -> pl.DataFrame:
    release = rt.open(folder)
    rows = release.manifest.part_rows
    return release.tables[path.stem.partition("-")[0]].slice(int(path.stem[-5:]) * rows, rows)


def last(folder: Path) -> int:
    """The number of the last part."""
    return len(list(folder.glob(f"{part(folder, 0).stem[:-5]}*"))) - 1


def stating(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda stated: stated.update(fields)


def by_rows(folder: Path, change: Callable[[int], int]) -> Callable[[dict[str, Any]], None]:
    """Another number of rows for each part."""
    return lambda stated: stated.update(part_rows=change(stated["part_rows"]))


def emptied(folder: Path) -> None:
    path = part(folder, last(folder))
    write_data(path, rows_of(path, folder).head(0), path.suffix[1:])


def moved(folder: Path) -> None:
    """A row of the second part stands in the first."""
    first = part(folder, 0)
    second = part(folder, 1)
    one = rows_of(first, folder)
    other = rows_of(second, folder)
    write_data(first, pl.concat([one, other.head(1)]), first.suffix[1:])
    write_data(second, other.slice(1), second.suffix[1:])


def renamed_column(folder: Path) -> None:
    path = part(folder, 1)
    write_data(path, rows_of(path, folder).rename({"age": "ages"}), path.suffix[1:])


def other_order_of_columns(folder: Path) -> None:
    path = part(folder, 1)
    frame = rows_of(path, folder)
    write_data(path, frame.select(reversed(frame.columns)), path.suffix[1:])


def listed(change: Callable[[list[str]], list[str]]) -> Callable[[dict[str, Any]], None]:
    def rewrite(stated: dict[str, Any]) -> None:
        stated["data"] = change(stated["data"])

    return rewrite


def without(folder: Path, number: int) -> Callable[[dict[str, Any]], None]:
    gone = part(folder, number)
    gone.unlink()
    return listed(lambda data: [name for name in data if name != gone.name])


def renumbered(folder: Path, number: int, to: str) -> Callable[[dict[str, Any]], None]:
    path = part(folder, number)
    new = path.with_stem(to.format(path.stem.partition("-")[0]))
    path.rename(new)
    return listed(lambda data: [new.name if name == path.name else name for name in data])


def added(folder: Path) -> Callable[[dict[str, Any]], None]:
    at = part(folder, last(folder))
    more = part(folder, last(folder) + 1)
    shutil.copy(part(folder, 0), more)
    return listed(lambda data: [one for name in data for one in ([name, more.name] if name == at.name else [name])])


Forged = Callable[[Path], Any]
CUT = "cut into parts of"
OTHER = "not cut as its manifest says"
GAP = "gap"
COLUMNS = "other columns"
SEALED: dict[str, tuple[Forged, tuple[str, ...]]] = {
    "the first and the last swapped": (lambda f: exchanged(part(f, 0), part(f, last(f))), (CUT,)),
    "the first left out": (lambda f: without(f, 0), (GAP,)),
    "the second left out": (lambda f: without(f, 1), (GAP, OTHER)),
    "the last left out": (lambda f: without(f, last(f)), (GAP, OTHER)),
    "a further one": (added, (OTHER,)),
    "a row too many beside one too few": (moved, (CUT,)),
    "a column by another name": (renamed_column, (COLUMNS,)),
    "columns in another order": (other_order_of_columns, (COLUMNS,)),
    "a gap in the numbers": (lambda f: renumbered(f, 1, "{}-00101"), (GAP,)),
    "a number of four digits": (lambda f: renumbered(f, 1, "{}-0001"), (GAP,)),
    "one without a number": (lambda f: renumbered(f, 0, "{}"), (GAP,)),
    "listed in another order": (lambda f: listed(lambda data: [data[1], data[0], *data[2:]]), (GAP,)),
    "listed twice": (lambda f: listed(lambda data: [data[0], data[0], *data[2:]]), (GAP,)),
    "no number of rows stated": (lambda f: lambda stated: stated.pop("part_rows"), (OTHER,)),
    "a number of rows that is more": (lambda f: by_rows(f, lambda rows: rows + 1), (CUT, OTHER)),
    "a number of rows that is less": (lambda f: by_rows(f, lambda rows: rows - 1), (CUT, OTHER, "a part may have")),
    "a number of rows beyond all": (lambda f: stating(part_rows=1 << 50), (OTHER,)),
    "parts of no rows": (lambda f: stating(part_rows=0), ("a part may have",)),
    "parts of true": (lambda f: stating(part_rows=True), ("no number of rows",)),
    "parts of a text": (lambda f: stating(part_rows="1000"), ("no number of rows",)),
    "an empty part": (emptied, (CUT,)),
}
"""Each is sealed again, with README and checksums made right: everybody refuses it, with one of these words."""

CHANGED: dict[str, tuple[Callable[[Path, Path], Any], str]] = {
    "swapped": (lambda f, other: exchanged(part(f, 0), part(f, 1)), "not the file that was published"),
    "missing": (lambda f, other: part(f, 1).unlink(), "is missing"),
    "doubled": (lambda f, other: shutil.copy(part(f, 0), part(f, 1)), "not the file that was published"),
    "of another release": (lambda f, other: shutil.copy(part(other, 1), part(f, 1)), "not the file that was published"),
    "a further one": (lambda f, other: shutil.copy(part(f, 1), part(f, last(f) + 1)), "does not belong"),
    "the whole beside": (
        lambda f, other: shutil.copy(part(f, 0), part(f, 0).with_stem(part(f, 0).stem[:-6])),
        "does not belong",
    ),
    "a link": (lambda f, other: [part(f, 1).unlink(), part(f, 1).symlink_to(part(f, 0))], "a symbolic link"),
    "a link to its like": (
        lambda f, other: [part(f, 1).unlink(), part(f, 1).symlink_to(part(other, 1))],
        "a symbolic link",
    ),
}
"""Nothing is sealed again; the second folder is another release of the same people."""
