"""Whether two candidates are level: whether what several runs gave says that one of them is better.

They are where their spreads overlap, from the least to the most of the runs; and where the mean of their differences, run by run (all
candidates of a run are asked the same questions), lies no further from 0 than Student's t allows at 95 %.  Three runs may all fall on
one side by chance.  Of two runs t says too little to be asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from statistics import fmean, stdev
from typing import Any

FEWEST = 3
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""Both tails at 95 %, by degrees of freedom from 1 on."""
NORMAL = 1.96


def level(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    if a["low"] <= b["high"] and b["low"] <= a["high"]:
        return True
    ours, theirs = a.get("each") or (), b.get("each") or ()
    if len(ours) != len(theirs) or len(ours) < FEWEST:
        return False
    differences = [one - other for one, other in zip(ours, theirs, strict=True)]
    return abs(fmean(differences)) <= student(len(differences) - 1) * stdev(differences) / sqrt(len(differences))


def student(freedom: int) -> float:
    """Of many degrees to the first order, which is a little more than the normal law's."""
    return STUDENT[freedom - 1] if freedom <= len(STUDENT) else NORMAL + 2.7 / freedom
