"""Promises about charges, answers and failures: the product keeps them, and a planted fault breaks each one.

Most mutants are caught by what is always so: once is always.  Chance is in three.  Fresh noise repeats what is stored
with probability below 2·10⁻⁶ a count, since it is some 2·10⁵ wide at ε = 10⁻⁵; and eight keys lie in their sorted order
in a file with probability 1/8! = 2.5·10⁻⁵, which must happen three times.  So each is caught with probability above
1 − 10⁻⁵.  The checks without a mutant raise no false alarm but with probability below 10⁻⁵⁰.
"""

import pytest

from discreet.engine import engine as engines
from faults import mutants, naming, promises, telling, telling_mutants
from faults.world import LIMITS, Kept, Maker

TIMES = 100
PROMISES = promises.PROMISES + telling.PROMISES + naming.PROMISES
ALWAYS = mutants.ALWAYS + telling_mutants.ALWAYS + naming.ALWAYS
BY_CHANCE = mutants.BY_CHANCE + telling_mutants.BY_CHANCE


def named(mutants):
    """A mutant as pytest takes it, by the names of the fault and of the promise."""
    return [pytest.param(*mutant, id=f"{mutant[0].__name__}: {bare(mutant[1]).__name__}") for mutant in mutants]


def bare(promise):
    return getattr(promise, "func", promise)


@pytest.fixture(scope="module")
def worker():
    kept = Kept(LIMITS)
    yield kept
    kept.end()


@pytest.fixture
def make(tmp_path, monkeypatch, worker):
    """Datasets whose heads lie in the test's folder, all served by one worker."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(engines, "process", lambda limits: worker)
    maker = Maker(tmp_path)
    yield maker
    maker.clear()


def said_under(make, plant, promise):
    """What the check says with the fault in place."""
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        broken = promise(make)
        make.clear()
    return broken


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_the_product_keeps_its_promise(make, promise):
    assert promise(make) == []


@pytest.mark.parametrize(("plant", "promise", "words"), named(ALWAYS + BY_CHANCE))
def test_planted_fault_breaks_the_promise(make, plant, promise, words):
    assert any(words in said for said in said_under(make, plant, promise))


def test_every_promise_is_broken_by_a_mutant():
    assert {bare(promise) for _, promise, _ in ALWAYS + BY_CHANCE} == set(PROMISES)


@pytest.mark.long
@pytest.mark.parametrize(("plant", "promise", "words"), named(BY_CHANCE))
def test_planted_fault_with_chance_in_it_is_caught_99_times_of_100_at_least(make, plant, promise, words):
    caught = sum(any(words in said for said in said_under(make, plant, promise)) for _ in range(TIMES))
    assert caught >= 99
