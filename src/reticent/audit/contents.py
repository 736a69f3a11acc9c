"""Everything a release folder holds, as bytes to be searched: pages and metadata of Parquet files, texts of the manifest, other files."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reticent import catalogue
from reticent.audit.parquet_pages import Page, pages
from reticent.audit.search import BESIDE, LEAST
from reticent.release.bundle import MANIFEST
from reticent.release.kind import reader
from reticent.release.manifest import Manifest

WINDOW = 64 << 20  # bytes of a file that are searched together
CHANCE = 8  # shorter texts occur by chance in numbers, codes and compressed bytes


@dataclass(frozen=True, eq=False)
class Piece:
    """Some bytes of a file, and the shortest text that cannot stand there by chance."""

    file: str
    data: bytes
    least: int = LEAST
    is_text: bool = False  # whether it is text, in which a number ends where its digits do
    begins: bool = True  # whether the file begins here, and whether it ends here
    ends: bool = True


def pieces(folder: Path, manifest: Manifest, longest: int) -> Iterator[Piece]:
    """Bytes in which a text of up to `longest` bytes stands whole, if it stands in the folder."""
    for path in sorted(folder.iterdir()):
        if path.name == MANIFEST:
            texts = _strings(json.loads(path.read_text(encoding="utf-8")))
            yield Piece(path.name, "\n".join(texts).encode(), is_text=True)
        elif path.suffix == ".parquet":
            yield from _parquet(path, longest)
        elif path.name == "README.md" and path.read_text(encoding="utf-8") == reader(manifest.kind).readme(manifest):
            continue  # a function of the manifest, which was searched
        elif path.name == catalogue.REPORT:
            yield from _windows(path, longest, CHANCE)  # anybody may have written it; drawings hold many numbers
        else:
            yield from _windows(path, longest)


def file_pieces(path: Path, longest: int) -> Iterator[Piece]:
    """The same for a single file of another tool."""
    yield from _parquet(path, longest) if path.suffix in (".parquet", ".pq") else _windows(path, longest)


def _windows(path: Path, longest: int, least: int = LEAST) -> Iterator[Piece]:
    """A file from end to end; windows overlap, so that no text, nor what stands beside it, falls between two."""
    is_text = path.suffix not in (".parquet", ".pq")
    kept, begins = b"", True
    with open(path, "rb") as handle:
        while fresh := handle.read(WINDOW):
            window = kept + fresh
            yield Piece(path.name, window, least, is_text, begins, not handle.peek(1))
            kept = window[max(len(window) - longest - BESIDE, 0) :]
            begins = False


def _strings(value: Any, inside: str = "") -> Iterator[str]:
    """Keys and texts of a manifest; checksums are random digits and are left out."""
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield str(key)
            if key != "sha256":
                yield from _strings(entry, key)
    elif isinstance(value, list):
        for entry in value:
            yield from _strings(entry, inside)
    elif isinstance(value, str):
        yield value


def _parquet(path: Path, longest: int) -> Iterator[Piece]:
    import pyarrow.parquet as pq

    yield from _windows(path, longest, CHANCE)
    for page in pages(path):
        yield Piece(path.name, page.body, LEAST if page.plain and page.physical == "BYTE_ARRAY" else CHANCE)
    for key, value in (pq.read_metadata(path).metadata or {}).items():
        yield Piece(path.name, key + b"\n" + value, CHANCE if key == b"ARROW:schema" else LEAST)
        try:
            yield Piece(path.name, base64.b64decode(value, validate=True), CHANCE)
        except binascii.Error:
            continue


def dictionaries(path: Path) -> Iterator[Page]:
    return (page for page in pages(path) if page.dictionary)
