"""Tuning: the best of a random number of trainings is one charge, and shows one output."""

from fractions import Fraction
from unittest.mock import patch

import pytest
import torch

from deep.nets import CROSS_ENTROPY, net, rows, sgd, small_plan, weights
from discreet.deep import Trainer, tuned
from discreet.deep.accounting.run_count import RunCount
from discreet.errors import BadValue, BudgetExceeded, DiscreetError
from discreet.ledger.filter import budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.rules import Opening, Rules
from discreet.privacy import price
from discreet.privacy.cost import Approx
from discreet.relation import Relation


def candidates(rates=(0.5, 1e-9), plan=None):
    plan = plan or small_plan(scores=1, sigma="20")
    modules = [net(seed) for seed, _ in enumerate(rates)]
    return [
        Trainer(module, CROSS_ENTROPY, sgd(module, rate), plan=plan, clip=1)
        for module, rate in zip(modules, rates, strict=True)
    ]


def test_a_tuning_costs_more_than_a_run_and_less_than_its_runs():
    result = tuned(candidates(), rows(), runs=3)
    alone = price.epsilon(small_plan(scores=1, sigma="20").cost, "1e-5").value
    assert alone < result.privacy_.epsilon < 2 * alone
    assert result.privacy_.cost == Approx(result.selection.epsilon, result.selection.delta)


def test_a_tuning_gives_the_weights_of_the_best_candidate_and_leaves_the_others():
    trainers = candidates()
    before = [weights(trainer.module) for trainer in trainers]
    with patch.object(RunCount, "draw", lambda self, source: 12):
        result = tuned(trainers, rows())
    moved = [not torch.equal(weights(trainer.module), was) for trainer, was in zip(trainers, before, strict=True)]
    assert moved == [number == result.candidate for number in range(2)]
    assert result.module is trainers[result.candidate].module


def test_every_candidate_is_taken():
    """Each of 40 tunings takes one of two by a fair coin: both are taken but with probability 2⁻³⁹ < 1e-6."""
    with patch.object(RunCount, "draw", lambda self, source: 1):
        taken = {tuned(candidates(), rows(8)).candidate for _ in range(40)}
    assert taken == {0, 1}


def test_a_tuning_is_charged_once_before_it_trains(tmp_path):
    opening = Opening("rows", "row", Relation.ADD_REMOVE, Rules(budget(100, "1e-2", ceiling=Fraction(1, 100))))
    with Ledger.create(tmp_path / "rows.ledger", opening) as ledger:
        result = tuned(candidates(), rows(), ledger=ledger)
        assert result.privacy_.is_charged
        assert ledger.standing().spent.epsilon >= result.selection.epsilon


def test_a_tuning_beyond_the_budget_trains_nothing(tmp_path):
    opening = Opening("rows", "row", Relation.ADD_REMOVE, Rules(budget("0.01", "1e-2", ceiling=Fraction(1, 100))))
    trainers = candidates()
    before = weights(trainers[0].module)
    with Ledger.create(tmp_path / "rows.ledger", opening) as ledger, pytest.raises(BudgetExceeded):
        tuned(trainers, rows(), ledger=ledger)
    assert torch.equal(weights(trainers[0].module), before)


def test_a_tuning_that_breaks_leaves_all_candidates_as_they_were():
    trainers = candidates()
    before = [weights(trainer.module) for trainer in trainers]
    with patch("discreet.deep.training.tuned.Score.__call__", side_effect=RuntimeError), pytest.raises(DiscreetError):
        tuned(trainers, rows())
    assert all(torch.equal(weights(trainer.module), was) for trainer, was in zip(trainers, before, strict=True))


@pytest.mark.parametrize("scores", [0, 2])
def test_plans_without_exactly_one_score_are_refused(scores):
    with pytest.raises(BadValue, match="one score"):
        tuned(candidates(plan=small_plan(scores=scores)), rows())


def test_candidates_that_share_weights_or_differ_in_price_are_refused():
    trainers = candidates()
    with pytest.raises(BadValue, match="modules of their own"):
        tuned([trainers[0], trainers[0]], rows())
    others = candidates(plan=small_plan(scores=1, sigma="21"))
    with pytest.raises(BadValue, match="one plan"):
        tuned([trainers[0], others[0]], rows())
    trainers[1].noise = "float"
    with pytest.raises(BadValue, match="one form of noise"):
        tuned(trainers, rows())
    for nothing in ([], None, trainers[0]):
        with pytest.raises(BadValue, match="candidates"):
            tuned(nothing, rows())
