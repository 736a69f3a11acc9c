"""Disjoint boxes: are they, and which of them holds each point?

A label covers an interval of a column's codes, or, with holes, a set of them.  Boxes that are disjoint because somebody cut a
table in two, again and again, fall apart the same way: in some column the codes split into components that no label joins.  Boxes
and points are divided by these components until few boxes are left, which are compared one by one.
"""

import cython
import numpy as np


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _find_root(parent: cython.int[::1], code: cython.int) -> cython.int:
    while parent[code] != code:
        parent[code] = parent[parent[code]]
        code = parent[code]
    return code


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _share_code(
    span: cython.int[:, ::1], member: cython.uchar[:, ::1], one: cython.int, other: cython.int
) -> cython.bint:
    """Whether two labels of one column share a code."""
    low: cython.int = span[one, 0] if span[one, 0] > span[other, 0] else span[other, 0]
    high: cython.int = span[one, 1] if span[one, 1] < span[other, 1] else span[other, 1]
    if span[one, 2] < 0 and span[other, 2] < 0:
        return low <= high
    code: cython.int = low
    while code <= high:
        if (span[one, 2] < 0 or member[span[one, 2], code]) and (span[other, 2] < 0 or member[span[other, 2], code]):
            return True
        code += 1
    return False


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _holds_code(
    span: cython.int[:, ::1], member: cython.uchar[:, ::1], label: cython.int, code: cython.int
) -> cython.bint:
    if code < span[label, 0] or code > span[label, 1]:
        return False
    return span[label, 2] < 0 or member[span[label, 2], code] != 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _number_components(
    boxes: cython.int[:, ::1],
    box: cython.longlong[::1],
    span: cython.int[:, ::1],
    member: cython.uchar[:, ::1],
    node: cython.longlong[:, ::1],
    at: cython.Py_ssize_t,
    column: cython.Py_ssize_t,
    work: cython.int[:, ::1],
) -> cython.int:
    """Number the components of a column's codes in node[at]: work[2, root] is the number of each, -1 of unused codes.

    The answer is the size of the largest component in boxes; all of them where there is one component.
    """
    i: cython.Py_ssize_t
    code: cython.int
    label: cython.int
    low: cython.int = 2147483647
    high: cython.int = -1
    first: cython.Py_ssize_t = node[at, 0]
    last: cython.Py_ssize_t = node[at, 1]
    for i in range(first, last):
        label = boxes[box[i], column]
        low = span[label, 0] if span[label, 0] < low else low
        high = span[label, 1] if span[label, 1] > high else high
    for code in range(low, high + 2):
        work[0, code] = code
        work[1, code] = 0
        work[2, code] = -1
        work[3, code] = 0
    for i in range(first, last):
        label = boxes[box[i], column]
        if span[label, 2] < 0:
            work[1, span[label, 0]] += 1
            work[1, span[label, 1]] -= 1
        else:
            for code in range(span[label, 0] + 1, span[label, 1] + 1):
                if member[span[label, 2], code]:
                    work[0, _find_root(work[0], code)] = _find_root(work[0], span[label, 0])
    running: cython.int = 0
    for code in range(low, high):
        running += work[1, code]
        if running > 0:
            work[0, _find_root(work[0], code + 1)] = _find_root(work[0], code)
    number: cython.int = 0
    largest: cython.int = 0
    root: cython.int
    for i in range(first, last):
        root = _find_root(work[0], span[boxes[box[i], column], 0])
        if work[2, root] < 0:
            work[2, root] = number
            number += 1
        work[3, root] += 1
        largest = work[3, root] if work[3, root] > largest else largest
    work[4, 0], work[4, 1], work[4, 2] = number, low, high
    return largest


def route_points(
    boxes: cython.int[:, ::1],
    points: cython.int[:, ::1],
    span: cython.int[:, ::1],
    member: cython.uchar[:, ::1],
    codes: cython.longlong,
    few: cython.longlong,
    owner: cython.longlong[::1],
):
    """owner[p] = the box that holds point p, -1 for none; True if no two boxes share a point (else `owner` is not whole).

    boxes[b, c] numbers the label of box b in column c among the rows of `span`: first code, last code, and the row of `member` that
    says which codes between them are covered (-1: all).  No column has more than `codes` codes; up to `few` boxes are compared.
    """
    count: cython.Py_ssize_t = boxes.shape[0]
    width: cython.Py_ssize_t = boxes.shape[1]
    many: cython.Py_ssize_t = points.shape[0]
    box: cython.longlong[::1] = np.arange(count)
    point: cython.longlong[::1] = np.arange(many)
    spare: cython.longlong[::1] = np.empty(max(count, many) + 1, np.int64)
    node: cython.longlong[:, ::1] = np.empty((count + 2, 4), np.int64)
    work: cython.int[:, ::1] = np.empty((5, codes + 4), np.int32)
    starts: cython.longlong[:, ::1] = np.empty((2, count + 3), np.int64)
    top: cython.Py_ssize_t = 1
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    c: cython.Py_ssize_t
    best: cython.Py_ssize_t
    b0: cython.Py_ssize_t
    b1: cython.Py_ssize_t
    p0: cython.Py_ssize_t
    p1: cython.Py_ssize_t
    least: cython.int
    size: cython.int
    code: cython.int
    part: cython.longlong
    parts: cython.longlong
    for i in range(many):
        owner[i] = -1
    node[0, 0], node[0, 1], node[0, 2], node[0, 3] = 0, count, 0, many
    with cython.nogil:
        while top > 0:
            top -= 1
            b0, b1, p0, p1 = node[top, 0], node[top, 1], node[top, 2], node[top, 3]
            best, least = -1, cython.cast(cython.int, b1 - b0)
            if b1 - b0 > few:
                for c in range(width):
                    size = _number_components(boxes, box, span, member, node, top, c, work)
                    if size < least:
                        best, least = c, size
                    if 4 * least <= 3 * (b1 - b0):  # small enough parts: any column will do
                        break
            if best < 0:
                for i in range(b0, b1):
                    for j in range(i + 1, b1):
                        c = 0
                        while c < width and _share_code(span, member, boxes[box[i], c], boxes[box[j], c]):
                            c += 1
                        if c == width:
                            with cython.gil:
                                return False
                for i in range(p0, p1):
                    for j in range(b0, b1):
                        c = 0
                        while c < width and _holds_code(span, member, boxes[box[j], c], points[point[i], c]):
                            c += 1
                        if c == width:
                            owner[point[i]] = box[j]
                            break
                continue
            if c != best:  # else its components are those just numbered
                _number_components(boxes, box, span, member, node, top, best, work)
            parts = work[4, 0]
            for j in range(parts + 2):
                starts[0, j] = 0
                starts[1, j] = 0
            for i in range(b0, b1):
                starts[0, work[2, _find_root(work[0], span[boxes[box[i], best], 0])] + 1] += 1
            for i in range(p0, p1):
                code = points[point[i], best]
                part = work[2, _find_root(work[0], code)] if work[4, 1] <= code <= work[4, 2] else -1
                starts[1, (part if part >= 0 else parts) + 1] += 1
            for j in range(parts + 1):
                starts[0, j + 1] += starts[0, j]
                starts[1, j + 1] += starts[1, j]
            for j in range(parts):
                if starts[0, j + 1] > starts[0, j]:
                    node[top, 0], node[top, 1] = b0 + starts[0, j], b0 + starts[0, j + 1]
                    node[top, 2], node[top, 3] = p0 + starts[1, j], p0 + starts[1, j + 1]
                    top += 1
            for i in range(b0, b1):
                part = work[2, _find_root(work[0], span[boxes[box[i], best], 0])]
                spare[starts[0, part]] = box[i]
                starts[0, part] += 1
            for i in range(b1 - b0):
                box[b0 + i] = spare[i]
            for i in range(p0, p1):
                code = points[point[i], best]
                part = work[2, _find_root(work[0], code)] if work[4, 1] <= code <= work[4, 2] else -1
                part = part if part >= 0 else parts
                spare[starts[1, part]] = point[i]
                starts[1, part] += 1
            for i in range(p1 - p0):
                point[p0 + i] = spare[i]
    return True
