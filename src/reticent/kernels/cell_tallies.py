"""How often each number occurs, in an array that has a place for every number, and where each was first met."""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def tally_numbers(
    word: cython.longlong[::1],
    start: cython.longlong,
    times: cython.longlong[::1],
    first: cython.longlong[::1],
    fresh: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Add one to times[word[i]] for each row i; start + i of a number that is new goes to first[fresh], and so on.

    Returns how many of `first` are then filled.
    """
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(word.shape[0]):
            if times[word[i]] == 0:
                first[fresh] = start + i
                fresh += 1
            times[word[i]] += 1
    return fresh
