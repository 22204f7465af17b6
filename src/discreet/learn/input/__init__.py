"""Cells and columns that a model learns from, however they come: declared, in arrays, in a file."""
