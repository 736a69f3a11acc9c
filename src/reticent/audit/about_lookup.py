"""Looks for people in `[about]`: a title or a contact that names somebody whom the release must not name.

What the publisher says of a release is published as it is written, and is no part of what the method hides. Where the
source is at hand, its values that the release must not show are looked up among the words of these texts: values of
columns that are not published, and values that only withheld rows have. Words are compared whole and without case.

A publisher's text may rightly hold such a value: the hospital that a dropped column names, the year of a period. So it
is no evidence where the text is

- short, or a number of less than five digits: a year, a count;
- a longer number, where as many digits make a value of the column once in a hundred times or more;
- the first or last day of a month, which a period begins or ends with;
- what the release may show anyway: a name of a column, a published value;
- of a column that is not published, and more rows have it than one person may have, or the column has few values.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date, timedelta
from typing import Any

import polars as pl

from reticent.audit.source_comparison import SourceComparison, list_texts

MAX_WORDS = 8  # of a value that is looked up
MIN_LETTERS = 4
MIN_DIGITS = 5
MIN_DISTINCT_VALUES = 20  # of a column that may number or name people
_WORD_PATTERN = re.compile(r"\w+")


class AboutLookup:
    """The words of what is said about a release, and the values of the source that are found among them."""

    def __init__(self, about: Mapping[str, Any], source: SourceComparison, rows_per_person: int):
        lines = [line for said in about.values() for line in ([said] if isinstance(said, str) else said)]
        self._phrases = {phrase for line in lines for phrase in _list_phrases(line)}
        self._source = source
        self._rows_per_person = rows_per_person
        self._distinct: dict[str, int] = {}
        self._numerals: dict[tuple[str, int], int] = {}
        self._hidden: dict[str, set[str]] = {}
        self._withheld: dict[str, set[str]] = {}

    def add_hidden(self, name: str, values: Collection[str]) -> None:
        """Look up some of the values of a column that is not published; no value is added twice."""
        if not self._phrases:
            return
        self._distinct[name] = self._distinct.get(name, 0) + len(values)
        for size in {len(phrase) for phrase in self._phrases if phrase.isdecimal()}:
            count = sum(len(value) == size and value.isdecimal() for value in values)
            self._numerals[name, size] = self._numerals.get((name, size), 0) + count
        self._hidden.setdefault(name, set()).update(self._find_among_phrases(values))

    def add_withheld(self, name: str, values: Collection[str]) -> None:
        """Look up values of a published column that only withheld rows have."""
        if self._phrases:
            self._withheld.setdefault(name, set()).update(self._find_among_phrases(values))

    def count_leaks(self, explained: Iterable[str]) -> dict[str, int]:
        """Count, by column, the values that should not be said; `explained` are texts that the release may show."""
        if not any((*self._hidden.values(), *self._withheld.values())):
            return {}
        shown = {_normalize(text) for text in explained}
        counts = {}
        for name in dict.fromkeys([*self._hidden, *self._withheld]):
            values = self._select_people(name) | self._withheld.get(name, set())
            values = {value for value in values if _normalize(value) not in shown}
            if values:
                counts[name] = len(values)
        return counts

    def _find_among_phrases(self, values: Collection[str]) -> Iterator[str]:
        """Find values that stand among the words of a text and are no number or day that stands there by chance."""
        for value in values:
            normalized = _normalize(value)
            if normalized in self._phrases and _is_telling(normalized):
                yield value

    def _select_people(self, name: str) -> set[str]:
        """Select the values of a hidden column that no more rows have than one person may."""
        telling = {value for value in self._hidden.get(name, ()) if not self._is_number_by_chance(name, value)}
        if not telling or self._distinct[name] < MIN_DISTINCT_VALUES:
            return set()
        values, times = self._source.values(name)
        return telling & list_texts(values.filter(pl.Series(times <= self._rows_per_person)))

    def _is_number_by_chance(self, name: str, value: str) -> bool:
        return value.isdecimal() and self._numerals[name, len(value)] * 100 >= 10 ** len(value)


def _list_phrases(line: str) -> Iterator[str]:
    """List all runs of whole words of a line, as they are compared."""
    words = list(_WORD_PATTERN.finditer(line))
    for first, begin in enumerate(words):
        for end in words[first : first + MAX_WORDS]:
            yield _normalize(line[begin.start() : end.end()])


def _normalize(text: str) -> str:
    """Return a text without case, and without the marks before its first and after its last word."""
    words = list(_WORD_PATTERN.finditer(text))
    return text[words[0].start() : words[-1].end()].casefold() if words else ""


def _is_telling(text: str) -> bool:
    """Tell whether a text, found among the words of a publisher, is evidence of a person's value."""
    if text.isdecimal():
        return len(text) >= MIN_DIGITS
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return len(text) >= MIN_LETTERS
    return day.day != 1 and (day + timedelta(days=1)).day != 1
