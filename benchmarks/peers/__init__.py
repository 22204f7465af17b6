"""One folder per peer: the pins of its environment and the worker that runs in it."""
