"""Trainings under a checkpoint: killed anywhere and taken up, replayed when finished, and no other's."""

import hashlib
import math

import pytest
import torch

from deep.nets import CROSS_ENTROPY, SIZE, net, sgd, small_plan, weights
from deep.nets import rows as small_rows
from discreet.deep.training.block import Block, put, state_of
from discreet.deep.training.data import rows_of
from discreet.deep.training.optimizer import Average
from discreet.deep.training.state import State, from_bytes
from discreet.deep.training.trainer import Trainer
from discreet.errors import BadValue, IntegrityError
from discreet.ledger.filter import budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.rules import Opening, Rules
from discreet.noise.source import SYSTEM
from faults.common import driven


@pytest.fixture(autouse=True)
def heads(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def trainer(place, module=None, **options):
    module = module or net()
    options = {"plan": small_plan(), "clip": 0.5, "checkpoint": place, **options}
    return Trainer(module, options.pop("loss", CROSS_ENTROPY), options.pop("optimizer", None) or sgd(module), **options)


def test_a_training_killed_anywhere_is_taken_up_with_one_charge_and_no_block_twice(tmp_path):
    outcome = driven("deep.checkpoint_driver", tmp_path / "trainings", folder=tmp_path)
    assert outcome["wrong"] == []
    assert outcome["killed"] == outcome["edges"] == 22


def test_a_finished_training_is_replayed_whatever_weights_and_rows_are_handed_over(tmp_path):
    first = trainer(tmp_path / "net")
    first.fit(small_rows())
    second = trainer(tmp_path / "net", net(seed=9))
    second.fit((torch.zeros(3, SIZE), torch.zeros(3, dtype=torch.int64)))
    assert torch.equal(weights(first.module), weights(second.module))
    assert second.privacy_ == first.privacy_
    assert first.privacy_.is_charged
    with Ledger.open(tmp_path / "net") as ledger:
        assert ledger.standing().spent.epsilon == small_plan().epsilon


@pytest.mark.parametrize(
    "other",
    [
        {"clip": 0.25},
        {"average": 0.9},
        {"schedule": lambda progress: 1 - progress},
        {"noise": "float"},
        {"plan": "scored", "score": CROSS_ENTROPY},
        {"plan": "scored", "patience": 1},
        {"max_rows": 2},
        {"loss": torch.nn.CrossEntropyLoss(reduction="none", label_smoothing=0.1)},
        {"loss": torch.nn.MultiMarginLoss(reduction="none")},
        {"plan": "longer"},
        {"optimizer": "rate"},
        {"module": "wider"},
        {"module": "frozen"},
    ],
    ids=lambda other: " ".join(other),
)
def test_another_training_under_one_checkpoint_is_refused(tmp_path, other):
    is_scored = other.get("plan") == "scored"
    trainer(tmp_path / "net", plan=small_plan(scores=2 * is_scored)).fit(small_rows())
    other, module = dict(other), net()
    changed = other.pop("module", None)
    if changed == "wider":
        module = torch.nn.Sequential(torch.nn.Linear(SIZE, 2))
    elif changed == "frozen":
        module[0].bias.requires_grad_(False)
    if other.get("plan"):
        other["plan"] = small_plan(scores=2) if is_scored else small_plan(7)
    trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
    rate = 0.25 if other.pop("optimizer", None) else 0.5
    optimizer, units = torch.optim.SGD(trained, lr=rate, momentum=0.9), None
    if "max_rows" in other:
        units = list(range(60))
    with pytest.raises(BadValue, match="another training"):
        trainer(tmp_path / "net", module, optimizer=optimizer, **other).fit(small_rows(), units=units)


def test_other_frozen_weights_are_another_training(tmp_path):
    for seed in (1, 2):
        module = net(seed)
        module[0].requires_grad_(False)
        optimizer = torch.optim.SGD(module[2].parameters(), lr=0.5)
        teacher = trainer(tmp_path / "net", module, optimizer=optimizer)
        if seed == 1:
            teacher.fit(small_rows())
        else:
            with pytest.raises(BadValue, match="another training"):
                teacher.fit(small_rows())


def test_a_checkpoint_is_charged_as_it_began_and_lies_where_nothing_else_does(tmp_path):
    with Ledger.create(tmp_path / "people", Opening("people", "row", "add-remove", Rules(budget(40)))) as ledger:
        trainer(tmp_path / "alone").fit(small_rows())
        with pytest.raises(BadValue, match="charged to this ledger"):
            trainer(tmp_path / "alone", ledger=ledger).fit(small_rows())
    (tmp_path / "key").write_text('{"discreet": "training 1", "key": "k", "identity": "i"}')
    with pytest.raises(BadValue, match="without a ledger"):
        trainer(tmp_path / "key").fit(small_rows())
    (tmp_path / "other").write_text("not a checkpoint")
    with pytest.raises((BadValue, IntegrityError)):
        trainer(tmp_path / "other").fit(small_rows())
    with pytest.raises(BadValue, match="must be a path"):
        trainer(3).fit(small_rows())


def test_a_training_goes_on_from_its_stored_steps_however_blocks_are_cut_later(tmp_path, monkeypatch):
    block, charge_part, taken = Block.__call__, Ledger.charge_part, []

    def noted(self, exact, source):
        taken.append((self.first, self.count))
        return block(self, exact, source)

    def interrupted(*given, **named):
        if len(taken) == 2:
            raise KeyboardInterrupt
        return charge_part(*given, **named)

    monkeypatch.setattr(Block, "__call__", noted)
    monkeypatch.setattr(Ledger, "charge_part", interrupted)
    with pytest.raises(KeyboardInterrupt):
        trainer(tmp_path / "net").fit(small_rows())
    monkeypatch.setattr(Ledger, "charge_part", charge_part)
    monkeypatch.setattr("discreet.deep.training.trainer.BLOCKS", 3)
    teacher = trainer(tmp_path / "net")
    teacher.fit(small_rows())
    assert taken == [(0, 1), (1, 1), (2, 2), (4, 2)]
    assert teacher.steps_ == 6
    with Ledger.open(tmp_path / "net") as ledger:
        assert ledger.verify().spent.epsilon == small_plan().epsilon


# --- states ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        lambda parameters: torch.optim.SGD(parameters, lr=0.1),
        lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9, nesterov=True),
        lambda parameters: torch.optim.NAdam(parameters),
        lambda parameters: torch.optim.Adafactor(parameters),
    ],
)
def test_a_state_taken_up_goes_on_as_if_nothing_had_happened(kind):
    def stepped(module, optimizer, count, seed):
        generator = torch.Generator().manual_seed(seed)
        for _ in range(count):
            for parameter in module.parameters():
                parameter.grad = torch.randn(parameter.shape, generator=generator)
            optimizer.step()
            average.add(list(module.parameters()))

    module, other = net(), net(seed=4)
    optimizers = kind(list(module.parameters())), kind(list(other.parameters()))
    courses = [
        trainer(None, part, optimizer=own).course() for part, own in zip((module, other), optimizers, strict=True)
    ]
    average = Average(courses[0].parameters, 0.99)
    stepped(module, optimizers[0], 3, seed=1)
    stored = state_of(courses[0], average, 3).to_bytes()
    stepped(module, optimizers[0], 2, seed=2)
    expected = weights(module), [value.clone() for value in average.values]
    average = Average(courses[1].parameters, 0.99)
    put(from_bytes(stored), courses[1], average)
    stepped(other, optimizers[1], 2, seed=2)
    assert torch.equal(weights(other), expected[0])
    assert all(map(torch.equal, average.values, expected[1]))
    assert average.count == 5


def test_a_block_begins_with_the_released_state_and_not_with_the_module():
    course = trainer(None, plan=small_plan(sigma="1e-9", rate="1"), optimizer=None).course()
    stored, rows, ends = Block(course, None, 0, 1)(rows_of(small_rows()), SYSTEM), rows_of(small_rows()), []
    for spoilt in (False, True):
        if spoilt:
            with torch.no_grad():
                course.parameters[0].fill_(math.nan)
        ends.append(from_bytes(Block(course, stored, 1, 2)(rows, SYSTEM)))
    assert ends[0].step == ends[1].step == 3
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in zip(ends[0].weights, ends[1].weights, strict=True))


def a_state():
    memory = ({"step": torch.tensor(3.0), "mean": torch.ones(2, 2), "none": None, "count": 4},)
    return State(3, (torch.arange(4.0).reshape(2, 2),), (torch.zeros(2, 2, dtype=torch.float64),), memory)


def test_a_state_is_read_as_it_was_written():
    state = from_bytes(a_state().to_bytes())
    assert (state.step, state.weights[0].tolist()) == (3, [[0.0, 1.0], [2.0, 3.0]])
    assert state.averages[0].dtype == torch.float64
    assert (state.optimizer[0]["count"], state.optimizer[0]["none"]) == (4, None)
    assert state.optimizer[0]["step"].shape == ()


def test_a_state_with_a_byte_changed_or_missing_is_refused():
    stored = a_state().to_bytes()
    for place in range(0, len(stored), 3):
        with pytest.raises(IntegrityError):
            from_bytes(stored[:place] + bytes([stored[place] ^ 1]) + stored[place + 1 :])
        with pytest.raises(IntegrityError):
            from_bytes(stored[:place])
    with pytest.raises(IntegrityError):
        from_bytes(stored + b"\0")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (b'{"arrays": [["float32", [2]]], "step": 1}', bytes(4)),
        (b'{"arrays": [["float32", [-1]]]}', b""),
        (b'{"arrays": [["object", [1]]]}', bytes(8)),
        (b'{"arrays": [["float32", [100000000000, 100000000000]]]}', bytes(8)),
        (b'{"arrays": [["float32", [1.0]]]}', bytes(4)),
        (b'{"arrays": 3}', b""),
        (b"[]", b""),
        (b"[" * 100_000, b""),
        (b'{"arrays": [], "step": "x", "weights": [], "averages": 0, "optimizer": []}', b""),
        (b'{"arrays": [], "step": 1, "weights": 0, "averages": 0, "optimizer": [{"a": [7]}]}', b""),
    ],
)
def test_facts_that_are_none_of_a_training_are_refused_behind_a_right_digest(text, numbers):
    body = text + b"\n" + numbers
    with pytest.raises(IntegrityError):
        from_bytes(b"discreet training 1\n" + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
