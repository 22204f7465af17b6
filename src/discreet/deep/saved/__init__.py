"""Files and cards of trained nets."""
