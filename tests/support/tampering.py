"""What somebody could do to a release's files, with checksums and manifest made right again."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

import reticent as rt
from reticent.errors import AuditFailed
from reticent.release import bundle
from tests.support.contract_examples import CANARY

WIDTH = len(f"{CANARY}-name-0000")


def resealed(
    release: rt.Release, folder: Path, frames: Mapping[str, pl.DataFrame] | None = None, **fields: Any
) -> Path:
    """The release with other rows or manifest fields, sealed as `publish` seals."""
    folder.mkdir(parents=True)
    stated = {key: value for key, value in release.manifest.to_dict().items() if key not in ("files", "data", "rows")}
    suffix = Path(release.manifest.data[0]).suffix.lstrip(".")
    bundle.write_bundle(folder, frames or release.tables, {**stated, **fields}, suffix)
    return folder


def caught(folder: Path, source: pl.DataFrame) -> bool:
    """Whether the audit with the source refuses a folder, or finds it wanting."""
    try:
        return rt.audit(folder, source=source).kept is False
    except AuditFailed:
        return True


def changed_byte(release: rt.Release, folder: Path, name: str) -> Path:
    """One byte in the middle of a file is another."""
    shutil.copytree(release.folder, folder)
    raw = bytearray((folder / name).read_bytes())
    raw[len(raw) // 2] ^= 1
    (folder / name).write_bytes(raw)
    return folder


def foreign_value(release: rt.Release, folder: Path, role: str) -> Path:
    """One value of the first column of a role is one that nobody has."""
    column = next(entry.name for entry in release.columns if entry.role == role)
    named = [name for name, table in release.tables.items() if column in table.columns]
    if not named:  # the column is published as nodes of its domain
        named = ["sensitive"]
        column = "label"
    name = named[0]
    table = release.tables[name]
    other = pl.lit("99" if table[column].dtype == pl.String else 99).cast(table[column].dtype)
    value = pl.when(pl.int_range(pl.len()) == 3).then(other).otherwise(pl.col(column)).alias(column)
    return resealed(release, folder, dict(release.tables) | {name: table.with_columns(value)})


def planted(release: rt.Release, folder: Path, secret: str) -> Path:
    """A text in a data file where no row shows it: in Parquet's metadata, or in a text column of a CSV."""
    shutil.copytree(release.folder, folder)
    path = folder / release.manifest.data[0]
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        pq.write_table(
            table.replace_schema_metadata({"made by": secret}), path, compression="lz4", write_statistics=False
        )
    else:
        head, first, rest = path.read_bytes().split(b"\n", 2)
        values = first.split(b",")
        values[head.split(b",").index(b"city")] = secret.encode()
        path.write_bytes(b"\n".join([head, b",".join(values), rest]))
    stated = {key: value for key, value in release.manifest.to_dict().items() if key != "files"}
    bundle.seal_folder(folder, stated)
    return folder


def kept_apart(release: rt.Release) -> set[str]:
    """Every text of the length of a canary that begins like one, in the bytes of every file, compressed pages opened."""
    found = set()
    for path in release.folder.iterdir():
        raw = path.read_bytes()
        if path.suffix == ".parquet":
            raw += _plain(path)
        at = raw.find(CANARY.encode())
        while at >= 0:
            found.add(raw[at : at + WIDTH].decode(errors="replace"))
            at = raw.find(CANARY.encode(), at + 1)
    return found


def _plain(path: Path) -> bytes:
    """The file once more without compression: pages with their dictionaries, as they are."""
    import io

    out = io.BytesIO()
    file = pq.ParquetFile(path)
    with pq.ParquetWriter(out, file.schema_arrow, compression="none", use_dictionary=False) as writer:
        for group in range(file.num_row_groups):
            writer.write_table(file.read_row_group(group))
    return out.getvalue()
