"""How often each combination of numbers occurs, counted as rows come in.

The numbers of a row are packed into one word, so many bits for each column, and words are counted: short ones in an array,
others in a table by hash.  Where a column needs more bits than it has, what was counted is packed anew.
"""

from __future__ import annotations

import numpy as np

from reticent.kernels.audit_tallies import place, tally

BITS = 62  # of a word
FIRST = 1 << 12  # places of the first table
DIRECT = 20  # bits of a word up to which words are counted in an array that has a place for each
WAITING = 1 << 20  # rows that are merged at once, where a word is too small


class Tallies:
    """Counts of combinations, in memory that grows with how many are distinct."""

    def __init__(self, columns: int) -> None:
        self.bits = [0] * columns
        self.held = 0  # keys in the table
        self.direct: np.ndarray | None = np.zeros(1, np.int64)  # instead of the table, while words are short
        self._made(FIRST)

    def __len__(self) -> int:
        """How many distinct combinations there are."""
        return self.held if self.direct is None else int(np.count_nonzero(self.direct))

    def fits(self, sizes: list[int]) -> bool:
        """Whether combinations of columns with so many numbers each can be packed."""
        return sum(map(_needed, sizes)) <= BITS

    def add(self, columns: list[np.ndarray], meanings: list[np.ndarray], sizes: list[int]) -> None:
        """Count rows: the number of row i in a column is `meaning[column[i]]`, which is less than the column's size."""
        needed = [max(had, _needed(size)) for had, size in zip(self.bits, sizes, strict=True)]
        if needed != self.bits:
            codes, times = self.found()
            self.bits = needed
            self._put(self._words(list(codes.T)), times)
        named = zip(meanings, columns, strict=True)
        begin, word = 0, self._words([column if _same(meaning) else meaning[column] for meaning, column in named])
        if self.direct is not None:
            self.direct += np.bincount(word, minlength=len(self.direct))
            return
        while True:
            begin, self.held = tally(word, begin, self.keys, self.times, self.held, len(self.keys) // 2)
            if begin == len(word):
                return
            taken = self.keys >= 0
            self._place(self.keys[taken], self.times[taken], 2 * len(self.keys))

    def found(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct combinations in their order, and how often each occurs."""
        word, times = self._counted()
        codes = np.empty((len(word), len(self.bits)), np.int32)
        for at in reversed(range(len(self.bits))):
            codes[:, at] = word & ((1 << self.bits[at]) - 1)
            word >>= self.bits[at]
        return codes, times

    def _counted(self) -> tuple[np.ndarray, np.ndarray]:
        """The words in their order, and how often each occurs."""
        if self.direct is not None:
            word = np.flatnonzero(self.direct)
            return word, self.direct[word]
        taken = self.keys >= 0
        word, times = self.keys[taken], self.times[taken]
        order = np.argsort(word)
        return word[order], times[order]

    def _put(self, word: np.ndarray, times: np.ndarray) -> None:
        """What was counted before, in words of other bits."""
        if sum(self.bits) <= DIRECT:
            self.direct = np.zeros(1 << sum(self.bits), np.int64)
            self.direct[word] = times
            return
        self.direct = None
        self._place(word, times, 1 << (2 * len(word)).bit_length())

    def _words(self, columns: list[np.ndarray]) -> np.ndarray:
        word = np.zeros(len(columns[0]), np.int64)
        for column, bits in zip(columns, self.bits, strict=True):
            word <<= bits
            word |= column
        return word

    def _made(self, places: int) -> None:
        self.keys, self.times, self.held = np.full(places, -1, np.int64), np.zeros(places, np.int64), 0

    def _place(self, word: np.ndarray, times: np.ndarray, places: int) -> None:
        """A table of at least so many places, with what was counted."""
        self._made(max(places, len(self.keys)))
        place(word, times, self.keys, self.times)
        self.held = len(word)


class Wide:
    """The same where a word is too small: combinations are sorted, and merged some row groups at a time."""

    def __init__(self, codes: np.ndarray, times: np.ndarray) -> None:
        self.codes, self.times = codes, times
        self.waiting: list[np.ndarray] = []

    def __len__(self) -> int:
        """How many distinct combinations there are, those that wait to be merged not counted."""
        return len(self.codes)

    def add(self, columns: list[np.ndarray], meanings: list[np.ndarray], sizes: list[int]) -> None:
        listed = [meaning[column] for meaning, column in zip(meanings, columns, strict=True)]
        self.waiting.append(np.column_stack(listed).astype(np.int32))
        if sum(map(len, self.waiting)) > max(WAITING, len(self.codes)):
            self._merge()

    def found(self) -> tuple[np.ndarray, np.ndarray]:
        self._merge()
        return self.codes, self.times

    def _merge(self) -> None:
        once = np.ones(sum(map(len, self.waiting)), np.int64)
        codes, times = np.concatenate([self.codes, *self.waiting]), np.concatenate([self.times, once])
        words = _packed(codes)
        order = np.lexsort(words[::-1])
        differs = np.zeros(len(codes), bool)
        differs[:1] = True
        for word in words:
            word = word[order]
            differs[1:] |= word[1:] != word[:-1]
        starts = np.flatnonzero(differs)
        self.codes, self.waiting, times = codes[order[starts]], [], times[order]
        self.times = np.add.reduceat(times, starts) if len(starts) else times


def _packed(codes: np.ndarray) -> list[np.ndarray]:
    """Each row's codes in as few words as hold them, which order rows as their codes do."""
    words, free = [np.zeros(len(codes), np.int64)], BITS
    for column in codes.T:
        bits = _needed(int(column.max(initial=0)) + 1)
        if bits > free:
            words.append(np.zeros(len(codes), np.int64))
            free = BITS
        words[-1] <<= bits
        words[-1] |= column
        free -= bits
    return words


def _same(meaning: np.ndarray) -> bool:
    """Whether every number means itself: a file's dictionaries list values in one order."""
    return bool((meaning == np.arange(len(meaning))).all())


def _needed(size: int) -> int:
    return max(size - 1, 0).bit_length()
