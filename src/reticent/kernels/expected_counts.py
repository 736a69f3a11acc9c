"""Counting under many range predicates at once, where people are known and what values they have is expected."""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def sum_expected_counts(
    points: cython.int[:, ::1],
    until: cython.double[:, ::1],
    lower: cython.int[:, ::1],
    upper: cython.int[:, ::1],
    expected: cython.double[::1],
):
    """Set expected[q] to the sum over the points within lower[q] .. upper[q] of the people there who are expected to hold a value in range.

    `points` is (axes, points); until[p, v] is how many people of point p are expected to hold a value below v.  The last column of `lower` and `upper` is the
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
                    total += until[p, last] - until[p, first]
            expected[q] = total
