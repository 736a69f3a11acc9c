"""Which cuts of some nodes keep the caps, all at once: for nodes whose best few cuts all broke a promise.

Asking about one cut after the other costs a pass over the node for each; a column of 30,000 categories has as many cuts,
and a promise that one rare value makes strict bars nearly all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reticent.kernels.mondrian_allowed import allow
from reticent.methods.mondrian.nodes import Nodes, ranges
from reticent.methods.mondrian.rules import Rules
from reticent.methods.mondrian.spans import Spans


@dataclass(frozen=True, eq=False)
class Mask:
    """allowed[begin[i] + ordinal]: whether that cut of the i-th node asked about keeps the caps."""

    begin: np.ndarray
    allowed: np.ndarray

    @classmethod
    def all(cls, nodes: int) -> Mask:
        """No cut is barred."""
        return cls(np.zeros(nodes, np.int64), np.ones(0, np.int8))

    @property
    def empty(self) -> bool:
        return not len(self.allowed)

    def of_these(self, kept: np.ndarray) -> Mask:
        """The same cuts, of some of the nodes."""
        return Mask(self.begin[kept], self.allowed)

    @classmethod
    def of(cls, nodes: Nodes, asked: np.ndarray, side: np.ndarray, rules: Rules, spans: Spans) -> Mask:
        """`side` is the least number of rows of a side, for each node asked about."""
        start, stop = nodes.start[asked], nodes.stop[asked]
        length = stop - start
        most = most_cuts(nodes, asked)
        begin = np.cumsum(most) - most
        allowed = np.ones(int(most.sum()), np.int8)
        table = np.column_stack([start, stop, side, begin, np.cumsum(length) - length]).astype(np.int64)
        cells = np.column_stack([nodes.first[nodes.atom], nodes.first[nodes.atom + 1]]).astype(np.int64)
        given = nodes.words, cells, rules.held, (rules.rules, rules.bounds), (spans.shape, spans.least)
        allow(table, _in_order(nodes, start, length), *given, allowed)
        return cls(begin, allowed)


def most_cuts(nodes: Nodes, asked: np.ndarray) -> np.ndarray:
    """No node has more cuts than this: between codes, and each code and each child of a tree from the rest."""
    box, length = nodes.box[asked].astype(np.int64), nodes.stop[asked] - nodes.start[asked]
    return 3 * np.minimum(box[:, 1] - box[:, 0] + 1, length[:, None]).sum(axis=1) + 1


def _in_order(nodes: Nodes, start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """(columns, rows): the rows of each node in the order of their codes, node after node."""
    row = ranges(start, length)
    owner = np.repeat(np.arange(len(start)), length)
    found = np.empty((len(nodes.cells.quasi), len(row)), np.int32)
    for column in range(len(found)):
        code = nodes.codes(row, np.full(len(row), column)).astype(np.int64)
        found[column] = row[_sorted(owner, code)]
    return found


def _sorted(owner: np.ndarray, code: np.ndarray) -> np.ndarray:
    """A stable order by owner, then code: sixteen bits at a time, which NumPy sorts by counting."""
    order = np.arange(len(code))
    for key in (code, owner):
        for shift in range(0, max(int(key.max(initial=0)).bit_length(), 1), 16):
            digit = (key >> shift & 0xFFFF).astype(np.uint16)
            order = order[np.argsort(digit[order], kind="stable")]
    return order
