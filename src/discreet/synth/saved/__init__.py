"""Files of synthetic tables: rows with their promise and the released numbers, read again without trust."""
