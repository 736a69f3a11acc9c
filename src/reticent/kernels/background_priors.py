"""Kernel-weighted counts of sensitive values at points (Li, Li & Zhang, ICDE 2009, equation 2): its last axis, or all pairs.

Every term is a product of weights >= 0 and a count: no sum here cancels, and relative errors stay within the number of terms.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def contract_last_axis(
    place: cython.longlong[:, ::1],
    row_of: cython.longlong[:, ::1],
    weight: cython.double[:, ::1],
    counts: cython.double[:, :, ::1],
    prior: cython.double[:, ::1],
):
    """Set prior[p] to the sum over codes j of weight[place[p, 1], j] * counts[row_of[place[p, 0], j], place[p, 2]]; -1: no such row."""
    p: cython.Py_ssize_t
    j: cython.Py_ssize_t
    v: cython.Py_ssize_t
    row: cython.Py_ssize_t
    position: cython.Py_ssize_t
    key: cython.Py_ssize_t
    code: cython.Py_ssize_t
    w: cython.double
    width: cython.Py_ssize_t = prior.shape[1]
    with cython.nogil:
        for p in range(place.shape[0]):
            key = place[p, 0]
            code = place[p, 1]
            position = place[p, 2]
            for v in range(width):
                prior[p, v] = 0.0
            for j in range(weight.shape[1]):
                w = weight[code, j]
                if w > 0.0:
                    row = row_of[key, j]
                    if row >= 0:
                        for v in range(width):
                            prior[p, v] += w * counts[row, position, v]


def sum_all_pairs(
    codes: cython.int[:, ::1],
    base: cython.longlong[:, ::1],
    weight: cython.double[::1],
    window: cython.longlong[:, ::1],
    first: cython.longlong[::1],
    counts: cython.longlong[:, ::1],
    begin: cython.Py_ssize_t,
    prior: cython.double[:, ::1],
):
    """Add to prior[p] the weight of every point t in window[p] times what it holds: (value, count) in first[t] .. first[t + 1].

    The rows of `window` and `prior` are those of the points from `begin` on.

    weight[base[a, 0] + codes[begin + p, a] * base[a, 1] + codes[t, a]] is the weight on axis a; a product ends at its first 0.
    """
    p: cython.Py_ssize_t
    t: cython.Py_ssize_t
    a: cython.Py_ssize_t
    i: cython.Py_ssize_t
    product: cython.double
    axes: cython.Py_ssize_t = codes.shape[1]
    with cython.nogil:
        for p in range(window.shape[0]):
            for t in range(window[p, 0], window[p, 1]):
                product = 1.0
                for a in range(axes):
                    product *= weight[base[a, 0] + codes[begin + p, a] * base[a, 1] + codes[t, a]]
                    if product == 0.0:
                        break
                if product > 0.0:
                    for i in range(first[t], first[t + 1]):
                        prior[p, counts[i, 0]] += product * counts[i, 1]
