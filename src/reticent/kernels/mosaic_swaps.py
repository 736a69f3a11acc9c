# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, language_level=3
"""Swaps of rows with equal sensitive values between groups: every histogram stays as it is, so any promise survives.

A group sheds the rows that make its box wide in one column: each is exchanged for a row of equal value that lies in the
narrower box, out of a group whose box it fits into already.  Either all of them find a place or none is moved.
"""

import cython
import numpy as np


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
def span(
    spans: cython.double[::1], places: cython.longlong[:, ::1], j: cython.Py_ssize_t, lo: cython.int, hi: cython.int
) -> cython.double:
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


@cython.cclass
class Swapper:
    codes: cython.int[:, ::1]
    spans: cython.double[::1]
    places: cython.longlong[:, ::1]
    nodes: cython.int[::1]
    trees: cython.longlong[:, ::1]
    d: cython.Py_ssize_t
    cell: cython.int[::1]  # of each slot
    group: cython.int[::1]  # of each slot
    of: cython.int[::1]  # slots by value
    first: cython.longlong[::1]  # of each value in `of`
    value: cython.int[::1]  # of each slot
    starts: cython.longlong[::1]
    box: cython.int[:, :, ::1]
    want: cython.int[:, ::1]
    moved: cython.int[:, ::1]
    tally: cython.int[::1]
    seed: cython.longlong
    looks: cython.longlong
    purse: cython.double

    def __init__(self, codes, space, slots, boxes, looks):
        """A slot is a place for one row: slots = (cell of its row, group, value, slots by value, first of each value,
        first of each group).  Swaps change the cells of slots and nothing else; boxes (groups, 2, columns) follow."""
        self.codes = codes
        self.spans, self.places, self.nodes, self.trees = space
        self.cell, self.group, self.value, self.of, self.first, self.starts = slots
        self.box = boxes
        self.looks = looks
        d = codes.shape[1]
        largest = int(np.diff(slots[5]).max(initial=1))
        self.d, self.seed = d, 1
        self.want, self.moved = np.zeros((2, d), np.int32), np.zeros((2, largest + 1), np.int32)
        self.tally = np.zeros(int(space[1][:, 2].max(initial=1)), np.int32)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def widening(self, h: cython.int, a: cython.int) -> cython.double:
        """What group h would lose if the row of cell a came into it."""
        j: cython.Py_ssize_t
        c: cython.int
        total: cython.double = 0.0
        for j in range(self.d):
            c = self.codes[a, j]
            if c < self.box[h, 0, j]:
                total += span(self.spans, self.places, j, c, self.box[h, 1, j])
                total -= span(self.spans, self.places, j, self.box[h, 0, j], self.box[h, 1, j])
            elif c > self.box[h, 1, j]:
                total += span(self.spans, self.places, j, self.box[h, 0, j], c)
                total -= span(self.spans, self.places, j, self.box[h, 0, j], self.box[h, 1, j])
        return total * (self.starts[h + 1] - self.starts[h])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def place(self, i: cython.longlong, g: cython.int) -> cython.longlong:
        """A slot whose row fits the box wanted, of a group that the row of slot i widens least, at most by what is left to
        spend; -1 where none is found."""
        v: cython.int = self.value[i]
        first: cython.longlong = self.first[v]
        count: cython.longlong = self.first[v + 1] - first
        _turn: cython.longlong
        j: cython.Py_ssize_t
        k: cython.longlong
        at: cython.longlong
        pick: cython.longlong = -1
        b: cython.int
        c: cython.int
        cost: cython.double
        least: cython.double = self.purse
        self.seed = chance(self.seed)
        at = self.seed % count
        for _turn in range(count if count < self.looks else self.looks):
            at += 1
            if at >= count:
                at = 0
            k = self.of[first + at]
            b = self.cell[k]
            for j in range(self.d):
                c = self.codes[b, j]
                if c < self.want[0, j] or c > self.want[1, j]:
                    break
            else:
                if self.group[k] == g:
                    continue
                cost = self.widening(self.group[k], self.cell[i])
                if cost < least:
                    least = cost
                    pick = k
                    if cost <= 0.0:
                        break
        if pick >= 0:
            self.purse -= least
        return pick

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def shed(self, g: cython.int, q: cython.Py_ssize_t) -> cython.bint:
        """Exchange all rows of group g that are outside the box wanted, which is narrower in column q."""
        i: cython.longlong
        k: cython.longlong
        n: cython.Py_ssize_t = 0
        j: cython.Py_ssize_t
        c: cython.int
        h: cython.int
        self.purse = span(self.spans, self.places, q, self.box[g, 0, q], self.box[g, 1, q])
        self.purse -= span(self.spans, self.places, q, self.want[0, q], self.want[1, q])
        self.purse *= (self.starts[g + 1] - self.starts[g]) * 0.999
        for i in range(self.starts[g], self.starts[g + 1]):
            c = self.codes[self.cell[i], q]
            if c < self.want[0, q] or c > self.want[1, q]:
                k = self.place(i, g)
                if k < 0:
                    while n > 0:
                        n -= 1
                        c = self.cell[self.moved[0, n]]
                        self.cell[self.moved[0, n]] = self.cell[self.moved[1, n]]
                        self.cell[self.moved[1, n]] = c
                        self.fit(self.group[self.moved[1, n]])
                    return False
                h = self.group[k]
                for j in range(self.d):
                    c = self.codes[self.cell[i], j]
                    if c < self.box[h, 0, j]:
                        self.box[h, 0, j] = c
                    if c > self.box[h, 1, j]:
                        self.box[h, 1, j] = c
                c = self.cell[i]
                self.cell[i] = self.cell[k]
                self.cell[k] = c
                self.moved[0, n] = i
                self.moved[1, n] = k
                n += 1
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fit(self, g: cython.int) -> cython.int:
        """The box of a group, drawn close again."""
        i: cython.longlong
        j: cython.Py_ssize_t
        c: cython.int
        for j in range(self.d):
            self.box[g, 0, j] = 2147483647
            self.box[g, 1, j] = -1
        for i in range(self.starts[g], self.starts[g + 1]):
            for j in range(self.d):
                c = self.codes[self.cell[i], j]
                if c < self.box[g, 0, j]:
                    self.box[g, 0, j] = c
                if c > self.box[g, 1, j]:
                    self.box[g, 1, j] = c
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def narrow(self, g: cython.int, j: cython.Py_ssize_t, share: cython.double) -> cython.bint:
        """Shed one end of column j, or all but the largest node of a level, where few enough rows would have to go."""
        i: cython.longlong
        c: cython.int
        q: cython.Py_ssize_t
        lo: cython.int = self.box[g, 0, j]
        hi: cython.int = self.box[g, 1, j]
        most: cython.longlong = cython.cast(cython.longlong, share * (self.starts[g + 1] - self.starts[g])) + 1
        for c in range(hi - lo + 1):
            self.tally[c] = 0
        for i in range(self.starts[g], self.starts[g + 1]):
            self.tally[self.codes[self.cell[i], j] - lo] += 1
        for q in range(self.d):
            self.want[0, q] = self.box[g, 0, q]
            self.want[1, q] = self.box[g, 1, q]
        if self.shed_end(g, j, most, 1) or self.shed_end(g, j, most, -1):
            return True
        for q in range(self.trees[j, 1]):
            if self.keep_node(g, j, most, self.trees[j, 0] + q * self.places[j, 2]):
                return True
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def shed_end(self, g: cython.int, j: cython.Py_ssize_t, most: cython.longlong, step: cython.int) -> cython.bint:
        """From the low end upwards (step 1) or the high end downwards, the fewest codes whose going narrows the span."""
        lo: cython.int = self.box[g, 0, j]
        hi: cython.int = self.box[g, 1, j]
        c: cython.int = lo if step > 0 else hi
        whole: cython.double = span(self.spans, self.places, j, lo, hi)
        gone: cython.longlong = 0
        while True:
            gone += self.tally[c - lo]
            if gone > most or c == (hi if step > 0 else lo):
                return False
            c += step
            while self.tally[c - lo] == 0:
                c += step
            if step > 0:
                self.want[0, j] = c
            else:
                self.want[1, j] = c
            if span(self.spans, self.places, j, self.want[0, j], self.want[1, j]) < whole:
                if self.shed(g, j):
                    return True
                self.want[0, j] = lo
                self.want[1, j] = hi
                return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def keep_node(
        self, g: cython.int, j: cython.Py_ssize_t, most: cython.longlong, level: cython.Py_ssize_t
    ) -> cython.bint:
        """Shed all but the node of this level that holds most rows."""
        lo: cython.int = self.box[g, 0, j]
        hi: cython.int = self.box[g, 1, j]
        c: cython.int = lo
        first: cython.int
        keep: cython.int = lo
        last: cython.int = hi
        here: cython.longlong
        best: cython.longlong = 0
        n: cython.longlong = self.starts[g + 1] - self.starts[g]
        while c <= hi:
            first = c
            here = 0
            while c <= hi and self.nodes[level + c] == self.nodes[level + first]:
                here += self.tally[c - lo]
                c += 1
            if here > best:
                best = here
                keep = first
                last = c - 1
        if n - best > most or n == best:
            return False
        if span(self.spans, self.places, j, keep, last) >= span(self.spans, self.places, j, lo, hi):
            return False
        self.want[0, j] = keep
        self.want[1, j] = last
        if self.shed(g, j):
            return True
        self.want[0, j] = lo
        self.want[1, j] = hi
        return False

    def sweep(self, order: cython.int[::1], seed, share: cython.double, stop: cython.char[::1]):
        """Narrow each of the groups, in this order, as often as that succeeds; end once the flag `stop` (one byte) is not 0."""
        o: cython.Py_ssize_t
        j: cython.Py_ssize_t
        g: cython.int
        self.seed = seed
        with cython.nogil:
            for o in range(order.shape[0]):
                if stop[0] != 0:
                    break
                g = order[o]
                self.fit(g)
                for j in range(self.d):
                    while self.box[g, 0, j] < self.box[g, 1, j] and self.narrow(g, j, share):
                        self.fit(g)
