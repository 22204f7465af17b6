"""Sums over privacy units, computed where the rows are: integers on a lattice, and how far one unit moves them.

contract    what a kernel is, the closed table of those there are, and what may be sent to one
rows        rows of whole units, as a kernel sees them
encode      rows as codes of cells and whole numbers, centred and clipped · crossed, dense  cells together, as a matrix
risk        the gradient of a loss at public weights
gram        second moments, for least squares
leaves      counts by class and leaf of public trees
class_moments   counts, sums and squares by class
marginals   counts by cliques of features, each with a weight · cliques, grouped  their parameters, rows as groups
add         chunks added up, every one checked

Proof page: docs/proofs/kernel.md.
"""
