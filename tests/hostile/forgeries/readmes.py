"""A README that says something else, with the manifest sealed over it: every checksum in the folder fits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from reticent.release import bundle


def _said(change: Callable[[str], str]) -> Callable[[Path], None]:
    def forge(folder: Path) -> None:
        path = folder / bundle.README_FILE
        path.write_bytes(change(path.read_text(encoding="utf-8")).encode())
        bundle.seal_folder(folder, json.loads((folder / bundle.MANIFEST_FILE).read_text(encoding="utf-8")))

    return forge


READMES: dict[str, Callable[[Path], None]] = {
    "a lie": _said(lambda text: text + "\nThis release is anonymous and needs no care.\n"),
    "a script": _said(lambda text: text + "\n<script>steal()</script>\n"),
    "a person": _said(lambda text: text.replace("\n", "\nAnn of Ulm has the flu.\n", 1)),
    "a terminal escape": _said(lambda text: text + "\x1b[2J"),
    "another number": _said(lambda text: re.sub(r"\d", lambda found: str(9 - int(found[0])), text, count=1)),
    "other line ends": _said(lambda text: text.replace("\n", "\r\n")),
    "a space more": _said(lambda text: text + " "),
    "nothing": _said(lambda text: ""),
    "a letter that nobody sees": _said(lambda text: text + "\u200b"),
    "ten megabytes": _said(lambda text: text + "x" * (10 << 20)),
}
"""Each is refused by every reader."""
