"""Give each published row a source row of its own: a maximum flow from boxes to the points they cover.

A box takes `need` rows from the points of its stretches, a point gives `left` rows.  Alternating paths are searched depth
first, each point and box at most once in a phase (Pothen & Fan 1990); a phase without an augmentation proves the flow
maximal.  Edges are never listed: the next point of a stretch that this phase has not seen is found by a chain that is shortened
as it is walked.  Used by the audit only.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def match_rows(
    stretches: cython.longlong[:, ::1],
    boxes: cython.longlong[:, ::1],
    points: cython.longlong[:, ::1],
    pool: cython.longlong[:, ::1],
    chain: cython.longlong[::1],
    path: cython.longlong[:, ::1],
) -> cython.longlong:
    """Count the rows that find no partner.

    `boxes` are (first stretch, last stretch + 1, cursor, need, seen) in the order in which they choose; `points` (left, 0);
    `pool` (rows + 2, 3) of zeros, but for a 1 at the end of its first row.
    """
    n: cython.Py_ssize_t = boxes.shape[0]
    b: cython.Py_ssize_t
    i: cython.Py_ssize_t
    rows: cython.longlong
    gained: cython.longlong = 1
    lacking: cython.longlong = 0
    while gained > 0:
        gained = 0
        lacking = 0
        for i in range(chain.shape[0]):
            chain[i] = i
        for b in range(n):
            boxes[b, 2] = boxes[b, 0]
            boxes[b, 4] = 0
        for b in range(n):
            if boxes[b, 3] == 0:
                continue
            boxes[b, 4] = 1
            rows = 1
            while boxes[b, 3] > 0 and rows > 0:
                rows = augment_path(stretches, boxes, points, pool, chain, path, b)
                gained += rows
            lacking += boxes[b, 3]
        if lacking == 0:
            return 0
    return lacking


@cython.cfunc
@cython.exceptval(check=False)
def find_unseen_point(chain: cython.longlong[::1], point: cython.longlong) -> cython.longlong:
    """Return the first point at or after `point` that was not seen in this phase."""
    end: cython.longlong = point
    step: cython.longlong
    while chain[end] != end:
        end = chain[end]
    while chain[point] != end:
        step = chain[point]
        chain[point] = end
        point = step
    return end


@cython.cfunc
@cython.exceptval(check=False)
def take_next_point(
    stretches: cython.longlong[:, ::1],
    boxes: cython.longlong[:, ::1],
    chain: cython.longlong[::1],
    box: cython.longlong,
) -> cython.longlong:
    """Return an unseen point of a box, seen from now on; -1 where there is none."""
    point: cython.longlong
    while boxes[box, 2] < boxes[box, 1]:
        point = find_unseen_point(chain, stretches[boxes[box, 2], 0])
        if point < stretches[boxes[box, 2], 1]:
            chain[point] = point + 1
            return point
        boxes[box, 2] += 1
    return -1


@cython.cfunc
@cython.exceptval(check=False)
def give_rows(
    points: cython.longlong[:, ::1],
    pool: cython.longlong[:, ::1],
    point: cython.longlong,
    box: cython.longlong,
    rows: cython.longlong,
) -> cython.void:
    """Note that a box takes rows of a point; entries are kept in a list for each point, free ones in a list at pool[0].

    A free entry that was never used leads to the one behind it: memory that no entry needs is not touched.
    """
    entry: cython.longlong = pool[0, 2]
    pool[0, 2] = pool[entry, 2] if pool[entry, 2] > 0 else entry + 1
    pool[entry, 0] = box
    pool[entry, 1] = rows
    pool[entry, 2] = points[point, 1]
    points[point, 1] = entry


@cython.cfunc
@cython.exceptval(check=False)
def take_rows(
    points: cython.longlong[:, ::1],
    pool: cython.longlong[:, ::1],
    point: cython.longlong,
    entry: cython.longlong,
    rows: cython.longlong,
) -> cython.void:
    """Take rows back from an entry; an empty one is freed."""
    before: cython.longlong
    pool[entry, 1] -= rows
    if pool[entry, 1] > 0:
        return
    if points[point, 1] == entry:
        points[point, 1] = pool[entry, 2]
    else:
        before = points[point, 1]
        while pool[before, 2] != entry:
            before = pool[before, 2]
        pool[before, 2] = pool[entry, 2]
    pool[entry, 2] = pool[0, 2]
    pool[0, 2] = entry


@cython.cfunc
@cython.exceptval(check=False)
def augment_path(
    stretches: cython.longlong[:, ::1],
    boxes: cython.longlong[:, ::1],
    points: cython.longlong[:, ::1],
    pool: cython.longlong[:, ::1],
    chain: cython.longlong[::1],
    path: cython.longlong[:, ::1],
    root: cython.longlong,
) -> cython.longlong:
    """Search one alternating path from a box in need; the rows it gained, 0 where no path is left in this phase."""
    depth: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    point: cython.longlong
    entry: cython.longlong
    rows: cython.longlong
    path[0, 0] = root
    path[0, 1] = -1
    while depth >= 0:
        if path[depth, 1] < 0:
            point = take_next_point(stretches, boxes, chain, path[depth, 0])
            if point < 0:
                depth -= 1
                continue
            path[depth, 1] = point
            path[depth, 2] = points[point, 1]
            if points[point, 0] > 0:
                rows = min(boxes[root, 3], points[point, 0])
                for i in range(depth):
                    rows = min(rows, pool[path[i, 2], 1])
                points[point, 0] -= rows
                give_rows(points, pool, point, path[depth, 0], rows)
                for i in range(depth):
                    take_rows(points, pool, path[i, 1], path[i, 2], rows)
                    give_rows(points, pool, path[i, 1], path[i, 0], rows)
                boxes[root, 3] -= rows
                return rows
        else:
            path[depth, 2] = pool[path[depth, 2], 2]
        entry = path[depth, 2]
        while entry > 0 and boxes[pool[entry, 0], 4] != 0:
            entry = pool[entry, 2]
        path[depth, 2] = entry
        if entry == 0:
            path[depth, 1] = -1
            continue
        depth += 1
        path[depth, 0] = pool[entry, 0]
        path[depth, 1] = -1
        boxes[pool[entry, 0], 4] = 1
    return 0
