"""Measures of what a release achieves: each family of promises by formulas of the audit's own, exact, from counts
alone.
"""
