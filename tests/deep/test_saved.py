"""Files and cards of trained nets: read back without running anything, whole or refused."""

import hashlib
import json

import pytest
import torch

from deep.nets import CROSS_ENTROPY, SIZE, net, sgd, small_plan
from deep.nets import rows as small_rows
from discreet.deep.clipping.rule import Automatic
from discreet.deep.saved.card import card
from discreet.deep.saved.file import HEAD, from_bytes, load, to_bytes
from discreet.deep.training.trainer import Trainer
from discreet.errors import BadValue, CannotWrite, IntegrityError


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
