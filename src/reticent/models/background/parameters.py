"""The parameters of promises about background knowledge, as their authors write them, checked and exact."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from reticent.catalogue import PROMISES
from reticent.door.parameters import accept
from reticent.errors import JobError
from reticent.limits import whole_text
from reticent.models.background.weights import Bandwidth
from reticent.models.exact import exact


def bandwidths(given: Any) -> Bandwidth | dict[str, Bandwidth]:
    """A number >= 0 or "whole", for every column or in a table of columns."""
    return _accepted(given, "bandwidth")


def threshold(given: Any) -> Fraction:
    """How far a belief may move."""
    return _accepted(given, "t")


def smoothing_bandwidth(given: Any) -> Fraction:
    """Over how far a distance beliefs are smoothed."""
    return _accepted(given, "smoothing")


def kernel(given: Any) -> str:
    """The name of a kernel."""
    return _accepted(given, "kernel")


def inference(given: Any) -> str:
    """How an attack infers: as a promise may say, or exactly."""
    field = PROMISES["bt-privacy"].fields["posterior"]
    return accept(replace(field, choices=(*field.choices, "exact")), given, "posterior", "background")


def _accepted(given: Any, name: str) -> Any:
    return accept(PROMISES["bt-privacy"].fields[name], given, name, "bt-privacy")


def matrices(given: Any) -> dict[str, dict[str, Any]] | None:
    """A matrix of distances for a column: a CSV with the values in its first row and column, or {values, rows}."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise JobError("distances is a table of columns.", attempt='distances = { disease = "disease-distances.csv" }.')
    return {str(column): _matrix(str(column), matrix) for column, matrix in given.items()} or None


def _matrix(column: str, given: Any) -> dict[str, Any]:
    if isinstance(given, str | Path):
        values, rows = _read(column, Path(given))
    elif isinstance(given, Mapping) and set(given) == {"values", "rows"}:
        values, rows = [str(value) for value in given["values"]], [list(row) for row in given["rows"]]
    else:
        raise JobError(f"The distances of {column!r} are neither a file nor {{ values, rows }}.")
    numbers = [[exact(cell, f"A distance of {column!r}") for cell in row] for row in rows]
    size = len(values)
    if not size:
        raise JobError(f"The distances of {column!r} name no value.", attempt="values in the first row and column.")
    if len(set(values)) != size or len(numbers) != size or any(len(row) != size for row in numbers):
        raise JobError(f"The distances of {column!r} are not a square with every value once.")
    if any(numbers[i][i] for i in range(size)):
        raise JobError(f"The distances of {column!r} are not 0 on the diagonal.", why="A value is where it is.")
    if any(numbers[i][j] != numbers[j][i] for i in range(size) for j in range(i)):
        raise JobError(f"The distances of {column!r} are not symmetric.", attempt="the same distance both ways.")
    if any(d < 0 for row in numbers for d in row):
        raise JobError(f"The distances of {column!r} hold a negative number.")
    return {"values": values, "rows": [[_text(d) for d in row] for row in numbers]}


def _text(d: Fraction) -> str:
    return str(d)


def _read(column: str, path: Path) -> tuple[list[str], list[list[str]]]:
    try:
        table = [row for row in csv.reader(io.StringIO(whole_text(path))) if row]
    except (OSError, UnicodeDecodeError, csv.Error):
        raise JobError(f"The distances of {column!r} cannot be read.", why=f"Looked for {path}.") from None
    if not table or any(len(row) != len(table) for row in table):
        raise JobError(f"The distances of {column!r} are not a square.", attempt="values in the first row and column.")
    names = [row[0] for row in table[1:]]
    if names != table[0][1:]:
        raise JobError(
            f"The distances of {column!r} name other values in the first row than in the first column.",
            attempt="the same values in the same order.",
        )
    return names, [row[1:] for row in table[1:]]


def said(given: Bandwidth | Mapping[str, Bandwidth]) -> Any:
    """A bandwidth as JSON can say it."""
    if isinstance(given, Mapping):
        return {column: said(value) for column, value in given.items()}
    return given if isinstance(given, str) else float(given)
