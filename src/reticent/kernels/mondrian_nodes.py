"""Nodes of a strict partition: rows of codes kept together in memory, divided in place, one call for a whole level.

A cut is five integers (start, stop, column, lo, hi): of the rows start..stop those with lo <= code <= hi in `column` go
to the left.  Rows are physically permuted, so that every later pass over a node is sequential.
"""

import cython
import numpy as np

NOTHING = cython.declare(cython.int, 2147483647)


def divide(
    cuts: cython.longlong[:, ::1],
    codes: cython.int[:, ::1],
    atom: cython.int[::1],
    count: cython.longlong[::1],
    middle: cython.longlong[::1],
    low: cython.int[:, ::1],
    high: cython.int[:, ::1],
    size: cython.longlong[::1],
):
    """Divide each node by its cut, stably; child 2i is cut i's left side, 2i + 1 its right, with their boxes and sizes."""
    i: cython.Py_ssize_t
    width: cython.Py_ssize_t = codes.shape[1]
    most: cython.Py_ssize_t = 1
    for i in range(cuts.shape[0]):
        most = max(most, cuts[i, 1] - cuts[i, 0])
    aside: cython.int[:, ::1] = np.empty((most, width), np.int32)
    aside_atom: cython.int[::1] = np.empty(most, np.int32)
    aside_count: cython.longlong[::1] = np.empty(most, np.int64)
    with cython.nogil:
        for i in range(cuts.shape[0]):
            middle[i] = _part(cuts[i], codes, atom, count, aside, aside_atom, aside_count)
            measure(cuts[i, 0], middle[i], codes, count, low[2 * i], high[2 * i], size[2 * i :])
            measure(middle[i], cuts[i, 1], codes, count, low[2 * i + 1], high[2 * i + 1], size[2 * i + 1 :])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _part(
    cut: cython.longlong[::1],
    codes: cython.int[:, ::1],
    atom: cython.int[::1],
    count: cython.longlong[::1],
    aside: cython.int[:, ::1],
    aside_atom: cython.int[::1],
    aside_count: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Left rows close up where they are, right rows wait aside and follow."""
    r: cython.Py_ssize_t
    c: cython.Py_ssize_t
    put: cython.Py_ssize_t = cut[0]
    away: cython.Py_ssize_t = 0
    width: cython.Py_ssize_t = codes.shape[1]
    column: cython.Py_ssize_t = cut[2]
    for r in range(cut[0], cut[1]):
        if cut[3] <= codes[r, column] <= cut[4]:
            for c in range(width):
                codes[put, c] = codes[r, c]
            atom[put] = atom[r]
            count[put] = count[r]
            put += 1
        else:
            for c in range(width):
                aside[away, c] = codes[r, c]
            aside_atom[away] = atom[r]
            aside_count[away] = count[r]
            away += 1
    for r in range(away):
        for c in range(width):
            codes[put + r, c] = aside[r, c]
        atom[put + r] = aside_atom[r]
        count[put + r] = aside_count[r]
    return put


@cython.ccall
@cython.nogil
@cython.exceptval(check=False)
def measure(
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    codes: cython.int[:, ::1],
    count: cython.longlong[::1],
    low: cython.int[::1],
    high: cython.int[::1],
    size: cython.longlong[::1],
) -> cython.void:
    """The tight box of the rows start..stop, and how many rows of the table they stand for."""
    r: cython.Py_ssize_t
    c: cython.Py_ssize_t
    x: cython.int
    for c in range(codes.shape[1]):
        low[c] = high[c] = codes[start, c]
    size[0] = 0
    for r in range(start, stop):
        size[0] += count[r]
        for c in range(codes.shape[1]):
            x = codes[r, c]
            low[c] = x if x < low[c] else low[c]
            high[c] = x if x > high[c] else high[c]
