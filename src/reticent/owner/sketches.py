"""What the ledger keeps of each table's content, a file for each, named by its mark.

One line of JSON, then 64-bit words: for each sampled combination the hashes of its values and its number of rows.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from reticent.owner.fingerprint import Content


def packed(content: Content) -> bytes:
    rate = content.rate if np.isfinite(content.rate) else None
    head = {"columns": content.columns, "rows": content.rows, "rate": rate,
            "sizes": content.sizes.tolist(), "times": content.times.tolist()}  # fmt: skip
    words = np.column_stack([content.hashes, content.counts.astype(np.uint64)])
    return json.dumps(head).encode() + b"\n" + words.astype("<u8").tobytes()


def kept(folder: Path, mark: str) -> Content:
    """Raises OSError, or ValueError where the file is damaged."""
    line, _, rest = (folder / mark).read_bytes().partition(b"\n")
    try:
        head = json.loads(line)
        columns = tuple(head["columns"])
        words = np.frombuffer(rest, "<u8").reshape(-1, len(columns) + 1)
        sizes, times = np.array(head["sizes"], np.int64), np.array(head["times"], np.int64)
        rate = np.inf if head["rate"] is None else float(head["rate"])
        rows, counts = int(head["rows"]), words[:, -1].astype(np.int64)
    except (KeyError, TypeError, OverflowError) as error:
        raise ValueError from error
    if not columns or not all(isinstance(name, str) for name in columns):
        raise ValueError
    if not len(counts) or counts.min() < 1 or rows < 1 or rate <= 0 or int(sizes @ times) != rows:
        raise ValueError
    return Content(columns, rows, mark, words[:, :-1], counts, rate, sizes, times)
