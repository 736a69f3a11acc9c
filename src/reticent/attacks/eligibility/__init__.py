"""The eligibility attack: what who knows the suppression algorithm infers about the withheld rows (paper 2)."""
