"""Delta-growth guarantee against corruption (Tao, Xiao, Li & Zhang, ICDE 2008, definition 3).

No belief about a person's value grows by more than delta: any predicate, any lambda-skewed prior, any set of other people
corrupted.  `<=`.  The bound is a tight one of our own, proven and attained: `corruption_bounds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.door import check_parameters
from reticent.errors import PromiseUnreachable
from reticent.models.corruption_bounds import Setting, delta_holds, least
from reticent.models.exact import Number
from reticent.models.shapes import Promise


@dataclass(frozen=True, slots=True)
class DeltaGrowth(Promise):
    """Posterior less prior is at most delta."""

    delta: Fraction
    lambda_: Fraction
    column: str | None = None
    name: ClassVar[str] = "delta-growth"
    needs_sensitive: ClassVar[bool] = True

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(self, delta: Number, lambda_: Number, column: str | None = None) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self)

    def holds(self, p: Fraction, k: int, domain: int) -> bool:
        return delta_holds(Setting(p, k, domain, self.lambda_), self.delta)

    def verify(self, parameters: Mapping[str, Any]) -> None:
        """Raise where retention `p` in groups of `k` over `domain` values lets a belief grow by more than delta."""
        at = Setting(parameters["p"], parameters["k"], parameters["domain"], self.lambda_)
        if not delta_holds(at, self.delta):
            reached = least(lambda most: delta_holds(at, most))
            raise PromiseUnreachable(
                f"p = {float(at.p):g} does not keep {float(self.delta):g}-growth.",
                why=f"With k = {at.k} and {at.domain} values a belief can grow by {float(reached):g}.",
                attempt="a smaller p, or leaving p out: it is then the largest that keeps every promise.",
            )
