"""Rows that are another release's: labels widened, groups deleted and called withheld.  Every count in the folder fits them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import reticent as rt
from reticent.format.data_writer import write_data

RANGE = re.compile(r"^\[(-?\d+), (-?\d+)\]$")


def widened(folder: Path) -> None:
    """Every range of a quasi-identifier reaches ten further on both sides, and so does its domain."""
    release = rt.open(folder)
    for name, frame in release.tables.items():
        changed = frame.with_columns(
            pl.Series(column, [_wider(value) for value in frame[column].to_list()], dtype=frame[column].dtype)
            for column in frame.columns
            if frame[column].dtype == pl.String
        )
        path = next(folder.glob(f"{name}.*"))
        write_data(path, changed, path.suffix[1:])

    def change(stated: dict[str, Any]) -> None:
        for column in stated["columns"]:
            if column["role"] == "quasi-identifying" and column.get("domain") and release.kind == "generalized":
                column["domain"] = [column["domain"][0] - 10, column["domain"][1] + 10]

    _stated(folder, change)


def _wider(value: str | None) -> str | None:
    found = RANGE.match(value or "")
    return f"[{int(found[1]) - 10}, {int(found[2]) + 10}]" if found else value


def withheld(folder: Path) -> None:
    """The rows of one group are deleted, and so many more are called withheld."""
    release = rt.open(folder)
    quasi = [column.name for column in release.manifest.find_columns_with_role("quasi-identifying")]
    tables = dict(release.tables)
    gone = 0
    if "data" in tables:
        same = pl.all_horizontal(pl.col(name).eq_missing(pl.lit(tables["data"][name][0])) for name in quasi)
        kept = tables["data"].filter(~same)
        gone = len(tables["data"]) - len(kept)
        tables["data"] = kept
    else:
        last = tables["quasi"]["group"].max()
        gone = int((tables["quasi"]["group"] == last).sum())
        tables = {name: frame.filter(pl.col("group") != last) for name, frame in tables.items()}
    for name, frame in tables.items():
        path = next(folder.glob(f"{name}.*"))
        write_data(path, frame, path.suffix[1:])
    _stated(folder, lambda stated: stated.update(rows=stated["rows"] - gone, withheld=stated["withheld"] + gone))


def swapped(folder: Path) -> None:
    """The sensitive values of two rows that lie in different groups change places."""
    release = rt.open(folder)
    sensitive = [column.name for column in release.manifest.find_columns_with_role("sensitive")]
    name = "data" if "data" in release.tables else "sensitive"
    frame = release.tables[name]
    column = next((one for one in sensitive if one in frame.columns), None)
    if column is None:  # a node of a tree stands in place of each value
        return
    values = frame[column].to_list()
    other = next((at for at, value in enumerate(values) if value != values[0]), 0)
    values[0], values[other] = values[other], values[0]
    path = next(folder.glob(f"{name}.*"))
    write_data(path, frame.with_columns(pl.Series(column, values, dtype=frame[column].dtype)), path.suffix[1:])


def _stated(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    path = folder / "manifest.json"
    stated = json.loads(path.read_text(encoding="utf-8"))
    change(stated)
    path.write_text(json.dumps(stated), encoding="utf-8")


REGROUPED: dict[str, Callable[[Path], None]] = {
    "labels widened": widened,
    "a group deleted and called withheld": withheld,
    "values that changed places": swapped,
}
"""The files alone show another release; a digest, and the owner's notes, show that it is not the one that was published."""
