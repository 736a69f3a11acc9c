"""Codes that say more with every character (ZIP, ICD, NACE): redacted from the right, `12345`, `1234*`, `123**`, ..., `*`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reticent.errors import HierarchyError
from reticent.table.builders.built import ROOT, BuiltHierarchy, Values, without_idle_levels


def prefixes(
    values: Any, keep: Sequence[int] | None = None, *, mask: str = "*", rows: Sequence[int] | None = None
) -> BuiltHierarchy:
    """One level for each number of characters kept, by default every one that groups; a shorter code stands for itself.

    Codes that look like numbers have often lost their zeros: keep such a column as text.
    """
    found = Values.of(values, rows)
    width = max(len(text) for text in found.texts)
    lengths = list(range(width - 1, 0, -1)) if keep is None else list(keep)
    if len(mask) != 1:
        raise HierarchyError("A mask is one character.", attempt='mask = "*".')
    if any(length < 1 for length in lengths) or sorted(set(lengths), reverse=True) != lengths:
        raise HierarchyError("Prefix lengths must be whole numbers in falling order.", attempt="keep = [3, 2].")

    def redacted(text: str, length: int) -> str:
        return text if len(text) <= length else text[:length] + mask * (width - length)

    table = [[text, *(redacted(text, length) for length in lengths), ROOT] for text in sorted(found.texts)]
    return found.hierarchy(without_idle_levels(table) if keep is None else table)
