"""Counting under many range predicates at once: the rows of a table by sensitive value, and the rows of boxes by overlap."""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def select_histograms(
    points: cython.int[:, ::1],
    offsets: cython.longlong[::1],
    values: cython.int[::1],
    counts: cython.longlong[::1],
    lower: cython.int[:, ::1],
    upper: cython.int[:, ::1],
    mask: cython.uchar[::1],
    histograms: cython.longlong[:, ::1],
):
    """Set histograms[q, v] to the rows of value v at the points within lower[q] .. upper[q] on every axis.

    `points` is (axes, points); the cells of point p are offsets[p] .. offsets[p + 1].  An axis that a query leaves free spans its
    whole domain and is skipped.
    """
    q: cython.Py_ssize_t
    j: cython.Py_ssize_t
    p: cython.Py_ssize_t
    c: cython.longlong
    low: cython.int
    high: cython.int
    n: cython.Py_ssize_t = points.shape[1]
    is_restricted: cython.bint
    for q in range(lower.shape[0]):
        is_restricted = False
        for j in range(points.shape[0]):
            low = lower[q, j]
            high = upper[q, j]
            if high < 0:  # free
                continue
            if is_restricted:
                for p in range(n):
                    mask[p] &= (points[j, p] >= low) & (points[j, p] <= high)
            else:
                for p in range(n):
                    mask[p] = (points[j, p] >= low) & (points[j, p] <= high)
            is_restricted = True
        if not is_restricted:
            for p in range(n):
                mask[p] = 1
        for p in range(n):
            if mask[p]:
                for c in range(offsets[p], offsets[p + 1]):
                    histograms[q, values[c]] += counts[c]


def count_overlaps(
    first: cython.int[:, ::1],
    last: cython.int[:, ::1],
    holes: cython.int[:, ::1],
    prefix: cython.int[:, ::1],
    until: cython.longlong[:, ::1],
    lower: cython.int[:, ::1],
    upper: cython.int[:, ::1],
    totals: cython.double[::1],
):
    """Set totals[q] to the sum over boxes of their rows with a value in range times the share of the box inside the query.

    `first` and `last` are (axes, boxes); a box whose `holes` are not -1 there covers only the codes that this row of `prefix` counts
    (how many codes before each are covered); until[b, v] counts the rows of box b with a value below v.  The last column of `lower` and
    `upper` is the sensitive one.
    """
    q: cython.Py_ssize_t
    j: cython.Py_ssize_t
    b: cython.Py_ssize_t
    h: cython.Py_ssize_t
    axes: cython.Py_ssize_t = first.shape[0]
    low: cython.int
    high: cython.int
    share: cython.double
    total: cython.double
    for q in range(lower.shape[0]):
        total = 0
        for b in range(first.shape[1]):
            share = until[b, upper[q, axes] + 1] - until[b, lower[q, axes]]
            if share == 0:
                continue
            for j in range(axes):
                if upper[q, j] < 0:
                    continue
                low = lower[q, j] if lower[q, j] > first[j, b] else first[j, b]
                high = upper[q, j] if upper[q, j] < last[j, b] else last[j, b]
                if high < low:
                    share = 0
                    break
                h = holes[j, b]
                if h < 0:
                    share = share * (high - low + 1) / (last[j, b] - first[j, b] + 1)
                else:
                    share = share * (prefix[h, high + 1] - prefix[h, low]) / prefix[h, last[j, b] + 1]
            total += share
        totals[q] = total
