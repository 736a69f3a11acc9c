"""p, k and the guarantees they give, from one another (Tao, Xiao, Li & Zhang, ICDE 2008, sections IV and VI).

k = ceil(1 / s).  p is the *largest* value that keeps every promise (ERRATA 5.1: both bounds grow with p), rounded down at the
sixth decimal; a guarantee is rounded up there.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import ceil
from typing import Any

from reticent.errors import JobError, PromiseUnreachable
from reticent.models import corruption_bounds as bounds
from reticent.models.corruption_bounds import Setting
from reticent.models.exact import exact, whole


def group_size(k: object, s: object) -> int:
    """k as given, or ceil(1 / s): then at most |D| s rows are published."""
    if k is not None and s is not None:
        raise JobError("perturbed-generalization takes k or s, not both.", attempt="k = 6, or s = 0.16.")
    if s is not None:
        rate = exact(s, "s")
        if not 0 < rate <= 1:
            raise JobError("The sampling rate s must be above 0 and at most 1.", attempt="s = 0.1.")
        return ceil(1 / rate)
    found = whole(k, "k")
    if found < 1:
        raise JobError("perturbed-generalization needs k >= 1.", attempt="k = 6.")
    return found


def retention(p: object) -> Fraction:
    found = exact(p, "p")
    if not 0 < found < 1:
        raise JobError(
            "The retention probability p must lie between 0 and 1.",
            why="At 0 nothing is retained and the release is noise; at 1 nothing is perturbed.",
            attempt="p = 0.3, or leaving it out.",
        )
    if found.denominator > bounds.SCALE:
        raise JobError("p has more than six decimals.", attempt="p = 0.3.")
    return found


def check_domain(promises: Iterable[Any], domain: int) -> None:
    """A domain of one value has nothing to hide, and a lambda below 1 / |U| has no prior."""
    if domain < 2:
        raise JobError(
            "The sensitive column has a domain of one value.",
            why="There is nothing to perturb: everybody's value is known.",
            attempt="a declared domain: a hierarchy, an order, or domain = [...] of the method.",
        )
    for promise in promises:
        if promise.lambda_ * domain < 1:
            raise JobError(
                f"{promise.name}: lambda = {float(promise.lambda_):g} is below 1/{domain}.",
                why=f"Over {domain} values some value has a prior of at least 1/{domain}: no adversary is as ignorant.",
                attempt=f"lambda = {float(ceil(Fraction(10**6, domain))) / 10**6:g} or more.",
            )


def largest_retention(promises: Iterable[Any], k: int, domain: int) -> Fraction:
    """The largest p that keeps every promise."""
    found = [(_largest(one, k, domain), one) for one in promises]
    for p, promise in found:
        if p is None:
            raise PromiseUnreachable(
                f"{promise.name} cannot be kept by perturbed-generalization with k = {k} and {domain} values.",
                why=f"Even p = {1 / bounds.SCALE:g} lets a belief grow by more.",
                attempt="a larger k, or a weaker promise.",
            )
    return min(p for p, _ in found if p is not None)


def _largest(promise: Any, k: int, domain: int) -> Fraction | None:
    return bounds.largest_p(lambda p: promise.holds(p, k, domain))


def guarantees(p: object, k: int, domain: int, lambda_: object, rho1: object = None) -> dict[str, Any]:
    """What p gives: the tight bounds and those of theorems 2 and 3, rounded up at the sixth decimal."""
    at = Setting(retention(p), k, domain, exact(lambda_, "lambda"))
    found: dict[str, Any] = {
        "delta": bounds.least(lambda most: bounds.delta_holds(at, most)),
        "delta_theorem3": bounds.least(lambda most: bounds.theorem3_holds(at, most)),
    }
    if rho1 is not None:
        before = exact(rho1, "rho1")
        found["rho2"] = bounds.rounded_up(bounds.rho2(at, before))
        found["rho2_theorem2"] = bounds.rounded_up(bounds.rho2_theorem2(at, before))
        found["downward"] = [1 - before, 1 - found["rho2"]]
    return found


def retentions(k: int, domain: int, lambda_: object, *, rho1: object = None, rho2: object = None,
               delta: object = None) -> dict[str, Any]:  # fmt: skip
    """The largest p for a promise: by the tight bound, and by the theorem as printed."""
    skew = exact(lambda_, "lambda")

    def at(p: Fraction) -> Setting:
        return Setting(p, k, domain, skew)

    if rho2 is not None:
        before, after = exact(rho1, "rho1"), exact(rho2, "rho2")
        tight = bounds.largest_p(lambda p: bounds.rho2(at(p), before) <= after)
        return {"p": tight, "p_theorem2": bounds.largest_p(lambda p: bounds.theorem2_holds(at(p), before, after))}
    most = exact(delta, "delta")
    tight = bounds.largest_p(lambda p: bounds.delta_holds(at(p), most))
    return {"p": tight, "p_theorem3": bounds.largest_p(lambda p: bounds.theorem3_holds(at(p), most))}
