"""What the rows of a tree's node add at each place of a column, gathered by label and then spread over its places."""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def spread_tallies(
    label: cython.int[::1],
    tallies: cython.double[:, ::1],
    scale: cython.double[::1],
    first: cython.longlong[::1],
    place: cython.int[::1],
    low: cython.longlong,
    label_tallies: cython.double[:, ::1],
    place_tallies: cython.double[:, ::1],
):
    """Add to place_tallies[p] scale[l] times the tallies of all rows of label l, for each place low + p that the label covers.

    The places of label l are place[first[l]] .. place[first[l + 1] - 1].  `label_tallies` has a line of zeros for each label, one longer than
    a row's tallies, and has them again afterwards.
    """
    rows: cython.Py_ssize_t = label.shape[0]
    width: cython.Py_ssize_t = tallies.shape[1]
    places: cython.longlong = place_tallies.shape[0]
    i: cython.Py_ssize_t
    t: cython.Py_ssize_t
    q: cython.longlong
    p: cython.longlong
    row_label: cython.int
    with cython.nogil:
        for i in range(rows):
            row_label = label[i]
            for t in range(width):
                label_tallies[row_label, t] += tallies[i, t]
            label_tallies[row_label, width] += 1.0
        for i in range(rows):
            row_label = label[i]
            if label_tallies[row_label, width] == 0.0:
                continue
            for t in range(width):
                label_tallies[row_label, t] *= scale[row_label]
            for q in range(first[row_label], first[row_label + 1]):
                p = place[q] - low
                if 0 <= p < places:
                    for t in range(width):
                        place_tallies[p, t] += label_tallies[row_label, t]
            for t in range(width + 1):
                label_tallies[row_label, t] = 0.0
