"""Nodes of a strict partition: rows of codes kept together in memory, divided in place, one call for a whole level.

A cut is five integers (start, stop, column, lo, hi): of the rows start..stop those with lo <= code <= hi in `column` go
to the left.  Rows are physically permuted, so that every later pass over a node is sequential; they are padded to a
multiple of eight columns, so that eight are moved and compared at once.
"""

import cython
import numpy as np


def divide(
    cuts: cython.longlong[:, ::1],
    codes: cython.int[:, ::1],
    atom: cython.int[::1],
    count: cython.longlong[::1],
    middle: cython.longlong[::1],
):
    """Divide each node by its cut, stably: the left rows of cut i are start..middle[i], the right ones middle[i]..stop."""
    i: cython.Py_ssize_t
    most: cython.Py_ssize_t = 1
    for i in range(cuts.shape[0]):
        most = max(most, cuts[i, 1] - cuts[i, 0])
    aside: cython.int[:, ::1] = np.empty((most, codes.shape[1]), np.int32)
    aside_atom: cython.int[::1] = np.empty(most, np.int32)
    aside_count: cython.longlong[::1] = np.empty(most, np.int64)
    with cython.nogil:
        for i in range(cuts.shape[0]):
            middle[i] = _part(i, cuts, codes, atom, count, aside, aside_atom, aside_count)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _part(
    i: cython.Py_ssize_t,
    cuts: cython.longlong[:, ::1],
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
    put: cython.Py_ssize_t = cuts[i, 0]
    away: cython.Py_ssize_t = 0
    column: cython.Py_ssize_t = cuts[i, 2]
    lo: cython.longlong = cuts[i, 3]
    hi: cython.longlong = cuts[i, 4]
    for r in range(cuts[i, 0], cuts[i, 1]):
        if lo <= codes[r, column] <= hi:
            for c in range(codes.shape[1]):
                codes[put, c] = codes[r, c]
            atom[put] = atom[r]
            count[put] = count[r]
            put += 1
        else:
            for c in range(codes.shape[1]):
                aside[away, c] = codes[r, c]
            aside_atom[away] = atom[r]
            aside_count[away] = count[r]
            away += 1
    for r in range(away):
        for c in range(codes.shape[1]):
            codes[put + r, c] = aside[r, c]
        atom[put + r] = aside_atom[r]
        count[put + r] = aside_count[r]
    return put


def measure(
    start: cython.longlong[::1],
    stop: cython.longlong[::1],
    codes: cython.int[:, ::1],
    count: cython.longlong[::1],
    box: cython.int[:, :, ::1],
    size: cython.longlong[::1],
):
    """The tight box of each node, and how many rows of the table it holds."""
    i: cython.Py_ssize_t
    r: cython.Py_ssize_t
    b: cython.Py_ssize_t
    with cython.nogil:
        for i in range(start.shape[0]):
            size[i] = 0
            for r in range(start[i], stop[i]):
                size[i] += count[r]
            for b in range(0, codes.shape[1], 8):
                _box(i, b, start[i], stop[i], codes, box)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _box(
    i: cython.Py_ssize_t,
    b: cython.Py_ssize_t,
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    codes: cython.int[:, ::1],
    box: cython.int[:, :, ::1],
) -> cython.void:
    """Least and greatest code of eight columns, held in registers."""
    r: cython.Py_ssize_t
    c: cython.Py_ssize_t
    row = cython.declare(cython.int[8])
    least = cython.declare(cython.int[8])
    most = cython.declare(cython.int[8])
    for c in range(8):
        least[c] = codes[start, b + c]
        most[c] = codes[start, b + c]
    for r in range(start + 1, stop):
        for c in range(8):
            row[c] = codes[r, b + c]
        for c in range(8):
            least[c] = row[c] if row[c] < least[c] else least[c]
        for c in range(8):
            most[c] = row[c] if row[c] > most[c] else most[c]
    for c in range(8):
        box[i, 0, b + c] = least[c]
        box[i, 1, b + c] = most[c]
