"""The trainer: what it refuses before the charge, what it charges, and what a row can do."""

import copy
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

import discreet as dp
from deep.nets import COUNT, CROSS_ENTROPY, SIZE, net, sgd, small_plan, weights
from deep.nets import rows as small_rows
from discreet.deep.clipping.clipper import Clipper
from discreet.deep.training.block import Block, Gradient, slices
from discreet.deep.training.data import rows_of
from discreet.deep.training.progress import Telling
from discreet.deep.training.trainer import Trainer
from discreet.deep.training.training import Stops
from discreet.errors import BadValue, BudgetExceeded, EngineFailed, IntegrityError
from discreet.ledger.filter import budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.rules import Opening, Rules
from discreet.noise.source import SYSTEM
from discreet.privacy.cost import Gaussian, Repeated, Sampled, to_json


def trainer(module=None, **options):
    module = module or net()
    return Trainer(module, CROSS_ENTROPY, options.pop("optimizer", None) or sgd(module),
                   **{"plan": small_plan(), "clip": 0.5, **options})  # fmt: skip


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    rules = Rules(budget(40, "1e-3", ceiling=Fraction(1, 100)))
    with Ledger.create(tmp_path / "people.ledger", Opening("people", "row", "add-remove", rules)) as ledger:
        yield ledger


# --- what is learnt --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["exact", "float"])
def test_a_net_learns_and_is_returned_in_place_for_evaluation(noise):
    inputs, targets = small_rows(2000)
    module, plan = net(), small_plan(steps=60, sigma="1", rate="0.1", rows=2000)
    trained = trainer(module, plan=plan, clip=1.0, noise=noise, schedule=lambda p: 1 - p).fit((inputs, targets))
    assert trained is module
    assert not module.training
    assert all(parameter.grad is None for parameter in module.parameters())
    assert float((module(inputs).argmax(1) == targets).float().mean()) > 0.9


def test_adam_is_told_the_variance_of_the_noise():
    module, plan = net(), small_plan()
    optimizer = dp.deep.Adam(module.parameters(), lr=0.01)
    trainer(module, optimizer=optimizer, plan=plan).fit(small_rows())
    assert optimizer.noise_variance == pytest.approx((2 * 0.5 / 30) ** 2, rel=1e-2)


def test_a_step_is_the_noisy_sum_divided_by_the_expected_batch():
    """With σ so small that noise is nothing, one step over all rows is descent along the sum over rows · rate."""
    module, (inputs, targets) = net(), small_rows()
    twin, plan = copy.deepcopy(module), small_plan(steps=1, sigma="1e-9", rate="1", rows=200)
    trainer(module, plan=plan, clip=10, average=None, optimizer=torch.optim.SGD(module.parameters(), lr=0.5)).fit(
        (inputs, targets)
    )
    (CROSS_ENTROPY(twin(inputs), targets).sum() / 200).backward()
    expected = [parameter.detach() - 0.5 * parameter.grad for parameter in twin.parameters()]
    assert torch.allclose(weights(module), torch.cat([part.reshape(-1) for part in expected]), atol=1e-5)


def test_micro_batches_change_no_sum():
    course = trainer(at_once=256).course()
    rows = rows_of(small_rows(), units=[row // 3 for row in range(COUNT)])
    indices, owners = np.arange(COUNT), np.repeat(np.arange(COUNT // 3), 3)
    totals = []
    with Clipper(course.module, course.loss, clip=course.rule) as clipper:
        for at_once in (256, 20, 7, 3):
            object.__setattr__(course, "at_once", at_once)
            totals.append(Gradient(course).total(clipper, rows, indices, owners).clone())
    assert all(torch.allclose(totals[0], total, atol=1e-6) for total in totals)


@pytest.mark.parametrize("count", [0, 1, 7, 100, 257])
@pytest.mark.parametrize("at_once", [1, 8, 256])
def test_micro_batches_hold_whole_persons_and_little_more_than_was_asked(count, at_once):
    owners = np.sort(np.random.default_rng(3).integers(0, max(count // 4, 1), count))
    for own in (None, owners):
        parts = slices(count, own, at_once)
        assert [row for part in parts for row in range(count)[part]] == list(range(count))
        largest = 0 if own is None or not count else int(np.bincount(owners).max())
        assert all(part.stop - part.start <= 1.5 * at_once + largest + 1 for part in parts)
        if own is not None:
            assert all(part.start == 0 or owners[part.start] != owners[part.start - 1] for part in parts)


# --- what a row can do -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outlier", [1e6, 1e30, float("nan"), float("inf")])
def test_one_row_moves_a_sum_by_at_most_the_clip_and_leaves_it_finite(outlier):
    inputs, targets = small_rows()
    worse = inputs.clone()
    worse[7] *= outlier
    course, totals = trainer().course(), []
    with Clipper(course.module, course.loss, clip=course.rule) as clipper:
        for indices in (np.arange(COUNT), np.delete(np.arange(COUNT), 7)):
            rows = rows_of((worse, targets))
            totals.append(Gradient(course).total(clipper, rows, indices, None).clone())
    assert torch.isfinite(totals[0]).all()
    assert float((totals[0] - totals[1]).norm()) <= 0.5
    module = net()
    trainer(module).fit((worse, targets))
    assert torch.isfinite(weights(module)).all()


def test_one_person_with_all_rows_moves_a_sum_by_at_most_the_clip():
    data, course = small_rows(), trainer(max_rows=50, at_once=64).course()
    with Clipper(course.module, course.loss, clip=course.rule) as clipper:
        total = Gradient(course).total(clipper, rows_of(data), np.arange(50), np.zeros(50, dtype=np.int64))
    assert float(total.norm()) <= 0.5
    module = net()
    trainer(module, max_rows=50, at_once=64).fit(data, units=["ann"] * COUNT)
    assert torch.isfinite(weights(module)).all()


@pytest.mark.parametrize("units", [None, []])
def test_no_rows_train_by_noise_alone(units):
    module = net()
    before = weights(module)
    trainer(module).fit((torch.zeros(0, SIZE), torch.zeros(0, dtype=torch.int64)), units=units)
    assert torch.isfinite(weights(module)).all()
    assert not torch.equal(before, weights(module))


# --- refused before the charge ---------------------------------------------------------------------------------------


def test_a_net_or_a_loss_that_cannot_be_clipped_is_refused_before_the_charge(ledger):
    batch_norm = torch.nn.Sequential(torch.nn.Linear(SIZE, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 2))
    with pytest.raises(BadValue, match="BatchNorm"):
        trainer(batch_norm, ledger=ledger).fit(small_rows())
    for loss in (torch.nn.CrossEntropyLoss(), lambda outputs, targets: torch.zeros(3)):
        module = net()
        with pytest.raises(BadValue):
            Trainer(module, loss, sgd(module), plan=small_plan(), ledger=ledger).fit(small_rows())
    assert ledger.standing().charges == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"at_once": 3, "max_rows": 4}, "at_once must be at least max_rows"),
        ({"plan": "ε = 1"}, "plan must be a plan"),
        ({"noise": "laplace"}, "noise must be"),
        ({"clip": -1}, "clip must be"),
        ({"average": 1}, "average must be"),
        ({"schedule": 3}, "schedule must be"),
        ({"patience": 2}, "scores must be planned"),
        ({"max_rows": 0}, "max_rows must be"),
    ],
)
def test_options_that_are_none_are_refused_when_the_trainer_is_made(options, words):
    with pytest.raises(BadValue, match=words):
        trainer(**options)


def test_modules_losses_and_parameters_of_other_kinds_are_refused():
    module = net()
    with pytest.raises(BadValue, match="module must be"):
        Trainer("net", CROSS_ENTROPY, sgd(module), plan=small_plan())
    with pytest.raises(BadValue, match="loss must be"):
        Trainer(module, 3, sgd(module), plan=small_plan())
    module[0].double()
    with pytest.raises(BadValue, match="of one type"):
        trainer(module)


def test_several_rows_a_person_need_the_person_of_each_row():
    with pytest.raises(BadValue, match="units must be given"):
        trainer(max_rows=2).fit(small_rows())


@pytest.mark.parametrize("layer", [torch.nn.BatchNorm1d(3), torch.nn.GRU(3, 3)])
def test_layers_that_mix_rows_are_refused_though_a_dataset_has_none(layer):
    module = torch.nn.Sequential(torch.nn.Linear(SIZE, 3), layer, torch.nn.Linear(3, 2))
    with pytest.raises(BadValue, match=type(layer).__name__):
        trainer(module).fit(torch.utils.data.TensorDataset(torch.zeros(0, SIZE), torch.zeros(0)))


@pytest.mark.parametrize(
    "change",
    [
        {"steps": 300},
        {"sigma": Fraction(1, 100)},
        {"epsilon": Fraction(1, 100)},
        {"rate": Fraction(1)},
        {"delta": Fraction(1, 10**9)},
    ],
)
def test_a_plan_that_was_changed_is_refused(change):
    changed = replace(small_plan(), **change)
    with pytest.raises(IntegrityError, match="plan was changed"):
        trainer(plan=changed)
    teacher = trainer()
    teacher.plan = changed
    with pytest.raises(IntegrityError, match="plan was changed"):
        teacher.fit(small_rows())
    stream = dp.deep.stream_plan(rows=COUNT, batch_size=10, sigma=2, delta="1e-5")
    with pytest.raises(IntegrityError, match="plan was changed"):
        trainer(plan=replace(stream, sigma=Fraction(1)))
    with pytest.raises(IntegrityError, match="plan was changed"):
        changed.run(small_rows())


def test_a_trainer_fits_once_but_replays_its_checkpoint(tmp_path):
    teacher = trainer()
    teacher.fit(small_rows())
    teacher.checkpoint = tmp_path / "late"
    with pytest.raises(BadValue, match="has trained its net already"):
        teacher.fit(small_rows())
    lasting = trainer(checkpoint=tmp_path / "net")
    first = weights(lasting.fit(small_rows()))
    assert torch.equal(weights(lasting.fit(small_rows())), first)
    assert trainer(teacher.module).fit(small_rows()) is teacher.module


# --- charges ---------------------------------------------------------------------------------------------------------


def test_every_fit_with_a_ledger_is_charged_before_its_first_step(ledger, monkeypatch):
    charged = []
    real = Block.__call__

    def noted(self, exact, source):
        charged.append(ledger.standing().charges)
        return real(self, exact, source)

    monkeypatch.setattr(Block, "__call__", noted)
    module = net()
    for count in (1, 2):
        teacher = trainer(module, ledger=ledger)
        teacher.fit(small_rows())
        assert charged[-1] == ledger.standing().charges == count
        assert ledger.entry_of(teacher.privacy_.receipt)["cost"] == to_json(small_plan().cost)
    assert ledger.standing().spent.epsilon == 2 * small_plan().epsilon
    ledger.verify()


def test_a_fit_that_does_not_fit_the_budget_takes_no_step(ledger):
    module = net()
    before = weights(module)
    with pytest.raises(BudgetExceeded):
        trainer(module, ledger=ledger, plan=small_plan(sigma="0.2")).fit(small_rows())
    assert torch.equal(before, weights(module))


def test_ledgers_of_another_relation_or_unit_are_refused(tmp_path, monkeypatch, ledger):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    rules = Rules(budget(40, "1e-3", ceiling=Fraction(1, 100)))
    with (
        Ledger.create(tmp_path / "other.ledger", Opening("people", "row", "replace-one", rules)) as other,
        pytest.raises(BadValue, match="must be one of add-remove"),
    ):
        trainer(ledger=other).fit(small_rows())
    with pytest.raises(BadValue, match="units must be those of the ledger"):
        trainer(ledger=ledger).fit(small_rows(), units=list(range(COUNT)))
    with pytest.raises(BadValue, match="ledger must be a dataset"):
        trainer(ledger="people").fit(small_rows())


def test_what_breaks_after_the_charge_has_one_reply_and_shows_no_weights(ledger):
    class Torn(torch.utils.data.Dataset):
        def __len__(self):
            return COUNT

        def __getitem__(self, index):
            if index == 41:
                raise ValueError("the secret of row 41")
            return torch.zeros(SIZE), 1

    module = net()
    before, optimizer = weights(module), sgd(module)
    plan = small_plan(steps=40)
    with pytest.raises(EngineFailed) as failed:
        trainer(module, plan=plan, ledger=ledger, optimizer=optimizer).fit(Torn())
    assert "41" not in str(failed.value)
    assert "one row of another shape" in failed.value.fix
    assert failed.value.__context__.__context__ is None  # the same reply with its usual fix, and no cause
    assert torch.equal(before, weights(module))
    assert module.training
    assert not optimizer.state
    assert ledger.standing().charges == 1


# --- scores and progress ---------------------------------------------------------------------------------------------


def test_scores_are_noisy_paid_for_and_the_only_thing_that_is_shown():
    module, (inputs, targets) = net(), small_rows(2000)
    plan = small_plan(steps=40, sigma="1", rate="0.1", rows=2000, scores=4)
    teacher = trainer(module, plan=plan, clip=1.0)
    teacher.fit((inputs, targets))
    exact = float((module(inputs).argmax(1) == targets).float().mean())
    assert len(teacher.history_) == 4
    assert teacher.history_[-1] == pytest.approx(exact, abs=7 * float(plan.score_sigma) / 2000)
    assert teacher.history_[-1] != exact
    assert "sums of scores" in teacher.privacy_.words()


def test_a_score_outside_its_bounds_counts_as_the_nearer_one():
    module, plan = net(), small_plan(steps=2, rate="0.1", rows=2000, sigma="1", scores=1)

    def wild(outputs, targets):
        return torch.where(targets == 1, 1e9, float("nan")) - 5.0 * (targets == 0)

    teacher, (inputs, targets) = trainer(module, plan=plan, score=wild), small_rows(2000)
    teacher.fit((inputs, targets), units=list(range(2000)))
    expected = float((targets == 1).float().mean())
    assert teacher.history_[0] == pytest.approx(expected, abs=7 * float(plan.score_sigma) / 2000)


@pytest.mark.parametrize(
    "score",
    [
        lambda outputs, targets: (outputs.argmax(1) == targets).float().mean(),
        lambda outputs, targets: outputs.softmax(1)[:, 0] - outputs.softmax(1)[:, 0].mean(),
        lambda outputs, targets: outputs.softmax(0)[:, 0],
        lambda outputs, targets: 0.5,
        lambda outputs, targets: outputs,
        lambda outputs, targets: torch.full((len(targets),), float(targets.max() > 50)),
        lambda outputs, targets: torch.full((len(targets),), float(outputs.abs().max() > 50)),
        lambda outputs, targets: torch.full((len(targets),), float(outputs.isfinite().all())),
    ],
)
def test_a_score_of_rows_together_is_refused_before_the_charge(score):
    plan, module = small_plan(steps=2, rate="0.1", rows=2000, sigma="1", scores=1), net()
    before = weights(module)
    with pytest.raises(BadValue, match="score"):
        trainer(module, plan=plan, score=score).fit(small_rows())
    assert torch.equal(before, weights(module))
    assert module.training


def test_training_stops_on_shown_scores_alone():
    stops = Stops(None, patience=2)
    assert not stops.is_over([0.5])
    assert not stops.is_over([0.5, 0.6, 0.59])
    assert stops.is_over([0.6, 0.5, 0.6])
    assert not Stops(None).is_over([1.0, 0.0, 0.0, 0.0])
    module = net()
    plan = small_plan(steps=8, rate="0.1", rows=2000, sigma="1", scores=8)
    teacher = trainer(module, plan=plan, patience=1, optimizer=sgd(module, 0.0))  # it cannot become better
    teacher.fit(small_rows(2000))
    assert len(teacher.history_) == teacher.steps_ < 8
    assert teacher.privacy_.epsilon == plan.epsilon


def test_progress_tells_the_step_epsilon_so_far_and_the_public_rate():
    told, now, plan = [], [0.0], small_plan()
    telling = Telling(plan, lambda text, share: told.append((text, share)), clock=lambda: now[0])
    for step in range(1, 7):
        now[0] += 0.9
        telling(step)
    assert [share for _, share in told] == [0.5, 5 / 6]
    assert told[0][0].startswith("step 3 of 6, each person with probability 0.5, ε = ")
    assert float(plan.epsilon_after(3)) < float(plan.epsilon)


def test_a_progress_that_breaks_is_not_called_again():
    now, calls = [0.0], []

    def broken(text, share):
        calls.append(share)
        raise BrokenPipeError

    telling = Telling(small_plan(), broken, clock=lambda: now[0])
    for step in range(1, 7):
        now[0] += 3
        telling(step)
    assert len(calls) == 1


# --- the promise -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("noise", "words"), [("exact", "public lattice"), ("float", "real arithmetic")])
def test_the_promise_states_price_unit_arithmetic_and_what_is_not_covered(noise, words):
    teacher = trainer(noise=noise, max_rows=2)
    assert not hasattr(teacher, "privacy_")
    with pytest.raises(BadValue, match="fitted first"):
        teacher.card()
    teacher.fit(small_rows(), units=[row // 4 for row in range(COUNT)])
    promise = teacher.privacy_
    assert promise.cost == Repeated(Sampled("0.5", Gaussian(2)), 6)
    assert (promise.unit, promise.max_rows, str(promise.relation)) == ("person", 2, "add-remove")
    assert (promise.epsilon, promise.delta) == (small_plan().epsilon, small_plan().delta)
    assert words in promise.arithmetic
    assert not promise.is_charged
    assert "chosen by looking at the data" in promise.public["chosen"]
    assert type(promise).from_json(json.loads(json.dumps(promise.to_json()))) == promise
    assert words in teacher.card()
    assert "at most 2 rows" in teacher.card()


def test_a_card_lists_a_schedule_in_a_few_numbers():
    teacher = trainer(plan=small_plan(40), schedule=lambda progress: 1 - progress)
    teacher.fit(small_rows())
    assert (
        "times 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.025 from the first step to the last" in teacher.card()
    )


def test_a_block_releases_bytes_whose_length_follows_from_public_facts():
    lengths = set()
    for count in (0, 3, COUNT):
        course = trainer().course()
        lengths.add(len(Block(course, None, 0, 3)(rows_of(small_rows(count)), SYSTEM)))
    assert len(lengths) == 1
