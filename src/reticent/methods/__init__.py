"""Methods: one algorithm per file; a method turns cells and promises into a recipe."""
