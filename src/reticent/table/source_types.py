"""Whether a source types its columns, and what that means for columns whose type nobody declares.

A frame, a Parquet or Arrow file, a database or a statistics program says which columns are text: a text stays text there,
whatever it spells ("1", "2" and "9" are codes).  A CSV has nothing but text, and its types are guessed from the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from reticent.errors import listed
from reticent.table.domain import Domain
from reticent.table.parsing import spells_numbers
from reticent.table.roles import Column, Role
from reticent.table.several import CSV, files_of
from reticent.table.source import Source, TextRows, is_text


def has_types(source: Source, frame: Any = None) -> bool:
    """Whether the source says which of its columns are text and which are numbers."""
    if isinstance(frame, TextRows):
        return False
    if frame is not None:
        return bool(getattr(frame, "has_types", True))  # rows that an engine holds elsewhere know where they came from
    return source.url is not None or source.path is None or files_of(source.path).suffix not in CSV


def keep_types(columns: Mapping[str, Column], schema: Mapping[str, pl.DataType]) -> dict[str, Column]:
    """Columns of a source that has types: a text column of which no type is declared holds categories."""
    return {
        name: replace(column, type="categorical") if _is_open(column) and is_text(schema[name]) else column
        for name, column in columns.items()
    }


def describe_types(
    columns: Mapping[str, Column], domains: Iterable[Domain], schema: Mapping[str, pl.DataType], *, typed: bool
) -> list[str]:
    """Sentences on text columns whose type nobody declared: taken for numbers in a CSV, kept as text elsewhere.

    `columns` are as they were declared, `schema` is that of the source.
    """
    numeric = []
    kept = []
    for domain in domains:
        if not _is_open(columns[domain.name]) or not is_text(schema[domain.name]):
            continue
        if domain.kind == "numeric":
            numeric.append(domain.name)
        elif typed and domain.kind == "categorical" and spells_numbers(pl.Series(domain.texts, dtype=pl.String)):
            kept.append(domain.name)
    sentences = []
    if numeric:
        sentences.append(
            f"{_columns(numeric)} read as numbers: a CSV says no types, and every value is one. "
            'Codes are no numbers: type = "categorical" says so, type = "numeric" confirms the guess.'
        )
    if kept:
        sentences.append(
            f"{_columns(kept)} read as categories: the source says text, though every value is a number. "
            'type = "numeric" reads amounts.'
        )
    return sentences


def _columns(names: list[str]) -> str:
    return f"Column {listed(names)} is" if len(names) == 1 else f"Columns {listed(names)} are"


def _is_open(column: Column) -> bool:
    """Whether nothing that is declared of a column says what its values are."""
    options = (column.type, column.hierarchy, column.domain, column.top, column.bottom)
    return column.role in (Role.QUASI, Role.SENSITIVE) and all(option is None for option in options)
