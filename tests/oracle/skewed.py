"""Suppression of skewed tables by its definition, record by record and table by table (Xu, Wang, Fu & Wong).

Tables are tuples of counts by name.  Ties in rank go by an order of the names, the attack averages over all of them; nothing here
is quick.
"""

from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from math import factorial, prod


def tables(rows, values):
    """Every way to give so many records to so many names, each at least one."""
    for cuts in combinations(range(1, rows), values - 1):
        yield tuple(b - a for a, b in zip((0, *cuts), (*cuts, rows), strict=True))


def violates(table, l):  # noqa: E741
    return l * max(table) > sum(table)


def by_rank(table, names=None):
    """Names, most frequent first; ties in the order of `names`."""
    return sorted(names or range(len(table)), key=lambda name: -table[name])


def p_eligible(published, l):  # noqa: E741
    return l * max(published) <= sum(published)


def l_candidate(published, rows, l):  # noqa: E741
    return l * (sorted(published, reverse=True)[l - 1] + rows - sum(published)) > rows


def d_suppression(table, start=None, names=None):
    """Every state of D-suppression, from `start` (the table itself) down to one record at the highest level."""
    rank = {name: at for at, name in enumerate(by_rank(table, names))}
    left = list(table if start is None else start)
    yield tuple(left)
    while max(left) > 1:
        highest = [name for name in range(len(left)) if left[name] == max(left)]
        left[max(highest, key=rank.__getitem__)] -= 1
        yield tuple(left)


def first(table, l, start=None, names=None):  # noqa: E741
    """The first state with P-eligibility and l-candidacy."""
    rows = sum(table)
    states = d_suppression(table, start, names)
    return next(state for state in states if p_eligible(state, l) and l_candidate(state, rows, l))


def eligible(table, l, names=None):  # noqa: E741
    """D-suppression to the first state with P-eligibility alone."""
    return {next(state for state in d_suppression(table, names=names) if p_eligible(state, l)): Fraction(1)}


def unsafe(table, l, names=None):  # noqa: E741
    return {first(table, l, names=names): Fraction(1)}


def safe(table, l, names=None):  # noqa: E741
    level = sorted(table, reverse=True)[l - 1]
    return {tuple(min(count, level) for count in table): Fraction(1)}


def randomized(table, l, names=None):  # noqa: E741
    """R-suppression, figure 3: every (h, F) with its probability."""
    ranked = by_rank(table, names)
    levels = [*(table[name] for name in ranked), 1]
    found = defaultdict(Fraction)
    for h in range(l):
        low = levels[h + 1]
        high = levels[h]
        for level in range(low, high + 1):
            start = list(table)
            start[ranked[0]] = level
            found[first(table, l, start, names)] += Fraction(1, l * (high - low + 1))
    return dict(found)


@cache
def open_cuts(table, l):  # noqa: E741
    """Calibrated suppression, by its definition: for each open level the published table and the tables that share it."""
    leader = by_rank(table)[0]
    others = [name for name in range(len(table)) if name != leader]
    found = {}
    if not violates(table, l) or any(table[name] == table[leader] for name in others):
        return found
    for level in range(1, table[leader]):
        cuts = {}
        for k in range(level, sum(table) + 1):
            cut = tuple(level if name == leader else min(count, k) for name, count in enumerate(table))
            if l * k <= sum(cut):
                cuts[k] = cut
        if not cuts:
            continue
        k = max(cuts)
        free = [name for name in range(len(table)) if name == leader or table[name] <= k]
        if len(free) < l:
            continue
        lowest = sorted((cuts[k][name] for name in free), reverse=True)[l - 1]
        chosen = [name for name in free if cuts[k][name] >= lowest]
        moved = [
            tuple(
                (level if name == leader else count) + (table[leader] - level) * (name == i)
                for name, count in enumerate(table)
            )
            for i in chosen
        ]
        single = all(
            one[i] > max(one[:i] + one[i + 1 :]) and violates(one, l) for i, one in zip(chosen, moved, strict=True)
        )
        if leader in chosen and single:
            found[level] = cuts[k], moved
    return found


def capacity(table, level, l):  # noqa: E741
    """The greatest probability with which every table that shares a cut can publish it."""
    cut, shared = open_cuts(table, l)[level]
    if any(sum(next(iter(safe(one, l)))) > sum(cut) for one in shared):
        return Fraction(0)
    return Fraction(1, max(len(open_cuts(one, l)) for one in shared))


@cache
def balanced(table, level, l):  # noqa: E741
    """The probability of a cut: what lighter tables with the same cut make up for, where a value is over one in l of the withheld."""
    cut, _ = open_cuts(table, l)[level]
    leader = by_rank(table)[0]
    withheld = sum(table) - sum(cut)
    found = capacity(table, level, l)
    heavy = [name for name in range(len(table)) if name != leader and l * (table[name] - cut[name]) > withheld]
    if len(heavy) > 3:
        return Fraction(0)
    for name in heavy:
        excess = table[name] - cut[name]
        partner = max(one for one in range(-excess, excess) if l * (excess + one) <= 2 * withheld)
        if partner < 1:
            return Fraction(0)
        lighter = tuple(count + (excess - partner) * ((at == leader) - (at == name)) for at, count in enumerate(table))
        assert open_cuts(lighter, l)[level][0] == cut
        slack = Fraction(withheld - l * partner, l * excess - withheld)
        found = min(found, slack * balanced(lighter, level, l))
    return found


def calibrated(table, l, names=None):  # noqa: E741
    """A cut with the probability that all its tables share, else as `safe` does."""
    return _calibrated(table, l, balanced)


def calibrated_for_the_leader(table, l, names=None):  # noqa: E741
    """As it was: every cut to its capacity, which bounds what is told about the leading value only."""
    return _calibrated(table, l, capacity)


def _calibrated(table, l, chance):  # noqa: E741
    found = defaultdict(Fraction)
    left = Fraction(1)
    for level, (cut, _) in open_cuts(table, l).items():
        found[cut] += chance(table, level, l)
        left -= chance(table, level, l)
    found[next(iter(safe(table, l)))] += left
    return {published: likely for published, likely in found.items() if likely}


def behind(published, rows):
    """Every table of so many records that holds the published ones."""
    for more in tables(rows - sum(published) + len(published), len(published)):
        yield tuple(count + some - 1 for count, some in zip(published, more, strict=True))


def attack_on(published, rows, l, suppress, weight=lambda table: 1):  # noqa: E741
    """{name: Pr(name was S_1 | published)} over all violating tables that hold the published one, and all ways to break ties."""
    found = defaultdict(Fraction)
    for table in behind(published, rows):
        if violates(table, l):
            tied = len(set(table)) < len(table)
            orders = list(permutations(range(len(table)))) if tied else [None]
            for names in orders:
                chance = suppress(table, l, names).get(tuple(published), 0)
                if chance:
                    found[by_rank(table, names)[0]] += weight(table) * chance / len(orders)
    return {name: w / sum(found.values()) for name, w in found.items()}


def attack(rows, values, l, suppress, weight=lambda table: 1):  # noqa: E741
    """{published: {name: Pr(name was S_1 | published)}} over all violating tables and all ways to break ties."""
    joint = defaultdict(lambda: defaultdict(Fraction))
    for table in tables(rows, values):
        if violates(table, l):
            for names in permutations(range(values)):
                for published, chance in suppress(table, l, names).items():
                    joint[published][by_rank(table, names)[0]] += weight(table) * chance
    return {
        published: {name: w / sum(weights.values()) for name, w in weights.items()}
        for published, weights in joint.items()
    }


def histograms(rows, values, most=None):
    """Every table up to renaming: falling counts."""
    most = rows if most is None else most
    if values == 1:
        yield from [(rows,)] if rows <= most else []
        return
    for count in range(min(rows - values + 1, most), -(-rows // values) - 1, -1):
        for others in histograms(rows - count, values - 1, count):
            yield (count, *others)


def withheld(rows, values, l, suppress, weight=lambda table: 1):  # noqa: E741
    """{published, falling: the greatest mean share of one value among the withheld}: Pr(a withheld person has it | published).

    By counts instead of names, so for suppressions and weights that know no name and break no ties."""
    total = defaultdict(Fraction)
    taken = defaultdict(lambda: defaultdict(Fraction))
    for table in histograms(rows, values):
        if violates(table, l):
            named = factorial(values) // prod(factorial(times) for times in Counter(table).values())
            for published, chance in suppress(table, l).items():
                key = tuple(sorted(published, reverse=True))
                share = named * weight(table) * chance
                total[key] += share
                for before, after in zip(table, published, strict=True):
                    taken[key][after] += share * (before - after)
    return {
        key: max(taken[key][after] / (total[key] * (rows - sum(key)) * key.count(after)) for after in taken[key])
        for key in total
        if total[key]
    }


def withheld_on(published, rows, l, suppress, weight=lambda table: 1):  # noqa: E741
    """{name: Pr(a withheld person has it | published)} over all violating tables that hold the published one, all ways to break ties."""
    total = Fraction(0)
    taken = [Fraction(0)] * len(published)
    for table in behind(published, rows):
        if violates(table, l):
            tied = len(set(table)) < len(table)
            orders = list(permutations(range(len(table)))) if tied else [None]
            for names in orders:
                share = weight(table) * suppress(table, l, names).get(tuple(published), 0) / Fraction(len(orders))
                total += share
                for name, count in enumerate(table):
                    taken[name] += share * (count - published[name])
    return {name: some / (total * (rows - sum(published))) for name, some in enumerate(taken) if total}


def subtables(table):
    """Every table that withholding some records leaves, one record of each value at least."""
    return product(*(range(1, count + 1) for count in table))


def withheld_step_by_step(table, start, l):  # noqa: E741
    """How many records D-suppression has withheld in all when both conditions hold, S_1 having been cut to a level first."""
    return sum(table) - sum(first(table, l, start))


def withheld_at_least(table, start, l):  # noqa: E741
    """The fewest records that any way to withhold more of `start` leaves withheld in all, both conditions holding."""
    rows = sum(table)
    return min(rows - sum(left) for left in subtables(start) if p_eligible(left, l) and l_candidate(left, rows, l))


def mean_withheld_by_interval(table, l, withheld_after):  # noqa: E741
    """Falling counts -> for h = 1 .. m the mean withheld where S_1 is first cut to a level of [F_{h+1}, F_h], each as likely."""
    levels = [*table, 1]
    means = []
    for h in range(len(table)):
        starts = [(level, *table[1:]) for level in range(levels[h + 1], levels[h] + 1)]
        means.append(Fraction(sum(withheld_after(table, start, l) for start in starts), len(starts)))
    return means


def least_mean_withheld(means, l):  # noqa: E741
    """The least mean over every distribution of h with no probability above 1/l: the l cheapest intervals, each with 1/l."""
    return sum(sorted(means)[:l]) / l
