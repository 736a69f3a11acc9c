"""A hierarchy built from data, cut down to what is published of it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from reticent.table.domain import TreeDomain
from reticent.table.grammar import ANY, parse


def rows_for(domain: TreeDomain, published: Iterable[str | None]) -> list[list[str]]:
    """The hierarchy cut down to the labels that are published: their own paths, and under a node two leaves for whatever
    values it hides: how many they are is not said, and a loss read from the result is measured against it.
    """
    tree = domain.hierarchy
    node_of = {label: node for node, label in enumerate(domain.node_labels)}
    code_of = {text: code for code, text in enumerate(domain.texts)}
    nodes, shown = set(), set()
    for label in published:
        node = node_of.get(label) if label is not None and label != ANY else None
        if node is not None and tree.first[node] < tree.last[node]:
            nodes.add(node)
        elif label is not None and label != ANY:
            shown |= {code_of[text] for text in parse(label)[1]}
    rows = tree.rows()
    found = {code: [rows[code]] for code in shown}
    for node in sorted(nodes, key=lambda node: tree.last[node] - tree.first[node]):
        inside = range(tree.first[node], tree.last[node] + 1)
        hidden = [code for code in inside if code not in shown]
        if hidden:
            level = int(np.flatnonzero(tree.paths[hidden[0]] == node)[0])
            unnamed = [f"{tree.labels[node]} (not shown{which})" for which in ("", ", too")]
            found[hidden[0]] = [[leaf] * level + rows[hidden[0]][level:] for leaf in unnamed]
            shown |= set(inside)
    if not found:  # nothing but `*` is published
        found[0] = [[leaf] * tree.height + [rows[0][-1]] for leaf in ("(not shown)", "(not shown, too)")]
    return [row for code in sorted(found) for row in found[code]]
