"""What an adversary learns who knows the method: tiny tables, every candidate published again."""
