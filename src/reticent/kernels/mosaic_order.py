# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, language_level=3
"""An order of points in which neighbours are near in every column: the leaves of a tree of cuts, from left to right.

Each cut is the one that saves most loss for the information it spends: before a code, one node of a hierarchy against the
rest, or all nodes of a level with enough points at once.  Only parts of at least `least` points save anything: fewer cannot
be a group.  Of the parts the one nearer to the last point placed comes first, as in a reflected code, and the points of a
leaf follow a chain of nearest neighbours.  A column of 100,000 values costs no more than one of a hundred.
"""

import cython

LARGE = cython.declare(cython.double, 1e300)


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def span(
    spans: cython.double[::1], places: cython.longlong[:, ::1], j: cython.Py_ssize_t, lo: cython.int, hi: cython.int
) -> cython.double:
    """Weighted loss of column j over the codes lo..hi, see `mosaic_segment.span`."""
    level: cython.Py_ssize_t
    at: cython.Py_ssize_t
    if places[j, 0] == 0:
        return spans[places[j, 1] + lo * places[j, 2] + hi]
    if lo == hi:
        return 0.0
    if places[j, 0] == 1:
        if hi == places[j, 3]:
            return spans[places[j, 1] + hi]
        return spans[places[j, 1] + hi] - spans[places[j, 1] + lo]
    for level in range(places[j, 3]):
        at = places[j, 1] + 2 * level * places[j, 2]
        if spans[at + lo] == spans[at + hi]:
            return spans[at + places[j, 2] + lo]
    return 0.0


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def apart(
    spans: cython.double[::1], places: cython.longlong[:, ::1], j: cython.Py_ssize_t, a: cython.int, b: cython.int
) -> cython.double:
    if a <= b:
        return span(spans, places, j, a, b)
    return span(spans, places, j, b, a)


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
    xlogx: cython.double[::1]
    by: cython.int[:, ::1]
    code: cython.int[:, ::1]
    part: cython.int[::1]
    spare: cython.int[:, ::1]
    count: cython.longlong[::1]
    stack: cython.longlong[:, ::1]
    out: cython.int[::1]
    scale: cython.double[::1]
    d: cython.Py_ssize_t
    least: cython.Py_ssize_t
    leaf: cython.Py_ssize_t
    chained: cython.Py_ssize_t
    placed: cython.Py_ssize_t
    noise: cython.double
    seed: cython.longlong
    # the best cut of a node: column, kind (0 prefix, 1 one run, 2 all runs), level, first and last + 1 place
    column: cython.Py_ssize_t
    kind: cython.Py_ssize_t
    level: cython.Py_ssize_t
    begin: cython.Py_ssize_t
    end: cython.Py_ssize_t
    score: cython.double

    def __init__(self, points, space, limits, work, noise):
        """points = (codes, the points in order of each column, their codes in that order); space = (spans, places, nodes,
        trees), with 1 in the third column of `trees` for a hierarchy; limits = (least points of a part that saves, points of a
        leaf, most points of a chain); work = (x log x, part, spare, count, stack, out); noise = (factor of each column, noise
        of each column at each cut, seed).
        """
        self.codes, self.by, self.code = points
        self.spans, self.places, self.nodes, self.trees = space
        self.least, self.leaf, self.chained = limits
        self.xlogx, self.part, self.spare, self.count, self.stack, self.out = work
        self.scale, self.noise, self.seed = noise
        self.d = points[0].shape[1]
        self.placed = 0

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
                self.score = 0.0
                if hi - lo > self.leaf:
                    self.choose(lo, hi)
                if self.score <= 0.0:
                    self.place(lo, hi)
                    continue
                parts = self.split(lo, hi)
                top = self.push(top, lo, parts)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def choose(self, lo: cython.Py_ssize_t, hi: cython.Py_ssize_t) -> cython.int:
        """The best cut of the points lo..hi-1."""
        j: cython.Py_ssize_t
        level: cython.Py_ssize_t
        whole: cython.double
        factor: cython.double
        for j in range(self.d):
            whole = span(self.spans, self.places, j, self.code[j, lo], self.code[j, hi - 1])
            if whole <= 0.0:
                continue
            factor = self.scale[j]
            if self.noise > 0.0:
                self.seed = (self.seed * 48271) % 2147483647
                factor *= 1.0 + self.noise * (self.seed / 2147483647.0)
            self.prefixes(j, lo, hi, whole, factor)
            for level in range(self.trees[j, 1]):
                self.runs(j, level, lo, hi, whole, factor)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def prefixes(
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
        a: cython.int = self.code[j, lo]
        b: cython.int = self.code[j, hi - 1]
        saved: cython.double
        for i in range(lo + self.least, hi - self.least + 1):
            if self.code[j, i - 1] == self.code[j, i]:
                continue
            saved = (whole - span(self.spans, self.places, j, a, self.code[j, i - 1])) * (i - lo)
            saved += (whole - span(self.spans, self.places, j, self.code[j, i], b)) * (hi - i)
            saved *= factor
            if saved <= 0.0:
                continue
            saved = worth(saved, self.xlogx[n] - self.xlogx[i - lo] - self.xlogx[hi - i])
            if saved > self.score:
                self.score = saved
                self.column = j
                self.kind = 0
                self.begin = lo
                self.end = i
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def runs(
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
        spent: cython.double = self.xlogx[n]
        while i < hi:
            begin = i
            node = self.nodes[at + self.code[j, i]]
            i += 1
            while i < hi and self.nodes[at + self.code[j, i]] == node:
                i += 1
            if i - begin < self.least:
                rest += i - begin
                continue
            if i - begin == n:
                return 0
            saved = whole - span(self.spans, self.places, j, self.code[j, begin], self.code[j, i - 1])
            saved *= factor * (i - begin)
            total += saved
            spent -= self.xlogx[i - begin]
            large += 1
            saved = worth(saved, self.xlogx[n] - self.xlogx[i - begin] - self.xlogx[n - i + begin])
            if saved > self.score and n - i + begin >= self.least:
                self.score = saved
                self.column = j
                self.kind = 1
                self.begin = begin
                self.end = i
        spent -= self.xlogx[rest]
        if self.trees[j, 2] and large > 1 and worth(total, spent) > self.score:
            self.score = worth(total, spent)
            self.column = j
            self.kind = 2
            self.level = level
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def split(self, lo: cython.Py_ssize_t, hi: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Part the points by the chosen cut, in every column's order; the number of parts, count[p] is where part p ends."""
        j: cython.Py_ssize_t = self.column
        i: cython.Py_ssize_t
        t: cython.Py_ssize_t
        p: cython.Py_ssize_t
        u: cython.int
        parts: cython.Py_ssize_t = 2
        if self.kind < 2:
            for i in range(lo, hi):
                self.part[self.by[j, i]] = 0 if self.begin <= i and i < self.end else 1
            self.count[0] = self.end - self.begin
            self.count[1] = hi - lo - self.count[0]
        else:
            parts = self.split_level(lo, hi)
        for p in range(1, parts):
            self.count[p] += self.count[p - 1]
        for j in range(self.d):
            for i in range(hi - 1, lo - 1, -1):
                u = self.by[j, i]
                p = self.part[u]
                self.count[p] -= 1
                t = self.count[p]
                self.spare[0, t] = u
                self.spare[1, t] = self.code[j, i]
            for i in range(lo, hi):
                self.by[j, i] = self.spare[0, i - lo]
                self.code[j, i] = self.spare[1, i - lo]
            # each count has come down to where its part begins, which is where the one before it ends
            for p in range(parts - 1):
                self.count[p] = self.count[p + 1]
            self.count[parts - 1] = hi - lo
        return parts

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def split_level(self, lo: cython.Py_ssize_t, hi: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """One part for each node with enough points, and one for all others."""
        j: cython.Py_ssize_t = self.column
        at: cython.Py_ssize_t = self.trees[j, 0] + self.level * self.places[j, 2]
        i: cython.Py_ssize_t = lo
        t: cython.Py_ssize_t
        p: cython.Py_ssize_t
        begin: cython.Py_ssize_t
        node: cython.int
        parts: cython.Py_ssize_t = 1
        self.count[0] = 0
        while i < hi:
            begin = i
            node = self.nodes[at + self.code[j, i]]
            while i < hi and self.nodes[at + self.code[j, i]] == node:
                i += 1
            p = 0
            if i - begin >= self.least:
                p = parts
                parts += 1
                self.count[p] = 0
            self.count[p] += i - begin
            for t in range(begin, i):
                self.part[self.by[j, t]] = p
        return parts

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def push(self, top: cython.Py_ssize_t, lo: cython.Py_ssize_t, parts: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Put the parts on the stack, so that the end nearer to the last point placed is taken first."""
        p: cython.Py_ssize_t
        q: cython.Py_ssize_t
        begin: cython.Py_ssize_t
        forward: cython.bint = True
        if self.placed > 0:
            p = 1 if self.count[0] == 0 else 0  # the part of small nodes may be empty
            begin = self.count[0] if p else 0
            forward = self.distance(lo + begin, lo + self.count[p]) <= self.distance(
                lo + self.count[parts - 2], lo + self.count[parts - 1]
            )
        for p in range(parts):
            q = parts - 1 - p if forward else p
            begin = self.count[q - 1] if q > 0 else 0
            if self.count[q] > begin:
                self.stack[top, 0] = lo + begin
                self.stack[top, 1] = lo + self.count[q]
                top += 1
        return top

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def distance(self, lo: cython.Py_ssize_t, hi: cython.Py_ssize_t) -> cython.double:
        """From the last point placed to the box of the points lo..hi-1."""
        j: cython.Py_ssize_t
        u: cython.int = self.out[self.placed - 1]
        c: cython.int
        total: cython.double = 0.0
        for j in range(self.d):
            c = self.codes[u, j]
            if c < self.code[j, lo]:
                total += span(self.spans, self.places, j, c, self.code[j, lo])
            elif c > self.code[j, hi - 1]:
                total += span(self.spans, self.places, j, self.code[j, hi - 1], c)
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def place(self, lo: cython.Py_ssize_t, hi: cython.Py_ssize_t) -> cython.int:
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
        for j in range(self.d):
            far = span(self.spans, self.places, j, self.code[j, lo], self.code[j, hi - 1])
            if far > most:
                most = far
                wide = j
        for i in range(lo, hi):
            if hi - lo <= self.chained and most > 0.0 and self.placed > 0:
                u = self.out[self.placed - 1]
                most = LARGE
                near = i
                for q in range(i, hi):
                    v = self.by[wide, q]
                    far = 0.0
                    for j in range(self.d):
                        far += apart(self.spans, self.places, j, self.codes[u, j], self.codes[v, j])
                        if far >= most:
                            break
                    if far < most:
                        most = far
                        near = q
                        if far <= 0.0:
                            break
                v = self.by[wide, near]
                self.by[wide, near] = self.by[wide, i]
                self.by[wide, i] = v
                most = 1.0
            self.out[self.placed] = self.by[wide, i]
            self.placed += 1
        return 0
