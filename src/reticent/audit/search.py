"""Search bytes for any of many texts at once.

Every window of eight bytes (four, for shorter texts) is looked up among the texts' beginnings, all windows of a
buffer together; what agrees there is compared in full.  Texts of less than four bytes are not searched: they occur
in any file by chance.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

LEAST = 4
ENOUGH = 1000  # a leak of a thousand values is a leak: what follows is not counted
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Needles:
    """Texts to look for, by their UTF-8 bytes."""

    def __init__(self, texts: Iterable[str]):
        self.texts = sorted({text for text in texts if len(text.encode()) >= LEAST})
        self._bytes = [text.encode() for text in self.texts]
        self._long = _Beginnings({i: found for i, found in enumerate(self._bytes) if len(found) >= 8}, 8)
        self._short = _Beginnings({i: found for i, found in enumerate(self._bytes) if len(found) < 8}, 4)

    def __len__(self) -> int:
        return len(self.texts)

    def found_in(self, data: bytes, least: int = LEAST) -> set[str]:
        """Which texts of at least `least` bytes occur, `ENOUGH` of them at most."""
        hits = self._long.found_in(data) | (self._short.found_in(data) if least < 8 else set())
        return {self.texts[i] for i in hits if len(self._bytes[i]) >= least}

    def without(self, texts: set[str]) -> Needles:
        return Needles(text for text in self.texts if text not in texts)


class _Beginnings:
    """Needles of one kind, sorted by the integer that their first bytes are."""

    def __init__(self, needles: dict[int, bytes], width: int):
        self.width, self.dtype = width, np.dtype(f"<u{width}")
        self.needles: dict[int, list[tuple[int, bytes]]] = {}
        for i, needle in needles.items():
            self.needles.setdefault(int.from_bytes(needle[:width], "little"), []).append((i, needle))
        self.keys = np.array(sorted(self.needles), np.uint64)
        self.shift = np.uint64(64 - max(16, min(26, len(self.keys).bit_length() + 5)))
        self.possible = np.zeros(1 << (64 - int(self.shift)), bool)
        self.possible[(self.keys * _MIX) >> self.shift] = True

    def found_in(self, data: bytes) -> set[int]:
        found: set[int] = set()
        if not len(self.keys):
            return found
        for offset in range(min(self.width, len(data) - self.width + 1)):
            count = (len(data) - offset) // self.width
            windows = np.frombuffer(data, self.dtype, count, offset).astype(np.uint64)
            near = np.flatnonzero(self.possible[(windows * _MIX) >> self.shift])
            at = np.searchsorted(self.keys, windows[near])
            at[at == len(self.keys)] = 0
            near = near[self.keys[at] == windows[near]]
            for window in near.tolist():
                place = offset + window * self.width
                found.update(i for i, needle in self.needles[int(windows[window])] if data.startswith(needle, place))
                if len(found) >= ENOUGH:
                    return found
        return found
