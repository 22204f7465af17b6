"""What may be read off a synthetic table: answers with a ± that says what it covers, and replicates of the noise."""
