"""The small database mechanism: one private table of few rows that answers many counting queries at once."""
