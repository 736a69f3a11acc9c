"""Guesses how the texts of one column are to be read where they are written in several ways.

- `guess_date_formats` finds several date formats, with the share of the rows that each reads.
- `guess_amounts` finds number formats and currency signs of amounts, with the rows that have each sign.
- `guess_spellings` finds spellings of one value: texts that differ in case, spaces or Unicode form, and well-known pairs
  (`m` and `male`, `y` and `yes`), with the rows that have each.

All of them are proposals for a steward to confirm, and count rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from reticent.data.columns import Column
from reticent.data.parsing import fold_spelling
from reticent.data.text_formats import (
    MISSING_RATE,
    NUMBER_FORMATS,
    build_reading_table,
    count_units,
    find_ambiguous,
)
from reticent.errors import pluralize

MAX_GUESSED_FORMATS = 6  # of one column
MAX_GUESSED_SPELLINGS = 60  # texts of a map that is proposed
MAX_CATEGORIES = 500  # distinct values of a column whose spellings are compared
SAMPLE_VALUES = 2_000  # distinct values by which formats are chosen
MIN_FITTING_SHARE = 0.9  # of the rows must be read by the formats, or be words of the family, that are proposed
ISO_FORMATS = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S")
WELL_KNOWN_SPELLINGS: tuple[tuple[frozenset[str], ...], ...] = (
    (frozenset(("m", "male", "man")), frozenset(("f", "female", "woman", "w"))),
    (frozenset(("y", "yes")), frozenset(("n", "no"))),
)
"""Families of values, each with the spellings that mean the same."""
OTHER_WORDS = frozenset(("other", "o", "x", "d", "divers", "diverse", "nonbinary", "non-binary", "u"))
"""Words that stand beside such families and are values of their own."""


@dataclass(frozen=True, eq=False)
class FormatGuess:
    """Formats of a column in the order of their shares, and the distinct values that none of them reads.

    `alternative` is a format that differs from one of them in the order of day and month alone and reads as much;
    `ambiguous_count` is the number of distinct values that two of the formats read as different dates.
    """

    formats: tuple[str, ...]
    shares: tuple[float, ...]
    unparsed_count: int
    alternative: str | None = None
    ambiguous_count: int = 0

    def describe(self) -> str:
        """Describe the formats and their shares."""
        listed = ", ".join(
            f"{share:.0%} {format}" if share >= 0.01 else f"under 1% {format}"
            for format, share in zip(self.formats, self.shares, strict=True)
        )
        text = f"dates in {len(self.formats)} formats ({listed})"
        if self.ambiguous_count:
            text += f', of which two read {self.ambiguous_count:,} distinct values as different dates: leave one out, or say ambiguous = "first"'
        elif self.alternative is not None:
            text += f'; "{self.alternative}" would read as many: is the day before the month?'
        return text


@dataclass(frozen=True, eq=False)
class AmountGuess:
    """Number formats of amounts, and the rows that have each currency sign, the most frequent first."""

    format: str | tuple[str, ...]
    unit_rows: Mapping[str, int] = field(default_factory=dict)

    @property
    def rates(self) -> dict[str, Any]:
        """The rates to propose: the most frequent sign is the unit of the column, others count as missing."""
        if len(self.unit_rows) < 2:
            return {}
        first = next(iter(self.unit_rows))
        return {unit: 1 if unit == first else MISSING_RATE for unit in self.unit_rows}

    @property
    def missing_rows(self) -> int:
        """Rows whose amount would be missing by the proposed rates."""
        return sum(rows for unit, rows in self.unit_rows.items() if self.rates.get(unit) == MISSING_RATE)

    def describe(self) -> str:
        """Describe the currencies, and what is proposed."""
        if not self.rates:
            return ""
        first = next(iter(self.unit_rows))
        counts = ", ".join(f"{rows:,} rows in {unit}" for unit, rows in self.unit_rows.items())
        return (
            f"amounts in {len(self.unit_rows)} currencies ({counts}): those not in {first} count as missing, unless "
            f'`rates` says what 1 of each is worth in {first}, as "€" = 1.08'
        )


def guess_date_formats(values: pl.Series, rows: pl.Series, formats: Sequence[str]) -> FormatGuess | None:
    """Find several formats that read nearly all texts together, none of which does alone; None if there are none.

    `rows` are the rows that hold each of the distinct values.
    """
    known = [format for format in (*ISO_FORMATS, *formats) if "%z" not in format]
    sample = values if len(values) <= SAMPLE_VALUES else values.sample(SAMPLE_VALUES, seed=1)
    readings = _read_all(sample, known)
    likely = [format for format in known if readings[format].is_not_null().any()]
    if len(likely) < 2:
        return None
    readings = _read_all(values, likely)
    is_read = {format: readings[format].is_not_null() for format in likely}
    chosen: list[str] = []
    is_left = pl.repeat(True, len(values), eager=True)
    while is_left.any() and len(chosen) < MAX_GUESSED_FORMATS:
        gains = {format: int(rows.filter(is_read[format] & is_left).sum()) for format in likely}
        best = max(likely, key=lambda format: gains[format])
        if gains[best] == 0:
            break
        chosen.append(best)
        is_left &= ~is_read[best]
    total = int(rows.sum())
    unread_rows = int(rows.filter(is_left).sum())
    if len(chosen) < 2 or unread_rows > (1 - MIN_FITTING_SHARE) * total:
        return None
    is_unread = pl.repeat(True, len(values), eager=True)
    shares = []
    for format in chosen:
        shares.append(int(rows.filter(is_read[format] & is_unread).sum()) / total)
        is_unread &= ~is_read[format]
    ambiguous = int(find_ambiguous(readings.select(chosen)).sum())
    alternative = next(
        (swapped for format in chosen if (swapped := _find_equal_swap(format, likely, is_read, chosen))), None
    )
    return FormatGuess(tuple(chosen), tuple(shares), int(is_left.sum()), alternative, ambiguous)


def guess_amounts(values: pl.Series, rows: pl.Series) -> AmountGuess | None:
    """Find the number formats by which every text is an amount, and the rows of each currency sign; None if there are none."""
    units = count_units(values)
    signs = values.str.extract(r"([$€£¥]|\b(?:USD|EUR|GBP|CHF)\b)")
    unit_rows = {unit: int(rows.filter((signs == unit).fill_null(False)).sum()) for unit in units}
    unit_rows = dict(sorted(unit_rows.items(), key=lambda entry: -entry[1]))
    format_of_unit: dict[str | None, str] = {}
    for unit in (*unit_rows, None):
        texts = values.filter(signs.is_null() if unit is None else (signs == unit).fill_null(False))
        fitting = [format for format in NUMBER_FORMATS if _reads_all(texts, format)]
        if not fitting:
            return None
        if len(texts):
            format_of_unit[unit] = fitting[0]
    if not format_of_unit:
        return None
    plain = next(iter(format_of_unit.values()))
    other = [f"{format} {unit}" for unit, format in format_of_unit.items() if format != plain and unit is not None]
    if format_of_unit.get(None, plain) != plain:
        return None  # amounts without a sign are written otherwise than those with one
    return AmountGuess(plain if not other else (plain, *other), unit_rows)


def guess_spellings(values: pl.Series, rows: pl.Series) -> dict[str, str]:
    """Return a map of spellings to the most frequent one of each group; empty if there are none, or too many."""
    if not 2 <= len(values) <= MAX_CATEGORIES:
        return {}
    counts = dict(zip(values.to_list(), rows.to_list(), strict=True))
    folded_rows: Counter[str] = Counter()
    for text, count in counts.items():
        folded_rows[fold_spelling(text)] += count
    family = _find_family(folded_rows)
    groups: dict[str, list[str]] = {}
    for text in counts:
        groups.setdefault(family.get(fold_spelling(text), fold_spelling(text)), []).append(text)
    spellings = {}
    for group in groups.values():
        best = max(sorted(group), key=lambda text: counts[text])
        spellings.update({text: best for text in sorted(group) if text != best})
    return spellings if len(spellings) <= MAX_GUESSED_SPELLINGS else {}


def describe_spellings(spellings: Mapping[str, str], values: pl.Series, rows: pl.Series) -> str:
    """Describe a proposed map by the rows that it changes."""
    counts = Counter(dict(zip(values.to_list(), rows.to_list(), strict=True)))
    changed = sum(counts[text] for text in spellings)
    targets = len(set(spellings.values()))
    return (
        f"{len(spellings) + targets} spellings look like {pluralize(targets, 'value')}, and `map` gives each value one "
        f"spelling ({pluralize(changed, 'row', 'changes', 'change')})"
    )


def _read_all(values: pl.Series, formats: Sequence[str]) -> pl.DataFrame:
    """Read texts by each format, as moments."""
    columns = []
    for format in formats:
        pair = (format, next(other for other in ISO_FORMATS if other != format))  # as one of several
        table = build_reading_table(values, Column("quasi-identifying", format=pair, ambiguous="first"))
        columns.append(table[format].cast(pl.Datetime("us")))
    return pl.DataFrame(columns)


def _find_equal_swap(
    format: str, likely: Sequence[str], is_read: Mapping[str, pl.Series], chosen: Sequence[str]
) -> str | None:
    """Return the format with day and month exchanged if it reads all that this one reads, and is none of those chosen."""
    swapped = format.replace("%d", "\x00").replace("%m", "%d").replace("\x00", "%m")
    if swapped == format or swapped not in likely or swapped in chosen:
        return None
    return swapped if bool((is_read[swapped] | ~is_read[format]).all()) else None


def _reads_all(texts: pl.Series, format: str) -> bool:
    if not len(texts):
        return True
    readings = build_reading_table(texts, Column("quasi-identifying", format=format))
    return readings[format].null_count() == 0


def _find_family(rows: Mapping[str, int]) -> dict[str, str]:
    """Return for each word of a well-known family the name of its group, if the column has hardly any other words.

    `rows` are the rows of each folded word. Where other words stand beside the family, one of its whole words must occur
    and its rows must be nearly all: the letters alone may be sizes, or codes.
    """
    total = sum(rows.values())
    for groups in WELL_KNOWN_SPELLINGS:
        words = frozenset().union(*groups)
        of_family = rows.keys() & words
        if not of_family:
            continue
        is_mostly_family = sum(rows[word] for word in of_family) >= MIN_FITTING_SHARE * total
        has_whole_word = any(len(word) > 1 for word in of_family)
        if rows.keys() <= words | OTHER_WORDS or (has_whole_word and is_mostly_family):
            return {word: min(group) for group in groups for word in group}
    return {}
