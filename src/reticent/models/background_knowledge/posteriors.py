"""Beliefs of an adversary after seeing groups, and how far they moved (Li, Li & Zhang, ICDE 2009, sections III and IV-B).

The posteriors:

    omega      equation 5: a prior times n_i over the group's whole belief in s_i, normalised for each person
    balanced   ours: the same step repeated.  Omega is the first round of Sinkhorn's scaling of the prior matrix to the
               group's margins (every person has one value, value s_i has n_i people); POSTERIOR_ROUNDS of them are `balanced`
    exact      equations 3 and 4 by a programme over remaining counts; equation 3 with permanents (errata 3.1)

The divergences of a prior P and a posterior Q:

    js         1/2 KL[P, M] + 1/2 KL[Q, M], M = (P + Q)/2 (equation 6), in bits: 0 .. 1 (errata 3.2)
    smoothed   js of beliefs smoothed by a kernel over the sensitive values, renormalised, because smoothed they need not
               sum to 1 (errata 3.4)
    kl, emd    what the paper compares it with; kl is infinite where Q rules out what P does not

js is symmetric, though section IV does not ask for that: a belief that grows certain and one that is shaken count
alike.
"""

from __future__ import annotations

from math import prod

import numpy as np

from reticent.kernels.background_exact import expect_placements

POSTERIOR_ROUNDS = {"omega": 1, "balanced": 24}
POSTERIORS = ("omega", "balanced")
MAX_EXACT_STATES = 1 << 18  # the most states that exact inference of one group may take


def compute_scaled_posteriors(
    prior: np.ndarray, offsets: np.ndarray, people: np.ndarray, counts: np.ndarray, rounds: int
) -> np.ndarray:
    """Compute (entries, values) beliefs after `rounds` of scaling.

    Group g has the entries offsets[g] .. offsets[g + 1], with `people` at each.  A value that nobody could have by
    their prior is ignored; a person who could have none of the group's values gets the group's histogram as belief.
    """
    sizes = np.diff(offsets)
    group = np.repeat(np.arange(len(sizes)), sizes)
    share = people.astype(float)
    factor = np.zeros(counts.shape)
    for _ in range(rounds):
        column_sums = np.add.reduceat(prior * share[:, None], offsets[:-1], axis=0)
        factor = np.divide(counts, column_sums, out=np.zeros(counts.shape), where=column_sums > 0)
        row_sums = (prior * factor[group]).sum(axis=1)
        share = np.divide(people, row_sums, out=np.zeros(len(prior)), where=row_sums > 0)
    belief = prior * factor[group]
    row_sums = belief.sum(axis=1, keepdims=True)
    size = counts.sum(axis=1, keepdims=True)
    histogram = (counts / np.maximum(size, 1))[group]
    fallback = np.where(size[group] > 0, histogram, prior)  # a group that lists nothing says nothing
    return np.where(row_sums > 0, belief / np.where(row_sums > 0, row_sums, 1), fallback)


def compute_exact_posteriors(
    prior: np.ndarray, people: np.ndarray, counts: np.ndarray, states: int = MAX_EXACT_STATES
) -> np.ndarray | None:
    """Compute the (entries, values) posteriors of one group; None where it is out of reach, or the priors rule the group out."""
    classes, class_of_entry = np.unique(prior, axis=0, return_inverse=True)
    class_of_entry = class_of_entry.reshape(-1)
    class_people = np.bincount(class_of_entry, weights=people, minlength=len(classes)).astype(np.int64)
    values = np.flatnonzero(counts)
    value_counts = counts[values].astype(np.int64)
    by_values = prod(int(n) + 1 for n in value_counts)
    by_people = prod(int(n) + 1 for n in class_people)
    if min(by_values, by_people) > states:
        return None
    weight = classes[:, values]
    if by_values <= by_people:
        share = _expect_placements(class_people, value_counts, weight) / np.maximum(class_people, 1)[:, None]
    else:
        share = (
            _expect_placements(value_counts, class_people, np.ascontiguousarray(weight.T)).T
            / np.maximum(class_people, 1)[:, None]
        )
    if (share.sum(axis=1) < 0.5).any():
        return None
    posteriors = np.zeros(prior.shape)
    posteriors[:, values] = share[class_of_entry]
    return posteriors / posteriors.sum(axis=1, keepdims=True)


def compute_js_divergence(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Compute the Jensen-Shannon divergence in bits, over the last axis."""
    middle = (p + q) / 2
    return (_sum_divergence_terms(p, middle).sum(axis=-1) + _sum_divergence_terms(q, middle).sum(axis=-1)) / 2


def compute_kl_divergence(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Compute the Kullback-Leibler divergence in bits; infinite where q is 0 and p is not."""
    with np.errstate(divide="ignore"):
        return _sum_divergence_terms(p, q).sum(axis=-1)


def compute_ordered_emd(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Compute the earth mover's distance over values in their order, neighbours 1/(m - 1) apart."""
    moved = np.abs(np.cumsum(np.asarray(p) - np.asarray(q), axis=-1))
    return moved.sum(axis=-1) / max(moved.shape[-1] - 1, 1)


def make_smoothing_matrix(weights: np.ndarray, occurring: np.ndarray) -> np.ndarray:
    """Make the matrix that smooths a belief over the values that occur: row i averages with the kernel's weights around value i."""
    weights = np.where(occurring[:, None] & occurring[None, :], weights, 0.0)
    row_sums = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, row_sums, out=np.zeros_like(weights), where=row_sums > 0)


def smooth_beliefs(belief: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Smooth and renormalise beliefs; return them unchanged where the matrix is empty."""
    if not len(matrix):
        return belief
    smoothed = belief @ matrix.T
    row_sums = smoothed.sum(axis=-1, keepdims=True)
    return np.divide(smoothed, row_sums, out=np.zeros_like(smoothed), where=row_sums > 0)


def _expect_placements(items: np.ndarray, bins: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Compute (classes, bins): the expected number of items of each class in each bin."""
    strides = np.append(1, np.cumprod(bins[:-1] + 1)).astype(np.int64)
    remaining = np.indices(tuple(int(n) + 1 for n in bins)).reshape(len(bins), -1).T
    code = remaining @ strides
    placed = int(bins.sum()) - remaining.sum(axis=1)
    turn = np.argsort(placed, kind="stable")
    order = np.ascontiguousarray(np.column_stack([code[turn], remaining[turn]]), np.int64)
    level = np.searchsorted(placed[turn], np.arange(int(bins.sum()) + 2)).astype(np.int64)
    item = np.repeat(np.arange(len(items)), items).astype(np.int64)
    highest = np.maximum(weight.max(axis=1, keepdims=True), 1e-300)
    expected = np.zeros(weight.shape)
    expect_placements(
        strides, item, np.ascontiguousarray(weight / highest), order, level, np.zeros((len(order), 2)), expected
    )
    return expected


def _sum_divergence_terms(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    p, q = np.broadcast_arrays(np.asarray(p, float), np.asarray(q, float))
    ratio = np.ones_like(p)
    np.divide(p, q, out=ratio, where=p > 0)
    return p * np.log2(ratio)
