"""The posterior behind a group without fakes, exactly: which counts does algorithm 1 turn into what is published?

Beforehand each person's value is drawn from the target.  Of a node that m values were passed to, and which passed on j for each unit of
weight, algorithm 1 says of the counts c_i below its children: all c_i >= j w_i and, unless (j + 1) W > m, some c_i < (j + 1) w_i.
Nothing else.  These conditions are of one node each, so that the chance of a count below a node is a product over its children,
summed up from the leaves (inside) and handed back down (outside).  Counts are taken as Poisson with the target's means: given
their sum, that is the draw.  Sums are of non-negative numbers, in doubles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from reticent.release.annotated import Annotated

Box = list[tuple[int, int]]  # for each child, the counts from .. to (excluded)


def beliefs(annotated: Annotated, target: int, published: np.ndarray) -> np.ndarray:
    """The belief in each value of one person of the group; `published[node]` values are generalized to each node."""
    shares = np.array([float(p) for p in annotated.probabilities[target]])
    weights, parent = annotated.weights[target], annotated.parent
    children = _children(parent)
    passed = published.copy()
    order = _down(children)
    for node in reversed(order):
        if parent[node] >= 0:
            passed[parent[node]] += passed[node]
    rows = int(passed[0])
    inside = [np.zeros(0)] * len(parent)
    for node in reversed(order):
        free = node not in children or passed[node] == 0
        inside[node] = (
            _poisson(rows * shares[node], rows) if free else _inside(node, children, weights, passed, published, inside)
        )
    outside: list[np.ndarray | None] = [None] * len(parent)
    outside[0] = np.eye(1, rows + 1, rows)[0]
    found = np.zeros(len(annotated.texts))
    for node in order:
        given = outside[node]
        if given is None:  # below a node that nothing was passed to
            continue
        if node in children and passed[node] > 0:
            _outside(node, children, weights, passed, published, inside, outside)
        else:
            mean = float((np.arange(rows + 1) * given * inside[node]).sum())
            _spread(found, mean, annotated, target, node)
    return found / found.sum()


def _children(parent: np.ndarray) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for node, above in enumerate(parent.tolist()):
        if above >= 0:
            found.setdefault(above, []).append(node)
    return found


def _down(children: dict[int, list[int]]) -> list[int]:
    """Nodes, parents before children."""
    found = [0]
    for node in found:
        found += children.get(node, [])
    return found


def _poisson(mean: float, rows: int) -> np.ndarray:
    found = np.zeros(rows + 1)
    found[0] = np.exp(-mean)
    for count in range(1, rows + 1):
        found[count] = found[count - 1] * mean / count
    return found


def _boxes(
    node: int, children: dict[int, list[int]], weights: Sequence[int], passed: np.ndarray, published: np.ndarray
) -> Iterator[Box]:
    """The counts below the children that give what is published, as boxes that do not overlap."""
    mine, rows = children[node], int(passed[0])
    units = [weights[child] for child in mine]
    whole = sum(units)
    j = int(passed[node] - published[node]) // whole
    if (j + 1) * whole > passed[node]:
        yield [(j * unit, rows + 1) for unit in units]
        return
    for first, unit in enumerate(units):  # the first child that has too few for one unit more
        if unit:
            yield [
                ((j + 1) * w, rows + 1) if at < first else (j * w, (j + 1) * w) if at == first else (j * w, rows + 1)
                for at, w in enumerate(units)
            ]


def _cut(values: np.ndarray, span: tuple[int, int]) -> np.ndarray:
    found = np.zeros_like(values)
    found[span[0] : span[1]] = values[span[0] : span[1]]
    return found


def _inside(node: int, children: dict[int, list[int]], weights: Sequence[int], passed: np.ndarray, published: np.ndarray,
            inside: list[np.ndarray]) -> np.ndarray:  # fmt: skip
    rows = int(passed[0])
    total = np.zeros(rows + 1)
    for box in _boxes(node, children, weights, passed, published):
        found = np.eye(1, rows + 1)[0]
        for child, span in zip(children[node], box, strict=True):
            found = np.convolve(found, _cut(inside[child], span))[: rows + 1]
        total += found
    return total


def _outside(node: int, children: dict[int, list[int]], weights: Sequence[int], passed: np.ndarray, published: np.ndarray,
             inside: list[np.ndarray], outside: list[np.ndarray | None]) -> None:  # fmt: skip
    """What the rest of the tree says of each count below a child."""
    rows, mine, given = int(passed[0]), children[node], outside[node]
    assert given is not None
    for child in mine:
        outside[child] = np.zeros(rows + 1)
    for box in _boxes(node, children, weights, passed, published):
        cut = [_cut(inside[child], span) for child, span in zip(mine, box, strict=True)]
        for at, child in enumerate(mine):
            others = np.eye(1, rows + 1)[0]
            for other, values in enumerate(cut):
                if other != at:
                    others = np.convolve(others, values)[: rows + 1]
            handed = np.convolve(np.asarray(outside[node])[::-1], others)[: rows + 1][::-1]
            outside[child] += _cut(handed, box[at])


def _spread(found: np.ndarray, mean: float, annotated: Annotated, target: int, node: int) -> None:
    """Below a node that nothing was passed to, values follow the target."""
    first, last = int(annotated.first[node]), int(annotated.last[node])
    below = annotated.floats[target][first : last + 1]
    if below.sum() > 0:
        found[first : last + 1] += mean * below / below.sum()
