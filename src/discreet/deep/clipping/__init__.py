"""Clip the gradient of each person while a net is differentiated once."""
