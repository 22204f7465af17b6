"""What noisy counts say before a model is fitted: single columns, groups of their cells, and which pairs to measure."""
