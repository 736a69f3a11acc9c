"""Whether both sides of a cut keep count-capped promises, exactly: one pass over the node's cells for each cut.

A cut is (start, stop, column, lo, hi) over rows of packed codes (see `mondrian_nodes`); row r stands for the cells first[atom[r]] .. first[atom[r] + 1].
held[cell] = (count, sensitive values ...), the values of each sensitive column numbered behind those of the one before.
Cuts of one node follow one another: what the node holds is counted once.
"""

import cython
import numpy as np

CODE = cython.declare(cython.ulonglong, 0x7FFFFFFF)


def keep_caps(
    cuts: cython.longlong[:, ::1],
    words: cython.ulonglong[:, ::1],
    atom: cython.int[::1],
    first: cython.longlong[::1],
    held: cython.longlong[:, ::1],
    bounds: cython.longlong[:, ::1],
    rules: cython.longlong[:, ::1],
    most: cython.longlong,
    kept: cython.char[::1],
):
    """kept[i] = whether both sides of cut i keep the caps; none of a node's is judged after `most` that do.

    rules[r] = (least size, least distinct, null, without, present only, how many lower caps are positive, first value,
    end of values, shift from values to bounds); bounds = upper and lower caps, each a numerator and a denominator.
    """
    i: cython.Py_ssize_t
    seen: cython.Py_ssize_t = 0
    values: cython.Py_ssize_t = 1
    enough: cython.longlong = 0
    for i in range(rules.shape[0]):
        values = max(values, rules[i, 7])
    inside: cython.longlong[::1] = np.zeros(values, np.int64)
    outside: cython.longlong[::1] = np.zeros(values, np.int64)
    touched: cython.longlong[::1] = np.empty(values, np.int64)
    with cython.nogil:
        for i in range(cuts.shape[0]):
            if i == 0 or cuts[i, 0] != cuts[i - 1, 0]:
                _put_back(inside, outside, touched, seen, False)
                seen = _count(i, cuts, atom, first, held, outside, touched)
                enough = 0
            kept[i] = 0
            if enough < most:
                _move(i, cuts, words, atom, first, held, inside, outside)
                kept[i] = _keeps(inside, touched, seen, bounds, rules) and _keeps(outside, touched, seen, bounds, rules)
                _put_back(inside, outside, touched, seen, True)
                enough += kept[i]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _code(words: cython.ulonglong[:, ::1], r: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.longlong:
    return cython.cast(cython.longlong, (words[r, j >> 1] >> cython.cast(cython.int, 32 * (j & 1))) & CODE)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _count(
    i: cython.Py_ssize_t,
    cuts: cython.longlong[:, ::1],
    atom: cython.int[::1],
    first: cython.longlong[::1],
    held: cython.longlong[:, ::1],
    outside: cython.longlong[::1],
    touched: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Everything the node holds, as if all of it were outside, and the values that occur."""
    r: cython.Py_ssize_t
    h: cython.Py_ssize_t
    s: cython.Py_ssize_t
    v: cython.longlong
    seen: cython.Py_ssize_t = 0
    for r in range(cuts[i, 0], cuts[i, 1]):
        for h in range(first[atom[r]], first[atom[r] + 1]):
            for s in range(1, held.shape[1]):
                v = held[h, s]
                if outside[v] == 0:
                    touched[seen] = v
                    seen += 1
                outside[v] += held[h, 0]
    return seen


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _move(
    i: cython.Py_ssize_t,
    cuts: cython.longlong[:, ::1],
    words: cython.ulonglong[:, ::1],
    atom: cython.int[::1],
    first: cython.longlong[::1],
    held: cython.longlong[:, ::1],
    inside: cython.longlong[::1],
    outside: cython.longlong[::1],
) -> cython.void:
    """Count the rows within the cut inside instead."""
    r: cython.Py_ssize_t
    h: cython.Py_ssize_t
    s: cython.Py_ssize_t
    j: cython.Py_ssize_t = cuts[i, 2]
    lo: cython.longlong = cuts[i, 3]
    hi: cython.longlong = cuts[i, 4]
    for r in range(cuts[i, 0], cuts[i, 1]):
        if lo <= _code(words, r, j) <= hi:
            for h in range(first[atom[r]], first[atom[r] + 1]):
                for s in range(1, held.shape[1]):
                    inside[held[h, s]] += held[h, 0]
                    outside[held[h, s]] -= held[h, 0]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _put_back(
    inside: cython.longlong[::1],
    outside: cython.longlong[::1],
    touched: cython.longlong[::1],
    seen: cython.Py_ssize_t,
    stay: cython.bint,
) -> cython.void:
    """Nothing inside; everything outside again for the node's next cut, or nothing for the next node."""
    t: cython.Py_ssize_t
    for t in range(seen):
        outside[touched[t]] = outside[touched[t]] + inside[touched[t]] if stay else 0
        inside[touched[t]] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _keeps(
    counts: cython.longlong[::1],
    touched: cython.longlong[::1],
    seen: cython.Py_ssize_t,
    bounds: cython.longlong[:, ::1],
    rules: cython.longlong[:, ::1],
) -> cython.char:
    """Whether a side keeps every rule."""
    r: cython.Py_ssize_t
    for r in range(rules.shape[0]):
        if not _keeps_rule(r, counts, touched, seen, bounds, rules):
            return 0
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _keeps_rule(
    rule: cython.Py_ssize_t,
    counts: cython.longlong[::1],
    touched: cython.longlong[::1],
    seen: cython.Py_ssize_t,
    bounds: cython.longlong[:, ::1],
    rules: cython.longlong[:, ::1],
) -> cython.char:
    """The meaning of `Caps`: integers are compared by cross multiplication, values that do not occur are not visited."""
    t: cython.Py_ssize_t
    v: cython.longlong
    b: cython.Py_ssize_t
    begin: cython.longlong = rules[rule, 6]
    end: cython.longlong = rules[rule, 7]
    shift: cython.longlong = rules[rule, 8]
    without: cython.longlong = rules[rule, 3]
    size: cython.longlong = 0
    distinct: cython.longlong = 0
    floored: cython.longlong = 0
    for t in range(seen):
        v = touched[t]
        if begin <= v < end and v != without and counts[v] > 0:
            size += counts[v]
            distinct += v != rules[rule, 2]
            floored += bounds[v + shift, 2] > 0
    if size < rules[rule, 0] or distinct < rules[rule, 1]:
        return 0
    if size > 0 and not rules[rule, 4] and floored < rules[rule, 5]:
        return 0  # a value that must occur does not
    for t in range(seen):
        v = touched[t]
        if begin <= v < end and v != without and counts[v] > 0:
            b = v + shift
            if counts[v] * bounds[b, 1] > bounds[b, 0] * size or counts[v] * bounds[b, 3] < bounds[b, 2] * size:
                return 0
    return 1
