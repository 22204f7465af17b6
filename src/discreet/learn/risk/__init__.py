"""Linear models: noisy descent, noise on the risk or on its minimum, noisy second moments."""
