"""What a block does to each number of a gradient, and bugs planted in it, which the same look sees."""

from fractions import Fraction

import pytest
import torch

from deep.nets import COUNT, CROSS_ENTROPY, net, small_plan
from deep.nets import rows as small_rows
from discreet.deep.clipping.clipper import Clipper
from discreet.deep.training import block
from discreet.deep.training.block import Block, Gradient
from discreet.deep.training.data import rows_of
from discreet.deep.training.draws import Noise
from discreet.deep.training.noise import FloatNoise, LatticeNoise
from discreet.deep.training.trainer import Trainer
from discreet.noise.source import SYSTEM

STEPS, SIGMA, CLIP, ROWS = 500, 1.5, 0.5, 200  # all 60 rows are in each step, and 200 are said to be there
VARIANCE = (SIGMA * CLIP / ROWS) ** 2
SLACK, MEAN_SLACK = 0.38, 0.07  # of a variance of 500 numbers, and of the mean of 23 such: false alarm below 10⁻⁶


def gradients(noise, count, at_once=25):
    """The gradients of so many steps without a move, and the clipped sum that they have in common."""
    module = net()
    plan = small_plan(steps=STEPS, sigma=str(SIGMA), rate="1", rows=ROWS)
    options = {"plan": plan, "clip": CLIP, "noise": noise, "at_once": at_once}
    course = Trainer(module, CROSS_ENTROPY, torch.optim.SGD(module.parameters(), lr=0.0), **options).course()
    seen = []

    def report(step):
        seen.append(torch.cat([parameter.grad.reshape(-1).clone() for parameter in module.parameters()]))

    Block(course, None, 0, STEPS, report)(rows_of(small_rows(count)), SYSTEM)
    with Clipper(module, CROSS_ENTROPY, clip=CLIP) as clipper:
        total = clipper.total(*small_rows(count)).clone()
    return torch.stack(seen).double(), total


def wrongs(noise, count):
    """What is wrong with the gradients: N = 500 steps of 23 numbers."""
    drawn, total = gradients(noise, count)
    ratios = drawn.var(0) / VARIANCE
    wrong = [] if float((ratios - 1).abs().max()) < SLACK else ["a number has other noise"]
    wrong += [] if abs(float(ratios.mean()) - 1) < MEAN_SLACK else ["all numbers have other noise"]
    away = (drawn.mean(0) - total / ROWS).abs().max() / (VARIANCE / STEPS) ** 0.5
    wrong += [] if float(away) < 6 else ["the sum is another"]
    wrong += [] if len({row.numpy().tobytes() for row in drawn}) == STEPS else ["noise comes again"]
    correlation = float(torch.corrcoef(drawn.T).fill_diagonal_(0).abs().max())
    return wrong + ([] if correlation < 0.27 else ["two numbers share their noise"])


@pytest.mark.parametrize("noise", ["exact", "float"])
@pytest.mark.parametrize("count", [0, COUNT])
def test_each_number_of_a_gradient_gets_noise_of_its_own_once_and_of_the_stated_deviation(noise, count):
    assert wrongs(noise, count) == []


# --- planted bugs ----------------------------------------------------------------------------------------------------


def in_one_layer(monkeypatch):
    """Noise on the first layer alone."""
    real = LatticeNoise.add

    def add(self, total):
        bias = total[15:].copy()
        real(self, total)
        total[15:] = bias

    monkeypatch.setattr(LatticeNoise, "add", add)


def of_half_the_deviation(monkeypatch):
    """σ read as a variance somewhere, or divided twice."""
    real = Noise.begin

    def begin(self, source):
        object.__setattr__(self, "clip", self.clip * 5 / 6)
        return real(self, source)

    monkeypatch.setattr(Noise, "begin", begin)


def divided_by_the_realised_batch(monkeypatch):
    """The sum divided by how many rows came."""
    real = Gradient.take

    def take(self, noisy):
        self._scale = 1 / COUNT
        real(self, noisy)

    monkeypatch.setattr(Gradient, "take", take)


def in_each_micro_batch(monkeypatch):
    """Noise drawn before the sum, for each part of it."""
    real = Clipper.add

    def add(self, *given):
        summed = real(self, *given)
        summed += CLIP * SIGMA * torch.randn(summed.shape)
        return summed

    monkeypatch.setattr(block, "Clipper", type("Noisy", (Clipper,), {"add": add}))


def with_the_batch_before(monkeypatch):
    """Half of what the buffer held is there when the next sum begins."""
    real, held = Gradient.total, [0.0]

    def total(self, *given):
        summed = real(self, *given)
        summed += 0.5 * held[0]
        held[0] = summed.clone()
        return summed

    monkeypatch.setattr(Gradient, "total", total)


def drawn_once(monkeypatch):
    """The same noise in every step."""
    real = LatticeNoise._next_noise

    def _next_noise(self):
        self._same = getattr(self, "_same", None) if hasattr(self, "_same") else real(self)
        return self._same

    monkeypatch.setattr(LatticeNoise, "_next_noise", _next_noise)


@pytest.mark.parametrize(
    "plant",
    [
        in_one_layer,
        of_half_the_deviation,
        divided_by_the_realised_batch,
        in_each_micro_batch,
        with_the_batch_before,
        drawn_once,
    ],
)
def test_a_planted_bug_is_seen(monkeypatch, plant):
    plant(monkeypatch)
    assert wrongs("exact", COUNT) != []


def test_float_noise_is_the_one_that_float_trainings_get():
    plan = small_plan(steps=STEPS, sigma=str(SIGMA), rate="1", rows=ROWS)
    assert isinstance(Noise(plan, Fraction(1), 23, "float").begin(SYSTEM), FloatNoise)
    assert isinstance(Noise(plan, Fraction(1), 23, "exact").begin(SYSTEM), LatticeNoise)
