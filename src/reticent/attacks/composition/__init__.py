"""Composition."""
