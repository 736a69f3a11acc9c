# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, language_level=3
"""Swaps of rows with equal sensitive values between groups: every histogram stays as it is, so any promise survives.

A group sheds the rows that make its box wide in one column: each is exchanged for a row of equal value that lies in the
narrower box, out of a group whose box it fits into already.  Either all of them find a place or none is moved.
"""

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.reticent.kernels.inline_functions import compute_span, next_random
else:
    from reticent.kernels.inline_functions import compute_span, next_random


@cython.cclass
class Swapper:
    codes: cython.int[:, ::1]
    spans: cython.double[::1]
    places: cython.longlong[:, ::1]
    nodes: cython.int[::1]
    trees: cython.longlong[:, ::1]
    columns: cython.Py_ssize_t
    slot_cell: cython.int[::1]  # of each slot
    slot_group: cython.int[::1]  # of each slot
    slots_by_value: cython.int[::1]  # slots by value
    value_begin: cython.longlong[::1]  # of each value in `of`
    slot_value: cython.int[::1]  # of each slot
    group_begin: cython.longlong[::1]
    group_box: cython.int[:, :, ::1]
    wanted_box: cython.int[:, ::1]
    swapped_slots: cython.int[:, ::1]
    code_rows: cython.int[::1]
    seed: cython.longlong
    max_looks: cython.longlong
    budget: cython.double

    def __init__(self, codes, space, slots, boxes, looks):
        """A slot is a place for one row: slots = (cell of its row, group, value, slots by value, first of each value,
        first of each group).  Swaps change the cells of slots and nothing else; boxes (groups, 2, columns) follow."""
        self.codes = codes
        self.spans, self.places, self.nodes, self.trees = space
        self.slot_cell, self.slot_group, self.slot_value, self.slots_by_value, self.value_begin, self.group_begin = (
            slots
        )
        self.group_box = boxes
        self.max_looks = looks
        d = codes.shape[1]
        largest = int(np.diff(slots[5]).max(initial=1))
        self.columns, self.seed = d, 1
        self.wanted_box, self.swapped_slots = np.zeros((2, d), np.int32), np.zeros((2, largest + 1), np.int32)
        self.code_rows = np.zeros(int(space[1][:, 2].max(initial=1)), np.int32)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def compute_widening(self, h: cython.int, a: cython.int) -> cython.double:
        """What group h would lose if the row of cell a came into it."""
        j: cython.Py_ssize_t
        c: cython.int
        total: cython.double = 0.0
        for j in range(self.columns):
            c = self.codes[a, j]
            if c < self.group_box[h, 0, j]:
                total += compute_span(self.spans, self.places, j, c, self.group_box[h, 1, j])
                total -= compute_span(self.spans, self.places, j, self.group_box[h, 0, j], self.group_box[h, 1, j])
            elif c > self.group_box[h, 1, j]:
                total += compute_span(self.spans, self.places, j, self.group_box[h, 0, j], c)
                total -= compute_span(self.spans, self.places, j, self.group_box[h, 0, j], self.group_box[h, 1, j])
        return total * (self.group_begin[h + 1] - self.group_begin[h])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_partner(self, i: cython.longlong, g: cython.int) -> cython.longlong:
        """A slot whose row fits the box wanted, of a group that the row of slot i widens least, at most by what is left to
        spend; -1 where none is found."""
        v: cython.int = self.slot_value[i]
        first: cython.longlong = self.value_begin[v]
        count: cython.longlong = self.value_begin[v + 1] - first
        _turn: cython.longlong
        j: cython.Py_ssize_t
        k: cython.longlong
        at: cython.longlong
        pick: cython.longlong = -1
        b: cython.int
        c: cython.int
        cost: cython.double
        least: cython.double = self.budget
        self.seed = next_random(self.seed)
        at = self.seed % count
        for _turn in range(count if count < self.max_looks else self.max_looks):
            at += 1
            if at >= count:
                at = 0
            k = self.slots_by_value[first + at]
            b = self.slot_cell[k]
            for j in range(self.columns):
                c = self.codes[b, j]
                if c < self.wanted_box[0, j] or c > self.wanted_box[1, j]:
                    break
            else:
                if self.slot_group[k] == g:
                    continue
                cost = self.compute_widening(self.slot_group[k], self.slot_cell[i])
                if cost < least:
                    least = cost
                    pick = k
                    if cost <= 0.0:
                        break
        if pick >= 0:
            self.budget -= least
        return pick

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def shed_rows(self, g: cython.int, q: cython.Py_ssize_t) -> cython.bint:
        """Exchange all rows of group g that are outside the box wanted, which is narrower in column q."""
        i: cython.longlong
        k: cython.longlong
        n: cython.Py_ssize_t = 0
        j: cython.Py_ssize_t
        c: cython.int
        h: cython.int
        self.budget = compute_span(self.spans, self.places, q, self.group_box[g, 0, q], self.group_box[g, 1, q])
        self.budget -= compute_span(self.spans, self.places, q, self.wanted_box[0, q], self.wanted_box[1, q])
        self.budget *= (self.group_begin[g + 1] - self.group_begin[g]) * 0.999
        for i in range(self.group_begin[g], self.group_begin[g + 1]):
            c = self.codes[self.slot_cell[i], q]
            if c < self.wanted_box[0, q] or c > self.wanted_box[1, q]:
                k = self.find_partner(i, g)
                if k < 0:
                    while n > 0:
                        n -= 1
                        c = self.slot_cell[self.swapped_slots[0, n]]
                        self.slot_cell[self.swapped_slots[0, n]] = self.slot_cell[self.swapped_slots[1, n]]
                        self.slot_cell[self.swapped_slots[1, n]] = c
                        self.measure_box(self.slot_group[self.swapped_slots[1, n]])
                    return False
                h = self.slot_group[k]
                for j in range(self.columns):
                    c = self.codes[self.slot_cell[i], j]
                    if c < self.group_box[h, 0, j]:
                        self.group_box[h, 0, j] = c
                    if c > self.group_box[h, 1, j]:
                        self.group_box[h, 1, j] = c
                c = self.slot_cell[i]
                self.slot_cell[i] = self.slot_cell[k]
                self.slot_cell[k] = c
                self.swapped_slots[0, n] = i
                self.swapped_slots[1, n] = k
                n += 1
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def measure_box(self, g: cython.int) -> cython.int:
        """The box of a group, drawn close again."""
        i: cython.longlong
        j: cython.Py_ssize_t
        c: cython.int
        for j in range(self.columns):
            self.group_box[g, 0, j] = 2147483647
            self.group_box[g, 1, j] = -1
        for i in range(self.group_begin[g], self.group_begin[g + 1]):
            for j in range(self.columns):
                c = self.codes[self.slot_cell[i], j]
                if c < self.group_box[g, 0, j]:
                    self.group_box[g, 0, j] = c
                if c > self.group_box[g, 1, j]:
                    self.group_box[g, 1, j] = c
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def narrow_group(self, g: cython.int, j: cython.Py_ssize_t, share: cython.double) -> cython.bint:
        """Shed one end of column j, or all but the largest node of a level, where few enough rows would have to go."""
        i: cython.longlong
        c: cython.int
        q: cython.Py_ssize_t
        lo: cython.int = self.group_box[g, 0, j]
        hi: cython.int = self.group_box[g, 1, j]
        most: cython.longlong = (
            cython.cast(cython.longlong, share * (self.group_begin[g + 1] - self.group_begin[g])) + 1
        )
        for c in range(hi - lo + 1):
            self.code_rows[c] = 0
        for i in range(self.group_begin[g], self.group_begin[g + 1]):
            self.code_rows[self.codes[self.slot_cell[i], j] - lo] += 1
        for q in range(self.columns):
            self.wanted_box[0, q] = self.group_box[g, 0, q]
            self.wanted_box[1, q] = self.group_box[g, 1, q]
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
        lo: cython.int = self.group_box[g, 0, j]
        hi: cython.int = self.group_box[g, 1, j]
        c: cython.int = lo if step > 0 else hi
        whole: cython.double = compute_span(self.spans, self.places, j, lo, hi)
        gone: cython.longlong = 0
        while True:
            gone += self.code_rows[c - lo]
            if gone > most or c == (hi if step > 0 else lo):
                return False
            c += step
            while self.code_rows[c - lo] == 0:
                c += step
            if step > 0:
                self.wanted_box[0, j] = c
            else:
                self.wanted_box[1, j] = c
            if compute_span(self.spans, self.places, j, self.wanted_box[0, j], self.wanted_box[1, j]) < whole:
                if self.shed_rows(g, j):
                    return True
                self.wanted_box[0, j] = lo
                self.wanted_box[1, j] = hi
                return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def keep_node(
        self, g: cython.int, j: cython.Py_ssize_t, most: cython.longlong, level: cython.Py_ssize_t
    ) -> cython.bint:
        """Shed all but the node of this level that holds most rows."""
        lo: cython.int = self.group_box[g, 0, j]
        hi: cython.int = self.group_box[g, 1, j]
        c: cython.int = lo
        first: cython.int
        keep: cython.int = lo
        last: cython.int = hi
        here: cython.longlong
        best: cython.longlong = 0
        n: cython.longlong = self.group_begin[g + 1] - self.group_begin[g]
        while c <= hi:
            first = c
            here = 0
            while c <= hi and self.nodes[level + c] == self.nodes[level + first]:
                here += self.code_rows[c - lo]
                c += 1
            if here > best:
                best = here
                keep = first
                last = c - 1
        if n - best > most or n == best:
            return False
        if compute_span(self.spans, self.places, j, keep, last) >= compute_span(self.spans, self.places, j, lo, hi):
            return False
        self.wanted_box[0, j] = keep
        self.wanted_box[1, j] = last
        if self.shed_rows(g, j):
            return True
        self.wanted_box[0, j] = lo
        self.wanted_box[1, j] = hi
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
                self.measure_box(g)
                for j in range(self.columns):
                    while self.group_box[g, 0, j] < self.group_box[g, 1, j] and self.narrow_group(g, j, share):
                        self.measure_box(g)
