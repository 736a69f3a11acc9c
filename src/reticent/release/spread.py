"""How far an estimate may lie from the truth, where the variance is itself a function of the truth.

The truths x that an estimate does not rule out at z standard deviations are those with

    scale (x - center)^2 <= z^2 (constant + slope (x - center) + curvature (x - center)^2)

For a count the right side is the variance that the estimate would have if x were the truth, as in Wilson's interval; for a mean it is
the variance of the sum less x times the count, as in Fieller's.  Both are quadratic, and so the truths are those between two roots.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True, slots=True)
class Spread:
    """`otherwise` is where the truth lies if the inequality bounds nothing: None, and the normal law decides."""

    center: float
    constant: float
    slope: float = 0.0
    curvature: float = 0.0
    scale: float = 1.0
    otherwise: tuple[float, float] | None = None

    def scaled(self, share: float) -> Spread:
        """The spread of an estimate that is multiplied by a number."""
        otherwise = None
        if self.otherwise is not None:
            otherwise = self.otherwise[0] * share, self.otherwise[1] * share
        return Spread(
            self.center * share,
            self.constant * share * share,
            self.slope * share,
            self.curvature,
            self.scale,
            otherwise,
        )

    def ends(self, z: float) -> tuple[float, float] | None:
        """The least and the greatest truth within z standard deviations."""
        square = self.scale - z * z * self.curvature
        linear = -z * z * self.slope
        free = -z * z * self.constant
        discriminant = linear * linear - 4 * square * free
        if square <= 0 or discriminant < 0 or self.constant < 0:
            return self.otherwise
        root = sqrt(discriminant)
        return self.center + (-linear - root) / (2 * square), self.center + (-linear + root) / (2 * square)
