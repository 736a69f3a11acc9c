"""Measures of what a release achieves, for each family of promises.

The formulas are the audit's own, exact, from counts alone.
"""
