# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, language_level=3
"""Carriers: the box of least loss around a row of a rare value that holds enough rows to hide it.

A value that may be one in a thousand of a group forces a thousand rows around each of its rows.  Every box that can be
published around one row is a choice of ancestor in each column and a range of one numeric column, the axis; a table of the
rows by those choices, summed up level by level, gives the best of them exactly.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def find_carrier_box(
    codes: cython.int[:, ::1],
    rows: cython.longlong[::1],
    level: cython.int[::1],
    columns: cython.longlong[:, ::1],
    table: cython.longlong[:, ::1],
    price: cython.double[::1],
    width: cython.double[:, ::1],
    best: cython.longlong[::1],
):
    """Find the best box and return its loss per row, 1e300 where no box holds enough; best = (combination, first bin, last bin).

    level[columns[j, 0] + code] is how far up column j must go to meet the code, or the code's bin where j is the axis
    (columns[j, 1] = 0); columns[j] = (offset, stride among the combinations, levels).  table (combinations, bins) is zero on
    entry; price is the loss of a combination, width that of a range of bins.  On entry best = (rows needed, centre bin, -).
    """
    combination: cython.Py_ssize_t
    needed: cython.longlong = best[0]
    centre: cython.Py_ssize_t = best[1]
    least_loss: cython.double = 1e300
    with cython.nogil:
        _tabulate_rows(codes, rows, level, columns, table)
        _sum_levels(columns, table)
        for combination in range(table.shape[0]):
            if price[combination] < least_loss:
                least_loss = _search_range(
                    combination, centre, needed, table, price[combination], width, least_loss, best
                )
    return least_loss


def take_rows(
    codes: cython.int[:, ::1],
    starts: cython.longlong[::1],
    values: cython.int[::1],
    rows: cython.longlong[::1],
    order: cython.int[::1],
    box: cython.int[:, ::1],
    limit: cython.longlong[::1],
    take: cython.longlong[::1],
):
    """Take rows inside the box until take[0] are found; returns (entries, found).

    Quasi-identifier cells come in the given order, the cells of each (starts[c]..starts[c+1]) as they stand, at most
    limit[v] rows of value v.  take[1 + 2 e], take[2 + 2 e] = cell and rows of entry e; rows and room are left as they were.
    """
    c: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    q: cython.Py_ssize_t
    x: cython.longlong
    wanted_rows: cython.longlong = take[0]
    row_count: cython.longlong = 0
    entries: cython.Py_ssize_t = 0
    inside: cython.bint
    with cython.nogil:
        for q in range(order.shape[0]):
            c = order[q]
            inside = True
            for j in range(codes.shape[1]):
                if codes[c, j] < box[0, j] or codes[c, j] > box[1, j]:
                    inside = False
                    break
            if not inside:
                continue
            for i in range(starts[c], starts[c + 1]):
                x = rows[i]
                if x > limit[values[i]]:
                    x = limit[values[i]]
                if x > wanted_rows - row_count:
                    x = wanted_rows - row_count
                if x > 0:
                    limit[values[i]] -= x
                    row_count += x
                    take[1 + 2 * entries] = i
                    take[2 + 2 * entries] = x
                    entries += 1
            if row_count == wanted_rows:
                break
        for q in range(entries):
            limit[values[take[1 + 2 * q]]] += take[2 + 2 * q]
    return entries, row_count


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _tabulate_rows(
    codes: cython.int[:, ::1],
    rows: cython.longlong[::1],
    level: cython.int[::1],
    columns: cython.longlong[:, ::1],
    table: cython.longlong[:, ::1],
) -> cython.void:
    """Count rows by the levels at which they are met and by the bin of the axis."""
    i: cython.Py_ssize_t
    column: cython.Py_ssize_t
    combination: cython.Py_ssize_t
    axis_bin: cython.Py_ssize_t
    for i in range(codes.shape[0]):
        if rows[i] == 0:
            continue
        combination = 0
        axis_bin = 0
        for column in range(codes.shape[1]):
            if columns[column, 1] == 0:
                axis_bin = level[columns[column, 0] + codes[i, column]]
            else:
                combination += level[columns[column, 0] + codes[i, column]] * columns[column, 1]
        table[combination, axis_bin] += rows[i]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sum_levels(columns: cython.longlong[:, ::1], table: cython.longlong[:, ::1]) -> cython.void:
    """Sum the table up, level by level of each column but the axis."""
    column: cython.Py_ssize_t
    combination: cython.Py_ssize_t
    b: cython.Py_ssize_t
    stride: cython.Py_ssize_t
    for column in range(columns.shape[0]):
        stride = columns[column, 1]
        if stride == 0:
            continue
        for combination in range(table.shape[0]):
            if (combination // stride) % columns[column, 2] > 0:
                for b in range(table.shape[1]):
                    table[combination, b] += table[combination - stride, b]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _search_range(
    combination: cython.Py_ssize_t,
    centre: cython.Py_ssize_t,
    needed: cython.longlong,
    table: cython.longlong[:, ::1],
    price: cython.double,
    width: cython.double[:, ::1],
    least_loss: cython.double,
    best: cython.longlong[::1],
) -> cython.double:
    """Find the narrowest range of bins around the centre that holds enough rows, by two pointers; return the least loss so far."""
    total: cython.longlong = 0
    b: cython.Py_ssize_t
    first: cython.Py_ssize_t
    last: cython.Py_ssize_t = centre
    for b in range(centre + 1):
        total += table[combination, b]
    for first in range(centre + 1):
        while total < needed and last + 1 < table.shape[1]:
            last += 1
            total += table[combination, last]
        if total < needed:
            break
        if price + width[first, last] < least_loss:
            least_loss = price + width[first, last]
            best[0] = combination
            best[1] = first
            best[2] = last
        total -= table[combination, first]
    return least_loss
