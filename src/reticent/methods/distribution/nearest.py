"""The nearest distribution to a group's own that keeps a classic promise (section 3.1), by total variation.

l-diversity and beta-likeness cap each value's share: what exceeds a cap is spread over the others in proportion to their own
shares, up to their caps; the distance is the excess, and no distribution under the caps is nearer.  t-closeness: a point on the
way from the group's own distribution to the reference; by the triangle inequality none is nearer in the same distance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from reticent.errors import JobError, PromiseUnreachable
from reticent.models.exact import at_most_log, exact, log_bounds

Shares = list[Fraction]


def nearest(given: Mapping[str, Any], own: Sequence[int], overall: Sequence[int]) -> Shares:
    """`own` are the group's counts, `overall` those of the published table, which is the reference of t and beta."""
    shares, reference = _shares(own), _shares(overall)
    if given["model"] == "t-closeness":
        limit, apart = exact(given["t"], "t"), distance(given, shares, reference)
        if apart <= limit:
            return shares
        part = limit / apart
        return [r + part * (s - r) for s, r in zip(shares, reference, strict=True)]
    return _under(shares, caps(given, reference))


def keeps(given: Mapping[str, Any], used: Shares, overall: Sequence[int]) -> bool:
    """Whether a distribution keeps the classic promise, compared exactly."""
    reference = _shares(overall)
    if given["model"] == "t-closeness":
        return distance(given, used, reference) <= exact(given["t"], "t")
    if given["model"] == "probabilistic-l-diversity":
        return max(used) * exact(given["l"], "l") <= 1
    beta, enhanced = exact(given["beta"], "beta"), bool(given.get("enhanced", True))
    for share, base in zip(used, reference, strict=True):
        if share and not base:
            return False
        if base and not (
            share / base - 1 <= beta and (not enhanced or share <= base or at_most_log(share / base - 1, 1 / base))
        ):
            return False
    return True


def caps(given: Mapping[str, Any], reference: Shares) -> Shares:
    """The greatest share of each value: a rational not above min(beta, -ln p) where a logarithm enters."""
    if given["model"] == "probabilistic-l-diversity":
        return [1 / exact(given["l"], "l")] * len(reference)
    beta, found = exact(given["beta"], "beta"), []
    for base in reference:
        gain = beta
        if base and given.get("enhanced", True) and not at_most_log(beta, 1 / base):
            gain = Fraction(int(log_bounds(1 / base, 20)[0] * 10**6), 10**6)
        found.append(base * (1 + gain))
    return found


def distance(given: Mapping[str, Any], one: Shares, other: Shares) -> Fraction:
    """Equal earth mover's distance (total variation), or ordered: the mean of |cumulated differences|."""
    kind = given.get("distance", "equal")
    differences = [a - b for a, b in zip(one, other, strict=True)]
    if kind == "equal":
        return sum((abs(d) for d in differences), Fraction(0)) / 2
    if kind != "ordered":
        raise JobError(f"p-privacy: nearest t-closeness knows no {kind!r} distance.", attempt='"equal" or "ordered".')
    total, moved = Fraction(0), Fraction(0)
    for difference in differences:
        moved += difference
        total += abs(moved)
    return total / (len(one) - 1)


def _under(own: Shares, limits: Shares) -> Shares:
    """min(cap, lambda own) with the lambda that makes it a distribution; what is left, to values the group lacks."""
    if sum(limits) < 1:
        raise PromiseUnreachable(
            "No distribution over the target's domain keeps the promise that nearest names.",
            why=f"The greatest shares allowed add up to {float(sum(limits)):.3f}.",
            attempt="a weaker promise, or a domain with more values.",
        )
    order = sorted((at for at, share in enumerate(own) if share), key=lambda at: limits[at] / own[at])
    found, left, mass = [Fraction(0)] * len(own), Fraction(1), sum(own)
    for place, at in enumerate(order):
        if left * own[at] <= limits[at] * mass:
            for rest in order[place:]:
                found[rest] = left * own[rest] / mass
            return found
        found[at] = limits[at]
        left -= limits[at]
        mass -= own[at]
    room = sum(limits[at] for at, share in enumerate(own) if not share)
    return [limits[at] * left / room if not share else found[at] for at, share in enumerate(own)] if left else found


def _shares(counts: Sequence[int]) -> Shares:
    total = sum(counts)
    return [Fraction(int(count), int(total)) for count in counts]
