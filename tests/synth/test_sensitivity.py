"""Steps of a build on every neighbour of tiny tables: what they count, how far it moves, and what it costs."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from discreet.bounded import SideBySide
from discreet.engine import arrays as array_engine
from discreet.engine.secret import Secret
from discreet.ledger.inside import Inside, amount_taken, holds
from discreet.synth import build, measuring
from discreet.synth.plan import SynthPlan
from learn.watched import _within
from synth.watched import COLUMNS, EMPTY, norms, plan, steps_of, twin

CASES = [
    (relation, max_rows, delta)
    for relation in ("add-remove", "replace-one")
    for max_rows in (1, 2, 3)
    for delta in ("1e-3", 0)
]
IDS = [f"{relation} {max_rows} {'Laplace' if delta == 0 else 'Gaussian'}" for relation, max_rows, delta in CASES]
ROWS = list(product(("n", "s", EMPTY), (0, 1, 2, 3, EMPTY), (0, 1, EMPTY)))
FEW = [ROWS[place] for place in (0, 7, 23, 31, 44)]


@pytest.fixture(autouse=True)
def one_key_and_all_steps(monkeypatch):
    """Both tables of a pair are hashed under one key; scores are taken however few units there are."""
    monkeypatch.setattr(array_engine, "new_secret", lambda: Secret(bytes(32)))
    monkeypatch.setattr(build, "HOPELESS", 1e9)


def base(max_rows):
    """Six persons, whose town tells their age and illness; with `max_rows` rows at most."""
    alike = [("n", 0, 0), ("s", 3, 1)]
    return [[alike[number % 2]] * (1 + number % max_rows) for number in range(6)]


def persons(max_rows):
    """Everybody who could come: all with one row, and those with more rows of a few kinds."""
    if max_rows == 1:
        return [[row] for row in ROWS]
    several = [list(rows) for count in range(2, max_rows + 1) for rows in combinations_with_replacement(FEW, count)]
    return [[row] for row in FEW] + several


def neighbours(relation, max_rows):
    """Every table that one person's coming, leaving or exchange makes of the base."""
    own, others = base(max_rows), persons(max_rows)
    if relation == "replace-one":
        return [[other, *own[1:]] for other in others]
    return [own[1:], own[:1] + own[2:], *([*own, other] for other in others)]


def pieces(step, own):
    """The vectors of a step by the name of their part, each with its sensitivity."""
    if isinstance(own, SideBySide):
        return {name: (step.exact[name], sensitivity) for name, sensitivity in own.parts.items()}
    return {step.name: (step.exact, own)}


@pytest.mark.parametrize(("relation", "max_rows", "delta"), CASES, ids=IDS)
def test_every_step_counts_what_it_says_and_moves_within_its_noise(relation, max_rows, delta):
    own = plan(relation, max_rows, delta=delta)
    steps, parts = steps_of(own, base(max_rows))
    assert [step.name for step in steps] == ["singles", "scores", "tables"]
    assert "pairs" in steps[2].exact
    exact = {name: own for step in steps for name, (own, _) in pieces(step, step.stated).items()}
    for name, counts in twin(own, base(max_rows), parts).items():
        assert exact[name].tolist() == counts.tolist()
    history, furthest = [step.stored for step in steps], dict[str, Fraction]()
    for other in neighbours(relation, max_rows):
        others, _ = steps_of(own, other, history)
        assert [step.name for step in others] == [step.name for step in steps]
        moved = twin(own, other, parts)
        for step, changed in zip(steps, others, strict=True):
            assert step.mechanism == changed.mechanism
            assert step.mechanism.sensitivity.covers(changed.stated)
            assert _within(step.stated, step.exact, changed.exact)
            for name, (counts, stated) in pieces(changed, changed.stated).items():
                assert counts.tolist() == moved[name].tolist()
                l1, l2_squared, linf = norms(moved[name] - exact[name])
                assert l1 <= stated.l1
                assert l2_squared <= stated.l2_squared
                assert linf <= stated.linf
                furthest[name] = max(furthest.get(name, Fraction(0)), l2_squared / stated.l2_squared)
    assert min(furthest[name] for name in ("singles", "columns", "pairs")) > Fraction(9, 10)
    assert furthest["scores"] > Fraction(1, 10 if max_rows == 1 else 20)


@pytest.mark.parametrize(("relation", "max_rows", "delta"), CASES, ids=IDS)
def test_all_steps_together_take_the_price_and_no_more(relation, max_rows, delta):
    own = plan(relation, max_rows, delta=delta)
    steps, _ = steps_of(own, base(max_rows))
    under, taken = own.subject.schema.relation, Inside()
    for step in steps:
        amount = amount_taken(own.cost, step.mechanism.cost, under)
        assert amount is not None
        taken = taken + amount
    assert holds(own.cost, taken, under)
    costs = [cost for step in steps for cost in getattr(step.mechanism.cost, "costs", (step.mechanism.cost,))]
    if delta == 0:
        assert sum(cost.epsilon for cost in costs) == own.cost.epsilon
    else:
        assert 1 - 1e-9 < sum(1 / cost.sigma**2 for cost in costs) * own.cost.sigma**2 <= 1


def test_scores_whose_noise_forgets_the_root_of_the_pairs_are_refused_by_the_gate(monkeypatch):
    """√K pairs: the plan's noise for one pair does not cover what the step says of all of them."""
    real = SynthPlan.score_mechanism
    monkeypatch.setattr(SynthPlan, "score_mechanism", lambda self: real(replace_pairs(self, 1)))
    own = plan()
    steps, _ = steps_of(own, base(1))
    assert not steps[1].mechanism.sensitivity.covers(steps[1].stated)


def replace_pairs(own, count):
    """The plan as if so many pairs were all."""
    fewer = replace(own)
    fewer.__dict__["pairs"] = own.pairs[:count]
    return fewer


def test_scores_of_three_pairs_move_further_than_one_pair_could():
    own = plan()
    steps, parts = steps_of(own, base(1))
    others, _ = steps_of(own, [*base(1), [("n", 0, 0)]], [step.stored for step in steps])
    _, l2_squared, _ = norms(others[1].exact - steps[1].exact)
    assert l2_squared > own.subject.steps**2
    assert len(parts[1].tally["pairs"]) == 3


def test_rows_of_a_person_never_add_up_to_more_than_its_weight():
    """With three rows a third each, rounded down; beyond the cap of rows the rest does not count."""
    own = plan(max_rows=3)
    for person in persons(3):
        steps, parts = steps_of(own, [person])
        for table in (parts[0],):
            counts = twin(own, [person], [table])["singles"]
            whole = sum(table.tally["weights"])
            assert whole - 3 * len(COLUMNS) - 3 <= sum(counts) <= whole
            assert steps[0].exact.tolist() == counts.tolist()
    crowded = [[("n", 0, 0)] * 50]
    steps, parts = steps_of(own, crowded)
    assert steps[0].exact.sum() <= sum(parts[0].tally["weights"])
    assert steps[0].exact.tolist() == twin(own, [[("n", 0, 0)] * 3], parts[:1])["singles"].tolist()


@pytest.mark.parametrize("delta", ["1e-3", 0])
def test_errors_do_not_depend_on_rows(delta):
    """The same words give the same noise over a full table, an empty one and one of a single person."""
    own = plan(delta=delta)
    errors = []
    for table in (base(1), [], [[("s", 3, 1)]]):
        steps, parts = steps_of(own, table)
        errors.append((parts[0].values - steps[0].exact).tolist())
    assert errors[0] == errors[1] == errors[2]


def test_what_is_chosen_follows_from_released_numbers_alone():
    """Over another table the same history leads to the same groups, pairs, shares and laws."""
    own = plan(epsilon=20)
    steps, parts = steps_of(own, base(1))
    for other in ([], [[row] for row in ROWS] * 3):
        _, repeated = steps_of(own, other, [step.stored for step in steps])
        for part, same in zip(parts, repeated, strict=True):
            assert part.tally == same.tally
            assert part.law == same.law
            assert np.array_equal(part.values, same.values)


def test_many_pairs_are_counted_in_several_passes_with_the_same_scores(monkeypatch):
    own = plan()
    steps, parts = steps_of(own, base(1))
    monkeypatch.setattr(measuring, "_PASS_NUMBERS", 1)
    others, same = steps_of(own, base(1))
    assert parts[1].tally == same[1].tally
    assert others[1].stated == steps[1].stated
    assert np.array_equal(others[1].exact, steps[1].exact)
