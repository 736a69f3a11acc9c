"""What both sides of a cut hold, counted for many cuts of many nodes, and whether they keep count-capped promises.

A cut is (start, stop, column, lo, hi) over rows of packed codes (see `mondrian_nodes`); row r stands for the cells
first[atom[r]] .. first[atom[r] + 1].  held[cell] = (count, sensitive values ...), the values of each sensitive column
numbered behind those of the one before.  Cuts of one node follow one another: what the node holds is counted once, and
where several of its cuts part the same column, its codes are counted once and each cut is a difference of two sums.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython
import numpy as np

if cython.compiled:
    from cython.cimports.reticent.kernels.inline_functions import unpack_code
else:
    from reticent.kernels.inline_functions import unpack_code

MAX_SUM_CELLS = cython.declare(cython.Py_ssize_t, 1 << 17)  # counts that a node's sums may take
UNDECIDED = cython.declare(cython.Py_ssize_t, -1)
COUNT_EACH = cython.declare(cython.Py_ssize_t, -2)  # a pass over the node for each cut


def mark_cuts_within_caps(
    cuts: cython.longlong[:, ::1],
    words: cython.ulonglong[:, ::1],
    atom: cython.int[::1],
    first: cython.longlong[::1],
    contents: cython.longlong[:, ::1],
    bounds: cython.longlong[:, ::1],
    rules: cython.longlong[:, ::1],
    max_kept: cython.longlong,
    verdict: cython.char[::1],
):
    """Set verdict[i] to whether both sides of cut i keep the caps; none of a node's is judged after `max_kept` that do.

    rules[r] = (least size, least distinct, null, without, present only, how many lower caps are positive, first value,
    end of values, shift from values to bounds); bounds = upper and lower caps, each a numerator and a denominator.
    """
    i: cython.Py_ssize_t
    kept_count: cython.longlong = 0
    values: cython.Py_ssize_t = 1
    for i in range(rules.shape[0]):
        values = max(values, rules[i, 7])
    sides: SideCounts = SideCounts(cuts, words, atom, first, contents, values)
    with cython.nogil:
        for i in range(cuts.shape[0]):
            if sides.enter_node(i):
                kept_count = 0
            verdict[i] = 0
            if kept_count < max_kept:
                sides.count_sides(i)
                verdict[i] = _keeps(sides.inside, sides.touched, sides.value_count, bounds, rules)
                if verdict[i]:
                    verdict[i] = _keeps(sides.outside, sides.touched, sides.value_count, bounds, rules)
                kept_count += verdict[i]


def tally_sides(
    cuts: cython.longlong[:, ::1],
    words: cython.ulonglong[:, ::1],
    atom: cython.int[::1],
    first: cython.longlong[::1],
    contents: cython.longlong[:, ::1],
    counts: cython.longlong[:, ::1],
):
    """Set counts[2i] and counts[2i + 1] to how often each value occurs within cut i and in the rest of its node."""
    i: cython.Py_ssize_t
    v: cython.Py_ssize_t
    sides: SideCounts = SideCounts(cuts, words, atom, first, contents, counts.shape[1])
    with cython.nogil:
        for i in range(cuts.shape[0]):
            sides.enter_node(i)
            sides.count_sides(i)
            for v in range(counts.shape[1]):
                counts[2 * i, v] = sides.inside[v]
                counts[2 * i + 1, v] = sides.outside[v]


def list_side_atoms(
    cuts: cython.longlong[:, ::1],
    words: cython.ulonglong[:, ::1],
    atom: cython.int[::1],
    offsets: cython.longlong[::1],
    atoms: cython.int[::1],
):
    """List the atoms within cut i in atoms[offsets[2i] .. offsets[2i + 1]], and up to offsets[2i + 2] the rest of its node."""
    i: cython.Py_ssize_t
    r: cython.Py_ssize_t
    column: cython.Py_ssize_t
    code: cython.longlong
    inside_end: cython.Py_ssize_t
    outside_begin: cython.Py_ssize_t
    with cython.nogil:
        for i in range(cuts.shape[0]):
            inside_end = offsets[2 * i]
            outside_begin = inside_end + cuts[i, 1] - cuts[i, 0]
            offsets[2 * i + 2] = outside_begin
            column = cuts[i, 2]
            for r in range(cuts[i, 0], cuts[i, 1]):
                code = unpack_code(words, r, column)
                if cuts[i, 3] <= code <= cuts[i, 4]:
                    atoms[inside_end] = atom[r]
                    inside_end += 1
                else:
                    outside_begin -= 1
                    atoms[outside_begin] = atom[r]
            offsets[2 * i + 1] = inside_end


@cython.final
@cython.cclass
class SideCounts:
    """The cuts asked about, and for the node at hand the values that occur, their counts, and sums by column."""

    cuts: cython.longlong[:, ::1]
    words: cython.ulonglong[:, ::1]
    atom: cython.int[::1]
    first: cython.longlong[::1]
    contents: cython.longlong[:, ::1]
    totals: cython.longlong[::1]
    inside: cython.longlong[::1]
    outside: cython.longlong[::1]
    touched: cython.longlong[::1]
    sums: cython.longlong[::1]
    sums_begin: cython.Py_ssize_t[::1]  # where the sums of a column begin
    least_code: cython.longlong[::1]  # the least code they tell of
    value_count: cython.Py_ssize_t
    used_cells: cython.Py_ssize_t
    end_cut: cython.Py_ssize_t

    def __init__(self, cuts, words, atom, first, contents, values):
        self.cuts = cuts
        self.words = words
        self.atom = atom
        self.first = first
        self.contents = contents
        self.totals, self.inside, self.outside = np.zeros((3, values), np.int64)
        self.touched = np.empty(values, np.int64)
        self.sums = np.empty(MAX_SUM_CELLS, np.int64)
        self.sums_begin = np.empty(2 * np.asarray(words).shape[1], np.intp)
        self.least_code = np.empty(2 * np.asarray(words).shape[1], np.int64)
        self.value_count = self.used_cells = self.end_cut = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def enter_node(self, i: cython.Py_ssize_t) -> cython.bint:
        """Count what the node of cut i holds, if it is the node's first; whether it is."""
        t: cython.Py_ssize_t
        if i > 0 and self.cuts[i, 0] == self.cuts[i - 1, 0]:
            return False
        for t in range(self.value_count):
            self.totals[self.touched[t]] = 0
            self.inside[self.touched[t]] = 0
            self.outside[self.touched[t]] = 0
        self.value_count = _count_node(
            self.cuts[i, 0], self.cuts[i, 1], self.atom, self.first, self.contents, self.totals, self.touched
        )
        self.end_cut = i
        while self.end_cut < self.cuts.shape[0] and self.cuts[self.end_cut, 0] == self.cuts[i, 0]:
            self.end_cut += 1
        for t in range(self.sums_begin.shape[0]):
            self.sums_begin[t] = UNDECIDED
        self.used_cells = 0
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def count_sides(self, i: cython.Py_ssize_t) -> cython.void:
        """Count what cut i has inside and outside."""
        t: cython.Py_ssize_t
        v: cython.Py_ssize_t
        lower: cython.Py_ssize_t
        upper: cython.Py_ssize_t
        j: cython.Py_ssize_t = self.cuts[i, 2]
        values: cython.Py_ssize_t = self.totals.shape[0]
        if self.sums_begin[j] == UNDECIDED:
            self.sum_if_cheaper(i, j)
        if self.sums_begin[j] == COUNT_EACH:
            for t in range(self.value_count):
                self.inside[self.touched[t]] = 0
            _count_within(i, self.cuts, self.words, self.atom, self.first, self.contents, self.inside)
        else:
            lower = self.sums_begin[j] + (self.cuts[i, 3] - self.least_code[j]) * values
            upper = self.sums_begin[j] + (self.cuts[i, 4] + 1 - self.least_code[j]) * values
            for t in range(self.value_count):
                v = self.touched[t]
                self.inside[v] = self.sums[upper + v] - self.sums[lower + v]
        for t in range(self.value_count):
            v = self.touched[t]
            self.outside[v] = self.totals[v] - self.inside[v]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sum_if_cheaper(self, i: cython.Py_ssize_t, j: cython.Py_ssize_t) -> cython.void:
        """Sum up column j if its cuts from i on take more passes than that."""
        k: cython.Py_ssize_t
        cut_count: cython.Py_ssize_t = 0
        sum_cells: cython.Py_ssize_t
        lo: cython.longlong = self.cuts[i, 3]
        hi: cython.longlong = self.cuts[i, 4]
        rows: cython.Py_ssize_t = self.cuts[i, 1] - self.cuts[i, 0]
        for k in range(i, self.end_cut):
            if self.cuts[k, 2] == j:
                lo = self.cuts[k, 3] if self.cuts[k, 3] < lo else lo
                hi = self.cuts[k, 4] if self.cuts[k, 4] > hi else hi
                cut_count += 1
        sum_cells = (hi - lo + 2) * self.totals.shape[0]
        if cut_count < 2 or self.used_cells + sum_cells > MAX_SUM_CELLS or sum_cells > cut_count * rows:
            self.sums_begin[j] = COUNT_EACH
            return
        self.sums_begin[j] = self.used_cells
        self.least_code[j] = lo
        self.used_cells += sum_cells
        _sum_column(
            i,
            lo,
            hi,
            self.sums_begin[j],
            self.cuts,
            self.words,
            self.atom,
            self.first,
            self.contents,
            self.totals.shape[0],
            self.sums,
        )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _count_node(
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    atom: cython.int[::1],
    first: cython.longlong[::1],
    contents: cython.longlong[:, ::1],
    totals: cython.longlong[::1],
    touched: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Count everything the node holds, and list the values that occur."""
    r: cython.Py_ssize_t
    h: cython.Py_ssize_t
    s: cython.Py_ssize_t
    v: cython.longlong
    value_count: cython.Py_ssize_t = 0
    for r in range(start, stop):
        for h in range(first[atom[r]], first[atom[r] + 1]):
            for s in range(1, contents.shape[1]):
                v = contents[h, s]
                if totals[v] == 0:
                    touched[value_count] = v
                    value_count += 1
                totals[v] += contents[h, 0]
    return value_count


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _count_within(
    i: cython.Py_ssize_t,
    cuts: cython.longlong[:, ::1],
    words: cython.ulonglong[:, ::1],
    atom: cython.int[::1],
    first: cython.longlong[::1],
    contents: cython.longlong[:, ::1],
    inside: cython.longlong[::1],
) -> cython.void:
    """Count the rows within the cut."""
    r: cython.Py_ssize_t
    h: cython.Py_ssize_t
    s: cython.Py_ssize_t
    j: cython.Py_ssize_t = cuts[i, 2]
    lo: cython.longlong = cuts[i, 3]
    hi: cython.longlong = cuts[i, 4]
    for r in range(cuts[i, 0], cuts[i, 1]):
        if lo <= unpack_code(words, r, j) <= hi:
            for h in range(first[atom[r]], first[atom[r] + 1]):
                for s in range(1, contents.shape[1]):
                    inside[contents[h, s]] += contents[h, 0]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sum_column(
    i: cython.Py_ssize_t,
    lo: cython.longlong,
    hi: cython.longlong,
    base: cython.Py_ssize_t,
    cuts: cython.longlong[:, ::1],
    words: cython.ulonglong[:, ::1],
    atom: cython.int[::1],
    first: cython.longlong[::1],
    contents: cython.longlong[:, ::1],
    values: cython.Py_ssize_t,
    sums: cython.longlong[::1],
) -> cython.void:
    """Set sums[base + (c - lo) * values + v] to how often v occurs with codes from lo to below c in the column of cut i."""
    r: cython.Py_ssize_t
    h: cython.Py_ssize_t
    s: cython.Py_ssize_t
    x: cython.longlong
    j: cython.Py_ssize_t = cuts[i, 2]
    for r in range(base, base + (hi - lo + 2) * values):
        sums[r] = 0
    for r in range(cuts[i, 0], cuts[i, 1]):
        x = unpack_code(words, r, j)
        if lo <= x <= hi:
            for h in range(first[atom[r]], first[atom[r] + 1]):
                for s in range(1, contents.shape[1]):
                    sums[base + (x + 1 - lo) * values + contents[h, s]] += contents[h, 0]
    for r in range(base + values, base + (hi - lo + 2) * values):
        sums[r] += sums[r - values]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _keeps(
    counts: cython.longlong[::1],
    touched: cython.longlong[::1],
    value_count: cython.Py_ssize_t,
    bounds: cython.longlong[:, ::1],
    rules: cython.longlong[:, ::1],
) -> cython.char:
    """Tell whether a side keeps every rule."""
    r: cython.Py_ssize_t
    for r in range(rules.shape[0]):
        if not _keeps_rule(r, counts, touched, value_count, bounds, rules):
            return 0
    return 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _keeps_rule(
    rule: cython.Py_ssize_t,
    counts: cython.longlong[::1],
    touched: cython.longlong[::1],
    value_count: cython.Py_ssize_t,
    bounds: cython.longlong[:, ::1],
    rules: cython.longlong[:, ::1],
) -> cython.char:
    """Tell whether a side keeps a rule, the meaning of `Caps`: integers are compared by cross multiplication, values that do not occur are not visited."""
    t: cython.Py_ssize_t
    v: cython.longlong
    b: cython.Py_ssize_t
    begin: cython.longlong = rules[rule, 6]
    end: cython.longlong = rules[rule, 7]
    shift: cython.longlong = rules[rule, 8]
    ignored_value: cython.longlong = rules[rule, 3]
    size: cython.longlong = 0
    distinct: cython.longlong = 0
    floored: cython.longlong = 0
    for t in range(value_count):
        v = touched[t]
        if begin <= v < end and v != ignored_value and counts[v] > 0:
            size += counts[v]
            distinct += v != rules[rule, 2]
            floored += bounds[v + shift, 2] > 0
    if size < rules[rule, 0] or distinct < rules[rule, 1]:
        return 0
    if size > 0 and not rules[rule, 4] and floored < rules[rule, 5]:
        return 0  # a value that must occur does not
    for t in range(value_count):
        v = touched[t]
        if begin <= v < end and v != ignored_value and counts[v] > 0:
            b = v + shift
            if counts[v] * bounds[b, 1] > bounds[b, 0] * size or counts[v] * bounds[b, 3] < bounds[b, 2] * size:
                return 0
    return 1
