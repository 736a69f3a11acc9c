"""Algorithm 1, MinSumOfRange (Koudas, Srivastava, Yu & Zhang, VLDB 2009, section 4.1), for many groups one after the other.

`tree[node]` is (parent, first child, children, weight); children of a node are numbered one after the other, parents before them.
"""

import cython


def allocate(
    starts: cython.longlong[::1],
    leaf: cython.longlong[::1],
    count: cython.longlong[::1],
    tree: cython.longlong[:, ::1],
    scratch: cython.longlong[:, ::1],
    out: cython.longlong[:, ::1],
) -> cython.longlong:
    """out[i] = (group, node, count); returns how many entries there are.

    Group g holds `count[i]` values at the node `leaf[i]` for i in starts[g] .. starts[g + 1].  `scratch` is (3, nodes) of zeros: the
    values held below a node, those passed to it, and a stack.  A node passes on the greatest number of values that its children
    hold in the ratio of their weights, and keeps the rest: the maximum m-bound allocation.
    """
    held: cython.longlong[::1] = scratch[0]
    passed: cython.longlong[::1] = scratch[1]
    stack: cython.longlong[::1] = scratch[2]
    g: cython.Py_ssize_t
    i: cython.Py_ssize_t
    c: cython.Py_ssize_t
    node: cython.longlong
    depth: cython.longlong
    total: cython.longlong
    parts: cython.longlong
    share: cython.longlong
    entries: cython.longlong = 0
    for g in range(starts.shape[0] - 1):
        total = 0
        for i in range(starts[g], starts[g + 1]):
            total += count[i]
            node = leaf[i]
            while node >= 0:
                held[node] += count[i]
                node = tree[node, 0]
        passed[0] = total
        stack[0] = 0
        depth = 1 if total > 0 else 0
        while depth > 0:
            depth -= 1
            node = stack[depth]
            total = passed[node]
            parts = 0
            for c in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
                parts += tree[c, 3]
            share = total // parts if parts > 0 else 0
            for c in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
                if tree[c, 3] > 0 and held[c] // tree[c, 3] < share:
                    share = held[c] // tree[c, 3]
            if total > share * parts:
                out[entries, 0] = g
                out[entries, 1] = node
                out[entries, 2] = total - share * parts
                entries += 1
            if share > 0:
                for c in range(tree[node, 1], tree[node, 1] + tree[node, 2]):
                    if tree[c, 3] > 0:
                        passed[c] = share * tree[c, 3]
                        stack[depth] = c
                        depth += 1
        for i in range(starts[g], starts[g + 1]):
            node = leaf[i]
            while node >= 0 and held[node] != 0:
                held[node] = 0
                node = tree[node, 0]
    return entries
