"""Names found again in tables without names: by shared columns, by sparse ratings, by groups that are too alike."""
