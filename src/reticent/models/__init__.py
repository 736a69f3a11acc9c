"""Promises: one privacy model per file, with exact parameters and what planning needs of it."""
