"""rho1-to-rho2 guarantee against corruption (Tao, Xiao, Li & Zhang, ICDE 2008, definition 2; Evfimievski et al., PODS 2003).

Whoever believes, before the release, that a person's value meets a predicate with a probability of at most rho1, believes it
afterwards with at most rho2: any predicate, any lambda-skewed prior, any set of other people corrupted.  `<=` on both sides.
The bound is the tight one (ERRATA 5.5): `corruption_bounds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.door import typed
from reticent.errors import JobError, PromiseUnreachable
from reticent.models.corruption_bounds import Setting, rho2, rounded_up
from reticent.models.exact import Number, exact
from reticent.models.shapes import Promise


def checked_skew(value: object, name: str) -> Fraction:
    """A lambda in (0, 1): at 1 the adversary knows the value already."""
    found = exact(value, "lambda")
    if found == 1:
        raise JobError(
            f"{name} with lambda = 1: no protection is possible.",
            why="An adversary whose prior may give one value probability 1 knows the value before the release.",
            attempt="lambda = 0.1: no value is believed more than that beforehand.",
        )
    if not 0 < found < 1:
        raise JobError(f"{name} needs lambda between 0 and 1.", attempt="lambda = 0.1.")
    return found


@dataclass(frozen=True, slots=True)
class RhoGuarantee(Promise):
    """A belief of at most rho1 becomes one of at most rho2."""

    rho1: Fraction
    rho2: Fraction
    lambda_: Fraction
    column: str | None = None
    name: ClassVar[str] = "rho-guarantee"
    needs_sensitive: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(self, rho1: Number, rho2: Number, lambda_: Number, column: str | None = None) -> None: ...

    def __post_init__(self) -> None:
        typed(self)
        for field in ("rho1", "rho2"):
            object.__setattr__(self, field, exact(getattr(self, field), field))
        object.__setattr__(self, "lambda_", checked_skew(self.lambda_, self.name))
        if not 0 <= self.rho1 < self.rho2 <= 1:
            raise JobError(
                f"rho-guarantee needs 0 <= rho1 < rho2 <= 1; rho1 = {float(self.rho1):g}, rho2 = {float(self.rho2):g}.",
                attempt="rho1 = 0.2, rho2 = 0.45.",
            )

    def holds(self, p: Fraction, k: int, domain: int) -> bool:
        return rho2(Setting(p, k, domain, self.lambda_), self.rho1) <= self.rho2

    def verify(self, parameters: Mapping[str, Any]) -> None:
        """Raise where retention `p` in groups of `k` over `domain` values lifts a belief above rho2."""
        at = Setting(parameters["p"], parameters["k"], parameters["domain"], self.lambda_)
        reached = rho2(at, self.rho1)
        if reached > self.rho2:
            raise PromiseUnreachable(
                f"p = {float(at.p):g} does not keep the {float(self.rho1):g}-to-{float(self.rho2):g} guarantee.",
                why=f"With k = {at.k} and {at.domain} values a belief of {float(self.rho1):g} can become "
                f"{float(rounded_up(reached)):g}.",
                attempt="a smaller p, or leaving p out: it is then the largest that keeps every promise.",
            )
