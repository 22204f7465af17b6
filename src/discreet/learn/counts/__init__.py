"""Models from noisy tables class × cell."""
