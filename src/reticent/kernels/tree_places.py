"""What the rows of a tree's node add at each place of a column, gathered by label and then spread over its places."""

import cython


def spread_tallies(
    label: cython.int[::1],
    tallies: cython.double[:, ::1],
    scale: cython.double[::1],
    first: cython.longlong[::1],
    place: cython.int[::1],
    low: cython.longlong,
    held: cython.double[:, ::1],
    found: cython.double[:, ::1],
):
    """found[p] += scale[l] times the tallies of all rows of label l, for each place low + p that the label covers.

    The places of label l are place[first[l]] .. place[first[l + 1] - 1].  `held` has a line of zeros for each label, one longer than
    a row's tallies, and has them again afterwards.
    """
    rows: cython.Py_ssize_t = label.shape[0]
    width: cython.Py_ssize_t = tallies.shape[1]
    places: cython.longlong = found.shape[0]
    i: cython.Py_ssize_t
    t: cython.Py_ssize_t
    q: cython.longlong
    p: cython.longlong
    one: cython.int
    with cython.nogil:
        for i in range(rows):
            one = label[i]
            for t in range(width):
                held[one, t] += tallies[i, t]
            held[one, width] += 1.0
        for i in range(rows):
            one = label[i]
            if held[one, width] == 0.0:
                continue
            for t in range(width):
                held[one, t] *= scale[one]
            for q in range(first[one], first[one + 1]):
                p = place[q] - low
                if 0 <= p < places:
                    for t in range(width):
                        found[p, t] += held[one, t]
            for t in range(width + 1):
                held[one, t] = 0.0
