"""Functions that several kernels call in their innermost loops.

A compiled kernel has them inlined: `setup.py` writes this module as a Cython header, which kernels cimport.  A kernel that
was not compiled imports them from here.  A function here may use its arguments and other functions of this module, and
nothing else.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def next_random(state: cython.longlong) -> cython.longlong:
    """Return the next state of Park and Miller's minimal standard generator, between 1 and 2147483646.

    It stays within 47 bits, so it is the same uncompiled.
    """
    return (state * 48271) % 2147483647


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def scale_random(state: cython.longlong) -> cython.double:
    """Return a state of the generator as a number between 0 and 1."""
    return state / 2147483647.0


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def unpack_code(words: cython.ulonglong[:, ::1], row: cython.Py_ssize_t, column: cython.Py_ssize_t) -> cython.longlong:
    """Return the code of a column in a row of packed codes: two to a word, 31 bits each."""
    return cython.cast(
        cython.longlong, (words[row, column >> 1] >> cython.cast(cython.int, 32 * (column & 1))) & 0x7FFFFFFF
    )


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def find_split_depth(
    column: cython.Py_ssize_t,
    low: cython.Py_ssize_t,
    high: cython.Py_ssize_t,
    shape: cython.longlong[:, ::1],
    minima: cython.int[::1],
) -> cython.int:
    """Return the least split between two codes of a tree: the depth of their lowest common ancestor (see `mondrian_loss`)."""
    step: cython.int = minima[high - low]
    row: cython.Py_ssize_t = shape[column, 2] + step * shape[column, 5]
    from_low: cython.int = minima[row + low]
    to_high: cython.int = minima[row + high - (cython.cast(cython.Py_ssize_t, 1) << step)]
    return from_low if from_low < to_high else to_high


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def compute_span(
    spans: cython.double[::1],
    places: cython.longlong[:, ::1],
    column: cython.Py_ssize_t,
    low: cython.int,
    high: cython.int,
) -> cython.double:
    """Return the weighted loss of a column over the codes low..high: a table, positions on a line, or ancestors by level.

    `spans` and `places` are those of `LossSpace` in `reticent.methods.mosaic.kernel_tables`.
    """
    level: cython.Py_ssize_t
    ancestors: cython.Py_ssize_t
    if places[column, 0] == 0:
        return spans[places[column, 1] + low * places[column, 2] + high]
    if low == high:
        return 0.0
    if places[column, 0] == 1:
        if high == places[column, 3]:  # the null is in no range
            return spans[places[column, 1] + high]
        return spans[places[column, 1] + high] - spans[places[column, 1] + low]
    for level in range(places[column, 3]):
        ancestors = places[column, 1] + 2 * level * places[column, 2]
        if spans[ancestors + low] == spans[ancestors + high]:
            return spans[ancestors + places[column, 2] + low]
    return 0.0


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def is_recursively_diverse(
    counts: cython.longlong[:, ::1],
    row: cython.Py_ssize_t,
    values: cython.Py_ssize_t,
    size: cython.longlong,
    diversity: cython.longlong,
    factor: cython.double,
) -> cython.bint:
    """Tell whether r_1 <= c (r_l + ... + r_m) for the counts of a row, which add up to its size.

    The l - 1 greatest counts are taken off one after the other.
    """
    value: cython.Py_ssize_t
    removed: cython.longlong = 0
    greatest: cython.longlong = 0
    remaining: cython.longlong = size
    bound: cython.longlong = size + 1
    top: cython.longlong
    ties: cython.longlong
    while removed < diversity - 1:
        top = 0
        ties = 0
        for value in range(values):
            if top < counts[row, value] < bound:
                top = counts[row, value]
                ties = 1
            elif counts[row, value] == top:
                ties += 1
        if top == 0:
            return False
        if greatest == 0:
            greatest = top
        while ties > 0 and removed < diversity - 1:
            remaining -= top
            removed += 1
            ties -= 1
        bound = top
    return remaining > 0 and greatest <= factor * remaining


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def sum_excess(
    counts: cython.longlong[:, ::1],
    row: cython.Py_ssize_t,
    shares: cython.double[::1],
    values: cython.Py_ssize_t,
    size: cython.longlong,
) -> cython.double:
    """Return the rows above the table's proportions: the equal distance of t-closeness, times the size."""
    value: cython.Py_ssize_t
    excess: cython.double
    total: cython.double = 0.0
    for value in range(values):
        excess = counts[row, value] - shares[value] * size
        if excess > 0.0:
            total += excess
    return total


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def sum_ordered_distance(
    counts: cython.longlong[:, ::1],
    row: cython.Py_ssize_t,
    shares: cython.double[::1],
    values: cython.Py_ssize_t,
    size: cython.longlong,
) -> cython.double:
    """Return the ordered distance of t-closeness from the table's proportions, times the size and the steps of the order."""
    value: cython.Py_ssize_t
    carried: cython.double = 0.0
    total: cython.double = 0.0
    for value in range(values):
        carried += counts[row, value] - shares[value] * size
        total += abs(carried)
    return total
