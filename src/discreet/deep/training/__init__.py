"""Noisy steps through the gate, and the state that they release."""
