"""How many rows look alike: k-anonymity (Samarati & Sweeney 1998), `k >= asked`."""

from __future__ import annotations

import numpy as np


def k(sizes: np.ndarray) -> int:
    """The size of the smallest group.  Rows count whether or not their sensitive value is known."""
    return int(sizes.min())
