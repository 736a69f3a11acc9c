"""Cao & Karras, VLDB 2012: worked examples and figures of the text, with the corrections of the errata."""

import math
from fractions import Fraction

import numpy as np
import pytest

from reticent.errors import PromiseUnreachable
from reticent.methods.beta_perturbation import MATRIX_SCALE, BetaPerturbation
from reticent.methods.burel import bucket_values, partition_values
from reticent.methods.equivalence_classes import split_into_classes
from reticent.models.beta_likeness import BetaLikeness
from reticent.models.promise import Promises
from tests.oracle import closeness
from tests.oracle.posterior import posterior

HEADACHE, EPILEPSY, TUMORS, ANEMIA, ANGINA, MURMUR = range(6)


def partition(totals: list[int], beta: object, **form: bool) -> list[list[int]]:
    counts = np.array(totals)
    return partition_values(
        np.argsort(counts, kind="stable").tolist(), counts, BetaLikeness(beta, **form).caps(counts, -1)
    )


def leaves(totals: list[int], beta: object) -> list[list[int]]:
    counts = np.array(totals)
    buckets = bucket_values(counts, BetaLikeness(beta).caps(counts, -1))
    return split_into_classes(buckets.sizes, buckets.allow).tolist()


def test_example_1_has_three_buckets_of_two_values_for_beta_1():
    assert partition([1] * 6, 1) == [[HEADACHE, EPILEPSY], [TUMORS, ANEMIA], [ANGINA, MURMUR]]


def test_example_1_has_six_buckets_while_beta_is_below_1():
    assert partition([1] * 6, "0.99") == [[v] for v in range(6)]


def test_example_1_has_two_classes_of_one_row_from_each_bucket():
    assert leaves([1] * 6, 1) == [[1, 1, 1], [1, 1, 1]]


def test_example_2_finds_the_buckets_of_the_paper():
    assert partition([2, 3, 3, 3, 4, 4], 2) == [[HEADACHE, EPILEPSY], [TUMORS, ANEMIA], [ANGINA, MURMUR]]


def test_example_2_finds_the_leaves_of_figure_3():
    counts = np.array([2, 3, 3, 3, 4, 4])
    buckets = bucket_values(counts, BetaLikeness(2).caps(counts, -1))
    assert buckets.sizes.tolist() == [5, 6, 8]
    assert split_into_classes(buckets.sizes, buckets.allow).tolist() == [[1, 1, 2], [1, 2, 2], [3, 3, 4]]


def test_example_2_refuses_the_split_that_the_paper_refuses():
    counts = np.array([2, 3, 3, 3, 4, 4])
    buckets = bucket_values(counts, BetaLikeness(2).caps(counts, -1))
    assert buckets.allow(np.array([[1, 1, 2], [2, 2, 2], [2, 3, 4], [3, 3, 4]])).tolist() == [True, False, True, True]


@pytest.mark.parametrize(("count", "printed"), [(2, 0.31), (3, 0.45), (4, 0.54)])
def test_example_2_caps_are_those_of_the_paper(count: int, printed: float):
    # 2/19 * 3 = .3158: the paper cuts to .31 where it rounds the others.
    cap = float(BetaLikeness(2).cap(Fraction(count, 19), 10**6))
    assert printed in (round(cap, 2), math.floor(cap * 100) / 100)


def test_two_frequencies_meet_at_e_to_the_minus_beta():
    model = BetaLikeness(4)
    rare = Fraction(183, 10_000)
    frequent = Fraction(184, 10_000)  # e^-4 = .018316
    assert model.cap(rare, 10**9) == rare * 5
    assert frequent * 4 < model.cap(frequent, 10**9) < frequent * 5


def test_no_class_of_the_census_exceeds_a_fifth_at_beta_4():
    # section 6: the most frequent salary class has 4.8402 %
    assert float(BetaLikeness(4).cap(Fraction(48402, 10**6), 10**9)) == pytest.approx(
        0.048402 * (1 - math.log(0.048402))
    )
    assert BetaLikeness(4).cap(Fraction(5, 100), 10**9) < Fraction(1, 5)


def test_beta_1_lets_the_most_frequent_salary_class_reach_9_point_7_percent():
    assert round(float(BetaLikeness(1).cap(Fraction(48402, 10**6), 10**9)), 3) == 0.097


def kl(p: list[float], q: list[float]) -> float:
    return sum(a * math.log2(a / b) for a, b in zip(p, q, strict=True))


def js(p: list[float], q: list[float]) -> float:
    middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
    return (kl(p, middle) + kl(q, middle)) / 2


@pytest.mark.parametrize(
    ("overall", "inside", "kl_printed", "js_printed"),
    [([0.4, 0.6], [0.5, 0.5], 0.0290, 0.0073), ([0.01, 0.99], [0.03, 0.97], 0.0133, 0.0038)],
)
def test_the_divergences_of_section_2_are_in_base_2(overall, inside, kl_printed, js_printed):
    assert round(kl(overall, inside), 4) == kl_printed
    assert round(js(overall, inside), 4) == js_printed


@pytest.mark.parametrize(("overall", "inside"), [((40, 60), (50, 50)), ((1, 99), (11, 89))])
def test_the_earth_movers_distance_of_section_2_is_a_tenth_both_times(overall, inside):
    def histogram(counts):
        return dict(zip(("HIV", "Flu"), counts, strict=True))

    assert closeness.equal(histogram(inside), histogram(overall)) == Fraction(1, 10)


def test_the_gains_of_section_2_are_25_and_1000_percent():
    assert Fraction(50, 40) - 1 == Fraction(25, 100)
    assert Fraction(11, 1) - 1 == 10


def test_a_table_of_equal_threes_does_not_split_into_nothing_and_itself():
    assert split_into_classes(np.array([1, 1, 1]), lambda nodes: np.ones(len(nodes), bool)).tolist() == [[1, 1, 1]]


def test_the_left_half_is_rounded_down():
    assert split_into_classes(np.array([5, 7]), lambda nodes: nodes.sum(axis=1) >= 5).tolist() == [[2, 3], [3, 4]]


def test_contiguous_buckets_are_as_few_as_any_set_partition():
    rng = np.random.default_rng(7)
    for _ in range(60):
        counts = rng.integers(1, 9, rng.integers(2, 7))
        beta = Fraction(int(rng.integers(1, 40)), 10)
        caps = BetaLikeness(beta).caps(counts, -1)
        found = partition_values(np.argsort(counts, kind="stable").tolist(), counts, caps)
        assert len(found) == fewest(list(range(len(counts))), counts, beta)


def fewest(values: list[int], counts: np.ndarray, beta: Fraction) -> int:
    """By trying every set partition, with the inequality of lemma 2."""
    n = int(counts.sum())

    def fine(block: list[int]) -> bool:
        least = Fraction(int(min(counts[v] for v in block)), n)
        gain = min(float(beta), -math.log(least)) if least < 1 else 0.0
        together = Fraction(int(sum(counts[v] for v in block)), n)
        if gain == float(beta):
            return together <= least * (1 + beta)
        return float(together) <= float(least) * (1 + gain)

    def search(rest: list[int], blocks: list[list[int]]) -> int:
        if not rest:
            return len(blocks) if all(map(fine, blocks)) else len(values) + 1
        best = len(values) + 1
        for at in range(len(blocks) + 1):
            grown = [list(block) for block in blocks] + ([[]] if at == len(blocks) else [])
            grown[at].append(rest[0])
            best = min(best, search(rest[1:], grown))
        return best

    return search(values, [])


def test_theorem_3_is_refused_where_a_negative_alpha_breaks_the_cap():
    """Errata 1.6: P = (.8, .1, .1), beta = 1 exceeds the cap by .152."""
    with pytest.raises(PromiseUnreachable, match=r"alphas 2 are negative.*0\.152"):
        BetaPerturbation(matrix="theorem3").matrix_for([8, 1, 1], Promises.from_iterable([BetaLikeness(1)]))


def test_theorem_3_is_as_printed_where_every_alpha_is_positive():
    counts = [3, 3, 4]
    matrix = BetaPerturbation(matrix="theorem3").matrix_for(counts, Promises.from_iterable([BetaLikeness("0.5")]))
    f = [0.45, 0.45, 0.6]
    gamma = [q / p * (1 - p) / (1 - q) for p, q in zip((0.3, 0.3, 0.4), f, strict=True)]
    constant = 1 / (max(gamma) + 2)
    for i, row in enumerate(matrix):
        alpha = (3 * gamma[i] * constant - 1) / 2
        assert row[i] / MATRIX_SCALE == pytest.approx(alpha + (1 - alpha) / 3, abs=1e-6)
        assert row[i - 1] / MATRIX_SCALE == pytest.approx((1 - alpha) / 3, abs=1e-6)


def test_the_rank_one_matrix_reaches_every_cap():
    counts = [8, 1, 1]
    beta = Fraction(1)
    matrix = BetaPerturbation().matrix_for(counts, Promises.from_iterable([BetaLikeness(beta)]))
    prior = [Fraction(c, 10) for c in counts]
    exact = [[Fraction(entry, MATRIX_SCALE) for entry in row] for row in matrix]
    for i, p in enumerate(prior):
        reached = posterior(exact, prior, i, i)
        cap = float(p) * (1 + min(1.0, -math.log(p)))
        assert cap - 1e-6 < float(reached) <= cap
