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
from reticent.errors import BundleDamaged, InternalError, JobError
from reticent.release import closed
from reticent.release.files import write_parts
from reticent.release.formulas import PRESENT, QUOTED
from reticent.release.kind import data_files, reader
from reticent.release.manifest import FORMAT, Manifest
from reticent.release.page import read_page
from reticent.release.parsed import BYTES, parsed, refuse_large
from reticent.release.parts import part_names
from reticent.release.rows import Rows
from reticent.release.shape import Misshapen
from reticent.release.sound import refuse_unsound

MANIFEST, README, REPORT = "manifest.json", "README.md", catalogue.REPORT


def write(folder: Path, frames: Mapping[str, Rows | pl.DataFrame], fields: Mapping[str, Any], format: str) -> str:
    """Data files, README and manifest into an empty folder; the digest.

    A file of more rows than the field `part_rows` is cut into parts; where none is, the manifest does not state it.
    """
    rows, part_rows = len(next(iter(frames.values()))), fields.get("part_rows")
    names = {name: part_names(name, format, len(frame), part_rows) for name, frame in frames.items()}
    quote = fields.get("formulas") == QUOTED
    looks = [
        write_parts([folder / part for part in names[name]], frame, format, part_rows, quote=quote)
        for name, frame in frames.items()
    ]
    if "formulas" not in fields and any(looks):
        fields = {**fields, "formulas": PRESENT}
    data = [part for parts in names.values() for part in parts]
    stated = {**fields, "data": data, "rows": rows, "format": FORMAT}
    if len(data) == len(names):
        stated.pop("part_rows", None)
    files = _checksums(folder)
    manifest = _known({**stated, "files": files})
    (folder / README).write_text(reader(manifest.kind).readme(manifest), encoding="utf-8")
    sealed = {**stated, "files": {**files, README: _checksum(folder / README)}}
    try:
        refuse_large(text(sealed).encode())
    except Misshapen as error:
        raise JobError(
            "The manifest of this release would be too long for anybody to read.",
            why=f"{_sentence(str(error))}.",
            attempt="fewer different values in the sensitive column, or a smaller hierarchy.",
        ) from None
    return _sealed(folder, sealed)


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
    folder = Path(folder)
    if MANIFEST not in closed.entries(folder):
        raise BundleDamaged(f"{folder} has no {MANIFEST}.", why="It is no release, or an incomplete one.")
    written = closed.read_bytes(folder / MANIFEST, BYTES)
    try:
        manifest = of_dict(parsed(written))
    except Misshapen as error:
        raise BundleDamaged(
            f"The {MANIFEST} of {folder} is not as format {FORMAT} has it.", why=f"{_sentence(str(error))}."
        ) from None
    if text(manifest.to_dict()).encode() != written:
        raise BundleDamaged(
            f"The {MANIFEST} of {folder} is not written as reticent writes it.",
            why="It says something in another order or spelling.",
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
    if catalogue.METHODS[manifest.method.name].kind not in ("", kind):
        raise Misshapen(f"the method {manifest.method.name} makes no {kind} release", inside=True)
    return manifest


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def verify(folder: str | Path, expect_digest: str | None = None) -> Manifest:
    """The manifest of a folder that is complete, undamaged and, given a digest, unchanged."""
    folder = Path(folder)
    present = closed.entries(folder)
    manifest = read_manifest(folder)
    files = data_files(folder, manifest)
    known = {MANIFEST, REPORT, *manifest.files}
    faults = [f"{closed.shown(name)} does not belong" for name in present if name not in known]
    for name, facts in manifest.files.items():
        if name not in present:
            faults.append(f"{name} is missing")
        elif present[name] != facts["bytes"] or _sha256(folder / name) != facts["sha256"]:
            faults.append(f"{name} is not the file that was published")
    if not faults and set(manifest.files) != {README, *manifest.data}:
        faults.append("the manifest lists files that are none of its kind's")
    if not faults and closed.read_bytes(folder / README, BYTES) != _readme(manifest).encode():
        faults.append(f"{README} is not what the manifest says")
    if faults:
        raise closed.damaged(folder, faults)
    refuse_changed(folder, expect_digest)
    schemas = reader(manifest.kind).schemas(manifest)
    for number, (name, file) in enumerate(files.items()):
        refuse_unsound(file, schemas[name], manifest.rows if number == 0 else None, manifest.part_rows)
    if REPORT in present and REPORT not in manifest.files:
        read_page(folder)
    return manifest


def refuse_changed(folder: Path, expected: str | None) -> None:
    """Refuse a folder that has another digest than the one expected; None expects none."""
    if expected is not None and (found := digest(folder)) != expected.strip().lower():
        raise BundleDamaged(
            f"The release {folder} is not the one expected.",
            why=f"Its digest begins {found[:16]}; expected was {expected.strip()[:16]}.",
            attempt="the publisher: somebody changed it after it was published.",
        )


def _readme(manifest: Manifest) -> str:
    try:
        return reader(manifest.kind).readme(manifest)
    except (LookupError, TypeError, ValueError, ArithmeticError):
        raise BundleDamaged("A promise of the release lacks a parameter, or has one that cannot be read.") from None


def _sha256(path: Path) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
