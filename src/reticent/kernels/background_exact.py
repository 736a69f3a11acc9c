"""Exact posteriors of groups (Li, Li & Zhang, ICDE 2009, equations 3 and 4) by a programme over remaining counts.

Items are given one after the other to bins with room for so many: people of equal priors to values, or values to people of
equal priors.  A state is what room is left in every bin; the items still to come follow from it, so one number for each state
is enough forwards, and one backwards.  Every level is divided by its greatest number: products of thousands of beliefs would
vanish, and posteriors are ratios within a level.
"""

import cython


def expect_placements(
    room: cython.longlong[::1],
    item: cython.longlong[::1],
    weight: cython.double[:, ::1],
    order: cython.longlong[:, ::1],
    level: cython.longlong[::1],
    ways: cython.double[:, ::1],
    found: cython.double[:, ::1],
):
    """found[c, b] += the probability that item number i, of class c = item[i], goes to bin b, for every i.

    order[s] = (code of the state, room left in each bin ...) sorted by how many items are placed; level[i] .. level[i + 1] are
    the states with i placed; room[b] is what a place of bin b is worth in the code.  `ways` has a column forwards and one
    backwards, by code.
    """
    i: cython.Py_ssize_t
    s: cython.Py_ssize_t
    b: cython.Py_ssize_t
    items: cython.Py_ssize_t = item.shape[0]
    bins: cython.Py_ssize_t = room.shape[0]
    code: cython.Py_ssize_t
    total: cython.double
    most: cython.double
    with cython.nogil:
        ways[order[0, 0], 0] = 1.0
        for i in range(items):
            for s in range(level[i], level[i + 1]):
                code = order[s, 0]
                if ways[code, 0] > 0.0:
                    for b in range(bins):
                        if order[s, b + 1] > 0:
                            ways[code - room[b], 0] += ways[code, 0] * weight[item[i], b] * order[s, b + 1]
            _scale_ways(order, level[i + 1], level[i + 2], 0, ways)
        ways[order[order.shape[0] - 1, 0], 1] = 1.0
        for i in range(items - 1, -1, -1):
            for s in range(level[i], level[i + 1]):
                code = order[s, 0]
                total = 0.0
                for b in range(bins):
                    if order[s, b + 1] > 0:
                        total += ways[code - room[b], 1] * weight[item[i], b] * order[s, b + 1]
                ways[code, 1] = total
            _scale_ways(order, level[i], level[i + 1], 1, ways)
        for i in range(items):
            total = 0.0
            for s in range(level[i], level[i + 1]):
                code = order[s, 0]
                for b in range(bins):
                    if order[s, b + 1] > 0:
                        total += ways[code, 0] * ways[code - room[b], 1] * weight[item[i], b] * order[s, b + 1]
            if total > 0.0:
                for s in range(level[i], level[i + 1]):
                    code = order[s, 0]
                    for b in range(bins):
                        if order[s, b + 1] > 0:
                            most = ways[code, 0] * ways[code - room[b], 1] * weight[item[i], b] * order[s, b + 1]
                            found[item[i], b] += most / total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _scale_ways(
    order: cython.longlong[:, ::1],
    begin: cython.longlong,
    end: cython.longlong,
    column: cython.Py_ssize_t,
    ways: cython.double[:, ::1],
) -> cython.void:
    s: cython.Py_ssize_t
    most: cython.double = 0.0
    for s in range(begin, end):
        if ways[order[s, 0], column] > most:
            most = ways[order[s, 0], column]
    if most > 0.0:
        for s in range(begin, end):
            ways[order[s, 0], column] /= most
