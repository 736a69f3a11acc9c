"""What somebody infers who knows how a transformed release was made (errata 4.5 and 4.7)."""
