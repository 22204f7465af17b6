"""Sums of clipped gradients equal the one-person-at-a-time truth, for every layer, and one person moves them by C."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional

from deep.truth import clipped_total
from discreet.deep import Automatic, clipped_sum
from discreet.deep.clipping import pieces as forms
from discreet.deep.clipping import rule
from discreet.deep.clipping.clipper import Clipper
from discreet.errors import BadValue

LARGE = 1e9  # no gradient is this long, so nothing is shortened


def squares(outputs, targets):
    return (outputs.flatten(1) - targets).square().flatten(1).sum(1)


def crosses(outputs, targets):
    return functional.cross_entropy(outputs, targets, reduction="none")


class Tied(nn.Module):
    """A language model whose last layer has the weight of its embedding."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        self.inner = nn.Linear(6, 6)
        self.last = nn.Linear(6, 11, bias=False)
        self.last.weight = self.embedding.weight

    def forward(self, ids):
        return self.last(torch.tanh(self.inner(self.embedding(ids)))).flatten(1)


class Twice(nn.Module):
    """A layer that is called twice, a norm that is called twice, and one that is never called."""

    def __init__(self):
        super().__init__()
        self.first, self.norm, self.unused = nn.Linear(5, 5), nn.LayerNorm(5), nn.Linear(3, 3)

    def forward(self, x):
        return self.norm(self.first(torch.relu(self.norm(self.first(x)))))


class Own(nn.Module):
    """A module with parameters of its own around a layer."""

    def __init__(self):
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.rand(5) + 0.5), nn.Parameter(torch.randn(1, 5))
        self.inner = nn.Linear(5, 5)

    def forward(self, x, *, power=2):
        return torch.sin(self.inner(x) * self.scale) ** power + self.shift


class LowRank(nn.Module):
    """A frozen layer with a trained correction of rank 2 (LoRA)."""

    def __init__(self):
        super().__init__()
        self.base = nn.Linear(6, 4).requires_grad_(False)
        self.down, self.up = nn.Linear(6, 2, bias=False), nn.Linear(2, 4, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


class Squared(nn.Module):
    """A layer of two inputs without a formula of its own."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Bilinear(5, 5, 3)

    def forward(self, x):
        return self.inner(x, x)


class Warm(nn.Module):
    """A layer whose outputs are divided by a learnt temperature, a parameter without axes."""

    def __init__(self):
        super().__init__()
        self.inner, self.temperature = nn.Linear(5, 4), nn.Parameter(torch.tensor(0.7))

    def forward(self, x):
        return self.inner(x) / self.temperature


class Scaled(nn.Linear):
    """A subclass of a known layer that computes something else."""

    def forward(self, x):
        return 3 * super().forward(x)


def ids(*shape, height=11):
    return torch.randint(0, height, shape)


NETS = {
    "linear": lambda: (nn.Sequential(nn.Linear(5, 4), nn.ReLU(inplace=True), nn.Linear(4, 3)), torch.randn(7, 5)),
    "linear on sequences": lambda: (nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3)), torch.randn(7, 6, 5)),
    "linear on long sequences": lambda: (nn.Linear(3, 2), torch.randn(7, 50, 3)),
    "linear on pictures": lambda: (nn.Linear(5, 4, bias=False), torch.randn(7, 2, 3, 5)),
    "conv1d": lambda: (nn.Sequential(nn.Conv1d(3, 4, 3, stride=2, padding=1), nn.Tanh()), torch.randn(6, 3, 11)),
    "conv2d": lambda: (nn.Conv2d(3, 4, (3, 2), (2, 1), (1, 2), (1, 2)), torch.randn(6, 3, 9, 8)),
    "conv2d in groups": lambda: (nn.Conv2d(4, 6, 3, groups=2), torch.randn(6, 4, 7, 6)),
    "conv2d of each channel": lambda: (nn.Conv2d(4, 8, 3, groups=4, padding="same"), torch.randn(6, 4, 7, 6)),
    "reflecting conv2d": lambda: (nn.Conv2d(2, 3, 3, padding=1, padding_mode="reflect"), torch.randn(6, 2, 5, 5)),
    "conv2d with few places": lambda: (nn.Conv2d(40, 50, 3), torch.randn(6, 40, 3, 4)),
    "transposed conv2d": lambda: (nn.ConvTranspose2d(3, 2, 3, stride=2), torch.randn(6, 3, 4, 4)),
    "conv3d": lambda: (nn.Conv3d(2, 3, 2), torch.randn(5, 2, 3, 4, 3)),
    "embedding": lambda: (nn.Embedding(11, 4, padding_idx=0), ids(7, 5)),
    "embedding of one id": lambda: (nn.Embedding(11, 4), ids(7)),
    "layer norm": lambda: (nn.LayerNorm((3, 4)), torch.randn(7, 3, 4)),
    "layer norm without bias": lambda: (nn.LayerNorm(12, bias=False), torch.randn(7, 12)),
    "layer norm on sequences": lambda: (nn.LayerNorm(4), torch.randn(7, 5, 4)),
    "rms norm": lambda: (nn.RMSNorm(4), torch.randn(7, 5, 4)),
    "group norm": lambda: (nn.GroupNorm(2, 6), torch.randn(7, 6, 3, 4)),
    "instance norm": lambda: (nn.InstanceNorm2d(3, affine=True), torch.randn(7, 3, 4, 4)),
    "prelu": lambda: (nn.Sequential(nn.Linear(5, 4), nn.PReLU(4)), torch.randn(7, 5)),
    "tied weights": lambda: (Tied(), ids(7, 5)),
    "called twice": lambda: (Twice(), torch.randn(7, 5)),
    "called twice on sequences": lambda: (Twice(), torch.randn(7, 3, 5)),
    "own parameters": lambda: (Own(), torch.randn(7, 5)),
    "a parameter without axes": lambda: (Warm(), torch.randn(7, 5)),
    "bilinear": lambda: (nn.Sequential(Squared(), nn.Tanh()), torch.randn(7, 5)),
    "low rank": lambda: (LowRank(), torch.randn(7, 6)),
    "subclass": lambda: (nn.Sequential(Scaled(5, 4), nn.Tanh(), nn.Linear(4, 2)), torch.randn(7, 5)),
}  # fmt: skip


def case(name):
    torch.manual_seed(sum(map(ord, name)))
    net, inputs = NETS[name]()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.5)
    targets = torch.randn(len(inputs), net(inputs).flatten(1).shape[1])
    return net, inputs, targets


OWNERS = {"rows": None, "persons": [0, 0, 0, 1, 1, 2, 3]}


def assert_alike(sums, truth, tolerance):
    length = torch.sqrt(sum(part.square().sum() for part in truth.values()))
    for name, part in truth.items():
        torch.testing.assert_close(sums[name], part, rtol=tolerance, atol=tolerance * float(length))


@pytest.mark.parametrize("whose", OWNERS)
@pytest.mark.parametrize("name", NETS)
def test_gradients_of_a_layer_equal_those_of_each_person_alone(name, whose):
    net, inputs, targets = case(name)
    owners = None if OWNERS[whose] is None else torch.tensor(OWNERS[whose][: len(inputs)])
    truth = clipped_total(net, squares, inputs, targets, owners, clip=LARGE)
    sums = clipped_sum(net, squares, inputs, targets, owners, clip=LARGE)
    assert list(sums) == [name for name, p in net.named_parameters() if p.requires_grad]
    assert_alike(sums, truth, 1e-5)


@pytest.mark.parametrize("whose", OWNERS)
@pytest.mark.parametrize("name", NETS)
def test_clipped_sums_equal_those_of_each_person_alone(name, whose):
    net, inputs, targets = case(name)
    owners = None if OWNERS[whose] is None else torch.tensor(OWNERS[whose][: len(inputs)])
    truth = clipped_total(net, squares, inputs, targets, owners, clip=0.5)
    assert_alike(clipped_sum(net, squares, inputs, targets, owners, clip=0.5), truth, 1e-4)


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("passes", [0, 10**9])
def test_both_formulas_of_a_norm_give_the_same_sum(name, passes, monkeypatch):
    net, inputs, targets = case(name)
    expected = clipped_sum(net, squares, inputs, targets, clip=0.5)
    monkeypatch.setattr(rule, "_PASSES", passes)
    assert_alike(clipped_sum(net, squares, inputs, targets, clip=0.5), expected, 2e-4)


@pytest.mark.parametrize("name", NETS)
def test_a_gradient_never_exceeds_the_clip(name):
    """The norm of one person's clipped gradient, added up in float64, is below C, and close to it where it is cut."""
    net, inputs, targets = case(name)
    for place in range(len(inputs)):
        row = slice(place, place + 1)
        for factor in (1.0, 1e3, 1e-3):
            flat = clipped_sum(net, squares, inputs[row], targets[row] * factor, clip=1e-4).flat
            assert 0.99 * 1e-4 < float(flat.norm()) < 1e-4


@pytest.mark.parametrize("outlier", [1e6, float("inf"), float("nan"), 1e38])
def test_one_outlier_moves_the_sum_by_the_clip_at_most(outlier):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(48, 4))
    inputs, targets = torch.randn(9, 1, 6, 6), torch.randn(9, 4)
    without = clipped_sum(net, squares, inputs[1:], targets[1:], clip=0.1).flat
    inputs[0] *= outlier
    difference = clipped_sum(net, squares, inputs, targets, clip=0.1).flat - without
    assert torch.isfinite(difference).all()
    assert float(difference.norm()) <= 0.1


def test_automatic_clipping_scales_every_gradient_below_its_length():
    net, inputs, targets = case("linear")
    for place in range(len(inputs)):
        row = slice(place, place + 1)
        (length,) = (clipped_sum(net, squares, inputs[row], targets[row], clip=LARGE).flat.norm(),)
        scaled = clipped_sum(net, squares, inputs[row], targets[row], clip=Automatic(2, 0.5)).flat.norm()
        assert float(scaled) == pytest.approx(2 * rule.MARGIN * float(length) / (float(length) + 0.5), rel=1e-4)


def test_a_person_with_all_rows_counts_like_one_with_a_single_row():
    net, inputs, targets = case("linear")
    assert float(clipped_sum(net, squares, inputs, targets, torch.zeros(7).long(), clip=0.1).flat.norm()) <= 0.1


def test_rows_of_a_person_are_added_wherever_they_lie():
    net, inputs, targets = case("called twice on sequences")
    owners = torch.tensor([4, 9, 4, 1, 9, 4, 0])
    truth = clipped_total(net, squares, inputs, targets, owners, clip=0.5)
    assert_alike(clipped_sum(net, squares, inputs, targets, owners, clip=0.5), truth, 1e-4)


def test_hooks_of_others_on_a_layer_are_refused():
    """A hook sees every person's values, and what it returns is no part of the layer that was tried."""
    net, inputs, targets = case("linear")
    net[0].register_forward_hook(lambda layer, given, output: 2 * output)
    with pytest.raises(BadValue, match="It has hooks"):
        clipped_sum(net, squares, inputs, targets, clip=0.5)


def test_layers_that_compute_in_a_shorter_type_stay_below_the_clip():
    torch.manual_seed(4)
    net, inputs, targets = nn.Linear(300, 7), torch.randn(5, 300), torch.randn(5, 7)

    def shorter(outputs, goals):
        return squares(outputs.float(), goals)

    with torch.autocast("cpu", dtype=torch.bfloat16):
        for place in range(5):
            row = slice(place, place + 1)
            norm = float(clipped_sum(net, shorter, inputs[row], targets[row], clip=1e-3).flat.norm())
            assert 0.98e-3 < norm < 1e-3


def test_gradients_are_taken_where_they_are_switched_off():
    net, inputs, targets = case("linear")
    with torch.no_grad():
        assert clipped_sum(net, squares, inputs, targets).flat.any()


@pytest.mark.parametrize("places", [1, 16, 64])
@pytest.mark.parametrize("clip", [0.1, Automatic(0.1)])
@pytest.mark.parametrize("tiny", [2.6e-23, 1e-38])
def test_numbers_whose_squares_vanish_stay_below_the_clip(places, clip, tiny):
    """Gradients at outputs are so small that their squares are 0 in float32, and inputs so large that it matters."""
    net, inputs = nn.Linear(64, 64, bias=False), torch.zeros(1, places, 64)
    inputs[..., 0] = 1.8e19
    with torch.no_grad():
        net.weight.zero_()
    targets = torch.full((1, places * 64), -tiny)
    assert float(clipped_sum(net, squares, inputs, targets, clip=clip).flat.norm()) < 0.1


def test_autocast_does_not_make_norms_smaller():
    """Rows that cancel each other: norms by inner products in bfloat16 would be too small by far."""
    torch.manual_seed(5)
    net, row = nn.Linear(128, 128, bias=False), torch.randn(1, 1, 128)
    inputs = torch.cat([row, -row * (1 + 1e-3)] * 8, 1)

    def cancelling(outputs, goals):
        return (outputs.float().flatten(1) * goals).sum(1)

    targets = torch.randn(1, 1, 128).expand(1, 16, 128).flatten(1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        norm = float(clipped_sum(net, cancelling, inputs, targets, clip=1e-3).flat.norm())
    assert norm < 1e-3


def test_no_rows_have_a_sum_of_zeros():
    net, inputs, targets = case("conv2d")
    assert not clipped_sum(net, squares, inputs[:0], targets[:0], clip=0.1).flat.any()


def test_a_buffer_holds_nothing_of_the_batch_before():
    """Batches of other sizes in turn give what a fresh clipper gives, and so does an empty one."""
    net, inputs, targets = case("conv2d with few places")
    sizes = (6, 2, 0, 5, 1, 6)
    fresh = [clipped_sum(net, squares, inputs[:size], targets[:size], clip=0.3).flat for size in sizes]
    with Clipper(net, squares, clip=0.3) as clipper:
        for size, alone in zip(sizes, fresh, strict=True):
            assert torch.equal(clipper.total(inputs[:size], targets[:size]), alone)


def test_a_buffer_that_leaks_is_caught(monkeypatch):
    """The mutant: a sum that is not emptied first."""
    net, inputs, targets = case("linear")
    with Clipper(net, squares, clip=0.3) as clipper:
        first = clipper.total(inputs, targets).clone()
        monkeypatch.setattr(torch.Tensor, "zero_", lambda self: self)
        assert not torch.equal(clipper.total(inputs, targets), first)


def test_clipping_the_batch_as_a_whole_is_caught():
    """The mutant: a batch gradient clipped once is not the sum of clipped gradients."""
    net, inputs, targets = case("linear")
    batch = clipped_sum(net, squares, inputs, targets, torch.zeros(7).long(), clip=0.1).flat
    truth = torch.cat([part.flatten() for part in clipped_total(net, squares, inputs, targets, clip=0.1).values()])
    assert float((batch - truth).norm()) > 0.1


def test_sums_are_added_in_float64_and_norms_rounded_up():
    net, inputs, targets = case("linear on long sequences")
    with Clipper(net, squares, clip=0.3) as clipper:
        parts = clipper.pieces(inputs, targets)
        assert clipper.total(inputs, targets).dtype is torch.float64
    for own in parts.values():
        exact = list(map(forms.plain, own))
        squares_of = sum(form.values.double().flatten(1) for form in exact).square().sum(1)
        assert (forms.squared_norms(own) >= squares_of * (1 - 1e-6)).all()


def test_weights_of_a_frozen_layer_cost_nothing():
    net, inputs, targets = case("low rank")
    with Clipper(net, squares, clip=0.3) as clipper:
        assert set(clipper.pieces(inputs, targets)) == {"down.weight", "up.weight"}


def test_clipping_leaves_the_module_as_it_was():
    net, inputs, targets = case("tied weights")
    before = copy.deepcopy(net.state_dict())
    clipped_sum(net, squares, inputs, targets)
    assert all(parameter.grad is None for parameter in net.parameters())
    assert all(torch.equal(before[name], part) for name, part in net.state_dict().items())
    assert not any(layer._forward_hooks for layer in net.modules())


@pytest.mark.parametrize(
    "loss", [lambda o, t: squares(o, t).mean(), lambda o, t: squares(o, t)[:-1], lambda o, t: (o.flatten(1) - t) ** 2]
)
def test_a_loss_without_one_number_for_each_example_is_refused(loss):
    net, inputs, targets = case("linear")
    with pytest.raises(BadValue, match="one number for each example"):
        clipped_sum(net, loss, inputs, targets)


def test_rows_selected_by_value_are_refused_where_their_number_differs():
    class Positive(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(5, 1)

        def forward(self, x):
            chosen = x[:, 0] > 0
            return torch.zeros(len(x), 1).masked_scatter(chosen.unsqueeze(1), self.layer(x[chosen]))

    with pytest.raises(BadValue, match="one example in each place"):
        clipped_sum(Positive(), squares, torch.tensor([[1.0] * 5, [-1.0] * 5]), torch.zeros(2, 1))


def test_a_module_without_trainable_parameters_is_refused():
    with pytest.raises(BadValue, match="trainable parameters"):
        clipped_sum(nn.Linear(2, 2).requires_grad_(False), squares, torch.ones(1, 2), torch.ones(1, 2))


@pytest.mark.parametrize("clip", [0, -1, float("nan"), float("inf"), "much", None, True])
def test_a_clip_that_is_no_positive_number_is_refused(clip):
    net, inputs, targets = case("linear")
    with pytest.raises(BadValue):
        clipped_sum(net, squares, inputs, targets, clip=clip)


def test_inputs_may_be_several_tensors_or_named():
    class Pair(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(5, 2)

        def forward(self, left, right):
            return self.layer(left) - self.layer(right)

    torch.manual_seed(2)
    net, left, right, targets = Pair(), torch.randn(4, 5), torch.randn(4, 5), torch.randn(4, 2)
    truth = clipped_total(net, squares, (left, right), targets, clip=0.5)
    assert_alike(clipped_sum(net, squares, (left, right), targets, clip=0.5), truth, 1e-4)
    assert_alike(clipped_sum(net, squares, {"right": right, "left": left}, targets, clip=0.5), truth, 1e-4)


def test_a_masked_loss_counts_the_places_that_it_leaves():
    torch.manual_seed(3)
    net, inputs = Tied(), ids(6, 5)
    targets = ids(6, 5).masked_fill(torch.rand(6, 5) < 0.4, -100)

    def masked(outputs, goals):
        losses = functional.cross_entropy(outputs.unflatten(1, (5, 11)).transpose(1, 2), goals, reduction="none")
        return losses.sum(1)

    truth = clipped_total(net, masked, inputs, targets, clip=0.5)
    assert_alike(clipped_sum(net, masked, inputs, targets, clip=0.5), truth, 1e-4)
