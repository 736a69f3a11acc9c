"""How many weighted points lie in each of many boxes, counted no further than asked."""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def count_covered(
    low: cython.int[:, ::1],
    high: cython.int[:, ::1],
    window: cython.longlong[:, ::1],
    down: cython.int[:, ::1],
    up: cython.int[:, ::1],
    weight: cython.longlong[::1],
    enough: cython.longlong,
    covered: cython.longlong[::1],
):
    """Set covered[b] to the weight of the points p in window[b, 0] .. window[b, 1] with low[b] <= down[p] and up[p] <= high[b],
    in every column; counting stops at `enough`.
    """
    b: cython.Py_ssize_t
    p: cython.Py_ssize_t
    c: cython.Py_ssize_t
    width: cython.Py_ssize_t = low.shape[1]
    total: cython.longlong
    with cython.nogil:
        for b in range(low.shape[0]):
            total = 0
            for p in range(window[b, 0], window[b, 1]):
                c = 0
                while c < width and low[b, c] <= down[p, c] and up[p, c] <= high[b, c]:
                    c += 1
                if c == width:
                    total += weight[p]
                    if total >= enough:
                        break
            covered[b] = total
