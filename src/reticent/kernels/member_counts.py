"""Counting under many range predicates at once, where people are known and the values of their groups are spread over them."""

import cython


def member_counts(
    points: cython.int[:, ::1],
    group: cython.int[::1],
    people: cython.double[::1],
    until: cython.double[:, ::1],
    lower: cython.int[:, ::1],
    upper: cython.int[:, ::1],
    found: cython.double[::1],
):
    """found[q] = sum over the points within lower[q] .. upper[q] of their people times the share of their group's values in range.

    `points` is (axes, points); until[g, v] is the share of group g's values below v.  The last column of `lower` and `upper` is the
    sensitive one; an axis whose `upper` is below 0 is free.
    """
    q: cython.Py_ssize_t
    j: cython.Py_ssize_t
    p: cython.Py_ssize_t
    axes: cython.Py_ssize_t = points.shape[0]
    first: cython.int
    last: cython.int
    total: cython.double
    with cython.nogil:
        for q in range(lower.shape[0]):
            total = 0
            first = lower[q, axes]
            last = upper[q, axes] + 1
            for p in range(points.shape[1]):
                j = 0
                while j < axes and (upper[q, j] < 0 or (lower[q, j] <= points[j, p] and points[j, p] <= upper[q, j])):
                    j += 1
                if j == axes:
                    total += people[p] * (until[group[p], last] - until[group[p], first])
            found[q] = total
