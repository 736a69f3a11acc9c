"""Sampled releases with other rows or fields, sealed again."""

from __future__ import annotations

import json
from pathlib import Path

from reticent.release import bundle
from reticent.release.kind import reader_for


def forge(folder: Path, data=None, **fields) -> Path:
    """The same folder with other rows or other fields, sealed as if it had been published so."""
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest |= fields
    if data is not None:
        from reticent.format.data_writer import write_data

        write_data(folder / "data.parquet", data, "parquet")
        manifest["rows"] = len(data)
    manifest.pop("files")
    (folder / "manifest.json").unlink()
    made = bundle.parse_manifest({**manifest, "files": {"data.parquet": {"sha256": 64 * "0", "bytes": 0}}})
    (folder / "README.md").write_text(reader_for("sampled").readme(made))
    bundle.seal_folder(folder, manifest)
    return folder
