"""Slow, obvious, exact re-implementations: fractions and brute force, the standard library alone.

Nothing here imports the package under test, so that a mistake of ours cannot agree with itself.
"""
