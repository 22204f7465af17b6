"""Questions as values: read from SQL or Python, bounded, planned and compiled without looking at a row."""
