"""Numbers that stand group by group, put in order within each group by insertion: groups are small."""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def sort_within(number: cython.int[::1], begin: cython.longlong[::1], max_numbers: cython.longlong):
    """Sort number[begin[g]] .. number[begin[g + 1]] in ascending order, for every group g of at most `max_numbers` numbers."""
    g: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    moving: cython.int
    with cython.nogil:
        for g in range(begin.shape[0] - 1):
            if begin[g + 1] - begin[g] > max_numbers:
                continue
            for i in range(begin[g] + 1, begin[g + 1]):
                moving = number[i]
                j = i
                while j > begin[g] and number[j - 1] > moving:
                    number[j] = number[j - 1]
                    j -= 1
                number[j] = moving
