"""A round of the deFinetti attack over pairs of a point and a value: what is learned, and beliefs within each group.

A pair stands for a value that some group of a point publishes.  Of a quasi-identifier each pair has a number: its code with its value.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython

if cython.compiled:
    from cython.cimports.libc.math import exp
else:
    from math import exp


def tally(numbers: cython.longlong[:, ::1], people: cython.double[::1], table: cython.double[::1]) -> None:
    """Add the people of each pair i to table[numbers[i, axis]], on every axis."""
    i: cython.Py_ssize_t
    axis: cython.Py_ssize_t
    with cython.nogil:
        for i in range(numbers.shape[0]):
            for axis in range(numbers.shape[1]):
                table[numbers[i, axis]] += people[i]


def weigh(
    numbers: cython.longlong[:, ::1],
    table: cython.double[::1],
    starts: cython.longlong[::1],
    learned: cython.double[::1],
) -> None:
    """Set learned[i] to exp of the sum of table[numbers[i, axis]], scaled to 1 at the greatest of each point.

    The pairs of a point stand from one of `starts` to the next.
    """
    i: cython.Py_ssize_t
    axis: cython.Py_ssize_t
    point: cython.Py_ssize_t
    greatest: cython.double
    total: cython.double
    with cython.nogil:
        for point in range(starts.shape[0] - 1):
            greatest = 0.0
            for i in range(starts[point], starts[point + 1]):
                total = 0.0
                for axis in range(numbers.shape[1]):
                    total += table[numbers[i, axis]]
                learned[i] = total
                if i == starts[point] or total > greatest:
                    greatest = total
            for i in range(starts[point], starts[point + 1]):
                learned[i] = exp(learned[i] - greatest)


def believe(
    starts: cython.longlong[::1],
    share: cython.double[::1],
    factor: cython.double[::1],
    place: cython.longlong[::1],
    belief: cython.double[::1],
) -> None:
    """Set belief[i] to share[i] * factor[place[i]], scaled so that the beliefs of each entry add up to 1.

    The beliefs of an entry stand from one of `starts` to the next; where they are all 0 they stay so.
    """
    i: cython.Py_ssize_t
    entry: cython.Py_ssize_t
    total: cython.double
    with cython.nogil:
        for entry in range(starts.shape[0] - 1):
            total = 0.0
            for i in range(starts[entry], starts[entry + 1]):
                belief[i] = share[i] * factor[place[i]]
                total += belief[i]
            if total < 1e-300:
                total = 1e-300
            for i in range(starts[entry], starts[entry + 1]):
                belief[i] /= total


def gather(
    starts: cython.longlong[::1],
    weight: cython.double[::1],
    belief: cython.double[::1],
    place: cython.longlong[::1],
    belief_sum: cython.double[::1],
) -> None:
    """Add belief[i] times the weight of its entry to belief_sum[place[i]]."""
    i: cython.Py_ssize_t
    entry: cython.Py_ssize_t
    with cython.nogil:
        for entry in range(starts.shape[0] - 1):
            for i in range(starts[entry], starts[entry + 1]):
                belief_sum[place[i]] += belief[i] * weight[entry]
