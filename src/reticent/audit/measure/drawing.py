"""Does each group's published value look like one drawn from it and perturbed?  An honest release fails with a bounded probability.

Of group g, with n_v of its G people at v, the published value is v with probability t_v = p n_v / G + (1 - p) / m, independently
of other groups.  So each of these is a sum of independent variables between 0 and 1 whose mean and variance are known:

    margins     how many groups show v, for each v
    likeness    the sum of c(g, y), the share of the group that holds the value it shows: too high where p is not as small as said

and a bound on its tail (`tails`) is a p-value.  All of them share one significance (Bonferroni).

    regions     were values left as they were among neighbours?  Of group g the ratio (q c + (1 - q) / m) / (p c + (1 - p) / m), c the
                share that holds the value it shows, has the mean 1 in an honest release, and so has the product over any groups: at
                least 1 / a with a probability of at most a (Markov).  The greatest product over all stretches of groups that are
                neighbours by some column, and over rectangles of two columns' bands, times their number is a p-value, for a q of nearly 1
                (nothing was redrawn) and for one halfway to it

Half of the significance is that of the regions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import exp, inf, log

import numpy as np

from reticent.audit.measure.tails import log_two_sided

SIGNIFICANCE = 2e-9  # six standard deviations, on both sides
NEARLY_ALL = 0.999  # of the values, kept in a region that was not redrawn
BANDS = 8  # of a column, where cells of two columns are looked at
MAX_PAIRED_COLUMNS = 8
SLACK = 1e-6  # more than sums of logarithms are off by
DEVIATIONS = 3.0  # below its mean, a region that was not redrawn is still found


@dataclass(frozen=True, slots=True)
class Regions:
    """`worst` is the natural logarithm of the least p-value, times the number of `tests`; `where` and `groups` say of which region.

    Wherever `least` neighbouring groups or more were left as they were, by any column, it would be found; None: nowhere.
    """

    tests: float
    worst: float
    where: str
    groups: int
    least: int | None


NO_REGIONS = Regions(0, 0.0, "", 0, None)


@dataclass(frozen=True, slots=True)
class Drawn:
    """`worst` is the least p-value times the number of tests; `telling`: values left as they were would have been found."""

    groups: int
    tests: int
    worst: float
    telling: bool
    regions: Regions = NO_REGIONS

    @property
    def passed(self) -> bool:
        return self.worst > SIGNIFICANCE


def drawn(
    group: np.ndarray,
    value: np.ndarray,
    count: np.ndarray,
    shown: np.ndarray,
    p: float,
    m: int,
    places: Mapping[str, np.ndarray] | None = None,
) -> Drawn:
    """`count` people of `group` hold `value` (each pair once); `shown` is the published value of each group.

    `places` has, by column, where each group lies: what is shown must have no part in it.
    """
    groups = len(shown)
    size = np.bincount(group, weights=count, minlength=groups)
    share = count / size[group]
    noise = (1 - p) / m
    chance = p * share + noise  # of showing this value
    own = np.zeros(groups)
    here = value == shown[group]
    own[group[here]] = share[here]
    margins = _margins(value, shown, share, p, m, groups)
    mean_of = np.bincount(group, weights=chance * share, minlength=groups)
    square = np.bincount(group, weights=chance * share**2, minlength=groups)
    mean, variance = float(mean_of.sum()), float(np.maximum(square - mean_of**2, 0).sum())

    def likeness(x: float) -> float:
        return float(log_two_sided(x, mean, groups - mean, variance, groups))

    tests = m + 1
    worst = min(float(margins.min()), likeness(float(own.sum()))) + log(tests)
    kept = float(np.bincount(group, weights=share**2, minlength=groups).sum())  # if no value were perturbed
    regions = NO_REGIONS
    if places:
        logs = np.log(_ratio(share, NEARLY_ALL, p, m))
        expected = np.bincount(group, weights=share * logs, minlength=groups)
        squared = np.bincount(group, weights=share * logs**2, minlength=groups)
        regions = scan_regions(own, expected, np.maximum(squared - expected**2, 0.0), p, m, places)
        worst = min(worst, regions.worst) + log(2)
    halved = log(SIGNIFICANCE) - (log(2) if places else 0.0)
    return Drawn(groups, tests, exp(min(worst, 0.0)), likeness(kept) + log(tests) <= halved, regions)


def _ratio(share: np.ndarray, q: float, p: float, m: int) -> np.ndarray:
    """How much likelier a value that so many of the group hold is to be shown where values are kept with q instead of p."""
    found: np.ndarray = (q * share + (1 - q) / m) / (p * share + (1 - p) / m)
    return found


def scan_regions(
    own: np.ndarray, mean: np.ndarray, variance: np.ndarray, p: float, m: int, places: Mapping[str, np.ndarray]
) -> Regions:
    """The stretch or cell of groups that looks least as if its values had been redrawn.

    `own` is the share of each group that holds the value it shows; `mean` and `variance` are those of the logarithm of its ratio,
    if it had not been redrawn.
    """
    groups, orders = len(own), neighbours(places)
    grids = _grids(places)
    stretches = len(orders) * groups * (groups + 1) / 2
    tests = 2 * (stretches + len(grids) * (BANDS * (BANDS + 1) // 2) ** 2)
    best, where, size = -inf, "", 0
    for q in (NEARLY_ALL, (1 + p) / 2):
        logs = np.log(_ratio(own, q, p, m))
        for name, order in orders.items():
            found, length = _greatest_stretch(logs[order])
            if found > best:
                best, where, size = found, name, length
        for name, cell in grids.items():
            found, length = _greatest_rectangle(cell, logs)
            if found > best:
                best, where, size = found, name, length
    worst = min(log(tests) - best + SLACK, 0.0)
    needed = log(tests) + log(2) - log(SIGNIFICANCE) + SLACK
    return Regions(tests, worst, where, size, _least_stretch(mean, variance, orders, needed))


def neighbours(places: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The groups in the order of each column; those at one place in the order of the other columns."""
    found = {}
    for name, place in places.items():
        others = [other for key, other in places.items() if key != name]
        found[name] = np.lexsort((*others, place))
    return found


def _grids(places: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The cell of each group by two columns, each cut into bands of about as many groups."""
    bands = {}
    for name, place in places.items():
        ranks = np.unique(place, return_inverse=True)[1].reshape(-1)
        before = np.cumsum(np.bincount(ranks)) - np.bincount(ranks)
        bands[name] = before[ranks] * BANDS // len(place)
    several = sorted(bands, key=lambda name: -len(np.unique(places[name])))[:MAX_PAIRED_COLUMNS]
    return {f"{one} and {other}": bands[one] * BANDS + bands[other] for one, other in combinations(several, 2)}


def _greatest_rectangle(cell: np.ndarray, logs: np.ndarray) -> tuple[float, int]:
    """The greatest sum over consecutive bands of one column and of another, and how many groups have it."""
    best, size = -inf, 0
    sums, counts = (
        np.bincount(cell, weights=weights, minlength=BANDS * BANDS).reshape(BANDS, BANDS)
        for weights in (logs, np.ones(len(cell)))
    )
    for top in range(BANDS):
        for bottom in range(top, BANDS):
            found, _ = _greatest_stretch(sums[top : bottom + 1].sum(axis=0))
            if found > best:
                row, held = sums[top : bottom + 1].sum(axis=0), counts[top : bottom + 1].sum(axis=0)
                begin, end = _stretch(row)
                best, size = found, int(held[begin:end].sum())
    return best, size


def _greatest_stretch(logs: np.ndarray) -> tuple[float, int]:
    """The greatest sum over consecutive numbers, and how many they are."""
    begin, end = _stretch(logs)
    return float(logs[begin:end].sum()), end - begin


def _stretch(logs: np.ndarray) -> tuple[int, int]:
    """Where the consecutive numbers with the greatest sum begin, and where they end."""
    until = np.append(0.0, np.cumsum(logs))
    least = np.minimum.accumulate(until)
    end = int((until[1:] - least[:-1]).argmax())
    return int(until[: end + 1].argmin()), end + 1


def _least_stretch(
    mean: np.ndarray, variance: np.ndarray, orders: Mapping[str, np.ndarray], needed: float
) -> int | None:
    """So many neighbouring groups, by any column, would be found wherever they lie if their values had not been redrawn."""

    def is_found(length: int) -> bool:
        for order in orders.values():
            sums = np.append(0.0, np.cumsum(mean[order]))
            spreads = np.append(0.0, np.cumsum(variance[order]))
            total = sums[length:] - sums[:-length]
            spread = np.sqrt(np.maximum(spreads[length:] - spreads[:-length], 0.0))
            if (total - DEVIATIONS * spread < needed).any():
                return False
        return True

    low, high = 1, len(mean)
    if not orders or not is_found(high):
        return None
    while low < high:
        middle = (low + high) // 2
        if is_found(middle):
            high = middle
        else:
            low = middle + 1
    return high


def _margins(value: np.ndarray, shown: np.ndarray, share: np.ndarray, p: float, m: int, groups: int) -> np.ndarray:
    noise = (1 - p) / m
    held = np.bincount(value, weights=share, minlength=m)
    squares = np.bincount(value, weights=(p * share + noise) ** 2 - noise**2, minlength=m) + groups * noise**2
    mean = p * held + groups * noise
    variance = np.maximum(mean - squares, 0)
    seen = np.bincount(shown, minlength=m).astype(np.float64)
    return log_two_sided(seen, mean, groups - mean, variance, np.full(m, groups))
