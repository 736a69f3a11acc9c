"""Every cut of a node weighed by the loss it leaves, in one sweep over the node's rows for each column.

A column's loss is told by `shape[j]` = (kind, begin in value, begin in least, levels, null, codes), `value` and `least`:

    range   value[hi] - value[lo]; a span with the null loses what value holds at the null
    tree    value[lo, depth] with depth the least split in the span, from `least`, a table of minima over powers of two
            whose head is the logarithm; kind 2 asks that one side be a whole subtree, so that labels cannot meet

A span is a pair of codes, lo < hi; a single code loses nothing.
"""

import cython
import numpy as np

GUARD = cython.declare(cython.ulonglong, 0x8000000080000000)
CODE = cython.declare(cython.ulonglong, 0x7FFFFFFF)
GREATEST = cython.declare(cython.ulonglong, 0x7FFFFFFF7FFFFFFF)
SUBTREES = cython.declare(cython.Py_ssize_t, 2)
OWN = cython.declare(cython.Py_ssize_t, 0)  # boxes in `part`, low and high: of a run of equal codes itself,
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


def weigh(
    nodes: cython.longlong[:, ::1],
    words: cython.ulonglong[:, ::1],
    count: cython.longlong[::1],
    box: cython.int[:, :, ::1],
    shape: cython.longlong[:, ::1],
    value: cython.double[::1],
    least: cython.int[::1],
    best: cython.longlong[:, :, ::1],
    cost: cython.double[:, ::1],
    allowed: cython.char[::1],
):
    """The cuts of each node that leave the least loss, in order, behind the one that slot 0 of best and cost names.

    nodes[i] = (start, stop, least rows on a side, where its cuts begin in `allowed`): only cuts that are allowed are
    weighed (see `mondrian_allowed`), or all where `allowed` is empty; best[i, s] = (start, stop, column, lo, hi, ordinal) with lo..hi the side
    of fewer rows; cost is infinite in empty slots.
    """
    i: cython.Py_ssize_t
    sweep: Sweep = Sweep(nodes, words, count, box)
    sweep.shape = shape
    sweep.value = value
    sweep.least = least
    sweep.best = best
    sweep.cost = cost
    sweep.allowed = allowed
    with cython.nogil:
        for i in range(nodes.shape[0]):
            sweep.node(i)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _depth(
    j: cython.Py_ssize_t,
    lo: cython.Py_ssize_t,
    hi: cython.Py_ssize_t,
    shape: cython.longlong[:, ::1],
    least: cython.int[::1],
) -> cython.int:
    """The least split between codes lo and hi: the depth of their lowest common ancestor."""
    step: cython.int = least[hi - lo]
    row: cython.Py_ssize_t = shape[j, 2] + step * shape[j, 5]
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
    return value[begin + lo * shape[j, 3] + _depth(j, lo, hi, shape, least)]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _code(words: cython.ulonglong[:, ::1], r: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.int:
    return cython.cast(cython.int, (words[r, j >> 1] >> cython.cast(cython.int, 32 * (j & 1))) & CODE)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _lesser(one: cython.ulonglong, other: cython.ulonglong) -> cython.ulonglong:
    """The lesser code of each half."""
    within: cython.ulonglong = ((one | GUARD) - other) & GUARD  # the guard stays where one >= other
    within -= within >> 31
    return (other & within) | (one & ~within)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _greater(one: cython.ulonglong, other: cython.ulonglong) -> cython.ulonglong:
    within: cython.ulonglong = ((one | GUARD) - other) & GUARD
    within -= within >> 31
    return (one & within) | (other & ~within)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _short_runs(
    start: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    lo: cython.Py_ssize_t,
    span: cython.Py_ssize_t,
    words: cython.ulonglong[:, ::1],
    count: cython.longlong[::1],
    tally: cython.longlong[::1],
    code: cython.int[::1],
    upto: cython.longlong[::1],
    rank: cython.int[::1],
) -> cython.Py_ssize_t:
    """Runs of a column whose codes span few values: their codes, the rows up to each, and the run of each row."""
    r: cython.Py_ssize_t
    c: cython.Py_ssize_t
    run: cython.Py_ssize_t = 0
    rows: cython.longlong = 0
    for c in range(span):
        tally[c] = 0
    for r in range(n):
        tally[_code(words, start + r, j) - lo] += count[start + r]
    for c in range(span):
        if tally[c] > 0:
            rows += tally[c]
            code[run] = lo + c
            upto[run] = rows
            tally[c] = run
            run += 1
    for r in range(n):
        rank[r] = tally[_code(words, start + r, j) - lo]
    return run


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _own_boxes(
    start: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
    runs: cython.Py_ssize_t,
    words: cython.ulonglong[:, ::1],
    rank: cython.int[::1],
    part: cython.ulonglong[:, :, ::1],
) -> cython.void:
    """Least and greatest codes of each run."""
    r: cython.Py_ssize_t
    w: cython.Py_ssize_t
    run: cython.Py_ssize_t
    row: cython.ulonglong
    within: cython.ulonglong
    for run in range(runs):
        for w in range(words.shape[1]):
            part[OWN, run, w] = GREATEST
            part[OWN + 1, run, w] = 0
    for r in range(n):
        run = rank[r]
        within = GUARD
        for w in range(words.shape[1]):
            row = words[start + r, w]
            within &= ((row | GUARD) - part[OWN, run, w]) & ((part[OWN + 1, run, w] | GUARD) - row)
        if within != GUARD:  # most rows lie in their run's box: what is not written need not be waited for
            for w in range(words.shape[1]):
                row = words[start + r, w]
                part[OWN, run, w] = _lesser(row, part[OWN, run, w])
                part[OWN + 1, run, w] = _greater(row, part[OWN + 1, run, w])


@cython.final
@cython.cclass
class Sweep:
    """What a call of `weigh` reads and writes, and its scratch: for a node and a column, the runs of equal codes."""

    nodes: cython.longlong[:, ::1]
    words: cython.ulonglong[:, ::1]
    count: cython.longlong[::1]
    box: cython.int[:, :, ::1]
    shape: cython.longlong[:, ::1]
    value: cython.double[::1]
    least: cython.int[::1]
    best: cython.longlong[:, :, ::1]
    cost: cython.double[:, ::1]
    allowed: cython.char[::1]
    order: cython.int[:, ::1]
    rank: cython.int[::1]  # the run of each row
    tally: cython.longlong[::1]
    code: cython.int[::1]  # of each run
    upto: cython.longlong[::1]  # rows of all runs up to each
    part: cython.ulonglong[:, :, ::1]
    vary: cython.Py_ssize_t[::1]  # the columns that are not constant in the node
    varying: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    runs: cython.Py_ssize_t
    ordinal: cython.longlong

    def __init__(self, nodes, words, count, box):
        self.nodes, self.words, self.count, self.box = nodes, words, count, box
        bounds = np.asarray(nodes)
        rows = int((bounds[:, 1] - bounds[:, 0]).max(initial=1))
        spans = np.asarray(box)[:, 1].astype(np.int64) - np.asarray(box)[:, 0] + 1
        runs = int(np.minimum(spans, (bounds[:, 1] - bounds[:, 0])[:, None]).max(initial=1))
        self.order = np.empty((2, rows), np.int32)
        self.rank = np.empty(rows, np.int32)
        self.tally = np.zeros(2 * rows + 257, np.int64)
        self.code = np.empty(runs + 1, np.int32)
        self.upto = np.empty(runs + 1, np.int64)
        self.part = np.empty((6, runs + 1, np.asarray(words).shape[1]), np.uint64)
        self.vary = np.empty(np.asarray(box).shape[2], np.intp)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def node(self, i: cython.Py_ssize_t) -> cython.void:
        j: cython.Py_ssize_t
        self.i = i
        self.ordinal = 0
        self.varying = 0
        for j in range(self.shape.shape[0]):
            if self.box[i, 0, j] < self.box[i, 1, j]:
                self.vary[self.varying] = j
                self.varying += 1
        for j in range(self.varying):
            self.j = self.vary[j]
            self.find_runs()
            self.measure_runs()
            self.prefixes()
            self.subtrees()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_runs(self) -> cython.void:
        """Number the rows by their code: from a table where the span is short, else by sorting."""
        r: cython.Py_ssize_t
        x: cython.int
        run: cython.Py_ssize_t = 0
        j: cython.Py_ssize_t = self.j
        start: cython.Py_ssize_t = self.nodes[self.i, 0]
        n: cython.Py_ssize_t = self.nodes[self.i, 1] - start
        lo: cython.int = self.box[self.i, 0, j]
        span: cython.Py_ssize_t = self.box[self.i, 1, j] - lo + 1
        if span <= 2 * n + 64:
            self.runs = _short_runs(
                start, n, j, lo, span, self.words, self.count, self.tally, self.code, self.upto, self.rank
            )
            return
        self.sort()
        self.code[0] = lo
        self.upto[0] = 0
        for r in range(n):
            x = _code(self.words, start + self.order[0, r], j)
            if x != self.code[run]:
                run += 1
                self.code[run] = x
                self.upto[run] = self.upto[run - 1]
            self.upto[run] += self.count[start + self.order[0, r]]
            self.rank[self.order[0, r]] = run
        self.runs = run + 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sort(self) -> cython.void:
        """The node's rows in order of their code: by insertion where they are few, else digit by digit."""
        r: cython.Py_ssize_t
        s: cython.Py_ssize_t
        d: cython.Py_ssize_t
        x: cython.int
        j: cython.Py_ssize_t = self.j
        start: cython.Py_ssize_t = self.nodes[self.i, 0]
        n: cython.Py_ssize_t = self.nodes[self.i, 1] - start
        lo: cython.int = self.box[self.i, 0, j]
        span: cython.Py_ssize_t = self.box[self.i, 1, j] - lo
        shift: cython.int = 0
        if n <= 64:
            for r in range(n):
                x = _code(self.words, start + r, j)
                s = r
                while s > 0 and _code(self.words, start + self.order[0, s - 1], j) > x:
                    self.order[0, s] = self.order[0, s - 1]
                    s -= 1
                self.order[0, s] = r
            return
        for r in range(n):
            self.order[0, r] = r
        while (span >> shift) > 0:
            for d in range(257):
                self.tally[d] = 0
            for r in range(n):
                self.order[1, r] = self.order[0, r]
                self.tally[(((_code(self.words, start + r, j) - lo) >> shift) & 255) + 1] += 1
            for d in range(256):
                self.tally[d + 1] += self.tally[d]
            for r in range(n):
                d = ((_code(self.words, start + self.order[1, r], j) - lo) >> shift) & 255
                self.order[0, self.tally[d]] = self.order[1, r]
                self.tally[d] += 1
            shift += 8

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def measure_runs(self) -> cython.void:
        """The boxes of each run: its own, of all up to it, of all from it on."""
        run: cython.Py_ssize_t
        start: cython.Py_ssize_t = self.nodes[self.i, 0]
        n: cython.Py_ssize_t = self.nodes[self.i, 1] - start
        _own_boxes(start, n, self.runs, self.words, self.rank, self.part)
        self.join(UPTO, 0, 0)
        for run in range(1, self.runs):
            self.join(UPTO, run, run - 1)
        self.join(FROM, self.runs - 1, self.runs - 1)
        for run in range(self.runs - 2, -1, -1):
            self.join(FROM, run, run + 1)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def join(self, which: cython.Py_ssize_t, run: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.void:
        """A run's own box with all that its neighbour has joined; alone where it is its own neighbour."""
        w: cython.Py_ssize_t
        for w in range(self.words.shape[1]):
            self.part[which, run, w] = self.part[OWN, run, w]
            self.part[which + 1, run, w] = self.part[OWN + 1, run, w]
            if other != run:
                self.part[which, run, w] = _lesser(self.part[OWN, run, w], self.part[which, other, w])
                self.part[which + 1, run, w] = _greater(self.part[OWN + 1, run, w], self.part[which + 1, other, w])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def side(self, which: cython.Py_ssize_t, run: cython.Py_ssize_t) -> cython.double:
        """Loss of a box in the columns that vary in the node."""
        v: cython.Py_ssize_t
        c: cython.Py_ssize_t
        low: cython.Py_ssize_t
        high: cython.Py_ssize_t
        shift: cython.int
        total: cython.double = 0.0
        for v in range(self.varying):
            c = self.vary[v]
            shift = cython.cast(cython.int, 32 * (c & 1))
            low = cython.cast(cython.Py_ssize_t, (self.part[which, run, c >> 1] >> shift) & CODE)
            high = cython.cast(cython.Py_ssize_t, (self.part[which + 1, run, c >> 1] >> shift) & CODE)
            total += _loss(c, low, high, self.shape, self.value, self.least)
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def prefixes(self) -> cython.void:
        """Cuts between a run and the next."""
        run: cython.Py_ssize_t
        last: cython.Py_ssize_t = self.runs - 1
        left: cython.longlong
        right: cython.longlong
        least: cython.longlong = self.nodes[self.i, 2]
        weight: cython.double
        if self.shape[self.j, 0] == SUBTREES:
            return
        for run in range(last):
            left = self.upto[run]
            right = self.upto[last] - left
            self.ordinal += 1
            if left >= least and right >= least and not self.barred():
                weight = left * self.side(UPTO, run)
                if weight < self.cost[self.i, self.cost.shape[1] - 1]:
                    weight += right * self.side(FROM, run + 1)
                    if left <= right:
                        self.offer(weight, self.code[0], self.code[run])
                    else:
                        self.offer(weight, self.code[run + 1], self.code[last])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def subtrees(self) -> cython.void:
        """Cuts of one leaf, or of one child of the lowest common ancestor, from the rest."""
        run: cython.Py_ssize_t
        first: cython.Py_ssize_t = 0
        root: cython.int
        if self.shape[self.j, 0] == 0:
            return
        root = _depth(self.j, self.code[0], self.code[self.runs - 1], self.shape, self.least)
        for run in range(self.runs):
            self.outlier(run, run)
            if run > first:  # from here on the box of the child so far is the run's own
                self.join(OWN, run, run - 1)
            if run == self.runs - 1 or root == _depth(
                self.j, self.code[run], self.code[run + 1], self.shape, self.least
            ):
                if run > first:
                    self.outlier(first, run)
                first = run + 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def outlier(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.void:
        """The cut of runs first..last, whose box is the last's own, from those before and after."""
        inside: cython.longlong = self.upto[last] - (self.upto[first - 1] if first > 0 else 0)
        outside: cython.longlong = self.upto[self.runs - 1] - inside
        least: cython.longlong = self.nodes[self.i, 2]
        weight: cython.double
        self.ordinal += 1
        if self.shape[self.j, 0] != SUBTREES and (first == 0 or last == self.runs - 1):
            return  # weighed already, between two runs
        if inside < least or outside < least or self.barred():
            return
        weight = inside * self.side(OWN, last)
        if weight < self.cost[self.i, self.cost.shape[1] - 1]:
            weight += outside * self.rest(first - 1, last + 1)
            self.offer(weight, self.code[first], self.code[last])

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def barred(self) -> cython.bint:
        """Whether the cut at hand is known to break a promise."""
        return self.allowed.shape[0] > 0 and not self.allowed[self.nodes[self.i, 3] + self.ordinal]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def rest(self, before: cython.Py_ssize_t, after: cython.Py_ssize_t) -> cython.double:
        """Loss of all runs up to one and from another on; either may be beyond the end."""
        w: cython.Py_ssize_t
        spare: cython.Py_ssize_t = self.part.shape[1] - 1
        if before < 0:
            return self.side(FROM, after)
        if after == self.runs:
            return self.side(UPTO, before)
        for w in range(self.words.shape[1]):
            self.part[OWN, spare, w] = _lesser(self.part[UPTO, before, w], self.part[FROM, after, w])
            self.part[OWN + 1, spare, w] = _greater(self.part[UPTO + 1, before, w], self.part[FROM + 1, after, w])
        return self.side(OWN, spare)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def offer(self, weight: cython.double, lo: cython.longlong, hi: cython.longlong) -> cython.void:
        """Put a cut in its place among the best so far, earlier ones first where they weigh the same."""
        i: cython.Py_ssize_t = self.i
        s: cython.Py_ssize_t = self.cost.shape[1] - 1
        f: cython.Py_ssize_t
        if weight >= self.cost[i, s] or weight < self.cost[i, 0]:
            return
        if weight == self.cost[i, 0] and self.ordinal <= self.best[i, 0, 5]:
            return
        while s > 1 and weight < self.cost[i, s - 1]:
            self.cost[i, s] = self.cost[i, s - 1]
            for f in range(6):
                self.best[i, s, f] = self.best[i, s - 1, f]
            s -= 1
        self.cost[i, s] = weight
        self.best[i, s, 0] = self.nodes[i, 0]
        self.best[i, s, 1] = self.nodes[i, 1]
        self.best[i, s, 2] = self.j
        self.best[i, s, 3] = lo
        self.best[i, s, 4] = hi
        self.best[i, s, 5] = self.ordinal
