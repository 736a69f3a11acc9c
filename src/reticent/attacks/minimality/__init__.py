"""What somebody infers who knows the method that grouped people, and not its secret key."""
