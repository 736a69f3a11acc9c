# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, language_level=3
"""Carriers: the box of least loss around a row of a rare value that holds enough rows to hide it.

A value that may be one in a thousand of a group forces a thousand rows around each of its rows.  Every box that can be
published around one row is a choice of ancestor in each column and a range of one numeric column, the axis; a table of the
rows by those choices, summed up level by level, gives the best of them exactly.
"""

import cython


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
    """Loss per row of the best box, 1e300 where no box holds enough; best = (combination, first bin, last bin).

    level[columns[j, 0] + code] is how far up column j must go to meet the code, or the code's bin where j is the axis
    (columns[j, 1] = 0); columns[j] = (offset, stride among the combinations, levels).  table (combinations, bins) is zero on
    entry; price is the loss of a combination, width that of a range of bins.  On entry best = (rows needed, centre bin, -).
    """
    bins: cython.Py_ssize_t = table.shape[1]
    combinations: cython.Py_ssize_t = table.shape[0]
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    q: cython.Py_ssize_t
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    row: cython.Py_ssize_t
    at: cython.Py_ssize_t
    stride: cython.Py_ssize_t
    need: cython.longlong = best[0]
    centre: cython.Py_ssize_t = best[1]
    total: cython.longlong
    least: cython.double = 1e300
    with cython.nogil:
        for i in range(codes.shape[0]):
            if rows[i] == 0:
                continue
            row = 0
            at = 0
            for j in range(codes.shape[1]):
                if columns[j, 1] == 0:
                    at = level[columns[j, 0] + codes[i, j]]
                else:
                    row += level[columns[j, 0] + codes[i, j]] * columns[j, 1]
            table[row, at] += rows[i]
        for j in range(codes.shape[1]):
            stride = columns[j, 1]
            if stride == 0:
                continue
            for row in range(combinations):
                if (row // stride) % columns[j, 2] > 0:
                    for q in range(bins):
                        table[row, q] += table[row - stride, q]
        for row in range(combinations):
            if price[row] >= least:
                continue
            total = 0
            for q in range(centre + 1):
                total += table[row, q]
            b = centre
            for a in range(centre + 1):
                while total < need and b + 1 < bins:
                    b += 1
                    total += table[row, b]
                if total < need:
                    break
                if price[row] + width[a, b] < least:
                    least = price[row] + width[a, b]
                    best[0] = row
                    best[1] = a
                    best[2] = b
                total -= table[row, a]
    return least


def take_rows(
    codes: cython.int[:, ::1],
    starts: cython.longlong[::1],
    values: cython.int[::1],
    rows: cython.longlong[::1],
    order: cython.int[::1],
    box: cython.int[:, ::1],
    room: cython.longlong[::1],
    take: cython.longlong[::1],
):
    """Take rows inside the box until take[0] are found; returns (entries, found).

    Quasi-identifier cells come in the given order, the cells of each (starts[c]..starts[c+1]) as they stand, at most
    room[v] rows of value v.  take[1 + 2 e], take[2 + 2 e] = cell and rows of entry e; rows and room are left as they were.
    """
    c: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    q: cython.Py_ssize_t
    x: cython.longlong
    want: cython.longlong = take[0]
    found: cython.longlong = 0
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
                if x > room[values[i]]:
                    x = room[values[i]]
                if x > want - found:
                    x = want - found
                if x > 0:
                    room[values[i]] -= x
                    found += x
                    take[1 + 2 * entries] = i
                    take[2 + 2 * entries] = x
                    entries += 1
            if found == want:
                break
        for q in range(entries):
            room[values[take[1 + 2 * q]]] += take[2 + 2 * q]
    return entries, found
