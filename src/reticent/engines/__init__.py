"""Engines: `count` rows into cells, `apply` a recipe to rows.  All engines must agree."""
