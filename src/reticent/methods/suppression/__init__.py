"""Suppression before publication: restoring l-eligibility (paper 2)."""

from reticent.methods.suppression.stage import Suppression as Suppression
