"""How far a belief moved (Li, Li & Zhang, ICDE 2009, section IV-B): Jensen-Shannon on smoothed beliefs, and three others beside it.

    js         1/2 KL[P, M] + 1/2 KL[Q, M], M = (P + Q)/2 (equation 6), in bits: 0 .. 1 (errata 3.2)
    smoothed   js of beliefs smoothed by a kernel over the sensitive values, renormalised, because smoothed they need not
               sum to 1 (errata 3.4)
    kl, emd    what the paper compares it with; kl is infinite where Q rules out what P does not

js is symmetric, though section IV asks for no such thing: a belief that grows certain and one that is shaken count alike.
"""

from __future__ import annotations

import numpy as np


def js(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """In bits, over the last axis."""
    middle = (p + q) / 2
    return (_part(p, middle).sum(axis=-1) + _part(q, middle).sum(axis=-1)) / 2


def kl(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """In bits; infinite where q is 0 and p is not."""
    with np.errstate(divide="ignore"):
        return _part(p, q).sum(axis=-1)


def emd(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The earth mover's distance over values in their order, neighbours 1/(m - 1) apart."""
    moved = np.abs(np.cumsum(np.asarray(p) - np.asarray(q), axis=-1))
    return moved.sum(axis=-1) / max(moved.shape[-1] - 1, 1)


def _part(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    p, q = np.broadcast_arrays(np.asarray(p, float), np.asarray(q, float))
    ratio = np.ones_like(p)
    np.divide(p, q, out=ratio, where=p > 0)
    return p * np.log2(ratio)


def smoothing(weights: np.ndarray, occurring: np.ndarray) -> np.ndarray:
    """The matrix that smooths a belief over the values that occur: row i averages with the kernel's weights around value i."""
    weights = np.where(occurring[:, None] & occurring[None, :], weights, 0.0)
    whole = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, whole, out=np.zeros_like(weights), where=whole > 0)


def smoothed(belief: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Smoothed and renormalised; as it is where the matrix is empty."""
    if not len(matrix):
        return belief
    found = belief @ matrix.T
    whole = found.sum(axis=-1, keepdims=True)
    return np.divide(found, whole, out=np.zeros_like(found), where=whole > 0)
