"""Equivalence classes filled from buckets: what burel, sabre and anatomy share (Cao & Karras, VLDB 2012, sections 4.4 and 4.5)."""
