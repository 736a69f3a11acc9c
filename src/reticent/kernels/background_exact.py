"""Exact posteriors of groups (Li, Li & Zhang, ICDE 2009, equations 3 and 4) by a programme over remaining counts.

Items are given one after the other to bins with room for so many: people of equal priors to values, or values to people of
equal priors.  A state is what room is left in every bin; the items still to come follow from it, so one number for each state
is enough forwards, and one backwards.  Every level is divided by its greatest number: products of thousands of beliefs would
vanish, and posteriors are ratios within a level.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def expect_placements(
    bin_steps: cython.longlong[::1],
    item_class: cython.longlong[::1],
    weight: cython.double[:, ::1],
    states: cython.longlong[:, ::1],
    level: cython.longlong[::1],
    ways: cython.double[:, ::1],
    posterior: cython.double[:, ::1],
):
    """Add to posterior[c, b] the probability that item number i, of class c = item_class[i], goes to bin b, for every i.

    states[s] = (code of the state, room left in each bin ...) sorted by how many items are placed; level[i] .. level[i + 1] are
    the states with i placed; bin_steps[b] is what a place of bin b is worth in the code.  `ways` has a column forwards and one
    backwards, by code.
    """
    i: cython.Py_ssize_t
    items: cython.Py_ssize_t = item_class.shape[0]
    with cython.nogil:
        ways[states[0, 0], 0] = 1.0
        for i in range(items):
            _place_forwards(level[i], level[i + 1], bin_steps, weight[item_class[i]], states, ways)
            _scale_ways(states, level[i + 1], level[i + 2], 0, ways)
        ways[states[states.shape[0] - 1, 0], 1] = 1.0
        for i in range(items - 1, -1, -1):
            _place_backwards(level[i], level[i + 1], bin_steps, weight[item_class[i]], states, ways)
            _scale_ways(states, level[i], level[i + 1], 1, ways)
        for i in range(items):
            _add_posterior(
                level[i], level[i + 1], bin_steps, weight[item_class[i]], states, ways, posterior[item_class[i]]
            )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _place_forwards(
    begin: cython.longlong,
    end: cython.longlong,
    bin_steps: cython.longlong[::1],
    weight: cython.double[::1],
    states: cython.longlong[:, ::1],
    ways: cython.double[:, ::1],
) -> cython.void:
    """Place an item in every bin with room, from each of the states begin..end-1."""
    s: cython.Py_ssize_t
    b: cython.Py_ssize_t
    code: cython.Py_ssize_t
    for s in range(begin, end):
        code = states[s, 0]
        if ways[code, 0] > 0.0:
            for b in range(bin_steps.shape[0]):
                if states[s, b + 1] > 0:
                    ways[code - bin_steps[b], 0] += ways[code, 0] * weight[b] * states[s, b + 1]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _place_backwards(
    begin: cython.longlong,
    end: cython.longlong,
    bin_steps: cython.longlong[::1],
    weight: cython.double[::1],
    states: cython.longlong[:, ::1],
    ways: cython.double[:, ::1],
) -> cython.void:
    """Sum up, for each of the states begin..end-1, the ways that go on from it."""
    s: cython.Py_ssize_t
    b: cython.Py_ssize_t
    code: cython.Py_ssize_t
    total: cython.double
    for s in range(begin, end):
        code = states[s, 0]
        total = 0.0
        for b in range(bin_steps.shape[0]):
            if states[s, b + 1] > 0:
                total += ways[code - bin_steps[b], 1] * weight[b] * states[s, b + 1]
        ways[code, 1] = total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _add_posterior(
    begin: cython.longlong,
    end: cython.longlong,
    bin_steps: cython.longlong[::1],
    weight: cython.double[::1],
    states: cython.longlong[:, ::1],
    ways: cython.double[:, ::1],
    posterior: cython.double[::1],
) -> cython.void:
    """Add the probability that an item goes to each bin, from the states begin..end-1 before it."""
    s: cython.Py_ssize_t
    b: cython.Py_ssize_t
    code: cython.Py_ssize_t
    total: cython.double = 0.0
    through: cython.double
    for s in range(begin, end):
        code = states[s, 0]
        for b in range(bin_steps.shape[0]):
            if states[s, b + 1] > 0:
                total += ways[code, 0] * ways[code - bin_steps[b], 1] * weight[b] * states[s, b + 1]
    if total > 0.0:
        for s in range(begin, end):
            code = states[s, 0]
            for b in range(bin_steps.shape[0]):
                if states[s, b + 1] > 0:
                    through = ways[code, 0] * ways[code - bin_steps[b], 1] * weight[b] * states[s, b + 1]
                    posterior[b] += through / total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _scale_ways(
    states: cython.longlong[:, ::1],
    begin: cython.longlong,
    end: cython.longlong,
    column: cython.Py_ssize_t,
    ways: cython.double[:, ::1],
) -> cython.void:
    """Divide the ways of the states begin..end-1 by the greatest of them."""
    s: cython.Py_ssize_t
    greatest: cython.double = 0.0
    for s in range(begin, end):
        if ways[states[s, 0], column] > greatest:
            greatest = ways[states[s, 0], column]
    if greatest > 0.0:
        for s in range(begin, end):
            ways[states[s, 0], column] /= greatest
