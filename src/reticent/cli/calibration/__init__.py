"""What `reticent calibrate` asks and answers for each method: one module each."""
