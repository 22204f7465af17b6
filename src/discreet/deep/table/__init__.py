"""Rows of a dataset as tensors, and nets on them."""
