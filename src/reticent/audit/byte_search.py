"""Search of all bytes of a release folder for any of many texts at once.

`read_folder_windows` yields everything a release folder holds as `ByteWindow` objects: pages and metadata of Parquet
files, texts of the manifest, and other files as they are. `TextSearch` finds texts in them, and `stands_alone` tells
whether a text that was found is a word of its own.

The texts form a tree whose edges are blocks of eight bytes (four, for shorter texts). All places of a buffer walk down
the tree together: a place goes on while the next block is found, and a text is found where its end is reached. So a
place costs a few lookups, however many texts begin alike. Below a certain depth the tree ends, and the rest is searched
text by text, which is linear too. Texts of less than four bytes are not searched: they occur in any file by chance.

A Parquet reader shows only the values that rows refer to, but a dictionary page may hold more: values of rows that were
removed. So `read_pages` reads pages by the format itself: a Thrift header (compact protocol) and a body, compressed by
the column chunk's codec. Dictionaries and values are returned decompressed, as they are stored in the file.
"""

from __future__ import annotations

import base64
import binascii
import json
import mmap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from reticent import catalogue
from reticent.errors import OutOfMemory
from reticent.format.manifest import Manifest
from reticent.format.parquet import DATA_PAGE_V2, DICTIONARY_PAGE, read_page_headers, release_mapped_memory
from reticent.memory import SMALL_TABLE_BYTES, get_available_memory
from reticent.release.bundle import MANIFEST_FILE
from reticent.release.kind import reader_for

MAX_PAGE_BYTES = (1 << 31) - 1  # the largest page that the format allows
PARQUET_SUFFIXES = (".parquet", ".pq")
PLAIN_ENCODING = 0
PLAIN_DICTIONARY_ENCODING = 2
RLE_DICTIONARY_ENCODING = 8
_FIXED_DTYPES = {"INT32": "<i4", "INT64": "<i8", "FLOAT": "<f4", "DOUBLE": "<f8"}
MIN_TEXT_BYTES = 4
CONTEXT_BYTES = 2  # bytes beside a number that show whether it goes on
MAX_HITS = 1000  # a leak of a thousand values is a leak: what follows is not counted
_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_PLACES_PER_STEP = 1 << 20  # places that walk together
_MAX_LEVELS = 32  # levels below which each text under a node that was reached is searched by itself
WINDOW_BYTES = 64 << 20  # bytes of a file that are searched together
MIN_BYTES_NOT_BY_CHANCE = 8  # shorter texts occur by chance in numbers, codes and compressed bytes


@dataclass(frozen=True, eq=False)
class ByteWindow:
    """some bytes of a file; `min_bytes` is the length of the shortest text that cannot occur there by chance."""

    file: str
    data: bytes
    min_bytes: int = MIN_TEXT_BYTES
    is_text: bool = False  # whether it is text, in which a number ends where its digits do
    begins: bool = True  # whether the file begins here, and whether it ends here
    ends: bool = True


def read_folder_windows(folder: Path, manifest: Manifest, longest: int) -> Iterator[ByteWindow]:
    """Yield windows over the folder: every text of up to `longest` bytes in it lies in one window as a whole."""
    for path in sorted(folder.iterdir()):
        if path.name == MANIFEST_FILE:
            stated = json.loads(path.read_text(encoding="utf-8"))
            stated.pop("about", None)  # words of the publisher's own, which `AboutLookup` compares whole
            texts = _list_manifest_texts(stated)
            yield ByteWindow(path.name, "\n".join(texts).encode(), is_text=True)
        elif path.suffix == ".parquet":
            yield from _read_parquet_windows(path, longest)
        elif path.name == "README.md" and _is_rendered_readme(path, manifest):
            continue  # a function of the manifest, which was searched
        elif path.name == catalogue.REPORT_FILE_NAME:  # anybody may have written it; drawings hold many numbers
            yield from _read_raw_windows(path, longest, MIN_BYTES_NOT_BY_CHANCE)
        else:
            yield from _read_raw_windows(path, longest)


def read_file_windows(path: Path, longest: int) -> Iterator[ByteWindow]:
    """Yield such windows over a single file of another tool."""
    if path.suffix in PARQUET_SUFFIXES:
        return _read_parquet_windows(path, longest)
    return _read_raw_windows(path, longest)


class TextSearch:
    """Texts to look for, by their UTF-8 bytes."""

    def __init__(self, texts: Iterable[str], max_levels: int = _MAX_LEVELS, step_places: int = _PLACES_PER_STEP):
        self._max_levels = max_levels
        self._step_places = step_places
        self.texts = list(dict.fromkeys(texts))
        self._bytes = list(map(str.encode, self.texts))
        self._sizes = np.array(list(map(len, self._bytes)), np.int64)
        self._plant(np.ones(len(self.texts), bool))

    def _plant(self, wanted: np.ndarray) -> None:
        self._wanted = wanted
        is_long = self._sizes >= 8
        self._long = self._build_tree(wanted & is_long, 8)
        self._short = self._build_tree(wanted & (self._sizes >= MIN_TEXT_BYTES) & ~is_long, 4)

    def _build_tree(self, chosen: np.ndarray, width: int) -> _TextTree:
        return _TextTree(self._bytes, np.flatnonzero(chosen), width, self._max_levels, self._step_places)

    def __len__(self) -> int:
        return self._long.planted + self._short.planted

    @property
    def longest(self) -> int:
        """Number of bytes of the longest text that is searched."""
        return int(self._sizes[self._wanted].max(initial=0))

    def find_in(self, data: bytes, min_bytes: int = MIN_TEXT_BYTES) -> set[str]:
        """Find the texts of at least `min_bytes` bytes that occur, `MAX_HITS` of them at most."""
        return {self.texts[i] for i in self._find_hits(data, min_bytes, MAX_HITS)}

    def ignore_found_in(self, data: bytes) -> None:
        """Stop searching for the texts that occur in this data."""
        if occurring := self._find_hits(data, MIN_TEXT_BYTES, len(self.texts) + 1):
            wanted = self._wanted.copy()
            wanted[list(occurring)] = False
            self._plant(wanted)

    def _find_hits(self, data: bytes, min_bytes: int, max_hits: int) -> set[int]:
        hits = self._long.find_in(data, max_hits)
        if min_bytes < 8:
            hits |= self._short.find_in(data, max_hits)
        return {i for i in hits if len(self._bytes[i]) >= min_bytes}


def stands_alone(text: str, data: bytes, begins: bool = True, ends: bool = True) -> bool:
    """Whether a text that occurs in other text is a word of its own: a number inside a longer number is not.

    Unless the data `begins` and `ends` here, occurrences at its ends are judged with the data before and after it.
    """
    if not (text[:1].isdigit() or text[-1:].isdigit()):
        return True
    needle = text.encode()
    place = data.find(needle, 0 if begins else CONTEXT_BYTES)
    while place >= 0:
        end = place + len(needle)
        if not ends and end + CONTEXT_BYTES > len(data):
            return False
        before = data[max(place - CONTEXT_BYTES, 0) : place]
        after = data[end : end + CONTEXT_BYTES]
        is_within = text[:1].isdigit() and (before[-1:].isdigit() or (before[-1:] == b"." and before[:1].isdigit()))
        goes_on = text[-1:].isdigit() and (after[:1].isdigit() or (after[:1] == b"." and after[1:].isdigit()))
        if not is_within and not goes_on:
            return True
        place = data.find(needle, place + 1)
    return False


@dataclass(frozen=True, eq=False)
class ParquetPage:
    """A page of a Parquet file: `physical` is the column's physical type.

    `plain` tells whether the body holds values and not codes of them.
    """

    column: str
    physical: str
    dictionary: bool
    plain: bool
    values: int
    body: bytes

    def entries(self) -> list[Any]:
        """Decode the values of a dictionary page: texts as bytes, numbers as they are stored."""
        if self.physical == "BYTE_ARRAY":
            texts = []
            offset = 0
            for _ in range(self.values):
                size = int.from_bytes(self.body[offset : offset + 4], "little")
                texts.append(self.body[offset + 4 : offset + 4 + size])
                offset += 4 + size
            return texts
        if self.physical in _FIXED_DTYPES:
            return np.frombuffer(self.body, _FIXED_DTYPES[self.physical], self.values).tolist()
        return []


def read_pages(path: Path) -> Iterator[ParquetPage]:
    """Yield all pages of all column chunks.

    A release's pages were checked before; another tool's may be as large as memory holds.
    """
    import pyarrow.parquet as pq

    with (
        pq.ParquetFile(path) as file,
        open(path, "rb") as handle,
        mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as raw,
    ):
        metadata = file.metadata
        for group in range(metadata.num_row_groups):
            for column in range(metadata.num_columns):
                yield from _read_chunk_pages(raw, metadata.row_group(group).column(column))
            release_mapped_memory(raw)


def read_dictionary_pages(path: Path) -> Iterator[ParquetPage]:
    """Yield the dictionary pages of all column chunks."""
    return (page for page in read_pages(path) if page.dictionary)


def _list_manifest_texts(value: Any) -> Iterator[str]:
    """List keys and texts of a manifest; checksums are random digits and are left out."""
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield str(key)
            if key != "sha256":
                yield from _list_manifest_texts(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _list_manifest_texts(entry)
    elif isinstance(value, str):
        yield value


def _read_parquet_windows(path: Path, longest: int) -> Iterator[ByteWindow]:
    import pyarrow.parquet as pq

    yield from _read_raw_windows(path, longest, MIN_BYTES_NOT_BY_CHANCE)
    for page in read_pages(path):
        holds_texts = page.plain and page.physical == "BYTE_ARRAY"
        yield ByteWindow(path.name, page.body, MIN_TEXT_BYTES if holds_texts else MIN_BYTES_NOT_BY_CHANCE)
    for key, value in (pq.read_metadata(path).metadata or {}).items():
        min_bytes = MIN_BYTES_NOT_BY_CHANCE if key == b"ARROW:schema" else MIN_TEXT_BYTES
        yield ByteWindow(path.name, key + b"\n" + value, min_bytes)
        try:
            yield ByteWindow(path.name, base64.b64decode(value, validate=True), MIN_BYTES_NOT_BY_CHANCE)
        except binascii.Error:
            continue


def _is_rendered_readme(path: Path, manifest: Manifest) -> bool:
    return path.read_text(encoding="utf-8") == reader_for(manifest.kind).readme(manifest)


def _read_raw_windows(
    path: Path, longest: int, min_bytes: int = MIN_TEXT_BYTES, window_bytes: int = WINDOW_BYTES
) -> Iterator[ByteWindow]:
    """Read a file from end to end.

    Windows overlap, so that no text, nor its neighbouring bytes, is divided between two.
    """
    is_text = path.suffix not in PARQUET_SUFFIXES
    overlap = b""
    begins = True
    with open(path, "rb") as handle:
        while fresh := handle.read(window_bytes):
            window = overlap + fresh
            yield ByteWindow(path.name, window, min_bytes, is_text, begins, not handle.peek(1))
            overlap = window[max(len(window) - longest - CONTEXT_BYTES, 0) :]
            begins = False


class _TextTree:
    """The tree of some of the texts, each at least one block of `width` bytes long."""

    def __init__(self, needles: Sequence[bytes], chosen: np.ndarray, width: int, max_levels: int, step_places: int):
        self.width = width
        self.max_levels = max_levels
        self.step_places = step_places
        self.needles = needles
        self.planted = len(chosen)
        self.dtype = np.dtype(f"<u{width}")
        self.levels: list[_Level] = []
        if not self.planted:
            return
        texts = [needles[i] for i in chosen.tolist()]
        sizes = np.array(list(map(len, texts)), np.int64)
        starts = np.cumsum(sizes) - sizes
        block = self._read_blocks(b"".join(texts))
        node = np.zeros(len(chosen), np.int64)
        while len(chosen):
            level, continuing, node = self._build_level(chosen, sizes, node, block[starts + width * len(self.levels)])
            self.levels.append(level)
            chosen = chosen[continuing]
            sizes = sizes[continuing]
            starts = starts[continuing]
        first = self.levels[0].blocks
        if first is not None:
            self.shift = np.uint64(64 - max(16, min(26, len(first.words).bit_length() + 5)))
            self.possible = np.zeros(1 << (64 - int(self.shift)), bool)
            self.possible[(first.words * _HASH_MULTIPLIER) >> self.shift] = True

    def _read_blocks(self, data: bytes) -> np.ndarray:
        """Read the block that begins at each byte as an integer; the data is padded with zeros."""
        return np.ndarray(len(data) + 1, self.dtype, data + bytes(self.width), strides=(1,))

    def _build_level(
        self, chosen: np.ndarray, sizes: np.ndarray, node: np.ndarray, block: np.ndarray
    ) -> tuple[_Level, np.ndarray, np.ndarray]:
        """Build the next level of these texts at their nodes; return which texts go on, and to which nodes."""
        level = _Level()
        remaining = sizes - self.width * len(self.levels)
        block = block.astype(np.uint64)
        for rest in np.unique(remaining[remaining < self.width]).tolist():
            ending = remaining == rest
            level.ends[rest] = _Edges.from_arrays(node[ending], block[ending] & _make_block_mask(rest), chosen[ending])
        continues = remaining >= self.width
        if len(self.levels) >= self.max_levels:
            for parent, text in zip(node[continues].tolist(), chosen[continues].tolist(), strict=True):
                level.below.setdefault(parent, []).append(text)
            continues[:] = False
        if continues.any():
            words, code = np.unique(block[continues], return_inverse=True)
            pairs, below = np.unique(node[continues] * np.int64(len(words)) + code, return_inverse=True)
            level.blocks = _Edges(words, pairs, np.arange(len(pairs)))
            return level, np.flatnonzero(continues), below
        return level, np.flatnonzero(continues), node[:0]

    def find_in(self, data: bytes, max_hits: int) -> set[int]:
        """Find which texts occur, by number; `max_hits` of them or a few more."""
        hits: set[int] = set()
        tried: set[int] = set()
        if not self.planted or len(data) < self.width:
            return hits
        block = self._read_blocks(data)
        for begin in range(0, len(data) - self.width + 1, self.step_places):
            words = block[begin : min(begin + self.step_places, len(data) - self.width + 1)].astype(np.uint64)
            near = np.flatnonzero(self.possible[(words * _HASH_MULTIPLIER) >> self.shift])
            self._walk(data, block, near + begin, hits, tried)
            if len(hits) >= max_hits:
                break
        return hits

    def _walk(self, data: bytes, block: np.ndarray, places: np.ndarray, hits: set[int], tried: set[int]) -> None:
        """Walk down the tree from all places.

        Note in `hits` the texts that end on the way, and in `tried` those that were searched in all of the data.
        """
        node = np.zeros(len(places), np.int64)
        for depth, level in enumerate(self.levels):
            if not len(places):
                return
            passed = depth * self.width
            words = block[places + passed].astype(np.uint64)
            for rest, ends in level.ends.items():
                text = ends.follow(node, words & _make_block_mask(rest))
                is_inside = (text >= 0) & (places + passed + rest <= len(data))  # not by the zeros behind the end
                hits.update(np.unique(text[is_inside]).tolist())
            for reached in np.unique(node).tolist() if level.below else ():
                below = [text for text in level.below.get(reached, ()) if text not in tried]
                tried.update(below)
                hits.update(text for text in below if self.needles[text] in data)
            if level.blocks is None:
                return
            node = level.blocks.follow(node, words)
            continues = (node >= 0) & (places + passed + self.width <= len(data))
            places = places[continues]
            node = node[continues]


def _read_chunk_pages(raw: Any, chunk: Any) -> Iterator[ParquetPage]:
    start = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        start = min(start, chunk.dictionary_page_offset)
    for page in read_page_headers(raw, start, start + chunk.total_compressed_size, MAX_PAGE_BYTES):
        _require_memory(page.size)
        packed = raw[page.start : page.start + page.packed]
        body = _unpack_body(packed, page.size, page.kind, page.type_header, chunk.compression)
        encoding = page.type_header.get(4 if page.kind == DATA_PAGE_V2 else 2, PLAIN_ENCODING)
        dictionary = page.kind == DICTIONARY_PAGE
        plain = dictionary or encoding not in (PLAIN_DICTIONARY_ENCODING, RLE_DICTIONARY_ENCODING)
        yield ParquetPage(chunk.path_in_schema, chunk.physical_type, dictionary, plain, page.values, body)


@dataclass(eq=False)
class _Level:
    """What may follow the nodes of one depth: whole blocks, ends after some bytes, and the texts below the last nodes."""

    blocks: _Edges | None = None
    ends: dict[int, _Edges] = field(default_factory=dict)
    below: dict[int, list[int]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Edges:
    """Edges of the tree: each pair of a node and a word leads to another node, or to a text that ends here."""

    words: np.ndarray
    pairs: np.ndarray
    leads_to: np.ndarray

    @classmethod
    def from_arrays(cls, nodes: np.ndarray, words: np.ndarray, leads_to: np.ndarray) -> _Edges:
        distinct, code = np.unique(words, return_inverse=True)
        pairs = nodes * np.int64(len(distinct)) + code
        order = np.argsort(pairs, kind="stable")
        return cls(distinct, pairs[order], leads_to[order])

    def follow(self, nodes: np.ndarray, words: np.ndarray) -> np.ndarray:
        """Return where each pair leads, -1 where it leads nowhere."""
        code = np.minimum(np.searchsorted(self.words, words), len(self.words) - 1)
        pairs = nodes * np.int64(len(self.words)) + code
        position = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
        return np.where((self.words[code] == words) & (self.pairs[position] == pairs), self.leads_to[position], -1)


def _make_block_mask(size: int) -> np.uint64:
    """Make a mask of the first so many bytes of a block."""
    return np.uint64((1 << (8 * size)) - 1)


def _require_memory(size: int) -> None:
    """Refuse a page that memory cannot hold twice."""
    available = get_available_memory() if size > SMALL_TABLE_BYTES else None
    if available is not None and 2 * size > available:
        raise OutOfMemory(
            "A page of the Parquet file is too large for the memory that is left.",
            why=f"It opens to {size / 1e9:.1f} GB, and {max(available, 0) / 1e9:.1f} GB are free.",
            attempt="a machine with more memory, or writing the file with smaller pages.",
        )


def _unpack_body(packed: bytes, size: int, kind: int, type_header: Mapping[int, Any], compression: str) -> bytes:
    import pyarrow as pa

    if compression == "UNCOMPRESSED":
        return packed
    codec = pa.Codec({"LZ4": "lz4_raw"}.get(compression, compression.lower()))
    levels = type_header.get(5, 0) + type_header.get(6, 0) if kind == DATA_PAGE_V2 else 0
    if kind == DATA_PAGE_V2 and (type_header.get(7) is False or size == levels):
        return packed
    return packed[:levels] + bytes(codec.decompress(packed[levels:], decompressed_size=size - levels))
