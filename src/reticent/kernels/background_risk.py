"""What an adversary with prior beliefs learns of the people of many groups: whether anybody's beliefs move too far.

Li, Li & Zhang, ICDE 2009: the Omega-estimate (equation 5) and its further rounds, the distance of equation 6 on smoothed beliefs.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython

if cython.compiled:
    from cython.cimports.libc.math import log
else:
    from math import log

LN2 = cython.declare(cython.double, 0.6931471805599453)
REST = cython.declare(cython.double, 0.10981384722661198)  # ln 2 - 1/2 - 1/12: all further terms of the series at x = 1


def judge_groups(
    offsets: cython.longlong[::1],
    point: cython.int[::1],
    counts: cython.longlong[:, ::1],
    table: cython.double[:, ::1],
    smooth: cython.double[:, ::1],
    settings: cython.double[::1],
    work: cython.double[:, ::1],
    verdict: cython.char[::1],
):
    """Set verdict[g] to 1 if no belief in group g moves further than t, 0 if one does, 2 where the error bound does not decide.

    table[p] = (prior, smoothed prior if there is smoothing, people); settings = (t in bits, error bound, more of it for each
    point of a group, rounds).  `work` holds four rows of scratch.
    """
    g: cython.Py_ssize_t
    error: cython.double
    with cython.nogil:
        for g in range(counts.shape[0]):
            error = settings[1] + settings[2] * (offsets[g + 1] - offsets[g])
            _compute_factors(
                offsets[g], offsets[g + 1], point, counts[g], table, cython.cast(cython.int, settings[3]), work
            )
            verdict[g] = _judge_group(offsets[g], offsets[g + 1], point, table, smooth, settings[0], error, work)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _compute_factors(
    begin: cython.longlong,
    end: cython.longlong,
    point: cython.int[::1],
    counts: cython.longlong[::1],
    table: cython.double[:, ::1],
    rounds: cython.int,
    work: cython.double[:, ::1],
) -> cython.void:
    """Set work[0][v] to what a prior belief in v is multiplied by: n_v over the belief in v of the whole group, in `rounds` rounds."""
    i: cython.Py_ssize_t
    v: cython.Py_ssize_t
    turn: cython.Py_ssize_t
    p: cython.Py_ssize_t
    belief: cython.double
    values: cython.Py_ssize_t = counts.shape[0]
    people: cython.Py_ssize_t = table.shape[1] - 1
    for turn in range(rounds):
        for v in range(values):
            work[1, v] = 0.0
        for i in range(begin, end):
            p = point[i]
            belief = table[p, people]
            if belief == 0.0:
                continue
            if turn > 0:
                belief = 0.0
                for v in range(values):
                    belief += work[0, v] * table[p, v]
                belief = table[p, people] / belief
            for v in range(values):
                work[1, v] += belief * table[p, v]
        for v in range(values):
            work[0, v] = counts[v] / work[1, v] if counts[v] > 0 else 0.0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _judge_group(
    begin: cython.longlong,
    end: cython.longlong,
    point: cython.int[::1],
    table: cython.double[:, ::1],
    smooth: cython.double[:, ::1],
    t: cython.double,
    error: cython.double,
    work: cython.double[:, ::1],
) -> cython.char:
    """Judge every point in turn, until one breaks; beliefs after the release go to work[2], smoothed to work[3]."""
    i: cython.Py_ssize_t
    p: cython.Py_ssize_t
    v: cython.Py_ssize_t
    u: cython.Py_ssize_t
    values: cython.Py_ssize_t = work.shape[1]
    people: cython.Py_ssize_t = table.shape[1] - 1
    smoothed: cython.Py_ssize_t = smooth.shape[0]
    begin_seen: cython.Py_ssize_t = values if smoothed else 0
    row: cython.Py_ssize_t = 3 if smoothed else 2
    total: cython.double
    group_verdict: cython.char = 1
    verdict: cython.char
    for i in range(begin, end):
        p = point[i]
        if table[p, people] == 0.0:
            continue
        total = 0.0
        for v in range(values):
            work[2, v] = work[0, v] * table[p, v]
            total += work[2, v]
        for v in range(values):
            work[2, v] /= total
        if smoothed:
            total = 0.0
            for v in range(values):
                work[3, v] = 0.0
                for u in range(values):
                    work[3, v] += smooth[v, u] * work[2, u]
                total += work[3, v]
            for v in range(values):
                work[3, v] /= total
        verdict = _judge_move(table[p], begin_seen, work[row], t, error)
        if verdict == 0:
            return 0
        if verdict == 2:
            group_verdict = 2
    return group_verdict


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _judge_move(
    prior: cython.double[::1], begin: cython.Py_ssize_t, now: cython.double[::1], t: cython.double, error: cython.double
) -> cython.char:
    """Return 1 if the Jensen-Shannon divergence in bits is at most t, 0 if above, 2 if within the error bound.

    Each term is (p + q)/2 * (1 - h((1 + x)/2)), x = (p - q)/(p + q), and ln 2 times the bracket is
    x^2/2 + x^4/12 + x^6/30 + ...: three terms enclose it between x^6/30 and x^6 * REST, and mostly no logarithm is needed.
    """
    v: cython.Py_ssize_t
    low: cython.double = 0.0
    high: cython.double = 0.0
    pair_sum: cython.double
    x: cython.double
    other: cython.double
    for v in range(now.shape[0]):
        pair_sum = prior[begin + v] + now[v]
        if pair_sum > 0.0:
            x = (prior[begin + v] - now[v]) / pair_sum
            x = x * x
            other = 0.5 * pair_sum * x * (0.5 + x / 12.0)
            pair_sum = 0.5 * pair_sum * x * x * x
            low += other + pair_sum / 30.0
            high += other + pair_sum * REST
    if high / LN2 + error <= t:
        return 1
    if low / LN2 - error > t:
        return 0
    low = 0.0
    for v in range(now.shape[0]):
        pair_sum = 0.5 * (prior[begin + v] + now[v])
        if prior[begin + v] > 0.0:
            low += prior[begin + v] * log(prior[begin + v] / pair_sum)
        if now[v] > 0.0:
            low += now[v] * log(now[v] / pair_sum)
    low = 0.5 * low / LN2
    if low + error <= t:
        return 1
    return 0 if low - error > t else 2
