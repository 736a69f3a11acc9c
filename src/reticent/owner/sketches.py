"""What the ledger keeps of each table's content, a file for each, named by its mark.

One line of JSON, then 64-bit words: for each sampled combination the hashes of its values and its number of rows.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np

from reticent.owner import private
from reticent.owner.fingerprint import Content


def keep(folder: Path, content: Content) -> None:
    path = folder / content.mark
    if path.exists():
        return
    private.make_folder(folder, inside=True)
    rate = content.rate if np.isfinite(content.rate) else None
    head = {"columns": content.columns, "rows": content.rows, "rate": rate,
            "sizes": content.sizes.tolist(), "times": content.times.tolist()}  # fmt: skip
    words = np.column_stack([content.hashes, content.counts.astype(np.uint64)])
    part = path.with_suffix(".part")  # a crash leaves no half of it under its name
    private.write(part, json.dumps(head).encode() + b"\n" + words.astype("<u8").tobytes())
    os.replace(part, path)


def kept(folder: Path, mark: str) -> Content:
    """Raises OSError, or ValueError where the file is damaged."""
    line, _, rest = (folder / mark).read_bytes().partition(b"\n")
    try:
        head = json.loads(line)
        columns = tuple(head["columns"])
        words = np.frombuffer(rest, "<u8").reshape(-1, len(columns) + 1)
        sizes, times = np.array(head["sizes"]), np.array(head["times"])
        rate = np.inf if head["rate"] is None else head["rate"]
        return Content(columns, head["rows"], mark, words[:, :-1], words[:, -1].astype(np.int64), rate, sizes, times)
    except (KeyError, TypeError) as error:
        raise ValueError from error
