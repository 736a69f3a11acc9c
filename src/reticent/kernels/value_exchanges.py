"""Give the values that groups list to their rows so that each combination of quasi-identifiers gets just the values of its people.

A row may only get a value that some of the people with its combination have.  `seat_rows` gives every group's values to its
rows under that rule alone, by augmenting paths; a group where that fails proves that no assignment exists.  `exchange_values`
then exchanges values of rows within groups until no combination has more rows of a value than people: a row too many travels
along combinations and values (breadth first) to where one is lacking.  Deciding the question in general is
NP-hard: not finding an assignment proves nothing.  Used by the audit only.

The columns of the arrays: `rows` are sorted by group and have (combination, group, value listed, cell, next, previous), where a
cell is a pair of a combination and a value that some of its people have, and next and previous link the rows of a cell;
`cells` are sorted by combination and value and have (combination, value, room, first row), where room is how
many more rows could get the value; `combinations` have (first cell, cells with room).
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def seat_rows(
    rows: cython.int[:, ::1],
    cells: cython.int[:, ::1],
    combinations: cython.int[:, ::1],
    starts: cython.int[::1],
    seats: cython.int[:, ::1],
) -> cython.int:
    """Give every group's values to its rows; the number of the first group where that is impossible, -1 where there is none.

    The rows of group g are starts[g] .. starts[g + 1]; `seats` (5 columns) has room for the largest group.
    """
    g: cython.int
    for g in range(starts.shape[0] - 1):
        if seat_group(rows, cells, combinations, starts[g], starts[g + 1], seats) == 0:
            return g
    return -1


def exchange_values(
    rows: cython.int[:, ::1],
    cells: cython.int[:, ::1],
    combinations: cython.int[:, ::1],
    starts: cython.int[::1],
    path: cython.int[:, ::1],
    visited: cython.longlong[:, ::1],
    state: cython.longlong[::1],
) -> cython.longlong:
    """Exchange values within groups; how many rows are too many in the end, 0 where an assignment was found.

    `state` has (a number between 1 and 2147483646 that draws begin with, how many pairs of rows may be looked at in all, how
    many for one path, how many paths were searched); `visited` has a power of two of rows, more than twice those of `path`.
    """
    excess: cython.longlong = 0
    cell: cython.int
    change: cython.int
    search: PathSearch = PathSearch(rows, cells, combinations, starts, path, visited, state)
    for cell in range(cells.shape[0]):
        if cells[cell, 2] < 0:
            excess -= cells[cell, 2]
    while excess > 0 and state[1] > 0:
        for cell in range(cells.shape[0]):
            while cells[cell, 2] < 0 and state[1] > 0:
                change = search.relieve_cell(cell)
                if change == 0:
                    break
                excess += change
        if excess > 0:
            for cell in range(cells.shape[0]):
                if cells[cell, 2] < 0 and draw_below(state, 2) == 0:
                    excess += kick_cell(rows, cells, combinations, starts, state, cell)
        state[1] -= 1 + cells.shape[0] // 16  # what going through the cells costs
    return excess


@cython.final
@cython.cclass
class PathSearch:
    """The search for a path of exchanges that moves one row too many of a cell to where there is room.

    A row of the cell exchanges its value with another row of its group.  Of the two cells that get a row, both may have room:
    the search ends.  If one has, the other one has a row too many in its stead, and the cell that the other row left has room.
    `path` has (cell with a row too many, cell that was left, step before, row, row it exchanges with, its cell, the cell it gets, order).
    """

    rows: cython.int[:, ::1]
    cells: cython.int[:, ::1]
    combinations: cython.int[:, ::1]
    starts: cython.int[::1]
    path: cython.int[:, ::1]
    visited: cython.longlong[:, ::1]
    state: cython.longlong[::1]
    steps: cython.int  # of the path so far
    looks: cython.longlong  # pairs of rows that may still be looked at
    change: cython.int  # how many more rows are too many after a path was taken

    def __init__(self, rows, cells, combinations, starts, path, visited, state):
        self.rows = rows
        self.cells = cells
        self.combinations = combinations
        self.starts = starts
        self.path = path
        self.visited = visited
        self.state = state
        self.steps = 0
        self.looks = 0
        self.change = 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def relieve_cell(self, root: cython.int) -> cython.int:
        """Move one row too many of a cell to where there is room; return how many rows fewer are too many, as a negative number."""
        self.looks = self.state[2]
        self.change = 0
        self.state[3] += 1
        self.path[0, 0] = root
        self.path[0, 1] = -1
        self.path[0, 2] = 0
        self.steps = 1
        self.search_steps()
        self.state[1] -= self.state[2] - self.looks
        return self.change

    @cython.cfunc
    @cython.exceptval(check=False)
    def search_steps(self) -> cython.int:
        """Search from one step after the other, until a path is taken, there is none, or enough was looked at."""
        step: cython.int = 0
        row: cython.int
        moved: cython.int
        while step < self.steps:
            row = self.cells[self.path[step, 0], 3]
            if step > 0:  # the row that this step brought here goes on within its group
                moved = self.path[step, 3]
                if self.path[step, 0] == self.path[step, 6]:
                    moved = self.path[step, 4]
                if self.search_row(step, moved, self.path[step, 3] + self.path[step, 4] - moved):
                    return 0
            while row >= 0:
                if self.search_row(step, row, -1):
                    return 0
                row = self.rows[row, 4]
            step += 1
        return 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def search_row(self, step: cython.int, row: cython.int, partner: cython.int) -> cython.bint:
        """Try exchanges of a row with all rows of its group but its last partner; return whether the search ends."""
        other: cython.int
        fitting: cython.int
        key: cython.longlong
        for other in range(self.starts[self.rows[row, 1]], self.starts[self.rows[row, 1] + 1]):
            self.looks -= 1
            if other == partner:
                continue
            fitting = self.write_step(step, row, other)
            if fitting == 0:
                continue
            if fitting == 2:
                self.change = apply_path(self.rows, self.cells, self.combinations, self.path, self.steps)
                if self.change < 0:
                    return True
                continue
            key = cython.cast(cython.longlong, self.path[self.steps, 0]) * (self.cells.shape[0] + 1)
            if mark_visited(self.visited, key + self.path[self.steps, 1], self.state[3]) == 0:
                continue
            self.steps += 1
            if self.steps == self.path.shape[0]:
                return True
        return self.looks <= 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def write_step(self, step: cython.int, row: cython.int, other: cython.int) -> cython.int:
        """Write the exchange of two rows behind the path's last step; return how many of their new cells have room.

        Where none has, or the exchange is impossible, nothing is written.
        """
        combination: cython.int = self.cells[self.path[step, 0], 0]
        value: cython.int = self.cells[self.path[step, 0], 1]
        spare: cython.int = self.path[step, 1]
        other_combination: cython.int = self.rows[other, 0]
        other_cell: cython.int = self.rows[other, 3]
        row_target: cython.int
        other_target: cython.int
        row_fits: cython.int
        other_fits: cython.int
        if other_combination == combination or self.cells[other_cell, 1] == value:
            return 0
        if spare < 0 and self.combinations[combination, 1] == 0 and self.combinations[other_combination, 1] == 0:
            return 0
        row_target = find_cell(self.cells, self.combinations, combination, self.cells[other_cell, 1])
        if row_target < 0:
            return 0
        other_target = find_cell(self.cells, self.combinations, other_combination, value)
        if other_target < 0:
            return 0
        row_fits = 1 if self.cells[row_target, 2] > 0 or row_target == spare else 0
        other_fits = 1 if self.cells[other_target, 2] > 0 or other_target == spare else 0
        if row_fits + other_fits > 0:
            self.path[self.steps, 0] = other_target if row_fits == 1 else row_target
            self.path[self.steps, 1] = other_cell
            self.path[self.steps, 2] = step
            self.path[self.steps, 3] = row
            self.path[self.steps, 4] = other
            self.path[self.steps, 5] = other_cell
            self.path[self.steps, 6] = other_target
        return row_fits + other_fits


@cython.cfunc
@cython.exceptval(check=False)
def find_cell(
    cells: cython.int[:, ::1],
    combinations: cython.int[:, ::1],
    combination: cython.int,
    value: cython.int,
) -> cython.int:
    """Return the cell of a combination and a value, -1 where nobody has it."""
    low: cython.int = combinations[combination, 0]
    high: cython.int = combinations[combination + 1, 0]
    middle: cython.int
    while low < high:
        middle = (low + high) >> 1
        if cells[middle, 1] < value:
            low = middle + 1
        else:
            high = middle
    if low < combinations[combination + 1, 0] and cells[low, 1] == value:
        return low
    return -1


@cython.cfunc
@cython.exceptval(check=False)
def enter_cell(
    rows: cython.int[:, ::1],
    cells: cython.int[:, ::1],
    combinations: cython.int[:, ::1],
    row: cython.int,
    cell: cython.int,
) -> cython.int:
    """Put a row into a cell; 1 where the cell then has a row too many."""
    first: cython.int = cells[cell, 3]
    rows[row, 3] = cell
    rows[row, 4] = first
    rows[row, 5] = -1
    if first >= 0:
        rows[first, 5] = row
    cells[cell, 3] = row
    cells[cell, 2] -= 1
    if cells[cell, 2] == 0:
        combinations[cells[cell, 0], 1] -= 1
    return 1 if cells[cell, 2] < 0 else 0


@cython.cfunc
@cython.exceptval(check=False)
def leave_cell(
    rows: cython.int[:, ::1],
    cells: cython.int[:, ::1],
    combinations: cython.int[:, ::1],
    row: cython.int,
) -> cython.int:
    """Take a row out of its cell; -1 where the cell had a row too many."""
    cell: cython.int = rows[row, 3]
    after: cython.int = rows[row, 4]
    before: cython.int = rows[row, 5]
    if after >= 0:
        rows[after, 5] = before
    if before >= 0:
        rows[before, 4] = after
    else:
        cells[cell, 3] = after
    cells[cell, 2] += 1
    if cells[cell, 2] == 1:
        combinations[cells[cell, 0], 1] += 1
    return -1 if cells[cell, 2] <= 0 else 0


@cython.cfunc
@cython.exceptval(check=False)
def swap_values(
    rows: cython.int[:, ::1],
    cells: cython.int[:, ::1],
    combinations: cython.int[:, ::1],
    row: cython.int,
    other: cython.int,
) -> cython.int:
    """Exchange the values of two rows of different combinations, both of which have both; how many more rows are too many."""
    value: cython.int = cells[rows[row, 3], 1]
    instead: cython.int = cells[rows[other, 3], 1]
    change: cython.int = leave_cell(rows, cells, combinations, row)
    change += leave_cell(rows, cells, combinations, other)
    change += enter_cell(rows, cells, combinations, row, find_cell(cells, combinations, rows[row, 0], instead))
    change += enter_cell(rows, cells, combinations, other, find_cell(cells, combinations, rows[other, 0], value))
    return change


@cython.cfunc
@cython.exceptval(check=False)
def seat_row(
    rows: cython.int[:, ::1],
    cells: cython.int[:, ::1],
    combinations: cython.int[:, ::1],
    begin: cython.int,
    end: cython.int,
    row: cython.int,
    seats: cython.int[:, ::1],
) -> cython.int:
    """Find a listed value for a row, moving rows that already have one; 1 if it was found.

    `seats` have (row that has the value, mark, row on the path, next value to try, value taken on the path).
    """
    depth: cython.int = 0
    place: cython.int
    seat: cython.int
    cell: cython.int
    seats[0, 2] = row
    seats[0, 3] = begin
    while depth >= 0:
        seat = -1
        for place in range(seats[depth, 3], end):
            if seats[place - begin, 1] == row + 1:
                continue
            cell = find_cell(cells, combinations, rows[seats[depth, 2], 0], rows[place, 2])
            if cell < 0 or cells[cell, 4] == 0:
                continue
            seat = place
            break
        if seat < 0:
            depth -= 1
            continue
        seats[depth, 3] = seat + 1
        seats[seat - begin, 1] = row + 1
        seats[depth, 4] = seat
        if seats[seat - begin, 0] < 0:
            while depth >= 0:
                seats[seats[depth, 4] - begin, 0] = seats[depth, 2]
                depth -= 1
            return 1
        depth += 1
        seats[depth, 2] = seats[seat - begin, 0]
        seats[depth, 3] = begin
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def seat_group(
    rows: cython.int[:, ::1],
    cells: cython.int[:, ::1],
    combinations: cython.int[:, ::1],
    begin: cython.int,
    end: cython.int,
    seats: cython.int[:, ::1],
) -> cython.int:
    """Give a group's values to its rows, each first the value of which its combination lacks most; 0 where it is impossible."""
    row: cython.int
    place: cython.int
    cell: cython.int
    best: cython.int
    lacking: cython.int
    for place in range(begin, end):
        seats[place - begin, 0] = -1
        seats[place - begin, 1] = 0
    for row in range(begin, end):
        best = -1
        lacking = 0
        for place in range(begin, end):
            if seats[place - begin, 0] >= 0:
                continue
            cell = find_cell(cells, combinations, rows[row, 0], rows[place, 2])
            if cell >= 0 and cells[cell, 4] != 0 and (best < 0 or cells[cell, 2] > lacking):
                best = place
                lacking = cells[cell, 2]
        if best >= 0:
            seats[best - begin, 0] = row
        elif seat_row(rows, cells, combinations, begin, end, row, seats) == 0:
            return 0
    for place in range(begin, end):
        row = seats[place - begin, 0]
        enter_cell(rows, cells, combinations, row, find_cell(cells, combinations, rows[row, 0], rows[place, 2]))
    return 1


@cython.cfunc
@cython.exceptval(check=False)
def apply_path(
    rows: cython.int[:, ::1],
    cells: cython.int[:, ::1],
    combinations: cython.int[:, ::1],
    path: cython.int[:, ::1],
    last: cython.int,
) -> cython.int:
    """Exchange along a path, unless it crosses itself or leaves as many rows too many as before; the change."""
    length: cython.int = 0
    step: cython.int = last
    applied: cython.int = 0
    change: cython.int = 0
    k: cython.int
    while step > 0:
        path[length, 7] = step
        length += 1
        step = path[step, 2]
    for k in range(length):
        step = path[length - 1 - k, 7]
        if rows[path[step, 3], 3] != path[path[step, 2], 0] or rows[path[step, 4], 3] != path[step, 5]:
            break
        change += swap_values(rows, cells, combinations, path[step, 3], path[step, 4])
        applied += 1
    if change < 0:
        return change
    while applied > 0:
        applied -= 1
        step = path[length - 1 - applied, 7]
        swap_values(rows, cells, combinations, path[step, 4], path[step, 3])
    return 0


@cython.cfunc
@cython.exceptval(check=False)
def mark_visited(
    visited: cython.longlong[:, ::1],
    key: cython.longlong,
    stamp: cython.longlong,
) -> cython.int:
    """Note a key of this search; 0 if it was noted before."""
    mask: cython.longlong = visited.shape[0] - 1
    place: cython.longlong = (key * 7919 + (key >> 16)) & mask
    while visited[place, 1] == stamp:
        if visited[place, 0] == key:
            return 0
        place = (place + 1) & mask
    visited[place, 0] = key
    visited[place, 1] = stamp
    return 1


@cython.cfunc
@cython.exceptval(check=False)
def draw_below(state: cython.longlong[::1], limit: cython.int) -> cython.int:
    """Return a number below the limit, from a generator of 31 bits (Park & Miller 1988); the audit shares none with planners."""
    state[0] = state[0] * 48271 % 2147483647
    return cython.cast(cython.int, state[0] % limit)


@cython.cfunc
@cython.exceptval(check=False)
def kick_cell(
    rows: cython.int[:, ::1],
    cells: cython.int[:, ::1],
    combinations: cython.int[:, ::1],
    starts: cython.int[::1],
    state: cython.longlong[::1],
    root: cython.int,
) -> cython.int:
    """Exchange the value of some row of a cell with some row of its group, even for the worse; how many more are too many."""
    row: cython.int = cells[root, 3]
    skips: cython.int = draw_below(state, 16)
    begin: cython.int
    size: cython.int
    turn: cython.int
    shift: cython.int
    other: cython.int
    mine: cython.int
    theirs: cython.int
    worse: cython.int
    fewest: cython.int = 3
    best: cython.int = -1
    while skips > 0 and rows[row, 4] >= 0:
        row = rows[row, 4]
        skips -= 1
    begin = starts[rows[row, 1]]
    size = starts[rows[row, 1] + 1] - begin
    shift = draw_below(state, size)
    for turn in range(size):
        other = begin + (turn + shift) % size
        state[1] -= 1
        if rows[other, 0] == rows[row, 0] or cells[rows[other, 3], 1] == cells[root, 1]:
            continue
        mine = find_cell(cells, combinations, rows[row, 0], cells[rows[other, 3], 1])
        if mine < 0:
            continue
        theirs = find_cell(cells, combinations, rows[other, 0], cells[root, 1])
        if theirs < 0:
            continue
        worse = (1 if cells[mine, 2] <= 0 else 0) + (1 if cells[theirs, 2] <= 0 else 0)
        worse -= 1 if cells[rows[other, 3], 2] < 0 else 0
        if worse < fewest:
            fewest = worse
            best = other
    if best < 0:
        return 0
    return swap_values(rows, cells, combinations, row, best)
