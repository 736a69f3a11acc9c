"""What stays with the publisher: the ledger, the notes on each release, and what several releases disclose together."""
