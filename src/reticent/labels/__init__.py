"""Reads published labels back into sets and ranges, for audit, attacks, utility and queries."""
