"""Sums over privacy units, computed where the rows are: integers on a lattice, and how far one unit moves them.

contract    what a kernel is, the closed table of those there are, and what may be sent to one
rows        rows of whole units, as a kernel sees them
clip        a unit's numbers clipped in l2 and rounded to steps, with the norms that follow
moments     second moments, for linear models
gradient    the gradient of a linear or logistic model at public weights
add         chunks added up, every one checked
coins       words stretched from a key that the gate's source drew

Proof page: docs/proofs/kernel.md.
"""
