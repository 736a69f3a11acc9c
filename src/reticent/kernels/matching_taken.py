"""What the rows of one type take of their group's values, the best first: values are sorted within each group."""

import cython


def take_first(
    start: cython.longlong[::1],
    place: cython.longlong[::1],
    number: cython.longlong[::1],
    room: cython.longlong[::1],
    order: cython.longlong[::1],
    taken: cython.longlong[::1],
):
    """taken[i]: how many of the number[i] values of entry i are taken where room[g] of group g are, least place first.

    The entries of group g are start[g] .. start[g + 1]; `order` has room for those of the largest group.
    """
    g: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    many: cython.Py_ssize_t
    left: cython.longlong
    with cython.nogil:
        for g in range(room.shape[0]):
            left = room[g]
            many = 0
            for i in range(start[g], start[g + 1]):
                taken[i] = 0
                if left > 0:
                    j = many
                    while j > 0 and place[order[j - 1]] > place[i]:
                        order[j] = order[j - 1]
                        j -= 1
                    order[j] = i
                    many += 1
            for j in range(many):
                i = order[j]
                if left <= 0:
                    break
                taken[i] = number[i] if number[i] < left else left
                left -= taken[i]
