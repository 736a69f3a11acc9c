"""Turns a source (files, frames, databases) into cells: column declarations, parsing, hierarchies, domains, codes."""
