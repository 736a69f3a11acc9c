"""Search for leaks: values of the source that must not be in the release folder are looked for in all of its bytes.

`find_leaks` does all of it: it searches every byte (`byte_search`), looks at values that only withheld rows have, at
unused values of Parquet files, and at declared labels.

Secret are the values of columns that are not published (identifying, undeclared) and, in published columns, the values
that only withheld rows have or that lie beyond a top or bottom. A text that the release may show anyway (it is, or is
part of, a published value, a label of the schema or a column's name) is no evidence and is not searched; neither is
another spelling of a published value ("0.10" where 0.1 is published). A number that is part of a longer number is no
hit. Texts of less than four bytes are looked up as whole values only: in labels, in the manifest's ranges and lists, in
Parquet dictionaries and statistics.

`find_unused_values` looks for dictionary entries and statistics of a Parquet file that no row refers to: values of rows
that were removed.

`LabelLookup` looks for people among the labels that the manifest declares. A hierarchy, an order or a list of values is
published as the steward gave it, whether or not anybody has the values, and the search above takes its texts for
explained: a person's name could be there. So every such text is looked up among the values of the source's columns that
are not published. A declared text may rightly be such a value: regions that a hierarchy names and a dropped column has,
towns of residence and of birth, "other". It is no person where

- it is a value of its own column in the source;
- it is a common word, or a number where as many digits make a value of the hidden column once in a hundred times or
  more;
- the hidden column shares the vocabulary: it is not near-unique, or has few values, and half of them are declared
  texts;
- the hidden column is not near-unique, and several people have the value, it is short, or more than one in twenty
  values of that column are declared texts.

What the publisher says of the release (`[about]`) is compared by whole words: `audit/about_lookup.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

from reticent import catalogue
from reticent.audit.about_lookup import AboutLookup
from reticent.audit.byte_search import (
    ByteWindow,
    TextSearch,
    read_dictionary_pages,
    read_file_windows,
    read_folder_windows,
    stands_alone,
)
from reticent.audit.kind import RecomputedRelease, find_near_unique_columns
from reticent.audit.source_comparison import SourceComparison, convert_source, list_texts
from reticent.audit.subject import Subject
from reticent.data.columns import Role
from reticent.data.label_grammar import ANY_LABEL, parse_label
from reticent.exact_arithmetic import as_ratio, is_whole
from reticent.format.data_files import DataFile
from reticent.format.manifest import ColumnEntry
from reticent.format.schema_checks import parse_fraction
from reticent.labels.cover import mask_beyond_ends
from reticent.release.bundle import MANIFEST_FILE
from reticent.release.kind import find_data_files

ColumnValues = dict[str, set[Any]]
"""The values of each column as Parquet stores them."""
MAX_VOCABULARY_VALUES = 20  # a column with fewer different values may be a vocabulary, however many rows it has
MIN_TEXT_LENGTH = 4  # of a text that a column of repeated values shares by accident
MIN_INNER_TEXT_LENGTH = 8  # characters of a value that is part of a longer text
COMMON_WORDS = frozenset(
    (
        "all",
        "any",
        "both",
        "don't know",
        "false",
        "female",
        "high",
        "low",
        "male",
        "middle",
        "missing",
        "mixed",
        "n/a",
        "na",
        "no",
        "none",
        "not known",
        "nothing",
        "null",
        "other",
        "others",
        "refused",
        "several",
        "some",
        "total",
        "true",
        "unknown",
        "unspecified",
        "yes",
    )
)
ABOUT_PLACE = f"[about] of {MANIFEST_FILE}"
MAX_ROUND_DIGITS = 4
"""An end of a range with at most so many digits, zeros at either side aside, is a round number."""
_MANIFEST_WORDS = [
    "reticent format kind data rows withheld columns name role type dtype domain order hierarchy values jointly top bottom round_to",
    "rows_per_person promises model column method weights seeded about readme prepare files sha256 bytes .parquet .csv README.md manifest.json",
    "true false quasi-identifying sensitive insensitive numeric categorical ordinal date carried refuse category group count",
    *catalogue.PROMISES,
    *catalogue.METHODS,
    *catalogue.STAGES,
    *catalogue.KINDS,
    *(word for promise in catalogue.PROMISES.values() for word in promise.parameters),
    *(word for row in (*catalogue.METHODS.values(), *catalogue.STAGES.values()) for word in row.parameters),
]


@dataclass(frozen=True, slots=True)
class Leak:
    """A leak: `values` distinct values of a source column are in a file of the release where none should be."""

    column: str
    file: str
    values: int


def find_leaks(
    recount: RecomputedRelease, source: SourceComparison, published_values: Mapping[str, pl.Series]
) -> list[Leak]:
    """Find all leaks, by source column and file; only quasi-identifying values in `published_values` may be shown.

    The values themselves are not stored. Columns that may have any number of values (those that are not published, and
    carried ones) are processed a part at a time.
    """
    subject = recount.subject
    path = subject.path
    names = [entry.name for entry in subject.columns]
    if subject.undeclared is not None:  # these are carried, but for those that single people out
        names += set(subject.undeclared.columns) - set(find_near_unique_columns(subject))
    hidden = [name for name in source.names if name not in names]
    shown_texts, withheld = _list_shown_and_withheld_texts(recount, source, published_values)
    leaks = _find_withheld_values(recount, source, withheld)
    lookup = LabelLookup(recount, source)
    about_lookup = AboutLookup(subject.about, source, subject.rows_per_person)
    carried = [entry for entry in subject.columns if entry.role == Role.INSENSITIVE]
    counts: dict[tuple[str, str], int] = {}
    parts = 0
    if path is not None:
        parts = source.spread([*hidden, *(entry.name for entry in carried)])
    for part in range(parts):
        secret = {name: source.texts(name, part, parts) for name in hidden}
        for name, values in secret.items():
            lookup.add(name, values)
            about_lookup.add_hidden(name, values)
        if part == 0:
            secret |= withheld
            for name, values in withheld.items():
                about_lookup.add_withheld(name, values)
        for entry in carried:
            published = source.list_published_texts(entry.name, part, parts)
            secret[entry.name] = source.texts(entry.name, part, parts) - published
            secret[entry.name] -= _list_declared_values(entry) | recount.explained
            about_lookup.add_withheld(entry.name, secret[entry.name])
        for file, name, count in _search_folder(recount, source, path, secret, shown_texts):
            counts[file, name] = counts.get((file, name), 0) + count
    order = [*hidden, *(entry.name for entry in subject.columns)]
    leak_places = sorted(counts, key=lambda place: (place[0], order.index(place[1])))
    said = about_lookup.count_leaks(_list_explained_texts(subject, shown_texts))
    leaks += [Leak(name, ABOUT_PLACE, count) for name, count in said.items()]
    return leaks + lookup.leaks() + [Leak(name, file, counts[file, name]) for file, name in leak_places]


def find_unused_values(recount: RecomputedRelease, source: SourceComparison, file: DataFile) -> list[Leak]:
    """Find, for each column of a Parquet file, values of its dictionaries and statistics that none of its rows has."""
    if file.name in recount.other_tables:
        rows = recount.other_tables[file.name]
        names = rows.columns
    else:
        rows = recount.frame
        names = list(dict.fromkeys([*rows.columns, *source.columns]))
    entries, ends = _read_stored_values(file.paths, names)
    leaks = []
    for name in dict.fromkeys([*entries, *ends]):
        pieces = iter([rows[name]]) if name in rows.columns else source.pieces(name)
        if extra := _find_extra_values(entries.get(name, set()), ends.get(name, set()), pieces):
            leaks += _locate_unused_values(file.paths, name, extra)
    return sorted(leaks, key=lambda leak: leak.file)


class LabelLookup:
    """Looks up the values of hidden columns among the declared labels; the values themselves are not kept."""

    def __init__(self, recount: RecomputedRelease, source: SourceComparison):
        self._recount = recount
        self._source = source
        self._declared: set[str] = set()
        self._unheld: set[str] = set()
        if recount.subject.manifest is not None:
            self._declared, self._unheld = _list_declared_texts(recount, source)
        self._numerals = _count_numerals(self._unheld)
        self._longer = {part for text in self._unheld for part in _list_word_runs(text)}
        self._columns: dict[str, _HiddenColumn] = {}

    def add(self, name: str, values: set[str]) -> None:
        """Look up some of the values of a hidden column; no value is added twice."""
        if not self._unheld:
            return
        column = self._columns.setdefault(name, _HiddenColumn())
        column.distinct += len(values)
        column.declared |= values & self._declared
        column.inside |= values & self._longer
        for size in self._numerals:
            numeral_count = sum(len(text) == size and text.isdecimal() for text in values)
            column.numerals[size] = column.numerals.get(size, 0) + numeral_count

    def leaks(self) -> list[Leak]:
        """Return a leak for each hidden column with people's values among the declared labels."""
        results = []
        for name, column in self._columns.items():
            if people := self._find_people_among(name, column):
                results.append(Leak(name, MANIFEST_FILE, len(people)))
        return results

    def _find_people_among(self, name: str, column: _HiddenColumn) -> set[str]:
        """Find the declared texts that are people's values of a hidden column."""
        rows_per_person = self._recount.subject.rows_per_person
        near_unique = column.distinct * rows_per_person * 2 > self._source.rows
        shares = 2 * len(column.declared) >= column.distinct
        if shares and (column.distinct < MAX_VOCABULARY_VALUES or not near_unique):
            return set()
        by_chance = {
            size
            for size, numeral_count in self._numerals.items()
            if numeral_count * column.numerals[size] * 100 >= 10**size
        }
        people = {text for text in column.declared & self._unheld if not (text.isdecimal() and len(text) in by_chance)}
        if near_unique:
            return people | column.inside
        people = {text for text in people if len(text) >= MIN_TEXT_LENGTH}
        if not people or column.distinct < MAX_VOCABULARY_VALUES or 20 * len(column.declared) > column.distinct:
            return set()
        values, times = self._source.values(name)
        return people & list_texts(values.filter(pl.Series(times <= rows_per_person)))


def _list_shown_and_withheld_texts(
    recount: RecomputedRelease, source: SourceComparison, published_values: Mapping[str, pl.Series]
) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """List the texts that quasi-identifying and sensitive columns may show, and those that they must not."""
    shown_texts = {}
    withheld = {}
    for entry in recount.subject.columns:
        if entry.role == Role.INSENSITIVE:
            continue
        name = entry.name
        values = source.values(name)[0]
        published = list_texts(recount.column(name))
        shown_texts[name] = published
        if entry.role == Role.QUASI:
            shown_texts[name] = list_texts(published_values[name]) - _list_hidden_values(entry, values)
        explained = shown_texts[name] | _list_declared_values(entry) | published | recount.explained
        withheld[name] = list_texts(values) - explained
        if entry.role == Role.SENSITIVE:
            withheld[name] -= _find_other_spellings(entry, values, published)
        if entry.labels is not None:
            moved = _list_moved_ends(recount, entry)
            withheld[name] -= moved
            shown_texts[name] = shown_texts[name] | {end for end in moved if _is_round(end)}
    return shown_texts, withheld


def _find_withheld_values(
    recount: RecomputedRelease, source: SourceComparison, withheld: Mapping[str, set[str]]
) -> list[Leak]:
    """Find values that only withheld rows have: in labels, in the manifest, in dictionaries and statistics."""
    leaks = []
    path = recount.subject.path
    for entry in recount.subject.columns:
        if entry.role == Role.QUASI:
            name = entry.name
            stated = {str(text) for text in [*(entry.domain or ()), *(entry.values or ())]}
            for place, texts in (("data", _list_shown_members(recount, name)), ("manifest.json", stated)):
                if leaked := withheld[name] & texts:
                    leaks.append(Leak(name, place, len(leaked)))
    if path is not None:
        for file in _list_data_files(recount.subject, path):
            if file.suffix in (".parquet", ".pq"):
                leaks += find_unused_values(recount, source, file)
    return leaks


def _list_declared_values(entry: ColumnEntry) -> set[str]:
    """List the values that the steward's hierarchy or order names: they are published, whether or not anybody has them."""
    return {text for row in entry.hierarchy or () for text in row} | set(entry.order or ())


def _search_folder(
    recount: RecomputedRelease,
    source: SourceComparison,
    path: Path | None,
    secret: Mapping[str, set[str]],
    shown_texts: Mapping[str, set[str]],
) -> Iterator[tuple[str, str, int]]:
    """Yield (file, column, values) for secret texts that are in the folder and are not explained by what it may show."""
    needles = TextSearch(text for column_texts in secret.values() for text in column_texts)
    if path is None or not len(needles):
        return
    subject = recount.subject
    needles.ignore_found_in("\n".join([*_list_explained_texts(subject, shown_texts), *recount.explained]).encode())
    for piece in source.spell_out([entry.name for entry in subject.find_columns_with_role(Role.INSENSITIVE)]):
        if len(needles):
            needles.ignore_found_in(piece.encode())
    if not len(needles):
        return
    hits: dict[str, set[str]] = {}
    for window in _read_windows(subject, path, needles.longest):
        present = needles.find_in(window.data, window.min_bytes)
        if window.is_text:
            present = {text for text in present if stands_alone(text, window.data, window.begins, window.ends)}
        hits.setdefault(window.file, set()).update(present)
    for file, present in hits.items():
        for name, texts in secret.items():
            if leaked := texts & present:
                yield file, name, len(leaked)


def _read_stored_values(paths: Sequence[Path], names: Collection[str]) -> tuple[ColumnValues, ColumnValues]:
    """Read the entries of dictionaries, and the ends in statistics, by column."""
    import pyarrow.parquet as pq

    entries: ColumnValues = {}
    ends: ColumnValues = {}
    for path in paths:
        for page in read_dictionary_pages(path):
            if page.column in names:
                entries.setdefault(page.column, set()).update(page.entries())
        metadata = pq.read_metadata(path)
        for group in range(metadata.num_row_groups):
            for column in range(metadata.num_columns):
                chunk = metadata.row_group(group).column(column)
                if chunk.path_in_schema in names and chunk.statistics is not None and chunk.statistics.has_min_max:
                    ends.setdefault(chunk.path_in_schema, set()).update({chunk.statistics.min, chunk.statistics.max})
    return entries, ends


def _find_extra_values(entries: set[Any], ends: set[Any], pieces: Iterator[pl.Series]) -> set[Any]:
    """Return the entries and ends that are left when the values of all pieces of the column are taken away."""
    for piece in pieces:
        values = piece.drop_nulls().unique()
        if values.dtype == pl.String:  # labels; a plain table may hold them as numbers
            texts = set(values.to_list())
            entries = {entry for entry in entries if _format_stored_value(entry) not in texts}
            ends = {end for end in ends if _format_stored_value(end) not in texts}
        else:
            entries = entries - _convert_to_stored(values)
            ends = ends - set(values.to_list())
        if not entries and not ends:
            break
    return entries | ends


def _locate_unused_values(paths: Sequence[Path], name: str, extra: set[Any]) -> list[Leak]:
    """Find the files that contain the values that no row has."""
    if len(paths) == 1:
        return [Leak(name, paths[0].name, len(extra))]
    leaks = []
    for path in paths:
        entries, ends = _read_stored_values([path], [name])
        if extra_in_file := extra & (entries.get(name, set()) | ends.get(name, set())):
            leaks.append(Leak(name, path.name, len(extra_in_file)))
    return leaks


def _list_declared_texts(recount: RecomputedRelease, source: SourceComparison) -> tuple[set[str], set[str]]:
    """List all texts of hierarchies, orders and domains; and those that no source row has in the column itself."""
    subject = recount.subject
    assert subject.manifest is not None
    declared: set[str] = set()
    unheld: set[str] = set()
    for entry in subject.columns:
        listed = {text for row in entry.hierarchy or () for text in row} | set(entry.order or ())
        if entry.role == "sensitive":
            listed |= recount.explained
            for name in ("values", "domain"):
                listed |= {str(text) for text in subject.manifest.own.get(name, ())}
        if listed:
            declared |= listed
            unheld |= listed - list_texts(source.values(entry.name)[0])
    own_texts = {ANY_LABEL, *(entry.name for entry in subject.columns)}
    return declared, {text for text in unheld - own_texts if text.strip().casefold() not in COMMON_WORDS}


def _count_numerals(labels: set[str]) -> dict[int, int]:
    """Count the texts that are numerals, by length."""
    counts: dict[int, int] = {}
    for text in labels:
        if text.isdecimal():
            counts[len(text)] = counts.get(len(text), 0) + 1
    return counts


def _list_word_runs(text: str) -> Iterator[str]:
    """List runs of whole words of a text, shorter than the text itself."""
    words = text.split()
    for first in range(len(words)):
        for last in range(first + 1, min(first + 6, len(words)) + 1):
            part = " ".join(words[first:last]).strip(",;:()[]{}<>\"'/|")
            if len(part) >= MIN_INNER_TEXT_LENGTH and part != text:
                yield part


@dataclass(eq=False)
class _HiddenColumn:
    """Facts on a source column that is not published, from one part of its values after another."""

    distinct: int = 0
    declared: set[str] = field(default_factory=set)  # its values that are declared texts
    inside: set[str] = field(default_factory=set)  # its values that are part of longer declared texts
    numerals: dict[int, int] = field(default_factory=dict)  # how many of its values are numerals of a length


def _list_hidden_values(entry: ColumnEntry, values: pl.Series) -> set[str]:
    """List the values of a column beyond its top or bottom: they are published as the bound."""
    if entry.top is None and entry.bottom is None:
        return set()
    distinct = values.unique().drop_nulls()
    return list_texts(distinct.filter(mask_beyond_ends(entry, distinct)))


def _find_other_spellings(entry: ColumnEntry, values: pl.Series, published: set[str]) -> set[str]:
    """Find the texts of source values that are published in another spelling: as numbers, dates or truth values.

    A value that was rounded, or moved to a bound, is not published in another spelling: it is not published.
    """
    entry = entry.with_changes(round_to=None, top=None, bottom=None)
    converted = convert_source(values.rename(entry.name).to_frame(), [entry]).frame[entry.name].cast(pl.String)
    return list_texts(values.filter(converted.is_in(list(published)).fill_null(False)))


def _list_moved_ends(recount: RecomputedRelease, entry: ColumnEntry) -> set[str]:
    """List ends of ranges that were rounded or moved: they are nobody's value, unless by chance.

    Ends of the domain are among them only where a range ends there.
    """
    if not recount.labelled:
        return set()
    parsed = [_parse_label(label) for label in recount.frame[entry.name].unique().drop_nulls() if label != ANY_LABEL]
    ends = {end for form, members in parsed if form == "range" for end in members}
    if entry.type != "numeric":
        return ends
    places = set(map(_parse_end, ends))  # the label's 90 is the manifest's 90.0
    return ends | {str(end) for end in entry.domain or () if _parse_end(end) in places}


def _is_round(end: str) -> bool:
    """Whether an end of a range reveals nothing but its grid: a number of few digits, the first or last day of a month.

    Another column may hold the same by chance. An end of many digits is no evidence of a grid, and is searched.
    """
    try:
        day = date.fromisoformat(end)
        return day.day == 1 or (day + timedelta(days=1)).day == 1
    except (ValueError, OverflowError):
        place = _parse_end(end)
    if place is None:
        return False
    digits = [f"{abs(number):f}".replace(".", "").strip("0") for number in _list_neighbours(place)]
    return any(len(text) <= MAX_ROUND_DIGITS for text in digits)


def _list_shown_members(recount: RecomputedRelease, name: str) -> set[str]:
    """List the ends and members of a column's labels; an exact value is its own member."""
    if not recount.labelled:
        return set()
    labels = recount.frame[name].unique().drop_nulls()
    return {text for label in labels if label != ANY_LABEL for text in _parse_label(label)[1]}


def _list_data_files(subject: Subject, path: Path) -> list[DataFile]:
    """List the files that hold rows; a table of another tool is one file or a folder of them."""
    if subject.manifest is not None:
        files = find_data_files(path, subject.manifest)
        return [files[name] for name in sorted(files)]
    return [DataFile.from_path(file) for file in ([path] if path.is_file() else sorted(path.glob("*.parquet")))]


def _list_explained_texts(subject: Subject, shown_texts: Mapping[str, set[str]]) -> list[str]:
    """List the texts that the release may show."""
    explained = [entry.name for entry in subject.columns]
    explained += [text for texts in shown_texts.values() for text in texts]
    explained += [text for entry in subject.columns for text in _list_declared_values(entry)]
    explained += [
        word for entry in subject.columns for word in (entry.role, entry.type, entry.dtype, "null", "missing")
    ]
    return explained + _MANIFEST_WORDS


def _read_windows(subject: Subject, path: Path, longest: int) -> Iterable[ByteWindow]:
    """Read all bytes of a release folder, or of a file of another tool."""
    if subject.manifest is None:
        return read_file_windows(path, longest)
    return read_folder_windows(path, subject.manifest, longest)


def _format_stored_value(stored: Any) -> str:
    return stored.decode(errors="replace") if isinstance(stored, bytes) else str(stored)


def _convert_to_stored(values: pl.Series) -> set[Any]:
    """Convert values to the form in which Parquet stores them: unsigned integers in the bits of signed ones."""
    width = 64 if values.dtype == pl.UInt64 else 0
    if values.dtype == pl.UInt32:
        width = 32
    integers = values.to_physical().to_list()
    return {value - (value >> (width - 1) << width) for value in integers} if width else set(integers)


def _parse_label(label: str) -> tuple[str, tuple[str, ...]]:
    """Parse a label to its form and members; a label that cannot be read has none."""
    try:
        return parse_label(label)
    except ValueError:
        return "", ()


def _parse_end(end: Any) -> Fraction | None:
    """Parse an end of a range as a number; None where it is none."""
    try:
        return parse_fraction(end)
    except (ValueError, ArithmeticError):
        return None


def _list_neighbours(place: Fraction) -> list[Decimal]:
    """List a number and, of a whole one, the next: a range of whole numbers ends before the next step begins."""
    numerator, denominator = as_ratio(place)
    number = Decimal(numerator) / Decimal(denominator)
    return [number, number + 1] if is_whole(place) else [number]
