# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, language_level=3
"""Cutting an order of rows into groups, and re-solving pools of near groups: for k-anonymity and distinct l-diversity.

A *unit* is one row.  marks[u] = (home, value): a unit whose home is a cell that keeps its own rows may go there at no cost
(home -1: it has none); value -1 never counts as distinct.  least = (k, l, longest segment).  Losses come from `spans`
and `places`, see `reticent.methods.mosaic.kernel_tables`.
"""

import cython

LARGE = cython.declare(cython.double, 1e300)


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def span(
    spans: cython.double[::1], places: cython.longlong[:, ::1], j: cython.Py_ssize_t, lo: cython.int, hi: cython.int
) -> cython.double:
    """Weighted loss of column j over the codes lo..hi: a table, positions on a line, or ancestors level by level."""
    level: cython.Py_ssize_t
    at: cython.Py_ssize_t
    if places[j, 0] == 0:
        return spans[places[j, 1] + lo * places[j, 2] + hi]
    if lo == hi:
        return 0.0
    if places[j, 0] == 1:
        if hi == places[j, 3]:  # the null is in no range
            return spans[places[j, 1] + hi]
        return spans[places[j, 1] + hi] - spans[places[j, 1] + lo]
    for level in range(places[j, 3]):
        at = places[j, 1] + 2 * level * places[j, 2]
        if spans[at + lo] == spans[at + hi]:
            return spans[at + places[j, 2] + lo]
    return 0.0


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def chance(state: cython.longlong) -> cython.longlong:
    """Park and Miller's minimal standard generator: it stays within 47 bits, so it is the same uncompiled."""
    return (state * 48271) % 2147483647


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def last_start(
    seq: cython.int[::1],
    n: cython.Py_ssize_t,
    marks: cython.int[:, ::1],
    least: cython.longlong[::1],
    seen: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """The last place from which the rest is still a valid group, -1 where the whole is none."""
    distinct: cython.Py_ssize_t = 0
    last: cython.Py_ssize_t = n
    v: cython.int
    if least[1] <= 1:
        return n - least[0]
    seen[0] += 1
    while last > 0 and (distinct < least[1] or n - last < least[0]):
        last -= 1
        v = marks[seq[last], 1]
        if v >= 0 and seen[1 + v] != seen[0]:
            seen[1 + v] = seen[0]
            distinct += 1
    if distinct < least[1] or n - last < least[0]:
        return -1
    return last


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def cut_order(
    seq: cython.int[::1],
    n: cython.Py_ssize_t,
    codes: cython.int[:, ::1],
    marks: cython.int[:, ::1],
    spans: cython.double[::1],
    places: cython.longlong[:, ::1],
    least: cython.longlong[::1],
    best: cython.double[::1],
    back: cython.int[::1],
    box: cython.int[:, ::1],
    seen: cython.longlong[::1],
    bound: cython.double,
) -> cython.double:
    """Least loss of cutting seq[:n] into valid segments; back[e] is where the segment that ends at e begins.

    A segment grows until it is valid, however long that takes, and then to the longest length; one that would leave
    too little behind it takes all the rest.  What would lose more than the bound is not followed.
    """
    d: cython.Py_ssize_t = codes.shape[1]
    k: cython.Py_ssize_t = least[0]
    few: cython.Py_ssize_t = least[1]
    p: cython.Py_ssize_t
    e: cython.Py_ssize_t
    j: cython.Py_ssize_t
    u: cython.int
    c: cython.int
    v: cython.int
    distinct: cython.Py_ssize_t
    last: cython.Py_ssize_t = last_start(seq, n, marks, least, seen)
    stop: cython.Py_ssize_t
    loss: cython.double
    best[0] = 0.0
    for p in range(1, n + 1):
        best[p] = LARGE
    for p in range(n):
        if best[p] >= LARGE or best[p] > bound:
            continue
        u = seq[p]
        if marks[u, 0] >= 0 and best[p] < best[p + 1]:
            best[p + 1] = best[p]
            back[p + 1] = p
        if p > last:
            continue
        for j in range(d):
            box[0, j] = codes[u, j]
            box[1, j] = codes[u, j]
        loss = 0.0
        distinct = 0
        stop = p + least[2]
        seen[0] += 1
        e = p
        while e < n:
            u = seq[e]
            e += 1
            for j in range(d):
                c = codes[u, j]
                if c < box[0, j]:
                    loss -= span(spans, places, j, box[0, j], box[1, j])
                    box[0, j] = c
                    loss += span(spans, places, j, c, box[1, j])
                elif c > box[1, j]:
                    loss -= span(spans, places, j, box[0, j], box[1, j])
                    box[1, j] = c
                    loss += span(spans, places, j, box[0, j], c)
            if best[p] + loss * (e - p if e - p > k else k) > bound:
                break
            if few > 1:
                v = marks[u, 1]
                if v >= 0 and seen[1 + v] != seen[0]:
                    seen[1 + v] = seen[0]
                    distinct += 1
                if distinct < few:
                    continue
            if e - p < k:
                continue
            if best[p] + loss * (e - p) < best[e]:
                best[e] = best[p] + loss * (e - p)
                back[e] = p
            if e >= stop and e <= last:
                break
    return best[n]


def cut_all(
    seq: cython.int[::1],
    codes: cython.int[:, ::1],
    marks: cython.int[:, ::1],
    space: tuple,
    least: cython.longlong[::1],
    back: cython.int[::1],
    work: tuple,
):
    """Cut the whole order; its loss.  space = (spans, places), work = (best, box, seen)."""
    spans: cython.double[::1] = space[0]
    places: cython.longlong[:, ::1] = space[1]
    best: cython.double[::1] = work[0]
    box: cython.int[:, ::1] = work[1]
    seen: cython.longlong[::1] = work[2]
    total: cython.double
    with cython.nogil:
        total = cut_order(seq, seq.shape[0], codes, marks, spans, places, least, best, back, box, seen, LARGE)
    return total


def ends_of(back: cython.int[::1], ends: cython.char[::1]):
    """ends[i] = 1 where a segment ends after place i."""
    e: cython.Py_ssize_t = back.shape[0] - 1
    while e > 0:
        ends[e - 1] = 1
        e = back[e]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def chain(
    pool: cython.int[::1],
    p: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    codes: cython.int[:, ::1],
    spans: cython.double[::1],
    places: cython.longlong[:, ::1],
) -> cython.int:
    """Order pool[:p] in place: from `first` on, always the unit nearest to the last one."""
    i: cython.Py_ssize_t
    q: cython.Py_ssize_t
    j: cython.Py_ssize_t
    near: cython.Py_ssize_t
    a: cython.int
    b: cython.int
    u: cython.int = pool[first]
    least: cython.double
    far: cython.double
    pool[first] = pool[0]
    pool[0] = u
    for i in range(1, p - 1):
        u = pool[i - 1]
        least = LARGE
        near = i
        for q in range(i, p):
            far = 0.0
            for j in range(codes.shape[1]):
                a = codes[u, j]
                b = codes[pool[q], j]
                if a < b:
                    far += span(spans, places, j, a, b)
                elif b < a:
                    far += span(spans, places, j, b, a)
                if far >= least:
                    break
            if far < least:
                least = far
                near = q
                if far == 0.0:
                    break
        u = pool[near]
        pool[near] = pool[i]
        pool[i] = u
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def measure(
    g: cython.Py_ssize_t,
    head: cython.int[::1],
    follow: cython.int[::1],
    boxes: cython.int[:, :, ::1],
    loss: cython.double[::1],
    codes: cython.int[:, ::1],
    spans: cython.double[::1],
    places: cython.longlong[:, ::1],
) -> cython.int:
    """Box of group g and its loss per row."""
    j: cython.Py_ssize_t
    c: cython.int
    u: cython.int = head[g]
    for j in range(codes.shape[1]):
        boxes[g, 0, j] = codes[u, j]
        boxes[g, 1, j] = codes[u, j]
    u = follow[u]
    while u >= 0:
        for j in range(codes.shape[1]):
            c = codes[u, j]
            if c < boxes[g, 0, j]:
                boxes[g, 0, j] = c
            elif c > boxes[g, 1, j]:
                boxes[g, 1, j] = c
        u = follow[u]
    loss[g] = 0.0
    for j in range(codes.shape[1]):
        loss[g] += span(spans, places, j, boxes[g, 0, j], boxes[g, 1, j])
    return 0


def resolve(
    members: cython.int[::1],
    ends: cython.char[::1],
    starts: cython.longlong[::1],
    blocks: cython.longlong[:, ::1],
    units: tuple,
    space: tuple,
    least: cython.longlong[::1],
    work: tuple,
    stop: cython.char[::1],
):
    """Re-solve the groups of each block in place.

    members[starts[g]:starts[g+1]] are the units of group g; a row of `blocks` is (first group, last group + 1, seed).  On
    return `members` is permuted inside each block and ends[i] = 1 where a group ends after place i.
    units = (codes, marks); work = (follow, head, size, boxes, loss, pool, best, back, box, seen, noise, mates).
    Once the flag `stop` (one byte) is not 0 this ends, and what is written is of no use.
    """
    codes: cython.int[:, ::1] = units[0]
    marks: cython.int[:, ::1] = units[1]
    spans: cython.double[::1] = space[0]
    places: cython.longlong[:, ::1] = space[1]
    follow: cython.int[::1] = work[0]
    head: cython.int[::1] = work[1]
    size: cython.int[::1] = work[2]
    boxes: cython.int[:, :, ::1] = work[3]
    loss: cython.double[::1] = work[4]
    pool: cython.int[:, ::1] = work[5]
    best: cython.double[::1] = work[6]
    back: cython.int[:, ::1] = work[7]
    box: cython.int[:, ::1] = work[8]
    seen: cython.longlong[::1] = work[9]
    noise: cython.double = work[10]
    mates: cython.Py_ssize_t = work[11]
    b: cython.Py_ssize_t
    g: cython.Py_ssize_t
    i: cython.Py_ssize_t
    total: cython.Py_ssize_t
    u: cython.int
    with cython.nogil:
        for b in range(blocks.shape[0]):
            if stop[0] != 0:
                break
            total = blocks[b, 1] - blocks[b, 0]
            for g in range(total):
                head[g] = -1
                size[g] = 0
                for i in range(starts[blocks[b, 0] + g], starts[blocks[b, 0] + g + 1]):
                    u = members[i]
                    follow[u] = head[g]
                    head[g] = u
                    size[g] += 1
                measure(g, head, follow, boxes, loss, codes, spans, places)
            total = resolve_block(
                total,
                blocks[b, 2],
                codes,
                marks,
                spans,
                places,
                least,
                follow,
                head,
                size,
                boxes,
                loss,
                pool,
                best,
                back,
                box,
                seen,
                noise,
                mates,
            )
            i = starts[blocks[b, 0]]
            for g in range(total):
                if size[g] == 0:
                    continue
                u = head[g]
                while u >= 0:
                    members[i] = u
                    ends[i] = 0
                    i += 1
                    u = follow[u]
                ends[i - 1] = 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def resolve_block(
    total: cython.Py_ssize_t,
    seed: cython.longlong,
    codes: cython.int[:, ::1],
    marks: cython.int[:, ::1],
    spans: cython.double[::1],
    places: cython.longlong[:, ::1],
    least: cython.longlong[::1],
    follow: cython.int[::1],
    head: cython.int[::1],
    size: cython.int[::1],
    boxes: cython.int[:, :, ::1],
    loss: cython.double[::1],
    pool: cython.int[:, ::1],
    best: cython.double[::1],
    back: cython.int[:, ::1],
    box: cython.int[:, ::1],
    seen: cython.longlong[::1],
    noise: cython.double,
    mates: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Each costly group with its nearest: cut the pool anew along two chains, keep what is not worse.  The groups then."""
    first: cython.Py_ssize_t = total
    g: cython.Py_ssize_t
    h: cython.Py_ssize_t
    i: cython.Py_ssize_t
    t: cython.Py_ssize_t
    e: cython.Py_ssize_t
    p: cython.Py_ssize_t
    q: cython.Py_ssize_t
    u: cython.int
    old: cython.double
    new: cython.double
    one: cython.double
    pick: cython.Py_ssize_t
    chosen: cython.Py_ssize_t
    for g in range(first):
        if size[g] == 0 or loss[g] <= 0.0 or size[g] > pool.shape[1]:
            continue
        p = 0
        chosen = 0
        old = 0.0
        h = g
        while True:
            u = head[h]
            while u >= 0:
                pool[0, p] = u
                p += 1
                u = follow[u]
            old += loss[h] * size[h]
            box[2, chosen] = h
            chosen += 1
            if chosen > mates:
                break
            seed = chance(seed)
            h = nearest(g, total, chosen, pool.shape[1] - p, seed, spans, places, size, boxes, box, noise)
            if h < 0:
                break
        if chosen == 1:
            continue
        new = LARGE
        pick = 0
        for t in range(2):
            seed = chance(seed)
            for i in range(p):
                pool[t + 1, i] = pool[0, i]
            chain(pool[t + 1], p, seed % p, codes, spans, places)
            one = cut_order(
                pool[t + 1], p, codes, marks, spans, places, least, best, back[t], box, seen, old if old < new else new
            )
            if one < new:
                new = one
                pick = t
        if new > old:
            continue
        for i in range(chosen):
            size[box[2, i]] = 0
        q = 0
        e = p
        while e > 0:
            i = back[pick, e]
            # units that go home one by one are kept as one idle group
            if e - i == 1 and marks[pool[pick + 1, i], 0] >= 0:
                while (
                    i > 0
                    and back[pick, i] == i - 1
                    and marks[pool[pick + 1, i - 1], 0] == marks[pool[pick + 1, e - 1], 0]
                ):
                    i -= 1
            if q < chosen:
                h = box[2, q]
                q += 1
            else:
                h = total
                total += 1
            head[h] = -1
            size[h] = e - i
            for t in range(i, e):
                u = pool[pick + 1, t]
                follow[u] = head[h]
                head[h] = u
            measure(h, head, follow, boxes, loss, codes, spans, places)
            e = i
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def nearest(
    g: cython.Py_ssize_t,
    total: cython.Py_ssize_t,
    chosen: cython.Py_ssize_t,
    room: cython.Py_ssize_t,
    seed: cython.longlong,
    spans: cython.double[::1],
    places: cython.longlong[:, ::1],
    size: cython.int[::1],
    boxes: cython.int[:, :, ::1],
    box: cython.int[:, ::1],
    noise: cython.double,
) -> cython.Py_ssize_t:
    """The group whose box merged with g's loses least, give or take some noise; -1 where none fits."""
    h: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    pick: cython.Py_ssize_t = -1
    lo: cython.int
    hi: cython.int
    far: cython.double
    least: cython.double = LARGE
    taken: cython.bint
    for h in range(total):
        if size[h] == 0 or size[h] > room:
            continue
        taken = False
        for i in range(chosen):
            if box[2, i] == h:
                taken = True
        if taken:
            continue
        far = 0.0
        for j in range(boxes.shape[2]):
            lo = boxes[h, 0, j]
            hi = boxes[h, 1, j]
            if boxes[g, 0, j] < lo:
                lo = boxes[g, 0, j]
            if boxes[g, 1, j] > hi:
                hi = boxes[g, 1, j]
            far += span(spans, places, j, lo, hi)
            if far >= least:
                break
        seed = chance(seed)
        far *= 1.0 + noise * (seed / 2147483647.0)
        if far < least:
            least = far
            pick = h
    return pick
