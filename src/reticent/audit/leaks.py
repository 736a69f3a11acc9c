"""Did anything else of the source leak?  Values that must not be in the folder, looked for in all of its bytes.

Secret are the values of columns that are not published (identifying, undeclared), and in published columns those
that only withheld rows have, or that lie beyond a top or bottom.  A text that the release may show anyway (it is, or is part
of, a published value, a label of the schema or a column's name) is no evidence and is not looked for, nor is another spelling of a
published value ("0.10" where 0.1 is published); a number does not stand in a longer number.  Texts of less than four
bytes are looked up as whole values only: in labels, in the manifest's ranges and lists, in Parquet dictionaries and statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

from reticent import catalogue
from reticent.audit.as_published import as_published
from reticent.audit.compared import Compared, texts
from reticent.audit.contents import Piece, file_pieces, pieces
from reticent.audit.foreign import near_unique
from reticent.audit.kind import Recounted
from reticent.audit.label_leaks import LabelLookup
from reticent.audit.search import Needles, stands_alone
from reticent.audit.subject import Subject
from reticent.audit.unused import Leak, unused
from reticent.exact import is_whole, ratio_of
from reticent.release.kind import data_files
from reticent.release.manifest import ColumnEntry
from reticent.release.numbers import fraction
from reticent.release.parts import DataFile
from reticent.release.reading.places import beyond
from reticent.table.grammar import ANY, parse
from reticent.table.roles import Role

ROUND_DIGITS = 4
"""An end of a range with at most so many digits, zeros at either side aside, is a round number."""


def find(recounted: Recounted, source: Compared, kept: Mapping[str, pl.Series]) -> list[Leak]:
    """All leaks, by source column and file; the values themselves are not kept.  Only `kept` quasi-identifying values may be shown.

    Columns that may have any number of values (those that are not published, and carried ones) are looked at a part at a time.
    """
    subject, path = recounted.subject, recounted.subject.path
    names = [entry.name for entry in subject.columns]
    if subject.undeclared is not None:  # these are carried, but for those that single people out
        names += set(subject.undeclared.columns) - set(near_unique(subject))
    hidden = [name for name in source.names if name not in names]
    shown, withheld = _of_few_values(recounted, source, kept)
    leaks, lookup = _whole_values(recounted, source, withheld), LabelLookup(recounted, source)
    carried = [entry for entry in subject.columns if entry.role == Role.INSENSITIVE]
    counts: dict[tuple[str, str], int] = {}
    parts = source.spread([*hidden, *(entry.name for entry in carried)]) if path is not None else 0
    for part in range(parts):
        secret = {name: source.texts(name, part, parts) for name in hidden}
        for name, values in secret.items():
            lookup.add(name, values)
        secret |= {name: texts for name, texts in withheld.items() if part == 0}
        for entry in carried:
            published = source.shown(entry.name, part, parts) | _listed(entry) | recounted.explained
            secret[entry.name] = source.texts(entry.name, part, parts) - published
        for file, name, many in _found(recounted, source, path, secret, shown):
            counts[file, name] = counts.get((file, name), 0) + many
    order = [*hidden, *(entry.name for entry in subject.columns)]
    found = sorted(counts, key=lambda place: (place[0], order.index(place[1])))
    return leaks + lookup.leaks() + [Leak(name, file, counts[file, name]) for file, name in found]


def _of_few_values(
    recounted: Recounted, source: Compared, kept: Mapping[str, pl.Series]
) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Of quasi-identifiers and sensitive columns, the texts that the release may show and those that it must not."""
    shown, withheld = {}, {}
    for entry in recounted.subject.columns:
        if entry.role == Role.INSENSITIVE:
            continue
        name, values, published = entry.name, source.values(entry.name)[0], texts(recounted.column(entry.name))
        shown[name] = texts(kept[name]) - _hidden(entry, values) if entry.role == Role.QUASI else published
        withheld[name] = texts(values) - shown[name] - _listed(entry) - published - recounted.explained
        if entry.role == Role.SENSITIVE:
            withheld[name] -= _spelled_otherwise(entry, values, published)
        if entry.labels is not None:
            moved = _moved_ends(recounted, entry)
            withheld[name] -= moved
            shown[name] = shown[name] | {end for end in moved if _is_round(end)}
    return shown, withheld


def _is_round(end: str) -> bool:
    """Whether an end tells nothing but the grid that it lies on: a number of few digits, or the first or last day of a month.

    Another column may hold the same by chance.  An end of many digits is no evidence of a grid, and is looked for.
    """
    try:
        day = date.fromisoformat(end)
        return day.day == 1 or (day + timedelta(days=1)).day == 1
    except (ValueError, OverflowError):
        place = _place(end)
    if place is None:
        return False
    return any(len(f"{abs(number):f}".replace(".", "").strip("0")) <= ROUND_DIGITS for number in _near(place))


def _near(place: Fraction) -> list[Decimal]:
    """A number and, of a whole one, the next: a range of whole numbers ends before the next step begins."""
    numerator, denominator = ratio_of(place)
    number = Decimal(numerator) / Decimal(denominator)
    return [number, number + 1] if is_whole(place) else [number]


def _spelled_otherwise(entry: ColumnEntry, values: pl.Series, published: set[str]) -> set[str]:
    """The texts of source values that are published in another spelling: as numbers, dates or truth values."""
    alike = as_published(values.rename(entry.name).to_frame(), [entry]).frame[entry.name].cast(pl.String)
    return texts(values.filter(alike.is_in(list(published)).fill_null(False)))


def _found(
    recounted: Recounted,
    source: Compared,
    path: Path | None,
    secret: Mapping[str, set[str]],
    shown: Mapping[str, set[str]],
) -> Iterator[tuple[str, str, int]]:
    """(file, column, values) of secret texts that stand in the folder and are not explained by what it may show."""
    needles = Needles(text for texts in secret.values() for text in texts)
    if path is None or not len(needles):
        return
    subject = recounted.subject
    needles.ignore_those_in("\n".join([*_explained(subject, shown), *recounted.explained]).encode())
    for piece in source.spelled([entry.name for entry in subject.named(Role.INSENSITIVE)]):
        if len(needles):
            needles.ignore_those_in(piece.encode())
    if not len(needles):
        return
    hits: dict[str, set[str]] = {}
    for bytes_of in _pieces(subject, path, needles.longest):
        present = needles.found_in(bytes_of.data, bytes_of.least)
        if bytes_of.is_text:
            present = {text for text in present if stands_alone(text, bytes_of.data, bytes_of.begins, bytes_of.ends)}
        hits.setdefault(bytes_of.file, set()).update(present)
    for file, present in hits.items():
        yield from ((file, name, len(some & present)) for name, some in secret.items() if some & present)


def _hidden(entry: ColumnEntry, values: pl.Series) -> set[str]:
    """Values of a column beyond its top or bottom: whoever has them, they are published as the bound."""
    if entry.top is None and entry.bottom is None:
        return set()
    distinct = values.unique().drop_nulls()
    return texts(distinct.filter(beyond(entry, distinct)))


def _pieces(subject: Subject, path: Path, longest: int) -> Iterable[Piece]:
    return file_pieces(path, longest) if subject.manifest is None else pieces(path, subject.manifest, longest)


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


def _whole_values(recounted: Recounted, source: Compared, withheld: Mapping[str, set[str]]) -> list[Leak]:
    """Values that only withheld rows have, as ends and members of labels, in the manifest, in dictionaries and statistics."""
    leaks, path = [], recounted.subject.path
    for entry in recounted.subject.columns:
        if entry.role == Role.QUASI:
            name, secret = entry.name, withheld[entry.name]
            stated = {str(text) for text in [*(entry.domain or ()), *(entry.values or ())]}
            found = (("data", _shown_members(recounted, name)), ("manifest.json", stated))
            leaks += [Leak(name, where, len(secret & texts)) for where, texts in found if secret & texts]
    if path is not None:
        for file in _files(recounted.subject, path):
            if file.suffix in (".parquet", ".pq"):
                leaks += unused(recounted, source, file)
    return leaks


def _files(subject: Subject, path: Path) -> list[DataFile]:
    """The files that hold rows; of another tool, one or a folder of them."""
    if subject.manifest is not None:
        found = data_files(path, subject.manifest)
        return [found[name] for name in sorted(found)]
    return [DataFile.of(file) for file in ([path] if path.is_file() else sorted(path.glob("*.parquet")))]


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


def _members(label: str) -> tuple[str, ...]:
    return _parsed(label)[1]


def _form(label: str) -> str:
    return _parsed(label)[0]


def _parsed(label: str) -> tuple[str, tuple[str, ...]]:
    try:
        return parse(label)
    except ValueError:
        return "", ()
