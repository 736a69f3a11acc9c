"""A shrunk count of redrawn values and its interval, from the text of docs/methods/beta-perturbation.md alone."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np


def shrunk_count(
    shown: np.ndarray, wanted: np.ndarray, frequencies: np.ndarray, matrix: np.ndarray, error: float
) -> float:
    """`shown` are the selected rows by the value they show, `wanted` is 1 for values asked about; `error` the standard error."""
    rows = shown.sum()
    unbiased = shown @ np.linalg.inv(matrix) @ wanted
    baseline = rows * frequencies @ wanted
    covariance = sum(
        p * (np.diag(redrawn) - np.outer(redrawn, redrawn)) for p, redrawn in zip(frequencies, matrix, strict=True)
    )
    dimensions = np.linalg.matrix_rank(covariance, tol=1e-9)
    off = shown - rows * frequencies @ matrix
    if dimensions >= 3:
        kept = max(0.0, 1 - (dimensions - 2) / (off @ np.linalg.pinv(rows * covariance, rcond=1e-9) @ off))
    else:
        kept = max(0.0, 1 - (error / (unbiased - baseline)) ** 2)
    moved = baseline + kept * (unbiased - baseline)
    return float(np.clip(np.clip(moved, unbiased - error, unbiased + error), 0, rows))


def holds(truth: float, unbiased: float, error: float, baseline: float, level: float) -> bool:
    """Whether a truth is in the interval, where the standard error is the same for every truth."""
    risk = 1 - level
    toward, away = 0.8 * risk, 0.2 * risk
    if toward > 0.5:
        toward, away = 0.5, risk - 0.5
    too_low = NormalDist().inv_cdf(toward if truth > baseline else away)
    too_high = NormalDist().inv_cdf(1 - (away if truth > baseline else toward))
    return too_low <= (unbiased - truth) / error <= too_high
