"""What the rows of one type take of their group's values, the best first: values are sorted within each group."""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def take_first(
    start: cython.longlong[::1],
    place: cython.longlong[::1],
    number: cython.longlong[::1],
    limit: cython.longlong[::1],
    order: cython.longlong[::1],
    takes: cython.longlong[::1],
):
    """Set takes[i] to how many of the number[i] values of entry i are taken where limit[g] of group g are, least place first.

    The entries of group g are start[g] .. start[g + 1]; `order` has room for those of the largest group.
    """
    g: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    entry_count: cython.Py_ssize_t
    remaining: cython.longlong
    with cython.nogil:
        for g in range(limit.shape[0]):
            remaining = limit[g]
            entry_count = 0
            for i in range(start[g], start[g + 1]):
                takes[i] = 0
                if remaining > 0:
                    j = entry_count
                    while j > 0 and place[order[j - 1]] > place[i]:
                        order[j] = order[j - 1]
                        j -= 1
                    order[j] = i
                    entry_count += 1
            for j in range(entry_count):
                i = order[j]
                if remaining <= 0:
                    break
                takes[i] = number[i] if number[i] < remaining else remaining
                remaining -= takes[i]
