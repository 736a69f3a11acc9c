"""Files of a source: which ones a path names, and how their bytes become text or a table.

- `resolve_files` finds the files of a folder (Parquet, with or without hive partitions) or of a pattern such as
  `day-*.csv`. Files are taken in the order of their names. All must have the same columns of the same types: a file
  that lacks one is refused by its name. What begins with `_` or `.` is not data, as Spark and similar programs leave
  it there.
- `open_text` gives a CSV's bytes as UTF-8, decompressed and recoded while they are read, never all at once.
- `read_program_file` reads Excel, SPSS, Stata and SAS files, each with an optional dependency.
- `scan_parquet` scans Parquet files with their partition columns.
- `require_fits_memory` estimates the memory that a file's rows need before they are read: a file of few bytes may
  hold many rows.
"""

from __future__ import annotations

import codecs
import glob as glob_module
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import polars as pl

from reticent import memory
from reticent.data.database import import_driver
from reticent.errors import OutOfMemory, SourceError, SourceUnreachable, quote_list

EXCEL_SUFFIXES = {".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"}
STATISTICS_READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_UTF8_NAMES = ("utf-8", "utf8")
_BUFFER_BYTES = 1 << 20
CSV_SUFFIXES = {".csv", ".tsv", ".txt", ".data"}
PARQUET_SUFFIXES = {".parquet", ".pq"}
ARROW_SUFFIXES = {".arrow", ".feather", ".ipc"}
_GLOB_MARKS = "*?["
_HIDDEN_PREFIXES = ("_", ".")
_ZERO_PADDED_PATTERN = re.compile(r"=[+-]?0\d+(\.\d+)?$")
MIN_VALUE_BYTES = 24  # bytes of memory for each value of a Parquet file at the least: a text of 16, and its code
MIN_ROW_BYTES = 8  # bytes of each row, of which one column at the least is read
_FOOTER_SUFFIXES = (".parquet", ".pq")
_MEASURE_BYTES = 1 << 24


@dataclass(frozen=True)
class FileSet:
    """The files of a source, all of one kind; `root` is the folder, if the source is one.

    `keys` are the columns whose values are in the names of folders between the root and each file, in Hive's layout.
    """

    paths: tuple[Path, ...]
    root: Path | None = None
    keys: tuple[str, ...] = ()

    @property
    def codes(self) -> set[str]:
        """Partition keys with a value that has a zero before other digits: codes, as in a CSV, not numbers."""
        parts = {
            part for path in self.paths if self.keys for part in _split_relative(path, self.root or path.parent)[:-1]
        }
        return {_parse_partition_key(part) for part in parts if _ZERO_PADDED_PATTERN.search(part)}

    @property
    def suffix(self) -> str:
        return find_data_suffix(self.paths[0])


def resolve_files(name: str) -> FileSet:
    """Find the files that a source's path names."""
    path = Path(name)
    if path.is_dir():
        return _make_file_set(path, _list_folder(path), path)
    if path.is_file():
        return FileSet((path,))
    if path.exists():
        raise SourceError(
            f"{path} is no regular file.",
            why="A pipe or a device cannot be read twice, and may never end.",
            attempt="what it gives, saved to a file.",
        )
    if any(mark in name for mark in _GLOB_MARKS):
        return _make_file_set(path, _list_matching(name))
    raise SourceUnreachable(
        f"There is no file {path}.", attempt="a path relative to the working directory or to the job file."
    )


def read_program_file(path: Path) -> pl.DataFrame:
    """Read the first sheet, or the data of the file; codes as they are stored, not their labels."""
    if path.suffix.lower() in EXCEL_SUFFIXES:
        import_driver("fastexcel", "excel")
        return pl.read_excel(path, infer_schema_length=None)
    reader = getattr(import_driver("pyreadstat", "statfiles"), STATISTICS_READERS[path.suffix.lower()])
    frame, _ = reader(str(path), output_format="polars")
    return restore_integers(frame)


def restore_integers(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn columns of whole numbers back into integers: these formats store every number as a float."""
    floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    integer_columns = [name for name in floats if (frame[name].is_null() | (frame[name].round() == frame[name])).all()]
    return frame.with_columns(pl.col(integer_columns).cast(pl.Int64)) if integer_columns else frame


def find_data_suffix(path: Path) -> str:
    """Return the suffix of the file's own format: `.csv` of `people.csv.gz`."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in COMPRESSIONS else suffix


def is_utf8(encoding: str) -> bool:
    """Tell whether an encoding's name is one of UTF-8."""
    return encoding.lower().replace("_", "-") in _UTF8_NAMES


def is_plain_utf8(path: Path, encoding: str) -> bool:
    """Tell whether the file's own bytes are the text."""
    return path.suffix.lower() not in COMPRESSIONS and is_utf8(encoding)


@contextmanager
def open_text(path: Path, encoding: str = "utf-8") -> Iterator[IO[bytes]]:
    """Open the text's bytes as UTF-8; a byte that is not valid in the encoding is refused with its position."""
    with _open_decompressed(path) as raw:
        yield raw if is_utf8(encoding) else io.BufferedReader(_RecodedFile(raw, path, encoding), _BUFFER_BYTES)


def find_outer_partition_keys(root: Path, keys: Sequence[str], columns: Iterable[str]) -> list[str]:
    """Return partition columns of folders above the source, which do not belong to it.

    A column that would replace one of the source's own is refused.
    """
    outer_keys = [_parse_partition_key(part) for part in root.parts if "=" in part]
    if shadowing := [name for name in outer_keys if name in {*keys, *columns}]:
        raise SourceError(
            f"{root.name} lies in a folder that says a value of {quote_list(shadowing)}, which the source has itself.",
            why="Every row would have the folder's value.",
            attempt="a link to the source from elsewhere, or another place for it.",
        )
    return outer_keys


def require_same_columns(
    paths: Sequence[Path], schemas: Sequence[dict[str, pl.DataType]], *, named: bool = False
) -> None:
    """Require that all files have the columns of the first, in its order and types.

    `named` is True where names are certain to be names; those of a CSV may be a record's values, which are not shown.
    """
    first = schemas[0]
    for path, schema in zip(paths, schemas, strict=True):
        if schema == first and list(schema) == list(first):
            continue
        lacking = [name for name in first if name not in schema]
        additional = [name for name in schema if name not in first]
        other = [name for name in schema if name in first and schema[name] != first[name]]
        differences = [
            f"{len(names)} {verb}" + (f" ({quote_list(names)})" if named else "")
            for names, verb in ((lacking, "lack"), (additional, "are more"), (other, "differ"))
            if names
        ]
        raise SourceError(
            f"The file {path.name} has other columns than {paths[0].name}.",
            why=f"Of its columns {', '.join(differences) or 'the order differs'}.",
            attempt="files with the same columns and types.",
        )


def scan_parquet(files: FileSet, outer_keys: Sequence[str]) -> pl.LazyFrame:
    """Scan Parquet files with their partition columns and those of folders above the source; codes are texts."""
    paths = list(files.paths)
    lazy = pl.scan_parquet(paths, hive_partitioning=bool(files.keys), glob=False)
    if codes := files.codes:
        key_types = {name: kind for name, kind in lazy.collect_schema().items() if name in (*files.keys, *outer_keys)}
        types = {**key_types, **dict.fromkeys(codes, pl.String())}
        lazy = pl.scan_parquet(paths, hive_partitioning=True, hive_schema=types, glob=False)
    return lazy


def make_damaged_file_error(error: BaseException) -> SourceError:
    """Make the error for a Parquet or Arrow file whose header can be read and whose rows cannot."""
    return SourceError(
        f"A Parquet or Arrow file of the source is damaged ({type(error).__name__}).",
        why="Its header can be read, and a part of its rows cannot: it was cut off, or changed since it was written.",
        attempt="copying it again from where it was made, or writing it again.",
    )


def is_file_error(error: BaseException) -> bool:
    """Tell whether Polars could not read a file's content; for some content it panics, which is no Exception."""
    return isinstance(error, pl.exceptions.PolarsError | OSError) or type(error).__name__ == "PanicException"


def require_fits_memory(paths: Sequence[Path]) -> None:
    """Refuse files whose rows cannot fit in memory."""
    claimed = [_read_claimed_size(path) for path in paths if path.suffix.lower() in _FOOTER_SUFFIXES]
    rows = sum(size[0] for size in claimed)
    values = sum(size[1] for size in claimed)
    available = memory.get_available_memory() if MIN_ROW_BYTES * rows > memory.SMALL_TABLE_BYTES else None
    if available is not None and MIN_ROW_BYTES * rows > available:
        raise OutOfMemory(
            f"{paths[0].name} is too large for the memory that is left.",
            why=f"It claims {rows:,} rows, which take {MIN_ROW_BYTES * rows >> 20:,} MiB at the least; {max(available, 0) >> 20:,} are left.",
            attempt="a machine with more memory, or --engine stream.",
        )
    if memory.get_addresses_left() is not None:  # packed files are unpacked once for it
        memory.require_table_fits(
            paths[0].name,
            max(memory.BYTES_PER_TEXT_BYTE * sum(map(measure_unpacked_size, paths)), MIN_VALUE_BYTES * values),
        )


def measure_unpacked_size(path: Path) -> int:
    """Count the decompressed bytes."""
    if path.suffix.lower() not in COMPRESSIONS:
        return path.stat().st_size
    size = 0
    with open_text(path) as handle:
        while data := handle.read(_MEASURE_BYTES):
            size += len(data)
    return size


def _split_relative(path: Path, root: Path) -> tuple[str, ...]:
    return path.relative_to(root).parts


def _parse_partition_key(part: str) -> str:
    return part.split("=", 1)[0]


def _make_file_set(path: Path, candidates: Iterable[Path], root: Path | None = None) -> FileSet:
    spelled = set() if root else _list_literal_parts(path)
    paths = tuple(file for file in candidates if not _is_hidden(file, root, spelled))
    kinds = {_find_kind(file) for file in paths}
    if not paths or kinds == {""}:
        subject = f"{path} is a folder and holds" if root else f"The pattern {path} names"
        matches_nothing = not root and not paths  # a pattern that names nothing is as a file that is not there
        raise (SourceUnreachable if matches_nothing else SourceError)(
            f"{subject} no Parquet, Arrow or CSV file.", attempt="a file, or a folder of Parquet files."
        )
    if len(kinds) > 1:
        raise SourceError(
            f"The files of {path} are not of one kind.",
            why=f"There are {quote_list(sorted(file or 'others' for file in kinds))}.",
            attempt="a pattern that names some of them, such as *.parquet.",
        )
    if root is None or kinds != {"Parquet"}:
        return FileSet(paths, root)
    return FileSet(paths, root, _find_partition_keys(path, paths, root))


def _list_folder(root: Path) -> list[Path]:
    """List the files of a folder and its subfolders.

    Whatever is neither file nor folder is refused, and so are folders that are links.
    """
    files: list[Path] = []
    for folder, folders, names in os.walk(root, onerror=_require_readable_folder):
        folders[:] = [name for name in folders if not name.startswith(_HIDDEN_PREFIXES)]
        places = [Path(folder, name) for name in (*folders, *names) if not name.startswith(_HIDDEN_PREFIXES)]
        for place in places:
            if place.is_file():
                files.append(place)
            elif place.is_symlink() or not place.is_dir() or _is_empty_part(place):
                raise _make_not_a_file_error(place)
    return sorted(files)


def _list_matching(pattern: str) -> list[Path]:
    """List the files that a pattern matches; refuse other matches, except folders whose files it matches too."""
    parts = Path(pattern).parts
    spelled = _list_literal_parts(Path(pattern))
    for depth in range(1, len(parts)):  # of a folder that cannot be opened, no file is found
        above = str(Path(*parts[:depth]))
        if glob_module.has_magic(parts[depth - 1]):
            for place in map(Path, glob_module.glob(above, recursive=True)):
                if _is_hidden(place, None, spelled):
                    continue
                if place.is_symlink() and not place.exists():
                    raise _make_not_a_file_error(place)
                if place.is_dir():
                    _require_readable_folder(
                        None if os.access(place, os.R_OK | os.X_OK) else PermissionError(13, "", str(place))
                    )
    matches = sorted({Path(place) for place in glob_module.glob(pattern, recursive=True)})
    files = [place for place in matches if place.is_file()]
    parents = {folder for file in files for folder in file.parents}
    for place in matches:
        if not place.is_file() and place not in parents and not _is_hidden(place, None, spelled):
            raise _make_not_a_file_error(place)
    return files


@contextmanager
def _open_decompressed(path: Path) -> Iterator[Any]:
    compression = COMPRESSIONS.get(path.suffix.lower())
    if compression is None:
        with open(path, "rb") as raw:
            yield raw
        return
    import pyarrow as pa

    with open(path, "rb") as file, pa.CompressedInputStream(pa.PythonFile(file), compression) as stream:
        yield io.BufferedReader(_DecompressedFile(stream, path), _BUFFER_BYTES)


class _RecodedFile(io.RawIOBase):
    """Text of another encoding, read as UTF-8."""

    def __init__(self, raw: IO[bytes], path: Path, encoding: str):
        self.raw = raw
        self.path = path
        self.encoding = encoding
        self.decoder = codecs.getincrementaldecoder(encoding)()
        self.taken = 0
        self.left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.left:
            data = self.raw.read(_BUFFER_BYTES)
            self.left = self._decode(data).encode()
            self.taken += len(data)
            if not data:
                break
        chunk = self.left[: len(buffer)]
        self.left = self.left[len(buffer) :]
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def _decode(self, data: bytes) -> str:
        try:
            return self.decoder.decode(data, final=not data)
        except UnicodeError as error:
            place = ""
            if isinstance(error, UnicodeDecodeError):  # of what was kept from before, and of these bytes
                place = f" (byte {self.taken - (len(error.object) - len(data)) + error.start})"
            raise SourceError(
                f"The file {self.path.name} is not {self.encoding}{place}.",
                attempt='another encoding, e.g. encoding = "latin-1".',
            ) from None


def _read_claimed_size(path: Path) -> tuple[int, int]:
    """Read the number of rows and of values in the file's footer; 0 if it cannot be read, which its reader reports."""
    import pyarrow.parquet as pq

    try:
        facts = pq.read_metadata(path)
    except Exception:
        return 0, 0
    return facts.num_rows, facts.num_rows * facts.num_columns


def _list_literal_parts(pattern: Path) -> set[str]:
    """List the path components of a pattern that contain no wildcard."""
    return {part for part in pattern.parts if not any(mark in part for mark in _GLOB_MARKS)}


def _is_hidden(path: Path, root: Path | None, spelled: set[str]) -> bool:
    """Tell whether an entry is no data, by its own name or that of a folder above it."""
    return any(part.startswith(_HIDDEN_PREFIXES) for part in _list_matched_parts(path, root, spelled))


def _find_kind(path: Path) -> str:
    """Return the kind of a data file, by its name; empty if it is none."""
    suffix = find_data_suffix(path)
    for name, suffixes in (("CSV", CSV_SUFFIXES), ("Parquet", PARQUET_SUFFIXES), ("Arrow", ARROW_SUFFIXES)):
        if suffix in suffixes:
            return name
    return ""


def _find_partition_keys(path: Path, paths: Sequence[Path], root: Path) -> tuple[str, ...]:
    """Return the partition columns, which must be the same for every file.

    Otherwise rows of some files would have no value, or be lost.
    """
    key_sets = {
        tuple(_parse_partition_key(part) for part in _split_relative(file, root)[:-1] if "=" in part) for file in paths
    }
    if len(key_sets) > 1:
        names = sorted({name for keys in key_sets for name in keys})
        raise SourceError(
            f"Some files of {path} are in folders that say a value of {quote_list(names)}, and some are not.",
            attempt="all files in folders of the same columns, or a pattern that names some of them.",
        )
    return key_sets.pop()


def _require_readable_folder(error: OSError | None) -> None:
    if error is not None:
        raise SourceUnreachable(
            f"The folder {Path(str(error.filename)).name} among the parts of the source cannot be opened.",
            why="Its rows would be left out.",
            attempt="the right to read it, or a pattern that names the other parts.",
        )


def _is_empty_part(folder: Path) -> bool:
    """Tell whether a folder is named like a data file and is empty."""
    return _find_kind(folder) != "" and os.access(folder, os.R_OK) and not os.listdir(folder)


def _make_not_a_file_error(place: Path) -> SourceError:
    """Explain why an entry among the parts of a source is refused: its rows would be left out silently."""
    if place.is_symlink() and not place.exists():
        message = f"{place.name} among the parts of the source is a link to nothing."
    elif place.is_symlink():
        message = f"{place.name} among the parts of the source is a link to a folder."
    elif place.is_dir():
        message = f"{place.name} among the parts of the source is a folder."
    else:
        message = f"{place.name} among the parts of the source is no regular file."
    return SourceError(
        message,
        why="Its rows would be left out.",
        attempt="putting the file there, removing it, or a pattern that names the other parts.",
    )


class _DecompressedFile(io.RawIOBase):
    """Content of a compressed file; a file that is cut off or damaged is refused by its name."""

    def __init__(self, inside: Any, path: Path):
        self.inside = inside
        self.path = path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self.inside.read(len(buffer))
        except (OSError, ValueError):
            raise SourceError(
                f"The file {self.path.name} cannot be unpacked.",
                why="It is cut off, damaged, or no file of its ending.",
                attempt="packing it again.",
            ) from None
        buffer[: len(data)] = data
        return len(data)


def _list_matched_parts(path: Path, root: Path | None, spelled: set[str]) -> tuple[str, ...]:
    """List the path components that were found by a wildcard or in a folder, not named in the pattern."""
    parts = path.parts if root is None else _split_relative(path, root)
    return tuple(part for part in parts if part not in spelled)
