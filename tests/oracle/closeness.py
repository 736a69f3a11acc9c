"""t-closeness: the earth mover's distance between a group and the published table (Li, Li & Venkatasubramanian 2007).

Three ground distances, each with its closed form (their section 5), each a Fraction:

equal         d(v, w) = 1 for v != w:                       1/2 sum |p - q|
ordered       d(v_i, v_j) = |i - j| / (m - 1):              1/(m - 1) sum_i |sum_{j <= i} (p_j - q_j)|
hierarchical  d(v, w) = height(lca(v, w)) / H:              sum over inner nodes N of
              height(N)/H * min(pos_extra(N), neg_extra(N)), where extra(leaf) = p - q, extra(N) is the sum over
              N's children, and pos_extra (neg_extra) sums the children's positive (negative) extras' sizes

The tree is given as ARX rows, leaf first; the height of a node is its level in its row, H the level of the root.
m counts the values that occur in the published table.  A null is a value of its own: after the last in an order (unless
`order` places it), a leaf under the root in a tree.
"""

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction

Histogram = Mapping[Hashable, int]


def distribution(histogram: Histogram) -> dict[Hashable, Fraction]:
    total = sum(histogram.values())
    return {value: Fraction(count, total) for value, count in histogram.items()}


def equal(group: Histogram, reference: Histogram) -> Fraction:
    p = distribution(reference)
    q = distribution(group)
    return sum((abs(p.get(v, 0) - q.get(v, 0)) for v in {*p, *q}), Fraction(0)) / 2


def ordered(group: Histogram, reference: Histogram, order: Sequence[Hashable] | None = None) -> Fraction:
    p = distribution(reference)
    q = distribution(group)
    values = value_order(reference, order)
    if len(values) < 2:
        return Fraction(0)
    carried = Fraction(0)
    work = Fraction(0)
    for value in values:
        carried += p.get(value, 0) - q.get(value, 0)
        work += abs(carried)
    return work / (len(values) - 1)


def value_order(reference: Histogram, order: Sequence[Hashable] | None = None) -> list[Hashable]:
    """The values that occur in the published table, in the given order of the domain or sorted; null last in either.

    A value of the domain that was never published takes no place: it would only make every distance look smaller.
    """
    occurring = {value for value, count in reference.items() if count > 0}
    values = [value for value in order if value in occurring] if order is not None else sorted(occurring - {None})
    if None in occurring and None not in values:
        values.append(None)
    unknown = set(reference) - set(values)
    if unknown:
        raise ValueError(f"{len(unknown)} sensitive values stand in no order")
    return values


def hierarchical(group: Histogram, reference: Histogram, tree: Sequence[Sequence[str]]) -> Fraction:
    p = distribution(reference)
    q = distribution(group)
    paths = node_paths(tree, None in reference)
    height = max(len(path) for path in paths.values()) - 1
    unknown = set(reference) - set(paths)
    if unknown:
        raise ValueError(f"{len(unknown)} sensitive values are no leaves of the tree")
    extras = {path: p.get(leaf, Fraction(0)) - q.get(leaf, Fraction(0)) for leaf, path in paths.items()}
    work = Fraction(0)
    for level in range(1, height + 1):
        parents: dict[tuple, list[Fraction]] = {}
        for path, extra in extras.items():
            parents.setdefault(path[1:], []).append(extra)
        for children in parents.values():
            pos_extra = sum(e for e in children if e > 0)
            neg_extra = -sum(e for e in children if e < 0)
            work += Fraction(level, height) * min(pos_extra, neg_extra)
        extras = {path: sum(children, Fraction(0)) for path, children in parents.items()}
    return work


def tree_distance(tree: Sequence[Sequence[str]], v: Hashable, w: Hashable) -> Fraction:
    """height(lca(v, w)) / H: the definition, for `transport`."""
    paths = node_paths(tree, True)
    one = paths[v]
    other = paths[w]
    level = next(level for level in range(len(one)) if one[level:] == other[level:])
    return Fraction(level, len(one) - 1)


def node_paths(tree: Sequence[Sequence[str]], with_null: bool) -> dict[Hashable, tuple]:
    """Each leaf's path, leaf first.  A node is named by its whole path to the root, so equal labels never confuse."""
    paths: dict[Hashable, tuple] = {row[0]: tuple(row) for row in tree}
    length = len(tree[0])
    root = tree[0][-1]
    if any(len(path) != length or path[-1] != root for path in paths.values()):
        raise ValueError("a hierarchy has rows of one length that end in one root")
    if with_null:
        paths[None] = (None,) * (length - 1) + (root,)
    return paths
