"""Measures of what a release can still be used for: information loss, errors of answers, resemblance, classification."""
