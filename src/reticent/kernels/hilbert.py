"""Hilbert keys of points on a grid (Skilling, "Programming the Hilbert curve", AIP 2004)."""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def compute_hilbert_keys(points: cython.longlong[:, ::1], bits: cython.int, keys: cython.longlong[::1]):
    """Set keys[i] to the place of points[i] on the curve through a grid of side 2^bits; `points` is overwritten.

    The number of axes times `bits` is at most 63.
    """
    n: cython.Py_ssize_t = points.shape[0]
    d: cython.Py_ssize_t = points.shape[1]
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    q: cython.longlong
    t: cython.longlong
    b: cython.int
    key: cython.longlong
    for i in range(n):
        q = cython.cast(cython.longlong, 1) << (bits - 1)
        while q > 1:  # undo the rotations of each level
            for j in range(d):
                if points[i, j] & q:
                    points[i, 0] ^= q - 1
                else:
                    t = (points[i, 0] ^ points[i, j]) & (q - 1)
                    points[i, 0] ^= t
                    points[i, j] ^= t
            q >>= 1
        for j in range(1, d):  # Gray encode
            points[i, j] ^= points[i, j - 1]
        t = 0
        q = cython.cast(cython.longlong, 1) << (bits - 1)
        while q > 1:
            if points[i, d - 1] & q:
                t ^= q - 1
            q >>= 1
        key = 0
        for b in range(bits - 1, -1, -1):  # interleave the axes, most significant first
            for j in range(d):
                key = (key << 1) | (((points[i, j] ^ t) >> b) & 1)
        keys[i] = key
