"""Each bug that deep learning is known for is planted, and something catches it: an audit, or a test of an exact law.

Bugs of samples are caught by Pearson's test of the samples' law, at a false-alarm rate of 10⁻⁶; the price of rounding
is compared with the worst vectors.  All others are in audit/mutants/deep.py.
"""

import itertools
import math
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

from discreet.audit import deep_claims
from discreet.audit.bounds import ALPHA, lower_bound, refutes
from discreet.audit.mutants import deep, mutants
from discreet.audit.mutants.planted import Drawn
from discreet.cli import audit as audit_verb
from discreet.deep.accounting.plan import Plan
from discreet.deep.audit.steps import draw_sums
from discreet.deep.audit.wrong import draw_wrong, exchange
from discreet.deep.sampling import persons_of, poisson_sample
from discreet.deep.training import block
from discreet.deep.training.draws import samples
from discreet.deep.training.noise import Lattice
from discreet.noise.public import generator
from discreet.noise.source import SYSTEM

CAUGHT_BY = {
    "each batch clipped as one": "deep-batch-clipped",
    "shuffled batches at the price of samples": "test_shuffled_batches_do_not_have_the_law_that_is_priced",
    "noise on one layer": "deep-noise-on-one-layer",
    "σ divided twice": "deep-sigma-twice",
    "division by the realised batch": "deep-realised-batch",
    "a buffer with the previous batch": "deep-buffer",
    "a fresh accountant after an interruption": "deep-fresh-accountant",
    "noise before the sum": "deep-noise-by-example",
    "half a step of rounding": "test_half_a_step_of_rounding_does_not_cover_the_worst_vectors",
    "half a step, on a coarse lattice": "deep-half-a-step",
    "each row of a person clipped": "deep-rows-clipped",
    "the norm of one layer": "deep-norm-of-one-layer",
    "automatic clipping without a bound": "deep-automatic-unbounded",
    "gradients that are not numbers": "deep-nan",
    "noise of two steps": "deep-noise-repeated",
    "a sample for all steps": "test_a_sample_that_is_drawn_once_does_not_have_the_law_that_is_priced",
}
PERSONS, RATE, STEPS = 4, F(1, 2), 4000


def test_every_planted_bug_has_something_that_catches_it():
    planted = {bug.name for bug in mutants() if bug.name.startswith("deep-")}
    tests = {name for name in globals() if name.startswith("test_")}
    assert set(CAUGHT_BY.values()) <= planted | tests
    assert planted <= set(CAUGHT_BY.values())


# --- samples ---------------------------------------------------------------------------------------------------------


def is_sampled(steps):
    """Whether the samples, a set of persons for each step, look like independent coins: who is in, and who next."""
    members = np.array([[person in step for person in range(PERSONS)] for step in steps])
    within = members @ (1 << np.arange(PERSONS))
    across = members[:-1:2, 0] * 2 + members[1::2, 0]
    counts = [np.bincount(within, minlength=2**PERSONS), np.bincount(across, minlength=4)]
    return all(stats.chisquare(count).pvalue > 1e-6 / 2 for count in counts)


def test_the_real_samples_have_the_law_that_is_priced():
    """N = 4,000 steps; each of two tests has a false-alarm rate of 5·10⁻⁷."""
    plan = Plan(PERSONS, RATE, STEPS, F(1), F(1, 10**5), F(1))
    drawn = samples(plan, persons_of(None, PERSONS), 1, STEPS, SYSTEM)
    assert is_sampled([set(rows.tolist()) for rows, _ in drawn])


def test_shuffled_batches_do_not_have_the_law_that_is_priced():
    """All batches have half of the persons, and whoever was in one is not in the next: both tests see it."""
    chance = generator()
    shuffled = [half for _ in range(STEPS // 2) for half in np.split(chance.permutation(PERSONS), 2)]
    assert not is_sampled([set(half.tolist()) for half in shuffled])


def test_a_sample_that_is_drawn_once_does_not_have_the_law_that_is_priced():
    rows, _ = poisson_sample(persons_of(None, PERSONS), RATE, 1, SYSTEM)
    assert not is_sampled([set(rows.tolist())] * STEPS)


# --- rounding --------------------------------------------------------------------------------------------------------


def worst_move(size, clip_in_steps):
    """The furthest that two vectors at most a clip apart round apart, over all moves in eighths of a step."""
    grid = np.arange(-8 * clip_in_steps, 8 * clip_in_steps + 1) / 8
    furthest = 0.0
    for move in itertools.product(grid, repeat=size):
        if sum(part * part for part in move) <= clip_in_steps**2:
            apart = [max(abs(round(s + part) - round(s)) for s in (0.01, 0.25, 0.49, -0.49)) for part in move]
            furthest = max(furthest, math.hypot(*apart))
    return furthest


@pytest.mark.parametrize(("size", "clip"), [(1, 1.25), (2, 1.75), (3, 2)])
def test_the_furthest_move_is_within_the_whole_price_and_beyond_half_of_it(size, clip):
    worst = worst_move(size, clip)
    assert clip + math.sqrt(size) / 2 < worst <= clip + math.sqrt(size)


def test_half_a_step_of_rounding_does_not_cover_the_worst_vectors():
    """Each of four numbers moves by 4096.25 steps from 0.3, and rounds to 4097: exactly, in whole steps."""
    lattice = Lattice(4, 1 + F(1, 2**14), F(1))
    clip = lattice.clip / lattice.step
    before, move = F(3, 10), clip / 2
    assert 4 * move**2 == clip**2
    apart = round(before + move) - round(before)
    assert 4 * apart**2 <= lattice.mechanism.sensitivity.l2_squared
    assert 4 * apart**2 > (clip + 1) ** 2  # the clip and half of √4


# --- the audit itself ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bug",
    [bug for bug in deep.bugs() if isinstance(bug, Drawn) and bug.runs == 200 and "automatic" not in bug.name],
    ids=lambda bug: bug.name,
)
def test_without_its_bug_a_training_is_not_refuted_by_the_same_event(bug):
    """N = 200 a side, α = 10⁻⁶."""
    steps = bug.draw.args[1]
    hits = bug.event.hits(*(draw_sums(steps, side, bug.runs, SYSTEM) for side in bug.pair))
    assert not refutes(bug.test, lower_bound(bug.test, hits, ALPHA))


def test_an_unknown_bug_is_the_real_training():
    bug = next(bug for bug in deep.bugs() if bug.name == "deep-noise-on-one-layer")
    sums = draw_wrong("none", bug.draw.args[1], bug.pair[0], 20, SYSTEM)
    assert len(set(sums[:, 1])) == 20


def test_an_exchanged_part_is_put_back_also_after_a_failure():
    part = block.Clipper
    with pytest.raises(TypeError), exchange([(block, "Clipper", None)]):
        block.Clipper()
    assert block.Clipper is part


def test_without_torch_the_audit_says_what_it_leaves_out(monkeypatch):
    monkeypatch.setattr(deep_claims, "find_spec", lambda name: None)
    assert list(deep_claims.family()) == []
    assert [bug.name for bug in deep.bugs()] == ["deep-half-a-step"]
    assert "torch is not installed" in audit_verb._caveats()[-1]
    monkeypatch.undo()
    assert not any("torch" in note for note in audit_verb._caveats())
