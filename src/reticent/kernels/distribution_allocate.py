"""Algorithm 1, MinSumOfRange (Koudas, Srivastava, Yu & Zhang, VLDB 2009, section 4.1), for many groups one after the other.

`tree[node]` is (parent, first child, children, weight); children of a node are numbered one after the other, parents before them.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def allocate(
    starts: cython.longlong[::1],
    leaf: cython.longlong[::1],
    count: cython.longlong[::1],
    tree: cython.longlong[:, ::1],
    scratch: cython.longlong[:, ::1],
    out: cython.longlong[:, ::1],
) -> cython.longlong:
    """Write out[i] = (group, node, count); return how many entries there are.

    Group g holds `count[i]` values at the node `leaf[i]` for i in starts[g] .. starts[g + 1].  `scratch` is (3, nodes) of zeros: the
    values held below a node, those passed to it, and a stack.  A node passes on the greatest number of values that its children
    hold in the ratio of their weights, and keeps the rest: the maximum m-bound allocation.
    """
    below: cython.longlong[::1] = scratch[0]
    passed: cython.longlong[::1] = scratch[1]
    stack: cython.longlong[::1] = scratch[2]
    group: cython.Py_ssize_t
    child: cython.Py_ssize_t
    node: cython.longlong
    depth: cython.longlong
    weights: cython.longlong
    share: cython.longlong
    entries: cython.longlong = 0
    for group in range(starts.shape[0] - 1):
        passed[0] = _count_below(starts[group], starts[group + 1], leaf, count, tree, below)
        stack[0] = 0
        depth = 1 if passed[0] > 0 else 0
        while depth > 0:
            depth -= 1
            node = stack[depth]
            weights = _sum_child_weights(node, tree)
            share = _find_share(node, weights, passed[node], tree, below)
            if passed[node] > share * weights:
                out[entries, 0] = group
                out[entries, 1] = node
                out[entries, 2] = passed[node] - share * weights
                entries += 1
            if share > 0:
                for child in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
                    if tree[child, 3] > 0:
                        passed[child] = share * tree[child, 3]
                        stack[depth] = child
                        depth += 1
        _clear_below(starts[group], starts[group + 1], leaf, tree, below)
    return entries


@cython.cfunc
@cython.exceptval(check=False)
def _count_below(
    begin: cython.longlong,
    end: cython.longlong,
    leaf: cython.longlong[::1],
    count: cython.longlong[::1],
    tree: cython.longlong[:, ::1],
    below: cython.longlong[::1],
) -> cython.longlong:
    """Count the values of a group below each node; return how many there are."""
    i: cython.Py_ssize_t
    node: cython.longlong
    total: cython.longlong = 0
    for i in range(begin, end):
        total += count[i]
        node = leaf[i]
        while node >= 0:
            below[node] += count[i]
            node = tree[node, 0]
    return total


@cython.cfunc
@cython.exceptval(check=False)
def _clear_below(
    begin: cython.longlong,
    end: cython.longlong,
    leaf: cython.longlong[::1],
    tree: cython.longlong[:, ::1],
    below: cython.longlong[::1],
) -> cython.void:
    i: cython.Py_ssize_t
    node: cython.longlong
    for i in range(begin, end):
        node = leaf[i]
        while node >= 0 and below[node] != 0:
            below[node] = 0
            node = tree[node, 0]


@cython.cfunc
@cython.exceptval(check=False)
def _sum_child_weights(node: cython.longlong, tree: cython.longlong[:, ::1]) -> cython.longlong:
    child: cython.Py_ssize_t
    total: cython.longlong = 0
    for child in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
        total += tree[child, 3]
    return total


@cython.cfunc
@cython.exceptval(check=False)
def _find_share(
    node: cython.longlong,
    weights: cython.longlong,
    passed: cython.longlong,
    tree: cython.longlong[:, ::1],
    below: cython.longlong[::1],
) -> cython.longlong:
    """Find how many values for each unit of weight a node passes on to its children, of those passed to it."""
    child: cython.Py_ssize_t
    share: cython.longlong = passed // weights if weights > 0 else 0
    for child in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
        if tree[child, 3] > 0 and below[child] // tree[child, 3] < share:
            share = below[child] // tree[child, 3]
    return share
