# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, language_level=3
"""Pools of small groups re-solved row by row: along chains of near rows, cut optimally where the segments keep a promise.

A *unit* is one row.  needs[first[v] + c] is how many rows a group needs that holds c rows of value v: so a segment knows at once
how long it must become.  Closeness, entropy and recursive diversity are judged by doubles; what comes of it is checked outside.
"""

import cython
import numpy as np
from cython.cimports.libc.math import log

LARGE = cython.declare(cython.double, 1e300)


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def chance(state: cython.longlong) -> cython.longlong:
    return (state * 48271) % 2147483647


@cython.cclass
class Chainer:
    codes: cython.int[:, ::1]
    sens: cython.int[::1]
    spans: cython.double[::1]
    places: cython.longlong[:, ::1]
    needs: cython.int[::1]
    first: cython.longlong[::1]
    rate: cython.double[::1]
    few: cython.longlong[::1]
    limits: cython.double[::1]
    plain: cython.bint
    least: cython.longlong
    d: cython.Py_ssize_t
    m: cython.Py_ssize_t
    follow: cython.int[::1]
    head: cython.int[::1]
    size: cython.int[::1]
    boxes: cython.int[:, :, ::1]
    loss: cython.double[::1]
    pool: cython.int[:, ::1]
    best: cython.double[::1]
    back: cython.int[:, ::1]
    box: cython.int[:, ::1]
    mate: cython.int[::1]
    count: cython.int[::1]
    seed: cython.longlong

    def __init__(self, units, space, limits, room, follow):
        """units = (codes, values); space = (spans, places); limits = (needs, first, shares of the values, least and
        limits of the rule as `reticent.methods.mosaic.kernel_tables` has them); room = (rows of a pool, groups of a block); `follow` is shared by workers, whose units are their own."""
        self.codes, self.sens = units
        self.spans, self.places = space
        self.needs, self.first, self.rate, self.few, self.limits = limits
        few, near = limits[3:]
        self.least = few[0]
        self.plain = few[1] <= 1 and few[4] == 0 and few[5] == 0 and near[1] == 0
        rows, groups = room
        d = units[0].shape[1]
        self.d, self.m = d, len(limits[2])
        self.follow = follow
        self.head, self.size = np.zeros(groups, np.int32), np.zeros(groups, np.int32)
        self.boxes, self.loss = np.zeros((groups, 2, d), np.int32), np.zeros(groups)
        self.pool, self.back = np.zeros((3, rows), np.int32), np.zeros((2, rows + 1), np.int32)
        self.best, self.box = np.zeros(rows + 1), np.zeros((2, d), np.int32)
        self.mate, self.count = np.zeros(64, np.int32), np.zeros(self.m, np.int32)
        self.seed = 1

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
            if hi == self.places[j, 3]:
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
    def kept(self, s: cython.Py_ssize_t) -> cython.bint:
        """The promise on a segment of s rows, beyond its size and upper caps."""
        v: cython.Py_ssize_t
        distinct: cython.longlong = 0
        total: cython.double = 0.0
        if self.plain:
            return True
        if self.few[1] > 1:
            for v in range(self.m):
                if self.count[v] > 0 and v != self.few[3]:
                    distinct += 1
            if distinct < self.few[1]:
                return False
        if self.limits[1] > 0.0:
            for v in range(self.m):
                if self.count[v] > 0:
                    total -= self.count[v] * log(cython.cast(cython.double, self.count[v]) / s)
            if total < self.limits[1] * s:
                return False
        if self.few[5] > 0 and not self.recursive(s):
            return False
        return self.few[4] == 0 or self.distance(s) <= self.limits[0] * s

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def distance(self, s: cython.Py_ssize_t) -> cython.double:
        """How far the segment is from the table's proportions, times its rows: equal distance, or ordered."""
        v: cython.Py_ssize_t
        run: cython.double = 0.0
        total: cython.double = 0.0
        for v in range(self.m):
            if self.few[4] == 1:
                run = self.count[v] - s * self.rate[v]
                if run > 0.0:
                    total += run
            else:
                run += self.count[v] - s * self.rate[v]
                total += abs(run)
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def recursive(self, s: cython.Py_ssize_t) -> cython.bint:
        """r_1 <= c (r_l + ... + r_m), the l - 1 greatest counts found one after the other."""
        v: cython.Py_ssize_t
        taken: cython.longlong = 0
        ties: cython.longlong
        top: cython.longlong
        first: cython.longlong = 0
        bound: cython.longlong = s + 1
        left: cython.longlong = s
        while taken < self.few[5] - 1:
            top = 0
            ties = 0
            for v in range(self.m):
                if top < self.count[v] < bound:
                    top = self.count[v]
                    ties = 1
                elif self.count[v] == top:
                    ties += 1
            if top == 0:
                return False
            if first == 0:
                first = top
            while ties > 0 and taken < self.few[5] - 1:
                left -= top
                taken += 1
                ties -= 1
            bound = top
        return left > 0 and first <= self.limits[2] * left

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def cut(self, row: cython.Py_ssize_t, n: cython.Py_ssize_t, bound: cython.double) -> cython.double:
        """Least loss of cutting pool[row][:n] into valid segments; LARGE where it would exceed the bound."""
        p: cython.Py_ssize_t
        e: cython.Py_ssize_t
        j: cython.Py_ssize_t
        s: cython.Py_ssize_t
        need: cython.longlong
        u: cython.int
        c: cython.int
        v: cython.int
        loss: cython.double
        total: cython.double
        self.best[0] = 0.0
        for p in range(1, n + 1):
            self.best[p] = LARGE
        for p in range(n):
            if self.best[p] > bound or n - p < self.least:
                continue
            u = self.pool[row, p]
            for j in range(self.d):
                self.box[0, j] = self.codes[u, j]
                self.box[1, j] = self.codes[u, j]
            loss = 0.0
            need = self.least
            e = p
            while e < n:
                u = self.pool[row, e]
                e += 1
                s = e - p
                for j in range(self.d):
                    c = self.codes[u, j]
                    if c < self.box[0, j]:
                        loss -= self.span(j, self.box[0, j], self.box[1, j])
                        self.box[0, j] = c
                        loss += self.span(j, c, self.box[1, j])
                    elif c > self.box[1, j]:
                        loss -= self.span(j, self.box[0, j], self.box[1, j])
                        self.box[1, j] = c
                        loss += self.span(j, self.box[0, j], c)
                v = self.sens[u]
                self.count[v] += 1
                if self.needs[self.first[v] + self.count[v]] > need:
                    need = self.needs[self.first[v] + self.count[v]]
                total = self.best[p] + loss * (s if s > need else need)
                if total > bound or p + need > n:
                    break
                if s < need:
                    continue
                if total < self.best[e] and self.kept(s):
                    self.best[e] = total
                    self.back[row - 1, e] = p
            while e > p:
                e -= 1
                self.count[self.sens[self.pool[row, e]]] -= 1
        return self.best[n]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def chain(
        self, row: cython.Py_ssize_t, p: cython.Py_ssize_t, first: cython.Py_ssize_t, pen: cython.double
    ) -> cython.int:
        """Order the pool: always the row nearest to the last one, rows that make the segment longer as if farther."""
        i: cython.Py_ssize_t
        q: cython.Py_ssize_t
        j: cython.Py_ssize_t
        near: cython.Py_ssize_t
        a: cython.int
        b: cython.int
        v: cython.int
        u: cython.int = self.pool[row, first]
        least: cython.double
        far: cython.double
        need: cython.longlong = self.least
        over: cython.longlong
        s: cython.longlong = 0
        begin: cython.Py_ssize_t = 0
        self.pool[row, first] = self.pool[row, 0]
        self.pool[row, 0] = u
        for i in range(1, p):
            u = self.pool[row, i - 1]
            if pen > 0.0:
                v = self.sens[u]
                self.count[v] += 1
                s += 1
                if self.needs[self.first[v] + self.count[v]] > need:
                    need = self.needs[self.first[v] + self.count[v]]
                if s >= need:
                    while begin < i:
                        self.count[self.sens[self.pool[row, begin]]] -= 1
                        begin += 1
                    s = 0
                    need = self.least
            least = LARGE
            near = i
            for q in range(i, p):
                far = 0.0
                if pen > 0.0:
                    v = self.sens[self.pool[row, q]]
                    over = self.needs[self.first[v] + self.count[v] + 1] - need
                    if over > 0:
                        far = pen * over
                for j in range(self.d):
                    a = self.codes[u, j]
                    b = self.codes[self.pool[row, q], j]
                    if a < b:
                        far += self.span(j, a, b)
                    elif b < a:
                        far += self.span(j, b, a)
                if far < least:
                    least = far
                    near = q
                    if far == 0.0:
                        break
            u = self.pool[row, near]
            self.pool[row, near] = self.pool[row, i]
            self.pool[row, i] = u
        if pen > 0.0:
            while begin < p - 1:
                self.count[self.sens[self.pool[row, begin]]] -= 1
                begin += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def measure(self, g: cython.Py_ssize_t) -> cython.int:
        """Box of group g and its loss per row."""
        j: cython.Py_ssize_t
        c: cython.int
        u: cython.int = self.head[g]
        for j in range(self.d):
            self.boxes[g, 0, j] = self.codes[u, j]
            self.boxes[g, 1, j] = self.codes[u, j]
        u = self.follow[u]
        while u >= 0:
            for j in range(self.d):
                c = self.codes[u, j]
                if c < self.boxes[g, 0, j]:
                    self.boxes[g, 0, j] = c
                elif c > self.boxes[g, 1, j]:
                    self.boxes[g, 1, j] = c
            u = self.follow[u]
        self.loss[g] = 0.0
        for j in range(self.d):
            self.loss[g] += self.span(j, self.boxes[g, 0, j], self.boxes[g, 1, j])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def nearest(
        self,
        g: cython.Py_ssize_t,
        total: cython.Py_ssize_t,
        chosen: cython.Py_ssize_t,
        room: cython.Py_ssize_t,
        noise: cython.double,
    ) -> cython.Py_ssize_t:
        """The group whose box merged with g's loses least, give or take some noise; -1 where none fits."""
        h: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        pick: cython.Py_ssize_t = -1
        lo: cython.int
        hi: cython.int
        far: cython.double
        least: cython.double = LARGE
        for h in range(total):
            if self.size[h] == 0 or self.size[h] > room:
                continue
            for i in range(chosen):
                if self.mate[i] == h:
                    break
            else:
                far = 0.0
                for j in range(self.d):
                    lo = self.boxes[h, 0, j]
                    hi = self.boxes[h, 1, j]
                    if self.boxes[g, 0, j] < lo:
                        lo = self.boxes[g, 0, j]
                    if self.boxes[g, 1, j] > hi:
                        hi = self.boxes[g, 1, j]
                    far += self.span(j, lo, hi)
                    if far >= least:
                        break
                self.seed = chance(self.seed)
                far *= 1.0 + noise * (self.seed / 2147483647.0)
                if far < least:
                    least = far
                    pick = h
        return pick

    def resolve(
        self,
        members: cython.int[::1],
        ends: cython.char[::1],
        starts: cython.longlong[::1],
        blocks: cython.longlong[:, ::1],
        setting,
        stop: cython.char[::1],
    ):
        """Re-solve the groups of each block in place.

        members[starts[g]:starts[g+1]] are the units of group g; a row of `blocks` is (first group, last group + 1, seed).
        On return `members` is permuted inside each block and ends[i] = 1 where a group ends after place i.
        setting = (mates, noise of nearness, how much farther a row seems that makes its segment longer, for each row more).
        Once the flag `stop` (one byte) is not 0 this ends, and what is written is of no use.
        """
        mates: cython.Py_ssize_t = setting[0]
        noise: cython.double = setting[1]
        pen: cython.double = setting[2]
        b: cython.Py_ssize_t
        g: cython.Py_ssize_t
        i: cython.Py_ssize_t
        total: cython.Py_ssize_t
        u: cython.int
        with cython.nogil:
            for b in range(blocks.shape[0]):
                if stop[0] != 0:
                    break
                total = blocks[b, 1] - blocks[b, 0]
                self.seed = blocks[b, 2]
                for g in range(total):
                    self.head[g] = -1
                    self.size[g] = 0
                    for i in range(starts[blocks[b, 0] + g], starts[blocks[b, 0] + g + 1]):
                        u = members[i]
                        self.follow[u] = self.head[g]
                        self.head[g] = u
                        self.size[g] += 1
                    self.measure(g)
                total = self.block(total, mates, noise, pen)
                i = starts[blocks[b, 0]]
                for g in range(total):
                    if self.size[g] == 0:
                        continue
                    u = self.head[g]
                    while u >= 0:
                        members[i] = u
                        ends[i] = 0
                        i += 1
                        u = self.follow[u]
                    ends[i - 1] = 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def block(
        self, total: cython.Py_ssize_t, mates: cython.Py_ssize_t, noise: cython.double, pen: cython.double
    ) -> cython.Py_ssize_t:
        """Each costly group with its nearest: cut the pool anew along two chains, keep what is not worse.  The groups then."""
        first: cython.Py_ssize_t = total
        g: cython.Py_ssize_t
        h: cython.Py_ssize_t
        i: cython.Py_ssize_t
        t: cython.Py_ssize_t
        e: cython.Py_ssize_t
        p: cython.Py_ssize_t
        q: cython.Py_ssize_t
        u: cython.int
        old: cython.double
        new: cython.double
        one: cython.double
        pick: cython.Py_ssize_t
        chosen: cython.Py_ssize_t
        room: cython.Py_ssize_t = self.pool.shape[1]
        for g in range(first):
            if self.size[g] == 0 or self.loss[g] <= 0.0 or self.size[g] > room:
                continue
            p = 0
            chosen = 0
            old = 0.0
            h = g
            while True:
                u = self.head[h]
                while u >= 0:
                    self.pool[0, p] = u
                    p += 1
                    u = self.follow[u]
                old += self.loss[h] * self.size[h]
                self.mate[chosen] = h
                chosen += 1
                if chosen > mates:
                    break
                h = self.nearest(g, total, chosen, room - p, noise)
                if h < 0:
                    break
            if chosen == 1 or total + p > self.head.shape[0]:
                continue
            new = old * (1.0 + 1e-12)
            pick = -1
            for t in range(2):
                self.seed = chance(self.seed)
                for i in range(p):
                    self.pool[t + 1, i] = self.pool[0, i]
                i = self.seed % p
                self.seed = chance(self.seed)
                self.chain(t + 1, p, i, pen * (self.seed / 2147483647.0) if t == 1 else 0.0)
                one = self.cut(t + 1, p, new)
                if one <= new:
                    new = one
                    pick = t
            if pick < 0:
                continue
            for i in range(chosen):
                self.size[self.mate[i]] = 0
            q = 0
            e = p
            while e > 0:
                i = self.back[pick, e]
                if q < chosen:
                    h = self.mate[q]
                    q += 1
                else:
                    h = total
                    total += 1
                self.head[h] = -1
                self.size[h] = e - i
                for t in range(i, e):
                    u = self.pool[pick + 1, t]
                    self.follow[u] = self.head[h]
                    self.head[h] = u
                self.measure(h)
                e = i
        return total
