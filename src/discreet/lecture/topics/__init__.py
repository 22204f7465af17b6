"""The topics of the five lectures, each a function that computes its section with the parts that really run."""
