"""Modules that can be clipped person by person: what is refused, and what replaces it."""
