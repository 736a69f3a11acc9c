"""The bundle: a closed folder of data files, a manifest with their checksums, and a README for the recipient.

Everything in it is a function of the published data and of what the job declares.  The digest of a release is the SHA-256 of
its manifest: a checksum inside a folder catches damage, a digest kept elsewhere catches an editor.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from reticent import catalogue
from reticent.errors import BundleDamaged, InternalError
from reticent.release.files import write_data
from reticent.release.formulas import PRESENT, QUOTED, any_formula, shown
from reticent.release.kind import data_files, reader
from reticent.release.manifest import FORMAT, Manifest
from reticent.release.rows import Rows
from reticent.release.shape import Misshapen

MANIFEST, README = "manifest.json", "README.md"


def write(folder: Path, frames: Mapping[str, Rows | pl.DataFrame], fields: Mapping[str, Any], format: str) -> str:
    """Data files, README and manifest into an empty folder; the digest."""
    rows = len(next(iter(frames.values())))
    data = [f"{name}.{format}" for name in frames]
    for name, frame in frames.items():
        write_data(folder / f"{name}.{format}", frame, format, quote=fields.get("formulas") == QUOTED)
    if format == "csv" and "formulas" not in fields and any(any_formula(shown(frame)) for frame in frames.values()):
        fields = {**fields, "formulas": PRESENT}
    stated = {**fields, "data": data, "rows": rows, "format": FORMAT}
    files = _checksums(folder)
    manifest = _known({**stated, "files": files})
    (folder / README).write_text(reader(manifest.kind).readme(manifest), encoding="utf-8")
    return _sealed(folder, {**stated, "files": {**files, README: _checksum(folder / README)}})


def _known(stated: Mapping[str, Any]) -> Manifest:
    """What is about to be published, as whoever opens it will read it."""
    try:
        return of_dict(stated)
    except Misshapen as error:
        raise InternalError(
            "The manifest of this release could not be read back: nothing is published.",
            why=f"{_sentence(str(error))}.",
            attempt="a promise, method, stage and kind of the catalogue, with the parameters that it lists.",
        ) from None


def seal(folder: Path, fields: Mapping[str, Any]) -> str:
    """Write the manifest with the checksums of all that is in the folder; the digest."""
    return _sealed(folder, {**fields, "format": FORMAT, "files": _checksums(folder)})


def _sealed(folder: Path, stated: Mapping[str, Any]) -> str:
    (folder / MANIFEST).write_text(text(stated), encoding="utf-8")
    return digest(folder)


def _checksums(folder: Path) -> dict[str, dict[str, Any]]:
    return {path.name: _checksum(path) for path in sorted(folder.iterdir()) if path.name != MANIFEST}


def _checksum(path: Path) -> dict[str, Any]:
    return {"sha256": _sha256(path), "bytes": path.stat().st_size}


def text(manifest: Mapping[str, Any]) -> str:
    """JSON that a person can skim: a line for each field, and for each column, promise and file."""

    def line(value: Any) -> str:
        return json.dumps(value, sort_keys=True, ensure_ascii=False)

    fields = []
    for name, value in sorted(manifest.items()):
        if isinstance(value, list) and value and isinstance(value[0], dict):
            body = "[\n  " + ",\n  ".join(map(line, value)) + "\n ]"
        elif isinstance(value, dict) and value:
            body = "{\n  " + ",\n  ".join(f"{line(key)}: {line(value[key])}" for key in sorted(value)) + "\n }"
        else:
            body = line(value)
        fields.append(f" {line(name)}: {body}")
    return "{\n" + ",\n".join(fields) + "\n}\n"


def digest(folder: str | Path) -> str:
    return _sha256(Path(folder) / MANIFEST)


def read_manifest(folder: str | Path) -> Manifest:
    """The manifest, every part of it checked; parameters as they were written (decimals exact)."""
    path = Path(folder) / MANIFEST
    if not Path(folder).is_dir():
        raise BundleDamaged(f"There is no release folder {folder}.", attempt="the folder that publish made.")
    if not path.is_file():
        raise BundleDamaged(f"{folder} has no {MANIFEST}.", why="It is no release, or an incomplete one.")
    try:
        written = path.read_text(encoding="utf-8")
        raw = json.loads(written)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise BundleDamaged(f"The {MANIFEST} of {folder} is damaged: it is no JSON.") from None
    try:
        manifest = of_dict(raw)
    except Misshapen as error:
        raise BundleDamaged(
            f"The {MANIFEST} of {folder} is not as format {FORMAT} has it.", why=f"{_sentence(str(error))}."
        ) from None
    if text(manifest.to_dict()) != written:
        raise BundleDamaged(
            f"The {MANIFEST} of {folder} is not written as reticent writes it.",
            why="It says something twice, or in another order or spelling.",
        )
    return manifest


def of_dict(raw: Any) -> Manifest:
    """A manifest from what JSON gave, held to what its kind has; raises `Misshapen`."""
    if not isinstance(raw, dict) or not isinstance(kind := raw.get("kind"), str) or kind not in catalogue.KINDS:
        raise Misshapen("it names no release kind that is known")
    if (stated := raw.get("format")) != FORMAT:
        named = f"it has format {stated}, and " if isinstance(stated, int) else ""
        raise Misshapen(f"{named}this version reads format {FORMAT}")
    known = reader(kind)
    manifest = Manifest.of(raw, known.own, known.optional)
    known.check(manifest)
    return manifest


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def verify(folder: str | Path, expect_digest: str | None = None) -> Manifest:
    """The manifest of a folder that is complete, undamaged and, given a digest, unchanged."""
    folder = Path(folder)
    manifest = read_manifest(folder)
    data_files(folder, manifest)
    faults = []
    present = {path.name for path in folder.iterdir()}
    for name, facts in manifest.files.items():
        path = folder / name
        if name not in present:
            faults.append(f"{name} is missing")
        elif path.stat().st_size != facts["bytes"] or _sha256(path) != facts["sha256"]:
            faults.append(f"{name} is not the file that was published")
    faults += [f"{name} does not belong" for name in sorted(present - set(manifest.files) - {MANIFEST, "report.html"})]
    if not faults and (folder / README).read_text(encoding="utf-8") != _readme(manifest):
        faults.append(f"{README} is not what the manifest says")
    if faults:
        raise BundleDamaged(
            f"The release {folder} is damaged or incomplete.",
            why="; ".join(faults) + ".",
            attempt="getting the folder again from its publisher.",
        )
    if expect_digest is not None and (found := digest(folder)) != expect_digest.strip().lower():
        raise BundleDamaged(
            f"The release {folder} is not the one expected.",
            why=f"Its digest begins {found[:16]}, expected was {expect_digest[:16]}.",
            attempt="the publisher: somebody changed it after it was published.",
        )
    return manifest


def _readme(manifest: Manifest) -> str:
    try:
        return reader(manifest.kind).readme(manifest)
    except (LookupError, TypeError, ValueError):
        raise BundleDamaged("A promise of the release lacks a parameter, or has one that cannot be read.") from None


def _sha256(path: Path) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
