"""The parameters of promises about background knowledge, as their authors write them, checked and exact."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from reticent.errors import JobError, suggest
from reticent.limits import whole_text
from reticent.models.background.weights import KERNELS, WHOLE, Bandwidth
from reticent.models.exact import exact


def bandwidths(given: Any) -> Bandwidth | dict[str, Bandwidth]:
    """A number >= 0 or "whole", for every column or in a table of columns."""
    if isinstance(given, Mapping):
        if not given:
            raise JobError("The table of bandwidths is empty.", attempt="bandwidth = 0.3, or { age = 0.2, ... }.")
        return {str(column): _bandwidth(value, f"The bandwidth of {column!r}") for column, value in given.items()}
    return _bandwidth(given, "bandwidth")


def _bandwidth(given: Any, what: str) -> Bandwidth:
    if isinstance(given, str) and given == WHOLE:
        return WHOLE
    if isinstance(given, str) and not any(mark.isdigit() for mark in given):
        raise JobError(f"{what} must be a number or {WHOLE!r}.", attempt='0.3, or "whole" for who knows nothing of it.')
    found = exact(given, what)
    if found < 0:
        raise JobError(f"{what} must not be negative.", attempt='0 for who knows equal values only, 0.3, or "whole".')
    return found


def threshold(given: Any, name: str) -> Fraction:
    found = exact(given, "t")
    if not 0 < found <= 1:
        raise JobError(
            f"{name} needs t above 0 and at most 1.",
            why="0 asks that nothing at all be learned, and no belief can move further than 1.",
            attempt="t = 0.2.",
        )
    return found


def smoothing_bandwidth(given: Any) -> Fraction:
    found = exact(given, "smoothing")
    if found < 0:
        raise JobError("smoothing must not be negative.", attempt="0 for none.")
    return found


def one_of(given: Any, known: Sequence[str], what: str) -> str:
    if given not in known:
        raise JobError(f"Unknown {what} {given!r}.", attempt=suggest(str(given), known))
    return given


def kernel(given: Any) -> str:
    return one_of(given, KERNELS, "kernel")


def logarithm(given: Any) -> str | int:
    if str(given) not in ("2", "e"):
        raise JobError(f"base = {given!r} is not known.", attempt='base = 2 or "e".')
    return "e" if given == "e" else 2


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
