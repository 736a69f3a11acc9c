"""Whether advice from a part of a table names what a comparison of the whole table ranks first."""
