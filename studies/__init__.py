"""The papers' experiments, each reproduced by one command."""
