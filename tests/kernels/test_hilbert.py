import itertools

import numpy as np
import pytest

from reticent.kernels.hilbert import compute_hilbert_keys


def keys_of(points: np.ndarray, bits: int) -> np.ndarray:
    keys = np.empty(len(points), np.int64)
    compute_hilbert_keys(points.astype(np.int64), bits, keys)
    return keys


@pytest.mark.parametrize(("axes", "bits"), [(1, 4), (2, 1), (2, 4), (3, 2), (4, 2), (5, 1)])
def test_the_curve_visits_every_point_once_and_moves_one_step_at_a_time(axes: int, bits: int):
    points = np.array(list(itertools.product(range(1 << bits), repeat=axes)))
    keys = keys_of(points, bits)
    assert sorted(keys) == list(range(len(points)))
    steps = np.abs(np.diff(points[np.argsort(keys)], axis=0)).sum(axis=1)
    assert (steps == 1).all()


def test_a_key_of_63_bits_does_not_overflow():
    points = np.array([[0] * 9, [127] * 9, [127] + [0] * 8])
    keys = keys_of(points, 7)
    assert (keys >= 0).all()
    assert len(set(keys.tolist())) == 3
