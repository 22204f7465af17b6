"""The command line: one file per group of verbs; a verb returns a `Reply` and prints nothing itself."""
