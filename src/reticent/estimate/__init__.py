"""One way to ask five kinds: a condition judged on pieces of columns, and an estimator for each way that rows can be uncertain."""
