"""Releases: a reader for each kind, the bundle in which they are stored, and export."""
