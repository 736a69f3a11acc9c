"""Perturbation matrices on thousands of random distributions: each one's exact posterior stays within the caps."""

from fractions import Fraction

import numpy as np
import pytest

from reticent.audit.measure import likeness as audited
from reticent.errors import PromiseUnreachable
from reticent.methods.beta_perturbation import MATRIX_SCALE, BetaPerturbation
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.promise import Promises
from tests.oracle import posterior as oracle

FORMS = [{}, {"enhanced": False}, {"two_sided": True}, {"enhanced": False, "two_sided": True}]


def random_counts(number: int) -> list[int]:
    rng = np.random.default_rng(number)
    most = 10 ** int(rng.integers(1, 5))
    return [int(count) for count in rng.integers(1, most, rng.integers(2, 7))]


def exact(matrix: list[list[int]]) -> list[list[Fraction]]:
    return [[Fraction(entry, MATRIX_SCALE) for entry in row] for row in matrix]


@pytest.mark.parametrize("form", FORMS, ids=["enhanced", "basic", "two-sided", "basic two-sided"])
@pytest.mark.parametrize("matrix", ["rank-one", "theorem3"])
def test_a_verified_matrix_keeps_every_posterior_within_its_cap(matrix: str, form: dict):
    made = 0
    for number in range(300):
        counts = random_counts(number)
        prior = [Fraction(count, sum(counts)) for count in counts]
        promise = BetaLikeness(Fraction(1 + number % 40, 10), **form)
        try:
            found = exact(BetaPerturbation(matrix=matrix).matrix_for(counts, Promises.from_iterable([promise])))
        except PromiseUnreachable:
            assert matrix == "theorem3"
            continue
        made += 1
        assert audited.is_stochastic(found)
        assert oracle.beta_holds(found, prior, promise.beta, enhanced=promise.enhanced, two_sided=promise.two_sided)
        achieved = audited.measure_perturbation_beta(
            found, prior, enhanced=promise.enhanced, two_sided=promise.two_sided
        )
        assert achieved is not None and achieved <= promise.beta
    assert made == 300 or (matrix == "theorem3" and made > 10)


def test_the_optimal_matrix_keeps_every_posterior_within_its_cap_and_retains_most():
    pytest.importorskip("scipy")
    for number in range(40):
        counts = random_counts(number)
        prior = [Fraction(count, sum(counts)) for count in counts]
        promises = Promises.from_iterable([BetaLikeness(Fraction(1 + number % 40, 10), two_sided=number % 3 == 0)])
        best, plain = (
            exact(BetaPerturbation(matrix=name).matrix_for(counts, promises)) for name in ("optimal", "rank-one")
        )
        promise = promises.all[0]
        assert oracle.beta_holds(best, prior, promise.beta, two_sided=promise.two_sided)

        def retention(found, prior=prior):
            return sum(p * row[i] for i, (p, row) in enumerate(zip(prior, found, strict=True)))

        assert retention(best) >= retention(plain) - Fraction(1, 10**5)


def test_conditioning_bounds_the_inverse_of_the_optimal_matrix():
    pytest.importorskip("scipy")
    for number in range(20):
        counts = random_counts(number)
        promises = Promises.from_iterable([BetaLikeness(2)])
        plain = BetaPerturbation().matrix_for(counts, promises)
        own = (plain[0][0] - plain[-1][0]) / MATRIX_SCALE
        for share in ("0.1", "0.5", "1"):
            found = (
                np.array(BetaPerturbation(matrix="optimal", conditioning=share).matrix_for(counts, promises))
                / MATRIX_SCALE
            )
            norm = np.abs(np.linalg.inv(found)).sum(axis=1).max()
            assert norm <= 2 / (float(share) * own) * 1.01


def test_the_audit_and_the_oracle_agree_on_any_matrix():
    rng = np.random.default_rng(5)
    for _ in range(200):
        m = int(rng.integers(2, 5))
        whole = rng.integers(0, 6, (m, m)) + np.eye(m, dtype=int)
        matrix = [[Fraction(int(x), int(row.sum())) for x in row] for row in whole]
        counts = rng.integers(1, 20, m)
        prior = [Fraction(int(c), int(counts.sum())) for c in counts]
        for enhanced in (True, False):
            for two_sided in (True, False):
                least = audited.measure_perturbation_beta(matrix, prior, enhanced=enhanced, two_sided=two_sided)
                for beta in (Fraction(1, 2), Fraction(1), Fraction(3), *([] if least is None else [least])):
                    holds = oracle.beta_holds(matrix, prior, beta, enhanced=enhanced, two_sided=two_sided)
                    assert holds == (least is not None and least <= beta)
