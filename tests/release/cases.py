"""Small random programs: trees of every shape, weights, zeros, totals, scales; and a slow, plain way to solve them."""

import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.release.tree import Tree, from_branches, from_edges, tree_sums


@dataclass(frozen=True)
class Case:
    """A tree, what was measured on it, and what is known: the keyword arguments of a fit."""

    tree: Tree
    noisy: Any
    weights: Any
    known: dict[str, Any]

    @property
    def given(self):
        return self.tree, self.noisy, self.weights


def small_tree(chance, limit=8):
    """Up to `most` places below the top: leaves at all depths, chains of single children, sometimes one place only."""
    places = chance.randint(0, limit)
    if not places:
        return from_branches(("x",), [("a",)])
    deep = chance.random() < 0.5
    return from_edges([(str(chance.randrange(max(0, i - 3) if deep else 0, i)), str(i)) for i in range(1, places + 1)])


def small_case(seed, limit=8, cells=3, reach=5):
    """Negative noise, zeros by nature in half of the cases, a total in most of them, parts of 1/1,024 in half."""
    chance, numbers = random.Random(seed), np.random.default_rng(seed)
    tree, width, scale = small_tree(chance, limit), chance.randint(1, cells), chance.choice([1, 1024])
    noisy = numbers.integers(-reach * scale, reach * scale + 1, (len(tree), width))
    weights = numbers.integers(1, chance.choice([2, 10, 1000]), len(tree))
    allowed = numbers.random((len(tree.leaves), width)) < 0.7 if chance.random() < 0.5 else None
    total = chance.choice([None, None, 0, 1, 5, 12])
    if allowed is not None and not allowed.any():
        total = None if total is None else 0
    return Case(tree, noisy, weights, {"scale": scale, "total": total, "allowed": allowed})


def census(seed, levels, cells=1, spread=5):
    """A tree with so many places on each level, counts of its leaves, noise on every level: (tree, exact, noisy)."""
    numbers = np.random.default_rng(seed)
    branches = [[str(leaf * many // levels[-1]) for many in levels] for leaf in range(levels[-1])]
    tree = from_branches([f"level {i}" for i in range(len(levels))], branches)
    exact = tree_sums(tree, numbers.poisson(3, (levels[-1], cells)) * (numbers.random((levels[-1], cells)) < 0.5))
    noise = numbers.geometric(1 / spread, exact.shape) - numbers.geometric(1 / spread, exact.shape)
    return tree, exact, exact + noise


def require_adds_up(case, table, tolerance=0):
    """Sums, signs, zeros, total."""
    known, leaves = case.known, table[case.tree.leaves]
    assert np.abs(tree_sums(case.tree, leaves) - table).max() <= tolerance
    assert table.min() >= 0
    if known["allowed"] is not None:
        assert not leaves[~known["allowed"]].any()
    if known["total"] is not None:
        assert abs(table[0].sum() - known["total"]) <= tolerance


def exactly_projected(case):
    """The real optimum in fractions, with no sorting and no curves: solve without signs, set what is negative to 0,
    solve again, until nothing is negative.  What was once negative is 0 in the optimum, because a tree's matrix of
    second derivatives has an M-matrix as its inverse (Martínez, Michon & San Martín 1994; Chandrasekaran 1970)."""
    tree, noisy, weights = case.given
    scale, total, allowed = (case.known[name] for name in ("scale", "total", "allowed"))
    places, cells = noisy.shape
    counts = [[Fraction(int(noisy[r, s]), scale) for s in range(cells)] for r in range(places)]
    live = {
        (int(leaf), s)
        for row, leaf in enumerate(tree.leaves)
        for s in range(cells)
        if allowed is None or allowed[row, s]
    }
    while True:
        x = _solved(tree, counts, [int(w) for w in weights], live, total)
        negative = {key for key in live if x[key[0]][key[1]] < 0}
        if not negative:
            return x
        live -= negative


def _solved(tree, counts, weights, live, total):
    """Each place answers a price λ with a + b·λ; sums add, the own term shears, the top finds λ."""
    places, cells = len(tree), len(counts[0])
    below = {}
    for r in reversed(range(places)):
        children = range(tree.child[r], tree.child[r + 1])
        for s in range(cells):
            if not children:
                below[r, s] = (counts[r][s], Fraction(1, 2 * weights[r])) if (r, s) in live else (Fraction(0),) * 2
                continue
            a, b = (
                sum(part)
                for part in zip(*(_sheared(below, c, s, tree, counts, weights) for c in children), strict=True)
            )
            below[r, s] = a, b
    price = Fraction(0)
    if total is not None:
        a, b = (
            sum(part)
            for part in zip(*(_sheared(below, 0, s, tree, counts, weights) for s in range(cells)), strict=True)
        )
        price = (total - a) / b if b else Fraction(0)
    return _answered(tree, counts, weights, below, price)


def _sheared(below, r, s, tree, counts, weights):
    a, b = below[r, s]
    if tree.child[r] == tree.child[r + 1]:
        return a, b
    stiff = 1 + 2 * weights[r] * b
    return (a + 2 * weights[r] * b * counts[r][s]) / stiff, b / stiff


def _answered(tree, counts, weights, below, price):
    cells = len(counts[0])
    prices = {(0, s): price for s in range(cells)}
    x = [[Fraction(0)] * cells for _ in range(len(tree))]
    for r in range(len(tree)):
        for s in range(cells):
            a, b = _sheared(below, r, s, tree, counts, weights)
            x[r][s] = a + b * prices[r, s]
            for c in range(tree.child[r], tree.child[r + 1]):
                prices[c, s] = prices[r, s] - 2 * weights[r] * (x[r][s] - counts[r][s])
    return x
