"""The density within labels is the oracle's: steps are expectations, no step lowers the likelihood, and rows are all shared out."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from reticent.errors import RequestError
from reticent.estimate import density
from reticent.estimate.density import LabelGroups, LineDensity, fit_range_shares, fit_value_weights
from tests.oracle import density as oracle

SMALL = [(0, 3, 3, 2), (2, 2, 2, 1), (2, 4, 4, 1), (1, 5, 2, 3), (4, 5, 3, 1), (5, 5, 1, 2)]


def make_groups(labels):
    columns = [np.array(column, np.int64) for column in zip(*labels, strict=True)]
    return columns[0], columns[1], LabelGroups(np.arange(len(labels)), columns[2], columns[3])


def fit(labels, known_ends):
    first, last, groups = make_groups(labels)
    return fit_range_shares(first, last, np.ones(len(labels), bool), groups, has_known_ends=known_ends)


def draw_labels(rng, number=6):
    labels = []
    for _ in range(number):
        first = int(rng.integers(0, 6))
        labels.append((first, first + int(rng.integers(0, 4)), int(rng.integers(1, 5)), int(rng.integers(1, 4))))
    return labels


def spread_over_places(fitted, mass, places):
    """The mass of each place where that of each cell is spread evenly over it."""
    line = LineDensity(fitted.breaks, mass)
    place = np.array(places)
    return line.measure(place, place)[0]


@pytest.mark.parametrize("known_ends", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_a_step_is_the_expectation_over_all_ways_in_which_groups_may_lie(seed, known_ends):
    labels = draw_labels(np.random.default_rng(seed))
    first, last, groups = make_groups(labels)
    fitted = density._RangeFit.from_groups(first, last, groups, known_ends)
    prior = oracle.spread_evenly(labels, known_ends)
    places = sorted(prior)
    assert spread_over_places(fitted, fitted.prior, places) == pytest.approx([float(prior[place]) for place in places])
    mass, exact = fitted.prior, prior
    for _ in range(2):
        mass = fitted.improve(mass)
        exact = oracle.step(labels, exact, prior, known_ends)
        assert spread_over_places(fitted, mass, places) == pytest.approx([float(exact[place]) for place in places])


@pytest.mark.parametrize("known_ends", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_no_step_lowers_the_likelihood_and_the_last_one_moves_nothing(seed, known_ends):
    labels = draw_labels(np.random.default_rng(100 + seed))
    first, last, groups = make_groups(labels)
    fitted = density._RangeFit.from_groups(first, last, groups, known_ends)
    prior = oracle.spread_evenly(labels, known_ends)
    places = sorted(prior)
    mass = fitted.prior
    scores = []
    for _ in range(12):
        at_places = dict(zip(places, map(Fraction, spread_over_places(fitted, mass, places)), strict=True))
        scores.append(oracle.score(labels, at_places, prior, known_ends))
        mass = fitted.improve(mass)
    assert all(after >= before - 1e-9 for before, after in pairwise(scores))
    settled = fitted.maximise()
    assert settled.sum() == pytest.approx(1)
    assert np.abs(fitted.improve(settled) - settled).sum() <= density.STEP_TOLERANCE


@pytest.mark.parametrize("known_ends", [True, False])
def test_the_rows_of_each_label_are_shared_out_as_the_oracle_has_it(known_ends):
    shares = fit(SMALL, known_ends)
    prior = oracle.spread_evenly(SMALL, known_ends)
    mass = prior
    for _ in range(60):
        mass = {place: Fraction(float(part)) for place, part in oracle.step(SMALL, mass, prior, known_ends).items()}
    for number, label in enumerate(SMALL):
        expected = oracle.share_out(label, mass, known_ends)[0]
        places = np.arange(label[0], label[1] + 1)
        of_label = np.full(len(places), number)
        share, mean = shares.measure(of_label, places, places)
        assert share == pytest.approx([float(expected[place]) for place in places], abs=1e-5)
        assert share.sum() == pytest.approx(1) and mean == pytest.approx(places)
        whole, centre = shares.measure(of_label[:1], places[:1], places[-1:])
        assert whole == pytest.approx(1)
        assert centre == pytest.approx(float(sum(place * part for place, part in expected.items())), abs=1e-4)


def test_labels_of_several_group_sizes_are_shared_out_by_the_mean_over_their_groups():
    labels = [(0, 4, 2, 3), (0, 4, 4, 1), (1, 2, 3, 2)]
    first, last = np.array([0, 1]), np.array([4, 2])
    groups = LabelGroups(np.array([0, 0, 1]), np.array([2, 4, 3]), np.array([3, 1, 2]))
    shares = fit_range_shares(first, last, np.ones(2, bool), groups, has_known_ends=True)
    prior = mass = oracle.spread_evenly(labels, True)
    for _ in range(60):
        mass = {place: Fraction(float(part)) for place, part in oracle.step(labels, mass, prior, True).items()}
    pairs, fours = (oracle.share_out(label, mass, True)[0] for label in labels[:2])
    expected = [float((6 * pairs[place] + 4 * fours[place]) / 10) for place in range(5)]
    assert shares.measure(np.zeros(5, int), np.arange(5), np.arange(5))[0] == pytest.approx(expected, abs=1e-5)


def test_labels_that_do_not_overlap_tell_nothing_of_each_other_and_stay_even():
    shares = fit([(0, 9, 40, 1), (10, 19, 3, 1), (30, 49, 7, 2)], known_ends=False)
    for label, first, width in ((0, 0, 10), (1, 10, 10), (2, 30, 20)):
        places = np.arange(first, first + width)
        assert shares.measure(np.full(width, label), places, places)[0] == pytest.approx(np.full(width, 1 / width))


def test_a_code_far_from_all_others_does_not_draw_people_into_the_gap():
    labels = [(20, 999, 5, 4), (20, 30, 10, 6), (25, 40, 10, 6), (30, 45, 8, 5), (999, 999, 6, 1)]
    shares = fit(labels, known_ends=True)
    share, _ = shares.measure(np.zeros(3, int), np.array([20, 46, 999]), np.array([45, 998, 999]))
    assert share[0] > 0.5 and share[1] < 0.25 and share[2] > 0.15
    assert share.sum() == pytest.approx(1)


def test_labels_that_cover_any_place_are_shared_out_by_the_density_and_do_not_shape_it():
    labels = [(0, 3, 5, 2), (2, 6, 4, 3)]
    first, last, groups = make_groups([*labels, (0, 6, 50, 9)])
    with_any = fit_range_shares(first, last, np.array([True, True, False]), groups, has_known_ends=True)
    alone = fit(labels, known_ends=True)
    assert with_any.density.mass.tolist() == alone.density.mass.tolist()
    places = np.arange(7)
    share, _ = with_any.measure(np.full(7, 2), places, places)
    assert share == pytest.approx(alone.density.measure(places, places)[0])


def test_places_that_doubles_do_not_count_and_labels_without_a_range_are_left_even():
    far = [(0, (1 << 62), 5, 1), (3, 9, 5, 1)]
    assert fit(far, known_ends=True) is None
    first, last, groups = make_groups([(0, 3, 5, 2)])
    assert fit_range_shares(first, last, np.zeros(1, bool), groups, has_known_ends=True) is None
    decimals = np.array([0.0, 3.0]), np.array([1e11, 9.0])
    some = LabelGroups(np.arange(2), np.array([5, 5]), np.array([1, 1]))
    assert fit_range_shares(*decimals, np.ones(2, bool), some, has_known_ends=True) is None


def test_microseconds_and_large_groups_keep_their_shares():
    day = 86_400_000_000
    start = 1_700_000_000_000_000
    labels = [(start, start + 30 * day, 10**6, 50), (start + 5 * day, start + 6 * day, 10**9, 3)]
    shares = fit(labels, known_ends=True)
    for number, (first, last, _, _) in enumerate(labels):
        middle = (first + last) // 2
        below, mean = shares.measure(np.array([number]), np.array([first]), np.array([middle]))
        above, _ = shares.measure(np.array([number]), np.array([middle + 1]), np.array([last]))
        assert below + above == pytest.approx(1, abs=1e-9)
        assert first <= mean[0] <= middle


@pytest.mark.parametrize("seed", range(6))
def test_values_of_sets_are_weighed_half_by_turnbulls_estimate_and_half_evenly(seed):
    rng = np.random.default_rng(seed)
    values = list("abcdef")
    labels = [
        (sorted(rng.choice(values, int(rng.integers(1, 5)), replace=False).tolist()), int(rng.integers(1, 20)))
        for _ in range(7)
    ]
    known = sorted({value for members, _ in labels for value in members})
    label = np.repeat(np.arange(len(labels)), [len(members) for members, _ in labels])
    value = np.array([known.index(member) for members, _ in labels for member in members])
    rows = np.array([float(number) for _, number in labels])
    weights = fit_value_weights(label, value, np.ones(len(label)), rows, len(known))
    expected = oracle.weigh_values(labels, 2_000)
    listed = [
        share[member] * len(members) for (members, _), share in zip(labels, expected, strict=True) for member in members
    ]
    assert weights == pytest.approx(listed, abs=2e-3)
    sizes = np.bincount(label)
    assert np.bincount(label, weights=weights) == pytest.approx(sizes)


def test_a_density_that_is_not_known_is_refused_by_its_name():
    with pytest.raises(RequestError, match="'guess' is not known"):
        density.require_known_density("guess")
