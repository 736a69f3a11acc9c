"""Did anything else of the source leak?  Values that must not be in the folder, looked for in all of its bytes.

Secret are the values of columns that are not published (identifying, undeclared), and in published columns those
that only withheld rows have, or that lie beyond a top or bottom.  A text that the release may show anyway (it is, or is part
of, a published value, a label of the schema or a column's name) is no evidence and is not looked for.  Texts of less than four
bytes are looked up as whole values only: in labels, in the manifest's ranges and lists, in Parquet dictionaries and statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from reticent.audit.contents import Piece, dictionaries, file_pieces, pieces
from reticent.audit.covering import Covering, beyond
from reticent.audit.published import Published
from reticent.audit.search import Needles
from reticent.table.grammar import ANY, parse
from reticent.table.roles import Role


@dataclass(frozen=True, slots=True)
class Leak:
    """So many distinct values of a source column stand in a file of the release where none should."""

    column: str
    file: str
    values: int


def find(published: Published, source: pl.DataFrame, found: Covering, path: Path | None) -> list[Leak]:
    """All leaks, by source column and file; the values themselves are not kept."""
    names = [entry["name"] for entry in published.columns]
    hidden = {name: _texts(source[name]) for name in source.columns if name not in names}
    stray = found.stray
    withheld, shown = {}, {}
    for entry in published.columns:
        name = entry["name"]
        values = source[name]
        if entry["role"] == Role.QUASI:
            shown[name] = _texts(values.filter(pl.Series(~stray))) - _hidden(entry, values)
        else:
            shown[name] = _texts(published.frame[name])
        withheld[name] = _texts(values) - shown[name] - _listed(entry)
    leaks = _whole_values(published, withheld, path)
    secret = {**hidden, **{name: texts for name, texts in withheld.items() if texts}}
    needles = Needles(text for texts in secret.values() for text in texts)
    if path is None or not len(needles):
        return leaks
    needles.ignore_those_in("\n".join(_explained(published, shown)).encode())
    hits: dict[str, set[str]] = {}
    for piece in _pieces(published, path):
        hits.setdefault(piece.file, set()).update(needles.found_in(piece.data, piece.least))
    return leaks + [Leak(name, file, len(texts & present)) for file, present in sorted(hits.items()) for name, texts in secret.items()
                    if texts & present]  # fmt: skip


def _hidden(entry: Mapping[str, Any], values: pl.Series) -> set[str]:
    """Values of a column beyond its top or bottom: whoever has them, they are published as the bound."""
    if not {"top", "bottom"} & set(entry):
        return set()
    distinct = values.unique().drop_nulls()
    return _texts(distinct.filter(beyond(entry, distinct)))


def _pieces(published: Published, path: Path) -> Iterable[Piece]:
    return file_pieces(path) if published.manifest is None else pieces(path, published.manifest)


def _texts(series: pl.Series) -> set[str]:
    return set(series.cast(pl.String).drop_nulls().unique().to_list())


def _listed(entry: Mapping[str, Any]) -> set[str]:
    """Values that the steward's own hierarchy or order names: published as given, whoever has them."""
    return {str(text) for row in entry.get("hierarchy") or () for text in row} | {
        str(text) for text in entry.get("order") or ()
    }


def _explained(published: Published, shown: Mapping[str, set[str]]) -> list[str]:
    """Texts that the release may show."""
    found = [entry["name"] for entry in published.columns]
    found += [text for texts in shown.values() for text in texts]
    found += [text for entry in published.columns for text in _listed(entry)]
    found += [
        word
        for entry in published.columns
        for word in (entry["role"], entry["type"], entry["dtype"], "null", "missing")
    ]
    return found + _WORDS


_WORDS = ["reticent format kind generalized data rows withheld columns name role type dtype domain order hierarchy values jointly top bottom round_to rows_per_person",
          "promises model column method weights seeded prepare files sha256 bytes data.parquet data.csv README.md manifest.json true false",
          "quasi-identifying sensitive insensitive numeric categorical ordinal date carried refuse category enhanced two_sided distance"]  # fmt: skip


def _whole_values(published: Published, withheld: Mapping[str, set[str]], path: Path | None) -> list[Leak]:
    """Values that only withheld rows have, as ends and members of labels, in the manifest, in dictionaries and statistics."""
    leaks = []
    for entry in published.columns:
        name, secret = entry["name"], withheld[entry["name"]]
        if entry["role"] == Role.QUASI:
            members = {
                text
                for label in published.frame[name].unique().drop_nulls()
                if label != ANY
                for text in _members(label)
            }
            stated = {str(text) for text in [*(entry.get("domain") or ()), *(entry.get("values") or ())]}
            leaks += [
                Leak(name, where, len(secret & texts))
                for where, texts in (("data", members), ("manifest.json", stated))
                if secret & texts
            ]
    if path is not None:
        for file in [path] if path.is_file() else sorted(path.glob("*.parquet")):
            if file.suffix in (".parquet", ".pq"):
                leaks += _unused(published, file)
    return leaks


def _members(label: str) -> tuple[str, ...]:
    try:
        return parse(label)[1]
    except ValueError:
        return ()


def _unused(published: Published, file: Path) -> list[Leak]:
    """Dictionary entries and statistics that no row refers to."""
    import pyarrow.parquet as pq

    physical = {}
    for name in published.frame.columns:
        values = published.frame[name].drop_nulls().unique()
        physical[name] = (
            {text.encode() for text in values} if values.dtype == pl.String else set(values.to_physical().to_list())
        )
    extra: dict[str, set[Any]] = {}
    for page in dictionaries(file):
        if page.column in physical:
            extra.setdefault(page.column, set()).update(set(page.entries()) - physical[page.column])
    metadata = pq.read_metadata(file)
    for group in range(metadata.num_row_groups):
        for at in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(at)
            if chunk.path_in_schema in physical and chunk.statistics is not None and chunk.statistics.has_min_max:
                known = set(published.frame[chunk.path_in_schema].drop_nulls().unique().to_list())
                ends = {chunk.statistics.min, chunk.statistics.max}
                extra.setdefault(chunk.path_in_schema, set()).update(ends - known)
    return [Leak(name, file.name, len(values)) for name, values in extra.items() if values]
