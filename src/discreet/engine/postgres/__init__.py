"""A table that lies in a PostgreSQL server and stays there: prepared into a schema of its own, and asked there."""
