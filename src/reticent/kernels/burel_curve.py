"""Retrieve along the curve (BUREL, section 4.5): for each class the nearest free rows of a seed in every bucket.

Places are cells in the order of (bucket, key); `left` counts their free rows.  A place without free rows is skipped by
two chains, towards lower and towards higher places, that are shortened as they are walked.
"""

try:
    import cython
except ImportError:  # uncompiled, and Cython is not installed
    from reticent.kernels import cython_names as cython


def fill_along(
    keys: cython.longlong[::1],
    remaining: cython.longlong[::1],
    starts: cython.longlong[::1],
    sizes: cython.longlong[:, ::1],
    seeds: cython.longlong[::1],
    bits: cython.int,
    chains: cython.longlong[:, ::1],
    chosen: cython.longlong[:, ::1],
) -> cython.longlong:
    """Write chosen[i] = (place, class, rows); return how many entries there are.

    `seeds` are place << bits | offset of every row in random order: a row is free while its offset is below its place's
    free rows, so the first free one is a random one.  `chains` are (2, places + 2), shifted by one: 0 and places + 1 are ends.
    """
    lower: cython.longlong[::1] = chains[0]
    higher: cython.longlong[::1] = chains[1]
    entries: cython.longlong = 0
    position: cython.Py_ssize_t = 0
    c: cython.Py_ssize_t
    b: cython.Py_ssize_t
    need: cython.longlong
    before: cython.longlong
    after: cython.longlong
    pick: cython.longlong
    rows: cython.longlong
    key: cython.longlong
    mask: cython.longlong = (cython.cast(cython.longlong, 1) << bits) - 1
    for c in range(sizes.shape[0]):
        while seeds[position] & mask >= remaining[seeds[position] >> bits]:
            position = position + 1 if position + 1 < seeds.shape[0] else 0
        key = keys[seeds[position] >> bits]
        for b in range(sizes.shape[1]):
            need = sizes[c, b]
            after = find_key_place(keys, starts[b], starts[b + 1], key) + 1
            before = after - 1
            while need > 0:
                before = find_free_place(lower, before)
                after = find_free_place(higher, after)
                if after > starts[b + 1]:
                    pick = before
                elif before <= starts[b]:
                    pick = after
                else:
                    pick = before if key - keys[before - 1] <= keys[after - 1] - key else after
                rows = remaining[pick - 1] if remaining[pick - 1] < need else need
                remaining[pick - 1] -= rows
                need -= rows
                if remaining[pick - 1] == 0:
                    lower[pick] = pick - 1
                    higher[pick] = pick + 1
                chosen[entries, 0] = pick - 1
                chosen[entries, 1] = c
                chosen[entries, 2] = rows
                entries += 1
    return entries


@cython.cfunc
@cython.exceptval(check=False)
def find_free_place(chain: cython.longlong[::1], position: cython.longlong) -> cython.longlong:
    """Return the first place at or beyond `position` that has free rows."""
    end: cython.longlong = position
    step: cython.longlong
    while chain[end] != end:
        end = chain[end]
    while chain[position] != end:
        step = chain[position]
        chain[position] = end
        position = step
    return end


@cython.cfunc
@cython.exceptval(check=False)
def find_key_place(
    keys: cython.longlong[::1], low: cython.longlong, high: cython.longlong, key: cython.longlong
) -> cython.longlong:
    """Return the first place in low .. high whose key is at least `key`."""
    middle: cython.longlong
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low
