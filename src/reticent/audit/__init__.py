"""Audit of a release from its published files: groups, achieved values, verdicts with evidence.

It shares no formula with planning.
"""

from reticent.audit.audit import audit as audit
from reticent.audit.result import Audit as Audit
from reticent.audit.risk import Risk as Risk
from reticent.audit.risk import risk as risk

__all__ = ["Audit", "Risk", "audit", "risk"]
