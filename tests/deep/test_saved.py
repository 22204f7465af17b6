"""Files and cards of trained nets: read back without running anything, whole or refused."""

import hashlib
import json
from dataclasses import replace
from fractions import Fraction

import pytest
import torch

from deep.nets import CROSS_ENTROPY, SIZE, net, sgd, small_plan
from deep.nets import rows as small_rows
from discreet.deep.clipping.rule import Automatic
from discreet.deep.saved.card import card
from discreet.deep.saved.file import HEAD, from_bytes, load, to_bytes
from discreet.deep.training.trainer import Trainer
from discreet.errors import BadValue, CannotWrite, IntegrityError
from discreet.ledger.filter import budget
from discreet.ledger.ledger import Ledger
from discreet.ledger.rules import Opening, Rules


class Tied(torch.nn.Module):
    """A net whose two layers share their weights, with a stored buffer and one that is not stored."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(SIZE, SIZE)
        self.second = torch.nn.Linear(SIZE, SIZE)
        self.second.weight = self.first.weight
        self.register_buffer("scale", torch.tensor(2.0))
        self.register_buffer("passing", torch.tensor(3.0), persistent=False)

    def forward(self, inputs):
        return self.second(torch.tanh(self.first(inputs))) * self.scale


@pytest.fixture(scope="module")
def teacher():
    module = net()
    trainer = Trainer(module, CROSS_ENTROPY, sgd(module), plan=small_plan(), clip=0.5)
    trainer.fit(small_rows())
    return trainer


def test_a_saved_net_is_read_back_with_its_promise(teacher, tmp_path):
    place = teacher.save(tmp_path / "net.dp")
    loaded = load(place, net(seed=7))
    inputs, _ = small_rows()
    assert torch.equal(loaded(inputs), teacher.module(inputs))
    assert loaded.privacy_ == teacher.privacy_
    assert not loaded.training
    with pytest.raises(BadValue, match="must not be there"):
        teacher.save(place)
    assert teacher.save(place, replace=True) == place
    with pytest.raises(CannotWrite):
        teacher.save(tmp_path / "nowhere" / "net.dp")


def test_tied_parameters_and_stored_buffers_are_written_once(teacher):
    module = Tied()
    stored = to_bytes(module, teacher.privacy_)
    names = json.loads(stored.split(b"\n")[2])["names"]
    assert names == ["first.weight", "first.bias", "second.bias", "scale"]
    other = Tied()
    other.scale.fill_(0.0)
    from_bytes(stored, other)
    assert other.second.weight is other.first.weight
    assert torch.equal(other(small_rows()[0]), module(small_rows()[0]))


def test_a_net_of_another_shape_is_refused_and_left_as_it_is(teacher):
    stored = to_bytes(teacher.module, teacher.privacy_)
    wider, double = (
        torch.nn.Sequential(torch.nn.Linear(SIZE, 3), torch.nn.Tanh(), torch.nn.Linear(3, 3)),
        net().double(),
    )
    for other in (wider, double, torch.nn.Linear(SIZE, 2)):
        before = [parameter.clone() for parameter in other.parameters()]
        with pytest.raises(BadValue, match="parameters of the file"):
            from_bytes(stored, other)
        assert all(torch.equal(old, new) for old, new in zip(before, other.parameters(), strict=True))


def test_a_file_with_a_byte_changed_or_missing_is_refused(teacher):
    stored, other = to_bytes(teacher.module, teacher.privacy_), net(seed=3)
    before = [parameter.clone() for parameter in other.parameters()]
    for place in range(0, len(stored), 41):
        with pytest.raises(IntegrityError):
            from_bytes(stored[:place] + bytes([stored[place] ^ 4]) + stored[place + 1 :], other)
        with pytest.raises(IntegrityError):
            from_bytes(stored[:place], other)
    assert all(torch.equal(old, new) for old, new in zip(before, other.parameters(), strict=True))


def test_a_net_that_was_changed_after_its_fit_is_neither_saved_nor_described(teacher, tmp_path):
    weight = teacher.module[0].weight
    before = weight.detach().clone()
    with torch.no_grad():
        weight[0, 0] += 1
    for act in (teacher.card, lambda: teacher.save(tmp_path / "changed.dp")):
        with pytest.raises(BadValue, match="weights that the fit gave"):
            act()
    assert not (tmp_path / "changed.dp").exists()
    with torch.no_grad():
        weight.copy_(before)
    assert "# Sequential" in teacher.card()


@pytest.mark.parametrize("public", [{}, {"rows": "many"}, {"clip": 3}, {"optimizer": None}, {"chosen": None}])
def test_a_file_whose_promise_gives_no_card_is_refused(teacher, public):
    held = dict(teacher.privacy_.public)
    forged = replace(teacher.privacy_, public={**held, **public} if public else {})
    with pytest.raises(IntegrityError, match="no whole file of a net"):
        from_bytes(to_bytes(teacher.module, forged), net())


@pytest.mark.parametrize("has_ledger", [False, True])
def test_a_net_is_not_saved_over_a_checkpoint_or_a_ledger_of_any_name(tmp_path, has_ledger):
    opening = Opening("people", "row", "add-remove", Rules(budget(40, "1e-6")))
    with Ledger.create(tmp_path / "people", opening) as ledger:
        module, chosen = net(), replace(small_plan(), delta=Fraction(1, 10**7), epsilon=Fraction(30))
        trainer = Trainer(
            module, CROSS_ENTROPY, sgd(module), plan=chosen, checkpoint=tmp_path / "held.training",
            ledger=ledger if has_ledger else None,
        )  # fmt: skip
        trainer.fit(small_rows())
        for name in ("held.training", "people", "people-wal"):
            before = (tmp_path / name).read_bytes()
            with pytest.raises(BadValue, match="must not replace"):
                trainer.save(tmp_path / name, replace=True)
            assert (tmp_path / name).read_bytes() == before
    with pytest.raises(BadValue, match="must not replace"):
        trainer.save(tmp_path / "people", replace=True)
    assert trainer.save(tmp_path / "people-old").exists()


@pytest.mark.parametrize("facts", [{}, {"names": 3}, {"names": [], "privacy": {}}, {"names": [], "privacy": 1}])
def test_facts_of_no_net_are_refused(facts):
    body = json.dumps({"arrays": [], **facts}).encode() + b"\n"
    with pytest.raises(IntegrityError, match="no whole file of a net"):
        from_bytes(HEAD + hashlib.sha256(body).hexdigest().encode() + b"\n" + body, net())


def test_a_file_of_something_else_is_refused(tmp_path):
    torch.save(net().state_dict(), tmp_path / "net.pt")
    with pytest.raises(IntegrityError):
        load(tmp_path / "net.pt", net())
    with pytest.raises(BadValue, match="must be there"):
        load(tmp_path / "gone", net())


# --- cards -----------------------------------------------------------------------------------------------------------


def test_a_card_states_price_clip_arithmetic_and_what_a_net_is_not_for(teacher):
    text, facts = teacher.card(), teacher.card("json")
    for words in (
        "# Sequential",
        "23 trained and 0 frozen numbers",
        "A gradient longer than 0.5 is shortened",
        "public lattice",
        "neighbours by add-remove",
        "Whatever else is released from the same data comes on top",
        "SGD, learning rate 0.5",
        "not covered",
        "charged nowhere",
    ):
        assert words in text
    assert json.loads(json.dumps(facts))["privacy"]["epsilon"] == teacher.privacy_.to_json()["epsilon"]
    with pytest.raises(BadValue, match="format"):
        teacher.card("html")


def test_a_card_of_a_partly_frozen_net_by_automatic_clipping_says_so():
    module = net()
    module[0].requires_grad_(False)
    optimizer = torch.optim.Adam(module[2].parameters())
    trainer = Trainer(module, CROSS_ENTROPY, optimizer, plan=small_plan(), clip=Automatic(), noise="float")
    trainer.fit(small_rows())
    text = card(module, trainer.privacy_)
    assert "8 trained and 15 frozen numbers" in text
    assert "Every gradient is divided by its length plus 0.01" in text
    assert "frozen parameters: whatever they were trained on" in text
    assert "the noise is floating point" in text
