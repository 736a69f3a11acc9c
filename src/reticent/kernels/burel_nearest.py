"""Retrieve by exact nearest neighbours (BUREL's first description, section 4.5): a k-d tree with counts over each bucket.

Places are cells; bucket b owns the nodes starts[b] .. starts[b + 1] of an implicit balanced tree: the node of a range is
its middle place, its children the middles of the two halves.  `box` bounds a subtree, `alive` counts its free rows.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def fill_nearest(
    points: cython.longlong[:, ::1],
    box: cython.longlong[:, ::1],
    counts: cython.longlong[:, ::1],
    starts: cython.longlong[::1],
    sizes: cython.longlong[:, ::1],
    seeds: cython.longlong[::1],
    bits: cython.int,
    stack: cython.longlong[:, ::1],
    chosen: cython.longlong[:, ::1],
) -> cython.longlong:
    """Write chosen[i] = (place, class, rows); return how many entries there are.  counts = (free rows, alive in subtree);
    seeds as in `burel_curve`."""
    remaining: cython.longlong[::1] = counts[0]
    alive: cython.longlong[::1] = counts[1]
    entries: cython.longlong = 0
    position: cython.Py_ssize_t = 0
    c: cython.Py_ssize_t
    b: cython.Py_ssize_t
    need: cython.longlong
    pick: cython.longlong
    rows: cython.longlong
    mask: cython.longlong = (cython.cast(cython.longlong, 1) << bits) - 1
    for c in range(sizes.shape[0]):
        while seeds[position] & mask >= remaining[seeds[position] >> bits]:
            position = position + 1 if position + 1 < seeds.shape[0] else 0
        for b in range(sizes.shape[1]):
            need = sizes[c, b]
            while need > 0:
                pick = find_nearest_place(
                    points, box, remaining, alive, stack, points[seeds[position] >> bits], starts[b], starts[b + 1]
                )
                rows = remaining[pick] if remaining[pick] < need else need
                remaining[pick] -= rows
                need -= rows
                drop_rows(alive, pick, rows, starts[b], starts[b + 1])
                chosen[entries, 0] = pick
                chosen[entries, 1] = c
                chosen[entries, 2] = rows
                entries += 1
    return entries


@cython.cfunc
@cython.exceptval(check=False)
def compute_squared_distance(
    box: cython.longlong[:, ::1], node: cython.longlong, seed: cython.longlong[::1]
) -> cython.longlong:
    """Return the squared distance of the seed from a subtree's box."""
    d: cython.Py_ssize_t = seed.shape[0]
    j: cython.Py_ssize_t
    gap: cython.longlong
    total: cython.longlong = 0
    for j in range(d):
        gap = 0
        if seed[j] < box[node, j]:
            gap = box[node, j] - seed[j]
        elif seed[j] > box[node, d + j]:
            gap = seed[j] - box[node, d + j]
        total += gap * gap
    return total


@cython.cfunc
@cython.exceptval(check=False)
def find_nearest_place(
    points: cython.longlong[:, ::1],
    box: cython.longlong[:, ::1],
    remaining: cython.longlong[::1],
    alive: cython.longlong[::1],
    stack: cython.longlong[:, ::1],
    seed: cython.longlong[::1],
    first: cython.longlong,
    last: cython.longlong,
) -> cython.longlong:
    """Return the place in first .. last with free rows that is nearest to the seed; the lowest of equals."""
    best: cython.longlong = -1
    least_distance: cython.longlong = 0
    top: cython.Py_ssize_t = 1
    j: cython.Py_ssize_t
    low: cython.longlong
    high: cython.longlong
    node: cython.longlong
    gap: cython.longlong
    distance: cython.longlong
    two: cython.longlong
    stack[0, 0] = first
    stack[0, 1] = last
    while top > 0:
        top -= 1
        low = stack[top, 0]
        high = stack[top, 1]
        node = (low + high) >> 1
        if alive[node] == 0 or (best >= 0 and compute_squared_distance(box, node, seed) > least_distance):
            continue
        if remaining[node] > 0:
            gap = 0
            for j in range(seed.shape[0]):
                gap += (points[node, j] - seed[j]) * (points[node, j] - seed[j])
            if best < 0 or gap < least_distance or (gap == least_distance and node < best):
                best = node
                least_distance = gap
        distance = compute_squared_distance(box, (low + node) >> 1, seed) if low < node else -1
        two = compute_squared_distance(box, (node + 1 + high) >> 1, seed) if node + 1 < high else -1
        if distance >= 0 and (two < 0 or distance > two):  # the nearer half is looked at first
            stack[top, 0] = low
            stack[top, 1] = node
            top += 1
            distance = -1
        if two >= 0:
            stack[top, 0] = node + 1
            stack[top, 1] = high
            top += 1
        if distance >= 0:
            stack[top, 0] = low
            stack[top, 1] = node
            top += 1
    return best


@cython.cfunc
@cython.exceptval(check=False)
def drop_rows(
    alive: cython.longlong[::1],
    place: cython.longlong,
    rows: cython.longlong,
    low: cython.longlong,
    high: cython.longlong,
) -> cython.void:
    """Take rows off a place and off every subtree that holds it."""
    node: cython.longlong = (low + high) >> 1
    while node != place:
        alive[node] -= rows
        if place < node:
            high = node
        else:
            low = node + 1
        node = (low + high) >> 1
    alive[node] -= rows
