"""What smoothing did to a column's cells, so that replicates can carry it: noise drawn anew does not show a bias.

    x      the nearest shares to the noisy counts          f(x)   the smoothed ones that the table has
    x*     the same of a replicate, drawn around x         f(x*) ± (x − f(x)), with a random sign for each cell

A table is smoothed where noise drowns its cells, and then errs by what was levelled.  Noise around f(x) would be
levelled again, so it is drawn around x; and what smoothing took away there, x − f(x), is put into each replicate with
signs of its own, as in a wild bootstrap (Wu 1986; Mammen 1993).  Where nothing was smoothed, x = f(x).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.ndarrays import Floats
from discreet.noise.public import Generator
from discreet.synth.measured.single import simplex
from discreet.synth.model.dual import Fitted
from discreet.synth.model.synthesis import Singles, Synthesis

Shares = tuple[Floats, ...]


def rough_shares(singles: Singles) -> Shares:
    """x of every column; an empty cell that was taken for noise stays without a share."""
    pairs = zip(singles.tables, singles.shares, strict=True)
    return tuple(_nearest(table.counts, singles.total, is_empty=own[-1] == 0) for table, own in pairs)


def _nearest(counts: Floats, total: float, *, is_empty: bool) -> Floats:
    if is_empty and len(counts) > 1:
        return np.append(simplex(counts[:-1], total), 0.0) / total
    return simplex(counts, total) / total


def with_rough_columns(synthesis: Synthesis) -> Synthesis:
    """The synthesis around which noise is drawn."""
    return _with_shares(synthesis, rough_shares(synthesis.singles))


def with_residuals(synthesis: Synthesis, residuals: Shares, random: Generator) -> Synthesis:
    """The replicate with what smoothing took from the table, each cell with a random sign."""
    pairs = zip(synthesis.singles.shares, residuals, strict=True)
    signed = [own + residual * random.choice((-1.0, 1.0), len(own)) for own, residual in pairs]
    return _with_shares(synthesis, tuple(simplex(own, 1.0) for own in signed))


def residuals_of(singles: Singles) -> Shares:
    """x − f(x) of every column."""
    return tuple(rough - own for rough, own in zip(rough_shares(singles), singles.shares, strict=True))


def _with_shares(synthesis: Synthesis, shares: Shares) -> Synthesis:
    """The same with these shares of fine cells.

    The fit holds the groups of columns that were measured in pairs; a column by itself has the shares of its groups.
    """
    singles = Singles(synthesis.singles.tables, shares, synthesis.singles.total)
    fitted = _with_columns(synthesis.fitted, singles.coarse_shares(synthesis.groups))
    return replace(synthesis, singles=singles, fitted=fitted)


def _with_columns(fitted: Fitted, coarse: Sequence[Floats]) -> Fitted:
    """The fit with the shares of groups of each column that stands by itself in the tree."""
    pairs = zip(fitted.tree.cliques, fitted.beliefs, strict=True)
    beliefs = tuple(coarse[clique[0]] if len(clique) == 1 else belief for clique, belief in pairs)
    return replace(fitted, beliefs=beliefs)
