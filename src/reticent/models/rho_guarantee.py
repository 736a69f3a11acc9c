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

from reticent.catalogue import PROMISES
from reticent.door import check_parameters
from reticent.door.parameters import accept
from reticent.errors import PromiseUnreachable
from reticent.models.corruption_bounds import Setting, rho2, rounded_up
from reticent.models.exact import Number
from reticent.models.shapes import Promise


def checked_skew(value: object, name: str) -> Fraction:
    """A lambda in (0, 1): at 1 the adversary knows the value already."""
    return accept(PROMISES["rho-guarantee"].fields["lambda"], value, "lambda", name)


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
        check_parameters(self)

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
