"""What stays with the publisher: the ledger, the store, and what several releases say together."""
