"""What a release still says: information loss from the published labels alone."""
