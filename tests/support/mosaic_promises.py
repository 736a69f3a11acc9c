"""Promises that mosaic is tried with."""

from __future__ import annotations

from fractions import Fraction

from reticent.models.beta_likeness import BetaLikeness
from reticent.models.delta_disclosure import DeltaDisclosure
from reticent.models.k_anonymity import AlphaKAnonymity, KAnonymity
from reticent.models.l_diversity import (
    DistinctLDiversity,
    EntropyLDiversity,
    ProbabilisticLDiversity,
    RecursiveLDiversity,
)
from reticent.models.t_closeness import TCloseness

ASKED = {
    "k": [("k-anonymity", KAnonymity, {"k": k}) for k in (2, 3, 5, 9)],
    "distinct": [("distinct-l-diversity", DistinctLDiversity, {"l": few}) for few in (2, 3, 4)],
    "probabilistic": [
        ("probabilistic-l-diversity", ProbabilisticLDiversity, {"l": Fraction(few)}) for few in ("3/2", "2", "5/2")
    ],
    "alpha": [
        ("alpha-k-anonymity", AlphaKAnonymity, {"alpha": Fraction(a), "k": k}) for a, k in (("1/2", 3), ("2/3", 2))
    ],
    "beta": [("beta-likeness", BetaLikeness, {"beta": Fraction(b)}) for b in ("1/2", "1", "2", "4")],
    "basic": [("beta-likeness", BetaLikeness, {"beta": Fraction(b), "enhanced": False}) for b in ("1/2", "1", "3")],
    "two-sided": [("beta-likeness", BetaLikeness, {"beta": Fraction(b), "two_sided": True}) for b in ("1", "2", "4")],
    "delta": [("delta-disclosure", DeltaDisclosure, {"delta": Fraction(d), "base": 2}) for d in ("1", "2", "3")],
    "delta-ignore": [
        ("delta-disclosure", DeltaDisclosure, {"delta": Fraction(d), "base": 2, "absent": "ignore"}) for d in ("1", "2")
    ],
    "entropy": [("entropy-l-diversity", EntropyLDiversity, {"l": Fraction(few)}) for few in ("3/2", "2", "3")],
    "recursive": [
        ("recursive-l-diversity", RecursiveLDiversity, {"c": Fraction(c), "l": few}) for c, few in ((2, 2), (3, 3))
    ],
    "equal": [("t-closeness", TCloseness, {"t": Fraction(t)}) for t in ("1/10", "1/4", "1/2")],
    "ordered": [("t-closeness", TCloseness, {"t": Fraction(t), "distance": "ordered"}) for t in ("1/10", "1/4")],
    "hierarchical": [
        ("t-closeness", TCloseness, {"t": Fraction(t), "distance": "hierarchical"}) for t in ("1/10", "1/4")
    ],
}
