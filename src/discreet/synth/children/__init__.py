"""Two tables of the same units, such as patients and their visits: read as one, charged to both, written as two."""
