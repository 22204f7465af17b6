"""Each bug that a synthesis could have is planted, and something catches it: an audit, or a test of bytes."""

import pytest

import discreet as dp
from discreet.audit.bounds import Odds, lower_bound, refutes
from discreet.audit.events import Hits
from discreet.audit.mutants import mutants
from discreet.bounded import Bounded
from discreet.noise.source import SYSTEM
from discreet.run import Run
from discreet.synth import build as module
from discreet.synth.drawn import draw_rows, seed_of
from discreet.synth.model.synthesis import synthesis_of
from synth.folk import written
from synth.watched import plan, steps_of

CAUGHT_BY = {
    "bins from data": "synth-bins-from-data",
    "the true number of rows": "synth-true-row-count",
    "scores without the root of the pairs": "synth-scores-without-root-of-pairs",
    "rows counted, and not persons": "synth-rows-not-persons",
    "a measurement reused as if it were paid": "synth-measured-again-unpaid",
    "a build resumed with fresh noise": "synth-resumed-with-fresh-noise",
    "the same, in a real build": "test_steps_that_are_drawn_anew_are_seen_by_their_bytes",
    "a request that names no columns": "test_a_request_without_its_columns_hands_out_another_table",
    "counts without noise": "test_presence_of_one_person_is_told_where_counts_have_no_noise",
}


def test_every_planted_bug_has_something_that_catches_it():
    planted = {bug.name for bug in mutants() if bug.name.startswith("synth-")}
    tests = {name for name in globals() if name.startswith("test_")}
    assert set(CAUGHT_BY.values()) <= planted | tests
    assert planted <= set(CAUGHT_BY.values())


# --- bytes and charges -----------------------------------------------------------------------------------------------


def released_by_two_halves(folder, monkeypatch):
    """What the first step released before a build stopped, and what it has released once the build is done."""
    seen, real = [], module.Measuring._step

    def noted(self, name, *given):
        parts = real(self, name, *given)
        if name == "singles":
            seen.append([part.values.tolist() for part in parts])
            if len(seen) == 1:
                raise InterruptedError
        return parts

    with dp.open(written(folder)) as people, monkeypatch.context() as patch:
        patch.setattr(module.Measuring, "_step", noted)
        with pytest.raises(InterruptedError):
            people.synthesize().build(epsilon=5)
        people.synthesize().build(epsilon=5)
        return seen


def test_a_step_that_is_taken_up_again_releases_what_it_had_released(tmp_path, monkeypatch):
    first, second = released_by_two_halves(tmp_path, monkeypatch)
    assert first == second


def test_steps_that_are_drawn_anew_are_seen_by_their_bytes(tmp_path, monkeypatch):
    real = Run.step

    def fresh(self, name, mechanism, bounded: Bounded, *, pack, source=SYSTEM):
        real(self, name, mechanism, bounded, pack=pack, source=source)
        return pack(mechanism(bounded.compute(), source))

    monkeypatch.setattr(Run, "step", fresh)
    first, second = released_by_two_halves(tmp_path, monkeypatch)
    assert first != second


def test_a_request_without_its_columns_hands_out_another_table(tmp_path, monkeypatch):
    """The bug that counts charges for two tables find: one purse for both, and numbers of the other columns."""
    real = module.request_of

    def shorter(plan, analyst=None):
        request = real(plan, analyst)
        facts = {name: fact for name, fact in request.facts.items() if name != "subject"}
        return module.Request(facts, request.terms, request.analyst, request.path, request.memo)

    with dp.open(written(tmp_path)) as people:
        people.synthesize(columns=["sex", "ill"]).build(epsilon=5)
        assert not people.synthesize(columns=["region", "ill"]).build(epsilon=5).build.is_replayed
        charges = people.budget.charges
        monkeypatch.setattr(module, "request_of", shorter)
        people.synthesize(columns=["sex", "pay"], method="independent").build(epsilon=5)
        assert people.synthesize(columns=["region", "age"], method="independent").build(epsilon=5).build.is_replayed
        assert people.budget.charges == charges + 1


# --- presence --------------------------------------------------------------------------------------------------------

WITHOUT = [[("n", 0, 0)]] * 8
WITH = [*WITHOUT, [("s", 3, 1)]]
RUNS, ALPHA = 250, 1e-6


def has_the_cell(own, persons):
    """Whether a synthetic row is of the town where the one person lives, and nobody else."""
    _, parts = steps_of(own, persons)
    synthesis = synthesis_of(own, parts)
    town, _, _ = draw_rows(synthesis, seed_of(parts)).columns
    return bool((town == 1).any())


def told_apart(own):
    """Whether the cell in synthetic rows refutes what was promised of the one person's presence."""
    hits = Hits(*(sum(has_the_cell(own, persons) for _ in range(RUNS)) for persons in (WITH, WITHOUT)), RUNS)
    promised = Odds(own.price.terms.epsilon, own.price.terms.delta)
    return refutes(promised, lower_bound(promised, hits, ALPHA))


@pytest.fixture
def other_noise_each_time(monkeypatch):
    """The watched gate draws from the system, as the real one does."""
    monkeypatch.setattr("learn.watched.Seeded", lambda _: SYSTEM)


@pytest.mark.parametrize("delta", ["1e-3", 0])
def test_presence_of_one_person_is_not_told_by_a_synthetic_cell(other_noise_each_time, delta):
    """N = 250 builds a side at ε = 2; a true promise is refuted once in 10⁶."""
    assert not told_apart(plan(epsilon=2, delta=delta))


def test_presence_of_one_person_is_told_where_counts_have_no_noise(other_noise_each_time, monkeypatch):
    """N = 250 builds a side at ε = 2, with noise for ε = 2,000."""
    dear = plan(epsilon=2000)
    own = plan(epsilon=2)
    for name in ("mechanism", "score_mechanism"):
        monkeypatch.setattr(type(own), name, stand_in(getattr(type(own), name), own, dear))
    assert told_apart(own)


def stand_in(real, own, dear):
    """The method of the dear plan in place of the own one's."""
    return lambda self, *given: real(dear if self is own else self, *given)
