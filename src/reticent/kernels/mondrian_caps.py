"""Whether both sides of a cut keep count-capped promises, exactly: one pass over the node's cells for each cut.

A cut is (start, stop, column, lo, hi) over rows of codes; row r stands for the cells first[atom[r]] .. first[atom[r] + 1],
and held[cell] = (sensitive value, count).
"""

import cython
import numpy as np


def keep_caps(
    cuts: cython.longlong[:, ::1],
    codes: cython.int[:, ::1],
    atom: cython.int[::1],
    first: cython.longlong[::1],
    held: cython.longlong[:, ::1],
    bounds: cython.longlong[:, ::1],
    rule: cython.longlong[::1],
    kept: cython.char[::1],
):
    """kept[i] = whether both sides of cut i keep the caps.

    bounds[v] = (upper numerator, upper denominator, lower numerator, lower denominator);
    rule = (least size, least distinct, null, without, present only, how many lower caps are positive).
    """
    i: cython.Py_ssize_t
    inside: cython.longlong[::1] = np.zeros(bounds.shape[0], np.int64)
    outside: cython.longlong[::1] = np.zeros(bounds.shape[0], np.int64)
    touched: cython.longlong[::1] = np.empty(bounds.shape[0], np.int64)
    seen: cython.Py_ssize_t
    with cython.nogil:
        for i in range(cuts.shape[0]):
            seen = _count(i, cuts, codes, atom, first, held, inside, outside, touched)
            kept[i] = _keeps(inside, touched, seen, bounds, rule) and _keeps(outside, touched, seen, bounds, rule)
            _clear(inside, outside, touched, seen)


def tally(
    cuts: cython.longlong[:, ::1],
    codes: cython.int[:, ::1],
    atom: cython.int[::1],
    first: cython.longlong[::1],
    held: cython.longlong[:, ::1],
    counts: cython.longlong[:, ::1],
):
    """counts[2i], counts[2i + 1] = how often each value occurs on the left and on the right of cut i."""
    i: cython.Py_ssize_t
    r: cython.Py_ssize_t
    h: cython.Py_ssize_t
    side: cython.Py_ssize_t
    with cython.nogil:
        for i in range(cuts.shape[0]):
            for r in range(cuts[i, 0], cuts[i, 1]):
                side = 0 if cuts[i, 3] <= codes[r, cuts[i, 2]] <= cuts[i, 4] else 1
                for h in range(first[atom[r]], first[atom[r] + 1]):
                    counts[2 * i + side, held[h, 0]] += held[h, 1]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _count(
    i: cython.Py_ssize_t,
    cuts: cython.longlong[:, ::1],
    codes: cython.int[:, ::1],
    atom: cython.int[::1],
    first: cython.longlong[::1],
    held: cython.longlong[:, ::1],
    inside: cython.longlong[::1],
    outside: cython.longlong[::1],
    touched: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Histograms of both sides, and the values that occur on either."""
    r: cython.Py_ssize_t
    h: cython.Py_ssize_t
    v: cython.longlong
    seen: cython.Py_ssize_t = 0
    for r in range(cuts[i, 0], cuts[i, 1]):
        for h in range(first[atom[r]], first[atom[r] + 1]):
            v = held[h, 0]
            if inside[v] + outside[v] == 0:
                touched[seen] = v
                seen += 1
            if cuts[i, 3] <= codes[r, cuts[i, 2]] <= cuts[i, 4]:
                inside[v] += held[h, 1]
            else:
                outside[v] += held[h, 1]
    return seen


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _keeps(
    counts: cython.longlong[::1],
    touched: cython.longlong[::1],
    seen: cython.Py_ssize_t,
    bounds: cython.longlong[:, ::1],
    rule: cython.longlong[::1],
) -> cython.char:
    """The meaning of `Caps`: integers are compared by cross multiplication, values that do not occur are not visited."""
    t: cython.Py_ssize_t
    v: cython.longlong
    size: cython.longlong = 0
    distinct: cython.longlong = 0
    floored: cython.longlong = 0
    for t in range(seen):
        v = touched[t]
        if v != rule[3]:
            size += counts[v]
            distinct += counts[v] > 0 and v != rule[2]
            floored += counts[v] > 0 and bounds[v, 2] > 0
    if size < rule[0] or distinct < rule[1]:
        return 0
    if size > 0 and not rule[4] and floored < rule[5]:
        return 0  # a value that must occur does not
    for t in range(seen):
        v = touched[t]
        if v != rule[3] and counts[v] > 0:
            if counts[v] * bounds[v, 1] > bounds[v, 0] * size or counts[v] * bounds[v, 3] < bounds[v, 2] * size:
                return 0
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _clear(
    inside: cython.longlong[::1],
    outside: cython.longlong[::1],
    touched: cython.longlong[::1],
    seen: cython.Py_ssize_t,
) -> cython.void:
    t: cython.Py_ssize_t
    for t in range(seen):
        inside[touched[t]] = 0
        outside[touched[t]] = 0
