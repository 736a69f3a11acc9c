# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, language_level=3
"""Swaps of rows with equal sensitive values between groups: every histogram stays as it is, so any promise survives.

A group sheds the rows that make its box wide in one column: each is exchanged for a row of equal value that lies in the
narrower box, out of a group whose box it fits into already.  Either all of them find a place or none is moved.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython
import numpy as np

if cython.compiled:
    from cython.cimports.reticent.kernels.inline_functions import compute_span, next_random
else:
    from reticent.kernels.inline_functions import compute_span, next_random


@cython.cclass
class Swapper:
    """Slots of rows in groups, the boxes of the groups, and the box that a group is to be narrowed to."""

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
        self.columns = d
        self.seed = 1
        self.wanted_box = np.zeros((2, d), np.int32)
        self.swapped_slots = np.zeros((2, largest + 1), np.int32)
        self.code_rows = np.zeros(int(space[1][:, 2].max(initial=1)), np.int32)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def compute_widening(self, group: cython.int, cell: cython.int) -> cython.double:
        """Return what a group would lose if a row of the cell came into it."""
        column: cython.Py_ssize_t
        code: cython.int
        total: cython.double = 0.0
        for column in range(self.columns):
            code = self.codes[cell, column]
            if code < self.group_box[group, 0, column]:
                total += compute_span(self.spans, self.places, column, code, self.group_box[group, 1, column])
                total -= compute_span(
                    self.spans, self.places, column, self.group_box[group, 0, column], self.group_box[group, 1, column]
                )
            elif code > self.group_box[group, 1, column]:
                total += compute_span(self.spans, self.places, column, self.group_box[group, 0, column], code)
                total -= compute_span(
                    self.spans, self.places, column, self.group_box[group, 0, column], self.group_box[group, 1, column]
                )
        return total * (self.group_begin[group + 1] - self.group_begin[group])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_partner(self, own_slot: cython.longlong, own_group: cython.int) -> cython.longlong:
        """Find a slot whose row fits the box wanted, of a group that the row of `own_slot` widens least, at most by what is left to
        spend; -1 where none is found."""
        value: cython.int = self.slot_value[own_slot]
        first: cython.longlong = self.value_begin[value]
        count: cython.longlong = self.value_begin[value + 1] - first
        _turn: cython.longlong
        column: cython.Py_ssize_t
        slot: cython.longlong
        position: cython.longlong
        partner: cython.longlong = -1
        cell: cython.int
        code: cython.int
        cost: cython.double
        least_cost: cython.double = self.budget
        self.seed = next_random(self.seed)
        position = self.seed % count
        for _turn in range(count if count < self.max_looks else self.max_looks):
            position += 1
            if position >= count:
                position = 0
            slot = self.slots_by_value[first + position]
            cell = self.slot_cell[slot]
            for column in range(self.columns):
                code = self.codes[cell, column]
                if code < self.wanted_box[0, column] or code > self.wanted_box[1, column]:
                    break
            else:
                if self.slot_group[slot] == own_group:
                    continue
                cost = self.compute_widening(self.slot_group[slot], self.slot_cell[own_slot])
                if cost < least_cost:
                    least_cost = cost
                    partner = slot
                    if cost <= 0.0:
                        break
        if partner >= 0:
            self.budget -= least_cost
        return partner

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def shed_rows(self, group: cython.int, column: cython.Py_ssize_t) -> cython.bint:
        """Exchange all rows of group g that are outside the box wanted, which is narrower in column q."""
        slot: cython.longlong
        partner: cython.longlong
        swaps: cython.Py_ssize_t = 0
        j: cython.Py_ssize_t
        c: cython.int
        partner_group: cython.int
        self.budget = compute_span(
            self.spans, self.places, column, self.group_box[group, 0, column], self.group_box[group, 1, column]
        )
        self.budget -= compute_span(
            self.spans, self.places, column, self.wanted_box[0, column], self.wanted_box[1, column]
        )
        self.budget *= (self.group_begin[group + 1] - self.group_begin[group]) * 0.999
        for slot in range(self.group_begin[group], self.group_begin[group + 1]):
            c = self.codes[self.slot_cell[slot], column]
            if c < self.wanted_box[0, column] or c > self.wanted_box[1, column]:
                partner = self.find_partner(slot, group)
                if partner < 0:
                    while swaps > 0:
                        swaps -= 1
                        c = self.slot_cell[self.swapped_slots[0, swaps]]
                        self.slot_cell[self.swapped_slots[0, swaps]] = self.slot_cell[self.swapped_slots[1, swaps]]
                        self.slot_cell[self.swapped_slots[1, swaps]] = c
                        self.measure_box(self.slot_group[self.swapped_slots[1, swaps]])
                    return False
                partner_group = self.slot_group[partner]
                for j in range(self.columns):
                    c = self.codes[self.slot_cell[slot], j]
                    if c < self.group_box[partner_group, 0, j]:
                        self.group_box[partner_group, 0, j] = c
                    if c > self.group_box[partner_group, 1, j]:
                        self.group_box[partner_group, 1, j] = c
                c = self.slot_cell[slot]
                self.slot_cell[slot] = self.slot_cell[partner]
                self.slot_cell[partner] = c
                self.swapped_slots[0, swaps] = slot
                self.swapped_slots[1, swaps] = partner
                swaps += 1
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def measure_box(self, group: cython.int) -> cython.int:
        """Measure the box of a group anew."""
        slot: cython.longlong
        column: cython.Py_ssize_t
        code: cython.int
        for column in range(self.columns):
            self.group_box[group, 0, column] = 2147483647
            self.group_box[group, 1, column] = -1
        for slot in range(self.group_begin[group], self.group_begin[group + 1]):
            for column in range(self.columns):
                code = self.codes[self.slot_cell[slot], column]
                if code < self.group_box[group, 0, column]:
                    self.group_box[group, 0, column] = code
                if code > self.group_box[group, 1, column]:
                    self.group_box[group, 1, column] = code
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def narrow_group(self, group: cython.int, column: cython.Py_ssize_t, share: cython.double) -> cython.bint:
        """Shed one end of column j, or all but the largest node of a level, where few enough rows would have to go."""
        slot: cython.longlong
        code: cython.int
        q: cython.Py_ssize_t
        low: cython.int = self.group_box[group, 0, column]
        high: cython.int = self.group_box[group, 1, column]
        max_rows: cython.longlong = (
            cython.cast(cython.longlong, share * (self.group_begin[group + 1] - self.group_begin[group])) + 1
        )
        for code in range(high - low + 1):
            self.code_rows[code] = 0
        for slot in range(self.group_begin[group], self.group_begin[group + 1]):
            self.code_rows[self.codes[self.slot_cell[slot], column] - low] += 1
        for q in range(self.columns):
            self.wanted_box[0, q] = self.group_box[group, 0, q]
            self.wanted_box[1, q] = self.group_box[group, 1, q]
        if self.shed_end(group, column, max_rows, 1) or self.shed_end(group, column, max_rows, -1):
            return True
        for q in range(self.trees[column, 1]):
            if self.keep_node(group, column, max_rows, self.trees[column, 0] + q * self.places[column, 2]):
                return True
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def shed_end(
        self, group: cython.int, column: cython.Py_ssize_t, max_rows: cython.longlong, step: cython.int
    ) -> cython.bint:
        """Shed, from the low end upwards (step 1) or the high end downwards, the fewest codes whose going narrows the span."""
        low: cython.int = self.group_box[group, 0, column]
        high: cython.int = self.group_box[group, 1, column]
        code: cython.int = low if step > 0 else high
        span: cython.double = compute_span(self.spans, self.places, column, low, high)
        shed_count: cython.longlong = 0
        while True:
            shed_count += self.code_rows[code - low]
            if shed_count > max_rows or code == (high if step > 0 else low):
                return False
            code += step
            while self.code_rows[code - low] == 0:
                code += step
            if step > 0:
                self.wanted_box[0, column] = code
            else:
                self.wanted_box[1, column] = code
            if (
                compute_span(self.spans, self.places, column, self.wanted_box[0, column], self.wanted_box[1, column])
                < span
            ):
                if self.shed_rows(group, column):
                    return True
                self.wanted_box[0, column] = low
                self.wanted_box[1, column] = high
                return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def keep_node(
        self, group: cython.int, column: cython.Py_ssize_t, max_rows: cython.longlong, level: cython.Py_ssize_t
    ) -> cython.bint:
        """Shed all but the node of this level that holds most rows."""
        low: cython.int = self.group_box[group, 0, column]
        high: cython.int = self.group_box[group, 1, column]
        code: cython.int = low
        first: cython.int
        best_first: cython.int = low
        best_last: cython.int = high
        node_rows: cython.longlong
        most_rows: cython.longlong = 0
        group_rows: cython.longlong = self.group_begin[group + 1] - self.group_begin[group]
        while code <= high:
            first = code
            node_rows = 0
            while code <= high and self.nodes[level + code] == self.nodes[level + first]:
                node_rows += self.code_rows[code - low]
                code += 1
            if node_rows > most_rows:
                most_rows = node_rows
                best_first = first
                best_last = code - 1
        if group_rows - most_rows > max_rows or group_rows == most_rows:
            return False
        if compute_span(self.spans, self.places, column, best_first, best_last) >= compute_span(
            self.spans, self.places, column, low, high
        ):
            return False
        self.wanted_box[0, column] = best_first
        self.wanted_box[1, column] = best_last
        if self.shed_rows(group, column):
            return True
        self.wanted_box[0, column] = low
        self.wanted_box[1, column] = high
        return False

    def sweep(self, order: cython.int[::1], seed, share: cython.double, stop: cython.char[::1]):
        """Narrow each of the groups, in this order, as often as that succeeds; end once the flag `stop` (one byte) is not 0."""
        i: cython.Py_ssize_t
        column: cython.Py_ssize_t
        group: cython.int
        self.seed = seed
        with cython.nogil:
            for i in range(order.shape[0]):
                if stop[0] != 0:
                    break
                group = order[i]
                self.measure_box(group)
                for column in range(self.columns):
                    while self.group_box[group, 0, column] < self.group_box[group, 1, column] and self.narrow_group(
                        group, column, share
                    ):
                        self.measure_box(group)
