"""The median cut of each node in one column (LeFevre, DeWitt & Ramakrishnan, ICDE 2006, section 4).  Codes are packed as in `mondrian_nodes`.

A node may be cut between codes c and c + 1 where the fence between them is lowest in the node's span: anywhere in a
range, between the children of the lowest common ancestor in a tree.  Of the two fences around the median the one is
taken that leaves the sides more even.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython
import numpy as np

if cython.compiled:
    from cython.cimports.reticent.kernels.inline_functions import unpack_code
else:
    from reticent.kernels.inline_functions import unpack_code


def place_median_cuts(
    cuts: cython.longlong[:, ::1],
    words: cython.ulonglong[:, ::1],
    count: cython.longlong[::1],
    base: cython.longlong[::1],
    fence: cython.int[:, ::1],
    fenced: cython.bint,
    left_rows: cython.longlong[:, ::1],
):
    """Set hi of each cut (start, stop, column, low, high of the node), and left_rows[i] = (rows to the left, rows of the node).

    `fence` holds split, the previous lower fence and the next lower one, of column j from base[j] on.  `fenced` asks that
    one side be a single child, so that no label of one side can be one of the other.
    """
    i: cython.Py_ssize_t
    b: cython.Py_ssize_t
    middle: cython.longlong
    widest: cython.longlong = 0
    for i in range(cuts.shape[0]):
        widest = max(widest, min(cuts[i, 4] - cuts[i, 3] + 1, 2 * (cuts[i, 1] - cuts[i, 0]) + 64))
    tally: cython.longlong[::1] = np.zeros(widest, np.int64)
    pair: cython.longlong[::1] = np.zeros(2, np.int64)
    with cython.nogil:
        for i in range(cuts.shape[0]):
            b = base[cuts[i, 2]]
            left_rows[i, 1] = 0
            middle = 0
            if not fenced:
                middle = _find_median(i, cuts, words, count, tally)
            _find_fences(cuts[i, 3], cuts[i, 4] - 1, middle, b, fence, fenced, pair)
            _choose_fairer(i, cuts, words, count, pair, left_rows)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _find_median(
    i: cython.Py_ssize_t,
    cuts: cython.longlong[:, ::1],
    words: cython.ulonglong[:, ::1],
    count: cython.longlong[::1],
    tally: cython.longlong[::1],
) -> cython.longlong:
    """Return the least code that half of the rows do not exceed: by a histogram where the span is short, else by bisection."""
    r: cython.Py_ssize_t
    j: cython.Py_ssize_t = cuts[i, 2]
    start: cython.Py_ssize_t = cuts[i, 0]
    stop: cython.Py_ssize_t = cuts[i, 1]
    lower: cython.longlong = cuts[i, 3]
    upper: cython.longlong = cuts[i, 4]
    total: cython.longlong = 0
    below: cython.longlong = 0
    middle: cython.longlong
    if upper - lower < tally.shape[0] and upper - lower < 2 * (stop - start) + 64:
        for r in range(start, stop):
            tally[unpack_code(words, r, j) - lower] += count[r]
            total += count[r]
        middle = -1
        for r in range(upper - lower + 1):
            below += tally[r]
            tally[r] = 0
            if middle < 0 and 2 * below >= total:
                middle = lower + r
        return middle
    for r in range(start, stop):
        total += count[r]
    while lower < upper:
        middle = (lower + upper) // 2
        below = 0
        for r in range(start, stop):
            below += count[r] if unpack_code(words, r, j) <= middle else 0
        if 2 * below >= total:
            upper = middle
        else:
            lower = middle + 1
    return lower


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _find_fences(
    first: cython.longlong,
    last: cython.longlong,
    middle: cython.longlong,
    b: cython.Py_ssize_t,
    fence: cython.int[:, ::1],
    fenced: cython.bint,
    pair: cython.longlong[::1],
) -> cython.void:
    """Find the lowest fences next to the median on either side, or the outermost two; both the same where there is one."""
    lowest: cython.longlong = first
    down: cython.longlong = last if fenced else min(middle - 1, last)
    up: cython.longlong = first if fenced else max(middle, first)
    while fence[2, b + lowest] <= last:
        lowest = fence[2, b + lowest]
    while down >= first and fence[0, b + down] > fence[0, b + lowest]:
        down = fence[1, b + down]
    while up <= last and fence[0, b + up] > fence[0, b + lowest]:
        up = fence[2, b + up]
    pair[0] = down if down >= first else up
    pair[1] = up if up <= last else pair[0]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _choose_fairer(
    i: cython.Py_ssize_t,
    cuts: cython.longlong[:, ::1],
    words: cython.ulonglong[:, ::1],
    count: cython.longlong[::1],
    pair: cython.longlong[::1],
    left_rows: cython.longlong[:, ::1],
) -> cython.void:
    """Choose of two fences the one that leaves the sides more even; the first where they are alike."""
    r: cython.Py_ssize_t
    j: cython.Py_ssize_t = cuts[i, 2]
    total: cython.longlong = 0
    first_rows: cython.longlong = 0
    second_rows: cython.longlong = 0
    for r in range(cuts[i, 0], cuts[i, 1]):
        total += count[r]
        first_rows += count[r] if unpack_code(words, r, j) <= pair[0] else 0
        second_rows += count[r] if unpack_code(words, r, j) <= pair[1] else 0
    left_rows[i, 1] = total
    if abs(2 * first_rows - total) <= abs(2 * second_rows - total):
        cuts[i, 4] = pair[0]
        left_rows[i, 0] = first_rows
    else:
        cuts[i, 4] = pair[1]
        left_rows[i, 0] = second_rows
