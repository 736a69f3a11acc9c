"""The eligibility attack by sampling: its interval holds as often as it says, also where few draws hit."""

import numpy as np
import pytest

from reticent.attacks.eligibility import posterior_bounds, suppressed_tables
from reticent.attacks.eligibility.attack import compute_posterior
from reticent.attacks.eligibility.posterior_bounds import (
    compute_bernstein_interval,
    make_sampled_posterior,
    normalize_weights,
)
from reticent.attacks.eligibility.suppressed_tables import PRIORS, CountPrior, PublishedCounts
from reticent.methods.suppression.stage import SUPPRESSION_KINDS
from tests.support.eligibility_tables import drawn


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("kind", ["randomized", "calibrated"])
def test_the_interval_covers_the_exact_worst_posterior_in_at_least_95_of_100(kind, prior):
    rng = np.random.default_rng(17)
    covered = 0
    tried = 0
    for number in range(400):
        table, rows, parameter = drawn(number, kind, most=20)
        published = PublishedCounts(table, rows, parameter)
        exact = suppressed_tables.compute_listed_weights(published, SUPPRESSION_KINDS[kind], CountPrior(prior), 500)
        if exact is None or len(exact) < 2:  # where one count alone can have led there is nothing to estimate
            continue
        if tried >= 60:
            break
        truth = normalize_weights(published, exact)
        for samples in (20, 300):
            weights = posterior_bounds.estimate_weights(
                published, SUPPRESSION_KINDS[kind], CountPrior(prior), samples, rng, max_listed=0
            )  # every stratum is drawn
            found = make_sampled_posterior(published, weights)
            covered += found.low <= truth.worst <= found.high
            tried += 1
    assert tried >= 50
    assert covered == tried, f"{covered} of {tried}: the bound is conservative, so with this seed all are covered"


@pytest.mark.parametrize("share", [0.001, 0.02, 0.5, 0.98])
@pytest.mark.parametrize("number", [5, 50, 1000])
def test_the_mean_of_rare_hits_is_covered_at_least_95_times_in_100(share, number):
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(400):
        low, _, high = compute_bernstein_interval((rng.random(number) < share).astype(float), 0.05)
        covered += low <= share <= high
    assert covered >= 380


def test_without_a_hit_the_interval_is_wide_not_narrow():
    low, mean, high = compute_bernstein_interval(np.zeros(100), 0.05)
    assert (low, mean) == (0.0, 0.0)
    assert high > 0.1


def test_one_drawn_level_stands_for_all_on_average():
    counts = np.array([30, 12, 11, 4, 2, 2])
    rng = np.random.default_rng(5)
    kind = SUPPRESSION_KINDS["calibrated"]
    for _, published in kind.outcomes(counts, 4):
        exact = kind.likelihood(counts, 4, published)
        estimates = [float(kind.estimate(counts, 4, published, rng)) for _ in range(400)]
        assert all(0 <= one <= 1 for one in estimates)
        assert np.mean(estimates) == pytest.approx(float(exact), abs=5 * np.std(estimates) / 20 + 1e-12)


def test_where_no_other_way_is_left_the_attack_says_that_itfrom_draws():
    counts = np.array([1000 // i for i in range(1, 21)])
    table = SUPPRESSION_KINDS["randomized"].draw(counts, 8, np.random.default_rng(2))
    found = compute_posterior(
        table, int(counts.sum()), 8, "randomized", "shapes", listed=10, samples=400, rng=np.random.default_rng(2)
    )
    assert found.how == "sampled"
    assert 0 <= found.low <= float(found.worst) <= found.high <= 1
