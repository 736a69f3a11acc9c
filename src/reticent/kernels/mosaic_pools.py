# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, language_level=3
"""Orders of rows cut optimally into groups, and pools of near groups cut anew along chains of near rows.

A *unit* is one row.  `Segmenter` keeps k-anonymity and distinct l-diversity: it cuts an order of all units first, then pools.
`Chainer` re-solves pools of small groups for caps, closeness, entropy and recursive diversity, the last three by doubles; what
comes of it is checked outside.  Losses come from `spans` and `places`, see `reticent.methods.mosaic.kernel_tables`.
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
ORDERS = cython.declare(cython.Py_ssize_t, 2)  # chains along which a pool is cut
MAX_POOL_GROUPS = 64


@cython.cclass
class UnitPools:
    """Groups of a block as lists of units; each costly group is pooled with its nearest and cut anew.

    A block's groups are re-solved among themselves.  What a segment must keep is known to the subclasses.
    """

    codes: cython.int[:, ::1]
    spans: cython.double[::1]
    places: cython.longlong[:, ::1]
    columns: cython.Py_ssize_t
    # the groups of a block; one without units was pooled with others
    next_unit: cython.int[
        ::1
    ]  # the unit behind each in its group, -1 for none; shared by workers, whose units are their own
    first_unit: cython.int[::1]
    group_size: cython.int[::1]
    group_box: cython.int[:, :, ::1]
    group_loss: cython.double[::1]
    groups: cython.Py_ssize_t
    # a pool of groups: its units, and two orders of them
    pool: cython.int[:, ::1]
    pool_size: cython.Py_ssize_t
    mates: cython.int[::1]
    mate_count: cython.Py_ssize_t
    # cuts of an order: the least loss up to each place, and where the segment begins that ends there
    least_loss: cython.double[::1]
    segment_begin: cython.int[:, ::1]
    box: cython.int[:, ::1]
    seed: cython.longlong

    def __init__(self, codes, space, sizes, next_unit):
        """space = (spans, places); sizes = (units of a pool, groups of a block)."""
        pool_units, groups = sizes
        columns = codes.shape[1]
        self.codes = codes
        self.spans, self.places = space
        self.columns = columns
        self.next_unit = next_unit
        self.first_unit, self.group_size = np.zeros((2, groups), np.int32)
        self.group_box = np.zeros((groups, 2, columns), np.int32)
        self.group_loss = np.zeros(groups)
        self.groups = 0
        self.pool = np.zeros((1 + ORDERS, pool_units), np.int32)
        self.pool_size = 0
        self.mates = np.zeros(MAX_POOL_GROUPS, np.int32)
        self.mate_count = 0
        self.least_loss = np.zeros(pool_units + 1)
        self.segment_begin = np.zeros((ORDERS, pool_units + 1), np.int32)
        self.box = np.zeros((2, columns), np.int32)
        self.seed = 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def cut_pool(self, penalty: cython.double) -> cython.Py_ssize_t:
        """Cut the pool anew; return the order along which it was cut, -1 where that is worse than before."""
        return -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_group_begin(self, order: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return where the group begins that ends at a place of an order."""
        return self.segment_begin[order, end]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def choose_mate(
        self, group: cython.Py_ssize_t, max_units: cython.Py_ssize_t, noise: cython.double
    ) -> cython.Py_ssize_t:
        """Choose the next group that is pooled with a group; return -1 where none fits."""
        return self.find_nearest(group, max_units, noise)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def has_room(self) -> cython.bint:
        """Tell whether there is room for the groups that a pool may be cut into."""
        return True

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
        penalty: cython.double = setting[2]
        block: cython.Py_ssize_t
        group: cython.Py_ssize_t
        i: cython.Py_ssize_t
        unit: cython.int
        with cython.nogil:
            for block in range(blocks.shape[0]):
                if stop[0] != 0:
                    break
                self.seed = blocks[block, 2]
                self.load_groups(members, starts, blocks[block, 0], blocks[block, 1])
                self.resolve_groups(mates, noise, penalty)
                i = starts[blocks[block, 0]]
                for group in range(self.groups):
                    if self.group_size[group] == 0:
                        continue
                    unit = self.first_unit[group]
                    while unit >= 0:
                        members[i] = unit
                        ends[i] = 0
                        i += 1
                        unit = self.next_unit[unit]
                    ends[i - 1] = 1

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def load_groups(
        self,
        members: cython.int[::1],
        starts: cython.longlong[::1],
        first: cython.Py_ssize_t,
        last: cython.Py_ssize_t,
    ) -> cython.int:
        """Make lists of the units of the groups first..last-1."""
        group: cython.Py_ssize_t
        i: cython.Py_ssize_t
        self.groups = last - first
        for group in range(self.groups):
            self.first_unit[group] = -1
            self.group_size[group] = 0
            for i in range(starts[first + group], starts[first + group + 1]):
                self.add_unit(group, members[i])
            self.measure_group(group)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def add_unit(self, group: cython.Py_ssize_t, unit: cython.int) -> cython.int:
        self.next_unit[unit] = self.first_unit[group]
        self.first_unit[group] = unit
        self.group_size[group] += 1
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def measure_group(self, group: cython.Py_ssize_t) -> cython.int:
        """Measure the box of a group and its loss per row."""
        column: cython.Py_ssize_t
        code: cython.int
        unit: cython.int = self.first_unit[group]
        for column in range(self.columns):
            self.group_box[group, 0, column] = self.codes[unit, column]
            self.group_box[group, 1, column] = self.codes[unit, column]
        unit = self.next_unit[unit]
        while unit >= 0:
            for column in range(self.columns):
                code = self.codes[unit, column]
                if code < self.group_box[group, 0, column]:
                    self.group_box[group, 0, column] = code
                elif code > self.group_box[group, 1, column]:
                    self.group_box[group, 1, column] = code
            unit = self.next_unit[unit]
        self.group_loss[group] = 0.0
        for column in range(self.columns):
            self.group_loss[group] += compute_span(
                self.spans, self.places, column, self.group_box[group, 0, column], self.group_box[group, 1, column]
            )
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def resolve_groups(self, mates: cython.Py_ssize_t, noise: cython.double, penalty: cython.double) -> cython.int:
        """Pool each costly group with its nearest, cut the pool anew along two chains, and keep what is not worse."""
        group: cython.Py_ssize_t
        order: cython.Py_ssize_t
        for group in range(self.groups):
            if (
                self.group_size[group] == 0
                or self.group_loss[group] <= 0.0
                or self.group_size[group] > self.pool.shape[1]
            ):
                continue
            self.make_pool(group, mates, noise)
            if self.mate_count == 1 or not self.has_room():
                continue
            order = self.cut_pool(penalty)
            if order >= 0:
                self.replace_pool(order)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def make_pool(self, group: cython.Py_ssize_t, mates: cython.Py_ssize_t, noise: cython.double) -> cython.int:
        """Put the units of a group and of its nearest, up to so many, into the pool."""
        mate: cython.Py_ssize_t = group
        unit: cython.int
        self.pool_size = 0
        self.mate_count = 0
        while mate >= 0:
            unit = self.first_unit[mate]
            while unit >= 0:
                self.pool[0, self.pool_size] = unit
                self.pool_size += 1
                unit = self.next_unit[unit]
            self.mates[self.mate_count] = mate
            self.mate_count += 1
            if self.mate_count > mates:
                break
            mate = self.choose_mate(group, self.pool.shape[1] - self.pool_size, noise)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_nearest(
        self, group: cython.Py_ssize_t, max_units: cython.Py_ssize_t, noise: cython.double
    ) -> cython.Py_ssize_t:
        """Return the group whose box merged with that of a group loses least, give or take noise; -1 where none fits."""
        other: cython.Py_ssize_t
        column: cython.Py_ssize_t
        nearest: cython.Py_ssize_t = -1
        low: cython.int
        high: cython.int
        loss: cython.double
        least_loss: cython.double = LARGE
        for other in range(self.groups):
            if self.group_size[other] == 0 or self.group_size[other] > max_units or self.is_mate(other):
                continue
            loss = 0.0
            for column in range(self.columns):
                low = self.group_box[other, 0, column]
                high = self.group_box[other, 1, column]
                if self.group_box[group, 0, column] < low:
                    low = self.group_box[group, 0, column]
                if self.group_box[group, 1, column] > high:
                    high = self.group_box[group, 1, column]
                loss += compute_span(self.spans, self.places, column, low, high)
                if loss >= least_loss:
                    break
            self.seed = next_random(self.seed)
            loss *= 1.0 + noise * scale_random(self.seed)
            if loss < least_loss:
                least_loss = loss
                nearest = other
        return nearest

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def is_mate(self, group: cython.Py_ssize_t) -> cython.bint:
        i: cython.Py_ssize_t
        for i in range(self.mate_count):
            if self.mates[i] == group:
                return True
        return False

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sum_pool_loss(self) -> cython.double:
        i: cython.Py_ssize_t
        total: cython.double = 0.0
        for i in range(self.mate_count):
            total += self.group_loss[self.mates[i]] * self.group_size[self.mates[i]]
        return total

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def replace_pool(self, order: cython.Py_ssize_t) -> cython.int:
        """Put the segments of an order in the place of the pool's groups; further ones come behind the block's last."""
        i: cython.Py_ssize_t
        group: cython.Py_ssize_t
        reused: cython.Py_ssize_t = 0
        begin: cython.Py_ssize_t
        end: cython.Py_ssize_t = self.pool_size
        for i in range(self.mate_count):
            self.group_size[self.mates[i]] = 0
        while end > 0:
            begin = self.find_group_begin(order, end)
            if reused < self.mate_count:
                group = self.mates[reused]
                reused += 1
            else:
                group = self.groups
                self.groups += 1
            self.first_unit[group] = -1
            self.group_size[group] = 0
            for i in range(begin, end):
                self.add_unit(group, self.pool[order + 1, i])
            self.measure_group(group)
            end = begin
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def start_box(self, unit: cython.int) -> cython.int:
        """Begin a segment: a box that is one unit."""
        column: cython.Py_ssize_t
        for column in range(self.columns):
            self.box[0, column] = self.codes[unit, column]
            self.box[1, column] = self.codes[unit, column]
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def widen_box(self, unit: cython.int, loss: cython.double) -> cython.double:
        """Widen the box of a segment to hold a unit; return what its loss per row then is."""
        column: cython.Py_ssize_t
        code: cython.int
        for column in range(self.columns):
            code = self.codes[unit, column]
            if code < self.box[0, column]:
                loss -= compute_span(self.spans, self.places, column, self.box[0, column], self.box[1, column])
                self.box[0, column] = code
                loss += compute_span(self.spans, self.places, column, code, self.box[1, column])
            elif code > self.box[1, column]:
                loss -= compute_span(self.spans, self.places, column, self.box[0, column], self.box[1, column])
                self.box[1, column] = code
                loss += compute_span(self.spans, self.places, column, self.box[0, column], code)
        return loss

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def start_chain(self, order: cython.Py_ssize_t, first: cython.Py_ssize_t) -> cython.int:
        """Copy the pool into an order, the unit at `first` in front."""
        i: cython.Py_ssize_t
        for i in range(self.pool_size):
            self.pool[order + 1, i] = self.pool[0, i]
        self.swap_units(order, 0, first)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def swap_units(self, order: cython.Py_ssize_t, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.int:
        unit: cython.int = self.pool[order + 1, j]
        self.pool[order + 1, j] = self.pool[order + 1, i]
        self.pool[order + 1, i] = unit
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def measure_distance(
        self, unit: cython.int, other: cython.int, start: cython.double, enough: cython.double
    ) -> cython.double:
        """Return the loss of a box that holds two units, beyond a start, or a lower bound on it that is enough."""
        column: cython.Py_ssize_t
        code: cython.int
        other_code: cython.int
        for column in range(self.columns):
            code = self.codes[unit, column]
            other_code = self.codes[other, column]
            if code < other_code:
                start += compute_span(self.spans, self.places, column, code, other_code)
            elif other_code < code:
                start += compute_span(self.spans, self.places, column, other_code, code)
            if start >= enough:
                break
        return start


@cython.final
@cython.cclass
class Segmenter(UnitPools):
    """Orders and pools cut for k-anonymity and distinct l-diversity.

    marks[u] = (home, value): a unit whose home is a cell that keeps its own rows may go there at no cost (home -1: it has
    none); value -1 never counts as distinct.
    """

    marks: cython.int[:, ::1]
    min_size: cython.Py_ssize_t
    min_distinct: cython.Py_ssize_t
    max_length: cython.Py_ssize_t  # of a segment that is valid
    last_seen: cython.longlong[::1]  # of each value: the segment that it was last counted in
    segment: cython.longlong
    distinct: cython.Py_ssize_t

    def __init__(self, units, space, limits, sizes, next_unit):
        """units = (codes, marks); space = (spans, places); limits = (k, l, longest segment).

        sizes = (units of a pool, groups of a block); workers share `next_unit`.
        """
        codes, self.marks = units
        super().__init__(codes, space, sizes, next_unit)
        self.min_size, self.min_distinct, self.max_length = limits
        self.last_seen = np.zeros(int(units[1][:, 1].max(initial=0)) + 2, np.int64)
        self.segment = 0
        self.distinct = 0

    def cut_units(self):
        """Cut all units in the order they have; return the loss, and 1 for each unit that a segment ends after."""
        count: cython.Py_ssize_t = self.codes.shape[0]
        order: cython.int[::1] = np.arange(count, dtype=np.int32)
        begins: cython.int[::1] = np.zeros(count + 1, np.int32)
        ends = np.zeros(count, np.int8)
        end_marks: cython.char[::1] = ends
        end: cython.Py_ssize_t = count
        loss: cython.double
        self.least_loss = np.zeros(count + 1)
        with cython.nogil:
            loss = self.cut_order(order, count, begins, LARGE)
            if loss < LARGE:
                while end > 0:
                    end_marks[end - 1] = 1
                    end = begins[end]
        return loss, ends

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def choose_mate(
        self, group: cython.Py_ssize_t, max_units: cython.Py_ssize_t, noise: cython.double
    ) -> cython.Py_ssize_t:
        """Choose the next group that is pooled with a group, by random numbers that later choices do not go on with."""
        mate: cython.Py_ssize_t
        seed: cython.longlong = next_random(self.seed)
        self.seed = seed
        mate = self.find_nearest(group, max_units, noise)
        self.seed = seed
        return mate

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def cut_pool(self, penalty: cython.double) -> cython.Py_ssize_t:
        """Cut the pool along two chains; return the one that loses less, -1 where both lose more than before."""
        order: cython.Py_ssize_t
        best: cython.Py_ssize_t = 0
        old_loss: cython.double = self.sum_pool_loss()
        new_loss: cython.double = LARGE
        loss: cython.double
        for order in range(ORDERS):
            self.seed = next_random(self.seed)
            self.start_chain(order, self.seed % self.pool_size)
            self.chain_units(order)
            loss = self.cut_order(
                self.pool[order + 1],
                self.pool_size,
                self.segment_begin[order],
                old_loss if old_loss < new_loss else new_loss,
            )
            if loss < new_loss:
                new_loss = loss
                best = order
        return best if new_loss <= old_loss else -1

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def chain_units(self, order: cython.Py_ssize_t) -> cython.int:
        """Order the pool: from the first unit on, always the unit nearest to the last one."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        nearest: cython.Py_ssize_t
        least_distance: cython.double
        distance: cython.double
        for i in range(1, self.pool_size - 1):
            least_distance = LARGE
            nearest = i
            for j in range(i, self.pool_size):
                distance = self.measure_distance(
                    self.pool[order + 1, i - 1], self.pool[order + 1, j], 0.0, least_distance
                )
                if distance < least_distance:
                    least_distance = distance
                    nearest = j
                    if distance == 0.0:
                        break
            self.swap_units(order, i, nearest)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_group_begin(self, order: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return where the group begins that ends at a place: units that go home one by one are kept as one idle group."""
        begin: cython.Py_ssize_t = self.segment_begin[order, end]
        home: cython.int
        if end - begin == 1:
            home = self.marks[self.pool[order + 1, begin], 0]
            if home >= 0:
                while (
                    begin > 0
                    and self.segment_begin[order, begin] == begin - 1
                    and self.marks[self.pool[order + 1, begin - 1], 0] == home
                ):
                    begin -= 1
        return begin

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_last_start(self, order: cython.int[::1], count: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the last place from which the rest of an order is still a valid group, -1 where all of it is none."""
        last: cython.Py_ssize_t = count
        if self.min_distinct <= 1:
            return count - self.min_size
        self.start_segment()
        while last > 0 and (self.distinct < self.min_distinct or count - last < self.min_size):
            last -= 1
            self.count_distinct(order[last])
        if self.distinct < self.min_distinct or count - last < self.min_size:
            return -1
        return last

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def start_segment(self) -> cython.int:
        self.segment += 1
        self.distinct = 0
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def count_distinct(self, unit: cython.int) -> cython.int:
        value: cython.int = self.marks[unit, 1]
        if value >= 0 and self.last_seen[value] != self.segment:
            self.last_seen[value] = self.segment
            self.distinct += 1
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def cut_order(
        self, order: cython.int[::1], count: cython.Py_ssize_t, begins: cython.int[::1], bound: cython.double
    ) -> cython.double:
        """Cut order[:count] into valid segments; return their least loss.  begins[e] is where the segment that ends at e begins.

        What would lose more than the bound is not followed.
        """
        begin: cython.Py_ssize_t
        last: cython.Py_ssize_t = self.find_last_start(order, count)
        self.least_loss[0] = 0.0
        for begin in range(1, count + 1):
            self.least_loss[begin] = LARGE
        for begin in range(count):
            if self.least_loss[begin] >= LARGE or self.least_loss[begin] > bound:
                continue
            if self.marks[order[begin], 0] >= 0 and self.least_loss[begin] < self.least_loss[begin + 1]:
                self.least_loss[begin + 1] = self.least_loss[begin]
                begins[begin + 1] = begin
            if begin <= last:
                self.grow_segment(order, begin, count, last, begins, bound)
        return self.least_loss[count]

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def grow_segment(
        self,
        order: cython.int[::1],
        begin: cython.Py_ssize_t,
        count: cython.Py_ssize_t,
        last: cython.Py_ssize_t,
        begins: cython.int[::1],
        bound: cython.double,
    ) -> cython.int:
        """Grow the segment from a place until it is valid, however long that takes, and then to the longest length.

        One that would leave too little behind it takes all the rest.
        """
        unit: cython.int = order[begin]
        end: cython.Py_ssize_t = begin
        length: cython.Py_ssize_t = 0
        box_loss: cython.double = 0.0
        before: cython.double = self.least_loss[begin]
        self.start_box(unit)
        self.start_segment()
        while end < count:
            unit = order[end]
            end += 1
            length += 1
            box_loss = self.widen_box(unit, box_loss)
            if before + box_loss * (length if length > self.min_size else self.min_size) > bound:
                break
            if self.min_distinct > 1:
                self.count_distinct(unit)
                if self.distinct < self.min_distinct:
                    continue
            if length < self.min_size:
                continue
            if before + box_loss * length < self.least_loss[end]:
                self.least_loss[end] = before + box_loss * length
                begins[end] = begin
            if length >= self.max_length and end <= last:
                break
        return 0


@cython.final
@cython.cclass
class Chainer(UnitPools):
    """Pools of small groups cut for caps, closeness, entropy and recursive diversity.

    needs[first_need[v] + c] is how many rows a group needs that holds c rows of value v: so a segment knows at once how long it
    must become.
    """

    values: cython.int[::1]
    needs: cython.int[::1]
    first_need: cython.longlong[::1]
    share: cython.double[::1]
    value_count: cython.Py_ssize_t
    min_size: cython.longlong
    min_distinct: cython.longlong
    null_value: cython.longlong
    distance: cython.longlong
    distance_limit: cython.double
    entropy_limit: cython.double
    diversity: cython.longlong
    diversity_factor: cython.double
    needs_only: cython.bint  # sizes and upper caps are all there is to keep
    counts: cython.longlong[:, ::1]  # one line: rows of each value in a segment

    def __init__(self, units, space, limits, sizes, next_unit):
        """units = (codes, values); space = (spans, places); sizes = (units of a pool, groups of a block).

        limits = (needs, first need of each value, shares of the values, least and limits of the rule as
        `reticent.methods.mosaic.kernel_tables` has them); workers share `next_unit`.
        """
        codes, self.values = units
        super().__init__(codes, space, sizes, next_unit)
        self.needs, self.first_need, self.share, thresholds, bounds = limits
        self.min_size, self.min_distinct, _, self.null_value, self.distance, self.diversity = thresholds[:6]
        self.distance_limit, self.entropy_limit, self.diversity_factor = bounds[:3]
        self.needs_only = thresholds[1] <= 1 and thresholds[4] == 0 and thresholds[5] == 0 and bounds[1] == 0
        self.value_count = len(limits[2])
        self.counts = np.zeros((1, self.value_count), np.int64)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def has_room(self) -> cython.bint:
        """Tell whether there is room for the groups that a pool may be cut into."""
        return self.groups + self.pool_size <= self.first_unit.shape[0]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def cut_pool(self, penalty: cython.double) -> cython.Py_ssize_t:
        """Cut the pool along two chains; return the one that loses less, -1 where both lose more than before."""
        order: cython.Py_ssize_t
        first: cython.Py_ssize_t
        best: cython.Py_ssize_t = -1
        least_loss: cython.double = self.sum_pool_loss() * (1.0 + 1e-12)
        loss: cython.double
        for order in range(ORDERS):
            self.seed = next_random(self.seed)
            first = self.seed % self.pool_size
            self.seed = next_random(self.seed)
            self.start_chain(order, first)
            self.chain_units(order, penalty * scale_random(self.seed) if order == 1 else 0.0)
            loss = self.cut_chain(order, least_loss)
            if loss <= least_loss:
                least_loss = loss
                best = order
        return best

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def chain_units(self, order: cython.Py_ssize_t, penalty: cython.double) -> cython.int:
        """Order the pool: always the unit nearest to the last one, units that make the segment longer as if farther."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        unit: cython.int
        nearest: cython.Py_ssize_t
        least_distance: cython.double
        distance: cython.double
        need: cython.longlong = self.min_size
        begin: cython.Py_ssize_t = 0
        for i in range(1, self.pool_size):
            unit = self.pool[order + 1, i - 1]
            if penalty > 0.0:
                need = self.count_unit(unit, need)
                if i - begin >= need:
                    self.uncount_units(order, begin, i)
                    begin = i
                    need = self.min_size
            least_distance = LARGE
            nearest = i
            for j in range(i, self.pool_size):
                distance = 0.0
                if penalty > 0.0:
                    distance = self.penalize_unit(self.pool[order + 1, j], need, penalty)
                distance = self.measure_distance(unit, self.pool[order + 1, j], distance, least_distance)
                if distance < least_distance:
                    least_distance = distance
                    nearest = j
                    if distance == 0.0:
                        break
            self.swap_units(order, i, nearest)
        if penalty > 0.0:
            self.uncount_units(order, begin, self.pool_size - 1)
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def count_unit(self, unit: cython.int, need: cython.longlong) -> cython.longlong:
        """Count a unit into the segment, which needed so many rows; return how many it needs now."""
        value: cython.int = self.values[unit]
        own_need: cython.longlong
        self.counts[0, value] += 1
        own_need = self.needs[self.first_need[value] + self.counts[0, value]]
        return own_need if own_need > need else need

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def uncount_units(self, order: cython.Py_ssize_t, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        i: cython.Py_ssize_t
        for i in range(begin, end):
            self.counts[0, self.values[self.pool[order + 1, i]]] -= 1
        return 0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def penalize_unit(self, unit: cython.int, need: cython.longlong, penalty: cython.double) -> cython.double:
        """Return how much farther a unit seems for the rows that it would make the segment longer."""
        value: cython.int = self.values[unit]
        extra: cython.longlong = self.needs[self.first_need[value] + self.counts[0, value] + 1] - need
        return penalty * extra if extra > 0 else 0.0

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def cut_chain(self, order: cython.Py_ssize_t, bound: cython.double) -> cython.double:
        """Cut the pool's order into valid segments; return their least loss, LARGE where it would exceed the bound."""
        begin: cython.Py_ssize_t
        count: cython.Py_ssize_t = self.pool_size
        self.least_loss[0] = 0.0
        for begin in range(1, count + 1):
            self.least_loss[begin] = LARGE
        for begin in range(count):
            if self.least_loss[begin] <= bound and count - begin >= self.min_size:
                self.uncount_units(order, begin, self.grow_segment(order, begin, bound))
        return self.least_loss[count]

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def grow_segment(
        self, order: cython.Py_ssize_t, begin: cython.Py_ssize_t, bound: cython.double
    ) -> cython.Py_ssize_t:
        """Grow the segment from a place for as long as it loses no more than the bound; return where it ends."""
        unit: cython.int = self.pool[order + 1, begin]
        end: cython.Py_ssize_t = begin
        length: cython.longlong = 0
        need: cython.longlong = self.min_size
        box_loss: cython.double = 0.0
        loss: cython.double
        self.start_box(unit)
        while end < self.pool_size:
            unit = self.pool[order + 1, end]
            end += 1
            length += 1
            box_loss = self.widen_box(unit, box_loss)
            need = self.count_unit(unit, need)
            loss = self.least_loss[begin] + box_loss * (length if length > need else need)
            if loss > bound or begin + need > self.pool_size:
                break
            if length >= need and loss < self.least_loss[end] and self.keeps_promise(length):
                self.least_loss[end] = loss
                self.segment_begin[order, end] = begin
        return end

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def keeps_promise(self, size: cython.longlong) -> cython.bint:
        """Tell whether a segment of so many rows keeps the promise, beyond its size and upper caps."""
        if self.needs_only:
            return True
        if self.min_distinct > 1 and self.count_distinct() < self.min_distinct:
            return False
        if self.entropy_limit > 0.0 and self.sum_entropy(size) < self.entropy_limit * size:
            return False
        if self.diversity > 0 and not is_recursively_diverse(
            self.counts, 0, self.value_count, size, self.diversity, self.diversity_factor
        ):
            return False
        if self.distance == 0:
            return True
        if self.distance == 1:
            return sum_excess(self.counts, 0, self.share, self.value_count, size) <= self.distance_limit * size
        return sum_ordered_distance(self.counts, 0, self.share, self.value_count, size) <= self.distance_limit * size

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def count_distinct(self) -> cython.longlong:
        value: cython.Py_ssize_t
        distinct: cython.longlong = 0
        for value in range(self.value_count):
            if self.counts[0, value] > 0 and value != self.null_value:
                distinct += 1
        return distinct

    @cython.final
    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sum_entropy(self, size: cython.longlong) -> cython.double:
        """Return the entropy of a segment's values, times its rows."""
        value: cython.Py_ssize_t
        total: cython.double = 0.0
        for value in range(self.value_count):
            if self.counts[0, value] > 0:
                total -= self.counts[0, value] * log(cython.cast(cython.double, self.counts[0, value]) / size)
        return total
