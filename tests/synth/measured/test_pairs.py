"""Pairs that are measured: only where they seem worth their noise, and only as many as the tree and a pass hold."""

from itertools import combinations
from math import pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.kernel.contract import MOST_NUMBERS
from discreet.synth.law import GAUSSIAN, LAPLACE
from discreet.synth.measured import pairs as module
from discreet.synth.measured.pairs import Room, worthwhile_pairs
from discreet.synth.model.junction import tree_cells

SIZES = (4, 4, 4, 4)
PAIRS = list(combinations(range(4), 2))


def room(**changed):
    facts = {"law": GAUSSIAN, "precision": 1.0, "singles": 10.0, "max_cells": 10**6}
    return Room(**(facts | changed))


def test_scores_of_nothing_but_noise_choose_nothing():
    assert worthwhile_pairs(np.full(6, 5.0), 100.0, PAIRS, SIZES, room()) == ()
    assert worthwhile_pairs(np.zeros(6), 0.1, PAIRS, SIZES, room()) == ()
    assert worthwhile_pairs(np.full(6, -1e6), 1.0, PAIRS, SIZES, room()) == ()


def test_a_pair_is_chosen_where_its_score_is_above_what_its_noise_would_cost():
    """Between the two scores lies the price of one table, as far as its noise is lost, and the noise of scores."""
    parts = 16 ** (2 / 3)
    price = module._NOISE * sqrt(2 / pi) * ((10 + parts) ** 1.5 - 10**1.5)
    scores = np.array([price * 1.01 + module._DEVIATIONS, 0, 0, 0, 0, 0])
    assert worthwhile_pairs(scores, 1.0, PAIRS, SIZES, room()) == ((0, 1),)
    assert worthwhile_pairs(scores - price * 0.02, 1.0, PAIRS, SIZES, room()) == ()
    assert worthwhile_pairs(scores, 1.0, PAIRS, SIZES, room(precision=0.5)) == ()


def test_the_price_of_tables_is_the_expected_noise_of_their_cells():
    """N = 20,000 draws of each of 200 cells, in the best proportion of two tables: within 1 in 100."""
    for law, draw in ((GAUSSIAN, "normal"), (LAPLACE, "laplace")):
        cells = np.array([8.0, 192.0])
        weights = law.weights(cells)
        total = law.noise(float(law.parts(cells).sum()), 2.0)
        norm = sqrt(float((weights**2).sum())) if law is GAUSSIAN else float(weights.sum())
        noise = getattr(np.random.default_rng(1), draw)(0, norm / 2.0, (20_000, 2))
        assert (np.abs(noise) / weights * cells).sum(axis=1).mean() == pytest.approx(total, rel=0.03)


@given(st.integers(0, 2**32), st.integers(60, 400), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_tree_never_has_more_cells_than_are_allowed(seed, limit, is_pure):
    chance = np.random.default_rng(seed)
    sizes = chance.integers(1, 7, 6).tolist()
    pairs = list(combinations(range(6), 2))
    required = ((0, 1),)
    allowed = max(limit, tree_cells(sizes, required))
    limits = room(max_cells=allowed, law=LAPLACE if is_pure else GAUSSIAN, required=required, first=(2, 3))
    chosen = worthwhile_pairs(chance.normal(500, 400, len(pairs)), 1.0, pairs, sizes, limits)
    assert len(set(chosen)) == len(chosen)
    assert tree_cells(sizes, [*required, *chosen], (2, 3)) <= allowed
    assert all(sizes[left] > 1 and sizes[right] > 1 for left, right in chosen)


def test_what_is_measured_fits_one_pass(monkeypatch):
    """Else a build that was charged could never be finished."""
    assert module.MOST_NUMBERS == MOST_NUMBERS
    monkeypatch.setattr(module, "MOST_NUMBERS", 50)
    chosen = worthwhile_pairs(np.full(6, 1e6), 1.0, PAIRS, SIZES, room())
    assert len(chosen) == 3
