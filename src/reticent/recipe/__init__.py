"""Recipes: which rows of a cell go to which group, as quotas, and the writer of each release kind."""
