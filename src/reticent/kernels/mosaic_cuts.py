# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, language_level=3
"""Quota cuts: a region is cut in two wherever both parts can keep the promise, by taking quotas of each value.

A region is a list of items (cell, rows of it).  A cut takes the rows before a code of one column, or only those after it, or
those at one code; where a value would then break its cap on either side, its quota is moved within the bounds of both.
At most one cell of each value is divided by a cut.  `resolve` pools near groups and cuts the pool anew.

`Cutter` holds the arrays of one worker, so that no function needs thirty arguments; it is the one kernel with a state.
The promise is judged by integers (`kept`); doubles guide the search, and judge only what the orchestrator checks again.
"""

import cython
import numpy as np
from cython.cimports.libc.math import log

LARGE = cython.declare(cython.double, 1e300)
BEFORE = cython.declare(cython.int, 1)
AFTER = cython.declare(cython.int, 2)
BALANCED = cython.declare(cython.int, 3)
ONE = cython.declare(cython.int, 4)
OFTEN = cython.declare(cython.longlong, 2000)
SHARES = cython.declare(cython.longlong, 1024)


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def chance(state: cython.longlong) -> cython.longlong:
    return (state * 48271) % 2147483647


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def most(f: cython.double, s: cython.longlong) -> cython.longlong:
    return cython.cast(cython.longlong, f * s)


@cython.cclass
class Cutter:
    codes: cython.int[:, ::1]
    sens: cython.int[::1]
    spans: cython.double[::1]
    places: cython.longlong[:, ::1]
    caps: cython.longlong[:, ::1]
    rate: cython.double[:, ::1]
    least: cython.longlong[::1]
    limits: cython.double[::1]
    edges: cython.char[:, ::1]
    nodes: cython.int[::1]
    trees: cython.longlong[:, ::1]
    d: cython.Py_ssize_t
    m: cython.Py_ssize_t
    capped: cython.bint
    # the region at hand
    n: cython.longlong
    whole: cython.double
    mv: cython.Py_ssize_t
    floor: cython.longlong
    pv: cython.int[::1]
    h: cython.longlong[::1]
    before: cython.longlong[::1]
    inside: cython.longlong[::1]
    within: cython.longlong
    pick: cython.int[::1]
    picked: cython.Py_ssize_t
    subs: cython.int[:, :, ::1]
    deep: cython.Py_ssize_t
    lo: cython.longlong[::1]
    up: cython.longlong[::1]
    x: cython.longlong[::1]
    at: cython.longlong[::1]
    begin: cython.longlong[::1]
    pieces: cython.longlong[::1]
    y: cython.double[::1]
    spent: cython.double
    price: cython.double
    parts: cython.longlong[:, ::1]
    box: cython.int[:, ::1]
    boxes: cython.int[:, ::1]
    top: cython.double[:, ::1]
    # buffers
    cell: cython.int[::1]
    qty: cython.int[::1]
    order: cython.int[::1]
    bucket: cython.int[::1]
    own: cython.int[:, ::1]
    take: cython.int[::1]
    tc: cython.int[:, ::1]
    stack: cython.longlong[::1]
    outc: cython.int[::1]
    outq: cython.int[::1]
    oute: cython.longlong[::1]
    outl: cython.double[::1]
    outn: cython.longlong[::1]
    groups: cython.Py_ssize_t
    seed: cython.longlong
    noise: cython.double
    tries: cython.Py_ssize_t
    bits: cython.double
    bit: cython.double[::1]
    favour: cython.double[::1]
    # block storage
    logc: cython.int[::1]
    logq: cython.int[::1]
    gs: cython.longlong[:, ::1]
    gl: cython.double[::1]
    gbox: cython.int[:, :, ::1]
    mate: cython.int[::1]
    stop: cython.char[::1]

    def __init__(self, items, space, rule, sizes):
        """items = (codes, values); space = (spans, places); rule as `reticent.methods.mosaic.kernel_tables` makes it;
        sizes = (rows of the largest region, items and groups of the largest block)."""
        self.codes, self.sens = items
        self.spans, self.places, self.nodes, self.trees = space
        self.caps, self.rate, self.least, self.limits, self.edges = rule
        rows, log_size, groups = sizes
        d, m = items[0].shape[1], len(rule[0])
        self.d, self.m = d, m
        self.capped = self.least[4] == 0 and self.least[5] == 0 and self.limits[1] == 0
        self.floor = max(int(rule[2][0]), 1)
        (self.h, self.before, self.inside, self.lo, self.up, self.x, self.at, self.begin, self.pieces) = np.zeros(
            (9, m), np.int64
        )
        (self.cell, self.qty, self.order, self.take, self.outc, self.outq, self.pick) = np.zeros((7, rows), np.int32)
        self.own, self.tc = np.zeros((2, 2, rows), np.int32)
        self.stack, self.oute, self.outn = np.zeros((3, rows + 2), np.int64)
        self.logc, self.logq = np.zeros((2, log_size), np.int32)
        self.y, self.outl, self.gl = np.zeros(m), np.zeros(rows + 2), np.zeros(groups)
        self.pv, self.mate = np.zeros(m, np.int32), np.zeros(64, np.int32)
        self.parts, self.top, self.gs = (
            np.zeros((2, m + 1), np.int64),
            np.zeros((16, 7)),
            np.zeros((groups, 3), np.int64),
        )
        self.box, self.boxes = np.zeros((2, d), np.int32), np.zeros((4, d), np.int32)
        self.subs, self.gbox = np.zeros((9, 2, d), np.int32), np.zeros((groups, 2, d), np.int32)
        self.bucket = np.zeros(min(int(space[1][:, 2].max(initial=0)), 4 * rows + 64) + 64, np.int32)
        self.deep, self.picked, self.within = 0, 0, 0
        self.seed, self.noise, self.tries, self.groups = 1, 0.0, 4, 0
        self.spent, self.price = 0.0, 0.0
        self.stop = np.zeros(1, np.int8)
        self.price_bits(0.0)

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def span(self, j: cython.Py_ssize_t, lo: cython.int, hi: cython.int) -> cython.double:
        level: cython.Py_ssize_t
        at: cython.Py_ssize_t
        if self.places[j, 0] == 0:
            return self.spans[self.places[j, 1] + lo * self.places[j, 2] + hi]
        if lo == hi:
            return 0.0
        if self.places[j, 0] == 1:
            if hi == self.places[j, 3]:  # the null is in no range
                return self.spans[self.places[j, 1] + hi]
            return self.spans[self.places[j, 1] + hi] - self.spans[self.places[j, 1] + lo]
        for level in range(self.places[j, 3]):
            at = self.places[j, 1] + 2 * level * self.places[j, 2]
            if self.spans[at + lo] == self.spans[at + hi]:
                return self.spans[at + self.places[j, 2] + lo]
        return 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def kept(self, part: cython.Py_ssize_t) -> cython.bint:
        """The promise on parts[part], by integers: size, distinct values, upper and lower caps."""
        v: cython.Py_ssize_t
        distinct: cython.longlong = 0
        count: cython.longlong
        size: cython.longlong = self.parts[part, self.m]
        if size < self.least[0]:
            return False
        for v in range(self.m):
            count = self.parts[part, v]
            if count > 0:
                if v != self.least[3]:
                    distinct += 1
                if count * self.caps[v, 1] > self.caps[v, 0] * size:
                    return False
            if count * self.caps[v, 3] < self.caps[v, 2] * size and (count > 0 or self.least[2] == 0):
                return False
        if distinct < self.least[1]:
            return False
        return self.capped or self.near(part, size)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def near(self, part: cython.Py_ssize_t, size: cython.longlong) -> cython.bint:
        """What caps cannot say, by doubles: closeness, entropy, recursive diversity.  Checked again outside."""
        v: cython.Py_ssize_t
        level: cython.Py_ssize_t
        run: cython.double
        below: cython.double
        here: cython.double
        total: cython.double = 0.0
        count: cython.longlong
        if self.limits[1] > 0.0:
            for v in range(self.m):
                count = self.parts[part, v]
                if count > 0:
                    total -= count * log(cython.cast(cython.double, count) / size)
            if total < self.limits[1] * size:
                return False
        if self.least[5] > 0 and not self.recursive(part):
            return False
        total = 0.0
        if self.least[4] == 1:
            for v in range(self.m):
                run = self.parts[part, v] - self.rate[2, v] * size
                if run > 0.0:
                    total += run
        elif self.least[4] == 2:
            run = 0.0
            for v in range(self.m):
                run += self.parts[part, v] - self.rate[2, v] * size
                total += abs(run)
        elif self.least[4] == 3:
            below = 0.0
            for level in range(self.edges.shape[0]):
                here = 0.0
                run = 0.0
                for v in range(self.m):
                    if self.edges[level, v] and v > 0:
                        here += abs(run)
                        run = 0.0
                    run += self.parts[part, v] - self.rate[2, v] * size
                here += abs(run)
                if level > 0:
                    total += level * (below - here)
                below = here
        return total <= self.limits[0] * size

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def recursive(self, part: cython.Py_ssize_t) -> cython.bint:
        """r_1 <= c (r_l + ... + r_m), by taking the l - 1 greatest counts off one after the other."""
        v: cython.Py_ssize_t
        first: cython.longlong = 0
        top: cython.longlong
        bound: cython.longlong = 9223372036854775807
        ties: cython.longlong
        left: cython.longlong = self.parts[part, self.m]
        taken: cython.longlong = 0
        while taken < self.least[5] - 1:
            top = 0
            ties = 0
            for v in range(self.m):
                if self.parts[part, v] < bound:
                    if self.parts[part, v] > top:
                        top = self.parts[part, v]
                        ties = 1
                    elif self.parts[part, v] == top:
                        ties += 1
            if top == 0:
                return False
            if first == 0:
                first = top
            while ties > 0:
                ties -= 1
                if taken < self.least[5] - 1:
                    left -= top
                    taken += 1
            bound = top
        return left > 0 and first <= self.limits[2] * left

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bounds(self, s: cython.longlong, side: cython.int) -> cython.longlong:
        """Between how many and how many rows of each value a part of s rows may take; the sum that may be taken,
        or -1 where no part of s rows is possible.  side 0: only rows before the cut, 1: only after it, 2: any."""
        i: cython.Py_ssize_t
        v: cython.int
        h: cython.longlong
        up: cython.longlong
        lo: cython.longlong
        want: cython.longlong
        n: cython.longlong = self.n
        top: cython.longlong = 0
        low: cython.longlong = 0
        bad: cython.bint = False
        for i in range(self.mv):
            v = self.pv[i]
            h = self.h[v]
            want = self.inside[v] - self.before[v] if side == 1 else self.before[v]
            up = most(self.rate[0, v], s)
            if side == 2 and h < up:
                up = h
            if side != 2 and want < up:
                up = want
            lo = h - most(self.rate[0, v], n - s)
            if lo < 0:
                lo = 0
            self.lo[v] = lo
            self.up[v] = up
            if self.rate[1, v] > 0.0:
                self.floors(v, s, want)
            if self.lo[v] > self.up[v]:
                bad = True
            top += self.up[v]
            low += self.lo[v]
        if top >= s and (bad or low > s):
            return -1
        return top

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def floors(self, v: cython.int, s: cython.longlong, want: cython.longlong) -> cython.int:
        """Narrow the bounds of value v by its lower cap on both sides; where only present values are bound, it may be
        left out of one side altogether."""
        f: cython.double = self.rate[1, v]
        h: cython.longlong = self.h[v]
        rest: cython.longlong = most(f, self.n - s) + 1
        lo: cython.longlong = most(f, s) + 1
        up: cython.longlong = h - rest
        if lo < self.lo[v]:
            lo = self.lo[v]
        if up > self.up[v]:
            up = self.up[v]
        if self.least[2] == 1:
            if self.lo[v] == 0 and h >= rest and (lo <= 1 or lo > up or want < lo):
                self.lo[v] = 0
                self.up[v] = up if lo <= 1 and up > 0 else 0
                return 0
            if lo > up and self.up[v] >= h and h > most(f, s):
                self.lo[v] = h
                self.up[v] = h
                return 0
        self.lo[v] = lo
        self.up[v] = up
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def largest(self, s: cython.longlong, side: cython.int) -> cython.longlong:
        """The largest part of at most s rows on that side; 0 where there is none."""
        top: cython.longlong
        if s > self.n - self.floor:
            s = self.n - self.floor
        if not self.capped:
            return self.poured(side)
        while s >= self.floor:
            top = self.bounds(s, side)
            if top >= s:
                return s
            if top < 0:
                s -= 1 + s // 8
            else:
                s = top
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fits(self) -> cython.longlong:
        """The size of the part x where both it and the rest keep the promise, else 0."""
        i: cython.Py_ssize_t
        v: cython.int
        s: cython.longlong = 0
        for i in range(self.mv):
            v = self.pv[i]
            self.parts[0, v] = self.x[v]
            self.parts[1, v] = self.h[v] - self.x[v]
            s += self.x[v]
        if s < self.floor or self.n - s < self.floor:
            return 0
        self.parts[0, self.m] = s
        self.parts[1, self.m] = self.n - s
        if self.kept(0) and self.kept(1):
            self.spent = self.strain()
            return s
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def strain(self) -> cython.double:
        """How far both parts together are from the table's proportions, beyond the region itself, priced as loss."""
        i: cython.Py_ssize_t
        v: cython.int
        part: cython.Py_ssize_t
        over: cython.double
        total: cython.double = 0.0
        for i in range(self.mv):
            v = self.pv[i]
            for part in range(2):
                over = self.parts[part, v] - self.parts[part, self.m] * self.rate[2, v]
                if over > 0.0:
                    total += over
            over = self.h[v] - self.n * self.rate[2, v]
            if over > 0.0:
                total -= over
        return total * self.price

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fixed(self) -> cython.int:
        """The composition x is the quota."""
        i: cython.Py_ssize_t
        v: cython.int
        for i in range(self.mv):
            v = self.pv[i]
            self.lo[v] = self.x[v]
            self.up[v] = self.x[v]
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def excess(self, rest: cython.bint, s: cython.double) -> cython.double:
        """How many of s rows lie above the table's proportions, in the part y or in the rest of the region."""
        i: cython.Py_ssize_t
        v: cython.int
        over: cython.double
        total: cython.double = 0.0
        for i in range(self.mv):
            v = self.pv[i]
            over = (self.h[v] - self.y[v] if rest else self.y[v]) - s * self.rate[2, v]
            if over > 0.0:
                total += over
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def poured(self, side: cython.int) -> cython.longlong:
        """Any promise: as many rows of one side as leave both parts near the table's proportions; 0 where none do."""
        turn: cython.Py_ssize_t
        i: cython.Py_ssize_t
        v: cython.int
        near: cython.double = self.limits[3]
        s: cython.longlong
        for turn in range(self.least[6]):
            for i in range(self.mv):
                v = self.pv[i]
                self.y[v] = self.inside[v] - self.before[v] if side == 1 else self.before[v]
            if turn > 0 or self.least[6] == 3:
                self.pour(near)
                near *= self.limits[4]
            for i in range(self.mv):
                v = self.pv[i]
                self.x[v] = cython.cast(cython.longlong, self.y[v] + 1e-9)
            s = self.fits()
            if s > 0:
                self.fixed()
                return s
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pour(self, near: cython.double) -> cython.int:
        """Lessen the part y until neither it nor the rest has more than `near` of its rows in excess."""
        _turn: cython.Py_ssize_t
        i: cython.Py_ssize_t
        v: cython.int
        s: cython.double
        over: cython.double
        short: cython.double
        keep: cython.double
        fine: cython.bint
        for _turn in range(12):
            s = 0.0
            for i in range(self.mv):
                s += self.y[self.pv[i]]
            fine = True
            over = self.excess(False, s)
            if over > near * s:
                fine = False
                keep = near * s / over
                for i in range(self.mv):
                    v = self.pv[i]
                    if self.y[v] > s * self.rate[2, v]:
                        self.y[v] = s * self.rate[2, v] + keep * (self.y[v] - s * self.rate[2, v])
                s -= over * (1.0 - keep)
            over = self.excess(True, self.n - s) - near * (self.n - s)
            if over > 0.0:
                fine = False
                short = 0.0
                for i in range(self.mv):
                    v = self.pv[i]
                    keep = (self.n - s) * self.rate[2, v] - (self.h[v] - self.y[v])
                    if keep > self.y[v]:
                        keep = self.y[v]
                    if keep > 0.0:
                        short += keep
                if short <= 0.0:
                    return 0
                over = over / short if over < short else 1.0
                for i in range(self.mv):
                    v = self.pv[i]
                    keep = (self.n - s) * self.rate[2, v] - (self.h[v] - self.y[v])
                    if keep > self.y[v]:
                        keep = self.y[v]
                    if keep > 0.0:
                        self.y[v] -= over * keep
            if fine:
                break
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def drawn(self, s: cython.longlong) -> cython.longlong:
        """Any promise: the composition before the cut, drawn towards the table's as little as both sides need."""
        _turn: cython.Py_ssize_t
        i: cython.Py_ssize_t
        v: cython.int
        near: cython.double = self.limits[3]
        t: cython.longlong
        if s < self.floor or self.n - s < self.floor:
            return 0
        for i in range(self.mv):
            self.x[self.pv[i]] = self.before[self.pv[i]]
        t = self.fits()
        for _turn in range(self.least[6]):
            if t > 0:
                self.fixed()
                return t
            for i in range(self.mv):
                self.y[self.pv[i]] = self.before[self.pv[i]]
            self.draw(s, near)
            near *= self.limits[4]
            for i in range(self.mv):
                v = self.pv[i]
                t = cython.cast(cython.longlong, self.y[v] + 1e-9)
                if self.y[v] < s * self.rate[2, v] and t < self.h[v] and self.y[v] > t + 1e-9:
                    t += 1
                self.x[v] = t
            t = self.fits()
        if t > 0:
            self.fixed()
        return t

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def draw(self, s: cython.double, near: cython.double) -> cython.int:
        """Project the part y, then the rest, in turns: s rows stay s rows."""
        _turn: cython.Py_ssize_t
        half: cython.int
        i: cython.Py_ssize_t
        v: cython.int
        size: cython.double
        z: cython.double
        even: cython.double
        over: cython.double
        short: cython.double
        moved: cython.double
        fine: cython.bint
        for _turn in range(5):
            fine = True
            for half in range(2):
                size = s if half == 0 else self.n - s
                over = self.excess(half == 1, size)
                if over <= near * size:
                    continue
                fine = False
                moved = over - near * size
                short = 0.0
                for i in range(self.mv):
                    v = self.pv[i]
                    z = size * self.rate[2, v]
                    if z > self.h[v]:
                        z = self.h[v]
                    z -= self.y[v] if half == 0 else self.h[v] - self.y[v]
                    if z > 0.0:
                        short += z
                if short <= 0.0:
                    return 0
                if moved > short:
                    moved = short
                for i in range(self.mv):
                    v = self.pv[i]
                    even = size * self.rate[2, v]
                    z = self.y[v] if half == 0 else self.h[v] - self.y[v]
                    if z > even:
                        z -= (z - even) * moved / over
                    else:
                        if even > self.h[v]:
                            even = self.h[v]
                        if even > z:
                            z += (even - z) * moved / short
                    self.y[v] = z if half == 0 else self.h[v] - z
            if fine:
                break
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def survey(self, a: cython.Py_ssize_t, b: cython.Py_ssize_t) -> cython.double:
        """Box, values and size of the region; its loss per row."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        c: cython.int
        v: cython.int
        u: cython.int
        for j in range(self.m):
            self.h[j] = 0
            self.pieces[j] = 0
            self.parts[0, j] = 0
            self.parts[1, j] = 0
        for j in range(self.d):
            self.box[0, j] = self.codes[self.cell[a], j]
            self.box[1, j] = self.box[0, j]
        self.n = 0
        self.mv = 0
        for i in range(a, b):
            u = self.cell[i]
            v = self.sens[u]
            if self.h[v] == 0:
                self.pv[self.mv] = v
                self.mv += 1
            self.h[v] += self.qty[i]
            self.pieces[v] += 1
            self.n += self.qty[i]
            for j in range(self.d):
                c = self.codes[u, j]
                if c < self.box[0, j]:
                    self.box[0, j] = c
                elif c > self.box[1, j]:
                    self.box[1, j] = c
        self.whole = 0.0
        for j in range(self.d):
            self.whole += self.span(j, self.box[0, j], self.box[1, j])
        return self.whole

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sort_items(self, j: cython.Py_ssize_t) -> cython.int:
        """order[:picked] = the picked items by ascending code of column j, stable."""
        i: cython.Py_ssize_t
        g: cython.Py_ssize_t
        n: cython.Py_ssize_t = self.picked
        lo: cython.int = self.box[0, j]
        hi: cython.int = self.box[1, j]
        c: cython.int
        t: cython.int
        o: cython.int
        run: cython.int = 0
        if hi - lo < 4 * n + 64:
            for i in range(hi - lo + 1):
                self.bucket[i] = 0
            for i in range(n):
                self.bucket[self.codes[self.cell[self.pick[i]], j] - lo] += 1
            for i in range(hi - lo + 1):
                t = self.bucket[i]
                self.bucket[i] = run
                run += t
            for i in range(n):
                c = self.codes[self.cell[self.pick[i]], j] - lo
                self.order[self.bucket[c]] = self.pick[i]
                self.bucket[c] += 1
            return 0
        for i in range(n):
            self.order[i] = self.pick[i]
        g = 1
        while g < n // 9:
            g = 3 * g + 1
        while g > 0:
            for i in range(g, n):
                t = self.order[i]
                c = self.codes[self.cell[t], j]
                run = i
                while run >= g:
                    o = self.order[run - g]
                    if self.codes[self.cell[o], j] < c or (self.codes[self.cell[o], j] == c and o < t):
                        break
                    self.order[run] = o
                    run -= g
                self.order[run] = t
            g //= 3
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pick_inside(self, a: cython.Py_ssize_t, b: cython.Py_ssize_t, stage: cython.Py_ssize_t) -> cython.int:
        """The items a..b inside the box of a stage, and how many rows of each value they hold."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        c: cython.int
        ok: cython.bint
        for i in range(self.mv):
            self.inside[self.pv[i]] = 0
        self.picked = 0
        self.within = 0
        for i in range(a, b):
            ok = True
            if stage > 0:
                for j in range(self.d):
                    c = self.codes[self.cell[i], j]
                    if c < self.subs[stage, 0, j] or c > self.subs[stage, 1, j]:
                        ok = False
                        break
            if ok:
                self.pick[self.picked] = i
                self.picked += 1
                self.inside[self.sens[self.cell[i]]] += self.qty[i]
                self.within += self.qty[i]
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def narrow(self, a: cython.Py_ssize_t, b: cython.Py_ssize_t) -> cython.int:
        """All cuts of the region, then of the best box found so far, column upon column, for as long as that gains.

        Taking rows from a box that is narrow in several columns strains the promise once, not once for each column.
        """
        stage: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        kind: cython.int
        c: cython.int
        last: cython.int
        for j in range(self.d):
            self.subs[0, 0, j] = self.box[0, j]
            self.subs[0, 1, j] = self.box[1, j]
        while True:
            self.pick_inside(a, b, stage)
            for j in range(self.d):
                if self.span(j, self.subs[stage, 0, j], self.subs[stage, 1, j]) > 0.0:
                    self.sort_items(j)
                    self.weigh(j, stage)
            if stage == self.deep:
                break
            for i in range(self.tries):
                if self.top[i, 0] <= -LARGE:
                    return 0
                if self.top[i, 2] != BALANCED:
                    break
            else:
                break
            if self.top[i, 5] != stage:  # the last stage gained nothing
                break
            kind = cython.cast(cython.int, self.top[i, 2])
            c = cython.cast(cython.int, self.top[i, 3])
            last = cython.cast(cython.int, self.top[i, 6])
            for j in range(self.d):
                self.subs[stage + 1, 0, j] = self.subs[stage, 0, j]
                self.subs[stage + 1, 1, j] = self.subs[stage, 1, j]
            j = cython.cast(cython.Py_ssize_t, self.top[i, 1])
            stage += 1
            if kind != BEFORE:
                self.subs[stage, 0, j] = c if kind == ONE else c + 1
            if kind != AFTER:
                self.subs[stage, 1, j] = last
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def worth(self, j: cython.Py_ssize_t, s: cython.longlong) -> cython.double:
        """What a gain counts for: a cut of s rows spends so many of the log2(rows / least group) bits that a region has.

        Cuts of a few rows spend few, which is how a column of fifty values gets its turn beside a number that halves.  Hierarchies
        may be favoured: what is not told apart while a region has enough rows of each value never is.
        """
        return self.bit[(s * SHARES) // self.n] * self.favour[j]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def offer(
        self,
        gain: cython.double,
        j: cython.Py_ssize_t,
        kind: cython.int,
        c: cython.int,
        s: cython.longlong,
        stage: cython.Py_ssize_t,
        last: cython.int,
    ) -> cython.int:
        i: cython.Py_ssize_t = self.tries - 1
        q: cython.Py_ssize_t
        if self.bits > 0.0 and gain > 0.0:
            gain *= self.worth(j, s)
        if self.noise > 0.0:
            self.seed = chance(self.seed)
            gain += abs(gain) * self.noise * (self.seed / 2147483647.0)
        if gain <= self.top[i, 0]:
            return 0
        while i > 0 and self.top[i - 1, 0] < gain:
            for q in range(7):
                self.top[i, q] = self.top[i - 1, q]
            i -= 1
        self.top[i, 0] = gain
        self.top[i, 1] = j
        self.top[i, 2] = kind
        self.top[i, 3] = c
        self.top[i, 4] = s
        self.top[i, 5] = stage
        self.top[i, 6] = last
        return 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def own_lists(self, j: cython.Py_ssize_t) -> cython.int:
        """Each value's items in this order: code and running count."""
        i: cython.Py_ssize_t
        q: cython.Py_ssize_t
        e: cython.Py_ssize_t = 0
        v: cython.int
        for i in range(self.mv):
            v = self.pv[i]
            self.begin[v] = e
            self.at[v] = e
            self.before[v] = 0
            e += self.pieces[v]
        for i in range(self.picked):
            v = self.sens[self.cell[self.order[i]]]
            q = self.at[v]
            self.own[0, q] = self.codes[self.cell[self.order[i]], j]
            self.own[1, q] = self.qty[self.order[i]]
            if q > self.begin[v]:
                self.own[1, q] += self.own[1, q - 1]
            self.at[v] = q + 1
        for i in range(self.mv):
            self.at[self.pv[i]] = self.begin[self.pv[i]]
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def balanced(self, s: cython.longlong) -> cython.longlong:
        """Clamp the composition of the rows before the cut to what both sides may hold; its size, or 0."""
        t: cython.longlong
        y: cython.longlong
        _turn: cython.Py_ssize_t
        q: cython.Py_ssize_t
        v: cython.int
        if not self.capped:  # any promise: x is the composition that fits
            return self.drawn(s)
        for _turn in range(6):
            if s < self.floor or self.n - s < self.floor:
                return 0
            if self.bounds(s, 2) < s:
                return 0
            t = 0
            for q in range(self.mv):
                v = self.pv[q]
                y = self.before[v]
                if y < self.lo[v]:
                    y = self.lo[v]
                if y > self.up[v]:
                    y = self.up[v]
                self.x[v] = y
                t += y
            if t == s:
                return s
            s = t
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self, j: cython.Py_ssize_t, stage: cython.Py_ssize_t) -> cython.int:
        """Estimate the cuts of column j by its own span alone, and offer each."""
        i: cython.Py_ssize_t = 0
        e: cython.Py_ssize_t
        q: cython.Py_ssize_t
        v: cython.int
        c: cython.int
        lo: cython.int = self.subs[stage, 0, j]
        hi: cython.int = self.subs[stage, 1, j]
        after: cython.int
        s: cython.longlong
        before: cython.longlong = 0
        here: cython.longlong
        count: cython.Py_ssize_t = self.picked
        full: cython.double = self.span(j, lo, hi)
        reach: cython.double = self.whole + full  # what a row gains whose span in column j becomes nothing
        gain: cython.double
        for q in range(self.d):
            reach -= self.span(q, self.subs[stage, 0, q], self.subs[stage, 1, q])
        self.own_lists(j)
        while i < count and self.stop[0] == 0:
            c = self.codes[self.cell[self.order[i]], j]
            e = i
            here = 0
            while e < count and self.codes[self.cell[self.order[e]], j] == c:
                v = self.sens[self.cell[self.order[e]]]
                self.before[v] += self.qty[self.order[e]]
                here += self.qty[self.order[e]]
                self.at[v] += 1
                e += 1
            before += here
            if e < count:
                after = self.codes[self.cell[self.order[e]], j]
                if stage == 0:
                    self.weigh_balanced(j, c, after, before)
                gain = reach - self.span(j, lo, c)
                if gain > 0 and before * gain * self.worth(j, before) > self.top[self.tries - 1, 0]:
                    s = self.largest(before, 0)
                    if s > 0:
                        self.offer(s * gain - self.spent, j, BEFORE, c, s, stage, c)
                gain = reach - self.span(j, after, hi)
                if (
                    gain > 0
                    and (self.within - before) * gain * self.worth(j, self.within - before)
                    > self.top[self.tries - 1, 0]
                ):
                    s = self.largest(self.within - before, 1)
                    if s > 0:
                        self.offer(s * gain - self.spent, j, AFTER, c, s, stage, c)
            i = e
        for q in range(self.trees[j, 1]):
            self.weigh_nodes(j, stage, reach, self.trees[j, 0] + q * self.places[j, 2])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh_nodes(
        self, j: cython.Py_ssize_t, stage: cython.Py_ssize_t, reach: cython.double, level: cython.Py_ssize_t
    ) -> cython.int:
        """One node of a hierarchy's level (or one number) against the rest."""
        i: cython.Py_ssize_t = 0
        e: cython.Py_ssize_t
        q: cython.Py_ssize_t
        v: cython.int
        first: cython.int
        last: cython.int
        s: cython.longlong
        here: cython.longlong
        count: cython.Py_ssize_t = self.picked
        gain: cython.double
        while i < count and self.stop[0] == 0:
            first = self.codes[self.cell[self.order[i]], j]
            e = i
            here = 0
            while (
                e < count and self.nodes[level + self.codes[self.cell[self.order[e]], j]] == self.nodes[level + first]
            ):
                here += self.qty[self.order[e]]
                e += 1
            last = self.codes[self.cell[self.order[e - 1]], j]
            gain = reach - self.span(j, first, last)
            if (
                (i > 0 or e < count)
                and here >= self.floor
                and gain > 0
                and here * gain * self.worth(j, here) > self.top[self.tries - 1, 0]
            ):
                for q in range(self.mv):
                    self.before[self.pv[q]] = 0
                for q in range(i, e):
                    v = self.sens[self.cell[self.order[q]]]
                    self.before[v] += self.qty[self.order[q]]
                s = self.largest(here, 0)
                if s > 0:
                    self.offer(s * gain - self.spent, j, ONE, first, s, stage, last)
            i = e
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh_balanced(
        self, j: cython.Py_ssize_t, c: cython.int, after: cython.int, before: cython.longlong
    ) -> cython.int:
        """Estimate the cut after code c whose sides borrow from each other, as far as each value's rows reach."""
        q: cython.Py_ssize_t
        v: cython.int
        lo: cython.int = self.box[0, j]
        hi: cython.int = self.box[1, j]
        left: cython.int = c
        right: cython.int = after
        s: cython.longlong
        t: cython.longlong
        n: cython.longlong = self.n
        full: cython.double = self.span(j, lo, hi)
        gain: cython.double = n * full - before * self.span(j, lo, c) - (n - before) * self.span(j, after, hi)
        if gain * self.worth(j, before) <= self.top[self.tries - 1, 0]:  # what it would gain without borrowing
            return 0
        s = self.balanced(before)
        if s == 0:
            return 0
        for q in range(self.mv):
            v = self.pv[q]
            if self.x[v] > self.before[v]:
                t = self.at[v]
                while self.own[1, t] < self.x[v]:
                    t += 1
                if self.own[0, t] > left:
                    left = self.own[0, t]
            elif self.x[v] < self.before[v]:
                t = self.at[v] - 1
                while t > self.begin[v] and self.own[1, t - 1] > self.x[v]:
                    t -= 1
                if self.own[0, t] < right:
                    right = self.own[0, t]
        gain = n * full - s * self.span(j, lo, left) - (n - s) * self.span(j, right, hi)
        if gain > 0:
            self.offer(gain - self.spent, j, BALANCED, c, s, 0, c)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def quotas(
        self, j: cython.Py_ssize_t, kind: cython.int, c: cython.int, last: cython.int, s: cython.longlong
    ) -> cython.longlong:
        """Bounds of each value for the cut; the rows that may be taken beyond the lower ones."""
        i: cython.Py_ssize_t
        q: cython.Py_ssize_t
        v: cython.int
        x: cython.int
        y: cython.longlong
        for q in range(self.mv):
            v = self.pv[q]
            self.before[v] = 0
            self.x[v] = 0
        for q in range(self.picked):
            i = self.pick[q]
            x = self.codes[self.cell[i], j]
            if (kind == ONE and c <= x <= last) or (kind != ONE and x <= c):
                self.before[self.sens[self.cell[i]]] += self.qty[i]
        if not self.capped:
            if kind == BALANCED:
                y = 0
                for q in range(self.mv):
                    y += self.before[self.pv[q]]
                self.drawn(y)
            else:
                self.poured(1 if kind == AFTER else 0)
            for q in range(self.mv):
                self.x[self.pv[q]] = 0
            return 0
        if kind == BALANCED:
            self.bounds(s, 2)
            for q in range(self.mv):
                v = self.pv[q]
                y = self.before[v]
                if y < self.lo[v]:
                    y = self.lo[v]
                if y > self.up[v]:
                    y = self.up[v]
                self.lo[v] = y
                self.up[v] = y
        elif kind == AFTER:
            self.bounds(s, 1)
        else:
            self.bounds(s, 0)
        y = s
        for q in range(self.mv):
            y -= self.lo[self.pv[q]]
        return y

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def carve(self, a: cython.Py_ssize_t, b: cython.Py_ssize_t, choice: cython.Py_ssize_t) -> cython.double:
        """How many rows of each item the chosen cut takes; the loss of both parts, LARGE where a promise breaks."""
        j: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, self.top[choice, 1])
        kind: cython.int = cython.cast(cython.int, self.top[choice, 2])
        c: cython.int = cython.cast(cython.int, self.top[choice, 3])
        last: cython.int = cython.cast(cython.int, self.top[choice, 6])
        i: cython.Py_ssize_t
        q: cython.Py_ssize_t
        v: cython.int
        w: cython.longlong
        y: cython.longlong
        free: cython.longlong
        need: cython.longlong
        count: cython.Py_ssize_t
        self.pick_inside(a, b, cython.cast(cython.Py_ssize_t, self.top[choice, 5]))
        self.sort_items(j)
        free = self.quotas(j, kind, c, last, cython.cast(cython.longlong, self.top[choice, 4]))
        self.clear_parts()
        count = self.picked
        if count < b - a:
            for i in range(a, b):
                self.take[i - a] = -1
            for q in range(count):
                self.take[self.pick[q] - a] = 0
            for i in range(a, b):
                if self.take[i - a] < 0:
                    self.take[i - a] = 0
                    self.widen(1, self.cell[i], self.sens[self.cell[i]], self.qty[i])
        for q in range(count):
            i = self.order[count - 1 - q] if kind == AFTER else self.order[q]
            v = self.sens[self.cell[i]]
            y = 0
            if kind != ONE or c <= self.codes[self.cell[i], j] <= last:
                y = self.qty[i]
                if y > self.up[v] - self.x[v]:
                    y = self.up[v] - self.x[v]
                need = self.lo[v] - self.x[v]
                if need < 0:
                    need = 0
                if y > need:
                    if y - need > free:
                        y = need + free
                    free -= y - need
                self.x[v] += y
            self.take[i - a] = y
            w = self.qty[i] - y
            if y > 0:
                self.widen(0, self.cell[i], v, y)
            if w > 0:
                self.widen(1, self.cell[i], v, w)
        if not (self.kept(0) and self.kept(1)):
            return LARGE
        return self.parts_loss()

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def widen(self, part: cython.Py_ssize_t, cell: cython.int, v: cython.int, w: cython.longlong) -> cython.int:
        q: cython.Py_ssize_t
        c: cython.int
        self.parts[part, v] += w
        self.parts[part, self.m] += w
        for q in range(self.d):
            c = self.codes[cell, q]
            if c < self.boxes[2 * part, q]:
                self.boxes[2 * part, q] = c
            if c > self.boxes[2 * part + 1, q]:
                self.boxes[2 * part + 1, q] = c
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def solve(self, n0: cython.Py_ssize_t, limit: cython.double) -> cython.double:
        """Cut the items cell[:n0], qty[:n0] until nothing is gained; groups go to outc, outq, oute.  The loss, or LARGE as
        soon as it is beyond the limit, or the flag `stop` is set."""
        depth: cython.Py_ssize_t = 1
        a: cython.Py_ssize_t
        b: cython.Py_ssize_t
        i: cython.Py_ssize_t
        best: cython.Py_ssize_t
        last: cython.Py_ssize_t
        left: cython.Py_ssize_t
        right: cython.Py_ssize_t
        end: cython.Py_ssize_t = 0
        least: cython.double
        whole: cython.double
        loss: cython.double
        total: cython.double = 0.0
        self.groups = 0
        self.stack[0] = 0
        self.stack[1] = n0
        while depth > 0:
            if self.stop[0] != 0:
                return LARGE
            a = self.stack[depth - 1]
            b = self.stack[depth]
            self.survey(a, b)
            best = -1
            if self.whole > 0.0 and self.n >= 2 * self.floor:
                for i in range(self.tries):
                    self.top[i, 0] = -LARGE
                self.narrow(a, b)
                whole = self.whole * self.n * (1.0 - 1e-12)
                least = LARGE
                last = -1
                for i in range(self.tries):
                    if self.top[i, 0] <= -LARGE:
                        break
                    if self.stop[0] != 0:
                        return LARGE
                    loss = self.carve(a, b, i)
                    last = i
                    if loss >= whole:
                        continue
                    if self.price > 0.0:
                        loss += self.strain()
                    if self.bits > 0.0:
                        loss = -(whole - loss) * self.worth(
                            cython.cast(cython.Py_ssize_t, self.top[i, 1]), self.parts[0, self.m]
                        )
                    if loss < least:
                        least = loss
                        best = i
            # a cut divides at most one cell of each value: stop where the buffers could not hold that
            if best < 0 or end + b + self.mv + 1 > self.outc.shape[0]:
                for i in range(a, b):
                    self.outc[end] = self.cell[i]
                    self.outq[end] = self.qty[i]
                    end += 1
                self.outl[self.groups] = self.whole
                self.outn[self.groups] = self.n
                self.groups += 1
                self.oute[self.groups] = end
                total += self.whole * self.n
                if total > limit:
                    return LARGE
                depth -= 1
                continue
            if best != last:
                self.carve(a, b, best)
            left = a
            right = 0
            for i in range(a, b):
                if self.qty[i] > self.take[i - a]:
                    self.tc[0, right] = self.cell[i]
                    self.tc[1, right] = self.qty[i] - self.take[i - a]
                    right += 1
                if self.take[i - a] > 0:
                    self.cell[left] = self.cell[i]
                    self.qty[left] = self.take[i - a]
                    left += 1
            for i in range(right):
                self.cell[left + i] = self.tc[0, i]
                self.qty[left + i] = self.tc[1, i]
            self.stack[depth] = left
            self.stack[depth + 1] = left + right
            depth += 1
        return total

    def price_bits(self, power, favour=None):
        """What a gain is worth by the share of rows a cut takes: divided by the bits it spends, to this power, times the
        favour of its column."""
        share = (np.arange(SHARES + 1) + 0.5) / (SHARES + 2)
        spent = -(share * np.log2(share) + (1 - share) * np.log2(1 - share))
        self.bits, self.bit = power, spent**-power
        self.favour = np.ones(self.d) if favour is None else favour

    def solve_all(self, cell, quota, tries, price=0.0, deep=0, bits=0.0, favour=None, stop=None):
        """Cut the region of these items from the top down: (cell, quota, starts) of its groups.

        Once the flag `stop` (one byte) is not 0 this ends, and what it returns is of no use.
        """
        n: cython.Py_ssize_t = len(cell)
        if stop is not None:
            self.stop = stop
        np.asarray(self.cell)[:n] = cell
        np.asarray(self.qty)[:n] = quota
        self.noise, self.tries, self.price, self.deep = 0.0, tries, price, deep
        self.oute[0] = 0
        self.price_bits(bits, favour)
        with cython.nogil:
            self.solve(n, LARGE)
        self.price_bits(0.0)
        starts = np.array(self.oute[: self.groups + 1])
        n = self.oute[self.groups]
        return np.array(self.outc[:n]), np.array(self.outq[:n]), starts

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def measure(self, g: cython.Py_ssize_t) -> cython.int:
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        c: cython.int
        u: cython.int
        n: cython.longlong = 0
        total: cython.double = 0.0
        for j in range(self.d):
            self.gbox[g, 0, j] = 2147483647
            self.gbox[g, 1, j] = -1
        for i in range(self.gs[g, 0], self.gs[g, 1]):
            u = self.logc[i]
            n += self.logq[i]
            for j in range(self.d):
                c = self.codes[u, j]
                if c < self.gbox[g, 0, j]:
                    self.gbox[g, 0, j] = c
                if c > self.gbox[g, 1, j]:
                    self.gbox[g, 1, j] = c
        for j in range(self.d):
            total += self.span(j, self.gbox[g, 0, j], self.gbox[g, 1, j])
        self.gs[g, 2] = n
        self.gl[g] = total
        return 0

    def resolve(self, tiles, blocks: cython.longlong[:, ::1], out, setting, stop=None):
        """Re-solve each block by itself; a row of `blocks` is (first group, last group + 1, seed).

        tiles = (cell, quota, starts); out = (cell, quota, end of each group, groups of each block) is written from its
        beginning; setting = (tries, noise, mates, noise of nearness, most rows of a pool, price of strain,
        whether a block is cut anew as one region, depth of narrowing, power of the bits a cut spends).  Returns (items, groups) written.
        Once the flag `stop` (one byte) is not 0 this ends, and what is written is of no use.
        """
        ic: cython.int[::1] = tiles[0]
        iq: cython.int[::1] = tiles[1]
        starts: cython.longlong[::1] = tiles[2]
        oc: cython.int[::1] = out[0]
        oq: cython.int[::1] = out[1]
        oe: cython.longlong[::1] = out[2]
        ob: cython.longlong[::1] = out[3]
        mates: cython.Py_ssize_t = setting[2]
        near: cython.double = setting[3]
        most_rows: cython.Py_ssize_t = setting[4]
        b: cython.Py_ssize_t
        i: cython.Py_ssize_t
        g: cython.Py_ssize_t
        total: cython.Py_ssize_t
        end: cython.Py_ssize_t
        items: cython.Py_ssize_t = 0
        groups: cython.Py_ssize_t = 0
        self.tries, self.noise = setting[0], setting[1]
        dear: cython.double = setting[5]
        anew: cython.bint = setting[6]
        self.deep = setting[7]
        self.price_bits(setting[8])
        self.oute[0] = 0
        if stop is not None:
            self.stop = stop
        with cython.nogil:
            for b in range(blocks.shape[0]):
                if self.stop[0] != 0:
                    break
                total = blocks[b, 1] - blocks[b, 0]
                self.seed = blocks[b, 2]
                end = 0
                for g in range(total):
                    self.gs[g, 0] = end
                    for i in range(starts[blocks[b, 0] + g], starts[blocks[b, 0] + g + 1]):
                        self.logc[end] = ic[i]
                        self.logq[end] = iq[i]
                        end += 1
                    self.gs[g, 1] = end
                    self.measure(g)
                if anew:
                    self.seed = chance(self.seed)
                    self.price = dear * (self.seed / 2147483647.0)
                    total = self.remake(total, end)
                else:
                    total = self.sweep(total, end, mates, near, most_rows, dear)
                ob[b] = 0
                for g in range(total):
                    if self.gs[g, 2] > 0:
                        for i in range(self.gs[g, 0], self.gs[g, 1]):
                            oc[items] = self.logc[i]
                            oq[items] = self.logq[i]
                            items += 1
                        oe[groups] = items
                        groups += 1
                        ob[b] += 1
        return items, groups

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def nearest(
        self,
        g: cython.Py_ssize_t,
        chosen: cython.Py_ssize_t,
        total: cython.Py_ssize_t,
        near: cython.double,
        room: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        h: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        pick: cython.Py_ssize_t = -1
        lo: cython.int
        hi: cython.int
        far: cython.double
        least: cython.double = LARGE
        for h in range(total):
            if self.gs[h, 2] == 0 or self.gs[h, 2] > room:
                continue
            for i in range(chosen):
                if self.mate[i] == h:
                    break
            else:
                far = 0.0
                for j in range(self.d):
                    lo = self.gbox[h, 0, j]
                    hi = self.gbox[h, 1, j]
                    if self.box[0, j] < lo:
                        lo = self.box[0, j]
                    if self.box[1, j] > hi:
                        hi = self.box[1, j]
                    far += self.span(j, lo, hi)
                self.seed = chance(self.seed)
                far *= 1.0 + near * (self.seed / 2147483647.0)
                if far < least:
                    least = far
                    pick = h
        return pick

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sweep(
        self,
        total: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        mates: cython.Py_ssize_t,
        near: cython.double,
        cap: cython.Py_ssize_t,
        dear: cython.double,
    ) -> cython.Py_ssize_t:
        """Pool each costly group with its nearest and cut the pool anew; keep what is not worse."""
        g: cython.Py_ssize_t
        h: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        q: cython.Py_ssize_t
        p: cython.Py_ssize_t
        chosen: cython.Py_ssize_t
        first: cython.Py_ssize_t = total
        rows: cython.Py_ssize_t
        old: cython.double
        new: cython.double
        for g in range(first):
            if self.stop[0] != 0:
                break
            if self.gs[g, 2] == 0 or self.gl[g] <= 0.0 or self.gs[g, 2] > cap:
                continue
            self.mate[0] = g
            chosen = 1
            rows = self.gs[g, 2]
            for j in range(self.d):
                self.box[0, j] = self.gbox[g, 0, j]
                self.box[1, j] = self.gbox[g, 1, j]
            while chosen <= mates:
                h = self.nearest(g, chosen, total, near, cap - rows)
                if h < 0:
                    break
                rows += self.gs[h, 2]
                self.mate[chosen] = h
                chosen += 1
            if chosen == 1:
                continue
            if rows > OFTEN:  # a large pool costs more than many small ones: take it now and then
                self.seed = chance(self.seed)
                if self.seed % rows > OFTEN:
                    continue
            p = 0
            old = 0.0
            for q in range(chosen):
                h = self.mate[q]
                old += self.gl[h] * self.gs[h, 2]
                for i in range(self.gs[h, 0], self.gs[h, 1]):
                    self.cell[p] = self.logc[i]
                    self.qty[p] = self.logq[i]
                    p += 1
            p = self.gather(p)
            self.seed = chance(self.seed)
            self.price = dear * (self.seed / 2147483647.0)
            new = self.solve(p, old)
            if new > old or end + self.oute[self.groups] > self.logc.shape[0] or total + self.groups > self.gs.shape[0]:
                continue
            for q in range(chosen):
                self.gs[self.mate[q], 2] = 0
            for q in range(self.groups):
                if q < chosen:
                    h = self.mate[q]
                else:
                    h = total
                    total += 1
                self.gs[h, 0] = end
                for i in range(self.oute[q], self.oute[q + 1]):
                    self.logc[end] = self.outc[i]
                    self.logq[end] = self.outq[i]
                    end += 1
                self.gs[h, 1] = end
                self.measure(h)
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def remake(self, total: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Cut all the groups of the block anew as one region; keep what is not worse."""
        g: cython.Py_ssize_t
        i: cython.Py_ssize_t
        rows: cython.longlong = 0
        old: cython.double = 0.0
        for g in range(total):
            rows += self.gs[g, 2]
            old += self.gl[g] * self.gs[g, 2]
        if old <= 0.0 or rows + self.m > self.cell.shape[0]:
            return total
        for i in range(end):
            self.cell[i] = self.logc[i]
            self.qty[i] = self.logq[i]
        if self.solve(self.gather(end), old) > old:
            return total
        if self.oute[self.groups] > self.logc.shape[0] or self.groups > self.gs.shape[0]:
            return total
        for g in range(self.groups):
            self.gs[g, 0] = self.oute[g]
            self.gs[g, 1] = self.oute[g + 1]
            for i in range(self.oute[g], self.oute[g + 1]):
                self.logc[i] = self.outc[i]
                self.logq[i] = self.outq[i]
            self.measure(g)
        return self.groups

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def clear_parts(self) -> cython.int:
        q: cython.Py_ssize_t
        for q in range(self.m + 1):
            self.parts[0, q] = 0
            self.parts[1, q] = 0
        for q in range(self.d):
            self.boxes[0, q] = 2147483647
            self.boxes[1, q] = -1
            self.boxes[2, q] = 2147483647
            self.boxes[3, q] = -1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def parts_loss(self) -> cython.double:
        u: cython.Py_ssize_t
        q: cython.Py_ssize_t
        total: cython.double = 0.0
        for u in range(2):
            for q in range(self.d):
                total += self.parts[u, self.m] * self.span(q, self.boxes[2 * u, q], self.boxes[2 * u + 1, q])
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def gather(self, p: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Sort the pool by cell and add up what is of one cell."""
        i: cython.Py_ssize_t
        g: cython.Py_ssize_t = 1
        r: cython.Py_ssize_t
        c: cython.int
        w: cython.int
        while g < p // 9:
            g = 3 * g + 1
        while g > 0:
            for i in range(g, p):
                c = self.cell[i]
                w = self.qty[i]
                r = i
                while r >= g and self.cell[r - g] > c:
                    self.cell[r] = self.cell[r - g]
                    self.qty[r] = self.qty[r - g]
                    r -= g
                self.cell[r] = c
                self.qty[r] = w
            g //= 3
        r = 0
        for i in range(1, p):
            if self.cell[i] == self.cell[r]:
                self.qty[r] += self.qty[i]
            else:
                r += 1
                self.cell[r] = self.cell[i]
                self.qty[r] = self.qty[i]
        return r + 1
