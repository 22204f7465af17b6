"""A lower bound on the ε of a training, from canaries."""
