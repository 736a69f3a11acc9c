"""Hierarchies over any values: groups named by the steward, neighbours in an order, and balanced trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from reticent.errors import HierarchyError
from reticent.table.builders.bands import share_of
from reticent.table.builders.built import ROOT, BuiltHierarchy, Values, padded, without_idle_levels
from reticent.table.hierarchy import Hierarchy


def grouped(groups: Mapping[str, Any], *, root: str = ROOT) -> Hierarchy:
    """From nested names: {"married": ["spouse present", "spouse absent"], "single": {"was": [...], "never": [...]}}."""
    rows = padded([[*reversed(path), root] for path in _paths(groups)])
    return Hierarchy.from_rows(rows, "named groups")


def _paths(groups: Any) -> Iterator[list[str]]:
    if isinstance(groups, Mapping):
        for name, within in groups.items():
            for path in _paths(within):
                yield [str(name), *path]
    elif isinstance(groups, str) or not isinstance(groups, Sequence | set | frozenset):
        yield [str(groups)]
    else:
        for value in groups:
            yield [str(value)]


def ordered(order: Sequence[Any], size: int = 2, *, levels: int = 1) -> Hierarchy:
    """Neighbours in the order given: `size` values in a group, then `size` groups in one, for `levels` levels."""
    texts = [str(value) for value in order]
    if len(set(texts)) != len(texts):
        raise HierarchyError("The order names a value twice.", attempt="each value once.")
    if size < 2 or levels < 1:
        raise HierarchyError("Ordered groups need a size of 2 or more, and a level or more.", attempt="size = 3.")

    def label(at: int, width: int) -> str:
        first = at // width * width
        return span(texts[first], texts[min(first + width, len(texts)) - 1])

    rows = [[text, *(label(at, size**level) for level in range(1, levels + 1)), ROOT] for at, text in enumerate(texts)]
    return Hierarchy.from_rows(without_idle_levels(rows), "ordered groups")


def balanced(
    values: Any, fanout: int = 2, *, order: Sequence[Any] | None = None, rows: Sequence[int] | None = None
) -> BuiltHierarchy:
    """A tree over sorted (or ordered) values, each node cut in `fanout` parts of about equal weight.

    A value weighs 1, and with `rows` its share of the rows besides, so that the tree follows the data's own
    distribution, frequent values near the root, and stays shallow.  Numbers are sorted as numbers.
    """
    found = Values.of(values, rows)
    if fanout < 2:
        raise HierarchyError("A balanced tree needs a fanout of 2 or more.", attempt="fanout = 2.")
    keys = _keys(found, order)
    found = found.sorted_by(keys)
    total = max(sum(found.rows), 1)
    weights = [total + len(found.texts) * held for held in found.rows]
    paths: list[list[str]] = [[] for _ in found.texts]
    waiting = [range(len(found.texts))]
    while waiting:
        part = waiting.pop()
        label = ROOT if len(part) == len(paths) else span(found.texts[part[0]], found.texts[part[-1]])
        for at in part:
            paths[at].insert(0, label)
        if len(part) > fanout:
            share = share_of([weights[at] for at in part], fanout)
            starts = [at for at in range(len(part)) if at == 0 or share[at] != share[at - 1]]
            waiting += [part[low:high] for low, high in pairwise([*starts, len(part)]) if high - low > 1]
    rows_ = padded([[text, *path] for text, path in zip(found.texts, paths, strict=True)])
    return found.hierarchy(rows_, "numeric" if isinstance(keys[0], Fraction) else "categorical")


def _keys(found: Values, order: Sequence[Any] | None) -> list[Any]:
    if order is None:
        try:
            return found.numbers()
        except HierarchyError:
            return found.texts
    place = {str(value): at for at, value in enumerate(order)}
    lacking = sum(text not in place for text in found.texts)
    if lacking:
        raise HierarchyError(
            f"{lacking} of {len(found.texts)} distinct values are not in the order.", attempt="every value once."
        )
    return [place[text] for text in found.texts]


def span(first: str, last: str) -> str:
    return first if first == last else f"{first} .. {last}"
