"""Noise + sensitivity = promise."""
