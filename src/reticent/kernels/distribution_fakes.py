"""Algorithm 2, minSORFake (Koudas, Srivastava, Yu & Zhang, VLDB 2009, section 5.2), one table for every number of fakes up to t.

cost(N, k, u) is the least sum of ranges at and below node N when k fakes are added there and u of the held and fake values are
kept (the others are generalized above).  It differs from the paper in these: values kept are counted instead of values removed;
the root term is that of errata 4.1; a state that would remove more than there is costs infinity (errata 4.6); and the number of
values passed on is a minimum over all multiples of the ratio, which does not rest on theorem 1.  With j values for each unit of
weight,

    down(k, j)    = min over x_1 + ... + x_m = k of sum_i cost(C_i, x_i, j w_i)     one child after the other: any arity
    cost(N, k, u) = min over j with j W <= u of down(k, j) + (u - j W) range(N)

`tree[node]` is (parent, first child, children, weight), parents before children; `offsets[node]` says where the node's costs,
(t + 1) x (held + t + 1), begin in `cost`, and where the choices of its edge, (t + 1) x (J + 1) of its parent, begin in `choice`.
"""

import cython


@cython.cfunc
@cython.exceptval(check=False)
def sum_weight_below(tree: cython.longlong[:, ::1], node: cython.longlong) -> cython.longlong:
    total: cython.longlong = 0
    c: cython.Py_ssize_t
    for c in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
        total += tree[c, 3]
    return total


def fill_costs(
    held: cython.longlong[::1],
    tree: cython.longlong[:, ::1],
    ranges: cython.double[::1],
    cost: cython.double[::1],
    choice: cython.int[::1],
    offsets: cython.longlong[:, ::1],
    t: cython.longlong,
) -> None:
    """Every cost, children before parents; what follows the last node's costs is working room for `down`."""
    far: cython.double = 1e300
    nodes: cython.Py_ssize_t = tree.shape[0]
    down: cython.longlong = offsets[nodes, 0]
    node: cython.Py_ssize_t
    c: cython.Py_ssize_t
    k: cython.Py_ssize_t
    x: cython.Py_ssize_t
    j: cython.Py_ssize_t
    u: cython.Py_ssize_t
    w: cython.longlong
    base: cython.longlong
    parts: cython.longlong
    units: cython.longlong
    width: cython.longlong
    wide: cython.longlong
    most: cython.longlong
    row: cython.longlong
    old: cython.longlong
    made: cython.longlong
    first: cython.bint
    least: cython.double
    for node in range(nodes - 1, -1, -1):
        base = offsets[node, 0]
        width = held[node] + t + 1
        if tree[node, 2] == 0:
            for k in range(t + 1):
                for u in range(width):
                    cost[base + k * width + u] = 0.0 if u <= held[node] + k else far
            continue
        parts = sum_weight_below(tree, node)
        units = (held[node] + t) // parts + 1 if parts > 0 else 1
        first = True
        for c in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
            w = tree[c, 3]
            if w == 0:
                continue
            wide = held[c] + t + 1
            for k in range(t, -1, -1):
                row = down + k * units
                made = offsets[c, 1] + k * units
                if first:
                    for j in range(units):
                        cost[row + j] = cost[offsets[c, 0] + k * wide + j * w] if j * w <= held[c] + k else far
                        choice[made + j] = k
                    continue
                for x in range(k + 1):
                    most = (held[c] + x) // w + 1
                    if most > units:
                        most = units
                    old = down + (k - x) * units
                    for j in range(most):
                        least = cost[old + j] + cost[offsets[c, 0] + x * wide + j * w]
                        if x == 0 or least < cost[row + j]:
                            cost[row + j] = least
                            choice[made + j] = x
                    if x == 0:
                        for j in range(most, units):
                            cost[row + j] = far
                            choice[made + j] = 0
            first = False
        for k in range(t + 1):
            cost[base + k * width] = 0.0
            for u in range(1, width):
                if u > held[node] + k:
                    cost[base + k * width + u] = far
                    continue
                least = cost[base + k * width + u - 1] + ranges[node]
                if parts > 0 and u % parts == 0 and cost[down + k * units + u // parts] <= least:
                    least = cost[down + k * units + u // parts]
                cost[base + k * width + u] = least


def recover_choices(
    held: cython.longlong[::1],
    tree: cython.longlong[:, ::1],
    ranges: cython.double[::1],
    cost: cython.double[::1],
    choice: cython.int[::1],
    offsets: cython.longlong[:, ::1],
    t: cython.longlong,
    out: cython.longlong[:, ::1],
) -> None:
    """out[node] = (fakes below, values kept below, values generalized to the node); the root's first two are given."""
    node: cython.Py_ssize_t
    c: cython.Py_ssize_t
    k: cython.longlong
    u: cython.longlong
    base: cython.longlong
    parts: cython.longlong
    units: cython.longlong
    j: cython.longlong
    x: cython.longlong
    for node in range(tree.shape[0]):
        k = out[node, 0]
        u = out[node, 1]
        if tree[node, 2] == 0:
            out[node, 2] = u
            continue
        parts = sum_weight_below(tree, node)
        if parts == 0:
            out[node, 2] = u
            continue
        units = (held[node] + t) // parts + 1
        base = offsets[node, 0] + k * (held[node] + t + 1)
        while u > 0 and cost[base + u] == cost[base + u - 1] + ranges[node]:
            u -= 1
        out[node, 2] = out[node, 1] - u
        j = u // parts
        for c in range(tree[node, 1] + tree[node, 2] - 1, tree[node, 1] - 1, -1):
            x = choice[offsets[c, 1] + k * units + j] if tree[c, 3] > 0 else 0
            out[c, 0] = x
            out[c, 1] = j * tree[c, 3]
            k -= x
