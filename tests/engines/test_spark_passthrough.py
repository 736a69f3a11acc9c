"""Quotas split over partitions, and outcomes drawn inside one: every way of handing them out is equally likely.  No Spark."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import polars as pl
import pytest
from scipy import stats

from reticent.engines.spark import passthrough, tasks
from reticent.engines.spark.passthrough import draw_hypergeometric, split_quotas
from reticent.randomness import Random

LIKELY = 1e-6  # of a test that fails though all is well


def test_shares_keep_every_quota_and_every_partitions_rows():
    draw = Random.from_seed(1).stream("test")
    cell = np.array([0, 0, 0, 3, 3, 7])
    quota = np.array([5, 1, 9, 4, 4, 6])
    held = [(np.array([0, 7]), np.array([2, 1])), (np.array([0, 3]), np.array([13, 8])), (np.array([7]), np.array([5]))]
    found = split_quotas(cell, np.arange(6), quota, held, draw)
    assert np.array_equal(sum(np.bincount(one.entry, one.quota, 6) for one in found), quota)
    for (cells, rows), share in zip(held, found, strict=True):
        assert np.array_equal(np.bincount(share.cell, share.quota, 8)[cells], rows)


@pytest.mark.parametrize("most", [passthrough.MAX_HYPERGEOMETRIC_POPULATION, 1])
def test_draws_of_any_population_are_hypergeometric(most):
    draw = Random.from_seed(2).stream("test")
    times = 4_000
    found = draw_hypergeometric(np.full(times, 5), np.full(times, 7), np.full(times, 4), draw, max_population=most)
    seen = np.bincount(found, minlength=5)
    expected = times * np.array([comb(5, k) * comb(7, 4 - k) / comb(12, 4) for k in range(5)])
    assert stats.chisquare(seen, expected).pvalue > LIKELY


def test_populations_that_numpy_refuses_are_drawn():
    draw = Random.from_seed(3).stream("test")
    good = 3 * 10**9
    bad = 5 * 10**9
    sample = 10**9
    with pytest.raises(ValueError):
        draw.hypergeometric(good, bad, sample)
    found = np.array(
        [draw_hypergeometric(np.array([good]), np.array([bad]), np.array([sample]), draw)[0] for _ in range(20)]
    )
    mean = sample * good / (good + bad)
    total = good + bad
    deviation = np.sqrt(mean * (bad / total) * (total - sample) / (total - 1))
    assert (np.abs(found - mean) < 6 * deviation).all() and len(set(found)) == 20


def outcomes_of(seed: int, parts: list[np.ndarray], quota: np.ndarray, folder) -> list[int]:
    """The entry of each row of one cell, as the executors hand them out: rows lie in these partitions."""
    rng = Random.from_seed(seed)
    shared = np.array([True])
    held = [(np.array([0]), np.array([len(part)])) for part in parts]
    found = split_quotas(np.zeros(len(quota), np.int64), np.arange(len(quota)), quota, held, rng.stream("split"))
    entries = {}
    for number, (rows, share) in enumerate(zip(parts, found, strict=True)):
        np.savez(folder / f"share-{number}.npz", cell=share.cell, entry=share.entry, quota=share.quota)
        known = tasks.RecipeOutcomes(np.zeros(1, np.int64), np.ones(len(quota), bool), folder, rng, None, len(rows), 1)
        cell = np.zeros(len(rows), np.int64)
        nth = tasks._number_in_cell(cell, shared, np.zeros(1, np.int64))
        part = np.full(len(rows), number, np.int32)
        got = known.find_entries(pl.DataFrame({tasks.PART: part, tasks.CELL: cell, tasks.ORDINAL: nth}))
        entries |= dict(zip(rows.tolist(), got.tolist(), strict=True))
    return [entries[row] for row in sorted(entries)]


def test_identical_rows_are_chosen_uniformly_whatever_they_carry_and_wherever_they_lie(tmp_path):
    """Of six equal rows in partitions of 1, 2 and 3, two are published: each of the 15 pairs is equally likely."""
    parts = [np.array([0]), np.array([1, 2]), np.array([3, 4, 5])]
    quota = np.array([2, 4])
    times = 1_200
    pairs = {pair: at for at, pair in enumerate(combinations(range(6), 2))}
    seen = np.zeros(15)
    for seed in range(times):
        entry = outcomes_of(seed, parts, quota, tmp_path)
        seen[pairs[tuple(row for row, one in enumerate(entry) if one == 0)]] += 1
    assert stats.chisquare(seen).pvalue > LIKELY


def test_rows_are_numbered_in_their_cells_from_batch_to_batch():
    seen = np.zeros(3, np.int64)
    shared = np.array([True, False, True])
    first = tasks._number_in_cell(np.array([2, 0, 2, 1, 1]), shared, seen)
    second = tasks._number_in_cell(np.array([0, 2, 0]), shared, seen)
    assert first.tolist() == [0, 0, 1, 0, 0] and second.tolist() == [1, 2, 2]


def test_buckets_by_words_are_in_the_order_of_words():
    words = Random.from_seed(5).words("test", 0, 1_000)
    known = tasks.RecipeOutcomes(np.zeros(1), np.ones(1, bool), None, Random.from_seed(5), None, 1_000, 7)
    bucket = known.choose_bucket(np.zeros(1_000, np.int64), words.view(np.int64))
    assert set(bucket.tolist()) == set(range(7))
    assert (np.diff(bucket[np.argsort(words)]) >= 0).all()
