"""Pictures go through nets with channels last in memory: nothing but last digits may tell."""

import torch
from torch import nn

from discreet import deep
from discreet.deep.clipping.clipper import Clipper
from discreet.deep.clipping.order import Forward

LOSS = nn.CrossEntropyLoss(reduction="none")


class Seeing(nn.Module):
    """A small net for pictures, which remembers how each batch lay in memory."""

    def __init__(self, *, is_viewing: bool) -> None:
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 4, 3), nn.Linear(4 * 9, 2)
        self.drop = nn.Dropout(0.5)
        self.is_viewing = is_viewing
        self.seen: list[bool] = []

    def forward(self, pictures):
        self.seen.append(pictures.is_contiguous())
        cells = torch.tanh(self.drop(self.first(pictures)))
        flat = cells.view(len(cells), -1) if self.is_viewing else cells.flatten(1)
        return self.last(flat)


def batch(size=6):
    torch.manual_seed(3)
    return torch.randn(size, 3, 5, 5), torch.arange(size) % 2


def test_pictures_are_given_with_channels_last():
    net = Seeing(is_viewing=False)
    Forward(net)(batch()[0], lambda: None)
    assert net.seen == [False]


def test_other_inputs_stay_as_they_are():
    kinds = []

    class Telling(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Conv2d(1, 1, 1)

        def forward(self, numbers, words, *, mask):
            kinds.extend([numbers, words, mask])
            return numbers

    numbers, words, mask = torch.randn(2, 3), torch.ones(2, 3, 4, 5, dtype=torch.long), torch.ones(2, 3, 4)
    Forward(Telling())({"numbers": numbers, "words": words, "mask": mask}, lambda: None)
    assert all(given is taken for given, taken in zip(kinds, (numbers, words, mask), strict=True))


def test_a_net_that_views_pictures_is_called_as_it_was_written_with_the_same_draws():
    """Where `view` fails for channels last, the second call draws what the first one drew."""
    pictures, _ = batch()
    nets = [Seeing(is_viewing=True), Seeing(is_viewing=True)]
    nets[1].load_state_dict(nets[0].state_dict())
    torch.manual_seed(7)
    plain = nets[0](pictures)
    torch.manual_seed(7)
    forward, begun = Forward(nets[1]), []
    outputs = forward(pictures, lambda: begun.append(1))
    assert torch.equal(outputs, plain)
    assert nets[1].seen == [False, True]
    assert len(begun) == 2
    forward(pictures, lambda: begun.append(1))
    assert nets[1].seen == [False, True, True]


def test_sums_are_those_of_the_usual_order():
    pictures, targets = batch()
    nets = [Seeing(is_viewing=viewing).eval() for viewing in (False, True)]
    nets[1].load_state_dict(nets[0].state_dict())
    totals = []
    for net in nets:
        with Clipper(net, LOSS, clip=0.1) as clipper:
            totals.append(clipper.total(pictures, targets).clone())
    assert float((totals[0] - totals[1]).norm()) <= 1e-6
    assert nets[0].seen == [False]
    assert nets[1].seen == [False, True]


class Viewing(nn.Module):
    """A net that needs pictures in the usual order, as many are written."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.drop, self.last = nn.Conv2d(3, 4, 3), nn.Dropout(0.5), nn.Linear(4 * 9, 2)

    def forward(self, pictures):
        return self.last(self.drop(torch.tanh(self.first(pictures))).view(len(pictures), -1))


def test_a_net_that_views_pictures_is_checked_and_trained():
    pictures, targets = batch(40)
    net = Viewing()
    plan = deep.plan(rows=40, batch_size=20, steps=3, sigma=1, delta="1e-5")
    trainer = deep.Trainer(net, LOSS, torch.optim.SGD(net.parameters(), lr=0.1), plan=plan)
    before = net.last.weight.detach().clone()
    trainer.fit((pictures, targets))
    assert not torch.equal(net.last.weight, before)
