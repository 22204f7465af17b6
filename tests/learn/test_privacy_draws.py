"""Many fits on two neighbouring tables: what a canary shows stays below the promise, and half of the noise does not.

The adversary knows both tables, sees every number that is released, and only wonders whether the canary is in.  Bounds
are Clopper and Pearson's at α = 10⁻⁶, with events fixed beforehand: a false alarm comes once in a million runs.  Each
test says by how many standard deviations the bug lies above the promise.
"""

from fractions import Fraction

import numpy as np
import pytest

from discreet.audit.bounds import ALPHA, Hits, Odds, Shift, lower_bound, refutes
from discreet.bounded import Bounded
from discreet.gate import Disclosed
from discreet.learn.counts.naive_bayes import NaiveBayesLearner
from discreet.learn.input.arrays import ArrayFacts, subject_of_arrays
from discreet.learn.price import parse_price
from discreet.learn.risk.linear import LinearLearner
from discreet.learn.steps import Steps
from discreet.ledger.unbooked import Unbooked
from discreet.mechanism.additive import Additive
from discreet.noise.source import SYSTEM
from discreet.privacy.cost import Gaussian
from discreet.run import Run

OTHERS = {"a": [0, 1, 1], "b": [0, 0, 1]}
CANARY = {"a": 2, "b": 2}


def tables(facts, answers, canary_answer):
    """Subject and view without and with the canary."""
    without = {name: np.array(cells) for name, cells in OTHERS.items()}
    within = {name: np.array([*cells, CANARY[name]]) for name, cells in OTHERS.items()}
    y = np.array(answers)
    return [
        subject_of_arrays(without, y, None, facts),
        subject_of_arrays(within, np.append(y, canary_answer), None, facts),
    ]


def halved(self, exact, source, _real=Additive.__call__):
    """The planted bug: noise of half its size, up to rounding."""
    exact = np.asarray(exact)
    return exact + (_real(self, exact, source) - exact) // 2


@pytest.fixture(params=[False, True], ids=["sound", "half the noise"])
def is_planted(request, monkeypatch):
    if request.param:
        monkeypatch.setattr(Additive, "__call__", halved)
    return request.param


def verdict(test, hits, fits):
    """Hits without and with the canary, as a lower bound, and whether that refutes the promise."""
    bound = lower_bound(test, Hits(hits[1], hits[0], fits), ALPHA)
    return bound, refutes(test, bound)


def test_naive_bayes_shows_no_more_of_a_canary_than_it_states(is_planted):
    """N = 1,200 a side; two tables at ε = 1 each, the canary alone in its cell of both.  The bug: 6 deviations."""
    epsilon, fits = 2, 1_200
    facts = ArrayFacts(values={"a": [0, 1, 2], "b": [0, 1, 2]}, classes=[0, 1])
    learner, price = NaiveBayesLearner(), parse_price(epsilon)
    hits = []
    for subject, view in tables(facts, [0, 1, 0], 1):
        plan, count = learner.plan(subject, price), 0
        for _ in range(fits):
            released = plan.fit(Steps(Run(Unbooked(), lambda view=view: view), subject, plan.price))
            cells = [released[name].reshape(2, 3)[1, 2] for name in ("a", "b")]  # of the canary
            count += all(cell >= 1 for cell in cells)
        hits.append(count)
    bound, is_refuted = verdict(Odds(Fraction(epsilon)), hits, fits)
    print(f"naive Bayes: ε ≥ {bound:.3g} of {epsilon}")
    assert is_refuted is is_planted
    assert bound > epsilon / 3


class BothViews:
    """Sums over both tables, of which one is the fit's and the other the adversary's."""

    def __init__(self, views):
        self.views = views

    def sum(self, *given, **named):
        both = [view.sum(*given, **named) for view in self.views]
        return Bounded(lambda: [bounded.compute() for bounded in both], both[1].sensitivity)

    def close(self):
        pass


class Telling:
    """A gate that adds up the logarithm of the likelihood ratio of what is released."""

    def __init__(self, side):
        self.side, self.total, self.moved = side, 0.0, 0.0

    def __call__(self, payer, request, mechanism, bounded, *, pack, source=SYSTEM):
        without, within = bounded.compute()
        noisy = mechanism((without, within)[self.side], source)
        sigma = float(mechanism.noise.sigma)
        move = (within - without) / sigma
        self.moved += float(move @ move)
        self.total += float(move @ ((noisy - without) / sigma)) - float(move @ move) / 2
        return Disclosed(pack(noisy), None, False)


def test_descent_shows_no_more_of_a_canary_than_it_states(is_planted):
    """N = 450 a side; the canary moves the pass by nearly one deviation of its noise.  The bug: 4.8 deviations."""
    fits = 450
    facts = ArrayFacts(bounds={"a": (0, 2), "b": (0, 2)}, target_bounds=(0, 9))
    sides = tables(facts, [4, 5, 5], 9)
    subject, views = sides[1][0], [view for _, view in sides]
    plan = LinearLearner("huber", passes=1).plan(subject, parse_price(None, "1e-6", rho="0.5"))
    assert plan.cost == Gaussian(1)
    hits = []
    for side in (0, 1):
        count = 0
        for _ in range(fits):
            gate = Telling(side)
            plan.fit(Steps(Run(Unbooked(), lambda: BothViews(views), gate=gate), subject, plan.price))
            count += gate.total >= 0
        hits.append(count)
    bound, is_refuted = verdict(Shift(Fraction(1)), hits, fits)
    print(f"descent: μ ≥ {bound:.3g} of 1, moved by {gate.moved**0.5:.3g}")
    assert is_refuted is is_planted
    assert gate.moved > 0.9**2
