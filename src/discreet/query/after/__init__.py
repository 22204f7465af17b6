"""What is done with released rows: HAVING, ORDER BY, LIMIT; it costs nothing."""
