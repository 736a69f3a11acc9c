"""Did anything else of the source leak?  Values that must not be in the folder, looked for in all of its bytes.

Secret are the values of columns that are not published (identifying, undeclared), and in published columns those
that only withheld rows have, or that lie beyond a top or bottom.  A text that the release may show anyway (it is, or is part
of, a published value, a label of the schema or a column's name) is no evidence and is not looked for.  Texts of less than four
bytes are looked up as whole values only: in labels, in the manifest's ranges and lists, in Parquet dictionaries and statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent import catalogue
from reticent.audit.contents import Piece, dictionaries, file_pieces, pieces
from reticent.audit.foreign import near_unique
from reticent.audit.kind import Recounted
from reticent.audit.search import Needles
from reticent.audit.subject import Subject
from reticent.release.manifest import ColumnEntry
from reticent.release.numbers import fraction
from reticent.release.reading.places import beyond
from reticent.table.grammar import ANY, parse
from reticent.table.roles import Role


@dataclass(frozen=True, slots=True)
class Leak:
    """So many distinct values of a source column stand in a file of the release where none should."""

    column: str
    file: str
    values: int


def find(recounted: Recounted, source: pl.DataFrame, stray: np.ndarray) -> list[Leak]:
    """All leaks, by source column and file; the values themselves are not kept.  `stray` source rows were not published."""
    subject, path = recounted.subject, recounted.subject.path
    names = [entry.name for entry in subject.columns]
    if subject.undeclared is not None:  # these are carried, but for those that single people out
        names += set(subject.undeclared.columns) - set(near_unique(subject))
    hidden = {name: _texts(source[name]) for name in source.columns if name not in names}
    withheld, shown = {}, {}
    for entry in subject.columns:
        name = entry.name
        values = source[name]
        if entry.role == Role.QUASI:
            shown[name] = _texts(values.filter(pl.Series(~stray))) - _hidden(entry, values)
        else:
            shown[name] = _texts(recounted.column(name))
        withheld[name] = (
            _texts(values) - shown[name] - _listed(entry) - _texts(recounted.column(name)) - recounted.explained
        )
        if entry.labels is not None:
            withheld[name] -= _moved_ends(recounted, entry)
    leaks = _whole_values(recounted, withheld)
    secret = {**hidden, **{name: texts for name, texts in withheld.items() if texts}}
    needles = Needles(text for texts in secret.values() for text in texts)
    if path is None or not len(needles):
        return leaks
    needles.ignore_those_in("\n".join([*_explained(subject, shown), *recounted.explained]).encode())
    hits: dict[str, set[str]] = {}
    for piece in _pieces(subject, path):
        hits.setdefault(piece.file, set()).update(needles.found_in(piece.data, piece.least))
    return leaks + [Leak(name, file, len(texts & present)) for file, present in sorted(hits.items()) for name, texts in secret.items()
                    if texts & present]  # fmt: skip


def _hidden(entry: ColumnEntry, values: pl.Series) -> set[str]:
    """Values of a column beyond its top or bottom: whoever has them, they are published as the bound."""
    if entry.top is None and entry.bottom is None:
        return set()
    distinct = values.unique().drop_nulls()
    return _texts(distinct.filter(beyond(entry, distinct)))


def _pieces(subject: Subject, path: Path) -> Iterable[Piece]:
    return file_pieces(path) if subject.manifest is None else pieces(path, subject.manifest)


def _texts(series: pl.Series) -> set[str]:
    return set(series.cast(pl.String).drop_nulls().unique().to_list())


def _listed(entry: ColumnEntry) -> set[str]:
    """Values that the steward's own hierarchy or order names: published as given, whoever has them."""
    return {text for row in entry.hierarchy or () for text in row} | set(entry.order or ())


def _explained(subject: Subject, shown: Mapping[str, set[str]]) -> list[str]:
    """Texts that the release may show."""
    found = [entry.name for entry in subject.columns]
    found += [text for texts in shown.values() for text in texts]
    found += [text for entry in subject.columns for text in _listed(entry)]
    found += [word for entry in subject.columns for word in (entry.role, entry.type, entry.dtype, "null", "missing")]
    return found + _WORDS


_WORDS = ["reticent format kind data rows withheld columns name role type dtype domain order hierarchy values jointly top bottom round_to",
          "rows_per_person promises model column method weights seeded prepare files sha256 bytes .parquet .csv README.md manifest.json",
          "true false quasi-identifying sensitive insensitive numeric categorical ordinal date carried refuse category group count",
          *catalogue.PROMISES, *catalogue.METHODS, *catalogue.STAGES, *catalogue.KINDS,
          *(word for promise in catalogue.PROMISES.values() for word in promise.parameters),
          *(word for row in (*catalogue.METHODS.values(), *catalogue.STAGES.values()) for word in row.parameters)]  # fmt: skip


def _whole_values(recounted: Recounted, withheld: Mapping[str, set[str]]) -> list[Leak]:
    """Values that only withheld rows have, as ends and members of labels, in the manifest, in dictionaries and statistics."""
    leaks, path = [], recounted.subject.path
    for entry in recounted.subject.columns:
        name, secret = entry.name, withheld[entry.name]
        if entry.role == Role.QUASI:
            stated = {str(text) for text in [*(entry.domain or ()), *(entry.values or ())]}
            found = (("data", _shown_members(recounted, name)), ("manifest.json", stated))
            leaks += [Leak(name, where, len(secret & texts)) for where, texts in found if secret & texts]
    if path is not None:
        for file in [path] if path.is_file() else sorted(path.glob("*.parquet")):
            if file.suffix in (".parquet", ".pq"):
                leaks += _unused(_tables(recounted, file), file)
    return leaks


def _shown_members(recounted: Recounted, name: str) -> set[str]:
    """The ends and members of a column's labels; exact values are what they are."""
    if not recounted.labelled:
        return set()
    labels = recounted.frame[name].unique().drop_nulls()
    return {text for label in labels if label != ANY for text in _members(label)}


def _moved_ends(recounted: Recounted, entry: ColumnEntry) -> set[str]:
    """Ends of ranges that were rounded or moved: nobody's value, unless by chance.  Ends of the domain only where a range ends there."""
    if not recounted.labelled:
        return set()
    labels = recounted.frame[entry.name].unique().drop_nulls()
    ends = {end for label in labels if label != ANY and _form(label) == "range" for end in _members(label)}
    if entry.type != "numeric":
        return ends
    places = set(map(_place, ends))  # the label's 90 is the manifest's 90.0
    return ends | {str(end) for end in entry.domain or () if _place(end) in places}


def _place(end: Any) -> Fraction | None:
    try:
        return fraction(end)
    except (ValueError, ArithmeticError):
        return None


def _tables(recounted: Recounted, file: Path) -> pl.DataFrame:
    """The rows of a file of the release."""
    return recounted.beside.get(file.stem, recounted.frame)


def _members(label: str) -> tuple[str, ...]:
    return _parsed(label)[1]


def _form(label: str) -> str:
    return _parsed(label)[0]


def _parsed(label: str) -> tuple[str, tuple[str, ...]]:
    try:
        return parse(label)
    except ValueError:
        return "", ()


def _stored(values: pl.Series) -> set[Any]:
    """Values as Parquet stores them: whole numbers without a sign in the bits of those with one."""
    width = 32 if values.dtype == pl.UInt32 else 64 if values.dtype == pl.UInt64 else 0
    held = values.to_physical().to_list()
    return {value - (value >> (width - 1) << width) for value in held} if width else set(held)


def _unused(rows: pl.DataFrame, file: Path) -> list[Leak]:
    """Dictionary entries and statistics that no row refers to."""
    import pyarrow.parquet as pq

    physical: dict[str, set[Any]] = {}
    for name in rows.columns:
        values = rows[name].drop_nulls().unique()
        physical[name] = {text.encode() for text in values} if values.dtype == pl.String else _stored(values)
    extra: dict[str, set[Any]] = {}
    for page in dictionaries(file):
        if page.column in physical:
            extra.setdefault(page.column, set()).update(set(page.entries()) - physical[page.column])
    metadata = pq.read_metadata(file)
    for group in range(metadata.num_row_groups):
        for at in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(at)
            if chunk.path_in_schema in physical and chunk.statistics is not None and chunk.statistics.has_min_max:
                known = set(rows[chunk.path_in_schema].drop_nulls().unique().to_list())
                ends = {chunk.statistics.min, chunk.statistics.max}
                extra.setdefault(chunk.path_in_schema, set()).update(ends - known)
    return [Leak(name, file.name, len(values)) for name, values in extra.items() if values]
