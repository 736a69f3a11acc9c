"""Releases: one file per kind, and the bundle they are kept in."""
