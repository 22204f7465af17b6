"""Types, intervals and public values of expressions, their values on public rows, one form of each question, groups."""
