"""Exact posteriors of small groups for the audit: of all ways to give the group's values to its people, who has what?

A state is how many of each value are left; who is next follows from it.  `chance[s]` is what the people still to come make of the rest s,
and the way from the full state to the empty one is a Markov chain whose steps are the posterior beliefs.
"""

import cython


def beliefs(
    begin: cython.longlong[::1],
    person: cython.int[::1],
    left: cython.longlong[:, ::1],
    prior: cython.double[:, ::1],
    chance: cython.double[::1],
    reached: cython.double[::1],
    done: cython.char[::1],
    found: cython.double[:, ::1],
):
    """found[i] = the posterior of person i of group g for i in begin[g] .. begin[g + 1]; prior row person[i].

    left[g] holds the counts of the group's values; done[g] = 0 where the chances vanish in doubles.
    """
    g: cython.Py_ssize_t
    with cython.nogil:
        for g in range(begin.shape[0] - 1):
            done[g] = _group(begin[g], begin[g + 1], person, left[g], prior, chance, reached, found)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _group(
    begin: cython.longlong,
    end: cython.longlong,
    person: cython.int[::1],
    left: cython.longlong[::1],
    prior: cython.double[:, ::1],
    chance: cython.double[::1],
    reached: cython.double[::1],
    found: cython.double[:, ::1],
) -> cython.char:
    v: cython.Py_ssize_t
    s: cython.Py_ssize_t
    i: cython.Py_ssize_t
    rest: cython.Py_ssize_t
    digit: cython.Py_ssize_t
    step: cython.Py_ssize_t
    states: cython.Py_ssize_t = 1
    people: cython.Py_ssize_t = end - begin
    values: cython.Py_ssize_t = left.shape[0]
    total: cython.double
    part: cython.double
    for v in range(values):
        states *= left[v] + 1
    chance[0] = 1.0
    for s in range(1, states):
        i = begin + people - _left(s, left)
        rest, step, total = s, 1, 0.0
        for v in range(values):
            digit = rest % (left[v] + 1)
            rest //= left[v] + 1
            if digit > 0:
                total += chance[s - step] * prior[person[i], v] * digit
            step *= left[v] + 1
        chance[s] = total
        reached[s] = 0.0
    if not chance[states - 1] > 1e-250 or not chance[states - 1] < 1e250:
        return 0
    reached[0] = 0.0
    reached[states - 1] = 1.0
    for s in range(states - 1, 0, -1):
        if reached[s] == 0.0 or chance[s] == 0.0:
            continue
        i = begin + people - _left(s, left)
        rest, step = s, 1
        for v in range(values):
            digit = rest % (left[v] + 1)
            rest //= left[v] + 1
            if digit > 0:
                part = reached[s] * (chance[s - step] * prior[person[i], v] * digit / chance[s])
                found[i, v] += part
                reached[s - step] += part
            step *= left[v] + 1
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _left(s: cython.Py_ssize_t, left: cython.longlong[::1]) -> cython.Py_ssize_t:
    """How many values state s has left."""
    v: cython.Py_ssize_t
    found: cython.Py_ssize_t = 0
    for v in range(left.shape[0]):
        found += s % (left[v] + 1)
        s //= left[v] + 1
    return found
