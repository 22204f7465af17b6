"""A model's file, its card, and what verifies it."""
