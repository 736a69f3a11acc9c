"""Promises: one privacy model or family of models per file, with exact parameters and what planning needs of each."""
