"""How many rows look alike: k-anonymity (Samarati & Sweeney 1998), `k >= asked`."""

from __future__ import annotations

import numpy as np


def k(sizes: np.ndarray, rows_per_person: int = 1) -> int:
    """How many persons the smallest group holds at least.  Rows count whether or not their sensitive value is known.

    If nobody has more than r rows, n rows are those of ceil(n / r) persons or more; rounded down, against the publisher.
    """
    return int(sizes.min()) // rows_per_person
