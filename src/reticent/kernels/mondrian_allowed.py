"""Which cuts of a node keep count-capped promises on both sides, for all of its cuts in one sweep of each column.

`weigh_cuts` (see `mondrian_loss`) numbers the cuts of a node by ordinal: by column that varies, first those between a run of
equal codes and the next, then of a tree each run, and each child of the lowest common ancestor, from the rest.  The same
numbers are used here.  A value of count c under the cap n / d needs a group of ceil(c d / n) rows, and a floor n / d lets
it have at most floor(c d / n): a side is allowed if its size is between the greatest need and the least limit of its
values, both kept as the root of a tree over the values, so that moving a row from one side to the other takes a few steps.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython
import numpy as np

if cython.compiled:
    from cython.cimports.reticent.kernels.inline_functions import find_split_depth, unpack_code
else:
    from reticent.kernels.inline_functions import find_split_depth, unpack_code

NO_LIMIT = cython.declare(cython.longlong, 1 << 62)
SUBTREES = cython.declare(cython.Py_ssize_t, 2)


def mark_allowed_cuts(
    nodes: cython.longlong[:, ::1],
    rows: cython.int[:, ::1],
    words: cython.ulonglong[:, ::1],
    cells: cython.longlong[:, ::1],
    contents: cython.longlong[:, ::1],
    rules: tuple,
    trees: tuple,
    allowed: cython.char[::1],
):
    """Leave allowed[nodes[i, 3] + ordinal] at 1 if both sides of that cut of node i keep the rules, else set it to 0.

    nodes[i] = (start, stop, least rows on a side, where its cuts begin in `allowed`, where its rows begin in `rows`);
    rows[j] = the rows of the nodes in order of their code in column j; cells[r] = the first cell of row r and the end;
    rules = (rules, bounds) as in `mondrian_sides.mark_cuts_within_caps`; trees = (shape, minima) as in
    `mondrian_loss.weigh_cuts`.  The array comes filled with 1.
    """
    i: cython.Py_ssize_t
    rule: cython.Py_ssize_t
    sweep: SideMoves
    for rule in range(rules[0].shape[0]):
        sweep = SideMoves(rule, rules, words, cells, contents, trees)
        sweep.rows = rows
        sweep.allowed = allowed
        with cython.nogil:
            for i in range(nodes.shape[0]):
                sweep.sweep_node(nodes[i, 1] - nodes[i, 0], nodes[i, 2], nodes[i, 3], nodes[i, 4])


@cython.final
@cython.cclass
class SideMoves:
    """Two sides of a node, 0 and 1, under one rule: what each holds, and the needs and limits of its values."""

    words: cython.ulonglong[:, ::1]
    cells: cython.longlong[:, ::1]
    contents: cython.longlong[:, ::1]
    bounds: cython.longlong[:, ::1]
    rule: cython.longlong[::1]
    shape: cython.longlong[:, ::1]
    minima: cython.int[::1]
    rows: cython.int[:, ::1]
    allowed: cython.char[::1]
    counts: cython.longlong[:, ::1]
    need: cython.longlong[
        :, ::1
    ]  # a tree: 1 is the root, 2n and 2n + 1 are the children of n, the values are the leaves
    limit: cython.longlong[:, ::1]
    size: cython.longlong[::1]
    distinct: cython.longlong[::1]
    floored_values: cython.longlong[::1]
    leaves: cython.Py_ssize_t
    ordinal: cython.Py_ssize_t
    first: cython.Py_ssize_t
    end: cython.Py_ssize_t
    min_side_rows: cython.longlong

    def __init__(self, rule, rules, words, cells, contents, trees):
        self.rule = np.ascontiguousarray(rules[0][rule])
        self.bounds = rules[1]
        self.words = words
        self.cells = cells
        self.contents = contents
        self.shape, self.minima = trees
        values = int(rules[0][rule, 7] - rules[0][rule, 6])
        self.leaves = 1 << max(values - 1, 1).bit_length()
        self.counts = np.zeros((2, values), np.int64)
        self.need = np.zeros((2, 2 * self.leaves), np.int64)
        self.limit = np.full((2, 2 * self.leaves), NO_LIMIT, np.int64)
        self.size, self.distinct, self.floored_values = np.zeros((3, 2), np.int64)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sweep_node(
        self, n: cython.Py_ssize_t, side: cython.longlong, ordinal: cython.Py_ssize_t, first: cython.Py_ssize_t
    ) -> cython.void:
        """Judge the cuts of every column of a node of n rows; all lie on side 1 before and after each column."""
        j: cython.Py_ssize_t
        low: cython.longlong
        high: cython.longlong
        self.ordinal = ordinal
        self.min_side_rows = side
        self.first = first
        self.end = first + n
        self.move_rows(0, first, self.end, 1, 0)
        for j in range(self.rows.shape[0]):
            low = unpack_code(self.words, self.rows[j, first], j)
            high = unpack_code(self.words, self.rows[j, self.end - 1], j)
            if low < high:
                if self.shape[j, 0] != SUBTREES:
                    self.judge_prefixes(j)
                if self.shape[j, 0] != 0:
                    self.judge_subtrees(j, find_split_depth(j, low, high, self.shape, self.minima))
        self.move_rows(0, first, self.end, -1, 0)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def judge_prefixes(self, j: cython.Py_ssize_t) -> cython.void:
        """Judge cuts between runs: they go over to side 0 one after the other, and back again at the end."""
        begin: cython.Py_ssize_t = self.first
        end: cython.Py_ssize_t
        while True:
            end = self.find_run_end(j, begin)
            if end == self.end:
                break
            self.move_rows(j, begin, end, 1, 1)
            self.ordinal += 1
            self.judge_sides()
            begin = end
        self.move_rows(j, self.first, begin, -1, 1)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def judge_subtrees(self, j: cython.Py_ssize_t, root: cython.int) -> cython.void:
        """Judge cuts of one from the rest: each run, and each child of the lowest common ancestor that holds several, goes over alone."""
        begin: cython.Py_ssize_t = self.first
        child: cython.Py_ssize_t = self.first
        end: cython.Py_ssize_t
        while begin < self.end:
            end = self.find_run_end(j, begin)
            self.judge_alone(j, begin, end)
            if end == self.end or root == find_split_depth(
                j,
                unpack_code(self.words, self.rows[j, begin], j),
                unpack_code(self.words, self.rows[j, end], j),
                self.shape,
                self.minima,
            ):
                if child < begin:
                    self.judge_alone(j, child, end)
                child = end
            begin = end

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def judge_alone(self, j: cython.Py_ssize_t, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.void:
        """Judge the rows at .. end of a column against the rest of the node."""
        self.ordinal += 1
        if self.shape[j, 0] != SUBTREES and (begin == self.first or end == self.end):
            return  # judged already, between two runs
        if self.count_rows(j, begin, end) < self.min_side_rows:
            self.allowed[self.ordinal] = 0
            return
        self.move_rows(j, begin, end, 1, 1)
        self.judge_sides()
        self.move_rows(j, begin, end, -1, 1)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_run_end(self, j: cython.Py_ssize_t, row: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the end of the run of equal codes that begins at a row."""
        code: cython.longlong = unpack_code(self.words, self.rows[j, row], j)
        while row < self.end and unpack_code(self.words, self.rows[j, row], j) == code:
            row += 1
        return row

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def count_rows(self, j: cython.Py_ssize_t, row: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.longlong:
        """Count the rows of the table that lie there; counting stops where they suffice."""
        h: cython.Py_ssize_t
        total: cython.longlong = 0
        while row < end and total < self.min_side_rows:
            for h in range(self.cells[self.rows[j, row], 0], self.cells[self.rows[j, row], 1]):
                total += self.contents[h, 0]
            row += 1
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def move_rows(
        self,
        j: cython.Py_ssize_t,
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        sign: cython.longlong,
        between_sides: cython.bint,
    ) -> cython.void:
        """Move rows from side 1 to side 0 (sign -1: back); those of a new node just come to side 1, or leave it."""
        r: cython.Py_ssize_t
        h: cython.Py_ssize_t
        s: cython.Py_ssize_t
        v: cython.longlong
        for r in range(begin, end):
            for h in range(self.cells[self.rows[j, r], 0], self.cells[self.rows[j, r], 1]):
                for s in range(1, self.contents.shape[1]):
                    v = self.contents[h, s]
                    if self.rule[6] <= v < self.rule[7] and v != self.rule[3]:
                        if between_sides:
                            self.add_rows(0, v, sign * self.contents[h, 0])
                            self.add_rows(1, v, -sign * self.contents[h, 0])
                        else:
                            self.add_rows(1, v, sign * self.contents[h, 0])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_rows(self, side: cython.Py_ssize_t, v: cython.longlong, by: cython.longlong) -> cython.void:
        """Add so many rows of a value to a side."""
        leaf: cython.Py_ssize_t = v - self.rule[6]
        b: cython.Py_ssize_t = v + self.rule[8]
        before: cython.longlong = self.counts[side, leaf]
        now: cython.longlong = before + by
        change: cython.longlong = cython.cast(cython.longlong, now > 0) - cython.cast(cython.longlong, before > 0)
        self.counts[side, leaf] = now
        self.size[side] += by
        if v != self.rule[2]:
            self.distinct[side] += change
        if self.bounds[b, 2] > 0:
            self.floored_values[side] += change
            self.set_limit(side, leaf, 0 if now == 0 else now * self.bounds[b, 3] // self.bounds[b, 2], now == 0)
        if now == 0:
            self.set_need(side, leaf, 0)
        elif self.bounds[b, 0] == 0:
            self.set_need(side, leaf, NO_LIMIT)
        else:
            self.set_need(side, leaf, (now * self.bounds[b, 1] + self.bounds[b, 0] - 1) // self.bounds[b, 0])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def set_need(self, side: cython.Py_ssize_t, node: cython.Py_ssize_t, rows: cython.longlong) -> cython.void:
        """Set how many rows a value needs around it: up the tree as long as that changes anything."""
        other: cython.longlong
        node += self.leaves
        self.need[side, node] = rows
        while node > 1:
            other = self.need[side, node ^ 1]
            node >>= 1
            rows = rows if rows > other else other
            if self.need[side, node] == rows:
                return
            self.need[side, node] = rows

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def set_limit(
        self, side: cython.Py_ssize_t, node: cython.Py_ssize_t, rows: cython.longlong, free: cython.bint
    ) -> cython.void:
        """Set how many rows a value lets the side have, or any number where it does not occur."""
        other: cython.longlong
        node += self.leaves
        rows = NO_LIMIT if free else rows
        self.limit[side, node] = rows
        while node > 1:
            other = self.limit[side, node ^ 1]
            node >>= 1
            rows = rows if rows < other else other
            if self.limit[side, node] == rows:
                return
            self.limit[side, node] = rows

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def judge_sides(self) -> cython.void:
        if not (self.keeps_rule(0) and self.keeps_rule(1)):
            self.allowed[self.ordinal] = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def keeps_rule(self, side: cython.Py_ssize_t) -> cython.bint:
        """Tell whether a side keeps the rule: the meaning of `Caps`."""
        size: cython.longlong = self.size[side]
        if size < self.rule[0] or self.distinct[side] < self.rule[1]:
            return False
        if size > 0 and not self.rule[4] and self.floored_values[side] < self.rule[5]:
            return False  # a value that must occur does not
        return self.need[side, 1] <= size <= self.limit[side, 1]
