"""Hierarchies that other tools and tables hold: Amnesia's text and JSON, and data frames with a column for each level.

Amnesia's text file names the kind (`distinct` or `range`), then `name`, `type` and `height`, then the nodes, level by level,
as `parent has child child ...`; of a range hierarchy the nodes are `low,high`, and the values of the data are put under
the first of the finest ranges that holds them.  Its JSON lists nodes and edges; a nested tree is understood too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from reticent.errors import HierarchyError
from reticent.limits import whole_text
from reticent.table.builders.built import ROOT, Values, exactly, padded
from reticent.table.hierarchy import Hierarchy

Children = dict[str, list[str]]


def from_frame(frame: Any) -> Hierarchy:
    """Columns from leaf to root, as in ARX; a root is added where the last column has more than one value."""
    from reticent.table.source import Source, scan

    table = scan(Source(), frame).collect()
    rows = [
        ["" if cell is None else str(cell) for cell in row] for row in table.unique(maintain_order=True).iter_rows()
    ]
    if rows and len({row[-1] for row in rows}) > 1:
        rows = [[*row, ROOT] for row in rows]
    return Hierarchy.from_rows(rows, "a frame")


def from_amnesia(given: str | Path, values: Any = None) -> Hierarchy:
    """From the path of a file, or its text; `values` are the data's, which a range hierarchy needs."""
    text = _read(given)
    if text.lstrip().startswith(("{", "[")):
        try:
            tree = json.loads(text)
        except json.JSONDecodeError as error:
            raise HierarchyError(f"The hierarchy is not valid JSON (line {error.lineno}).") from None
        except RecursionError:
            raise _no_tree() from None
        return from_tree(tree)
    head, _, body = text.partition("\n")
    kind = head.strip().lower()
    if kind not in ("distinct", "range"):
        raise HierarchyError(
            "An Amnesia hierarchy starts with `distinct` or `range`.", attempt="the file as Amnesia saved it."
        )
    children = _children(body)
    if kind == "distinct":
        return Hierarchy.from_rows(_rows(children), "an Amnesia hierarchy")
    return _under_ranges(_rows(children), values)


def from_tree(tree: Any) -> Hierarchy:
    """From JSON: {"nodes": [{"id", "label"}], "edges": [{"from", "to"}]}, or nested {"name", "children"} with any of the usual keys."""
    try:
        children = _of_json(tree)
    except (
        LookupError,
        TypeError,
        RecursionError,
    ):  # a node is no table, lacks its name, or names one that is not there
        raise _no_tree() from None
    return Hierarchy.from_rows(_rows(children), "a JSON hierarchy")


def _no_tree() -> HierarchyError:
    return HierarchyError(
        "The JSON is no tree that is understood, or one of too many levels.",
        attempt='{"nodes": [{"id", "label"}], "edges": [{"from", "to"}]}, or nested {"name", "children"}.',
    )


def _of_json(tree: Any) -> Children:
    children: Children = {}
    if isinstance(tree, Mapping) and _of(tree, "nodes", "nodeList") is not None:
        text = {
            str(node["id"]): str(_of(node, "label", "text", "name", "id")) for node in _of(tree, "nodes", "nodeList")
        }
        for edge in _of(tree, "edges", "edgeList") or []:
            children.setdefault(text[str(edge["from"])], []).append(text[str(edge["to"])])
    else:
        for parent, child in _edges(tree[0] if isinstance(tree, list) and len(tree) == 1 else tree):
            children.setdefault(parent, []).append(child)
    return children


def _read(given: str | Path) -> str:
    if isinstance(given, str) and "\n" in given:
        return given
    try:
        return whole_text(given)
    except OSError as error:
        raise HierarchyError(f"The hierarchy cannot be read: {error.strerror}.", why=f"Looked for {given}.") from None
    except UnicodeDecodeError as error:
        raise HierarchyError(
            f"The hierarchy is not UTF-8 (byte {error.start}).", attempt="saving it as UTF-8."
        ) from None


def _of(node: Mapping[str, Any], *names: str) -> Any:
    return next((node[name] for name in names if name in node), None)


def _edges(node: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(node, Mapping) or _of(node, "label", "text", "name", "value", "id") is None:
        raise HierarchyError("A node of the JSON tree has no name.", attempt='{"name": "*", "children": [...]}.')
    name = str(_of(node, "label", "text", "name", "value", "id"))
    for child in _of(node, "children", "nodes") or []:
        child = child if isinstance(child, Mapping) else {"name": child}
        yield name, str(_of(child, "label", "text", "name", "value", "id"))
        yield from _edges(child)


def _children(body: str) -> Children:
    children: Children = {}
    for number, line in enumerate(body.splitlines(), start=2):
        tokens = line.split()
        if not tokens or tokens[0].lower() in ("name", "type", "height"):
            continue
        if len(tokens) < 3 or tokens[1] != "has":
            raise HierarchyError(
                f"Line {number} of the hierarchy is not `parent has child ...`.", attempt="values without spaces."
            )
        children.setdefault(tokens[0], []).extend(tokens[2:])
    return children


def _rows(children: Children) -> list[list[str]]:
    """The paths from every leaf to the one root."""
    children = {above: [child for child in below if child != above] for above, below in children.items()}
    parent: dict[str, str] = {}
    for above, below in children.items():
        for child in below:
            if parent.setdefault(child, above) != above:
                raise HierarchyError("Not a tree: a node has two parents.", values=[child])
    roots = [node for node in children if node not in parent]
    if len(roots) != 1:
        raise HierarchyError(
            f"A hierarchy has one root; this one has {len(roots)}.", attempt="one node above all others."
        )
    rows: list[list[str]] = []
    waiting = [[roots[0]]]
    while waiting:
        path = waiting.pop()
        below = children.get(path[0], [])
        if not below:
            rows.append(path)
        waiting += [[child, *path] for child in reversed(below)]
    return padded(rows)


def _under_ranges(ranges: list[list[str]], values: Any) -> Hierarchy:
    if values is None:
        raise HierarchyError("A range hierarchy needs the data's values.", attempt="from_amnesia(path, values).")
    found = Values.of(values)
    bounds = [tuple(exactly(end, "the end of a range") for end in row[0].split(",")) for row in ranges]
    if any(len(ends) != 2 for ends in bounds):
        raise HierarchyError("A node of a range hierarchy is `low,high`.", attempt="the file as Amnesia saved it.")
    rows: list[Sequence[str]] = []
    for number, text in sorted(zip(found.numbers(), found.texts, strict=True)):
        at = next((at for at, (low, high) in enumerate(bounds) if low <= number <= high), None)
        if at is not None:
            rows.append([text, *(f"[{node.replace(',', ', ')}]" for node in ranges[at][:-1]), ROOT])
    if len(rows) < len(found.texts):
        lacking = len(found.texts) - len(rows)
        raise HierarchyError(
            f"{lacking} of {len(found.texts)} distinct values lie in no range.", attempt="wider ranges."
        )
    return found.hierarchy(rows, "numeric")
