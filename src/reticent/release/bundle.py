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

from reticent.errors import BundleDamaged
from reticent.release.files import write_data
from reticent.release.readme import text as readme_text
from reticent.release.rows import Rows

MANIFEST = "manifest.json"
FORMAT = 1
FIELDS = {
    "generalized": {
        "reticent",
        "format",
        "kind",
        "data",
        "rows",
        "withheld",
        "columns",
        "jointly",
        "promises",
        "method",
        "weights",
        "seeded",
        "rows_per_person",
        "prepare",
        "files",
    }
}
FIELDS["anatomized"] = FIELDS["generalized"] - {"weights"}
FIELDS["perturbed"] = FIELDS["generalized"] - {"weights"} | {"values", "matrix", "distribution"}
OPTIONAL = {"weights", "seeded", "rows_per_person", "prepare", "distribution"}


def write(folder: Path, frames: Mapping[str, Rows | pl.DataFrame], manifest: Mapping[str, Any], format: str) -> str:
    """Data files, README and manifest into an empty folder; the digest."""
    rows = len(next(iter(frames.values())))
    manifest = {**manifest, "data": [f"{name}.{format}" for name in frames], "rows": rows}
    for name, frame in frames.items():
        write_data(folder / f"{name}.{format}", frame, format)
    (folder / "README.md").write_text(readme_text(manifest), encoding="utf-8")
    return seal(folder, manifest)


def seal(folder: Path, manifest: Mapping[str, Any]) -> str:
    """Write the manifest with the checksums of all that is in the folder; the digest."""
    files = {
        path.name: {"sha256": _sha256(path), "bytes": path.stat().st_size}
        for path in sorted(folder.iterdir())
        if path.name != MANIFEST
    }
    (folder / MANIFEST).write_text(_text({**manifest, "format": FORMAT, "files": files}), encoding="utf-8")
    return digest(folder)


def _text(manifest: Mapping[str, Any]) -> str:
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


def read_manifest(folder: str | Path) -> dict[str, Any]:
    """The manifest, its shape checked; parameters as they were written (decimals exact)."""
    path = Path(folder) / MANIFEST
    if not Path(folder).is_dir():
        raise BundleDamaged(f"There is no release folder {folder}.", attempt="the folder that publish made.")
    if not path.is_file():
        raise BundleDamaged(f"{folder} has no {MANIFEST}.", why="It is no release, or an incomplete one.")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise BundleDamaged(f"The {MANIFEST} of {folder} is damaged: it is no JSON.") from None
    kind = manifest.get("kind") if isinstance(manifest, dict) else None
    if kind not in FIELDS:
        raise BundleDamaged(f"The {MANIFEST} of {folder} names no release kind that is known.")
    if manifest.get("format") != FORMAT:
        raise BundleDamaged(f"The release has format {manifest.get('format')!r}; this version reads {FORMAT}.")
    extra, lacking = set(manifest) - FIELDS[kind], FIELDS[kind] - OPTIONAL - set(manifest)
    if extra or lacking:
        listed = [
            *(f"{name!r} is missing" for name in sorted(lacking)),
            *(f"{name!r} does not belong" for name in sorted(extra)),
        ]
        raise BundleDamaged(
            f"The {MANIFEST} of {folder} does not have the fields of a {kind} release.", why="; ".join(listed) + "."
        )
    return manifest


def verify(folder: str | Path, expect_digest: str | None = None) -> dict[str, Any]:
    """The manifest of a folder that is complete, undamaged and, given a digest, unchanged."""
    folder = Path(folder)
    manifest = read_manifest(folder)
    faults = []
    present = {path.name for path in folder.iterdir()}
    for name, facts in manifest["files"].items():
        path = folder / name
        if name not in present:
            faults.append(f"{name} is missing")
        elif path.stat().st_size != facts["bytes"] or _sha256(path) != facts["sha256"]:
            faults.append(f"{name} is not the file that was published")
    faults += [
        f"{name} does not belong" for name in sorted(present - set(manifest["files"]) - {MANIFEST, "report.html"})
    ]
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


def _sha256(path: Path) -> str:
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
