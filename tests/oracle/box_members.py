"""Background knowledge against a plain table of another tool, slowly and obviously: who may be in which box.

A box is a combination of labels, with the values of its rows.  Its density is its rows over the combinations of the
source's values that it covers.  A person is spread over the boxes that cover them in proportion to the boxes' density:
a share of them is in each, has a belief there, and the belief about the person is the average of these.  Nobody learns
of a person whom no box covers.
"""

import re
from collections import Counter
from math import prod

from tests.oracle.background import ROUNDS, js

ENDS = re.compile(r"([\[\]])(\d+), (\d+)([\[\])])")


def covers(label, value, tree=None):
    """`*`, `<20`, `[20, 30)`, `[20, 30[`, a node of the tree (rows leaf first), or the value itself."""
    if label == "*":
        return True
    if tree is not None:
        return any(row[0] == value and label in row for row in tree)
    if label.startswith("<"):
        return value < int(label[1:])
    if ends := ENDS.fullmatch(label):
        left = ends[1]
        low = int(ends[2])
        high = int(ends[3])
        right = ends[4]
        above = value >= low if left == "[" else value > low
        return above and (value <= high if right == "]" else value < high)
    return str(value) == label


def boxes_of(table):
    """Rows of (labels, sensitive value) -> {labels: the values shown under them}."""
    found = {}
    for labels, value in table:
        found.setdefault(labels, []).append(value)
    return found


def shares(people, boxes, trees):
    """For every person {box: how much of them is in it}; all of them in one where no two boxes cover them."""
    columns = [sorted(set(column)) for column in zip(*people, strict=True)]

    def covered(box, person):
        return all(covers(*one) for one in zip(box, person, trees, strict=True))

    def density(box):
        each = zip(box, columns, trees, strict=True)
        return len(boxes[box]) / prod(
            sum(covers(label, value, tree) for value in column) for label, column, tree in each
        )

    found = []
    for person in people:
        reach = {box: density(box) for box in boxes if covered(box, person)}
        found.append({box: one / sum(reach.values()) for box, one in reach.items()})
    return found


def scaled(priors, shares, values, rounds):
    """Equation 5 where `shares[j]` of person j is in the group, and further rounds of it; all by person."""
    counts = Counter(values)
    weight = dict(shares)
    for _ in range(rounds):
        held = {v: sum(w * priors[j].get(v, 0) for j, w in weight.items()) for v in counts}
        factor = {v: n / held[v] if held[v] else 0 for v, n in counts.items()}
        whole = {j: sum(factor[v] * priors[j].get(v, 0) for v in counts) for j in shares}
        weight = {j: share / whole[j] for j, share in shares.items()}
    return {j: {v: factor[v] * priors[j].get(v, 0) / whole[j] for v in counts} for j in shares}


def exactly(priors, values):
    """Equations 3 and 4: the likelihood of all assignments of those before and after a person, over the values left."""
    names = sorted(set(values))
    everything = tuple(values.count(name) for name in names)

    def steps(left, p):
        for at, name in enumerate(names):
            if left[at] and p.get(name, 0):
                yield name, (*left[:at], left[at] - 1, *left[at + 1 :]), p[name]

    before = [{everything: 1.0}]
    for p in priors:
        reached = {}
        for left, chance in before[-1].items():
            for _, then, x in steps(left, p):
                reached[then] = reached.get(then, 0.0) + chance * x
        before.append(reached)
    after = {(0,) * len(names): 1.0}
    found = []
    for p, reached in zip(reversed(priors), reversed(before[:-1]), strict=True):
        belief = dict.fromkeys(names, 0.0)
        earlier = {}
        for left, chance in reached.items():
            for name, then, x in steps(left, p):
                rest = x * after.get(then, 0.0)
                belief[name] += chance * rest
                earlier[left] = earlier.get(left, 0.0) + rest
        whole = sum(belief.values())
        found.append({name: x / whole for name, x in belief.items()})
        after = earlier
    return found[::-1]


def risks(people, priors, table, trees, posterior="omega"):
    """(the risk of every person, whether somebody may be in several boxes, the share of the covered inferred exactly).

    Exact inference is about as many people as values; elsewhere, and where people are shared, it is the Omega-estimate.
    """
    boxes = boxes_of(table)
    spread = shares(people, boxes, trees)
    shared = any(len(each) > 1 for each in spread)
    believed = [Counter() for _ in people]
    reached = 0
    for box, values in boxes.items():
        within = {j: each[box] for j, each in enumerate(spread) if box in each}
        if posterior == "exact" and not shared and len(within) == len(values):
            reached += len(within)
            after = dict(zip(within, exactly([priors[j] for j in within], values), strict=True))
        else:
            after = scaled(priors, within, values, ROUNDS.get(posterior, 1))
        for j, belief in after.items():
            for value, x in belief.items():
                believed[j][value] += within[j] * x
    moved = [js(p, q) if each else 0.0 for p, q, each in zip(priors, believed, spread, strict=True)]
    return moved, shared, reached / sum(map(bool, spread))
