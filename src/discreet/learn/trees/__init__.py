"""Trees and forests from noisy counts of leaves."""
