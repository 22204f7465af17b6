"""What is written about a synthetic table: its card and its page."""
