"""Numbers of small groups put in order: the groups one after the other, by counting, and the numbers of each by insertion."""

import cython


def by_group(number: cython.int[::1], group: cython.int[::1], begin: cython.longlong[::1], placed: cython.int[::1]):
    """placed[begin[g]] .. are the numbers of group g as they came.  `begin` is where each group begins, and is moved to its end."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(group.shape[0]):
            placed[begin[group[i]]] = number[i]
            begin[group[i]] += 1


def sort_within(number: cython.int[::1], begin: cython.longlong[::1], most: cython.longlong):
    """number[begin[g]] .. number[begin[g + 1]] then ascend, for every group g of at most `most` numbers."""
    g: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    held: cython.int
    with cython.nogil:
        for g in range(begin.shape[0] - 1):
            if begin[g + 1] - begin[g] > most:
                continue
            for i in range(begin[g] + 1, begin[g + 1]):
                held = number[i]
                j = i
                while j > begin[g] and number[j - 1] > held:
                    number[j] = number[j - 1]
                    j -= 1
                number[j] = held
