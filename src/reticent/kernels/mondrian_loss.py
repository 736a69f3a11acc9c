"""Every cut of a node weighed by the loss it leaves, in one sweep over the node's rows for each column.

A column's loss is told by `shape[j]` = (kind, begin in value, begin in least, levels, null, codes), `value` and `minima`:

    range   value[hi] - value[lo]; a span with the null loses what value holds at the null
    tree    value[lo, depth] with depth the least split in the span, from `minima`, a table of minima over powers of two
            whose head is the logarithm; kind 2 asks that one side be a whole subtree, so that labels cannot meet

A span is a pair of codes, lo < hi; a single code loses nothing.

A node's rows are packed anew for its sweep: only the columns that vary in it, their codes counted from the node's least,
in lanes of 8, 16 or 32 bits with a free bit above each, so that all columns of a word are compared at once.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython
import numpy as np

if cython.compiled:
    from cython.cimports.reticent.kernels.inline_functions import find_split_depth
else:
    from reticent.kernels.inline_functions import find_split_depth

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
    minima: cython.int[::1],
    losses: cython.double[:, ::1],
):
    """Set losses[i, j] to the loss of box i in column j."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    with cython.nogil:
        for i in range(losses.shape[0]):
            for j in range(losses.shape[1]):
                losses[i, j] = _compute_loss(j, box[i, 0, j], box[i, 1, j], shape, value, minima)


def weigh_cuts(
    nodes: cython.longlong[:, ::1],
    words: cython.ulonglong[:, ::1],
    count: cython.longlong[::1],
    box: cython.int[:, :, ::1],
    shape: cython.longlong[:, ::1],
    value: cython.double[::1],
    minima: cython.int[::1],
    best: cython.longlong[:, :, ::1],
    cost: cython.double[:, ::1],
    allowed: cython.char[::1],
):
    """Find the cuts of each node that leave the least loss, in order, behind the one that slot 0 of best and cost names.

    nodes[i] = (start, stop, least rows on a side, where its cuts begin in `allowed`): only cuts that are allowed are
    weighed (see `mondrian_allowed`), or all where `allowed` is empty; best[i, s] = (start, stop, column, lo, hi, ordinal) with lo..hi the side
    of fewer rows; cost is infinite in empty slots.
    """
    i: cython.Py_ssize_t
    sweep: CutSweep = CutSweep(nodes, words, count, box)
    sweep.shape = shape
    sweep.value = value
    sweep.minima = minima
    sweep.best = best
    sweep.cost = cost
    sweep.allowed = allowed
    with cython.nogil:
        for i in range(nodes.shape[0]):
            sweep.weigh_node(i)


@cython.final
@cython.cclass
class CutSweep:
    """What a call of `weigh_cuts` reads and writes, and its scratch: for a node and a column, the runs of equal codes."""

    nodes: cython.longlong[:, ::1]
    words: cython.ulonglong[:, ::1]
    count: cython.longlong[::1]
    box: cython.int[:, :, ::1]
    shape: cython.longlong[:, ::1]
    value: cython.double[::1]
    minima: cython.int[::1]
    best: cython.longlong[:, :, ::1]
    cost: cython.double[:, ::1]
    allowed: cython.char[::1]
    row_order: cython.int[:, ::1]
    run_of_row: cython.int[::1]  # the run of each row, where rows were sorted
    code_boxes: cython.ulonglong[:, :, ::1]  # the box of each code, where they were not
    code_rows: cython.longlong[::1]
    run_codes: cython.int[::1]  # of each run
    rows_up_to: cython.longlong[::1]  # rows of all runs up to each
    boxes: cython.ulonglong[:, :, ::1]
    varying_columns: cython.Py_ssize_t[::1]  # the columns that are not constant in the node
    varying_count: cython.Py_ssize_t
    packed_rows: cython.ulonglong[::1]  # the node's rows, `width` words each
    row_words: cython.Py_ssize_t
    lane_bits: cython.int
    guard: cython.ulonglong
    place_in_node: cython.Py_ssize_t  # of the column at hand among those that vary
    node: cython.Py_ssize_t
    column: cython.Py_ssize_t
    run_count: cython.Py_ssize_t
    ordinal: cython.longlong

    def __init__(self, nodes, words, count, box):
        self.nodes = nodes
        self.words = words
        self.count = count
        self.box = box
        bounds = np.asarray(nodes)
        rows = int((bounds[:, 1] - bounds[:, 0]).max(initial=1))
        spans = np.asarray(box)[:, 1].astype(np.int64) - np.asarray(box)[:, 0] + 1
        runs = int(np.minimum(spans, (bounds[:, 1] - bounds[:, 0])[:, None]).max(initial=1))
        self.row_order = np.empty((2, rows), np.int32)
        self.run_of_row = np.empty(rows, np.int32)
        self.code_rows = np.zeros(2 * rows + 257, np.int64)
        span = int(np.minimum(spans.max(initial=1), 2 * rows + 64))
        self.code_boxes = np.empty((2, span, np.asarray(words).shape[1]), np.uint64)
        self.run_codes = np.empty(runs + 1, np.int32)
        self.rows_up_to = np.empty(runs + 1, np.int64)
        self.boxes = np.empty((6, runs + 1, np.asarray(words).shape[1]), np.uint64)
        self.packed_rows = np.empty(rows * np.asarray(words).shape[1], np.uint64)
        self.varying_columns = np.empty(np.asarray(box).shape[2], np.intp)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh_node(self, i: cython.Py_ssize_t) -> cython.void:
        j: cython.Py_ssize_t
        self.node = i
        self.ordinal = 0
        self.varying_count = 0
        for j in range(self.shape.shape[0]):
            if self.box[i, 0, j] < self.box[i, 1, j]:
                self.varying_columns[self.varying_count] = j
                self.varying_count += 1
        self.pack_rows()
        for j in range(self.varying_count):
            self.place_in_node = j
            self.column = self.varying_columns[j]
            self.find_runs()
            self.measure_runs()
            self.weigh_prefixes()
            self.weigh_subtrees()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pack_rows(self) -> cython.void:
        """Pack the node's rows in the columns that vary, in the narrowest lanes that hold their spans."""
        r: cython.Py_ssize_t
        v: cython.Py_ssize_t
        word_index: cython.Py_ssize_t
        word: cython.Py_ssize_t
        shift: cython.int
        lo: cython.ulonglong
        span: cython.int = 0
        i: cython.Py_ssize_t = self.node
        start: cython.Py_ssize_t = self.nodes[i, 0]
        n: cython.Py_ssize_t = self.nodes[i, 1] - start
        for v in range(self.varying_count):
            span = max(span, self.box[i, 1, self.varying_columns[v]] - self.box[i, 0, self.varying_columns[v]])
        self.lane_bits = 32
        if span < 1 << 7:
            self.lane_bits = 8
        elif span < 1 << 15:
            self.lane_bits = 16
        self.guard = ONES // ((cython.cast(cython.ulonglong, 1) << self.lane_bits) - 1) << (self.lane_bits - 1)
        self.row_words = (self.varying_count * self.lane_bits + 63) >> 6
        for r in range(n * self.row_words):
            self.packed_rows[r] = 0
        for v in range(self.varying_count):
            word_index = (v * self.lane_bits) >> 6
            word = self.varying_columns[v] >> 1
            shift = cython.cast(cython.int, 32 * (self.varying_columns[v] & 1))
            lo = cython.cast(cython.ulonglong, self.box[i, 0, self.varying_columns[v]])
            for r in range(n):
                self.packed_rows[r * self.row_words + word_index] |= (
                    ((self.words[start + r, word] >> shift) & CODE) - lo
                ) << ((v * self.lane_bits) & 63)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def get_code(self, r: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return row r's code in the column at hand, from the node's least on."""
        bit: cython.Py_ssize_t = self.place_in_node * self.lane_bits
        return cython.cast(
            cython.Py_ssize_t,
            (self.packed_rows[r * self.row_words + (bit >> 6)] >> (bit & 63)) & (ONES >> (65 - self.lane_bits)),
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_runs(self) -> cython.void:
        """Find the runs of equal codes and their boxes: from a table where the span is short, else by sorting."""
        r: cython.Py_ssize_t
        x: cython.int
        run: cython.Py_ssize_t = 0
        start: cython.Py_ssize_t = self.nodes[self.node, 0]
        n: cython.Py_ssize_t = self.nodes[self.node, 1] - start
        lo: cython.int = self.box[self.node, 0, self.column]
        span: cython.Py_ssize_t = self.box[self.node, 1, self.column] - lo + 1
        if span <= 2 * n + 64:
            self.tabulate_runs(start, n, lo, span)
            return
        self.sort_rows()
        self.run_codes[0] = lo
        self.rows_up_to[0] = 0
        for r in range(n):
            x = lo + self.get_code(self.row_order[0, r])
            if x != self.run_codes[run]:
                run += 1
                self.run_codes[run] = x
                self.rows_up_to[run] = self.rows_up_to[run - 1]
            self.rows_up_to[run] += self.count[start + self.row_order[0, r]]
            self.run_of_row[self.row_order[0, r]] = run
        self.run_count = run + 1
        self.measure_sorted_runs()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def tabulate_runs(
        self, start: cython.Py_ssize_t, n: cython.Py_ssize_t, lo: cython.int, span: cython.Py_ssize_t
    ) -> cython.void:
        """Tabulate the runs of a column whose codes span few values: their codes, the rows up to each, and the box of each."""
        r: cython.Py_ssize_t
        c: cython.Py_ssize_t
        w: cython.Py_ssize_t
        row: cython.ulonglong
        inside: cython.ulonglong
        rows: cython.longlong = 0
        width: cython.Py_ssize_t = self.row_words
        for c in range(span):
            self.code_rows[c] = 0
            for w in range(width):
                self.code_boxes[0, c, w] = ONES ^ self.guard
                self.code_boxes[1, c, w] = 0
        for r in range(n):
            c = self.get_code(r)
            self.code_rows[c] += self.count[start + r]
            inside = self.guard
            for w in range(width):
                row = self.packed_rows[r * width + w]
                inside &= ((row | self.guard) - self.code_boxes[0, c, w]) & (
                    (self.code_boxes[1, c, w] | self.guard) - row
                )
            if inside != self.guard:  # most rows lie in their run's box: what is not written need not be waited for
                self.widen_box(r, c)
        self.run_count = 0
        for c in range(span):
            if self.code_rows[c] > 0:
                rows += self.code_rows[c]
                self.run_codes[self.run_count] = lo + c
                self.rows_up_to[self.run_count] = rows
                for w in range(width):
                    self.boxes[OWN, self.run_count, w] = self.code_boxes[0, c, w]
                    self.boxes[OWN + 1, self.run_count, w] = self.code_boxes[1, c, w]
                self.run_count += 1

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def widen_box(self, r: cython.Py_ssize_t, c: cython.Py_ssize_t) -> cython.void:
        """Widen the box of a code by one row."""
        w: cython.Py_ssize_t
        row: cython.ulonglong
        for w in range(self.row_words):
            row = self.packed_rows[r * self.row_words + w]
            self.code_boxes[0, c, w] = _take_lesser(row, self.code_boxes[0, c, w], self.guard, self.lane_bits - 1)
            self.code_boxes[1, c, w] = _take_greater(row, self.code_boxes[1, c, w], self.guard, self.lane_bits - 1)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sort_rows(self) -> cython.void:
        """Sort the node's rows in order of their code: by insertion where they are few, else digit by digit."""
        r: cython.Py_ssize_t
        s: cython.Py_ssize_t
        d: cython.Py_ssize_t
        x: cython.Py_ssize_t
        n: cython.Py_ssize_t = self.nodes[self.node, 1] - self.nodes[self.node, 0]
        span: cython.Py_ssize_t = self.box[self.node, 1, self.column] - self.box[self.node, 0, self.column]
        shift: cython.int = 0
        if n <= 64:
            for r in range(n):
                x = self.get_code(r)
                s = r
                while s > 0 and self.get_code(self.row_order[0, s - 1]) > x:
                    self.row_order[0, s] = self.row_order[0, s - 1]
                    s -= 1
                self.row_order[0, s] = r
            return
        for r in range(n):
            self.row_order[0, r] = r
        while (span >> shift) > 0:
            for d in range(257):
                self.code_rows[d] = 0
            for r in range(n):
                self.row_order[1, r] = self.row_order[0, r]
                self.code_rows[((self.get_code(r) >> shift) & 255) + 1] += 1
            for d in range(256):
                self.code_rows[d + 1] += self.code_rows[d]
            for r in range(n):
                d = (self.get_code(self.row_order[1, r]) >> shift) & 255
                self.row_order[0, self.code_rows[d]] = self.row_order[1, r]
                self.code_rows[d] += 1
            shift += 8

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def measure_runs(self) -> cython.void:
        """Measure the boxes of all runs up to each, and of all from it on."""
        run: cython.Py_ssize_t
        self.join_boxes(UPTO, 0, 0)
        for run in range(1, self.run_count):
            self.join_boxes(UPTO, run, run - 1)
        self.join_boxes(FROM, self.run_count - 1, self.run_count - 1)
        for run in range(self.run_count - 2, -1, -1):
            self.join_boxes(FROM, run, run + 1)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def measure_sorted_runs(self) -> cython.void:
        """Find the least and greatest codes of each run of sorted rows."""
        r: cython.Py_ssize_t
        w: cython.Py_ssize_t
        run: cython.Py_ssize_t
        row: cython.ulonglong
        inside: cython.ulonglong
        below: cython.int = self.lane_bits - 1
        width: cython.Py_ssize_t = self.row_words
        for run in range(self.run_count):
            for w in range(width):
                self.boxes[OWN, run, w] = ONES ^ self.guard
                self.boxes[OWN + 1, run, w] = 0
        for r in range(self.nodes[self.node, 1] - self.nodes[self.node, 0]):
            run = self.run_of_row[r]
            inside = self.guard
            for w in range(width):
                row = self.packed_rows[r * width + w]
                inside &= ((row | self.guard) - self.boxes[OWN, run, w]) & (
                    (self.boxes[OWN + 1, run, w] | self.guard) - row
                )
            if inside != self.guard:  # most rows lie in their run's box: what is not written need not be waited for
                for w in range(width):
                    row = self.packed_rows[r * width + w]
                    self.boxes[OWN, run, w] = _take_lesser(row, self.boxes[OWN, run, w], self.guard, below)
                    self.boxes[OWN + 1, run, w] = _take_greater(row, self.boxes[OWN + 1, run, w], self.guard, below)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def join_boxes(self, boxes: cython.Py_ssize_t, run: cython.Py_ssize_t, other: cython.Py_ssize_t) -> cython.void:
        """Join a run's own box with all that its neighbour has joined; alone where it is its own neighbour."""
        w: cython.Py_ssize_t
        below: cython.int = self.lane_bits - 1
        for w in range(self.row_words):
            self.boxes[boxes, run, w] = self.boxes[OWN, run, w]
            self.boxes[boxes + 1, run, w] = self.boxes[OWN + 1, run, w]
            if other != run:
                self.boxes[boxes, run, w] = _take_lesser(
                    self.boxes[OWN, run, w], self.boxes[boxes, other, w], self.guard, below
                )
                self.boxes[boxes + 1, run, w] = _take_greater(
                    self.boxes[OWN + 1, run, w], self.boxes[boxes + 1, other, w], self.guard, below
                )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def compute_box_loss(self, boxes: cython.Py_ssize_t, run: cython.Py_ssize_t) -> cython.double:
        """Return the loss of a box in the columns that vary in the node."""
        v: cython.Py_ssize_t
        c: cython.Py_ssize_t
        bit: cython.Py_ssize_t
        lo: cython.Py_ssize_t
        low: cython.Py_ssize_t
        high: cython.Py_ssize_t
        code: cython.ulonglong = ONES >> (65 - self.lane_bits)
        total: cython.double = 0.0
        for v in range(self.varying_count):
            c = self.varying_columns[v]
            bit = v * self.lane_bits
            lo = self.box[self.node, 0, c]
            low = lo + cython.cast(cython.Py_ssize_t, (self.boxes[boxes, run, bit >> 6] >> (bit & 63)) & code)
            high = lo + cython.cast(cython.Py_ssize_t, (self.boxes[boxes + 1, run, bit >> 6] >> (bit & 63)) & code)
            total += _compute_loss(c, low, high, self.shape, self.value, self.minima)
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh_prefixes(self) -> cython.void:
        """Weigh the cuts between a run and the next."""
        run: cython.Py_ssize_t
        last: cython.Py_ssize_t = self.run_count - 1
        rows_before: cython.longlong
        rows_after: cython.longlong
        min_rows: cython.longlong = self.nodes[self.node, 2]
        weight: cython.double
        if self.shape[self.column, 0] == SUBTREES:
            return
        for run in range(last):
            rows_before = self.rows_up_to[run]
            rows_after = self.rows_up_to[last] - rows_before
            self.ordinal += 1
            if rows_before >= min_rows and rows_after >= min_rows and not self.is_barred():
                weight = rows_before * self.compute_box_loss(UPTO, run)
                if weight < self.cost[self.node, self.cost.shape[1] - 1]:
                    weight += rows_after * self.compute_box_loss(FROM, run + 1)
                    if rows_before <= rows_after:
                        self.offer(weight, self.run_codes[0], self.run_codes[run])
                    else:
                        self.offer(weight, self.run_codes[run + 1], self.run_codes[last])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh_subtrees(self) -> cython.void:
        """Weigh the cuts of one leaf, or of one child of the lowest common ancestor, from the rest."""
        run: cython.Py_ssize_t
        first: cython.Py_ssize_t = 0
        root: cython.int
        if self.shape[self.column, 0] == 0:
            return
        root = find_split_depth(
            self.column, self.run_codes[0], self.run_codes[self.run_count - 1], self.shape, self.minima
        )
        for run in range(self.run_count):
            self.weigh_outlier(run, run)
            if run > first:  # from here on the box of the child so far is the run's own
                self.join_boxes(OWN, run, run - 1)
            if run == self.run_count - 1 or root == find_split_depth(
                self.column, self.run_codes[run], self.run_codes[run + 1], self.shape, self.minima
            ):
                if run > first:
                    self.weigh_outlier(first, run)
                first = run + 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh_outlier(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.void:
        """Weigh the cut of runs first..last, whose box is the last's own, from those before and after."""
        inside: cython.longlong = self.rows_up_to[last] - (self.rows_up_to[first - 1] if first > 0 else 0)
        outside: cython.longlong = self.rows_up_to[self.run_count - 1] - inside
        min_rows: cython.longlong = self.nodes[self.node, 2]
        weight: cython.double
        self.ordinal += 1
        if self.shape[self.column, 0] != SUBTREES and (first == 0 or last == self.run_count - 1):
            return  # weighed already, between two runs
        if inside < min_rows or outside < min_rows or self.is_barred():
            return
        weight = inside * self.compute_box_loss(OWN, last)
        if weight < self.cost[self.node, self.cost.shape[1] - 1]:
            weight += outside * self.compute_rest_loss(first - 1, last + 1)
            self.offer(weight, self.run_codes[first], self.run_codes[last])

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def is_barred(self) -> cython.bint:
        """Tell whether the cut at hand is known to break a promise."""
        return self.allowed.shape[0] > 0 and not self.allowed[self.nodes[self.node, 3] + self.ordinal]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def compute_rest_loss(self, before: cython.Py_ssize_t, after: cython.Py_ssize_t) -> cython.double:
        """Return the loss of all runs up to one and from another on; either may be beyond the end."""
        w: cython.Py_ssize_t
        spare: cython.Py_ssize_t = self.boxes.shape[1] - 1
        if before < 0:
            return self.compute_box_loss(FROM, after)
        if after == self.run_count:
            return self.compute_box_loss(UPTO, before)
        for w in range(self.row_words):
            self.boxes[OWN, spare, w] = _take_lesser(
                self.boxes[UPTO, before, w], self.boxes[FROM, after, w], self.guard, self.lane_bits - 1
            )
            self.boxes[OWN + 1, spare, w] = _take_greater(
                self.boxes[UPTO + 1, before, w], self.boxes[FROM + 1, after, w], self.guard, self.lane_bits - 1
            )
        return self.compute_box_loss(OWN, spare)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def offer(self, weight: cython.double, lo: cython.longlong, hi: cython.longlong) -> cython.void:
        """Put a cut in its place among the best so far, earlier ones first where they weigh the same."""
        i: cython.Py_ssize_t = self.node
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
        self.best[i, s, 2] = self.column
        self.best[i, s, 3] = lo
        self.best[i, s, 4] = hi
        self.best[i, s, 5] = self.ordinal


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
    minima: cython.int[::1],
) -> cython.double:
    begin: cython.Py_ssize_t = shape[j, 1]
    if lo == hi:
        return 0.0
    if shape[j, 0] == 0:
        return value[begin + hi] if hi == shape[j, 4] else value[begin + hi] - value[begin + lo]
    return value[begin + lo * shape[j, 3] + find_split_depth(j, lo, hi, shape, minima)]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _take_lesser(
    code: cython.ulonglong, other: cython.ulonglong, guard: cython.ulonglong, below: cython.int
) -> cython.ulonglong:
    """Return the lesser code of each lane; `below` is how many bits a lane has below its guard."""
    mask: cython.ulonglong = ((code | guard) - other) & guard  # the guard stays where code >= other
    mask -= mask >> below
    return (other & mask) | (code & ~mask)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _take_greater(
    code: cython.ulonglong, other: cython.ulonglong, guard: cython.ulonglong, below: cython.int
) -> cython.ulonglong:
    mask: cython.ulonglong = ((code | guard) - other) & guard
    mask -= mask >> below
    return (code & mask) | (other & ~mask)
