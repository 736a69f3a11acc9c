"""How often each value of a sensitive column occurs on either side of a cut, for many cuts.

Cuts and rows are those of `mondrian_caps`; cuts of one node follow one another.  Where several of them cut the same
column, its codes are counted once and every cut is a difference of two sums.
"""

import cython
import numpy as np

CODE = cython.declare(cython.ulonglong, 0x7FFFFFFF)
ROOM = cython.declare(cython.Py_ssize_t, 1 << 17)  # counts that a table of sums may take


def tally(
    cuts: cython.longlong[:, ::1],
    words: cython.ulonglong[:, ::1],
    atom: cython.int[::1],
    first: cython.longlong[::1],
    held: cython.longlong[:, ::1],
    column: cython.Py_ssize_t,
    counts: cython.longlong[:, ::1],
):
    """counts[2i] = how often each value of a sensitive column occurs within cut i, counts[2i + 1] in the rest of its node."""
    i: cython.Py_ssize_t
    v: cython.Py_ssize_t
    j: cython.Py_ssize_t
    begin: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t
    sums: cython.longlong[::1] = np.empty(ROOM, np.int64)
    whole: cython.longlong[::1] = np.empty(counts.shape[1], np.int64)
    with cython.nogil:
        while begin < cuts.shape[0]:
            end = begin
            while end < cuts.shape[0] and cuts[end, 0] == cuts[begin, 0]:
                end += 1
            _whole(cuts[begin, 0], cuts[begin, 1], atom, first, held, column, whole)
            for j in range(2 * words.shape[1]):
                _column(j, begin, end, cuts, words, atom, first, held, column, sums, counts)
            for i in range(begin, end):
                for v in range(counts.shape[1]):
                    counts[2 * i + 1, v] = whole[v] - counts[2 * i, v]
            begin = end


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _code(words: cython.ulonglong[:, ::1], r: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.longlong:
    return cython.cast(cython.longlong, (words[r, j >> 1] >> cython.cast(cython.int, 32 * (j & 1))) & CODE)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _whole(
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    atom: cython.int[::1],
    first: cython.longlong[::1],
    held: cython.longlong[:, ::1],
    column: cython.Py_ssize_t,
    whole: cython.longlong[::1],
) -> cython.void:
    """What the node holds."""
    r: cython.Py_ssize_t
    h: cython.Py_ssize_t
    for r in range(whole.shape[0]):
        whole[r] = 0
    for r in range(start, stop):
        for h in range(first[atom[r]], first[atom[r] + 1]):
            whole[held[h, 1 + column]] += held[h, 0]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _column(
    j: cython.Py_ssize_t,
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    cuts: cython.longlong[:, ::1],
    words: cython.ulonglong[:, ::1],
    atom: cython.int[::1],
    first: cython.longlong[::1],
    held: cython.longlong[:, ::1],
    column: cython.Py_ssize_t,
    sums: cython.longlong[::1],
    counts: cython.longlong[:, ::1],
) -> cython.void:
    """The cuts begin..end of a node that cut column j: from a table of sums where that takes less than a pass for each."""
    i: cython.Py_ssize_t
    v: cython.Py_ssize_t
    asked: cython.Py_ssize_t = 0
    lo: cython.longlong = 0
    hi: cython.longlong = -1
    values: cython.Py_ssize_t = counts.shape[1]
    rows: cython.Py_ssize_t = cuts[begin, 1] - cuts[begin, 0]
    for i in range(begin, end):
        if cuts[i, 2] == j:
            lo = cuts[i, 3] if asked == 0 or cuts[i, 3] < lo else lo
            hi = cuts[i, 4] if cuts[i, 4] > hi else hi
            asked += 1
    if asked < 2 or (hi - lo + 2) * values > ROOM or (hi - lo + 2) * values > asked * rows:
        for i in range(begin, end):
            if cuts[i, 2] == j:
                for v in range(values):
                    counts[2 * i, v] = 0
                _within(
                    cuts[i, 0], cuts[i, 1], j, cuts[i, 3], cuts[i, 4], words, atom, first, held, column, 2 * i, counts
                )
        return
    _sum(cuts[begin, 0], cuts[begin, 1], j, lo, hi, words, atom, first, held, column, values, sums)
    for i in range(begin, end):
        if cuts[i, 2] == j:
            for v in range(values):
                counts[2 * i, v] = sums[(cuts[i, 4] + 1 - lo) * values + v] - sums[(cuts[i, 3] - lo) * values + v]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _within(
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    lo: cython.longlong,
    hi: cython.longlong,
    words: cython.ulonglong[:, ::1],
    atom: cython.int[::1],
    first: cython.longlong[::1],
    held: cython.longlong[:, ::1],
    column: cython.Py_ssize_t,
    at: cython.Py_ssize_t,
    counts: cython.longlong[:, ::1],
) -> cython.void:
    """Count the rows with lo <= code <= hi."""
    r: cython.Py_ssize_t
    h: cython.Py_ssize_t
    for r in range(start, stop):
        if lo <= _code(words, r, j) <= hi:
            for h in range(first[atom[r]], first[atom[r] + 1]):
                counts[at, held[h, 1 + column]] += held[h, 0]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sum(
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    lo: cython.longlong,
    hi: cython.longlong,
    words: cython.ulonglong[:, ::1],
    atom: cython.int[::1],
    first: cython.longlong[::1],
    held: cython.longlong[:, ::1],
    column: cython.Py_ssize_t,
    values: cython.Py_ssize_t,
    sums: cython.longlong[::1],
) -> cython.void:
    """sums[c - lo] = counts of all codes from lo to below c."""
    r: cython.Py_ssize_t
    h: cython.Py_ssize_t
    x: cython.longlong
    for r in range((hi - lo + 2) * values):
        sums[r] = 0
    for r in range(start, stop):
        x = _code(words, r, j)
        if lo <= x <= hi:
            for h in range(first[atom[r]], first[atom[r] + 1]):
                sums[(x + 1 - lo) * values + held[h, 1 + column]] += held[h, 0]
    for r in range(values, (hi - lo + 2) * values):
        sums[r] += sums[r - values]
