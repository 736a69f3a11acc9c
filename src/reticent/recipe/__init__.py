"""Recipes: which rows of a cell go where, as quotas, and the few ways to publish them."""
