"""Nodes of a strict partition: rows of codes kept together in memory, divided in place, one call for a whole level.

Codes are packed two to a 64-bit word, column j in the half j % 2 of word j // 2, with a free bit above each: two columns
are compared at once.  Rows are physically permuted, so that every later pass over a node is sequential.

A cut is five integers (start, stop, column, lo, hi): of the rows start..stop those with lo <= code <= hi in `column` go
to the left.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython
import numpy as np

GUARD = cython.declare(cython.ulonglong, 0x8000000080000000)
CODE = cython.declare(cython.ulonglong, 0x7FFFFFFF)


def divide_nodes(
    cuts: cython.longlong[:, ::1],
    words: cython.ulonglong[:, ::1],
    atom: cython.int[::1],
    count: cython.longlong[::1],
    middle: cython.longlong[::1],
):
    """Divide each node by its cut, stably: the left rows of cut i are start..middle[i], the right ones middle[i]..stop."""
    i: cython.Py_ssize_t
    max_rows: cython.Py_ssize_t = 1
    for i in range(cuts.shape[0]):
        max_rows = max(max_rows, cuts[i, 1] - cuts[i, 0])
    aside: cython.ulonglong[:, ::1] = np.empty((max_rows, words.shape[1]), np.uint64)
    aside_atom: cython.int[::1] = np.empty(max_rows, np.int32)
    aside_count: cython.longlong[::1] = np.empty(max_rows, np.int64)
    with cython.nogil:
        for i in range(cuts.shape[0]):
            middle[i] = _divide_node(i, cuts, words, atom, count, aside, aside_atom, aside_count)


def measure_nodes(
    start: cython.longlong[::1],
    stop: cython.longlong[::1],
    words: cython.ulonglong[:, ::1],
    count: cython.longlong[::1],
    box: cython.int[:, :, ::1],
    size: cython.longlong[::1],
):
    """Measure the tight box of each node, box[i] = (least codes, greatest codes), and how many rows of the table it holds."""
    i: cython.Py_ssize_t
    r: cython.Py_ssize_t
    w: cython.Py_ssize_t
    with cython.nogil:
        for i in range(start.shape[0]):
            size[i] = 0
            for r in range(start[i], stop[i]):
                size[i] += count[r]
            for w in range(words.shape[1]):
                _measure_box(i, w, start[i], stop[i], words, box)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _divide_node(
    i: cython.Py_ssize_t,
    cuts: cython.longlong[:, ::1],
    words: cython.ulonglong[:, ::1],
    atom: cython.int[::1],
    count: cython.longlong[::1],
    aside: cython.ulonglong[:, ::1],
    aside_atom: cython.int[::1],
    aside_count: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Divide a node: left rows close up where they are, right rows wait aside and follow."""
    r: cython.Py_ssize_t
    w: cython.Py_ssize_t
    inside: cython.Py_ssize_t = cuts[i, 0]
    outside: cython.Py_ssize_t = 0
    word: cython.Py_ssize_t = cuts[i, 2] >> 1
    shift: cython.int = cython.cast(cython.int, 32 * (cuts[i, 2] & 1))
    lo: cython.longlong = cuts[i, 3]
    hi: cython.longlong = cuts[i, 4]
    for r in range(cuts[i, 0], cuts[i, 1]):
        if lo <= cython.cast(cython.longlong, (words[r, word] >> shift) & CODE) <= hi:
            for w in range(words.shape[1]):
                words[inside, w] = words[r, w]
            atom[inside] = atom[r]
            count[inside] = count[r]
            inside += 1
        else:
            for w in range(words.shape[1]):
                aside[outside, w] = words[r, w]
            aside_atom[outside] = atom[r]
            aside_count[outside] = count[r]
            outside += 1
    for r in range(outside):
        for w in range(words.shape[1]):
            words[inside + r, w] = aside[r, w]
        atom[inside + r] = aside_atom[r]
        count[inside + r] = aside_count[r]
    return inside


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _measure_box(
    i: cython.Py_ssize_t,
    w: cython.Py_ssize_t,
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    words: cython.ulonglong[:, ::1],
    box: cython.int[:, :, ::1],
) -> cython.void:
    """Find the least and greatest codes of the two columns in a word."""
    r: cython.Py_ssize_t
    row: cython.ulonglong
    mask: cython.ulonglong
    low: cython.ulonglong = words[start, w]
    high: cython.ulonglong = low
    for r in range(start + 1, stop):
        row = words[r, w]
        if ((row | GUARD) - low) & ((high | GUARD) - row) & GUARD == GUARD:
            continue  # most rows lie between: the guards stay where row >= low and where high >= row
        mask = ((row | GUARD) - low) & GUARD
        mask -= mask >> 31
        low = (low & mask) | (row & ~mask)
        mask = ((high | GUARD) - row) & GUARD
        mask -= mask >> 31
        high = (high & mask) | (row & ~mask)
    box[i, 0, 2 * w] = cython.cast(cython.int, low & CODE)
    box[i, 1, 2 * w] = cython.cast(cython.int, high & CODE)
    if 2 * w + 1 < box.shape[2]:
        box[i, 0, 2 * w + 1] = cython.cast(cython.int, low >> 32)
        box[i, 1, 2 * w + 1] = cython.cast(cython.int, high >> 32)
