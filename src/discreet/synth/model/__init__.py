"""The distribution that fits noisy marginals: a graphical model on a junction tree, fitted, read and drawn from."""
