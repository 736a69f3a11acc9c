"""Rows in the order of their groups, by counting: what a stable sort would give, in one pass."""

import cython


def by_group(group: cython.longlong[::1], begin: cython.longlong[::1], order: cython.longlong[::1]):
    """order[begin[g]] .. are the rows of group g, first to last.  `begin` is where each group begins, and is moved to its end."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(group.shape[0]):
            order[begin[group[i]]] = i
            begin[group[i]] += 1
