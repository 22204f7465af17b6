"""Every planted bug is caught: by proof, or by draws with a computed power."""

import os
from fractions import Fraction

import dp_accounting
import numpy as np
import pytest
from dp_accounting.pld import PLDAccountant

from audit.power import power
from discreet.audit.events import Event
from discreet.audit.features import Pattern
from discreet.audit.mutants import Drawn, Planted, Proven, audit_bug, mutants, prices
from discreet.audit.trial import audit
from discreet.noise.public import generator
from discreet.noise.source import SYSTEM
from discreet.privacy.cost import Pure

DRAWN = [bug for bug in mutants() if isinstance(bug, Drawn)]


def test_planted_bugs_are_many_and_have_names_of_their_own() -> None:
    names = [bug.name for bug in mutants()]
    assert len(set(names)) == len(names) >= 24
    assert len(DRAWN) >= 10
    assert all(bug.wrong.endswith(".") for bug in mutants())


@pytest.mark.parametrize("bug", mutants(), ids=lambda b: b.name)
def test_planted_bug_is_caught(bug: Planted) -> None:
    row = audit_bug(bug)
    assert row.verdict == "refuted", row


@pytest.mark.parametrize("bug", DRAWN, ids=lambda b: b.name)
def test_computed_power_leaves_a_miss_rarer_than_one_in_a_million(bug: Drawn) -> None:
    assert power(bug) >= 1 - 1e-6


@pytest.mark.parametrize("bug", DRAWN, ids=lambda b: b.name)
def test_stated_chances_are_those_of_the_draws(bug: Drawn) -> None:
    """N = 20,000 (200 where certain, fewer of trainings); 5.5 standard deviations each way, false alarms below 10⁻⁷.

    Where fewer are drawn, 16 hits more than so many deviations are allowed for, as the counts of rare events need.
    """
    n = 200 if bug.chances == (1.0, 0.0) else bug.most_runs
    hits = bug.event.hits(*(bug.draw(side, n, SYSTEM) for side in bug.pair))
    slack = 5.5 * np.sqrt(np.array(bug.chances) * (1 - np.array(bug.chances)) / n) + (0 if n == 200 else 16 / n)
    assert hits.first / n >= bug.chances[0] - slack[0]
    assert hits.second / n <= bug.chances[1] + slack[1]


@pytest.mark.parametrize(
    "name",
    [
        "laplace-scale-epsilon",
        "exponential-without-2-drawn",
        "float-laplace",
        "shared-noise",
        "release-level-not-counted-drawn",
        "release-noise-of-levels-reused",
        "release-noise-of-places-shared",
        "release-noise-cancels",
    ],
)
def test_general_audit_finds_the_event_by_itself(name: str) -> None:
    """Four times the runs, since half go to the choice of an event among all families."""
    bug = next(b for b in DRAWN if b.name == name)
    cost = Pure(bug.test.size)
    row = audit(name, cost, draw=bug.draw, pairs=(bug.pair,), runs=4 * max(bug.runs, 1_000))
    assert row.verdict == "refuted", row


def test_permute_and_flip_breaks_the_zcdp_of_the_exponential_mechanism() -> None:
    bug = next(b for b in mutants() if b.name == "permute-and-flip-as-exponential")
    assert isinstance(bug, Proven)
    assert "order" in audit_bug(bug).claim
    honest = Proven(bug.name, bug.wrong, Pure(Fraction(1)), bug.pairs, bug.law)
    assert not audit_bug(honest).is_refuted


def test_continuous_price_is_what_dp_accounting_says() -> None:
    accountant = PLDAccountant()
    accountant.compose(dp_accounting.LaplaceDpEvent(float(1 / prices.EACH)), prices.COUNTS)
    said = accountant.get_epsilon(float(prices.DELTA))
    assert said <= prices.CONTINUOUS <= said * 1.0001


def test_fork_copies_a_generator_as_deepcopy_does() -> None:
    """Two real children of one process draw the same numbers from NumPy's generator, and others from the system."""
    chance, seen = generator(), []
    for _ in range(2):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, f"{chance.integers(2**62)} {SYSTEM.words(1)[0]}".encode())
            os._exit(0)
        os.waitpid(child, 0)
        seen.append(os.read(read, 100).split())
        os.close(read)
        os.close(write)
    assert seen[0][0] == seen[1][0]
    assert seen[0][1] != seen[1][1]


def test_surviving_bug_is_told_from_a_caught_one() -> None:
    """The harness can fail: a sound mechanism planted as a bug survives."""
    bug = next(b for b in DRAWN if b.name == "shared-noise")
    sound = Drawn("sound", "Nothing.", bug.test, bug.pair, _own_noise, Event(Pattern((5, 5)), "=", 1), (0.2, 0.1), 200)
    assert not audit_bug(sound).is_refuted
    assert power(sound) == 0.0


def _own_noise(exact: tuple[int, int], n: int, source: object) -> np.ndarray:
    return np.array(exact) + generator().integers(-9, 10, (n, 2))


@pytest.mark.long
@pytest.mark.parametrize("bug", DRAWN, ids=lambda b: b.name)
def test_ninety_nine_of_a_hundred_repeats_are_caught(bug: Drawn) -> None:
    assert sum(audit_bug(bug).is_refuted for _ in range(100)) >= 99
