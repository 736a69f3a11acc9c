"""How often the rows of each cell are published as each value, from a number drawn for each row."""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def count_perturbed(
    counts: cython.longlong[::1],
    rank: cython.longlong[::1],
    until: cython.longlong[:, ::1],
    draws: cython.longlong[::1],
    tally: cython.longlong[::1],
    published: cython.longlong[:, ::1],
) -> cython.Py_ssize_t:
    """Write published[i] = (cell, value, rows) in the order of cells and values; return how many there are.

    Cell c has counts[c] rows, to which the next of `draws` belong.  A row is published as the first value v with
    drawn < until[rank[c], v].  `tally` is zero for every value, before and after.
    """
    values: cython.Py_ssize_t = until.shape[1]
    entries: cython.Py_ssize_t = 0
    row: cython.Py_ssize_t = 0
    c: cython.Py_ssize_t
    _i: cython.longlong
    r: cython.longlong
    low: cython.Py_ssize_t
    high: cython.Py_ssize_t
    middle: cython.Py_ssize_t
    with cython.nogil:
        for c in range(counts.shape[0]):
            r = rank[c]
            for _i in range(counts[c]):
                low = 0
                high = values - 1
                while low < high:
                    middle = (low + high) >> 1
                    if draws[row] < until[r, middle]:
                        high = middle
                    else:
                        low = middle + 1
                tally[low] += 1
                row += 1
            for low in range(values):
                if tally[low] > 0:
                    published[entries, 0] = c
                    published[entries, 1] = low
                    published[entries, 2] = tally[low]
                    tally[low] = 0
                    entries += 1
    return entries
