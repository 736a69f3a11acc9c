# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, language_level=3
"""Quota cuts: a region is cut in two wherever both parts can keep the promise, by taking quotas of each value.

A region is a list of items (cell, rows of it).  A cut takes the rows before a code of one column, or only those after it, or
those under one node; where a value would then break its cap on either side, its quota is moved within the bounds of both.
At most one cell of each value is divided by a cut.  `Cutter.resolve` pools near groups and cuts the pool anew.

A worker's arrays are the fields of one object, so that no function needs thirty arguments.  Its class is written in four
parts, each built on the one before:

    Region       the items of a region, what they hold, both parts of a cut, and the promise on a part
    QuotaBounds  how many rows of each value a part may take, so that it and the rest keep the promise
    CutSearch    all cuts of a region, estimated; the best few are remembered as candidates
    Cutter       candidates carved out exactly, regions cut from the top down, pools of groups cut anew

The promise is judged by integers (`keeps_promise`); doubles guide the search, and judge only what the orchestrator checks
again.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import log
    from cython.cimports.reticent.kernels.inline_functions import (
        compute_span,
        is_recursively_diverse,
        next_random,
        scale_random,
        sum_excess,
        sum_ordered_distance,
    )
else:
    from math import log

    from reticent.kernels.inline_functions import (
        compute_span,
        is_recursively_diverse,
        next_random,
        scale_random,
        sum_excess,
        sum_ordered_distance,
    )

LARGE = cython.declare(cython.double, 1e300)
NO_CODE = cython.declare(cython.int, 2147483647)  # above every code
# kinds of cuts: the rows before a code, those after it, before it with quotas borrowed across it, those under one node
BEFORE = cython.declare(cython.int, 1)
AFTER = cython.declare(cython.int, 2)
BALANCED = cython.declare(cython.int, 3)
ONE_NODE = cython.declare(cython.int, 4)
# which rows a part may take
ROWS_BEFORE = cython.declare(cython.int, 0)
ROWS_AFTER = cython.declare(cython.int, 1)
ANY_ROWS = cython.declare(cython.int, 2)
# distances of t-closeness
EQUAL = cython.declare(cython.longlong, 1)
ORDERED = cython.declare(cython.longlong, 2)
HIERARCHICAL = cython.declare(cython.longlong, 3)
# what one step towards the table's proportions did
WITHIN_LIMIT = cython.declare(cython.int, 0)
MOVED = cython.declare(cython.int, 1)
STUCK = cython.declare(cython.int, 2)
EVERY_POOL_ROWS = cython.declare(cython.longlong, 2000)  # rows of a pool up to which each is cut anew
SHARES = cython.declare(cython.longlong, 1024)  # steps of the table of what a gain is worth
MAX_CANDIDATES = 16
MAX_STAGES = 9
MAX_POOL_GROUPS = 64


@cython.cclass
class Region:
    """The items of a region, what they hold, both parts of a cut, and the promise on a part.

    The rule is a `KernelRule` of `reticent.methods.mosaic.kernel_tables`, the space a `LossSpace` of the same module.
    """

    # the table: codes and sensitive value of each cell, losses of spans, nodes of hierarchies
    codes: cython.int[:, ::1]
    values: cython.int[::1]
    spans: cython.double[::1]
    places: cython.longlong[:, ::1]
    nodes: cython.int[::1]
    trees: cython.longlong[:, ::1]
    columns: cython.Py_ssize_t
    value_count: cython.Py_ssize_t
    # the rule
    caps: cython.longlong[:, ::1]  # of each value: upper cap, lower cap, each a numerator and a denominator
    upper_rate: cython.double[::1]
    lower_rate: cython.double[::1]
    share: cython.double[::1]  # of each value in the table
    level_edges: cython.char[:, ::1]  # where nodes of each level of the sensitive hierarchy begin
    min_size: cython.longlong
    min_distinct: cython.longlong
    present_only: cython.longlong  # whether lower caps bind only values that occur
    null_value: cython.longlong
    distance: cython.longlong
    distance_limit: cython.double
    entropy_limit: cython.double
    diversity: cython.longlong
    diversity_factor: cython.double
    caps_only: cython.bint  # integers decide everything
    min_part_rows: cython.longlong
    # the region
    item_cell: cython.int[::1]
    item_rows: cython.int[::1]
    region_rows: cython.longlong
    row_loss: cython.double
    box: cython.int[:, ::1]
    present: cython.int[::1]  # the values that occur
    present_count: cython.Py_ssize_t
    histogram: cython.longlong[::1]  # rows of each value
    value_items: cython.longlong[::1]  # items of each value
    # both parts of a cut
    part_counts: cython.longlong[:, ::1]  # rows of each value, then their sum
    part_boxes: cython.int[:, ::1]  # least and greatest codes of the part that is taken, then of the rest
    strain_price: cython.double

    def __init__(self, items, space, rule, rows):
        """items = (codes, values); space = (spans, places, nodes, trees); rule = (caps, rates, least, limits, edges)."""
        self.codes, self.values = items
        self.spans, self.places, self.nodes, self.trees = space
        self.caps, rates, thresholds, limits, self.level_edges = rule
        self.upper_rate, self.lower_rate, self.share = rates
        self.min_size, self.min_distinct, self.present_only, self.null_value, self.distance, self.diversity = (
            thresholds[:6]
        )
        self.distance_limit, self.entropy_limit, self.diversity_factor = limits[:3]
        self.caps_only = self.distance == 0 and self.diversity == 0 and self.entropy_limit == 0
        self.min_part_rows = max(int(thresholds[0]), 1)
        columns = items[0].shape[1]
        value_count = len(rule[0])
        self.columns = columns
        self.value_count = value_count
        self.item_cell, self.item_rows = np.zeros((2, rows), np.int32)
        self.region_rows = 0
        self.row_loss = 0.0
        self.box = np.zeros((2, columns), np.int32)
        self.present = np.zeros(value_count, np.int32)
        self.present_count = 0
        self.histogram, self.value_items = np.zeros((2, value_count), np.int64)
        self.part_counts = np.zeros((2, value_count + 1), np.int64)
        self.part_boxes = np.zeros((4, columns), np.int32)
        self.strain_price = 0.0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def span(self, column: cython.Py_ssize_t, low: cython.int, high: cython.int) -> cython.double:
        return compute_span(self.spans, self.places, column, low, high)

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def measure_region(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.double:
        """Measure the region of the items begin..end-1: box, values and size; return its loss per row."""
        i: cython.Py_ssize_t
        column: cython.Py_ssize_t
        code: cython.int
        value: cython.int
        cell: cython.int
        for i in range(self.value_count):
            self.histogram[i] = 0
            self.value_items[i] = 0
            self.part_counts[0, i] = 0
            self.part_counts[1, i] = 0
        for column in range(self.columns):
            self.box[0, column] = self.codes[self.item_cell[begin], column]
            self.box[1, column] = self.box[0, column]
        self.region_rows = 0
        self.present_count = 0
        for i in range(begin, end):
            cell = self.item_cell[i]
            value = self.values[cell]
            if self.histogram[value] == 0:
                self.present[self.present_count] = value
                self.present_count += 1
            self.histogram[value] += self.item_rows[i]
            self.value_items[value] += 1
            self.region_rows += self.item_rows[i]
            for column in range(self.columns):
                code = self.codes[cell, column]
                if code < self.box[0, column]:
                    self.box[0, column] = code
                elif code > self.box[1, column]:
                    self.box[1, column] = code
        self.row_loss = 0.0
        for column in range(self.columns):
            self.row_loss += self.span(column, self.box[0, column], self.box[1, column])
        return self.row_loss

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def keeps_promise(self, part: cython.Py_ssize_t) -> cython.bint:
        """Tell whether a part keeps the promise, by integers: size, distinct values, upper and lower caps."""
        value: cython.Py_ssize_t
        distinct: cython.longlong = 0
        count: cython.longlong
        size: cython.longlong = self.part_counts[part, self.value_count]
        if size < self.min_size:
            return False
        for value in range(self.value_count):
            count = self.part_counts[part, value]
            if count > 0:
                if value != self.null_value:
                    distinct += 1
                if count * self.caps[value, 1] > self.caps[value, 0] * size:
                    return False
            if count * self.caps[value, 3] < self.caps[value, 2] * size and (count > 0 or self.present_only == 0):
                return False
        if distinct < self.min_distinct:
            return False
        return self.caps_only or self.keeps_other_limits(part, size)

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def keeps_other_limits(self, part: cython.Py_ssize_t, size: cython.longlong) -> cython.bint:
        """Tell, by doubles, whether a part keeps closeness, entropy and recursive diversity; that is checked again outside."""
        total: cython.double = 0.0
        if self.entropy_limit > 0.0 and self.sum_entropy(part, size) < self.entropy_limit * size:
            return False
        if self.diversity > 0 and not is_recursively_diverse(
            self.part_counts, part, self.value_count, size, self.diversity, self.diversity_factor
        ):
            return False
        if self.distance == EQUAL:
            total = sum_excess(self.part_counts, part, self.share, self.value_count, size)
        elif self.distance == ORDERED:
            total = sum_ordered_distance(self.part_counts, part, self.share, self.value_count, size)
        elif self.distance == HIERARCHICAL:
            total = self.sum_hierarchical_distance(part, size)
        return total <= self.distance_limit * size

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sum_entropy(self, part: cython.Py_ssize_t, size: cython.longlong) -> cython.double:
        """Return the entropy of a part's values, times its rows."""
        value: cython.Py_ssize_t
        count: cython.longlong
        total: cython.double = 0.0
        for value in range(self.value_count):
            count = self.part_counts[part, value]
            if count > 0:
                total -= count * log(cython.cast(cython.double, count) / size)
        return total

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sum_hierarchical_distance(self, part: cython.Py_ssize_t, size: cython.longlong) -> cython.double:
        """Return the hierarchical distance of a part from the table's proportions, times its rows and the tree's height."""
        value: cython.Py_ssize_t
        level: cython.Py_ssize_t
        node_excess: cython.double
        level_sum: cython.double
        sum_below: cython.double = 0.0
        total: cython.double = 0.0
        for level in range(self.level_edges.shape[0]):
            level_sum = 0.0
            node_excess = 0.0
            for value in range(self.value_count):
                if self.level_edges[level, value] and value > 0:
                    level_sum += abs(node_excess)
                    node_excess = 0.0
                node_excess += self.part_counts[part, value] - self.share[value] * size
            level_sum += abs(node_excess)
            if level > 0:
                total += level * (sum_below - level_sum)
            sum_below = level_sum
        return total

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def compute_strain(self) -> cython.double:
        """Return how far both parts are from the table's proportions, beyond the region itself, priced as loss."""
        i: cython.Py_ssize_t
        value: cython.int
        part: cython.Py_ssize_t
        excess: cython.double
        total: cython.double = 0.0
        for i in range(self.present_count):
            value = self.present[i]
            for part in range(2):
                excess = self.part_counts[part, value] - self.part_counts[part, self.value_count] * self.share[value]
                if excess > 0.0:
                    total += excess
            excess = self.histogram[value] - self.region_rows * self.share[value]
            if excess > 0.0:
                total -= excess
        return total * self.strain_price

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def clear_parts(self) -> cython.int:
        value: cython.Py_ssize_t
        column: cython.Py_ssize_t
        for value in range(self.value_count + 1):
            self.part_counts[0, value] = 0
            self.part_counts[1, value] = 0
        for column in range(self.columns):
            self.part_boxes[0, column] = NO_CODE
            self.part_boxes[1, column] = -1
            self.part_boxes[2, column] = NO_CODE
            self.part_boxes[3, column] = -1
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def add_to_part(
        self, part: cython.Py_ssize_t, cell: cython.int, value: cython.int, rows: cython.longlong
    ) -> cython.int:
        """Add rows of a cell to a part: to its counts and its box."""
        column: cython.Py_ssize_t
        code: cython.int
        self.part_counts[part, value] += rows
        self.part_counts[part, self.value_count] += rows
        for column in range(self.columns):
            code = self.codes[cell, column]
            if code < self.part_boxes[2 * part, column]:
                self.part_boxes[2 * part, column] = code
            if code > self.part_boxes[2 * part + 1, column]:
                self.part_boxes[2 * part + 1, column] = code
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def compute_parts_loss(self) -> cython.double:
        """Return the loss of all rows of both parts."""
        part: cython.Py_ssize_t
        column: cython.Py_ssize_t
        total: cython.double = 0.0
        for part in range(2):
            for column in range(self.columns):
                total += self.part_counts[part, self.value_count] * self.span(
                    column, self.part_boxes[2 * part, column], self.part_boxes[2 * part + 1, column]
                )
        return total


@cython.cclass
class QuotaBounds(Region):
    """How many rows of each value a part may take, so that it and the rest keep the promise.

    By caps alone a value's quota lies between two bounds that follow from the sizes of both parts.  For any other promise
    a composition is sought that is near the table's proportions on both sides, by water-filling, and is then the quota.
    """

    rows_before: cython.longlong[::1]  # of each value: rows on the near side of the cut,
    rows_inside: cython.longlong[::1]  # and of all items that are inside the box at hand
    lower: cython.longlong[::1]
    upper: cython.longlong[::1]
    composition: cython.longlong[::1]  # rows of each value in the part
    proposal: cython.double[::1]  # the composition while it is fitted, before it is rounded
    proposal_rows: cython.double
    strain: cython.double  # of the last composition that fits
    nearness: cython.double  # excess, as a share of a part's rows, that is tried first,
    nearness_decay: cython.double  # and what it is multiplied by where the promise needs less
    attempts: cython.longlong

    def __init__(self, items, space, rule, rows):
        super().__init__(items, space, rule, rows)
        value_count = len(rule[0])
        self.rows_before, self.rows_inside, self.lower, self.upper, self.composition = np.zeros(
            (5, value_count), np.int64
        )
        self.proposal = np.zeros(value_count)
        self.proposal_rows = 0.0
        self.strain = 0.0
        self.nearness, self.nearness_decay = rule[3][3:]
        self.attempts = rule[2][6]

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def bound_quotas(self, rows: cython.longlong, side: cython.int) -> cython.longlong:
        """Bound how many rows of each value a part of so many rows may take, of those that its side has.

        Returns the sum that may be taken, or -1 where no part of so many rows is possible.
        """
        i: cython.Py_ssize_t
        value: cython.int
        available: cython.longlong
        lower: cython.longlong
        upper: cython.longlong
        lower_sum: cython.longlong = 0
        upper_sum: cython.longlong = 0
        impossible: cython.bint = False
        for i in range(self.present_count):
            value = self.present[i]
            available = self.rows_before[value]
            if side == ROWS_AFTER:
                available = self.rows_inside[value] - available
            upper = floor_product(self.upper_rate[value], rows)
            if side == ANY_ROWS and self.histogram[value] < upper:
                upper = self.histogram[value]
            if side != ANY_ROWS and available < upper:
                upper = available
            lower = self.histogram[value] - floor_product(self.upper_rate[value], self.region_rows - rows)
            if lower < 0:
                lower = 0
            self.lower[value] = lower
            self.upper[value] = upper
            if self.lower_rate[value] > 0.0:
                self.apply_lower_cap(value, rows, available)
            if self.lower[value] > self.upper[value]:
                impossible = True
            upper_sum += self.upper[value]
            lower_sum += self.lower[value]
        if upper_sum >= rows and (impossible or lower_sum > rows):
            return -1
        return upper_sum

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def apply_lower_cap(self, value: cython.int, rows: cython.longlong, available: cython.longlong) -> cython.int:
        """Narrow the bounds of a value by its lower cap on both sides.

        Where only present values are bound, a value may be left out of one side altogether.
        """
        rate: cython.double = self.lower_rate[value]
        value_rows: cython.longlong = self.histogram[value]
        least_of_rest: cython.longlong = floor_product(rate, self.region_rows - rows) + 1
        lower: cython.longlong = floor_product(rate, rows) + 1
        upper: cython.longlong = value_rows - least_of_rest
        if lower < self.lower[value]:
            lower = self.lower[value]
        if upper > self.upper[value]:
            upper = self.upper[value]
        if self.present_only == 1:
            if (
                self.lower[value] == 0
                and value_rows >= least_of_rest
                and (lower <= 1 or lower > upper or available < lower)
            ):
                self.lower[value] = 0
                self.upper[value] = upper if lower <= 1 and upper > 0 else 0
                return 0
            if lower > upper and self.upper[value] >= value_rows and value_rows > floor_product(rate, rows):
                self.lower[value] = value_rows
                self.upper[value] = value_rows
                return 0
        self.lower[value] = lower
        self.upper[value] = upper
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_largest_part(self, rows: cython.longlong, side: cython.int) -> cython.longlong:
        """Return the size of the largest part of at most so many rows on a side; 0 where there is none.

        It is the fixpoint of the size and the sum of the upper bounds.
        """
        upper_sum: cython.longlong
        if rows > self.region_rows - self.min_part_rows:
            rows = self.region_rows - self.min_part_rows
        if not self.caps_only:
            return self.fill_part(side)
        while rows >= self.min_part_rows:
            upper_sum = self.bound_quotas(rows, side)
            if upper_sum >= rows:
                return rows
            if upper_sum < 0:
                rows -= 1 + rows // 8
            else:
                rows = upper_sum
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def balance_part(self, rows: cython.longlong) -> cython.longlong:
        """Clamp the composition of the rows before the cut to what both sides may hold; return its size, or 0."""
        clamped_rows: cython.longlong
        _turn: cython.Py_ssize_t
        if not self.caps_only:
            return self.balance_near_proportions(rows)
        for _turn in range(6):
            if rows < self.min_part_rows or self.region_rows - rows < self.min_part_rows:
                return 0
            if self.bound_quotas(rows, ANY_ROWS) < rows:
                return 0
            clamped_rows = self.clamp_composition()
            if clamped_rows == rows:
                return rows
            rows = clamped_rows
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def clamp_composition(self) -> cython.longlong:
        """Set the composition to the rows before the cut, within the bounds of each value; return its size."""
        i: cython.Py_ssize_t
        value: cython.int
        rows: cython.longlong
        total: cython.longlong = 0
        for i in range(self.present_count):
            value = self.present[i]
            rows = self.rows_before[value]
            if rows < self.lower[value]:
                rows = self.lower[value]
            if rows > self.upper[value]:
                rows = self.upper[value]
            self.composition[value] = rows
            total += rows
        return total

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fix_quotas(self) -> cython.int:
        """Make the composition the quota of each value."""
        i: cython.Py_ssize_t
        value: cython.int
        for i in range(self.present_count):
            value = self.present[i]
            self.lower[value] = self.composition[value]
            self.upper[value] = self.composition[value]
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def check_composition(self) -> cython.longlong:
        """Return the size of the composition where both it and the rest keep the promise, else 0; note its strain."""
        i: cython.Py_ssize_t
        value: cython.int
        rows: cython.longlong = 0
        for i in range(self.present_count):
            value = self.present[i]
            self.part_counts[0, value] = self.composition[value]
            self.part_counts[1, value] = self.histogram[value] - self.composition[value]
            rows += self.composition[value]
        if rows < self.min_part_rows or self.region_rows - rows < self.min_part_rows:
            return 0
        self.part_counts[0, self.value_count] = rows
        self.part_counts[1, self.value_count] = self.region_rows - rows
        if self.keeps_promise(0) and self.keeps_promise(1):
            self.strain = self.compute_strain()
            return rows
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fill_part(self, side: cython.int) -> cython.longlong:
        """Fix as many rows of one side as leave both parts near the table's proportions; return how many, 0 where none do."""
        attempt: cython.Py_ssize_t
        i: cython.Py_ssize_t
        value: cython.int
        limit: cython.double = self.nearness
        rows: cython.longlong
        for attempt in range(self.attempts):
            for i in range(self.present_count):
                value = self.present[i]
                self.proposal[value] = self.rows_before[value]
                if side == ROWS_AFTER:
                    self.proposal[value] = self.rows_inside[value] - self.rows_before[value]
            if attempt > 0 or self.attempts == 3:
                self.lessen_proposal(limit)
                limit *= self.nearness_decay
            for i in range(self.present_count):
                value = self.present[i]
                self.composition[value] = cython.cast(cython.longlong, self.proposal[value] + 1e-9)
            rows = self.check_composition()
            if rows > 0:
                self.fix_quotas()
                return rows
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def lessen_proposal(self, limit: cython.double) -> cython.int:
        """Lessen the proposal until neither it nor the rest has more than this share of its rows in excess."""
        _turn: cython.Py_ssize_t
        i: cython.Py_ssize_t
        own: cython.int
        other: cython.int
        for _turn in range(12):
            self.proposal_rows = 0.0
            for i in range(self.present_count):
                self.proposal_rows += self.proposal[self.present[i]]
            own = self.lessen_own_excess(limit)
            other = self.lessen_excess_of_rest(limit)
            if other == STUCK or (own == WITHIN_LIMIT and other == WITHIN_LIMIT):
                break
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def lessen_own_excess(self, limit: cython.double) -> cython.int:
        """Scale down what the proposal has above the table's proportions."""
        i: cython.Py_ssize_t
        value: cython.int
        rows: cython.double = self.proposal_rows
        scale: cython.double
        excess: cython.double = self.sum_proposal_excess(False, rows)
        if excess <= limit * rows:
            return WITHIN_LIMIT
        scale = limit * rows / excess
        for i in range(self.present_count):
            value = self.present[i]
            if self.proposal[value] > rows * self.share[value]:
                self.proposal[value] = rows * self.share[value] + scale * (
                    self.proposal[value] - rows * self.share[value]
                )
        self.proposal_rows = rows - excess * (1.0 - scale)
        return MOVED

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def lessen_excess_of_rest(self, limit: cython.double) -> cython.int:
        """Leave more rows to the rest of the values that it is short of."""
        i: cython.Py_ssize_t
        value: cython.int
        shortage: cython.double
        total: cython.double = 0.0
        rows: cython.double = self.region_rows - self.proposal_rows
        excess: cython.double = self.sum_proposal_excess(True, rows) - limit * rows
        if excess <= 0.0:
            return WITHIN_LIMIT
        for i in range(self.present_count):
            shortage = self.compute_shortage(self.present[i], rows)
            if shortage > 0.0:
                total += shortage
        if total <= 0.0:
            return STUCK
        excess = excess / total if excess < total else 1.0
        for i in range(self.present_count):
            value = self.present[i]
            shortage = self.compute_shortage(value, rows)
            if shortage > 0.0:
                self.proposal[value] -= excess * shortage
        return MOVED

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def compute_shortage(self, value: cython.int, rows: cython.double) -> cython.double:
        """Return how many rows of a value the rest lacks of the table's proportions, at most those of the proposal."""
        shortage: cython.double = rows * self.share[value] - (self.histogram[value] - self.proposal[value])
        return self.proposal[value] if shortage > self.proposal[value] else shortage

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sum_proposal_excess(self, of_rest: cython.bint, rows: cython.double) -> cython.double:
        """Return how many of so many rows lie above the table's proportions, in the proposal or in the rest of the region."""
        i: cython.Py_ssize_t
        value: cython.int
        excess: cython.double
        total: cython.double = 0.0
        for i in range(self.present_count):
            value = self.present[i]
            excess = self.proposal[value]
            if of_rest:
                excess = self.histogram[value] - excess
            excess -= rows * self.share[value]
            if excess > 0.0:
                total += excess
        return total

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def balance_near_proportions(self, rows: cython.longlong) -> cython.longlong:
        """Fix the composition before the cut, moved towards the table's as little as both sides need; return its size, or 0."""
        _attempt: cython.Py_ssize_t
        i: cython.Py_ssize_t
        value: cython.int
        limit: cython.double = self.nearness
        size: cython.longlong
        if rows < self.min_part_rows or self.region_rows - rows < self.min_part_rows:
            return 0
        for i in range(self.present_count):
            self.composition[self.present[i]] = self.rows_before[self.present[i]]
        size = self.check_composition()
        for _attempt in range(self.attempts):
            if size > 0:
                self.fix_quotas()
                return size
            for i in range(self.present_count):
                self.proposal[self.present[i]] = self.rows_before[self.present[i]]
            self.project_proposal(rows, limit)
            limit *= self.nearness_decay
            for i in range(self.present_count):
                value = self.present[i]
                size = cython.cast(cython.longlong, self.proposal[value] + 1e-9)
                if (
                    self.proposal[value] < rows * self.share[value]
                    and size < self.histogram[value]
                    and self.proposal[value] > size + 1e-9
                ):
                    size += 1
                self.composition[value] = size
            size = self.check_composition()
        if size > 0:
            self.fix_quotas()
        return size

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def project_proposal(self, rows: cython.double, limit: cython.double) -> cython.int:
        """Project the proposal, then the rest, in turns; both keep their numbers of rows."""
        _turn: cython.Py_ssize_t
        own: cython.int
        other: cython.int
        for _turn in range(5):
            own = self.project_side(False, rows, limit)
            if own == STUCK:
                break
            other = self.project_side(True, self.region_rows - rows, limit)
            if other == STUCK or (own == WITHIN_LIMIT and other == WITHIN_LIMIT):
                break
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def project_side(self, of_rest: cython.bint, rows: cython.double, limit: cython.double) -> cython.int:
        """Move the excess of one side, down to the limit, to the values it is short of."""
        i: cython.Py_ssize_t
        value: cython.int
        rows_of_side: cython.double
        even: cython.double
        total: cython.double = 0.0
        moved: cython.double
        excess: cython.double = self.sum_proposal_excess(of_rest, rows)
        if excess <= limit * rows:
            return WITHIN_LIMIT
        moved = excess - limit * rows
        for i in range(self.present_count):
            value = self.present[i]
            even = rows * self.share[value]
            if even > self.histogram[value]:
                even = self.histogram[value]
            even -= self.histogram[value] - self.proposal[value] if of_rest else self.proposal[value]
            if even > 0.0:
                total += even
        if total <= 0.0:
            return STUCK
        if moved > total:
            moved = total
        for i in range(self.present_count):
            value = self.present[i]
            even = rows * self.share[value]
            rows_of_side = self.histogram[value] - self.proposal[value] if of_rest else self.proposal[value]
            if rows_of_side > even:
                rows_of_side -= (rows_of_side - even) * moved / excess
            else:
                if even > self.histogram[value]:
                    even = self.histogram[value]
                if even > rows_of_side:
                    rows_of_side += (even - rows_of_side) * moved / total
            self.proposal[value] = self.histogram[value] - rows_of_side if of_rest else rows_of_side
        return MOVED


@cython.cclass
class CutSearch(QuotaBounds):
    """All cuts of a region, estimated; the best few are remembered as candidates, the best first.

    An estimate counts the span of the cut's own column alone.
    """

    # candidates
    tries: cython.Py_ssize_t  # how many are remembered
    gains: cython.double[::1]
    cut_column: cython.longlong[::1]
    cut_kind: cython.longlong[::1]
    cut_code: cython.longlong[::1]  # the last code before the cut, or the first of the node
    cut_last: cython.longlong[::1]  # the last code of the node
    cut_rows: cython.longlong[::1]
    cut_stage: cython.longlong[::1]
    # the items inside the box of a stage, in the order of a column
    max_stage: cython.Py_ssize_t
    stage_box: cython.int[:, :, ::1]
    inside_items: cython.int[::1]
    inside_count: cython.Py_ssize_t
    inside_rows: cython.longlong
    sorted_items: cython.int[::1]
    buckets: cython.int[::1]
    # the items of each value in that order: code and running count, where its list begins and where the cut is in it
    list_codes: cython.int[::1]
    list_counts: cython.int[::1]
    list_begin: cython.longlong[::1]
    list_position: cython.longlong[::1]
    # what a gain is worth
    seed: cython.longlong
    noise: cython.double
    bit_power: cython.double
    worth_of_share: cython.double[::1]
    column_favour: cython.double[::1]
    stop: cython.char[::1]

    def __init__(self, items, space, rule, rows):
        super().__init__(items, space, rule, rows)
        columns = items[0].shape[1]
        value_count = len(rule[0])
        most_codes = int(space[1][:, 2].max(initial=0))
        self.tries = 4
        self.gains = np.zeros(MAX_CANDIDATES)
        self.cut_column, self.cut_kind, self.cut_code, self.cut_last, self.cut_rows, self.cut_stage = np.zeros(
            (6, MAX_CANDIDATES), np.int64
        )
        self.max_stage = 0
        self.stage_box = np.zeros((MAX_STAGES, 2, columns), np.int32)
        self.inside_items, self.sorted_items, self.list_codes, self.list_counts = np.zeros((4, rows), np.int32)
        self.inside_count = 0
        self.inside_rows = 0
        self.buckets = np.zeros(min(most_codes, 4 * rows + 64) + 64, np.int32)
        self.list_begin, self.list_position = np.zeros((2, value_count), np.int64)
        self.seed = 1
        self.noise = 0.0
        self.stop = np.zeros(1, np.int8)
        self.price_bits(0.0)

    def price_bits(self, power, favour=None):
        """Tabulate what a gain is worth by the share of rows a cut takes.

        It is divided by the bits that the cut spends, to this power, and multiplied by the favour of its column.
        """
        share = (np.arange(SHARES + 1) + 0.5) / (SHARES + 2)
        bits = -(share * np.log2(share) + (1 - share) * np.log2(1 - share))
        self.bit_power = power
        self.worth_of_share = bits**-power
        self.column_favour = np.ones(self.columns) if favour is None else favour

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def search_cuts(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Weigh all cuts of the region, then of the best box found so far, column upon column, for as long as that gains.

        Taking rows from a box that is narrow in several columns strains the promise once, not once for each column.
        """
        stage: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t
        column: cython.Py_ssize_t
        for i in range(self.tries):
            self.gains[i] = -LARGE
        for column in range(self.columns):
            self.stage_box[0, 0, column] = self.box[0, column]
            self.stage_box[0, 1, column] = self.box[1, column]
        while True:
            self.pick_inside(begin, end, stage)
            for column in range(self.columns):
                if self.span(column, self.stage_box[stage, 0, column], self.stage_box[stage, 1, column]) > 0.0:
                    self.sort_items(column)
                    self.weigh_column(column, stage)
            if stage == self.max_stage:
                return 0
            i = self.find_unbalanced_candidate()
            if i < 0 or self.cut_stage[i] != stage:  # the last stage gained nothing
                return 0
            self.enter_stage(i, stage)
            stage += 1

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_unbalanced_candidate(self) -> cython.Py_ssize_t:
        """Return the best candidate that takes the rows of one side alone, -1 where there is none."""
        i: cython.Py_ssize_t
        for i in range(self.tries):
            if self.gains[i] <= -LARGE:
                return -1
            if self.cut_kind[i] != BALANCED:
                return i
        return -1

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def enter_stage(self, candidate: cython.Py_ssize_t, stage: cython.Py_ssize_t) -> cython.int:
        """Make the box of the next stage: that of this one, on the side that the candidate takes."""
        column: cython.Py_ssize_t
        kind: cython.longlong = self.cut_kind[candidate]
        code: cython.int = self.cut_code[candidate]
        for column in range(self.columns):
            self.stage_box[stage + 1, 0, column] = self.stage_box[stage, 0, column]
            self.stage_box[stage + 1, 1, column] = self.stage_box[stage, 1, column]
        column = self.cut_column[candidate]
        if kind != BEFORE:
            self.stage_box[stage + 1, 0, column] = code if kind == ONE_NODE else code + 1
        if kind != AFTER:
            self.stage_box[stage + 1, 1, column] = self.cut_last[candidate]
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pick_inside(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t, stage: cython.Py_ssize_t) -> cython.int:
        """Pick the items begin..end-1 that are inside the box of a stage, and count their rows of each value."""
        i: cython.Py_ssize_t
        for i in range(self.present_count):
            self.rows_inside[self.present[i]] = 0
        self.inside_count = 0
        self.inside_rows = 0
        for i in range(begin, end):
            if stage == 0 or self.is_inside(self.item_cell[i], stage):
                self.inside_items[self.inside_count] = i
                self.inside_count += 1
                self.rows_inside[self.values[self.item_cell[i]]] += self.item_rows[i]
                self.inside_rows += self.item_rows[i]
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def is_inside(self, cell: cython.int, stage: cython.Py_ssize_t) -> cython.bint:
        column: cython.Py_ssize_t
        for column in range(self.columns):
            if self.codes[cell, column] < self.stage_box[stage, 0, column]:
                return False
            if self.codes[cell, column] > self.stage_box[stage, 1, column]:
                return False
        return True

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sort_items(self, column: cython.Py_ssize_t) -> cython.int:
        """Sort the items inside by ascending code of a column, stably: by counting, or by shell sort where codes are many."""
        i: cython.Py_ssize_t
        count: cython.Py_ssize_t = self.inside_count
        low: cython.int = self.box[0, column]
        codes: cython.Py_ssize_t = self.box[1, column] - low + 1
        code: cython.int
        in_bucket: cython.int
        position: cython.int = 0
        if codes > 4 * count + 64:
            self.shell_sort_items(column)
            return 0
        for i in range(codes):
            self.buckets[i] = 0
        for i in range(count):
            self.buckets[self.codes[self.item_cell[self.inside_items[i]], column] - low] += 1
        for i in range(codes):
            in_bucket = self.buckets[i]
            self.buckets[i] = position
            position += in_bucket
        for i in range(count):
            code = self.codes[self.item_cell[self.inside_items[i]], column] - low
            self.sorted_items[self.buckets[code]] = self.inside_items[i]
            self.buckets[code] += 1
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def shell_sort_items(self, column: cython.Py_ssize_t) -> cython.int:
        i: cython.Py_ssize_t
        position: cython.Py_ssize_t
        gap: cython.Py_ssize_t = 1
        code: cython.int
        item: cython.int
        other: cython.int
        for i in range(self.inside_count):
            self.sorted_items[i] = self.inside_items[i]
        while gap < self.inside_count // 9:
            gap = 3 * gap + 1
        while gap > 0:
            for i in range(gap, self.inside_count):
                item = self.sorted_items[i]
                code = self.codes[self.item_cell[item], column]
                position = i
                while position >= gap:
                    other = self.sorted_items[position - gap]
                    if self.codes[self.item_cell[other], column] < code or (
                        self.codes[self.item_cell[other], column] == code and other < item
                    ):
                        break
                    self.sorted_items[position] = other
                    position -= gap
                self.sorted_items[position] = item
            gap //= 3
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def list_items_by_value(self, column: cython.Py_ssize_t) -> cython.int:
        """List each value's items in their order: code of the column and running count of rows."""
        i: cython.Py_ssize_t
        position: cython.Py_ssize_t
        end: cython.Py_ssize_t = 0
        value: cython.int
        for i in range(self.present_count):
            value = self.present[i]
            self.list_begin[value] = end
            self.list_position[value] = end
            self.rows_before[value] = 0
            end += self.value_items[value]
        for i in range(self.inside_count):
            value = self.values[self.item_cell[self.sorted_items[i]]]
            position = self.list_position[value]
            self.list_codes[position] = self.codes[self.item_cell[self.sorted_items[i]], column]
            self.list_counts[position] = self.item_rows[self.sorted_items[i]]
            if position > self.list_begin[value]:
                self.list_counts[position] += self.list_counts[position - 1]
            self.list_position[value] = position + 1
        for i in range(self.present_count):
            self.list_position[self.present[i]] = self.list_begin[self.present[i]]
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh_column(self, column: cython.Py_ssize_t, stage: cython.Py_ssize_t) -> cython.int:
        """Estimate the cuts of a column and offer each: between two codes, and one node against the rest."""
        i: cython.Py_ssize_t = 0
        end: cython.Py_ssize_t
        level: cython.Py_ssize_t
        value: cython.int
        code: cython.int
        next_code: cython.int
        low: cython.int = self.stage_box[stage, 0, column]
        high: cython.int = self.stage_box[stage, 1, column]
        rows_before: cython.longlong = 0
        reach: cython.double = self.compute_reach(column, stage)
        self.list_items_by_value(column)
        while i < self.inside_count and self.stop[0] == 0:
            code = self.codes[self.item_cell[self.sorted_items[i]], column]
            end = i
            while end < self.inside_count and self.codes[self.item_cell[self.sorted_items[end]], column] == code:
                value = self.values[self.item_cell[self.sorted_items[end]]]
                self.rows_before[value] += self.item_rows[self.sorted_items[end]]
                rows_before += self.item_rows[self.sorted_items[end]]
                self.list_position[value] += 1
                end += 1
            if end < self.inside_count:
                next_code = self.codes[self.item_cell[self.sorted_items[end]], column]
                if stage == 0:
                    self.weigh_balanced(column, code, next_code, rows_before)
                self.weigh_side(
                    column, stage, code, rows_before, reach - self.span(column, low, code), BEFORE, ROWS_BEFORE
                )
                self.weigh_side(
                    column,
                    stage,
                    code,
                    self.inside_rows - rows_before,
                    reach - self.span(column, next_code, high),
                    AFTER,
                    ROWS_AFTER,
                )
            i = end
        for level in range(self.trees[column, 1]):
            self.weigh_nodes(column, stage, reach, self.trees[column, 0] + level * self.places[column, 2])
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def compute_reach(self, column: cython.Py_ssize_t, stage: cython.Py_ssize_t) -> cython.double:
        """Return what a row of the stage's box gains whose span in the column becomes nothing."""
        other: cython.Py_ssize_t
        reach: cython.double = self.row_loss + self.span(
            column, self.stage_box[stage, 0, column], self.stage_box[stage, 1, column]
        )
        for other in range(self.columns):
            reach -= self.span(other, self.stage_box[stage, 0, other], self.stage_box[stage, 1, other])
        return reach

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def weigh_side(
        self,
        column: cython.Py_ssize_t,
        stage: cython.Py_ssize_t,
        code: cython.int,
        rows: cython.longlong,
        gain: cython.double,
        kind: cython.int,
        side: cython.int,
    ) -> cython.int:
        """Offer the cut after a code that takes rows of one side alone, each of which gains so much."""
        part_rows: cython.longlong
        if gain > 0 and rows * gain * self.worth(column, rows) > self.gains[self.tries - 1]:
            part_rows = self.find_largest_part(rows, side)
            if part_rows > 0:
                self.offer(part_rows * gain - self.strain, column, kind, code, part_rows, stage, code)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh_nodes(
        self, column: cython.Py_ssize_t, stage: cython.Py_ssize_t, reach: cython.double, level: cython.Py_ssize_t
    ) -> cython.int:
        """Estimate and offer each node of a hierarchy's level (or each number) against the rest; nodes[level + code] is its node."""
        begin: cython.Py_ssize_t = 0
        end: cython.Py_ssize_t
        i: cython.Py_ssize_t
        node: cython.int
        first: cython.int
        last: cython.int
        rows: cython.longlong
        gain: cython.double
        while begin < self.inside_count and self.stop[0] == 0:
            first = self.codes[self.item_cell[self.sorted_items[begin]], column]
            node = self.nodes[level + first]
            end = begin
            rows = 0
            while (
                end < self.inside_count
                and self.nodes[level + self.codes[self.item_cell[self.sorted_items[end]], column]] == node
            ):
                rows += self.item_rows[self.sorted_items[end]]
                end += 1
            last = self.codes[self.item_cell[self.sorted_items[end - 1]], column]
            gain = reach - self.span(column, first, last)
            if (
                (begin > 0 or end < self.inside_count)
                and rows >= self.min_part_rows
                and gain > 0
                and rows * gain * self.worth(column, rows) > self.gains[self.tries - 1]
            ):
                for i in range(self.present_count):
                    self.rows_before[self.present[i]] = 0
                for i in range(begin, end):
                    self.rows_before[self.values[self.item_cell[self.sorted_items[i]]]] += self.item_rows[
                        self.sorted_items[i]
                    ]
                rows = self.find_largest_part(rows, ROWS_BEFORE)
                if rows > 0:
                    self.offer(rows * gain - self.strain, column, ONE_NODE, first, rows, stage, last)
            begin = end
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh_balanced(
        self, column: cython.Py_ssize_t, code: cython.int, after: cython.int, rows_before: cython.longlong
    ) -> cython.int:
        """Estimate the cut after a code whose sides borrow from each other, as far as each value's rows reach."""
        i: cython.Py_ssize_t
        value: cython.int
        low: cython.int = self.box[0, column]
        high: cython.int = self.box[1, column]
        left_end: cython.int = code
        right_end: cython.int = after
        rows: cython.longlong
        position: cython.longlong
        total: cython.double = self.region_rows * self.span(column, low, high)
        gain: cython.double = (
            total
            - rows_before * self.span(column, low, code)
            - (self.region_rows - rows_before) * self.span(column, after, high)
        )
        if gain * self.worth(column, rows_before) <= self.gains[self.tries - 1]:  # what it would gain without borrowing
            return 0
        rows = self.balance_part(rows_before)
        if rows == 0:
            return 0
        for i in range(self.present_count):
            value = self.present[i]
            if self.composition[value] > self.rows_before[value]:
                position = self.list_position[value]
                while self.list_counts[position] < self.composition[value]:
                    position += 1
                if self.list_codes[position] > left_end:
                    left_end = self.list_codes[position]
            elif self.composition[value] < self.rows_before[value]:
                position = self.list_position[value] - 1
                while position > self.list_begin[value] and self.list_counts[position - 1] > self.composition[value]:
                    position -= 1
                if self.list_codes[position] < right_end:
                    right_end = self.list_codes[position]
        gain = (
            total
            - rows * self.span(column, low, left_end)
            - (self.region_rows - rows) * self.span(column, right_end, high)
        )
        if gain > 0:
            self.offer(gain - self.strain, column, BALANCED, code, rows, 0, code)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def worth(self, column: cython.Py_ssize_t, rows: cython.longlong) -> cython.double:
        """Return what a gain counts for: a cut of so many rows spends bits of the log2(rows / least group) that a region has.

        Cuts of a few rows spend few, which is how a column of fifty values gets its turn beside a number that halves.  Hierarchies
        may be favoured: what is not told apart while a region has enough rows of each value never is.
        """
        return self.worth_of_share[(rows * SHARES) // self.region_rows] * self.column_favour[column]

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def offer(
        self,
        gain: cython.double,
        column: cython.Py_ssize_t,
        kind: cython.int,
        code: cython.int,
        rows: cython.longlong,
        stage: cython.Py_ssize_t,
        last: cython.int,
    ) -> cython.int:
        """Remember a cut if it is among the best so far, noise included."""
        i: cython.Py_ssize_t = self.tries - 1
        if self.bit_power > 0.0 and gain > 0.0:
            gain *= self.worth(column, rows)
        if self.noise > 0.0:
            self.seed = next_random(self.seed)
            gain += abs(gain) * self.noise * scale_random(self.seed)
        if gain <= self.gains[i]:
            return 0
        while i > 0 and self.gains[i - 1] < gain:
            self.gains[i] = self.gains[i - 1]
            self.cut_column[i] = self.cut_column[i - 1]
            self.cut_kind[i] = self.cut_kind[i - 1]
            self.cut_code[i] = self.cut_code[i - 1]
            self.cut_last[i] = self.cut_last[i - 1]
            self.cut_rows[i] = self.cut_rows[i - 1]
            self.cut_stage[i] = self.cut_stage[i - 1]
            i -= 1
        self.gains[i] = gain
        self.cut_column[i] = column
        self.cut_kind[i] = kind
        self.cut_code[i] = code
        self.cut_last[i] = last
        self.cut_rows[i] = rows
        self.cut_stage[i] = stage
        return 1


@cython.final
@cython.cclass
class Cutter(CutSearch):
    """Candidates carved out exactly, regions cut from the top down, pools of groups cut anew."""

    # a cut
    carved: cython.Py_ssize_t  # the candidate that item_take is of, -1 for none
    item_take: cython.int[::1]  # rows of each item that the part takes
    free_rows: cython.longlong  # rows that it may still take beyond the lower bounds
    rest_cell: cython.int[::1]
    rest_rows: cython.int[::1]
    # a region and what it was cut into
    stack: cython.longlong[::1]
    out_cell: cython.int[::1]
    out_rows: cython.int[::1]
    out_ends: cython.longlong[::1]
    out_groups: cython.Py_ssize_t
    # a block of groups; a group whose rows are 0 was pooled with others
    block_cell: cython.int[::1]
    block_rows: cython.int[::1]
    block_end: cython.Py_ssize_t
    block_groups: cython.Py_ssize_t
    group_begin: cython.longlong[::1]
    group_end: cython.longlong[::1]
    group_rows: cython.longlong[::1]
    group_loss: cython.double[::1]
    group_box: cython.int[:, :, ::1]
    pool: cython.int[::1]  # the groups of a pool
    pool_groups: cython.Py_ssize_t
    pool_rows: cython.longlong

    def __init__(self, items, space, rule, sizes):
        """items = (codes, values); space = (spans, places, nodes, trees); rule = (caps, rates, least, limits, edges).

        sizes = (rows of the largest region, items and groups of the largest block).
        """
        rows, block_items, groups = sizes
        super().__init__(items, space, rule, rows)
        columns = items[0].shape[1]
        self.carved = -1
        self.free_rows = 0
        self.item_take, self.rest_cell, self.rest_rows, self.out_cell, self.out_rows = np.zeros((5, rows), np.int32)
        self.stack, self.out_ends = np.zeros((2, rows + 2), np.int64)
        self.out_groups = 0
        self.block_cell, self.block_rows = np.zeros((2, block_items), np.int32)
        self.block_end = 0
        self.block_groups = 0
        self.group_begin, self.group_end, self.group_rows = np.zeros((3, groups), np.int64)
        self.group_loss = np.zeros(groups)
        self.group_box = np.zeros((groups, 2, columns), np.int32)
        self.pool = np.zeros(MAX_POOL_GROUPS, np.int32)
        self.pool_groups = 0
        self.pool_rows = 0

    def solve_all(self, cell, quota, tries, price=0.0, deep=0, bits=0.0, favour=None, stop=None):
        """Cut the region of these items from the top down; return (cell, quota, starts) of its groups.

        `tries` candidates are carved out exactly before the best is taken, strain is priced, boxes are narrowed by `deep`
        columns beyond the first, `bits` is the power of the bits that a cut spends, and `favour` multiplies each column's gains.
        Once the flag `stop` (one byte) is not 0 this ends, and what it returns is of no use.
        """
        count: cython.Py_ssize_t = len(cell)
        if stop is not None:
            self.stop = stop
        np.asarray(self.item_cell)[:count] = cell
        np.asarray(self.item_rows)[:count] = quota
        self.noise = 0.0
        self.tries = tries
        self.strain_price = price
        self.max_stage = deep
        self.out_ends[0] = 0
        self.price_bits(bits, favour)
        with cython.nogil:
            self.solve(count, LARGE)
        self.price_bits(0.0)
        starts = np.array(self.out_ends[: self.out_groups + 1])
        count = self.out_ends[self.out_groups]
        return np.array(self.out_cell[:count]), np.array(self.out_rows[:count]), starts

    def resolve(self, tiles, blocks: cython.longlong[:, ::1], out, setting, stop=None):
        """Re-solve each block by itself; a row of `blocks` is (first group, last group + 1, seed).

        tiles = (cell, quota, starts); out = (cell, quota, end of each group, groups of each block) is written from its
        beginning; setting = (tries, noise, mates, noise of nearness, most rows of a pool, price of strain,
        whether a block is cut anew as one region, depth of narrowing, power of the bits a cut spends).  Returns (items, groups)
        written.  Once the flag `stop` (one byte) is not 0 this ends, and what is written is of no use.
        """
        cells: cython.int[::1] = tiles[0]
        quotas: cython.int[::1] = tiles[1]
        starts: cython.longlong[::1] = tiles[2]
        written_cells: cython.int[::1] = out[0]
        written_quotas: cython.int[::1] = out[1]
        written_ends: cython.longlong[::1] = out[2]
        groups_of_block: cython.longlong[::1] = out[3]
        self.tries = setting[0]
        self.noise = setting[1]
        mates: cython.Py_ssize_t = setting[2]
        nearness_noise: cython.double = setting[3]
        max_pool_rows: cython.Py_ssize_t = setting[4]
        max_price: cython.double = setting[5]
        as_one_region: cython.bint = setting[6]
        self.max_stage = setting[7]
        self.price_bits(setting[8])
        block: cython.Py_ssize_t
        group: cython.Py_ssize_t
        i: cython.Py_ssize_t
        items: cython.Py_ssize_t = 0
        groups: cython.Py_ssize_t = 0
        self.out_ends[0] = 0
        if stop is not None:
            self.stop = stop
        with cython.nogil:
            for block in range(blocks.shape[0]):
                if self.stop[0] != 0:
                    break
                self.seed = blocks[block, 2]
                self.load_block(cells, quotas, starts, blocks[block, 0], blocks[block, 1])
                if as_one_region:
                    self.cut_block_anew(max_price)
                else:
                    self.sweep_pools(mates, nearness_noise, max_pool_rows, max_price)
                groups_of_block[block] = 0
                for group in range(self.block_groups):
                    if self.group_rows[group] > 0:
                        for i in range(self.group_begin[group], self.group_end[group]):
                            written_cells[items] = self.block_cell[i]
                            written_quotas[items] = self.block_rows[i]
                            items += 1
                        written_ends[groups] = items
                        groups += 1
                        groups_of_block[block] += 1
        return items, groups

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def solve(self, count: cython.Py_ssize_t, limit: cython.double) -> cython.double:
        """Cut the first `count` items until nothing is gained, and write groups to out_cell, out_rows, out_ends.

        Returns the loss, or LARGE as soon as it is beyond the limit, or the flag `stop` is set.
        """
        depth: cython.Py_ssize_t = 1
        begin: cython.Py_ssize_t
        end: cython.Py_ssize_t
        best: cython.Py_ssize_t
        total: cython.double = 0.0
        self.out_groups = 0
        self.stack[0] = 0
        self.stack[1] = count
        while depth > 0:
            if self.stop[0] != 0:
                return LARGE
            begin = self.stack[depth - 1]
            end = self.stack[depth]
            self.measure_region(begin, end)
            best = self.find_best_cut(begin, end)
            if self.stop[0] != 0:
                return LARGE
            # a cut divides at most one cell of each value: stop where the buffers could not hold that
            if best < 0 or self.out_ends[self.out_groups] + end + self.present_count + 1 > self.out_cell.shape[0]:
                self.write_group(begin, end)
                total += self.row_loss * self.region_rows
                if total > limit:
                    return LARGE
                depth -= 1
                continue
            if best != self.carved:
                self.carve(begin, end, best)
            self.split_items(begin, end, depth)
            depth += 1
        return total

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_best_cut(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Carve out each candidate and return the one that loses least, -1 where none gains."""
        i: cython.Py_ssize_t
        best: cython.Py_ssize_t = -1
        loss: cython.double
        uncut_loss: cython.double = self.row_loss * self.region_rows * (1.0 - 1e-12)
        least_loss: cython.double = LARGE
        self.carved = -1
        if self.row_loss <= 0.0 or self.region_rows < 2 * self.min_part_rows:
            return -1
        self.search_cuts(begin, end)
        for i in range(self.tries):
            if self.gains[i] <= -LARGE or self.stop[0] != 0:
                break
            loss = self.carve(begin, end, i)
            if loss >= uncut_loss:
                continue
            if self.strain_price > 0.0:
                loss += self.compute_strain()
            if self.bit_power > 0.0:
                loss = -(uncut_loss - loss) * self.worth(self.cut_column[i], self.part_counts[0, self.value_count])
            if loss < least_loss:
                least_loss = loss
                best = i
        return best

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def carve(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t, candidate: cython.Py_ssize_t) -> cython.double:
        """Find how many rows of each item a candidate takes; return the loss of both parts, LARGE where a promise breaks."""
        column: cython.Py_ssize_t = self.cut_column[candidate]
        kind: cython.longlong = self.cut_kind[candidate]
        code: cython.int = self.cut_code[candidate]
        last: cython.int = self.cut_last[candidate]
        i: cython.Py_ssize_t
        item: cython.Py_ssize_t
        value: cython.int
        rows: cython.longlong
        self.carved = candidate
        self.pick_inside(begin, end, self.cut_stage[candidate])
        self.sort_items(column)
        self.free_rows = self.set_quotas(column, kind, code, last, self.cut_rows[candidate])
        self.clear_parts()
        if self.inside_count < end - begin:
            self.leave_items_outside(begin, end)
        for i in range(self.inside_count):
            item = self.sorted_items[self.inside_count - 1 - i] if kind == AFTER else self.sorted_items[i]
            value = self.values[self.item_cell[item]]
            rows = 0
            if kind != ONE_NODE or code <= self.codes[self.item_cell[item], column] <= last:
                rows = self.take_within_quota(value, self.item_rows[item])
            self.item_take[item - begin] = rows
            if rows > 0:
                self.add_to_part(0, self.item_cell[item], value, rows)
            rows = self.item_rows[item] - rows
            if rows > 0:
                self.add_to_part(1, self.item_cell[item], value, rows)
        if not (self.keeps_promise(0) and self.keeps_promise(1)):
            return LARGE
        return self.compute_parts_loss()

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def take_within_quota(self, value: cython.int, rows: cython.longlong) -> cython.longlong:
        """Return how many of so many rows of a value the part takes: those it needs, and more while rows are free."""
        needed: cython.longlong = self.lower[value] - self.composition[value]
        if needed < 0:
            needed = 0
        if rows > self.upper[value] - self.composition[value]:
            rows = self.upper[value] - self.composition[value]
        if rows > needed:
            if rows - needed > self.free_rows:
                rows = needed + self.free_rows
            self.free_rows -= rows - needed
        self.composition[value] += rows
        return rows

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def leave_items_outside(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Leave the items that are outside the box at hand to the rest."""
        i: cython.Py_ssize_t
        for i in range(begin, end):
            self.item_take[i - begin] = -1
        for i in range(self.inside_count):
            self.item_take[self.inside_items[i] - begin] = 0
        for i in range(begin, end):
            if self.item_take[i - begin] < 0:
                self.item_take[i - begin] = 0
                self.add_to_part(1, self.item_cell[i], self.values[self.item_cell[i]], self.item_rows[i])
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def set_quotas(
        self,
        column: cython.Py_ssize_t,
        kind: cython.longlong,
        code: cython.int,
        last: cython.int,
        rows: cython.longlong,
    ) -> cython.longlong:
        """Set the bounds of each value for a cut of so many rows; return how many are free beyond the lower ones."""
        i: cython.Py_ssize_t
        rows_before: cython.longlong = self.count_rows_before(column, kind, code, last)
        if not self.caps_only:
            if kind == BALANCED:
                self.balance_near_proportions(rows_before)
            else:
                self.fill_part(ROWS_AFTER if kind == AFTER else ROWS_BEFORE)
            rows = 0
        elif kind == BALANCED:
            self.bound_quotas(rows, ANY_ROWS)
            self.clamp_composition()
            self.fix_quotas()
        elif kind == AFTER:
            self.bound_quotas(rows, ROWS_AFTER)
        else:
            self.bound_quotas(rows, ROWS_BEFORE)
        for i in range(self.present_count):
            self.composition[self.present[i]] = 0
            if self.caps_only:
                rows -= self.lower[self.present[i]]
        return rows

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def count_rows_before(
        self, column: cython.Py_ssize_t, kind: cython.longlong, code: cython.int, last: cython.int
    ) -> cython.longlong:
        """Count the rows of each value that a cut has before it, or under its node; return their sum."""
        i: cython.Py_ssize_t
        item: cython.Py_ssize_t
        own_code: cython.int
        total: cython.longlong = 0
        for i in range(self.present_count):
            self.rows_before[self.present[i]] = 0
        for i in range(self.inside_count):
            item = self.inside_items[i]
            own_code = self.codes[self.item_cell[item], column]
            if (kind == ONE_NODE and code <= own_code <= last) or (kind != ONE_NODE and own_code <= code):
                self.rows_before[self.values[self.item_cell[item]]] += self.item_rows[item]
                total += self.item_rows[item]
        return total

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def write_group(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Write a region that is not cut any more as a group."""
        i: cython.Py_ssize_t
        out_end: cython.Py_ssize_t = self.out_ends[self.out_groups]
        for i in range(begin, end):
            self.out_cell[out_end] = self.item_cell[i]
            self.out_rows[out_end] = self.item_rows[i]
            out_end += 1
        self.out_groups += 1
        self.out_ends[self.out_groups] = out_end
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def split_items(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t, depth: cython.Py_ssize_t) -> cython.int:
        """Put the items of the part that was carved first, then those of the rest; push both ends on the stack."""
        i: cython.Py_ssize_t
        part_end: cython.Py_ssize_t = begin
        rest_count: cython.Py_ssize_t = 0
        for i in range(begin, end):
            if self.item_rows[i] > self.item_take[i - begin]:
                self.rest_cell[rest_count] = self.item_cell[i]
                self.rest_rows[rest_count] = self.item_rows[i] - self.item_take[i - begin]
                rest_count += 1
            if self.item_take[i - begin] > 0:
                self.item_cell[part_end] = self.item_cell[i]
                self.item_rows[part_end] = self.item_take[i - begin]
                part_end += 1
        for i in range(rest_count):
            self.item_cell[part_end + i] = self.rest_cell[i]
            self.item_rows[part_end + i] = self.rest_rows[i]
        self.stack[depth] = part_end
        self.stack[depth + 1] = part_end + rest_count
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def load_block(
        self,
        cells: cython.int[::1],
        quotas: cython.int[::1],
        starts: cython.longlong[::1],
        first: cython.Py_ssize_t,
        last: cython.Py_ssize_t,
    ) -> cython.int:
        """Copy the groups first..last-1 of a tiling into the block."""
        group: cython.Py_ssize_t
        i: cython.Py_ssize_t
        self.block_groups = last - first
        self.block_end = 0
        for group in range(self.block_groups):
            self.group_begin[group] = self.block_end
            for i in range(starts[first + group], starts[first + group + 1]):
                self.block_cell[self.block_end] = cells[i]
                self.block_rows[self.block_end] = quotas[i]
                self.block_end += 1
            self.group_end[group] = self.block_end
            self.measure_group(group)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def measure_group(self, group: cython.Py_ssize_t) -> cython.int:
        """Measure a group of the block: its box, rows and loss per row."""
        i: cython.Py_ssize_t
        column: cython.Py_ssize_t
        code: cython.int
        cell: cython.int
        rows: cython.longlong = 0
        loss: cython.double = 0.0
        for column in range(self.columns):
            self.group_box[group, 0, column] = NO_CODE
            self.group_box[group, 1, column] = -1
        for i in range(self.group_begin[group], self.group_end[group]):
            cell = self.block_cell[i]
            rows += self.block_rows[i]
            for column in range(self.columns):
                code = self.codes[cell, column]
                if code < self.group_box[group, 0, column]:
                    self.group_box[group, 0, column] = code
                if code > self.group_box[group, 1, column]:
                    self.group_box[group, 1, column] = code
        for column in range(self.columns):
            loss += self.span(column, self.group_box[group, 0, column], self.group_box[group, 1, column])
        self.group_rows[group] = rows
        self.group_loss[group] = loss
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def draw_strain_price(self, max_price: cython.double) -> cython.int:
        self.seed = next_random(self.seed)
        self.strain_price = max_price * scale_random(self.seed)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sweep_pools(
        self,
        mates: cython.Py_ssize_t,
        noise: cython.double,
        max_rows: cython.Py_ssize_t,
        max_price: cython.double,
    ) -> cython.int:
        """Pool each costly group with its nearest and cut the pool anew; keep what is not worse."""
        group: cython.Py_ssize_t
        count: cython.Py_ssize_t
        loss: cython.double
        for group in range(self.block_groups):
            if self.stop[0] != 0:
                break
            if self.group_rows[group] == 0 or self.group_loss[group] <= 0.0 or self.group_rows[group] > max_rows:
                continue
            self.choose_pool(group, mates, noise, max_rows)
            if self.pool_groups == 1 or self.skips_large_pool():
                continue
            loss = self.sum_pool_loss()
            count = self.load_pool()
            self.draw_strain_price(max_price)
            if self.solve(count, loss) > loss:
                continue
            if self.block_end + self.out_ends[self.out_groups] > self.block_cell.shape[0]:
                continue
            if self.block_groups + self.out_groups <= self.group_rows.shape[0]:
                self.replace_pool()
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def choose_pool(
        self,
        group: cython.Py_ssize_t,
        mates: cython.Py_ssize_t,
        noise: cython.double,
        max_rows: cython.Py_ssize_t,
    ) -> cython.int:
        """Make a pool of a group and its nearest, as many as there may be."""
        column: cython.Py_ssize_t
        mate: cython.Py_ssize_t
        self.pool[0] = group
        self.pool_groups = 1
        self.pool_rows = self.group_rows[group]
        for column in range(self.columns):
            self.box[0, column] = self.group_box[group, 0, column]
            self.box[1, column] = self.group_box[group, 1, column]
        while self.pool_groups <= mates:
            mate = self.find_nearest(noise, max_rows - self.pool_rows)
            if mate < 0:
                break
            self.pool_rows += self.group_rows[mate]
            self.pool[self.pool_groups] = mate
            self.pool_groups += 1
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_nearest(self, noise: cython.double, max_rows: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the group whose box merged with that of the pool's first loses least, give or take noise; -1 where none fits."""
        group: cython.Py_ssize_t
        column: cython.Py_ssize_t
        nearest: cython.Py_ssize_t = -1
        low: cython.int
        high: cython.int
        loss: cython.double
        least_loss: cython.double = LARGE
        for group in range(self.block_groups):
            if self.group_rows[group] == 0 or self.group_rows[group] > max_rows or self.is_pooled(group):
                continue
            loss = 0.0
            for column in range(self.columns):
                low = self.group_box[group, 0, column]
                high = self.group_box[group, 1, column]
                if self.box[0, column] < low:
                    low = self.box[0, column]
                if self.box[1, column] > high:
                    high = self.box[1, column]
                loss += self.span(column, low, high)
            self.seed = next_random(self.seed)
            loss *= 1.0 + noise * scale_random(self.seed)
            if loss < least_loss:
                least_loss = loss
                nearest = group
        return nearest

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def is_pooled(self, group: cython.Py_ssize_t) -> cython.bint:
        i: cython.Py_ssize_t
        for i in range(self.pool_groups):
            if self.pool[i] == group:
                return True
        return False

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def skips_large_pool(self) -> cython.bint:
        """Draw whether a large pool is left as it is: it costs more than many small ones, and is taken now and then."""
        if self.pool_rows <= EVERY_POOL_ROWS:
            return False
        self.seed = next_random(self.seed)
        return self.seed % self.pool_rows > EVERY_POOL_ROWS

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sum_pool_loss(self) -> cython.double:
        i: cython.Py_ssize_t
        total: cython.double = 0.0
        for i in range(self.pool_groups):
            total += self.group_loss[self.pool[i]] * self.group_rows[self.pool[i]]
        return total

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def load_pool(self) -> cython.Py_ssize_t:
        """Make a region of the pool's groups; return its items."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        count: cython.Py_ssize_t = 0
        for i in range(self.pool_groups):
            for j in range(self.group_begin[self.pool[i]], self.group_end[self.pool[i]]):
                self.item_cell[count] = self.block_cell[j]
                self.item_rows[count] = self.block_rows[j]
                count += 1
        return self.merge_equal_cells(count)

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def replace_pool(self) -> cython.int:
        """Put the groups that the pool was cut into in the place of its own; further ones come behind the block's last."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        group: cython.Py_ssize_t
        for i in range(self.pool_groups):
            self.group_rows[self.pool[i]] = 0
        for i in range(self.out_groups):
            if i < self.pool_groups:
                group = self.pool[i]
            else:
                group = self.block_groups
                self.block_groups += 1
            self.group_begin[group] = self.block_end
            for j in range(self.out_ends[i], self.out_ends[i + 1]):
                self.block_cell[self.block_end] = self.out_cell[j]
                self.block_rows[self.block_end] = self.out_rows[j]
                self.block_end += 1
            self.group_end[group] = self.block_end
            self.measure_group(group)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def cut_block_anew(self, max_price: cython.double) -> cython.int:
        """Cut all the groups of the block anew as one region; keep what is not worse."""
        group: cython.Py_ssize_t
        i: cython.Py_ssize_t
        rows: cython.longlong = 0
        loss: cython.double = 0.0
        self.draw_strain_price(max_price)
        for group in range(self.block_groups):
            rows += self.group_rows[group]
            loss += self.group_loss[group] * self.group_rows[group]
        if loss <= 0.0 or rows + self.value_count > self.item_cell.shape[0]:
            return 0
        for i in range(self.block_end):
            self.item_cell[i] = self.block_cell[i]
            self.item_rows[i] = self.block_rows[i]
        if self.solve(self.merge_equal_cells(self.block_end), loss) > loss:
            return 0
        if self.out_ends[self.out_groups] > self.block_cell.shape[0] or self.out_groups > self.group_rows.shape[0]:
            return 0
        self.block_groups = self.out_groups
        for group in range(self.block_groups):
            self.group_begin[group] = self.out_ends[group]
            self.group_end[group] = self.out_ends[group + 1]
            for i in range(self.out_ends[group], self.out_ends[group + 1]):
                self.block_cell[i] = self.out_cell[i]
                self.block_rows[i] = self.out_rows[i]
            self.measure_group(group)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def merge_equal_cells(self, count: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Sort the first `count` items by cell and add up what is of one cell; return how many items are left."""
        i: cython.Py_ssize_t
        position: cython.Py_ssize_t
        gap: cython.Py_ssize_t = 1
        cell: cython.int
        rows: cython.int
        while gap < count // 9:
            gap = 3 * gap + 1
        while gap > 0:
            for i in range(gap, count):
                cell = self.item_cell[i]
                rows = self.item_rows[i]
                position = i
                while position >= gap and self.item_cell[position - gap] > cell:
                    self.item_cell[position] = self.item_cell[position - gap]
                    self.item_rows[position] = self.item_rows[position - gap]
                    position -= gap
                self.item_cell[position] = cell
                self.item_rows[position] = rows
            gap //= 3
        position = 0
        for i in range(1, count):
            if self.item_cell[i] == self.item_cell[position]:
                self.item_rows[position] += self.item_rows[i]
            else:
                position += 1
                self.item_cell[position] = self.item_cell[i]
                self.item_rows[position] = self.item_rows[i]
        return position + 1


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def floor_product(rate: cython.double, rows: cython.longlong) -> cython.longlong:
    """Return how many whole rows a rate allows of so many."""
    return cython.cast(cython.longlong, rate * rows)
