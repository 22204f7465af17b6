"""Rows worked out from answers about many: sums of subsets, differences, repeats, and what a large δ permits."""
