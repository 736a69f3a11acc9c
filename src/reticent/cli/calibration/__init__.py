"""Options and answers of `reticent calibrate` for each method: one module each."""
