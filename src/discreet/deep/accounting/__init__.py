"""How often, from how many, and with how much noise: the public plan of a training."""
