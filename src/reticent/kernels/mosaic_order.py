# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, language_level=3
"""An order of points in which neighbours are near in every column: the leaves of a tree of cuts, from left to right.

Each cut is the one that saves most loss for the information it spends: before a code, one node of a hierarchy against the
rest, or all nodes of a level with enough points at once.  Only parts of enough points save anything: fewer cannot
be a group.  Of the parts the one nearer to the last point placed comes first, as in a reflected code, and the points of a
leaf follow a chain of nearest neighbours.  A column of 100,000 values costs no more than one of a hundred.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython

if cython.compiled:
    from cython.cimports.reticent.kernels.inline_functions import compute_span, next_random, scale_random
else:
    from reticent.kernels.inline_functions import compute_span, next_random, scale_random

LARGE = cython.declare(cython.double, 1e300)


@cython.cclass
class Orderer:
    """Points in the order of each column, cut from the top down, and the order that comes of it."""

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
    def choose_cut(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Find the best cut of the points begin..end-1."""
        column: cython.Py_ssize_t
        level: cython.Py_ssize_t
        span: cython.double
        factor: cython.double
        for column in range(self.columns):
            span = compute_span(
                self.spans, self.places, column, self.sorted_codes[column, begin], self.sorted_codes[column, end - 1]
            )
            if span <= 0.0:
                continue
            factor = self.column_favour[column]
            if self.noise > 0.0:
                self.seed = next_random(self.seed)
                factor *= 1.0 + self.noise * scale_random(self.seed)
            self.weigh_prefixes(column, begin, end, span, factor)
            for level in range(self.trees[column, 1]):
                self.weigh_level(column, level, begin, end, span, factor)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh_prefixes(
        self,
        column: cython.Py_ssize_t,
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        span: cython.double,
        factor: cython.double,
    ) -> cython.int:
        """Weigh the cuts before a code."""
        n: cython.Py_ssize_t = end - begin
        i: cython.Py_ssize_t
        low: cython.int = self.sorted_codes[column, begin]
        high: cython.int = self.sorted_codes[column, end - 1]
        saving: cython.double
        for i in range(begin + self.min_part, end - self.min_part + 1):
            if self.sorted_codes[column, i - 1] == self.sorted_codes[column, i]:
                continue
            saving = (span - compute_span(self.spans, self.places, column, low, self.sorted_codes[column, i - 1])) * (
                i - begin
            )
            saving += (span - compute_span(self.spans, self.places, column, self.sorted_codes[column, i], high)) * (
                end - i
            )
            saving *= factor
            if saving <= 0.0:
                continue
            saving = worth(saving, self.x_log_x[n] - self.x_log_x[i - begin] - self.x_log_x[end - i])
            if saving > self.best_score:
                self.best_score = saving
                self.cut_column = column
                self.cut_kind = 0
                self.cut_begin = begin
                self.cut_end = i
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh_level(
        self,
        column: cython.Py_ssize_t,
        level: cython.Py_ssize_t,
        lo: cython.Py_ssize_t,
        hi: cython.Py_ssize_t,
        span: cython.double,
        factor: cython.double,
    ) -> cython.int:
        """Weigh one node of a level against the rest, and all of them at once."""
        n: cython.Py_ssize_t = hi - lo
        level_offset: cython.Py_ssize_t = self.trees[column, 0] + level * self.places[column, 2]
        i: cython.Py_ssize_t = lo
        begin: cython.Py_ssize_t
        node: cython.int
        large: cython.Py_ssize_t = 0
        rest: cython.Py_ssize_t = 0
        saving: cython.double
        total: cython.double = 0.0
        cost: cython.double = self.x_log_x[n]
        while i < hi:
            begin = i
            node = self.nodes[level_offset + self.sorted_codes[column, i]]
            i += 1
            while i < hi and self.nodes[level_offset + self.sorted_codes[column, i]] == node:
                i += 1
            if i - begin < self.min_part:
                rest += i - begin
                continue
            if i - begin == n:
                return 0
            saving = span - compute_span(
                self.spans, self.places, column, self.sorted_codes[column, begin], self.sorted_codes[column, i - 1]
            )
            saving *= factor * (i - begin)
            total += saving
            cost -= self.x_log_x[i - begin]
            large += 1
            saving = worth(saving, self.x_log_x[n] - self.x_log_x[i - begin] - self.x_log_x[n - i + begin])
            if saving > self.best_score and n - i + begin >= self.min_part:
                self.best_score = saving
                self.cut_column = column
                self.cut_kind = 1
                self.cut_begin = begin
                self.cut_end = i
        cost -= self.x_log_x[rest]
        if self.trees[column, 2] and large > 1 and worth(total, cost) > self.best_score:
            self.best_score = worth(total, cost)
            self.cut_column = column
            self.cut_kind = 2
            self.cut_level = level
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def split_points(self, lo: cython.Py_ssize_t, hi: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Part the points by the chosen cut, in every column's order; return the number of parts, of which part p ends at part_ends[p]."""
        column: cython.Py_ssize_t = self.cut_column
        i: cython.Py_ssize_t
        position: cython.Py_ssize_t
        part: cython.Py_ssize_t
        point: cython.int
        parts: cython.Py_ssize_t = 2
        if self.cut_kind < 2:
            for i in range(lo, hi):
                self.part_of[self.column_order[column, i]] = 0 if self.cut_begin <= i and i < self.cut_end else 1
            self.part_ends[0] = self.cut_end - self.cut_begin
            self.part_ends[1] = hi - lo - self.part_ends[0]
        else:
            parts = self.split_level(lo, hi)
        for part in range(1, parts):
            self.part_ends[part] += self.part_ends[part - 1]
        for column in range(self.columns):
            for i in range(hi - 1, lo - 1, -1):
                point = self.column_order[column, i]
                part = self.part_of[point]
                self.part_ends[part] -= 1
                position = self.part_ends[part]
                self.spare_points[0, position] = point
                self.spare_points[1, position] = self.sorted_codes[column, i]
            for i in range(lo, hi):
                self.column_order[column, i] = self.spare_points[0, i - lo]
                self.sorted_codes[column, i] = self.spare_points[1, i - lo]
            # each count has come down to where its part begins, which is where the one before it ends
            for part in range(parts - 1):
                self.part_ends[part] = self.part_ends[part + 1]
            self.part_ends[parts - 1] = hi - lo
        return parts

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def split_level(self, lo: cython.Py_ssize_t, hi: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Make one part for each node with enough points, and one for all others."""
        column: cython.Py_ssize_t = self.cut_column
        level_offset: cython.Py_ssize_t = self.trees[column, 0] + self.cut_level * self.places[column, 2]
        i: cython.Py_ssize_t = lo
        position: cython.Py_ssize_t
        part: cython.Py_ssize_t
        begin: cython.Py_ssize_t
        node: cython.int
        parts: cython.Py_ssize_t = 1
        self.part_ends[0] = 0
        while i < hi:
            begin = i
            node = self.nodes[level_offset + self.sorted_codes[column, i]]
            while i < hi and self.nodes[level_offset + self.sorted_codes[column, i]] == node:
                i += 1
            part = 0
            if i - begin >= self.min_part:
                part = parts
                parts += 1
                self.part_ends[part] = 0
            self.part_ends[part] += i - begin
            for position in range(begin, i):
                self.part_of[self.column_order[column, position]] = part
        return parts

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def push_parts(self, top: cython.Py_ssize_t, lo: cython.Py_ssize_t, parts: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Put the parts on the stack, so that the end nearer to the last point placed is taken first."""
        i: cython.Py_ssize_t
        part: cython.Py_ssize_t
        begin: cython.Py_ssize_t
        forward: cython.bint = True
        if self.placed_count > 0:
            i = 1 if self.part_ends[0] == 0 else 0  # the part of small nodes may be empty
            begin = self.part_ends[0] if i else 0
            forward = self.measure_box_distance(lo + begin, lo + self.part_ends[i]) <= self.measure_box_distance(
                lo + self.part_ends[parts - 2], lo + self.part_ends[parts - 1]
            )
        for i in range(parts):
            part = parts - 1 - i if forward else i
            begin = self.part_ends[part - 1] if part > 0 else 0
            if self.part_ends[part] > begin:
                self.stack[top, 0] = lo + begin
                self.stack[top, 1] = lo + self.part_ends[part]
                top += 1
        return top

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def measure_box_distance(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.double:
        """Return the distance of the last point placed from the box of the points begin..end-1."""
        column: cython.Py_ssize_t
        point: cython.int = self.order[self.placed_count - 1]
        code: cython.int
        total: cython.double = 0.0
        for column in range(self.columns):
            code = self.codes[point, column]
            if code < self.sorted_codes[column, begin]:
                total += compute_span(self.spans, self.places, column, code, self.sorted_codes[column, begin])
            elif code > self.sorted_codes[column, end - 1]:
                total += compute_span(self.spans, self.places, column, self.sorted_codes[column, end - 1], code)
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def place_points(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Place the points begin..end-1 next: along a chain, or where they are too many in order of their widest column."""
        i: cython.Py_ssize_t
        column: cython.Py_ssize_t
        nearest: cython.Py_ssize_t
        point: cython.int
        widest: cython.Py_ssize_t = 0
        span: cython.double
        widest_span: cython.double = -1.0
        for column in range(self.columns):
            span = compute_span(
                self.spans, self.places, column, self.sorted_codes[column, begin], self.sorted_codes[column, end - 1]
            )
            if span > widest_span:
                widest_span = span
                widest = column
        for i in range(begin, end):
            if end - begin <= self.max_chain and widest_span > 0.0 and self.placed_count > 0:
                nearest = self.find_nearest_point(widest, i, end)
                point = self.column_order[widest, nearest]
                self.column_order[widest, nearest] = self.column_order[widest, i]
                self.column_order[widest, i] = point
            self.order[self.placed_count] = self.column_order[widest, i]
            self.placed_count += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_nearest_point(
        self, ordered: cython.Py_ssize_t, begin: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Return the place, in a column's order from begin to end - 1, of the point nearest to the last one placed."""
        i: cython.Py_ssize_t
        column: cython.Py_ssize_t
        point: cython.int = self.order[self.placed_count - 1]
        other: cython.int
        nearest: cython.Py_ssize_t = begin
        distance: cython.double
        least_distance: cython.double = LARGE
        for i in range(begin, end):
            other = self.column_order[ordered, i]
            distance = 0.0
            for column in range(self.columns):
                distance += measure_distance(
                    self.spans, self.places, column, self.codes[point, column], self.codes[other, column]
                )
                if distance >= least_distance:
                    break
            if distance < least_distance:
                least_distance = distance
                nearest = i
                if distance <= 0.0:
                    break
        return nearest


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
def worth(saving: cython.double, cost: cython.double) -> cython.double:
    """Return a number that grows as saving / cost ** (3/4): of several powers tried the best, and it needs no root."""
    return saving * saving * saving * saving / (cost * cost * cost)
