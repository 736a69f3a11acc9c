"""p, k and the guarantees they give, from one another (Tao, Xiao, Li & Zhang, ICDE 2008, sections IV and VI).

k = ceil(1 / s).  p is the *largest* value that keeps every promise (ERRATA 5.1: both bounds grow with p), rounded down at the
sixth decimal; a guarantee is rounded up there.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import ceil
from typing import Any

from reticent.catalogue import METHODS
from reticent.door.parameters import accept
from reticent.errors import JobError, PromiseUnreachable
from reticent.models import corruption_bounds as bounds
from reticent.models.corruption_bounds import Setting
from reticent.models.exact import exact


def group_size(k: object, s: object) -> int:
    """k as given, or ceil(1 / s): then at most |D| s rows are published."""
    if k is not None and s is not None:
        raise JobError("perturbed-generalization takes k or s, not both.", attempt="k = 6, or s = 0.16.")
    if s is not None:
        return ceil(1 / _accepted(s, "s"))
    return _accepted(k, "k")


def retention(p: object) -> Fraction:
    """A retention probability as it may be given."""
    return _accepted(p, "p")


def _accepted(value: object, name: str) -> Any:
    return accept(METHODS["perturbed-generalization"].fields[name], value, name, "perturbed-generalization")


def require_one_row_per_person(rows_per_person: int) -> None:
    """Refuses persons with several rows: p is calibrated for one perturbed value of a person."""
    if rows_per_person > 1:
        raise JobError(
            f"perturbed-generalization is not calibrated for persons with {rows_per_person} rows.",
            why="Rows of one person in different groups are drawn and perturbed apart, and together they lift a belief by more "
            "than p allows for one.",
            attempt="a table with one row of each person, and rows_per_person = 1.",
        )


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
