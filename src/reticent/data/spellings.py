"""Spellings of one value: a column's `map` replaces texts of the source by others before anything counts them.

A text is replaced where it is exactly a key of the map, once; texts that are no key stay. A replacement that is empty
makes the value missing. No replacement is a key with another replacement, so that replacing twice changes nothing:
rows that were read before may be read again.

The map is applied to the texts of the source, before the texts that mean missing are looked for: a map may turn a text
into one of those, or a text that means missing elsewhere into a value of this column.  Hierarchies, orders and domains
are about the replacements.  Maps stay with the owner, because their keys are texts of records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import polars as pl

from reticent.errors import ColumnError, JobError, pluralize

Spellings = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
"""The map of each column that has one, by the column's name or pattern, as pairs of a text and its replacement."""


def require_final_spellings(spellings: Mapping[str, str]) -> None:
    """Refuse a map in which a replacement is itself replaced by another text."""
    chained = [text for text in spellings.values() if spellings.get(text, text) != text]
    if chained:
        raise JobError(
            f"map replaces {pluralize(len(set(chained)), 'text')} that {'is itself a replacement' if len(set(chained)) == 1 else 'are themselves replacements'}.",
            why="Each text is replaced once, and which of the two is meant cannot be told.",
            attempt='the last text directly: map = { m = "male", M = "male" }.',
        )


def collect_spellings(columns: Mapping[str, Any]) -> Spellings:
    """Collect the maps of columns, each a declaration or its table in a job file."""
    spellings = []
    for name, column in columns.items():
        replacements = column.get("map") if isinstance(column, Mapping) else getattr(column, "map", None)
        if isinstance(replacements, Mapping) and replacements:
            pairs = tuple((str(text), str(replacement)) for text, replacement in replacements.items())
            spellings.append((name, pairs))
    return tuple(spellings)


def select_spellings(names: Iterable[str], spellings: Spellings) -> dict[str, dict[str, str]]:
    """Return the map of each column that has one: that of its own name, else of the first pattern that fits."""
    maps = {declared: dict(pairs) for declared, pairs in spellings}
    selected = {}
    for name in names:
        pattern = name if name in maps else next((known for known in maps if fnmatchcase(name, known)), None)
        if pattern is not None:
            selected[name] = maps[pattern]
    return selected


def replace_spellings(lazy: pl.LazyFrame, schema: Mapping[str, pl.DataType], spellings: Spellings) -> pl.LazyFrame:
    """Replace the texts of each column that has a map; refuse a map of a column that is no text."""
    expressions = []
    for name, replacements in select_spellings(schema, spellings).items():
        if not isinstance(schema[name], pl.String | pl.Categorical | pl.Enum):
            if schema[name] == pl.Null:
                continue
            raise ColumnError(
                f"Column {name!r} has a map, and its type is {schema[name].base_type()}.",
                why="A map replaces texts; the source says that this column holds none.",
                attempt="leaving map out, or the column as text in the source.",
            )
        replaced = [text if text else None for text in replacements.values()]
        new = pl.Series(replaced, dtype=pl.String)
        expressions.append(pl.col(name).cast(pl.String).replace(pl.Series(list(replacements)), new).alias(name))
    return lazy.with_columns(expressions) if expressions else lazy


def describe_unused_spellings(name: str, spellings: Mapping[str, str], values: Sequence[Any]) -> list[str]:
    """Describe the texts of a column's map that none of its values is, by their number."""
    present = set(values)
    unused = sum(text not in present for text in spellings)
    if not unused:
        return []
    return [
        f"Column {name!r}: {unused:,} of the {pluralize(len(spellings), 'text')} in its map {'occurs' if unused == 1 else 'occur'} "
        "nowhere in the source (case and spaces count)."
    ]
