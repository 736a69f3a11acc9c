"""Exact posteriors of small groups for the audit: of all ways to give the group's values to its people, who has what?

A state is how many of each value are left; who is next follows from it.  `chance` of a state is what the people still to come make of
what is left, and the way from the full state to the empty one is a Markov chain whose steps are the posterior beliefs.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def compute_beliefs(
    begin: cython.longlong[::1],
    person: cython.int[::1],
    first: cython.longlong[::1],
    counts: cython.longlong[:, ::1],
    prior: cython.double[:, ::1],
    work: cython.double[:, ::1],
    solved: cython.char[::1],
    posterior: cython.double[:, ::1],
):
    """Set posterior[i] to the posterior of person i of group g for i in begin[g] .. begin[g + 1]; prior row person[i].

    counts[first[g]] .. counts[first[g + 1]] are the group's values with their counts.  `work` has a row for the chances, one for how likely a
    state is reached, one for the state itself, and one for the priors of the group's people and values.  solved[g] = 0 where the chances vanish in doubles.
    """
    g: cython.Py_ssize_t
    with cython.nogil:
        for g in range(begin.shape[0] - 1):
            solved[g] = _solve_group(
                begin[g], begin[g + 1], person, counts[first[g] : first[g + 1]], prior, work, posterior
            )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _solve_group(
    begin: cython.longlong,
    end: cython.longlong,
    person: cython.int[::1],
    counts: cython.longlong[:, ::1],
    prior: cython.double[:, ::1],
    work: cython.double[:, ::1],
    posterior: cython.double[:, ::1],
) -> cython.char:
    v: cython.Py_ssize_t
    s: cython.Py_ssize_t
    step: cython.Py_ssize_t
    states: cython.Py_ssize_t = 1
    values: cython.Py_ssize_t = counts.shape[0]
    i: cython.Py_ssize_t
    offset: cython.Py_ssize_t
    total: cython.double
    for v in range(values):
        states *= counts[v, 1] + 1
        work[2, v] = 0.0
        for i in range(begin, end):
            work[3, (i - begin) * values + v] = prior[person[i], counts[v, 0]]
    i = end
    work[0, 0] = 1.0
    for s in range(1, states):
        v = 0
        while work[2, v] == counts[v, 1]:  # the next state, and whose turn it is in it
            i += counts[v, 1]
            work[2, v] = 0.0
            v += 1
        work[2, v] += 1.0
        i -= 1
        offset = (i - begin) * values
        step = 1
        total = 0.0
        for v in range(values):
            if work[2, v] > 0.0:
                total += work[0, s - step] * work[3, offset + v] * work[2, v]
            step *= counts[v, 1] + 1
        work[0, s] = total
        work[1, s] = 0.0
    if not work[0, states - 1] > 1e-250 or not work[0, states - 1] < 1e250:
        return 0
    work[1, 0] = 0.0
    work[1, states - 1] = 1.0
    _walk_back(states, begin, counts, work, posterior)
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _walk_back(
    states: cython.Py_ssize_t,
    begin: cython.longlong,
    counts: cython.longlong[:, ::1],
    work: cython.double[:, ::1],
    posterior: cython.double[:, ::1],
) -> cython.void:
    """Walk from the full state, where it is the first person's turn, to the empty one."""
    s: cython.Py_ssize_t
    v: cython.Py_ssize_t
    step: cython.Py_ssize_t
    i: cython.Py_ssize_t = begin
    offset: cython.Py_ssize_t
    part: cython.double
    share: cython.double
    for s in range(states - 1, 0, -1):
        if work[1, s] > 0.0 and work[0, s] > 0.0:
            share = work[1, s] / work[0, s]
            step = 1
            offset = (i - begin) * counts.shape[0]
            for v in range(counts.shape[0]):
                if work[2, v] > 0.0:
                    part = share * work[0, s - step] * work[3, offset + v] * work[2, v]
                    posterior[i, counts[v, 0]] += part
                    work[1, s - step] += part
                step *= counts[v, 1] + 1
        v = 0
        while work[2, v] == 0.0 and v < counts.shape[0] - 1:
            work[2, v] = counts[v, 1]
            i -= counts[v, 1]
            v += 1
        work[2, v] -= 1.0
        i += 1
