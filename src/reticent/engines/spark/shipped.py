"""The package as an archive that Spark unpacks on every executor, kernels included."""

from __future__ import annotations

import hashlib
import zipfile
from functools import cache
from pathlib import Path

from reticent.engines.spark.session_folder import make_session_folder

PACKAGE = Path(__file__).parents[2]
_LEFT_OUT = {".c", ".pyc", ".html"}


@cache
def archived() -> tuple[Path, str]:
    """Where the archive is, and the name that it is unpacked under: another one for other code."""
    folder = make_session_folder("shipped")
    digest = hashlib.blake2b(digest_size=8)
    path = folder / "reticent.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(PACKAGE.rglob("*")):
            if file.is_file() and file.suffix not in _LEFT_OUT:
                name, content = str(file.relative_to(PACKAGE.parent)), file.read_bytes()
                digest.update(name.encode() + b"\0" + content)
                archive.writestr(name, content)
    return path, f"reticent-{digest.hexdigest()}"
