"""Search bytes for any of many texts at once.

The texts stand in a tree whose edges are blocks of eight bytes (four, for shorter texts).  All places of a buffer walk
down it together: who finds the next block goes on, who meets the end of a text has found it.  So a place costs a few
lookups, however many texts begin alike.  Below some depth the tree ends, and what is left of it is searched text by text,
which is linear too.  Texts of less than four bytes are not searched: they occur in any file by
chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

LEAST = 4
BESIDE = 2  # bytes beside a number that say whether it goes on
ENOUGH = 1000  # a leak of a thousand values is a leak: what follows is not counted
_MIX = np.uint64(0x9E3779B97F4A7C15)
_AT_ONCE = 1 << 20  # places that walk together
_DEEP = 32  # levels below which each text under a node that was reached is searched by itself


class Needles:
    """Texts to look for, by their UTF-8 bytes."""

    def __init__(self, texts: Iterable[str]):
        self.texts = list(dict.fromkeys(texts))
        self._bytes = list(map(str.encode, self.texts))
        self._sizes = np.array(list(map(len, self._bytes)), np.int64)
        self._plant(np.ones(len(self.texts), bool))

    def _plant(self, wanted: np.ndarray) -> None:
        self._wanted = wanted
        self._long = _Tree(self._bytes, np.flatnonzero(wanted & (self._sizes >= 8)), 8)
        self._short = _Tree(self._bytes, np.flatnonzero(wanted & (self._sizes >= LEAST) & (self._sizes < 8)), 4)

    def __len__(self) -> int:
        return self._long.planted + self._short.planted

    @property
    def longest(self) -> int:
        """Bytes of the longest text that is looked for."""
        return int(self._sizes[self._wanted].max(initial=0))

    def found_in(self, data: bytes, least: int = LEAST) -> set[str]:
        """Which texts of at least `least` bytes occur, `ENOUGH` of them at most."""
        return {self.texts[i] for i in self._hits(data, least, ENOUGH)}

    def ignore_those_in(self, data: bytes) -> None:
        """Look no longer for what occurs here."""
        if occurring := self._hits(data, LEAST, len(self.texts) + 1):
            wanted = self._wanted.copy()
            wanted[list(occurring)] = False
            self._plant(wanted)

    def _hits(self, data: bytes, least: int, most: int) -> set[int]:
        hits = self._long.found_in(data, most)
        if least < 8:
            hits |= self._short.found_in(data, most)
        return {i for i in hits if len(self._bytes[i]) >= least}


def stands_alone(text: str, data: bytes, begins: bool = True, ends: bool = True) -> bool:
    """Whether a text that occurs in other text stands there by itself: a number does not stand in a longer number.

    Unless the data `begins` and `ends` here, what stands at its ends is judged with the data before and after it.
    """
    if not (text[:1].isdigit() or text[-1:].isdigit()):
        return True
    needle = text.encode()
    place = data.find(needle, 0 if begins else BESIDE)
    while place >= 0:
        end = place + len(needle)
        if not ends and end + BESIDE > len(data):
            return False
        before = data[max(place - BESIDE, 0) : place]
        after = data[end : end + BESIDE]
        is_within = text[:1].isdigit() and (before[-1:].isdigit() or (before[-1:] == b"." and before[:1].isdigit()))
        goes_on = text[-1:].isdigit() and (after[:1].isdigit() or (after[:1] == b"." and after[1:].isdigit()))
        if not is_within and not goes_on:
            return True
        place = data.find(needle, place + 1)
    return False


@dataclass(frozen=True, eq=False)
class _Edges:
    """Pairs of a node and a word, each with what it leads to: another node, or a text that ends here."""

    words: np.ndarray
    pairs: np.ndarray
    leads_to: np.ndarray

    @classmethod
    def of(cls, nodes: np.ndarray, words: np.ndarray, leads_to: np.ndarray) -> _Edges:
        distinct, code = np.unique(words, return_inverse=True)
        pairs = nodes * np.int64(len(distinct)) + code
        order = np.argsort(pairs, kind="stable")
        return cls(distinct, pairs[order], leads_to[order])

    def follow(self, nodes: np.ndarray, words: np.ndarray) -> np.ndarray:
        """Where each pair leads, -1 where it leads nowhere."""
        code = np.minimum(np.searchsorted(self.words, words), len(self.words) - 1)
        pairs = nodes * np.int64(len(self.words)) + code
        at = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
        return np.where((self.words[code] == words) & (self.pairs[at] == pairs), self.leads_to[at], -1)


@dataclass(eq=False)
class _Level:
    """What may follow the nodes of one depth: whole blocks, ends after some bytes, the texts below the last nodes."""

    blocks: _Edges | None = None
    ends: dict[int, _Edges] = field(default_factory=dict)
    below: dict[int, list[int]] = field(default_factory=dict)


class _Tree:
    """Some of the texts, each at least a block of `width` bytes long."""

    def __init__(self, needles: Sequence[bytes], chosen: np.ndarray, width: int):
        self.width, self.needles, self.planted = width, needles, len(chosen)
        self.dtype = np.dtype(f"<u{width}")
        self.levels: list[_Level] = []
        if not self.planted:
            return
        texts = [needles[i] for i in chosen.tolist()]
        sizes = np.array(list(map(len, texts)), np.int64)
        starts = np.cumsum(sizes) - sizes
        block = self._blocks(b"".join(texts))
        node = np.zeros(len(chosen), np.int64)
        while len(chosen):
            level, going, node = self._level(chosen, sizes, node, block[starts + width * len(self.levels)])
            self.levels.append(level)
            chosen, sizes, starts = chosen[going], sizes[going], starts[going]
        first = self.levels[0].blocks
        if first is not None:
            self.shift = np.uint64(64 - max(16, min(26, len(first.words).bit_length() + 5)))
            self.possible = np.zeros(1 << (64 - int(self.shift)), bool)
            self.possible[(first.words * _MIX) >> self.shift] = True

    def _blocks(self, data: bytes) -> np.ndarray:
        """The block that begins at each byte, as an integer; behind the end stand zeros."""
        return np.ndarray(len(data) + 1, self.dtype, data + bytes(self.width), strides=(1,))

    def _level(
        self, chosen: np.ndarray, sizes: np.ndarray, node: np.ndarray, block: np.ndarray
    ) -> tuple[_Level, np.ndarray, np.ndarray]:
        """The next level of these texts at their nodes; which of them go on, and to which nodes."""
        level, left = _Level(), sizes - self.width * len(self.levels)
        block = block.astype(np.uint64)
        for rest in np.unique(left[left < self.width]).tolist():
            ending = left == rest
            level.ends[rest] = _Edges.of(node[ending], block[ending] & _mask(rest), chosen[ending])
        going = left >= self.width
        if len(self.levels) >= _DEEP:
            for at, text in zip(node[going].tolist(), chosen[going].tolist(), strict=True):
                level.below.setdefault(at, []).append(text)
            going[:] = False
        if going.any():
            words, code = np.unique(block[going], return_inverse=True)
            pairs, below = np.unique(node[going] * np.int64(len(words)) + code, return_inverse=True)
            level.blocks = _Edges(words, pairs, np.arange(len(pairs)))
            return level, np.flatnonzero(going), below
        return level, np.flatnonzero(going), node[:0]

    def found_in(self, data: bytes, most: int) -> set[int]:
        """Which texts occur, by number; `most` of them or a few more."""
        found: set[int] = set()
        tried: set[int] = set()
        if not self.planted or len(data) < self.width:
            return found
        block = self._blocks(data)
        for begin in range(0, len(data) - self.width + 1, _AT_ONCE):
            words = block[begin : min(begin + _AT_ONCE, len(data) - self.width + 1)].astype(np.uint64)
            near = np.flatnonzero(self.possible[(words * _MIX) >> self.shift])
            self._walk(data, block, near + begin, found, tried)
            if len(found) >= most:
                break
        return found

    def _walk(self, data: bytes, block: np.ndarray, places: np.ndarray, found: set[int], tried: set[int]) -> None:
        """Down the tree from all places, noting the texts that end on the way, and those `tried` in all of the data."""
        node = np.zeros(len(places), np.int64)
        for depth, level in enumerate(self.levels):
            if not len(places):
                return
            passed = depth * self.width
            words = block[places + passed].astype(np.uint64)
            for rest, ends in level.ends.items():
                text = ends.follow(node, words & _mask(rest))
                whole = (text >= 0) & (places + passed + rest <= len(data))  # not by the zeros behind the end
                found.update(np.unique(text[whole]).tolist())
            for reached in np.unique(node).tolist() if level.below else ():
                below = [text for text in level.below.get(reached, ()) if text not in tried]
                tried.update(below)
                found.update(text for text in below if self.needles[text] in data)
            if level.blocks is None:
                return
            node = level.blocks.follow(node, words)
            on = (node >= 0) & (places + passed + self.width <= len(data))
            places, node = places[on], node[on]


def _mask(size: int) -> np.uint64:
    """The first so many bytes of a block."""
    return np.uint64((1 << (8 * size)) - 1)
