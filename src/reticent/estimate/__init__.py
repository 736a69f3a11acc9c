"""Estimates from all five kinds: a condition judged on pieces of columns, and an estimator for each way in which rows are uncertain."""
