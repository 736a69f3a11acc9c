"""Promises against corruption: the bounds of perturbed generalization (Tao, Xiao, Li & Zhang, ICDE 2008, section VI).

`RhoGuarantee` (definition 2; Evfimievski et al., PODS 2003): an adversary who believes, before the release, that a
person's value meets a predicate with a probability of at most rho1, believes it afterwards with at most rho2.
`DeltaGrowth` (definition 3): no belief about a person's value grows by more than delta.  Both hold for any predicate,
any lambda-skewed prior, and any set of other people corrupted; all comparisons are `<=`.

Several tuples of a group.  Nothing below changes where m = floor(N / k) of the N people of a group are drawn without
replacement, each perturbed independently.  Let r = m / N <= 1 / k be the chance that the victim is drawn, y_1 .. y_m what
is shown in the order of the draw, A the chance that the N - 1 others alone show it, and B_i the chance that m - 1 draws of
them show all but y_i; B is the mean of B_i.  The victim is drawn i-th with chance r / m, so a value x has the likelihood

    L(x) = (1 - r) A + r u B + r p mean of 1[x = y_i] B_i

Whoever of the others shows y_i does so with chance u at least, given all else: A >= u B_i for each i (if m < N; if m = N
the term has the factor 0).  So every L is at least u B, and with c_x the share of B that the tuples at x have, L(x) = b u B
+ r p c_x B with b >= 1 and all c_x together 1.  What is not corrupted, who of a list is extraneous, and in which order rows
are published are mixtures of such cases with weights that do not depend on x, and leave these inequalities as they are; m
is a function of N, which G states.  No odds of two values grow by more than 1 + r p / u <= 1 + p / (k u).  For a predicate
Q of prior q, t = sum of c_x P[X = x] over Q is at most w, the greatest prior of a value in Q, and

    P_post(Q) <= (b q + (r p / u) t) / (b + (r p / u) t) <= q + p w (1 - q) / (p w + k u)

as for one tuple.  It is attained where k divides N: all tuples show y, and nobody else has it.

Several rows of a person.  Where a person has c rows at most, groups have k c rows at least and one row in k c is drawn.  Of
the victim's rows, in one group or in several, write the likelihood of what they hold as a sum over the sets S of them that
are drawn and kept: that of S is T_S times the chance that its rows lie where their values are shown, and T_0, all of the
victim's rows being redrawn if they are drawn, holds for every value.  As above a row that is drawn and kept can be drawn and
redrawn, and whoever takes its place shows its value with u: the T_S of all places together is at most (r p / u)^|S| T_0, since
rows of one group are drawn together with chance m (m - 1) / (N (N - 1)) <= r^2, and so on.  What is believed of a set of rows
that hold given values and meet Q is at most w, if no value of any row is believed with more.  So Q is lifted by at most the
sum over all S but the empty one, (1 + p / (k c u))^c - 1 =: t times w, and the bounds below hold with 1 / t for k u / p: for
c = 1 they are the same.  It is attained where all rows lie in groups of their own and hold the value that is shown.

The bounds: p is the retention probability, k the least group, m = |U^s|, u = (1 - p) / m.  The victim's prior is
lambda-skewed: no value has more than lambda.  With everyone else of a group of G >= k corrupted and none of them at y,
equations 9 to 19 give

    P_post(Q) - P_prior(Q) = p w (1 - q) / (p w + G u),    w = P[X = y], q = P_prior(Q), y in Q

and any other adversary, predicate or group gives less.  So (tight)

    rho2  = rho1 + p w (1 - rho1) / (p w + k u), w = min(lambda, rho1)                                   ERRATA 5.5
    Delta = max of p w (1 - w) / (p w + k u) over the w that a lambda-skewed prior can have:
            1 - (m - 1) lambda <= w <= lambda, since the other m - 1 values hold at most lambda each

The bound on Delta is our own, proven and attained.  It is largest at w* = sqrt(a^2 + a) - a, a = k u / p, where it is 1
+ 2 a - 2 sqrt(a^2 + a), and falls on both sides of it: so w is w* moved into that interval.  It is attained: Q = {y},
the prior w at y and the rest spread evenly over the others.  Theorems 2 and 3 bound h and the growth given h apart,
each at its own worst case, and are never smaller.

Everything is a fraction.  A square root is never taken: x >= s (1 + 2 a - 2 sqrt(a^2 + a)) is decided by squaring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

from reticent.catalogue import PROMISES
from reticent.errors import PromiseUnreachable
from reticent.models.promise import Promise
from reticent.models.rational_bounds import Number
from reticent.validation import accept_parameter, check_parameters, document_parameters

GUARANTEE_SCALE = 10**6  # guarantees are rounded up, and p down, at this many parts


@dataclass(frozen=True, slots=True)
class CorruptionSetting:
    """A mechanism and the adversary it faces: retention `p`, least group `k`, `domain` values, skew `lambda_`.

    A person has `rows` rows at most, and a group of `k` people has that many times k.  `k` is 1 where a grouping that looks
    at perturbed values leaves nothing of sampling: rows of a person do not make groups larger then.
    """

    p: Fraction
    k: int
    domain: int
    lambda_: Fraction
    rows: int = 1

    @property
    def u(self) -> Fraction:
        """The chance that a redrawn value is one particular value."""
        return (1 - self.p) / self.domain

    @property
    def resistance(self) -> Fraction:
        """What a belief w is weighed against: it is lifted by w / resistance.  k u / p for one row of a person."""
        least_rows = self.k * self.rows if self.k > 1 else 1
        return 1 / ((1 + self.p / (least_rows * self.u)) ** self.rows - 1)

    @property
    def h(self) -> Fraction:
        """The right side of inequality 20: the greatest probability that the drawn tuple is the victim's."""
        return (self.p * self.lambda_ + self.u) / (self.p * self.lambda_ + self.k * self.u)

    @property
    def rarest(self) -> Fraction:
        """The least prior that a lambda-skewed adversary must give to a value, if all others have lambda.

        What several rows hold together may be as unlikely as one likes.
        """
        if self.rows > 1:
            return Fraction(0)
        return max(Fraction(0), 1 - (self.domain - 1) * self.lambda_)


def compute_rho2(setting: CorruptionSetting, rho1: Fraction) -> Fraction:
    """Compute the greatest posterior where the prior is at most rho1 (ERRATA 5.5)."""
    believed = min(setting.lambda_, rho1)
    return rho1 + believed * (1 - rho1) / (believed + setting.resistance)


def compute_rho2_theorem2(setting: CorruptionSetting, rho1: Fraction) -> Fraction:
    """Compute the least rho2 that inequality 23 allows."""
    gamma = 1 + setting.p / setting.u
    inner = gamma * rho1 / (1 - rho1 + gamma * rho1)
    return setting.h * inner + (1 - setting.h) * rho1


def theorem2_holds(setting: CorruptionSetting, rho1: Fraction, rho2: Fraction) -> bool:
    """Tell whether inequality 23 holds as printed.

    Where rho2' >= 1 it is satisfied (ERRATA 5.3), and rho1 = 0 leaves nothing to lift.
    """
    inner = (rho2 - rho1 * (1 - setting.h)) / setting.h
    if inner >= 1 or rho1 == 0:
        return True
    return inner * (1 - rho1) >= rho1 * (1 - inner) * (1 + setting.p / setting.u)


def delta_holds(setting: CorruptionSetting, delta: Fraction) -> bool:
    """Tell whether no belief grows by more than delta, by the tight bound."""
    a = setting.resistance
    if _is_left_of_peak(a, setting.lambda_):
        return _compute_growth(Fraction(1), a, setting.lambda_) <= delta
    if not _is_left_of_peak(a, setting.rarest):
        return _compute_growth(Fraction(1), a, setting.rarest) <= delta
    return _is_peak_at_most(a, delta)


def theorem3_holds(setting: CorruptionSetting, delta: Fraction) -> bool:
    """Tell whether theorem 3 holds as printed."""
    a = setting.u / setting.p
    if _is_left_of_peak(a, setting.lambda_):
        return setting.h * _compute_growth(setting.p, setting.u, setting.lambda_) <= delta
    return _is_peak_at_most(a, delta / setting.h)


def round_up(value: Fraction) -> Fraction:
    return Fraction(ceil(value * GUARANTEE_SCALE), GUARANTEE_SCALE)


def find_least_bound(holds: Callable[[Fraction], bool]) -> Fraction:
    """Find the least multiple of 1 / GUARANTEE_SCALE, at most 1, from which on a bound holds."""
    low = 0
    high = GUARANTEE_SCALE
    while low < high:
        middle = (low + high) // 2
        if holds(Fraction(middle, GUARANTEE_SCALE)):
            high = middle
        else:
            low = middle + 1
    return Fraction(low, GUARANTEE_SCALE)


def find_largest_p(holds: Callable[[Fraction], bool]) -> Fraction | None:
    """Find the greatest p with that many decimals for which a bound holds; None if none above 0 does.

    Bounds grow with p (ERRATA 5.1).
    """
    low = 0
    high = GUARANTEE_SCALE - 1
    while low < high:
        middle = (low + high + 1) // 2
        if holds(Fraction(middle, GUARANTEE_SCALE)):
            low = middle
        else:
            high = middle - 1
    return Fraction(low, GUARANTEE_SCALE) if low else None


@document_parameters(PROMISES["delta-growth"])
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

    def holds(self, p: Fraction, k: int, domain: int, rows: int = 1) -> bool:
        return delta_holds(CorruptionSetting(p, k, domain, self.lambda_, rows), self.delta)

    def verify(self, parameters: Mapping[str, Any]) -> None:
        """Raise if retention `p` in groups of `k` over `domain` values lets a belief grow by more than delta."""
        setting = _make_setting(parameters, self.lambda_)
        if not delta_holds(setting, self.delta):
            reached = find_least_bound(lambda delta: delta_holds(setting, delta))
            raise PromiseUnreachable(
                f"p = {float(setting.p):g} does not keep {float(self.delta):g}-growth.",
                why=f"With k = {setting.k} and {setting.domain} values a belief can grow by {float(reached):g}.",
                attempt="a smaller p, or leaving p out: it is then the largest that keeps every promise.",
            )


def validate_skew(value: object, name: str) -> Fraction:
    """Validate a lambda in (0, 1): at 1 the adversary knows the value already."""
    return accept_parameter(PROMISES["rho-guarantee"].fields["lambda"], value, "lambda", name)


@document_parameters(PROMISES["rho-guarantee"])
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

    def holds(self, p: Fraction, k: int, domain: int, rows: int = 1) -> bool:
        return compute_rho2(CorruptionSetting(p, k, domain, self.lambda_, rows), self.rho1) <= self.rho2

    def verify(self, parameters: Mapping[str, Any]) -> None:
        """Raise if retention `p` in groups of `k` over `domain` values lifts a belief above rho2."""
        setting = _make_setting(parameters, self.lambda_)
        reached = compute_rho2(setting, self.rho1)
        if reached > self.rho2:
            raise PromiseUnreachable(
                f"p = {float(setting.p):g} does not keep the {float(self.rho1):g}-to-{float(self.rho2):g} guarantee.",
                why=f"With k = {setting.k} and {setting.domain} values a belief of {float(self.rho1):g} can become "
                f"{float(round_up(reached)):g}.",
                attempt="a smaller p, or leaving p out: it is then the largest that keeps every promise.",
            )


def _make_setting(parameters: Mapping[str, Any], skew: Fraction) -> CorruptionSetting:
    """Make the setting that a promise is verified in; without `rows` everybody has one row."""
    return CorruptionSetting(parameters["p"], parameters["k"], parameters["domain"], skew, parameters.get("rows", 1))


def _is_left_of_peak(a: Fraction, w: Fraction) -> bool:
    """Tell whether w <= sqrt(a^2 + a) - a."""
    return (w + a) ** 2 <= a * a + a


def _compute_growth(pull: Fraction, resistance: Fraction, w: Fraction) -> Fraction:
    return pull * w * (1 - w) / (pull * w + resistance)


def _is_peak_at_most(a: Fraction, limit: Fraction) -> bool:
    """Tell whether 1 + 2 a - 2 sqrt(a^2 + a) <= most."""
    difference = 1 + 2 * a - limit
    return difference <= 0 or difference * difference <= 4 * (a * a + a)
