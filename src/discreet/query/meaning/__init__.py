"""What expressions can be: types, intervals and public values; one spelling for equal questions; the groups."""
