"""What a Parquet file claims, by its footer and its page headers, before a page is opened; and its distinct rows, counted.

A few bytes can claim any number of rows, and a page any size: a reader that believes them runs out of memory. So a
release's file must be nothing but its column chunks and its footer, with no free text, row groups and pages no larger
than a writer makes them, pages that fill their chunks, and chunks that hold as many values as their group has rows.

`ThriftReader` reads as much of Thrift's compact protocol as the headers of Parquet pages use; invalid bytes raise
ValueError.

`count_distinct_parquet_rows` counts distinct rows, row group by row group, without materializing texts. A text column's
pages are numbered by a dictionary already. The codes of a row are packed into one word, so many bits for each column,
and words are counted as rows arrive (`PackedTallies`): short ones in an array, others in a hash table. Where a column
needs more bits than it has, the counts are packed again. Where a word is too small, combinations are sorted and merged
(`SortedTallies`). Only what is distinct is kept: memory holds one row group.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from reticent.kernels.audit_tallies import place_words, tally_words

MAX_STRUCT_DEPTH = 8  # structs inside structs
MAX_LIST_ENTRIES = 1 << 16  # entries of a list
MAX_VARINT_BYTES = 10  # bytes of a number
PARQUET_MAGIC = b"PAR1"
TAIL_BYTES = 8  # at both ends, and before the last the footer's length
MAX_FOOTER_BYTES = 64 << 20  # bytes of a footer
MAX_ROWS_PER_GROUP = 1 << 20  # rows of a row group; ours have half as many
MIN_ROWS_PER_GROUP = 1 << 12  # rows for each row group after the first
MAX_PAGE_BYTES = 128 << 20  # bytes of a page when it is opened
MIN_VALUES_PER_PAGE = 1 << 9  # values for each page after the first few; ours have twice as many
ALLOWED_CODECS = {0, 7}  # none, and LZ4, which opens to 255 times its size at most; others open to many thousand times
DICTIONARY_PAGE = 2
DATA_PAGE = 0
DATA_PAGE_V2 = 3
INDEX_PAGE = 1
MAX_DIRECT_SPAN = 1 << 10  # whole numbers that lie no further apart are numbered by their distance from the least


class ThriftReader:
    """A reader at a position in some bytes; `end` is where they stop."""

    def __init__(self, raw: Any, at: int, end: int):
        self.raw = raw
        self.at = at
        self.end = end

    def struct(self, depth: int = 0) -> tuple[dict[int, Any], int]:
        """Read the fields of a struct by number; also return where it ends."""
        if depth > MAX_STRUCT_DEPTH:
            raise ValueError("structs are nested too deep")
        fields: dict[int, Any] = {}
        field = 0
        while (head := self._read_byte()) != 0:
            field = field + (head >> 4) if head >> 4 else self._read_zigzag()
            fields[field] = self._read_value(head & 15, depth)
        return fields, self.at

    def _read_value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self._read_byte()
        if kind in (4, 5, 6):
            return self._read_zigzag()
        if kind == 7:
            return self._skip_bytes(8)
        if kind == 8:
            return self._skip_bytes(self._read_varint())
        if kind in (9, 10):
            head = self._read_byte()
            size = head >> 4 if head >> 4 != 15 else self._read_varint()
            if size > MAX_LIST_ENTRIES:
                raise ValueError("a list is too long")
            return [self._read_value(head & 15, depth + 1) for _ in range(size)]
        if kind == 12:
            return self.struct(depth + 1)[0]
        raise ValueError("no header")

    def _skip_bytes(self, size: int) -> None:
        """Skip texts and doubles: they do not affect a page's size."""
        self.at += size
        if self.at > self.end:
            raise ValueError("a header ends too late")

    def _read_byte(self) -> int:
        if self.at >= self.end:
            raise ValueError("a header ends too late")
        self.at += 1
        return int(self.raw[self.at - 1])

    def _read_varint(self) -> int:
        number = 0
        for place in range(MAX_VARINT_BYTES):
            byte = self._read_byte()
            number |= (byte & 127) << 7 * place
            if byte < 128:
                return number
        raise ValueError("a number is too long")

    def _read_zigzag(self) -> int:
        value = self._read_varint()
        return (value >> 1) ^ -(value & 1)


class UnsoundParquet(ValueError):
    """Raised if a file's claims cannot be true. The message is a sentence that quotes nothing."""


@dataclass(frozen=True, slots=True)
class PageHeader:
    """A page: its `kind`, the `fields` of its header, where its body starts, its compressed and decompressed size."""

    kind: int
    fields: Mapping[int, Any]
    start: int
    packed: int
    size: int

    @property
    def type_header(self) -> Mapping[int, Any]:
        header = self.fields.get({DICTIONARY_PAGE: 7, DATA_PAGE: 5, DATA_PAGE_V2: 8}.get(self.kind, 0), {})
        return header if isinstance(header, dict) else {}

    @property
    def values(self) -> int:
        count = self.type_header.get(1, 0)
        return count if isinstance(count, int) else -1


@dataclass(frozen=True, slots=True)
class ParquetClaims:
    """What a sound file claims: its rows, its columns with their Arrow types, and its pages' decompressed bytes."""

    rows: int
    columns: Mapping[str, Any]
    unpacked_bytes: int


def read_claims(path: Path, *, pages: bool = True) -> ParquetClaims:
    """Read and check a file's claims; raises `UnsoundParquet`.

    Nothing is read but the footer and, with `pages`, the headers of the pages; leave them out if they were checked
    before.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    size = path.stat().st_size
    with open(path, "rb") as handle:
        _require_magic_bytes(handle, size)
        try:
            with pq.ParquetFile(path) as file:
                metadata = file.metadata
                schema = file.schema_arrow
        except (OSError, ValueError, pa.ArrowException, MemoryError):
            raise UnsoundParquet("its footer cannot be read") from None
        if pages and metadata.metadata:
            raise UnsoundParquet("its footer holds texts beside the columns")
        if len(set(schema.names)) != len(schema.names) or metadata.num_columns != len(schema.names):
            raise UnsoundParquet("a column stands twice, or holds lists or tables")
        if pages:
            with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as raw:
                _require_sound_pages(raw, metadata, size)
    unpacked_bytes = sum(chunk.total_uncompressed_size for chunk in _list_chunks(metadata))
    return ParquetClaims(metadata.num_rows, dict(zip(schema.names, schema.types, strict=True)), unpacked_bytes)


def release_mapped_memory(raw: Any) -> None:
    """Release the mapped memory that was read: otherwise a file that is read from end to end is in memory whole."""
    if hasattr(mmap, "MADV_DONTNEED"):
        raw.madvise(mmap.MADV_DONTNEED)


def read_page_headers(raw: Any, start: int, end: int, max_bytes: int = MAX_PAGE_BYTES) -> Iterator[PageHeader]:
    """Yield the pages of a chunk, from its first byte to its last.

    A page that decompresses to more than `most` bytes is refused.
    """
    position = start
    while position < end:
        try:
            fields, position = ThriftReader(raw, position, end).struct()
            kind, size, packed = (int(fields[number]) for number in (1, 2, 3))
        except (KeyError, TypeError, ValueError):
            raise UnsoundParquet("a page has no header that can be read") from None
        if (
            kind not in (DICTIONARY_PAGE, DATA_PAGE, DATA_PAGE_V2, INDEX_PAGE)
            or packed < 0
            or position + packed > end
            or not 0 <= size <= max_bytes
        ):
            raise UnsoundParquet(f"a page is none of a column, or opens to more than {max_bytes:,} bytes")
        header = PageHeader(kind, fields, position, packed, size)
        if header.values < 0:
            raise UnsoundParquet("a page has no number of values")
        yield header
        position += packed


@dataclass(frozen=True, slots=True)
class TallyLimits:
    """How combinations are packed and counted."""

    word_bits: int = 62
    initial_places: int = 1 << 12  # places of the first table
    direct_bits: int = 20  # bits of a word up to which words are counted in an array that has a place for each
    waiting_rows: int = 1 << 20  # rows that are merged at once, where a word is too small


DEFAULT_TALLY_LIMITS = TallyLimits()


class PackedTallies:
    """Counts of combinations, in memory that grows with the number of distinct ones."""

    def __init__(self, columns: int, limits: TallyLimits = DEFAULT_TALLY_LIMITS) -> None:
        self.limits = limits
        self.bits = [0] * columns
        self.held = 0  # keys in the table
        self.direct: np.ndarray | None = np.zeros(1, np.int64)  # instead of the table, while words are short
        self._allocate(limits.initial_places)

    def __len__(self) -> int:
        """Return how many distinct combinations there are."""
        return self.held if self.direct is None else int(np.count_nonzero(self.direct))

    def fits(self, sizes: list[int]) -> bool:
        """Tell whether combinations of columns with so many codes each can be packed."""
        return sum(map(_count_bits, sizes)) <= self.limits.word_bits

    def add(self, columns: list[np.ndarray], meanings: list[np.ndarray], sizes: list[int]) -> None:
        """Count rows: the code of row i in a column is `meaning[column[i]]`, which is less than the column's size."""
        needed = [max(bits, _count_bits(size)) for bits, size in zip(self.bits, sizes, strict=True)]
        if needed != self.bits:
            codes, multiplicity = self.list_combinations()
            self.bits = needed
            self._put(self._pack_words(list(codes.T)), multiplicity)
        meaning_and_column = zip(meanings, columns, strict=True)
        begin = 0
        word = self._pack_words(
            [column if _is_identity(meaning) else meaning[column] for meaning, column in meaning_and_column]
        )
        if self.direct is not None:
            self.direct += np.bincount(word, minlength=len(self.direct))
            return
        while True:
            begin, self.held = tally_words(word, begin, self.keys, self.times, self.held, len(self.keys) // 2)
            if begin == len(word):
                return
            is_taken = self.keys >= 0
            self._place(self.keys[is_taken], self.times[is_taken], 2 * len(self.keys))

    def list_combinations(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct combinations in their order, and how often each occurs."""
        word, multiplicity = self._list_words()
        codes = np.empty((len(word), len(self.bits)), np.int32)
        for position in reversed(range(len(self.bits))):
            codes[:, position] = word & ((1 << self.bits[position]) - 1)
            word >>= self.bits[position]
        return codes, multiplicity

    def _list_words(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the words in their order, and how often each occurs."""
        if self.direct is not None:
            word = np.flatnonzero(self.direct)
            return word, self.direct[word]
        is_taken = self.keys >= 0
        word = self.keys[is_taken]
        multiplicity = self.times[is_taken]
        order = np.argsort(word)
        return word[order], multiplicity[order]

    def _put(self, word: np.ndarray, multiplicity: np.ndarray) -> None:
        """Store earlier counts, packed again with other bits."""
        if sum(self.bits) <= self.limits.direct_bits:
            self.direct = np.zeros(1 << sum(self.bits), np.int64)
            self.direct[word] = multiplicity
            return
        self.direct = None
        self._place(word, multiplicity, 1 << (2 * len(word)).bit_length())

    def _pack_words(self, columns: list[np.ndarray]) -> np.ndarray:
        word = np.zeros(len(columns[0]), np.int64)
        for column, bits in zip(columns, self.bits, strict=True):
            word <<= bits
            word |= column
        return word

    def _allocate(self, places: int) -> None:
        self.keys = np.full(places, -1, np.int64)
        self.times = np.zeros(places, np.int64)
        self.held = 0

    def _place(self, word: np.ndarray, multiplicity: np.ndarray, places: int) -> None:
        """Make a table of at least `places` places, with the counts so far."""
        self._allocate(max(places, len(self.keys)))
        place_words(word, multiplicity, self.keys, self.times)
        self.held = len(word)


class SortedTallies:
    """Counts of combinations that do not fit one word: they are sorted, and merged some row groups at a time."""

    def __init__(self, codes: np.ndarray, times: np.ndarray, limits: TallyLimits = DEFAULT_TALLY_LIMITS) -> None:
        self.limits = limits
        self.codes = codes
        self.times = times
        self.waiting: list[np.ndarray] = []

    def __len__(self) -> int:
        """Return how many distinct combinations there are, without those that wait to be merged."""
        return len(self.codes)

    def add(self, columns: list[np.ndarray], meanings: list[np.ndarray], sizes: list[int]) -> None:
        code_columns = [meaning[column] for meaning, column in zip(meanings, columns, strict=True)]
        self.waiting.append(np.column_stack(code_columns).astype(np.int32))
        if sum(map(len, self.waiting)) > max(self.limits.waiting_rows, len(self.codes)):
            self._merge()

    def list_combinations(self) -> tuple[np.ndarray, np.ndarray]:
        self._merge()
        return self.codes, self.times

    def _merge(self) -> None:
        once = np.ones(sum(map(len, self.waiting)), np.int64)
        codes = np.concatenate([self.codes, *self.waiting])
        multiplicity = np.concatenate([self.times, once])
        words = _pack_codes(codes, self.limits.word_bits)
        order = np.lexsort(words[::-1])
        differs = np.zeros(len(codes), bool)
        differs[:1] = True
        for word in words:
            word = word[order]
            differs[1:] |= word[1:] != word[:-1]
        starts = np.flatnonzero(differs)
        self.codes = codes[order[starts]]
        self.waiting = []
        multiplicity = multiplicity[order]
        self.times = np.add.reduceat(multiplicity, starts) if len(starts) else multiplicity


class TooManyDistinct(Exception):
    """Raised if there are more distinct values, or rows, than are worth counting."""


def count_distinct_parquet_rows(
    path: Path | Sequence[Path],
    names: list[str],
    limits: tuple[int, int] | None = None,
    tally_limits: TallyLimits = DEFAULT_TALLY_LIMITS,
) -> tuple[pl.DataFrame, np.ndarray]:
    """Count the rows of each distinct combination of the columns `names`, in a file or in the parts of one.

    `limits`: `TooManyDistinct` is raised as soon as a column has more distinct values, or there are more distinct
    combinations.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = [path] if isinstance(path, Path) else path
    schema = pq.read_schema(paths[0])
    types = _read_schema(paths[0])
    texts = [name for name in names if pa.types.is_string(schema.field(name).type)]
    columns = [_ValueNumbers() for _ in names]
    tallies: PackedTallies | SortedTallies = PackedTallies(len(names), tally_limits)
    with _RowGroupReader(paths, texts) as file:
        for group_index in range(file.num_row_groups):
            table = file.read_row_group(group_index, columns=names)
            encoded = [_encode_column(table.column(name)) for name in names]
            del table
            meanings = [column.add(values) for column, (_, values) in zip(columns, encoded, strict=True)]
            sizes = [len(column.number) for column in columns]
            if limits is not None and (max(sizes) > limits[0] or len(tallies) > limits[1]):
                raise TooManyDistinct
            if isinstance(tallies, PackedTallies) and not tallies.fits(sizes):
                tallies = SortedTallies(*tallies.list_combinations(), tally_limits)
            tallies.add([numbers for numbers, _ in encoded], meanings, sizes)
    codes, multiplicity = tallies.list_combinations()
    frame = {}
    for position, (name, column) in enumerate(zip(names, columns, strict=True)):
        series = pl.Series(name, list(column.number), dtype=types[name])  # not by pa.array: it would load pandas
        frame[name] = series.gather(codes[:, position])
    return pl.DataFrame(frame), multiplicity


def _require_magic_bytes(handle: Any, size: int) -> None:
    if size < len(PARQUET_MAGIC) + TAIL_BYTES or handle.read(len(PARQUET_MAGIC)) != PARQUET_MAGIC:
        raise UnsoundParquet("it is no Parquet file")
    handle.seek(size - TAIL_BYTES)
    tail = handle.read(TAIL_BYTES)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != PARQUET_MAGIC or not 0 < length <= min(MAX_FOOTER_BYTES, size - len(PARQUET_MAGIC) - TAIL_BYTES):
        raise UnsoundParquet("it has no footer of a size that can be")


def _require_sound_pages(raw: Any, metadata: Any, size: int) -> None:
    """Check every page of every chunk, and that chunks fill the file."""
    groups = metadata.num_row_groups
    footer = size - TAIL_BYTES - int.from_bytes(raw[size - TAIL_BYTES : size - 4], "little")
    if not _read_codecs(raw, footer, size - TAIL_BYTES) <= ALLOWED_CODECS:
        raise UnsoundParquet("it is packed otherwise than reticent packs")
    if groups > 1 + metadata.num_rows // MIN_ROWS_PER_GROUP:
        raise UnsoundParquet(f"it has {groups:,} row groups for {metadata.num_rows:,} rows")
    rows = 0
    spans = []
    for group_index in range(groups):
        group = metadata.row_group(group_index)
        if not 0 <= group.num_rows <= MAX_ROWS_PER_GROUP:
            raise UnsoundParquet(f"a row group has {group.num_rows:,} rows, and {MAX_ROWS_PER_GROUP:,} are the most")
        rows += group.num_rows
        for place in range(metadata.num_columns):
            chunk = group.column(place)
            if chunk.num_values != group.num_rows:
                raise UnsoundParquet("a column has not as many values as rows")
            if not group.num_rows and not chunk.total_compressed_size:
                continue  # an empty table has no pages
            spans.append(span := _find_chunk_span(chunk, size))
            if _count_unpacked_bytes(raw, span, group.num_rows, metadata.num_rows) > chunk.total_uncompressed_size:
                raise UnsoundParquet("a column opens to more bytes than its footer says")
        release_mapped_memory(raw)
    if rows != metadata.num_rows:
        raise UnsoundParquet(f"it claims {metadata.num_rows:,} rows, and its row groups have {rows:,}")
    spans.sort()
    if [*(start for start, _ in spans), footer] != [len(PARQUET_MAGIC), *(end for _, end in spans)]:
        raise UnsoundParquet("it holds bytes that no column reads")


def _list_chunks(metadata: Any) -> Iterator[Any]:
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            yield metadata.row_group(group).column(place)


def _count_bits(size: int) -> int:
    return max(size - 1, 0).bit_length()


def _is_identity(meaning: np.ndarray) -> bool:
    """Tell whether every code maps to itself: a file's dictionaries list values in one order."""
    return bool((meaning == np.arange(len(meaning))).all())


def _pack_codes(codes: np.ndarray, word_bits: int) -> list[np.ndarray]:
    """Pack each row's codes in as few words as hold them, in an order that sorts rows as their codes do."""
    words = [np.zeros(len(codes), np.int64)]
    free = word_bits
    for column in codes.T:
        bits = _count_bits(int(column.max(initial=0)) + 1)
        if bits > free:
            words.append(np.zeros(len(codes), np.int64))
            free = word_bits
        words[-1] <<= bits
        words[-1] |= column
        free -= bits
    return words


def _read_schema(path: Path) -> pl.Schema:
    return pl.scan_parquet(
        path, glob=False, hive_partitioning=False
    ).collect_schema()  # marks of a pattern may be its name


@dataclass(eq=False)
class _ValueNumbers:
    """The values met so far, numbered in the order they were met; a null is a value too."""

    number: dict[Any, int] = field(default_factory=dict)

    def add(self, values: list[Any]) -> np.ndarray:
        return np.array([self.number.setdefault(value, len(self.number)) for value in values], np.int32)


class _RowGroupReader:
    """Reads the row groups of several files, one after the other; one file is open at a time."""

    def __init__(self, paths: Sequence[Path], texts: list[str]):
        import pyarrow.parquet as pq

        self._texts = texts
        self._at = Path()
        self._open: pq.ParquetFile | None = None
        counts = [(path, pq.read_metadata(path).num_row_groups) for path in paths]
        self._places = [(path, group) for path, groups in counts for group in range(groups)]
        self.num_row_groups = len(self._places)

    def __enter__(self) -> _RowGroupReader:
        return self

    def __exit__(self, *error: object) -> None:
        if self._open is not None:
            self._open.close()

    def read_row_group(self, index: int, columns: list[str]) -> Any:
        import pyarrow.parquet as pq

        path, group = self._places[index]
        if self._at != path:
            self.__exit__()
            self._open = pq.ParquetFile(path, read_dictionary=self._texts)
            self._at = path
        assert self._open is not None
        return self._open.read_row_group(group, columns=columns)


def _encode_column(column: Any) -> tuple[np.ndarray, list[Any]]:
    """Return a column of one row group as codes, and the value of each; None last where there are nulls."""
    import pyarrow as pa

    column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # no rows
        return np.zeros(0, np.int64), []
    if pa.types.is_integer(column.type) and column.type.bit_width <= 32 and len(column) and not column.null_count:
        stored = _convert_to_numpy(column)
        lowest = int(stored.min())
        highest = int(stored.max())
        if highest - lowest < MAX_DIRECT_SPAN:
            return np.subtract(stored, lowest, dtype=np.int64), list(range(lowest, highest + 1))
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    values = coded.dictionary.to_pylist()
    numbers = coded.indices
    if numbers.null_count:
        numbers = numbers.fill_null(len(values))
        values = [*values, None]
    return _convert_to_numpy(numbers), values


def _read_codecs(raw: Any, start: int, end: int) -> set[Any]:
    """Return the chunks' codecs by the format's own numbers: pyarrow ends the process if asked for one that it lacks."""
    try:
        groups = ThriftReader(raw, start, end).struct()[0].get(4, [])
        return {chunk[3][4] for group in groups for chunk in group[1]}
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise UnsoundParquet("its footer cannot be read") from None


def _find_chunk_span(chunk: Any, size: int) -> tuple[int, int]:
    start = first = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        start = min(start, chunk.dictionary_page_offset)
        if not first and not chunk.num_values:  # a column without rows has an empty dictionary, and no page
            start = first = chunk.dictionary_page_offset
    end = start + chunk.total_compressed_size
    inside = start <= first <= end
    if not inside or not len(PARQUET_MAGIC) <= start <= end <= size - TAIL_BYTES:
        raise UnsoundParquet("a column lies outside the file")
    return start, end


def _count_unpacked_bytes(raw: Any, span: tuple[int, int], rows: int, file_rows: int) -> int:
    """Count the decompressed bytes of a chunk's pages; its group has `rows` rows, the file `whole`."""
    values = 0
    unpacked_bytes = 0
    for pages, header in enumerate(read_page_headers(raw, *span), start=1):
        if header.kind == DICTIONARY_PAGE:
            if header.values > file_rows:
                raise UnsoundParquet("a dictionary lists more values than rows")
        else:
            values += header.values
        unpacked_bytes += header.size
        if pages > 8 + rows // MIN_VALUES_PER_PAGE:
            raise UnsoundParquet(f"a column of {rows:,} rows has {pages:,} pages and more")
    if values != rows:
        raise UnsoundParquet("the pages of a column have not as many values as rows")
    return unpacked_bytes


def _convert_to_numpy(numbers: Any) -> np.ndarray:
    """Return the numbers of an Arrow array without nulls."""
    width = numbers.type.to_pandas_dtype()
    stored = np.frombuffer(numbers.buffers()[1], width)  # not by to_numpy: it would load pandas
    return stored[numbers.offset : numbers.offset + len(numbers)]
