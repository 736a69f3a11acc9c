"""Hierarchies over numbers: bands of a fixed width, between given edges, or of equally many rows.

Bands are computed on exact numbers: 0.3 in steps of 0.1 is where it says.  Over whole numbers a band prints with both ends
included, `[20, 29]`; over others it is half open, `[0.5, 1)`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import Any

from reticent.errors import HierarchyError, JobError
from reticent.models_free import exact  # noqa: F401
