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
from reticent.catalogue.manifest_fields import README_EDITION
from reticent.errors import BundleDamaged, InternalError, JobError
from reticent.format import folder as format_folder
from reticent.format.data_files import FORMULAS_PRESENT, FORMULAS_QUOTED, list_part_names, require_sound_file
from reticent.format.data_writer import FileRows, write_data_parts
from reticent.format.folder import read_report_page
from reticent.format.manifest import FORMAT_VERSION, Manifest
from reticent.format.schema_checks import MAX_JSON_BYTES, MisshapenValue, parse_json, require_json_size
from reticent.release.kind import find_data_files, reader_for

MANIFEST_FILE = "manifest.json"
README_FILE = "README.md"
REPORT_FILE = catalogue.REPORT_FILE_NAME


def write_bundle(
    folder: Path, frames: Mapping[str, FileRows | pl.DataFrame], fields: Mapping[str, Any], format: str
) -> str:
    """Write data files, README and manifest into an empty folder; return the digest.

    A file of more rows than the field `part_rows` is cut into parts; if no file is cut, the manifest does not state it.
    """
    part_rows = fields.get("part_rows")
    names = {name: list_part_names(name, format, len(frame), part_rows) for name, frame in frames.items()}
    quote = fields.get("formulas") == FORMULAS_QUOTED
    have_formulas = [
        write_data_parts([folder / part for part in names[name]], frame, format, part_rows, quote=quote)
        for name, frame in frames.items()
    ]
    data = [part for parts in names.values() for part in parts]
    rows = len(next(iter(frames.values())))
    stated = {**fields, "data": data, "rows": rows, "format": FORMAT_VERSION, "readme": README_EDITION}
    if "formulas" not in fields and any(have_formulas):
        stated["formulas"] = FORMULAS_PRESENT
    if len(data) == len(names):
        stated.pop("part_rows", None)
    stated["files"] = _compute_checksums(folder)
    manifest = _build_manifest(stated)
    (folder / README_FILE).write_text(reader_for(manifest.kind).readme(manifest), encoding="utf-8", newline="\n")
    stated["files"][README_FILE] = _compute_checksum(folder / README_FILE)
    text = format_manifest(stated)
    _require_readable_size(text)
    return _write_manifest(folder, text)


def seal_folder(folder: Path, fields: Mapping[str, Any]) -> str:
    """Write the manifest with the checksums of all that is in the folder; return the digest."""
    stated = {**fields, "format": FORMAT_VERSION, "files": _compute_checksums(folder)}
    return _write_manifest(folder, format_manifest(stated))


def format_manifest(manifest: Mapping[str, Any]) -> str:
    """Format JSON that a person can skim: a line for each field, and for each column, promise and file."""

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


def compute_digest(folder: str | Path) -> str:
    return _hash_file(Path(folder) / MANIFEST_FILE)


def read_manifest(folder: str | Path) -> Manifest:
    """Read the manifest and check every part of it; parameters stay as they were written (decimals exact)."""
    folder = Path(folder)
    if MANIFEST_FILE not in format_folder.list_files(folder):
        raise BundleDamaged(f"{folder} has no {MANIFEST_FILE}.", why="It is no release, or an incomplete one.")
    written = format_folder.read_small_file(folder / MANIFEST_FILE, MAX_JSON_BYTES)
    try:
        manifest = parse_manifest(parse_json(written))
    except MisshapenValue as error:
        raise BundleDamaged(
            f"The {MANIFEST_FILE} of {folder} is not as format {FORMAT_VERSION} has it.",
            why=f"{_capitalize(str(error))}.",
        ) from None
    if format_manifest(manifest.to_dict()).encode() != written:
        raise BundleDamaged(
            f"The {MANIFEST_FILE} of {folder} is not written as reticent writes it.",
            why="It says something in another order or spelling.",
        )
    return manifest


def parse_manifest(raw: Any) -> Manifest:
    """Make a manifest from parsed JSON and check it against its kind; raises `MisshapenValue`."""
    kind = raw.get("kind") if isinstance(raw, dict) else None
    if not isinstance(kind, str) or kind not in catalogue.KINDS:
        raise MisshapenValue("it names no release kind that is known")
    version = raw.get("format")
    if version != FORMAT_VERSION:
        prefix = f"it has format {version}, and " if isinstance(version, int) else ""
        raise MisshapenValue(f"{prefix}this version reads format {FORMAT_VERSION}")
    reader = reader_for(kind)
    manifest = Manifest.parse(raw, reader.own, reader.optional)
    reader.check(manifest)
    method_row = catalogue.METHODS.get(manifest.method.name)  # of a plugin's method nothing is known here
    if method_row is not None and method_row.kind not in ("", kind):
        raise MisshapenValue(f"the method {manifest.method.name} makes no {kind} release", inside=True)
    return manifest


def verify_bundle(folder: str | Path, expect_digest: str | None = None) -> Manifest:
    """Return the manifest of a folder if it is complete, undamaged and, given a digest, unchanged."""
    folder = Path(folder)
    present = format_folder.list_files(folder)
    manifest = read_manifest(folder)
    files = find_data_files(folder, manifest)
    faults = _find_faults(folder, manifest, present)
    if faults:
        raise format_folder.make_damage_error(folder, faults)
    require_digest(folder, expect_digest)
    schemas = reader_for(manifest.kind).schemas(manifest)
    for number, (name, file) in enumerate(files.items()):
        require_sound_file(file, schemas[name], manifest.rows if number == 0 else None, manifest.part_rows)
    if REPORT_FILE in present and REPORT_FILE not in manifest.files:
        read_report_page(folder)
    return manifest


def require_digest(folder: Path, expected: str | None) -> None:
    """Refuse a folder whose digest is not the expected one; None expects none."""
    if expected is None:
        return
    digest = compute_digest(folder)
    if digest != expected.strip().lower():
        raise BundleDamaged(
            f"The release {folder} is not the one expected.",
            why=f"Its digest begins {digest[:16]}; expected was {expected.strip()[:16]}.",
            attempt="the publisher: somebody changed it after it was published.",
        )


def _compute_checksums(folder: Path) -> dict[str, dict[str, Any]]:
    return {path.name: _compute_checksum(path) for path in sorted(folder.iterdir()) if path.name != MANIFEST_FILE}


def _compute_checksum(path: Path) -> dict[str, Any]:
    return {"sha256": _hash_file(path), "bytes": path.stat().st_size}


def _build_manifest(stated: Mapping[str, Any]) -> Manifest:
    """Build the manifest that is about to be published, by the rules of who reads it."""
    try:
        return parse_manifest(stated)
    except MisshapenValue as error:
        raise InternalError(
            "The manifest of this release could not be read back: nothing is published.",
            why=f"{_capitalize(str(error))}.",
            attempt="a promise, method, stage and kind of the catalogue, with the parameters that it lists.",
        ) from None


def _require_readable_size(text: str) -> None:
    try:
        require_json_size(text.encode())
    except MisshapenValue as error:
        raise JobError(
            "The manifest of this release would be too long for anybody to read.",
            why=f"{_capitalize(str(error))}.",
            attempt="fewer different values in the sensitive column, or a smaller hierarchy.",
        ) from None


def _write_manifest(folder: Path, text: str) -> str:
    """Write the manifest; return the release's digest."""
    (folder / MANIFEST_FILE).write_text(text, encoding="utf-8", newline="\n")
    return compute_digest(folder)


def _hash_file(path: Path) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _capitalize(words: str) -> str:
    return words[:1].upper() + words[1:]


def _find_faults(folder: Path, manifest: Manifest, present: Mapping[str, int]) -> list[str]:
    """Find files that are missing, changed or not listed, and a README that the manifest does not explain."""
    known = {MANIFEST_FILE, REPORT_FILE, *manifest.files}
    faults = [f"{format_folder.escape_name(name)} does not belong" for name in present if name not in known]
    for name, facts in manifest.files.items():
        if name not in present:
            faults.append(f"{name} is missing")
        elif present[name] != facts["bytes"] or _hash_file(folder / name) != facts["sha256"]:
            faults.append(f"{name} is not the file that was published")
    if not faults and set(manifest.files) != {README_FILE, *manifest.data}:
        faults.append("the manifest lists files that are none of its kind's")
    if not faults:
        readme = format_folder.read_small_file(folder / README_FILE, MAX_JSON_BYTES)
        if readme != _render_readme(manifest).encode():
            faults.append(f"{README_FILE} is not what the manifest says")
    return faults


def _render_readme(manifest: Manifest) -> str:
    try:
        return reader_for(manifest.kind).readme(manifest)
    except (LookupError, TypeError, ValueError, ArithmeticError):
        raise BundleDamaged("A promise of the release lacks a parameter, or has one that cannot be read.") from None
