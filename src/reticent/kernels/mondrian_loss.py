"""Every cut of a node weighed by the loss it leaves, in one sweep over the node's rows for each column.

A column's loss is told by `shape[j]` = (kind, begin in value, begin in least, levels, null, codes), `value` and `least`:

    range   value[hi] - value[lo]; a span with the null loses what value holds at the null
    tree    value[lo, depth] with depth the least split in the span, from `least`, a table of minima over powers of two
            whose head is the logarithm; kind 2 asks that one side be a whole subtree, so that labels cannot meet

A span is a pair of codes, lo < hi; a single code loses nothing.

A node's rows are packed anew for its sweep: only the columns that vary in it, their codes counted from the node's least,
in lanes of 8, 16 or 32 bits with a free bit above each, so that all columns of a word are compared at once.
"""

import cython
import numpy as np

CODE = cython.declare(cython.ulonglong, 0x7FFFFFFF)  # a code in the words that are given, two to a word
ONES = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
SUBTREES = cython.declare(cython.Py_ssize_t, 2)
OWN = cython.declare(cython.Py_ssize_t, 0)  # boxes in `part`, low and high: of a run of equal codes itself,
UPTO = cython.declare(cython.Py_ssize_t, 2)  # of all runs up to it,
FROM = cython.declare(cython.Py_ssize_t, 4)  # of all runs from it on


def compute_span_losses(
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
                found[i, j] = _compute_loss(j, box[i, 0, j], box[i, 1, j], shape, value, least)


def weigh_cuts(
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
    sweep: CutSweep = CutSweep(nodes, words, count, box)
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
def _find_split_depth(
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
def _compute_loss(
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
    return value[begin + lo * shape[j, 3] + _find_split_depth(j, lo, hi, shape, least)]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _take_lesser(
    one: cython.ulonglong, other: cython.ulonglong, guard: cython.ulonglong, below: cython.int
) -> cython.ulonglong:
    """The lesser code of each lane; `below` is how many bits a lane has below its guard."""
    within: cython.ulonglong = ((one | guard) - other) & guard  # the guard stays where one >= other
    within -= within >> below
    return (other & within) | (one & ~within)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _take_greater(
    one: cython.ulonglong, other: cython.ulonglong, guard: cython.ulonglong, below: cython.int
) -> cython.ulonglong:
    within: cython.ulonglong = ((one | guard) - other) & guard
    within -= within >> below
    return (one & within) | (other & ~within)


@cython.final
@cython.cclass
class CutSweep:
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
    rank: cython.int[::1]  # the run of each row, where rows were sorted
    own: cython.ulonglong[:, :, ::1]  # the box of each code, where they were not
    tally: cython.longlong[::1]
    code: cython.int[::1]  # of each run
    upto: cython.longlong[::1]  # rows of all runs up to each
    part: cython.ulonglong[:, :, ::1]
    vary: cython.Py_ssize_t[::1]  # the columns that are not constant in the node
    varying: cython.Py_ssize_t
    packed: cython.ulonglong[::1]  # the node's rows, `width` words each
    width: cython.Py_ssize_t
    lane: cython.int
    guard: cython.ulonglong
    place: cython.Py_ssize_t  # of the column at hand among those that vary
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
        span = int(np.minimum(spans.max(initial=1), 2 * rows + 64))
        self.own = np.empty((2, span, np.asarray(words).shape[1]), np.uint64)
        self.code = np.empty(runs + 1, np.int32)
        self.upto = np.empty(runs + 1, np.int64)
        self.part = np.empty((6, runs + 1, np.asarray(words).shape[1]), np.uint64)
        self.packed = np.empty(rows * np.asarray(words).shape[1], np.uint64)
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
        self.pack()
        for j in range(self.varying):
            self.place = j
            self.j = self.vary[j]
            self.find_runs()
            self.measure_runs()
            self.prefixes()
            self.subtrees()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pack(self) -> cython.void:
        """The node's rows in the columns that vary, in the narrowest lanes that hold their spans."""
        r: cython.Py_ssize_t
        v: cython.Py_ssize_t
        at: cython.Py_ssize_t
        word: cython.Py_ssize_t
        shift: cython.int
        lo: cython.ulonglong
        span: cython.int = 0
        i: cython.Py_ssize_t = self.i
        start: cython.Py_ssize_t = self.nodes[i, 0]
        n: cython.Py_ssize_t = self.nodes[i, 1] - start
        for v in range(self.varying):
            span = max(span, self.box[i, 1, self.vary[v]] - self.box[i, 0, self.vary[v]])
        self.lane = 8
        if span >= 1 << 15:
            self.lane = 32
        elif span >= 1 << 7:
            self.lane = 16
        self.guard = ONES // ((cython.cast(cython.ulonglong, 1) << self.lane) - 1) << (self.lane - 1)
        self.width = (self.varying * self.lane + 63) >> 6
        for r in range(n * self.width):
            self.packed[r] = 0
        for v in range(self.varying):
            at = (v * self.lane) >> 6
            word = self.vary[v] >> 1
            shift = cython.cast(cython.int, 32 * (self.vary[v] & 1))
            lo = cython.cast(cython.ulonglong, self.box[i, 0, self.vary[v]])
            for r in range(n):
                self.packed[r * self.width + at] |= (((self.words[start + r, word] >> shift) & CODE) - lo) << (
                    (v * self.lane) & 63
                )

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def code_of(self, r: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Row r's code in the column at hand, from the node's least on."""
        bit: cython.Py_ssize_t = self.place * self.lane
        return cython.cast(
            cython.Py_ssize_t,
            (self.packed[r * self.width + (bit >> 6)] >> (bit & 63)) & (ONES >> (65 - self.lane)),
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_runs(self) -> cython.void:
        """The runs of equal codes and their boxes: from a table where the span is short, else by sorting."""
        r: cython.Py_ssize_t
        x: cython.int
        run: cython.Py_ssize_t = 0
        start: cython.Py_ssize_t = self.nodes[self.i, 0]
        n: cython.Py_ssize_t = self.nodes[self.i, 1] - start
        lo: cython.int = self.box[self.i, 0, self.j]
        span: cython.Py_ssize_t = self.box[self.i, 1, self.j] - lo + 1
        if span <= 2 * n + 64:
            self.short_runs(start, n, lo, span)
            return
        self.sort()
        self.code[0] = lo
        self.upto[0] = 0
        for r in range(n):
            x = lo + self.code_of(self.order[0, r])
            if x != self.code[run]:
                run += 1
                self.code[run] = x
                self.upto[run] = self.upto[run - 1]
            self.upto[run] += self.count[start + self.order[0, r]]
            self.rank[self.order[0, r]] = run
        self.runs = run + 1
        self.own_boxes()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def short_runs(
        self, start: cython.Py_ssize_t, n: cython.Py_ssize_t, lo: cython.int, span: cython.Py_ssize_t
    ) -> cython.void:
        """Runs of a column whose codes span few values: their codes, the rows up to each, and the box of each."""
        r: cython.Py_ssize_t
        c: cython.Py_ssize_t
        w: cython.Py_ssize_t
        row: cython.ulonglong
        within: cython.ulonglong
        rows: cython.longlong = 0
        width: cython.Py_ssize_t = self.width
        for c in range(span):
            self.tally[c] = 0
            for w in range(width):
                self.own[0, c, w] = ONES ^ self.guard
                self.own[1, c, w] = 0
        for r in range(n):
            c = self.code_of(r)
            self.tally[c] += self.count[start + r]
            within = self.guard
            for w in range(width):
                row = self.packed[r * width + w]
                within &= ((row | self.guard) - self.own[0, c, w]) & ((self.own[1, c, w] | self.guard) - row)
            if within != self.guard:  # most rows lie in their run's box: what is not written need not be waited for
                self.widen(r, c)
        self.runs = 0
        for c in range(span):
            if self.tally[c] > 0:
                rows += self.tally[c]
                self.code[self.runs] = lo + c
                self.upto[self.runs] = rows
                for w in range(width):
                    self.part[OWN, self.runs, w] = self.own[0, c, w]
                    self.part[OWN + 1, self.runs, w] = self.own[1, c, w]
                self.runs += 1

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def widen(self, r: cython.Py_ssize_t, c: cython.Py_ssize_t) -> cython.void:
        """The box of a code with one row more."""
        w: cython.Py_ssize_t
        row: cython.ulonglong
        for w in range(self.width):
            row = self.packed[r * self.width + w]
            self.own[0, c, w] = _take_lesser(row, self.own[0, c, w], self.guard, self.lane - 1)
            self.own[1, c, w] = _take_greater(row, self.own[1, c, w], self.guard, self.lane - 1)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sort(self) -> cython.void:
        """The node's rows in order of their code: by insertion where they are few, else digit by digit."""
        r: cython.Py_ssize_t
        s: cython.Py_ssize_t
        d: cython.Py_ssize_t
        x: cython.Py_ssize_t
        n: cython.Py_ssize_t = self.nodes[self.i, 1] - self.nodes[self.i, 0]
        span: cython.Py_ssize_t = self.box[self.i, 1, self.j] - self.box[self.i, 0, self.j]
        shift: cython.int = 0
        if n <= 64:
            for r in range(n):
                x = self.code_of(r)
                s = r
                while s > 0 and self.code_of(self.order[0, s - 1]) > x:
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
                self.tally[((self.code_of(r) >> shift) & 255) + 1] += 1
            for d in range(256):
                self.tally[d + 1] += self.tally[d]
            for r in range(n):
                d = (self.code_of(self.order[1, r]) >> shift) & 255
                self.order[0, self.tally[d]] = self.order[1, r]
                self.tally[d] += 1
            shift += 8

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def measure_runs(self) -> cython.void:
        """The boxes of all runs up to each, and of all from it on."""
        run: cython.Py_ssize_t
        self.join(UPTO, 0, 0)
        for run in range(1, self.runs):
            self.join(UPTO, run, run - 1)
        self.join(FROM, self.runs - 1, self.runs - 1)
        for run in range(self.runs - 2, -1, -1):
            self.join(FROM, run, run + 1)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def own_boxes(self) -> cython.void:
        """Least and greatest codes of each run of sorted rows."""
        r: cython.Py_ssize_t
        w: cython.Py_ssize_t
        run: cython.Py_ssize_t
        row: cython.ulonglong
        within: cython.ulonglong
        below: cython.int = self.lane - 1
        width: cython.Py_ssize_t = self.width
        for run in range(self.runs):
            for w in range(width):
                self.part[OWN, run, w] = ONES ^ self.guard
                self.part[OWN + 1, run, w] = 0
        for r in range(self.nodes[self.i, 1] - self.nodes[self.i, 0]):
            run = self.rank[r]
            within = self.guard
            for w in range(width):
                row = self.packed[r * width + w]
                within &= ((row | self.guard) - self.part[OWN, run, w]) & (
                    (self.part[OWN + 1, run, w] | self.guard) - row
                )
            if within != self.guard:  # most rows lie in their run's box: what is not written need not be waited for
                for w in range(width):
                    row = self.packed[r * width + w]
                    self.part[OWN, run, w] = _take_lesser(row, self.part[OWN, run, w], self.guard, below)
                    self.part[OWN + 1, run, w] = _take_greater(row, self.part[OWN + 1, run, w], self.guard, below)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def join(self, which: cython.Py_ssize_t, run: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.void:
        """A run's own box with all that its neighbour has joined; alone where it is its own neighbour."""
        w: cython.Py_ssize_t
        below: cython.int = self.lane - 1
        for w in range(self.width):
            self.part[which, run, w] = self.part[OWN, run, w]
            self.part[which + 1, run, w] = self.part[OWN + 1, run, w]
            if other != run:
                self.part[which, run, w] = _take_lesser(
                    self.part[OWN, run, w], self.part[which, other, w], self.guard, below
                )
                self.part[which + 1, run, w] = _take_greater(
                    self.part[OWN + 1, run, w], self.part[which + 1, other, w], self.guard, below
                )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def side(self, which: cython.Py_ssize_t, run: cython.Py_ssize_t) -> cython.double:
        """Loss of a box in the columns that vary in the node."""
        v: cython.Py_ssize_t
        c: cython.Py_ssize_t
        bit: cython.Py_ssize_t
        lo: cython.Py_ssize_t
        low: cython.Py_ssize_t
        high: cython.Py_ssize_t
        code: cython.ulonglong = ONES >> (65 - self.lane)
        total: cython.double = 0.0
        for v in range(self.varying):
            c = self.vary[v]
            bit = v * self.lane
            lo = self.box[self.i, 0, c]
            low = lo + cython.cast(cython.Py_ssize_t, (self.part[which, run, bit >> 6] >> (bit & 63)) & code)
            high = lo + cython.cast(cython.Py_ssize_t, (self.part[which + 1, run, bit >> 6] >> (bit & 63)) & code)
            total += _compute_loss(c, low, high, self.shape, self.value, self.least)
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
        root = _find_split_depth(self.j, self.code[0], self.code[self.runs - 1], self.shape, self.least)
        for run in range(self.runs):
            self.outlier(run, run)
            if run > first:  # from here on the box of the child so far is the run's own
                self.join(OWN, run, run - 1)
            if run == self.runs - 1 or root == _find_split_depth(
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
        for w in range(self.width):
            self.part[OWN, spare, w] = _take_lesser(
                self.part[UPTO, before, w], self.part[FROM, after, w], self.guard, self.lane - 1
            )
            self.part[OWN + 1, spare, w] = _take_greater(
                self.part[UPTO + 1, before, w], self.part[FROM + 1, after, w], self.guard, self.lane - 1
            )
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
