"""Columns of a table as cells that can be counted, cells as values again, and cells that cannot occur together."""
