"""Search bytes for any of many texts at once.

Every window of eight bytes (four, for shorter texts) is looked up among the texts' beginnings, all windows of a
buffer together; what agrees there is looked up in full, once for each length of the texts that begin so: however many
begin alike (moments of one month, say), a window costs the same.  Texts of less than four bytes are not searched: they occur
in any file by chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

LEAST = 4
ENOUGH = 1000  # a leak of a thousand values is a leak: what follows is not counted
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Needles:
    """Texts to look for, by their UTF-8 bytes."""

    def __init__(self, texts: Iterable[str]):
        self.texts = list(dict.fromkeys(texts))
        self._bytes = [text.encode() for text in self.texts]
        self._ignored: set[int] = set()
        sizes = np.array([len(found) for found in self._bytes], np.int64)
        self._long = _Beginnings(self._bytes, np.flatnonzero(sizes >= 8), 8)
        self._short = _Beginnings(self._bytes, np.flatnonzero((sizes >= LEAST) & (sizes < 8)), 4)

    def __len__(self) -> int:
        return len(self._long.keys) + len(self._short.keys)

    def found_in(self, data: bytes, least: int = LEAST) -> set[str]:
        """Which texts of at least `least` bytes occur, `ENOUGH` of them at most."""
        return {self.texts[i] for i in self._hits(data, least, ENOUGH)}

    def ignore_those_in(self, data: bytes) -> None:
        """Look no longer for what occurs here."""
        self._ignored |= self._hits(data, LEAST, len(self.texts) + 1)

    def _hits(self, data: bytes, least: int, most: int) -> set[int]:
        hits = self._long.found_in(data, self._ignored, most)
        if least < 8:
            hits |= self._short.found_in(data, self._ignored, most)
        return {i for i in hits if len(self._bytes[i]) >= least}


class _Beginnings:
    """Some of the needles, in the order of the integer that their first bytes are."""

    def __init__(self, needles: Sequence[bytes], chosen: np.ndarray, width: int):
        self.width, self.dtype, self.needles = width, np.dtype(f"<u{width}"), needles
        keys = np.frombuffer(b"".join(needles[i][:width] for i in chosen.tolist()), self.dtype).astype(np.uint64)
        order = np.argsort(keys, kind="stable")
        self.keys, chosen = keys[order], chosen[order]
        self.whole = {needles[i]: i for i in chosen.tolist()}
        self.lengths = _lengths(self.keys, [len(needles[i]) for i in chosen.tolist()])
        self.shift = np.uint64(64 - max(16, min(26, len(keys).bit_length() + 5)))
        self.possible = np.zeros(1 << (64 - int(self.shift)), bool)
        self.possible[(keys * _MIX) >> self.shift] = True

    def found_in(self, data: bytes, ignored: set[int], most: int) -> set[int]:
        found: set[int] = set()
        if not len(self.keys):
            return found
        for offset in range(min(self.width, len(data) - self.width + 1)):
            windows = np.frombuffer(data, self.dtype, (len(data) - offset) // self.width, offset).astype(np.uint64)
            near = np.flatnonzero(self.possible[(windows * _MIX) >> self.shift])
            first = np.searchsorted(self.keys, windows[near])
            met = self.keys[np.minimum(first, len(self.keys) - 1)] == windows[near]
            for window, low in zip(near[met].tolist(), first[met].tolist(), strict=True):
                place = offset + window * self.width
                for length in self.lengths[low]:
                    i = self.whole.get(data[place : place + length])
                    if i is not None and i not in ignored:
                        found.add(i)
                if len(found) >= most:
                    return found
        return found


def _lengths(keys: np.ndarray, sizes: Sequence[int]) -> dict[int, list[int]]:
    """The lengths of the texts of each beginning, by where its run starts."""
    found: dict[int, list[int]] = {}
    if not len(keys):
        return found
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(keys)], strict=True):
        found[start] = sorted(set(sizes[start:stop]))
    return found
