# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, language_level=3
"""An order of points in which neighbours are near in every column: the leaves of a tree of cuts, from left to right.

Each cut is the one that saves most loss for the information it spends: before a code, one node of a hierarchy against the
rest, or all nodes of a level with enough points at once.  Only parts of at least `least` points save anything: fewer cannot
be a group.  Of the parts the one nearer to the last point placed comes first, as in a reflected code, and the points of a
leaf follow a chain of nearest neighbours.  A column of 100,000 values costs no more than one of a hundred.
"""

import cython

if cython.compiled:
    from cython.cimports.reticent.kernels.inline_functions import compute_span, next_random, scale_random
else:
    from reticent.kernels.inline_functions import compute_span, next_random, scale_random

LARGE = cython.declare(cython.double, 1e300)


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def measure_distance(
    spans: cython.double[::1],
    places: cython.longlong[:, ::1],
    column: cython.Py_ssize_t,
    code: cython.int,
    other: cython.int,
) -> cython.double:
    """Return the weighted loss of a column over the codes between two, in either order."""
    if code <= other:
        return compute_span(spans, places, column, code, other)
    return compute_span(spans, places, column, other, code)


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def worth(saved: cython.double, spent: cython.double) -> cython.double:
    """Grows as saved / spent ** (3/4): of several powers tried the best, and it needs no root."""
    return saved * saved * saved * saved / (spent * spent * spent)


@cython.cclass
class Orderer:
    codes: cython.int[:, ::1]
    spans: cython.double[::1]
    places: cython.longlong[:, ::1]
    nodes: cython.int[::1]
    trees: cython.longlong[:, ::1]
    x_log_x: cython.double[::1]
    column_order: cython.int[:, ::1]
    sorted_codes: cython.int[:, ::1]
    part_of: cython.int[::1]
    spare_points: cython.int[:, ::1]
    part_ends: cython.longlong[::1]
    stack: cython.longlong[:, ::1]
    order: cython.int[::1]
    column_favour: cython.double[::1]
    columns: cython.Py_ssize_t
    min_part: cython.Py_ssize_t
    max_leaf: cython.Py_ssize_t
    max_chain: cython.Py_ssize_t
    placed_count: cython.Py_ssize_t
    noise: cython.double
    seed: cython.longlong
    # the best cut of a node: column, kind (0 prefix, 1 one run, 2 all runs), level, first and last + 1 place
    cut_column: cython.Py_ssize_t
    cut_kind: cython.Py_ssize_t
    cut_level: cython.Py_ssize_t
    cut_begin: cython.Py_ssize_t
    cut_end: cython.Py_ssize_t
    best_score: cython.double

    def __init__(self, points, space, limits, work, noise):
        """points = (codes, the points in order of each column, their codes in that order); space = (spans, places, nodes,
        trees), with 1 in the third column of `trees` for a hierarchy; limits = (least points of a part that saves, points of a
        leaf, most points of a chain); work = (x log x, part, spare, count, stack, out); noise = (factor of each column, noise
        of each column at each cut, seed).
        """
        self.codes, self.column_order, self.sorted_codes = points
        self.spans, self.places, self.nodes, self.trees = space
        self.min_part, self.max_leaf, self.max_chain = limits
        self.x_log_x, self.part_of, self.spare_points, self.part_ends, self.stack, self.order = work
        self.column_favour, self.noise, self.seed = noise
        self.columns = points[0].shape[1]
        self.placed_count = 0

    def run(self):
        """Put all points in order."""
        top: cython.Py_ssize_t = 1
        lo: cython.Py_ssize_t
        hi: cython.Py_ssize_t
        parts: cython.Py_ssize_t
        with cython.nogil:
            self.stack[0, 0] = 0
            self.stack[0, 1] = self.codes.shape[0]
            while top > 0:
                top -= 1
                lo = self.stack[top, 0]
                hi = self.stack[top, 1]
                self.best_score = 0.0
                if hi - lo > self.max_leaf:
                    self.choose_cut(lo, hi)
                if self.best_score <= 0.0:
                    self.place_points(lo, hi)
                    continue
                parts = self.split_points(lo, hi)
                top = self.push_parts(top, lo, parts)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def choose_cut(self, lo: cython.Py_ssize_t, hi: cython.Py_ssize_t) -> cython.int:
        """The best cut of the points lo..hi-1."""
        j: cython.Py_ssize_t
        level: cython.Py_ssize_t
        whole: cython.double
        factor: cython.double
        for j in range(self.columns):
            whole = compute_span(self.spans, self.places, j, self.sorted_codes[j, lo], self.sorted_codes[j, hi - 1])
            if whole <= 0.0:
                continue
            factor = self.column_favour[j]
            if self.noise > 0.0:
                self.seed = next_random(self.seed)
                factor *= 1.0 + self.noise * scale_random(self.seed)
            self.weigh_prefixes(j, lo, hi, whole, factor)
            for level in range(self.trees[j, 1]):
                self.weigh_level(j, level, lo, hi, whole, factor)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh_prefixes(
        self,
        j: cython.Py_ssize_t,
        lo: cython.Py_ssize_t,
        hi: cython.Py_ssize_t,
        whole: cython.double,
        factor: cython.double,
    ) -> cython.int:
        """Cuts before a code."""
        n: cython.Py_ssize_t = hi - lo
        i: cython.Py_ssize_t
        a: cython.int = self.sorted_codes[j, lo]
        b: cython.int = self.sorted_codes[j, hi - 1]
        saved: cython.double
        for i in range(lo + self.min_part, hi - self.min_part + 1):
            if self.sorted_codes[j, i - 1] == self.sorted_codes[j, i]:
                continue
            saved = (whole - compute_span(self.spans, self.places, j, a, self.sorted_codes[j, i - 1])) * (i - lo)
            saved += (whole - compute_span(self.spans, self.places, j, self.sorted_codes[j, i], b)) * (hi - i)
            saved *= factor
            if saved <= 0.0:
                continue
            saved = worth(saved, self.x_log_x[n] - self.x_log_x[i - lo] - self.x_log_x[hi - i])
            if saved > self.best_score:
                self.best_score = saved
                self.cut_column = j
                self.cut_kind = 0
                self.cut_begin = lo
                self.cut_end = i
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh_level(
        self,
        j: cython.Py_ssize_t,
        level: cython.Py_ssize_t,
        lo: cython.Py_ssize_t,
        hi: cython.Py_ssize_t,
        whole: cython.double,
        factor: cython.double,
    ) -> cython.int:
        """One node of a level against the rest, and all of them at once."""
        n: cython.Py_ssize_t = hi - lo
        at: cython.Py_ssize_t = self.trees[j, 0] + level * self.places[j, 2]
        i: cython.Py_ssize_t = lo
        begin: cython.Py_ssize_t
        node: cython.int
        large: cython.Py_ssize_t = 0
        rest: cython.Py_ssize_t = 0
        saved: cython.double
        total: cython.double = 0.0
        spent: cython.double = self.x_log_x[n]
        while i < hi:
            begin = i
            node = self.nodes[at + self.sorted_codes[j, i]]
            i += 1
            while i < hi and self.nodes[at + self.sorted_codes[j, i]] == node:
                i += 1
            if i - begin < self.min_part:
                rest += i - begin
                continue
            if i - begin == n:
                return 0
            saved = whole - compute_span(
                self.spans, self.places, j, self.sorted_codes[j, begin], self.sorted_codes[j, i - 1]
            )
            saved *= factor * (i - begin)
            total += saved
            spent -= self.x_log_x[i - begin]
            large += 1
            saved = worth(saved, self.x_log_x[n] - self.x_log_x[i - begin] - self.x_log_x[n - i + begin])
            if saved > self.best_score and n - i + begin >= self.min_part:
                self.best_score = saved
                self.cut_column = j
                self.cut_kind = 1
                self.cut_begin = begin
                self.cut_end = i
        spent -= self.x_log_x[rest]
        if self.trees[j, 2] and large > 1 and worth(total, spent) > self.best_score:
            self.best_score = worth(total, spent)
            self.cut_column = j
            self.cut_kind = 2
            self.cut_level = level
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def split_points(self, lo: cython.Py_ssize_t, hi: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Part the points by the chosen cut, in every column's order; the number of parts, count[p] is where part p ends."""
        j: cython.Py_ssize_t = self.cut_column
        i: cython.Py_ssize_t
        t: cython.Py_ssize_t
        p: cython.Py_ssize_t
        u: cython.int
        parts: cython.Py_ssize_t = 2
        if self.cut_kind < 2:
            for i in range(lo, hi):
                self.part_of[self.column_order[j, i]] = 0 if self.cut_begin <= i and i < self.cut_end else 1
            self.part_ends[0] = self.cut_end - self.cut_begin
            self.part_ends[1] = hi - lo - self.part_ends[0]
        else:
            parts = self.split_level(lo, hi)
        for p in range(1, parts):
            self.part_ends[p] += self.part_ends[p - 1]
        for j in range(self.columns):
            for i in range(hi - 1, lo - 1, -1):
                u = self.column_order[j, i]
                p = self.part_of[u]
                self.part_ends[p] -= 1
                t = self.part_ends[p]
                self.spare_points[0, t] = u
                self.spare_points[1, t] = self.sorted_codes[j, i]
            for i in range(lo, hi):
                self.column_order[j, i] = self.spare_points[0, i - lo]
                self.sorted_codes[j, i] = self.spare_points[1, i - lo]
            # each count has come down to where its part begins, which is where the one before it ends
            for p in range(parts - 1):
                self.part_ends[p] = self.part_ends[p + 1]
            self.part_ends[parts - 1] = hi - lo
        return parts

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def split_level(self, lo: cython.Py_ssize_t, hi: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """One part for each node with enough points, and one for all others."""
        j: cython.Py_ssize_t = self.cut_column
        at: cython.Py_ssize_t = self.trees[j, 0] + self.cut_level * self.places[j, 2]
        i: cython.Py_ssize_t = lo
        t: cython.Py_ssize_t
        p: cython.Py_ssize_t
        begin: cython.Py_ssize_t
        node: cython.int
        parts: cython.Py_ssize_t = 1
        self.part_ends[0] = 0
        while i < hi:
            begin = i
            node = self.nodes[at + self.sorted_codes[j, i]]
            while i < hi and self.nodes[at + self.sorted_codes[j, i]] == node:
                i += 1
            p = 0
            if i - begin >= self.min_part:
                p = parts
                parts += 1
                self.part_ends[p] = 0
            self.part_ends[p] += i - begin
            for t in range(begin, i):
                self.part_of[self.column_order[j, t]] = p
        return parts

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def push_parts(self, top: cython.Py_ssize_t, lo: cython.Py_ssize_t, parts: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Put the parts on the stack, so that the end nearer to the last point placed is taken first."""
        p: cython.Py_ssize_t
        q: cython.Py_ssize_t
        begin: cython.Py_ssize_t
        forward: cython.bint = True
        if self.placed_count > 0:
            p = 1 if self.part_ends[0] == 0 else 0  # the part of small nodes may be empty
            begin = self.part_ends[0] if p else 0
            forward = self.measure_box_distance(lo + begin, lo + self.part_ends[p]) <= self.measure_box_distance(
                lo + self.part_ends[parts - 2], lo + self.part_ends[parts - 1]
            )
        for p in range(parts):
            q = parts - 1 - p if forward else p
            begin = self.part_ends[q - 1] if q > 0 else 0
            if self.part_ends[q] > begin:
                self.stack[top, 0] = lo + begin
                self.stack[top, 1] = lo + self.part_ends[q]
                top += 1
        return top

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def measure_box_distance(self, lo: cython.Py_ssize_t, hi: cython.Py_ssize_t) -> cython.double:
        """From the last point placed to the box of the points lo..hi-1."""
        j: cython.Py_ssize_t
        u: cython.int = self.order[self.placed_count - 1]
        c: cython.int
        total: cython.double = 0.0
        for j in range(self.columns):
            c = self.codes[u, j]
            if c < self.sorted_codes[j, lo]:
                total += compute_span(self.spans, self.places, j, c, self.sorted_codes[j, lo])
            elif c > self.sorted_codes[j, hi - 1]:
                total += compute_span(self.spans, self.places, j, self.sorted_codes[j, hi - 1], c)
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def place_points(self, lo: cython.Py_ssize_t, hi: cython.Py_ssize_t) -> cython.int:
        """The points lo..hi-1 are next: along a chain, or where they are too many in order of their widest column."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        q: cython.Py_ssize_t
        near: cython.Py_ssize_t
        u: cython.int
        v: cython.int
        wide: cython.Py_ssize_t = 0
        most: cython.double = -1.0
        far: cython.double
        for j in range(self.columns):
            far = compute_span(self.spans, self.places, j, self.sorted_codes[j, lo], self.sorted_codes[j, hi - 1])
            if far > most:
                most = far
                wide = j
        for i in range(lo, hi):
            if hi - lo <= self.max_chain and most > 0.0 and self.placed_count > 0:
                u = self.order[self.placed_count - 1]
                most = LARGE
                near = i
                for q in range(i, hi):
                    v = self.column_order[wide, q]
                    far = 0.0
                    for j in range(self.columns):
                        far += measure_distance(self.spans, self.places, j, self.codes[u, j], self.codes[v, j])
                        if far >= most:
                            break
                    if far < most:
                        most = far
                        near = q
                        if far <= 0.0:
                            break
                v = self.column_order[wide, near]
                self.column_order[wide, near] = self.column_order[wide, i]
                self.column_order[wide, i] = v
                most = 1.0
            self.order[self.placed_count] = self.column_order[wide, i]
            self.placed_count += 1
        return 0
