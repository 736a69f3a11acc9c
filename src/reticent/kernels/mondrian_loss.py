"""Every cut of a node weighed by the loss it leaves, in one sweep over the node's rows for each column.

A column's loss is told by `shape[j]` = (kind, begin in value, begin in least, levels, null), `value` and `least`:

    range   value[hi] - value[lo]; a span with the null loses what value holds at the null
    tree    value[lo, depth] with depth the least split in the span, from `least`, a table of minima over powers of two
            whose head is the logarithm; kind 2 asks that one side be a whole subtree, so that labels cannot meet

A span is a pair of codes, lo < hi; a single code loses nothing.
"""

import cython
import numpy as np

OWN = cython.declare(cython.Py_ssize_t, 0)  # boxes in `part`, low and high: of a run itself,
UPTO = cython.declare(cython.Py_ssize_t, 2)  # of all runs up to it,
FROM = cython.declare(cython.Py_ssize_t, 4)  # of all runs from it on


def span_losses(
    box: cython.int[:, :, ::1],
    shape: cython.longlong[:, ::1],
    value: cython.double[::1],
    least: cython.int[::1],
    found: cython.double[:, ::1],
):
    """found[i, j] = loss of box i in column j."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    with cython.nogil:
        for i in range(found.shape[0]):
            for j in range(found.shape[1]):
                found[i, j] = _loss(j, box[i, 0, j], box[i, 1, j], shape, value, least)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _depth(
    begin: cython.Py_ssize_t, size: cython.Py_ssize_t, lo: cython.Py_ssize_t, hi: cython.Py_ssize_t, least: cython.int[::1]
) -> cython.int:
    """The least split between codes lo and hi: the depth of their lowest common ancestor."""
    step: cython.int = least[hi - lo]
    row: cython.Py_ssize_t = begin + step * size
    one: cython.int = least[row + lo]
    other: cython.int = least[row + hi - (cython.cast(cython.Py_ssize_t, 1) << step)]
    return one if one < other else other


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _loss(
    j: cython.Py_ssize_t,
    lo: cython.Py_ssize_t,
    hi: cython.Py_ssize_t,
    shape: cython.longlong[:, ::1],
    value: cython.double[::1],
    least: cython.int[::1],
) -> cython.double:
    begin: cython.Py_ssize_t = shape[j, 1]
    if lo == hi:
        return 0.0
    if shape[j, 0] == 0:
        return value[begin + hi] if hi == shape[j, 4] else value[begin + hi] - value[begin + lo]
    return value[begin + lo * shape[j, 3] + _depth(shape[j, 2], shape[j, 5], lo, hi, least)]


def weigh(
    nodes: cython.longlong[:, ::1],
    codes: cython.int[:, ::1],
    count: cython.longlong[::1],
    box: cython.int[:, :, ::1],
    shape: cython.longlong[:, ::1],
    value: cython.double[::1],
    least: cython.int[::1],
    best: cython.longlong[:, :, ::1],
    cost: cython.double[:, ::1],
):
    """The cuts of each node that leave the least loss, in order, behind the one that slot 0 of best and cost names.

    nodes[i] = (start, stop, least rows on a side); best[i, s] = (column, lo, hi, ordinal); cost is infinite in empty slots.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    rows: cython.Py_ssize_t = 1
    runs: cython.Py_ssize_t = 1
    n: cython.Py_ssize_t
    varying: cython.Py_ssize_t
    total: cython.longlong
    width: cython.Py_ssize_t = codes.shape[1]
    for i in range(nodes.shape[0]):
        n = nodes[i, 1] - nodes[i, 0]
        rows = max(rows, n)
        for j in range(shape.shape[0]):
            runs = max(runs, min(n, box[i, 1, j] - box[i, 0, j] + 1))
    order: cython.int[:, ::1] = np.empty((2, rows), np.int32)
    tally: cython.int[::1] = np.zeros(max(runs, 256) + 1, np.int32)
    code: cython.int[::1] = np.empty(runs + 1, np.int32)
    upto: cython.longlong[::1] = np.empty(runs + 1, np.int64)
    part: cython.int[:, :, ::1] = np.empty((6, runs + 1, width), np.int32)
    vary: cython.longlong[::1] = np.empty(max(shape.shape[0], 1), np.int64)
    ordinal: cython.longlong
    with cython.nogil:
        for i in range(nodes.shape[0]):
            varying = 0
            for j in range(shape.shape[0]):
                if box[i, 0, j] < box[i, 1, j]:
                    vary[varying] = j
                    varying += 1
            ordinal = 0
            for j in range(varying):
                _sort(i, vary[j], nodes, codes, box, order, tally)
                runs = _runs(i, vary[j], nodes, codes, count, order, code, upto, part)
                ordinal = _prefixes(i, vary[j], runs, ordinal, nodes, shape, value, least, code, upto, part, vary, varying, best, cost)
                if shape[vary[j], 0] > 0:
                    ordinal = _subtrees(i, vary[j], runs, ordinal, nodes, shape, value, least, code, upto, part, vary, varying, best, cost)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sort(
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    nodes: cython.longlong[:, ::1],
    codes: cython.int[:, ::1],
    box: cython.int[:, :, ::1],
    order: cython.int[:, ::1],
    tally: cython.int[::1],
) -> cython.void:
    """The node's rows in order of their code, stably, in order[0]: by counting where the span is short, by insertion
    where the rows are few, by digits otherwise."""
    r: cython.Py_ssize_t
    s: cython.Py_ssize_t
    x: cython.int
    start: cython.Py_ssize_t = nodes[i, 0]
    n: cython.Py_ssize_t = nodes[i, 1] - start
    lo: cython.int = box[i, 0, j]
    span: cython.Py_ssize_t = box[i, 1, j] - lo + 1
    shift: cython.int = 0
    if span <= 256 and span < n * n // 4 + n:
        _digit(start, n, j, lo, 0, span, 0, codes, order, tally)
        return
    if n <= 64:
        for r in range(n):
            x = codes[start + r, j]
            s = r
            while s > 0 and codes[start + order[0, s - 1], j] > x:
                order[0, s] = order[0, s - 1]
                s -= 1
            order[0, s] = r
        return
    while span > 0:
        _digit(start, n, j, lo, shift, 256, shift > 0, codes, order, tally)
        span >>= 8
        shift += 8


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _digit(
    start: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    lo: cython.int,
    shift: cython.int,
    span: cython.Py_ssize_t,
    again: cython.bint,
    codes: cython.int[:, ::1],
    order: cython.int[:, ::1],
    tally: cython.int[::1],
) -> cython.void:
    """One pass of a radix sort, from the order so far."""
    r: cython.Py_ssize_t
    d: cython.Py_ssize_t
    for d in range(span + 1):
        tally[d] = 0
    for r in range(n):
        tally[(((codes[start + r, j] - lo) >> shift) & 255) + 1] += 1
    for d in range(span):
        tally[d + 1] += tally[d]
    if again:
        for r in range(n):
            order[1, r] = order[0, r]
        for r in range(n):
            d = ((codes[start + order[1, r], j] - lo) >> shift) & 255
            order[0, tally[d]] = order[1, r]
            tally[d] += 1
    else:
        for r in range(n):
            d = ((codes[start + r, j] - lo) >> shift) & 255
            order[0, tally[d]] = r
            tally[d] += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _runs(
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    nodes: cython.longlong[:, ::1],
    codes: cython.int[:, ::1],
    count: cython.longlong[::1],
    order: cython.int[:, ::1],
    code: cython.int[::1],
    upto: cython.longlong[::1],
    part: cython.int[:, :, ::1],
) -> cython.Py_ssize_t:
    """Runs of equal codes: their code, rows up to them, and boxes (own low and high, those before it and up to it)."""
    r: cython.Py_ssize_t
    b: cython.Py_ssize_t
    c: cython.Py_ssize_t
    run: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t = nodes[i, 0]
    n: cython.Py_ssize_t = nodes[i, 1] - start
    here: cython.Py_ssize_t
    rows: cython.longlong = 0
    low = cython.declare(cython.int[8])
    high = cython.declare(cython.int[8])
    row = cython.declare(cython.int[8])
    for b in range(0, codes.shape[1], 8):
        run = -1
        rows = 0
        for r in range(n):
            here = start + order[0, r]
            for c in range(8):
                row[c] = codes[here, b + c]
            if run < 0 or codes[here, j] != code[run]:
                if run >= 0:
                    upto[run] = rows
                    _keep(run, b, low, high, part)
                run += 1
                code[run] = codes[here, j]
                for c in range(8):
                    low[c] = row[c]
                for c in range(8):
                    high[c] = row[c]
            rows += count[here]
            for c in range(8):
                low[c] = row[c] if row[c] < low[c] else low[c]
            for c in range(8):
                high[c] = row[c] if row[c] > high[c] else high[c]
        upto[run] = rows
        _keep(run, b, low, high, part)
        _suffixes(run, b, part)
    return run + 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _keep(
    run: cython.Py_ssize_t, b: cython.Py_ssize_t, low: cython.p_int, high: cython.p_int, part: cython.int[:, :, ::1]
) -> cython.void:
    """A finished run's own box, and the box of all runs up to it."""
    c: cython.Py_ssize_t
    x: cython.int
    for c in range(8):
        part[OWN, run, b + c] = low[c]
        part[OWN + 1, run, b + c] = high[c]
        x = low[c]
        if run > 0 and part[UPTO, run - 1, b + c] < x:
            x = part[UPTO, run - 1, b + c]
        part[UPTO, run, b + c] = x
        x = high[c]
        if run > 0 and part[UPTO + 1, run - 1, b + c] > x:
            x = part[UPTO + 1, run - 1, b + c]
        part[UPTO + 1, run, b + c] = x


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _suffixes(last: cython.Py_ssize_t, b: cython.Py_ssize_t, part: cython.int[:, :, ::1]) -> cython.void:
    """The box of each run and all after it."""
    c: cython.Py_ssize_t
    run: cython.Py_ssize_t
    x: cython.int
    y: cython.int
    for c in range(b, b + 8):
        part[FROM, last, c] = part[OWN, last, c]
        part[FROM + 1, last, c] = part[OWN + 1, last, c]
    for run in range(last - 1, -1, -1):
        for c in range(b, b + 8):
            x = part[OWN, run, c]
            y = part[FROM, run + 1, c]
            part[FROM, run, c] = x if x < y else y
            x = part[OWN + 1, run, c]
            y = part[FROM + 1, run + 1, c]
            part[FROM + 1, run, c] = x if x > y else y


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _side(
    which: cython.Py_ssize_t,
    run: cython.Py_ssize_t,
    part: cython.int[:, :, ::1],
    vary: cython.longlong[::1],
    varying: cython.Py_ssize_t,
    shape: cython.longlong[:, ::1],
    value: cython.double[::1],
    least: cython.int[::1],
) -> cython.double:
    """Loss of a box in the columns that vary in the node."""
    v: cython.Py_ssize_t
    c: cython.Py_ssize_t
    total: cython.double = 0.0
    for v in range(varying):
        c = vary[v]
        total += _loss(c, part[which, run, c], part[which + 1, run, c], shape, value, least)
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _prefixes(
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    runs: cython.Py_ssize_t,
    ordinal: cython.longlong,
    nodes: cython.longlong[:, ::1],
    shape: cython.longlong[:, ::1],
    value: cython.double[::1],
    least: cython.int[::1],
    code: cython.int[::1],
    upto: cython.longlong[::1],
    part: cython.int[:, :, ::1],
    vary: cython.longlong[::1],
    varying: cython.Py_ssize_t,
    best: cython.longlong[:, :, ::1],
    cost: cython.double[:, ::1],
) -> cython.longlong:
    """Cuts between a run and the next."""
    run: cython.Py_ssize_t
    left: cython.longlong
    right: cython.longlong
    weight: cython.double
    if shape[j, 0] == 2:
        return ordinal
    for run in range(runs - 1):
        left = upto[run]
        right = upto[runs - 1] - left
        if left >= nodes[i, 2] and right >= nodes[i, 2]:
            weight = left * _side(UPTO, run, part, vary, varying, shape, value, least)
            if weight < cost[i, cost.shape[1] - 1]:
                weight += right * _side(FROM, run + 1, part, vary, varying, shape, value, least)
                _offer(i, weight, j, code[0], code[run], ordinal + run, best, cost)
    return ordinal + runs


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _subtrees(
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    runs: cython.Py_ssize_t,
    ordinal: cython.longlong,
    nodes: cython.longlong[:, ::1],
    shape: cython.longlong[:, ::1],
    value: cython.double[::1],
    least: cython.int[::1],
    code: cython.int[::1],
    upto: cython.longlong[::1],
    part: cython.int[:, :, ::1],
    vary: cython.longlong[::1],
    varying: cython.Py_ssize_t,
    best: cython.longlong[:, :, ::1],
    cost: cython.double[:, ::1],
) -> cython.longlong:
    """Cuts of one leaf, or of one child of the lowest common ancestor, from the rest."""
    run: cython.Py_ssize_t
    first: cython.Py_ssize_t = 0
    v: cython.Py_ssize_t
    c: cython.Py_ssize_t
    root: cython.int = _depth(shape[j, 2], shape[j, 5], code[0], code[runs - 1], least)
    low: cython.int
    high: cython.int
    for run in range(runs):
        _outlier(i, j, run, run, runs, ordinal + run, nodes, shape, value, least, code, upto, part, vary, varying, best, cost)
        for v in range(varying):  # the box of the child so far takes the place of the run's own
            c = vary[v]
            if run > first:
                low = part[OWN, run - 1, c]
                high = part[OWN + 1, run - 1, c]
                part[OWN, run, c] = low if low < part[OWN, run, c] else part[OWN, run, c]
                part[OWN + 1, run, c] = high if high > part[OWN + 1, run, c] else part[OWN + 1, run, c]
        if run == runs - 1 or _depth(shape[j, 2], shape[j, 5], code[run], code[run + 1], least) == root:
            if run > first:
                _outlier(i, j, first, run, runs, ordinal + runs + run, nodes, shape, value, least, code, upto, part, vary, varying, best, cost)
            first = run + 1
    return ordinal + 2 * runs


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _outlier(
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    runs: cython.Py_ssize_t,
    ordinal: cython.longlong,
    nodes: cython.longlong[:, ::1],
    shape: cython.longlong[:, ::1],
    value: cython.double[::1],
    least: cython.int[::1],
    code: cython.int[::1],
    upto: cython.longlong[::1],
    part: cython.int[:, :, ::1],
    vary: cython.longlong[::1],
    varying: cython.Py_ssize_t,
    best: cython.longlong[:, :, ::1],
    cost: cython.double[:, ::1],
) -> cython.void:
    """The cut of runs first..last, whose box is the last's own, from those before and after."""
    v: cython.Py_ssize_t
    c: cython.Py_ssize_t
    inside: cython.longlong = upto[last] - (upto[first - 1] if first > 0 else 0)
    outside: cython.longlong = upto[runs - 1] - inside
    weight: cython.double
    rest: cython.double = 0.0
    low: cython.int
    high: cython.int
    if shape[j, 0] < 2 and (first == 0 or last == runs - 1):
        return  # a prefix, weighed already
    if inside < nodes[i, 2] or outside < nodes[i, 2]:
        return
    weight = inside * _side(OWN, last, part, vary, varying, shape, value, least)
    if weight >= cost[i, cost.shape[1] - 1]:
        return
    for v in range(varying):
        c = vary[v]
        low = part[UPTO, first - 1, c] if first > 0 else part[FROM, last + 1, c]
        high = part[UPTO + 1, first - 1, c] if first > 0 else part[FROM + 1, last + 1, c]
        if last < runs - 1:
            low = part[FROM, last + 1, c] if part[FROM, last + 1, c] < low else low
            high = part[FROM + 1, last + 1, c] if part[FROM + 1, last + 1, c] > high else high
        rest += _loss(c, low, high, shape, value, least)
    weight += outside * rest
    _offer(i, weight, j, code[first], code[last], ordinal, best, cost)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _offer(
    i: cython.Py_ssize_t,
    weight: cython.double,
    column: cython.longlong,
    lo: cython.longlong,
    hi: cython.longlong,
    ordinal: cython.longlong,
    best: cython.longlong[:, :, ::1],
    cost: cython.double[:, ::1],
) -> cython.void:
    """Put a cut in its place among the best so far, earlier ones first where they weigh the same."""
    s: cython.Py_ssize_t = cost.shape[1] - 1
    f: cython.Py_ssize_t
    if weight >= cost[i, s] or weight < cost[i, 0] or (weight == cost[i, 0] and ordinal <= best[i, 0, 3]):
        return
    while s > 1 and weight < cost[i, s - 1]:
        cost[i, s] = cost[i, s - 1]
        for f in range(4):
            best[i, s, f] = best[i, s - 1, f]
        s -= 1
    cost[i, s] = weight
    best[i, s, 0] = column
    best[i, s, 1] = lo
    best[i, s, 2] = hi
    best[i, s, 3] = ordinal
