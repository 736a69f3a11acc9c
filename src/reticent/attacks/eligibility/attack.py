"""Eligibility attack (Xu, Wang, Fu & Wong, sections 1.2 and 2): which value led the table before records were withheld?

The adversary sees the published counts, knows |T| and the suppression with its probabilities (K1, K2), and weighs every
table that violates l-eligibility by a prior.  The posterior Pr(S'_i = S_1 | T_P, K) of a published value is its share
of

    sum over tables B in which it leads of   prior(B) Pr(T_P | B).

How it is computed, and recorded in `how`:

    eligible, unsafe, safe    exact, under every prior here: S_1 is at the highest level, and values there are alike
    randomized      uniform prior: exact, counted (`compute_counted_weights`); bounds beyond thousands of records withheld
    calibrated      a mixture with known parts (`bound_mixture_posteriors`): exact where they agree, and but for the prior
                    `records` they mostly do; else bounds
    both            instead of bounds, and for R-suppression under other priors: exact where the tables behind the release
                    are few (`compute_listed_weights`); R-suppression is else sampled, with an interval that holds
                    (`estimate_weights`)

The attack also answers another question, with another posterior: which value does a person have whose record was
withheld (`compute_withheld_posterior`)?  A person known to be in the table and not in the release was withheld, and has
a value v with the probability

    Pr(a withheld person has v | T_P, K) = the mean of (count of v in B - count of v in T_P) / |T_S| over the tables B
                                           behind T_P,

each weighed as for the question which value led.  The two questions differ: a value that did not lead may be most of
what was withheld.  Values of one published count are alike, so of n of them none is above 1/n.  How it is computed, and
recorded in `how`:

    eligible, safe    exact: all that is withheld is of the values at the highest level, which are alike
    unsafe     exact in the same way, but where values may have been cut to one below the level
    others     exact where the tables behind the release are few enough to list; else certain bounds, from the posterior of
               which value led (`_bound_highest_shares`, `_bound_lowest_share`), and where that is sampled with its
               probability; calibrated, uniform prior: at most 1/l, by the proof in `methods/suppression/calibrated_kind.py`

`compute_suppression_risk` measures what a suppression does to given counts: how much it withholds, and the worst
posterior among all that it may publish.  R-suppression publishes one table for each level that S_1 may be cut to, and
one for all levels above the one where `unsafe` stops; calibrated one for each open level, and that of `safe`.  All of
them are attacked, or, where they are more than `most`, that many, evenly spaced, and those next to another value's
count: the worst of those is then a lower bound of the worst of all, and `attacked` and `releases` record it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from reticent import html_repr
from reticent.attacks.eligibility import posterior_bounds, suppressed_tables
from reticent.attacks.eligibility.posterior_bounds import (
    MISS_PROBABILITY,
    CountPosterior,
    PosteriorMethod,
    estimate_weights,
    make_bounded_posterior,
    make_sampled_posterior,
    make_zero_posterior,
    normalize_weights,
    round_outward,
)
from reticent.attacks.eligibility.suppressed_tables import (
    TWO_LEVEL_KINDS,
    CountPrior,
    PublishedCounts,
    count_arrangements,
    estimate_weighing_cost,
    list_strata,
)
from reticent.attacks.scoring import CONTROL_KEYS
from reticent.data.columns import Role
from reticent.errors import RequestError
from reticent.methods.suppression.calibrated_kind import ViolatingTable, compute_cut_probability
from reticent.methods.suppression.kinds import (
    RandomizedSuppression,
    SafeSuppression,
    SuppressionKind,
    cut_counts,
    find_stops,
    is_eligible,
)
from reticent.methods.suppression.stage import SUPPRESSION_KINDS

# ruff: noqa: E741  `l` is the field's own letter


ONE_LEVEL_KINDS = ("eligible", "unsafe", "safe")  # the leading value is among those at the highest published level
MAX_LISTED_TABLES = 10_000  # tables behind a release, up to renaming, that are listed
DEFAULT_SAMPLES = 8_000
ZERO_POSTERIOR = CountPosterior({0: Fraction(0)}, Fraction(0), Fraction(0), "exact")
PublishedTable = tuple[int, ...]
MANY_ROWS = 50_000
SMALL_TABLE_ROWS = 60


def compute_withheld_posterior(
    table: PublishedCounts, kind: SuppressionKind, prior: CountPrior, leading: CountPosterior, listed: int
) -> CountPosterior:
    """Compute the posterior of a withheld person's value, by its published count; `leading` is that of which value led."""
    if not leading.high:
        return make_zero_posterior(table)
    has_second_level = kind.name in TWO_LEVEL_KINDS and table.late and table.alike[table.level - 1] > 0
    if kind.name in ONE_LEVEL_KINDS and not has_second_level:
        share = Fraction(1, table.alike[table.level])
        return make_bounded_posterior({table.level: (share, share)})
    exact = list_withheld_shares(table, kind, prior, listed)
    if exact is not None:
        return (
            make_bounded_posterior({count: (share, share) for count, share in exact.items()})
            if exact
            else make_zero_posterior(table)
        )
    highest = _bound_highest_shares(table, leading, has_second_level)
    if kind.name == "calibrated" and prior.name == "uniform":
        highest = {count: min(share, Fraction(1, table.l)) for count, share in highest.items()}
    high = max(highest.values())
    low = min(_bound_lowest_share(table, leading, highest), high)
    if leading.how == "sampled":
        return CountPosterior(highest, *round_outward(low, high), "sampled")
    return CountPosterior(highest, low, high, "exact" if low == high else "bounds")


def list_withheld_shares(
    table: PublishedCounts, kind: SuppressionKind, prior: CountPrior, max_tables: int
) -> Mapping[int, Fraction] | None:
    """List exact shares for each published count, or nothing if more than `most` tables would have to be listed."""
    possible = list(list_strata(table, kind))
    number = 0
    for stratum in possible:
        number += stratum.number
        if number * estimate_weighing_cost(table, kind, prior) > max_tables:
            return None
    total = Fraction(0)
    lost_by_count: dict[Any, Fraction] = defaultdict(Fraction)
    for stratum in possible:
        for excess, parts in stratum.tables():
            weight = stratum.value(excess, parts, kind.likelihood, prior)
            if not weight:
                continue
            weight *= stratum.ways * table.alike[stratum.count] * count_arrangements(parts) / (1 + parts.count(excess))
            total += weight
            for before, after in zip(*(counts.tolist() for counts in stratum.table(excess, parts)), strict=True):
                lost_by_count[after] += weight * (before - after)
    return {
        after: lost_weight / (total * table.withheld * table.alike[after])
        for after, lost_weight in lost_by_count.items()
        if lost_weight
    }


def compute_posterior(
    published: Sequence[int],
    rows: int,
    l: int,
    kind: str,
    prior: str = "uniform",
    *,
    listed: int = MAX_LISTED_TABLES,
    samples: int = DEFAULT_SAMPLES,
    miss: float = MISS_PROBABILITY,
    rng: np.random.Generator | None = None,
) -> CountPosterior:
    """Attack one published table that was made from `rows` records."""
    table = PublishedCounts(tuple(sorted((int(count) for count in published), reverse=True)), rows, l)
    belief = CountPrior(prior)
    suppression = SUPPRESSION_KINDS[kind]
    if not table.withheld or len(table.counts) < l:  # the release is the table, or no suppression's
        return make_zero_posterior(table)
    if kind in ONE_LEVEL_KINDS:
        share = Fraction(1, table.alike[table.level])
        possible = {"eligible": table.barely_eligible, "unsafe": table.unsafe, "safe": table.safe}[kind]
        return make_bounded_posterior({table.level: (share, share)}) if possible else make_zero_posterior(table)
    if kind == "randomized" and prior == "uniform":
        return normalize_weights(table, suppressed_tables.compute_counted_weights(table))
    mixture = None
    if kind == "calibrated":
        ends = posterior_bounds.bound_mixture_posteriors(table, prior) if table.eligible else {}
        mixture = make_bounded_posterior(ends) if ends else make_zero_posterior(table)
        if mixture.exact:
            return mixture
    weights = suppressed_tables.compute_listed_weights(table, suppression, belief, listed)
    if weights is not None:
        return normalize_weights(table, weights)
    if mixture is not None:
        return mixture
    estimated = estimate_weights(table, suppression, belief, samples, rng or np.random.default_rng(), miss)
    return make_sampled_posterior(table, estimated)


def compute_both_posteriors(
    published: Sequence[int],
    rows: int,
    l: int,
    kind: str,
    prior: str = "uniform",
    *,
    listed: int = MAX_LISTED_TABLES,
    **options: Any,
) -> tuple[CountPosterior, CountPosterior]:
    """Answer the attack's two questions: which value led, and which value a withheld person has."""
    leading = compute_posterior(published, rows, l, kind, prior, listed=listed, **options)
    table = PublishedCounts(tuple(sorted((int(count) for count in published), reverse=True)), rows, l)
    return leading, compute_withheld_posterior(table, SUPPRESSION_KINDS[kind], CountPrior(prior), leading, listed)


def count_published_values(release: Any, column: str) -> list[int]:
    """Count the published people with each value of a sensitive column; refuse redrawn values."""
    if column not in [entry.name for entry in release.manifest.find_columns_with_role(Role.SENSITIVE)]:
        raise RequestError(f"The release has no sensitive column {column!r}.", attempt="one of its sensitive columns.")
    return release.value_counts(column).drop_nulls(column).to_series(1).to_list()


def attack_release(release: Any, prior: str = "uniform", column: str | None = None) -> dict[str, Any]:
    """Attack a release with a suppression among its stages, from what its recipient has."""
    manifest = release.manifest
    stage = manifest.stage("suppression")
    if stage is None or not manifest.withheld_later:
        return {
            "attack": "eligibility",
            "prior": prior,
            **_describe_leading(ZERO_POSTERIOR),
            **_describe_withheld(ZERO_POSTERIOR),
            "promised": None,
        }
    counts = count_published_values(release, column or stage.column or manifest.sensitive.name)
    rows = sum(counts) + manifest.withheld_later
    l = stage.parameters["l"]
    leading, withheld = compute_both_posteriors(counts, rows, l, stage.parameters.get("kind", "calibrated"), prior)
    if not leading.worst:
        raise RequestError(
            f"No table of {rows:,} rows gives these counts by suppression alone.",
            why="Rows were withheld for another reason too, or the files are not as they were published.",
            attempt="attacking a release from which suppression alone withheld.",
        )
    answers = _describe_leading(leading) | _describe_withheld(withheld)
    return {"attack": "eligibility", "prior": prior, **answers, "promised": 1 / l}


@dataclass(frozen=True, slots=True)
class EligibilityOutcome:
    """Beliefs of the attack about the withheld: it guesses nobody, so there is no success to count.

    `worst_posterior` is how surely it infers which value led the table, `worst_withheld_posterior` how surely which
    value a withheld person has; each with its ends and how it was computed.
    """

    targets: int
    worst_posterior: float
    low: float
    high: float
    how: PosteriorMethod
    promised: float
    prior: str
    worst_withheld_posterior: float
    withheld_low: float
    withheld_high: float
    withheld_how: PosteriorMethod

    def _repr_html_(self) -> str:
        return html_repr.render_attack(self)

    def to_dict(self) -> dict[str, Any]:
        absent = {"success": None, "baseline": None, **dict.fromkeys(CONTROL_KEYS)}
        return {"attack": "eligibility", **absent, **{name: getattr(self, name) for name in self.__slots__}}


def attack_by_eligibility(release: Any, prior: str = "uniform", column: str | None = None) -> EligibilityOutcome:
    """Run the attack under its name: how surely does an adversary who knows the algorithm infer which value was withheld?"""
    if release.manifest.stage("suppression") is None:
        raise RequestError(
            "The eligibility attack is on what suppression withheld; this release has no such stage.",
            attempt="another attack.",
        )
    answers = attack_release(release, prior, column)
    del answers["attack"]
    promised = answers.pop("promised")
    return EligibilityOutcome(
        targets=release.manifest.withheld_later, promised=1.0 if promised is None else promised, **answers
    )


@dataclass(frozen=True, slots=True)
class SuppressionRisk:
    """Risk of a suppression on given counts.

    Mean withheld; the worst posterior of which value led, with its ends and how it was computed; its mean over releases
    where all were attacked; and the worst posterior of the value that a withheld person has, with its ends and how it
    was computed.
    """

    suppressed: float
    worst_posterior: float
    low: float
    high: float
    how: PosteriorMethod
    releases: int
    attacked: int
    mean_posterior: float | None
    worst_withheld_posterior: float
    withheld_low: float
    withheld_high: float
    withheld_how: PosteriorMethod


def compute_suppression_risk(
    counts: Sequence[int],
    l: int,
    kind: str,
    prior: str = "uniform",
    *,
    max_releases: int | None = None,
    samples: int = DEFAULT_SAMPLES,
    rng: np.random.Generator | None = None,
) -> SuppressionRisk:
    """Attack every table that the suppression may publish of these counts, or evenly spaced ones."""
    falling = np.array(sorted((int(count) for count in counts if count), reverse=True))
    rows = int(falling.sum())
    if is_eligible(falling, l):
        return SuppressionRisk(0.0, 0.0, 0.0, 0.0, "exact", 1, 1, 0.0, 0.0, 0.0, 0.0, "exact")
    max_releases = max_releases or choose_max_releases(rows, kind, prior)
    number, chances = list_releases(falling, l, kind, max_releases)
    listed = max(MAX_LISTED_TABLES // len(chances), 50)
    miss = MISS_PROBABILITY / len(chances)
    attacked = {
        table: compute_both_posteriors(table, rows, l, kind, prior, listed=listed, samples=samples, miss=miss, rng=rng)
        for table in chances
    }
    leading, withheld = (
        _find_worst_posterior([answer[question] for answer in attacked.values()]) for question in (0, 1)
    )
    is_complete = all(leading_posterior.exact for leading_posterior, _ in attacked.values()) and number <= max_releases
    mean = (
        float(sum(chances[table] * leading_posterior.worst for table, (leading_posterior, _) in attacked.items()))
        if is_complete
        else None
    )
    suppressed = SUPPRESSION_KINDS[kind].compute_expected_withheld(falling, l)
    return SuppressionRisk(
        suppressed, *_to_numbers(leading), max(number, len(chances)), len(chances), mean, *_to_numbers(withheld)
    )


def choose_max_releases(rows: int, kind: str, prior: str) -> int:
    """Choose how many releases to attack: a thousand, of large tables a hundred, and few where tables must be listed or drawn."""
    if rows > SMALL_TABLE_ROWS and kind == "randomized" and prior != "uniform":
        return 4
    return 1_000 if rows <= MANY_ROWS else 100


def list_releases(
    counts: np.ndarray, l: int, kind: str, max_releases: int
) -> tuple[int, dict[PublishedTable, Fraction]]:
    """Count the tables that may be published of falling counts; list some or all of them, as falling counts, with probabilities."""
    listers = {"randomized": _list_randomized_releases, "calibrated": _list_calibrated_releases}
    if kind not in listers:
        [(chance, table)] = SUPPRESSION_KINDS[kind].outcomes(counts, l)
        return 1, {_sort_falling(table): chance}
    number, listed = listers[kind](counts, l, max_releases)
    chances: dict[PublishedTable, Fraction] = defaultdict(Fraction)
    for chance, table in listed:
        if chance:
            chances[_sort_falling(table)] += chance
    return len(chances) if number <= max_releases else number, dict(chances)


def _bound_highest_shares(
    table: PublishedCounts, leading: CountPosterior, has_second_level: bool
) -> Mapping[int, Fraction]:
    """Bound the share of a value of each published count from above, by how likely it led.

    A value below the highest level was withheld only where it led.  At the level, where another led: the n values there
    that did not are alike, and none lost more than the one that led, so their mean is at most 1 / (n + 1); and they
    share what that one did not lose.  A value one below the level, if values were cut there, lost at most one record
    more than the one that led: half of all.
    """
    leading_share = {count: Fraction(share) for count, share in _bound_leading(table, leading).items()}
    level, at_level, least_lost = table.level, table.alike[table.level], _bound_least_lost(table, leading_share)
    others = at_level - 1 if at_level > 1 and level in leading_share else at_level
    share_if_not_leading = {level: min(Fraction(1, others + 1), (1 - least_lost) / others)}
    if has_second_level:
        share_if_not_leading[level - 1] = Fraction(table.withheld + 1, 2 * table.withheld)
    zero = Fraction(0)
    shares = {
        count: leading_share.get(count, zero)
        + (1 - leading_share.get(count, zero)) * share_if_not_leading.get(count, zero)
        for count in {*leading_share, *share_if_not_leading}
    }
    return {count: min(share, Fraction(1, table.alike[count])) for count, share in shares.items()}


def _bound_lowest_share(table: PublishedCounts, leading: CountPosterior, counts: Collection[int]) -> Fraction:
    """Bound the greatest share from below: some value led that surely; and the shares of all that may have lost are 1 together."""
    by_lead = Fraction(leading.low) * _bound_least_lost(table, _bound_leading(table, leading))
    return max(by_lead, Fraction(1, sum(table.alike[count] for count in counts)))


def _describe_leading(posterior: CountPosterior) -> dict[str, Any]:
    low, high = posterior.ends
    return {"worst_posterior": float(posterior.worst), "low": low, "high": high, "how": posterior.how}


def _describe_withheld(posterior: CountPosterior) -> dict[str, Any]:
    low, high = posterior.ends
    worst = high if posterior.how != "exact" else float(posterior.worst)
    return {
        "worst_withheld_posterior": worst,
        "withheld_low": low,
        "withheld_high": high,
        "withheld_how": posterior.how,
    }


def _find_worst_posterior(posteriors: list[CountPosterior]) -> CountPosterior:
    """Find the worst of several releases."""
    low = max(posterior.low for posterior in posteriors)
    high = max(posterior.high for posterior in posteriors)
    method: PosteriorMethod = "exact" if low == high else "bounds"
    if any(posterior.how == "sampled" for posterior in posteriors):
        method = "sampled"
    return CountPosterior(max(posteriors, key=lambda posterior: posterior.worst).by_count, low, high, method)


def _to_numbers(worst: CountPosterior) -> tuple[float, float, float, PosteriorMethod]:
    low, high = worst.ends if worst.how == "bounds" else (float(worst.low), float(worst.high))
    return float(worst.worst), low, high, worst.how


def _list_randomized_releases(
    counts: np.ndarray, l: int, max_releases: int
) -> tuple[int, Iterator[tuple[Fraction, np.ndarray]]]:
    intervals = RandomizedSuppression().intervals(counts, l)
    first = int(counts[0])
    lowest = intervals[-1][0]
    above = min(int(find_stops(counts, l, counts[:1]).level[0]) + 1, first)  # from here on all starts stop alike
    near_starts = [
        int(count) + by for count in counts[1 : l + 1] for by in (-1, 0, 1) if max_releases >= 100
    ]  # ties with another value tell the most
    near_starts = [near_start for near_start in near_starts if lowest <= near_start <= above]
    starts = np.union1d(_space_evenly(above - lowest + 1, max_releases) + lowest, np.array(near_starts, np.int64))
    stops = find_stops(counts, l, starts)

    def list_releases() -> Iterator[tuple[Fraction, np.ndarray]]:
        for index, start in enumerate(starts.tolist()):
            last = first if start == above else start
            chances = (
                Fraction(max(min(high, last) - max(low, start) + 1, 0), l * (high - low + 1)) for low, high in intervals
            )
            chance = sum(chances, Fraction(0))
            yield chance, cut_counts(counts, start, int(stops.level[index]), int(stops.extra[index]))

    return above - lowest + 1, list_releases()


def _list_calibrated_releases(
    counts: np.ndarray, l: int, max_releases: int
) -> tuple[int, Iterator[tuple[Fraction, np.ndarray]]]:
    table = ViolatingTable(tuple(counts.tolist()), l)

    def list_releases() -> Iterator[tuple[Fraction, np.ndarray]]:
        remaining = Fraction(1)
        for number in _space_evenly(table.width, max_releases - 1).tolist():
            start = table.level(number)
            published = compute_cut_probability(table, start)
            remaining -= published
            yield published, np.array(table.cut(start)[0])
        yield remaining, SafeSuppression().publish_counts(counts, l)

    return table.width + 1, list_releases()


def _sort_falling(table: np.ndarray) -> PublishedTable:
    return tuple(sorted(table.tolist(), reverse=True))


def _bound_leading(table: PublishedCounts, leading: CountPosterior) -> Mapping[int, Fraction | float]:
    """Bound a value's posterior of having led from above, for each published count."""
    return dict.fromkeys(table.alike, leading.high) if leading.how == "sampled" else leading.by_count


def _bound_least_lost(table: PublishedCounts, counts: Iterable[int]) -> Fraction:
    """Bound from below the share of the withheld that is of the value that led, if it has one of these published counts."""
    return Fraction(table.rows // table.l + 1 - max(counts), table.withheld)


def _space_evenly(number: int, max_numbers: int) -> np.ndarray:
    """Return 0 .. number - 1, or so many of them, evenly spaced."""
    return (
        np.arange(number)
        if number <= max_numbers
        else np.unique(np.linspace(0, number - 1, max_numbers).round().astype(np.int64))
    )
