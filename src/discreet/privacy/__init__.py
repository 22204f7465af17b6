"""What a promise costs: no data, no randomness."""
