"""Background knowledge (Li, Li & Zhang, ICDE 2009), slowly and obviously: fractions, all pairs of rows, all assignments.

A row is a tuple of quasi-identifiers and a sensitive value.  A distance is a function of two values that gives a fraction; a null (None)
is at distance 1 from everything else.  A bandwidth is a fraction or "whole".
"""

from collections import Counter
from fractions import Fraction
from itertools import permutations
from math import exp, fsum, log2

ROUNDS = {"omega": 1, "balanced": 24}


def on_a_line(places, low=None, high=None):
    """|a - b| over the range; `places` maps values to numbers."""
    ends = list(places.values())
    low = min(ends) if low is None else low
    high = max(ends) if high is None else high
    return lambda a, b: abs(Fraction(places[a]) - Fraction(places[b])) / (Fraction(high) - Fraction(low))


def in_a_tree(rows):
    """The level of the lowest common ancestor over the height; rows leaf first, root last."""
    path = {row[0]: row for row in rows}
    height = len(rows[0]) - 1
    return lambda a, b: Fraction(
        next(level for level in range(height + 1) if path[a][level:] == path[b][level:]), height
    )


def flat(a, b):
    return Fraction(int(a != b))


def distance(measure, a, b):
    if a == b:
        return Fraction(0)
    return Fraction(1) if a is None or b is None else measure(a, b)


def kernel(d, bandwidth, name, same):
    if same or bandwidth == "whole":
        return Fraction(1)
    if bandwidth == 0 or d >= bandwidth:
        return Fraction(0)
    x = d / bandwidth
    if name == "gaussian":
        return exp(-4.5 * float(x) ** 2)
    return {"uniform": Fraction(1), "triangular": 1 - x, "epanechnikov": 1 - x**2}[name]


def prior(q, rows, measures, bandwidths, name="epanechnikov"):
    """Equation 2 at q over all rows: a dict of the sensitive values that occur."""
    total = {value: Fraction(0) for _, value in rows}
    for quasi, value in rows:
        weight = Fraction(1)
        for a, b, measure, bandwidth in zip(q, quasi, measures, bandwidths, strict=True):
            weight *= kernel(distance(measure, a, b), bandwidth, name, a == b)
        total[value] += weight
    whole = sum(total.values())
    return {value: x / whole for value, x in total.items()}


def assignments(values):
    """Every different way to give a multiset of values to as many people."""
    return set(permutations(values))


def by_enumeration(priors, values):
    """Equations 3 and 4 from their meaning: the likelihood of every assignment, normalised."""
    likely = [Counter() for _ in priors]
    whole = Fraction(0)
    for given in assignments(values):
        chance = Fraction(1)
        for p, value in zip(priors, given, strict=True):
            chance *= p.get(value, 0)
        whole += chance
        for one, value in zip(likely, given, strict=True):
            one[value] += chance
    return [{value: one[value] / whole for value in set(values)} for one in likely] if whole else None


def permanent(matrix):
    if not matrix:
        return Fraction(1)
    return sum(x * permanent([row[:j] + row[j + 1 :] for row in matrix[1:]]) for j, x in enumerate(matrix[0]))


def by_permanents(priors, values):
    """Equation 3 with permanents (errata 1): n_i P(s_i | t_j) per(rest) / per(all)."""
    whole = permanent([[p.get(value, 0) for value in values] for p in priors])
    found = []
    for j, p in enumerate(priors):
        belief = {}
        for value, n in Counter(values).items():
            left = list(values)
            left.remove(value)
            rest = [[other.get(v, 0) for v in left] for i, other in enumerate(priors) if i != j]
            belief[value] = n * p.get(value, 0) * permanent(rest) / whole
        found.append(belief)
    return found


def scaled(priors, values, rounds=1):
    """The Omega-estimate (equation 5), and further rounds of the same."""
    counts = Counter(values)
    share = [Fraction(1) for _ in priors]
    for _ in range(rounds):
        held = {v: sum(s * p.get(v, 0) for s, p in zip(share, priors, strict=True)) for v in counts}
        factor = {v: n / held[v] if held[v] else 0 for v, n in counts.items()}
        whole = [sum(factor[v] * p.get(v, 0) for v in counts) for p in priors]
        share = [1 / w for w in whole]
        if rounds > 1:  # fractions would grow without end
            share = [float(s) for s in share]
    return [{v: factor[v] * p.get(v, 0) / w for v in counts} for p, w in zip(priors, whole, strict=True)]


def kl(p, q):
    return fsum(float(x) * log2(float(x) / float(q[v])) for v, x in p.items() if x)


def js(p, q):
    """Equation 6 in bits."""
    values = set(p) | set(q)
    middle = {v: (p.get(v, 0) + q.get(v, 0)) / 2 for v in values}
    return (kl(p, middle) + kl(q, middle)) / 2


def smoothed(belief, values, measure, bandwidth, name="epanechnikov"):
    """Kernel smoothing over the values that occur, renormalised (errata 4)."""
    if not bandwidth:
        return belief
    found = {}
    for i in values:
        weight = {j: kernel(distance(measure, i, j), bandwidth, name, i == j) for j in values}
        found[i] = sum(w * belief.get(j, 0) for j, w in weight.items()) / sum(weight.values())
    whole = sum(found.values())
    return {v: x / whole for v, x in found.items()}


def risks(rows, groups, measures, bandwidths, *, posterior="omega", name="epanechnikov", smoothing=0, over=flat):
    """The risk of every row, group by group; `groups` are lists of row numbers."""
    known = {q: prior(q, rows, measures, bandwidths, name) for q in {q for q, _ in rows}}
    occurring = {value for _, value in rows}
    found = {}
    for group in groups:
        priors = [known[rows[i][0]] for i in group]
        values = [rows[i][1] for i in group]
        after = by_enumeration(priors, values) if posterior == "exact" else scaled(priors, values, ROUNDS[posterior])
        for i, p, q in zip(group, priors, after, strict=True):
            pair = [smoothed(one, occurring, over, smoothing, name) for one in (p, q)]
            found[i] = js(*pair)
    return found


def worst(rows, groups, measures, bandwidths, **how):
    """The greatest risk, with the rows whose value is missing and without them."""
    most = max(risks(rows, groups, measures, bandwidths, **how).values(), default=0.0)
    if any(value is None for _, value in rows) and any(value is not None for _, value in rows):
        place = {}
        for i, (_, value) in enumerate(rows):
            if value is not None:
                place[i] = len(place)
        fewer = [row for row in rows if row[1] is not None]
        left = [[place[i] for i in group if i in place] for group in groups]
        most = max(most, *risks(fewer, [g for g in left if g], measures, bandwidths, **how).values())
    return most
