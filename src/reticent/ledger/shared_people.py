"""Who is in how many releases: people counted over the releases of a ledger, by one identifying column.

The column is the one that most releases noted.  Hashes are compared, so that nobody is named; releases that did not note
the column, and those that were withdrawn and never handed out, are left out and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reticent.ledger import journal, private_files
from reticent.ledger.identifiers import NotedColumn, normalize_column_name
from reticent.ledger.ledger import Ledger
from reticent.ledger.private_files import LEDGER_FILE, LOCK_FILE, read_entries
from reticent.ledger.withdrawals import identify_entry, index_withdrawals, read_withdrawals

MAX_COUNTED_PEOPLE = 20_000_000  # over all releases, 8 bytes each


@dataclass(frozen=True, slots=True)
class SharedPeople:
    """How many people are in so many releases, by an identifying column.

    `people` has, for each number of releases, the people who are in as many; `unknown` releases noted no such column.
    """

    column: str
    releases: int
    unknown: int
    people: Mapping[int, int]


def count_shared_people(
    ledger: Ledger | str | Path | None = None, *, max_people: int = MAX_COUNTED_PEOPLE
) -> SharedPeople | None:
    """Count who is in how many releases; None if no release noted people, or more than `max_people` would be read.

    Raises RequestError if the ledger, or what it keeps of people, is damaged.
    """
    book = Ledger.open(ledger)
    if not (book.folder / LEDGER_FILE).exists():
        return None
    with private_files.hold_read_lock(book.folder / LOCK_FILE):
        entries = read_entries(book.folder / LEDGER_FILE)
        latest = index_withdrawals(read_withdrawals(book.folder))
        counting = []
        for entry, columns in zip(entries, book.read_people(entries), strict=True):
            withdrawal = latest.get(identify_entry(entry))
            if withdrawal is None or not withdrawal.never_handed_out:
                counting.append(columns)
        name = _choose_column(counting)
        if name is None:
            return None
        chosen = [column for columns in counting for column in columns if normalize_column_name(column.name) == name]
        if sum(column.people for column in chosen) > max_people:
            return None
        hashes = [column.read_hashes(book.folder / journal.SKETCHES_FOLDER) for column in chosen]
    _, times = np.unique(np.concatenate(hashes), return_counts=True)
    numbers = np.bincount(times)
    people = {number: int(count) for number, count in enumerate(numbers) if count}
    return SharedPeople(chosen[-1].name, len(chosen), len(counting) - len(chosen), people)


def _choose_column(noted: list[list[NotedColumn]]) -> str | None:
    """Choose the identifying column that most releases noted; of several, the one with the most people."""
    releases: Counter[str] = Counter()
    people: Counter[str] = Counter()
    for columns in noted:
        for column in columns:
            releases[normalize_column_name(column.name)] += 1
            people[normalize_column_name(column.name)] += column.people
    return max(releases, key=lambda name: (releases[name], people[name], name), default=None)
