"""Fits that the product's own are compared with; tests and benchmarks alone use them."""
