"""A hierarchy: a tree over a categorical column's values.

The file format is ARX's: no header, one row per value, leaf first, one column per level, the root last, rows of equal
length; the delimiter is sniffed.  Leaves are coded in pre-order, so that the lowest common ancestor of a set of values
is that of its least and greatest code, and a node is an interval of codes.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reticent import html_repr, validation
from reticent.errors import DiskError, HierarchyError, pluralize
from reticent.limits import MAX_HIERARCHY_VALUES, read_text_file
from reticent.validation import text, validate_arguments, value_list


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A tree over values.

    `paths[leaf, level]` is the node above a leaf at a level (0 = the leaf itself); a node is labels[i],
    first[i]..last[i].
    """

    paths: np.ndarray
    labels: tuple[str, ...]
    first: np.ndarray
    last: np.ndarray

    @property
    def leaves(self) -> list[str]:
        return [self.labels[i] for i in self.paths[:, 0]]

    @property
    def height(self) -> int:
        return self.paths.shape[1] - 1

    def _repr_html_(self) -> str:
        return html_repr.render_hierarchy(self)

    def rows(self) -> list[list[str]]:
        """Return the tree in ARX layout, leaves in pre-order."""
        return [[self.labels[node] for node in path] for path in self.paths]

    @validate_arguments(path=validation.path)
    def save(self, path: str | Path) -> None:
        buffer = io.StringIO()
        csv.writer(buffer, delimiter=";", lineterminator="\n").writerows(self.rows())
        try:
            Path(path).write_text(buffer.getvalue(), encoding="utf-8", newline="\n")
        except OSError as error:
            raise DiskError(f"The hierarchy cannot be written to {path}: {error.strerror}.") from None

    @classmethod
    @validate_arguments(name=text)
    def of(cls, given: object, name: str = "hierarchy") -> Hierarchy:
        """Make a hierarchy from a hierarchy, the path of one, or its rows."""
        if isinstance(given, Hierarchy):
            return given
        if isinstance(given, str | Path):
            return cls.read(given, name)
        if not isinstance(given, list | tuple) or not all(isinstance(row, list | tuple) for row in given):
            raise HierarchyError(
                f"The hierarchy of {name!r} is neither a file nor rows.", attempt='hierarchy = "file.csv".'
            )
        require_publishable(given, name)
        return cls.from_rows(given, name)

    @classmethod
    @validate_arguments(path=validation.path, name=text)
    def read(cls, path: str | Path, name: str = "") -> Hierarchy:
        path = Path(path)
        try:
            text = read_text_file(path)
        except OSError as error:
            raise HierarchyError(
                f"The hierarchy of {name or path.stem!r} cannot be read: {error.strerror}.", why=f"Looked for {path}."
            ) from None
        except UnicodeDecodeError as error:
            raise HierarchyError(
                f"The hierarchy file {path.name} is not UTF-8 (byte {error.start}).", attempt="saving it as UTF-8."
            ) from None
        try:
            delimiter = sniff_delimiter(text)
            rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter, strict=True) if any(row)]
        except csv.Error:
            raise HierarchyError(
                f"The hierarchy file {path.name} is no CSV.", attempt="one row per value, `;` between levels."
            ) from None
        require_publishable(rows, name or path.name)
        return cls.from_rows(rows, name or path.name)

    @classmethod
    @validate_arguments(name=text)
    def from_rows(cls, rows: Iterable[Sequence[str]], name: str = "hierarchy") -> Hierarchy:
        """Build and validate a hierarchy; all faults are listed in one error."""
        listed = value_list(rows, "rows")
        if not all(isinstance(row, list | tuple) for row in listed):
            raise HierarchyError(
                f"The hierarchy of {name!r} is no list of rows.", attempt='[["Kiel", "north", "*"], ...].'
            )
        table = [[str(cell) for cell in row] for row in listed]
        faults, values = _find_faults(table)
        if faults:
            raise HierarchyError(
                f"The hierarchy of {name!r} is not usable: {pluralize(len(faults), 'fault')}.",
                why="\n  ".join(faults),
                values=values,
                attempt="one row per value, leaf first, the same number of levels in each, one root last.",
            )
        return _build_tree(list({row[0]: row for row in table}.values()))

    @classmethod
    def flat(cls, leaves: Sequence[str], root: str = "*") -> Hierarchy:
        """Build a hierarchy with every leaf right below the root."""
        return cls.from_rows([[leaf, text(root, "root")] for leaf in value_list(leaves, "leaves")])


def sniff_delimiter(text: str) -> str:
    """Return the delimiter that gives every row the same number of fields, the largest such; `;` if none does."""
    lines = [line for line in text.splitlines() if line.strip()][:200]
    best = ";"
    width = 1
    for mark in (";", ",", "\t", "|"):
        counts = {len(row) for row in csv.reader(lines, delimiter=mark)}
        if len(counts) == 1 and (fields := counts.pop()) > width:
            best = mark
            width = fields
    if width == 1 and lines:
        return max((";", ",", "\t", "|"), key=lambda mark: sum(line.count(mark) for line in lines))
    return best


def require_publishable(rows: Sequence[Sequence[str]], name: str, max_values: int = MAX_HIERARCHY_VALUES) -> None:
    """Refuse a hierarchy that no manifest could hold, before it is built: a steward's hierarchy is published whole."""
    values = sum(len(row) + 1 for row in rows)
    if values > max_values:
        raise HierarchyError(
            f"The hierarchy of {name!r} is too large to be published.",
            why=f"It has {len(rows):,} rows, about {values:,} values in a manifest, and {max_values:,} are the most.",
            attempt="leaving out the values that no row has, or fewer levels.",
        )


def _find_faults(table: list[list[str]]) -> tuple[list[str], list[str]]:
    if not table:
        return ["it has no rows"], []
    faults: list[str] = []
    values: list[str] = []
    widths = Counter(map(len, table))
    width = max(widths, key=lambda width: (widths[width], width))
    if len(widths) > 1:
        listed = ", ".join(f"{pluralize(count, 'row')} of {wide}" for wide, count in sorted(widths.items()))
        faults.append(f"ragged rows: {listed}")
        table = [row for row in table if len(row) == width]  # the rest of the faults are looked for in most of the rows
    if width < 2:
        return [*faults, "it has one column: a leaf needs at least a root above it"], values
    blank = sum(not all(row[1:]) for row in table)
    if blank:
        faults.append(f"{pluralize(blank, 'row', 'holds', 'hold')} an empty label above the leaf")
    roots = {row[-1] for row in table}
    if len(roots) > 1:
        faults.append(f"{len(roots)} different roots in the last column: there must be one")
    columns = list(zip(*table, strict=True))
    repeated: list[str] = []
    if len(set(columns[0])) < len(table):
        paths: dict[str, set[tuple[str, ...]]] = {}
        for row in table:
            paths.setdefault(row[0], set()).add(tuple(row))
        repeated = [leaf for leaf, leaf_paths in paths.items() if len(leaf_paths) > 1]
    if repeated:
        faults.append(
            f"{pluralize(len(repeated), 'value', 'stands', 'stand')} in several rows with different ancestors"
        )
        values += repeated
    for level in range(1, width - 1):
        edges = dict.fromkeys(zip(columns[level], columns[level + 1], strict=True))
        above = Counter(label for label, _ in edges)
        split_labels = [label for label, parents in above.items() if parents > 1]
        if split_labels:
            faults.append(f"not a tree: level {level} has {pluralize(len(split_labels), 'label')} with several parents")
            values += split_labels
    return faults, values


def _build_tree(table: list[list[str]]) -> Hierarchy:
    """Number the nodes and put the leaves in pre-order, children in order of first appearance."""
    codes: list[np.ndarray] = []  # of each level, by first appearance
    names: list[list[str]] = []
    for column in zip(*table, strict=True):
        number_of_label: dict[str, int] = {}
        codes.append(np.array([number_of_label.setdefault(label, len(number_of_label)) for label in column], np.int64))
        names.append(list(number_of_label))
    order = np.lexsort(codes)  # by the root first, and by the leaf last
    paths = np.empty((len(table), len(codes)), np.int32)
    labels: list[str] = []
    first: list[np.ndarray] = []
    last: list[np.ndarray] = []
    for level, level_labels in enumerate(names):
        code = codes[level][order]
        starts = np.flatnonzero(np.diff(code, prepend=-1))
        paths[:, level] = np.repeat(np.arange(len(starts)) + len(labels), np.diff(np.append(starts, len(code))))
        labels += [level_labels[number] for number in code[starts].tolist()]
        first.append(starts)
        last.append(np.append(starts[1:], len(code)) - 1)
    return Hierarchy(
        paths, tuple(labels), np.concatenate(first).astype(np.int32), np.concatenate(last).astype(np.int32)
    )
