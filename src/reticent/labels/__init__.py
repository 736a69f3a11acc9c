"""Published labels back into sets and ranges: the one reader of labels, for audit, attacks, utility and queries."""
