"""Scores of canaries: the larger, the more it looks as if the net was trained on that person.

    gradients    how much of each person's gradient is in the noisy ones          for who sees every step
    losses       loss before the training − loss after it                         for who sees the last net alone

The first is what ε is promised against.  Over p steps the noisy gradients add up to y = Σ b_i·g_i + noise, where g_i is
the clipped gradient of person i and b_i how often she was in a sample.  With rate q, and s_i her coin,

    E b_i = pq/2      v = Var b_i = pq(1 − q)/2 + p²q²/4      Cov(s_i, b_i) = pq/4      noise of variance n = pσ²C²

the best linear guess of all s_i is pq/4·(v·GGᵀ + n)⁻¹·(Gy − pq/2·GGᵀ1), with the rows g_i of G.  It takes the others'
gradients off, which may be far louder than the noise.  These guesses are added up.  Any score gives a true bound; one
more supposes noise of n/100, so that noise that is missing shows.
"""

from typing import Any

import torch
from torch import Tensor, nn

from discreet.deep.audit.canaries import Canaries
from discreet.deep.clipping.clipper import Clipper, Loss
from discreet.deep.clipping.order import outputs_of
from discreet.deep.clipping.pieces import Piece, joint_pieces, plain, squared_norms
from discreet.deep.training.course import Course
from discreet.ndarrays import Floats, Ints

_MOST_LOOKS, _FEWEST_LOOKS = 100, 5  # at the gradients of all canaries, in one training
_WORK = 2.5e11  # multiplications of all looks, about
_NOISES = (1.0, 0.01)  # times the variance that is claimed
_FLOOR = 1e-5  # of the mean of squared norms: products of gradients in float32 are no finer
_LARGEST = 5 * 10**7  # numbers in G: of larger nets the last parameters alone are looked at


class Watch:
    """Sees every noisy gradient just before the optimizer does, and scores the canaries by them."""

    def __init__(self, course: Course, canaries: Canaries) -> None:
        self._course, self._canaries, self._waiting = course, canaries, 0
        named = [(name, part) for name, part in course.module.named_parameters() if part.requires_grad]
        self._parts = dict(_last(named, _LARGEST // canaries.count))
        size, count = sum(part.numel() for part in self._parts.values()), canaries.count
        looks = min(max(int(_WORK / (count * count * size)), _FEWEST_LOOKS), _MOST_LOOKS)
        self._pace = -(-course.plan.steps // looks)
        self._sum = torch.zeros(size, dtype=torch.float64)
        self._gradients = torch.zeros(count, size)
        self._scores = torch.zeros(len(_NOISES), count, dtype=torch.float64)

    def __call__(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """Take in the gradient of one step; the form is that of torch's hooks before a step."""
        self._sum += torch.cat([_gradient(part).flatten() for part in self._parts.values()]).double().cpu()
        self._waiting += 1
        if self._waiting == self._pace:
            self._look()

    def scores(self) -> Floats:
        """The scores after all steps, a row of them for each noise that is supposed."""
        if self._waiting:
            self._look()
        values: Floats = torch.nan_to_num(self._scores).numpy()
        return values

    def _look(self) -> None:
        """Score every canary by the noisy gradients since the last look."""
        plan, steps, gradients = self._course.plan, self._waiting, self._filled_gradients()
        divisor, rate = float(plan.divisor), float(plan.divisor) / plan.rows
        share = steps * rate / 2
        spread = share * (1 - rate) + share * share
        noise = steps * self._course.noise_variance * divisor**2
        products = (gradients @ gradients.T).double()
        own = (gradients @ (self._sum * divisor).to(gradients.dtype)).double() - share * products.sum(1)
        floor = _FLOOR * spread * float(products.diagonal().mean())
        for scores, supposed in zip(self._scores, _NOISES, strict=True):
            diagonal = (supposed * noise + floor) * torch.eye(len(products), dtype=torch.float64)
            scores += share / 2 * torch.linalg.solve(spread * products + diagonal, own)
        self._sum.zero_()
        self._waiting = 0

    def _filled_gradients(self) -> Tensor:
        """The clipped gradients of all canaries at the present weights, one in each row."""
        course, canaries = self._course, self._canaries
        with Clipper(course.module, course.loss, clip=course.rule) as clipper, torch.enable_grad():
            for persons in batches_of(canaries, course.rows_forward):
                inputs, targets = canaries.rows_of(persons)
                owners = torch.arange(persons.size).repeat_interleave(canaries.max_rows)
                pieces = clipper.pieces(inputs, targets, owners if canaries.max_rows > 1 else None)
                factors = course.rule.factors(sum(map(squared_norms, pieces.values())).sqrt())
                parts = [
                    _matrix(pieces[name]) if name in pieces else torch.zeros(persons.size, part.numel())
                    for name, part in self._parts.items()
                ]
                self._gradients[persons] = torch.nan_to_num(torch.cat(parts, 1) * factors[:, None]).float().cpu()
        return self._gradients


def _last(named: list[tuple[str, Tensor]], largest: int) -> list[tuple[str, Tensor]]:
    """As many of the last parameters as have at most so many numbers; one at least."""
    total, start = 0, len(named)
    while start and total + named[start - 1][1].numel() <= largest:
        start -= 1
        total += named[start][1].numel()
    return named[min(start, len(named) - 1) :]


def _gradient(parameter: Tensor) -> Tensor:
    gradient = parameter.grad
    return torch.zeros_like(parameter) if gradient is None else gradient


def _matrix(pieces: list[Piece]) -> Tensor:
    """The gradient of one parameter, a person in each row."""
    total: Any = 0
    for piece in map(plain, joint_pieces(pieces)):
        axes = range(piece.values.dim() - 1) if piece.axes is None else piece.axes
        total = total + piece.values.permute(0, *(axis + 1 for axis in axes)).flatten(1)
    return torch.as_tensor(total)


# --- the last net alone ----------------------------------------------------------------------------------------------


def losses_of(module: nn.Module, loss: Loss, canaries: Canaries, at_once: int) -> Floats:
    """A row with the loss of each canary, added up over her rows, by the net as it answers."""
    was_training = module.training
    module.eval()
    losses = []
    with torch.no_grad():
        for persons in batches_of(canaries, at_once):
            inputs, targets = canaries.rows_of(persons)
            losses.append(loss(outputs_of(module, inputs), targets).view(persons.size, -1).sum(1))
    module.train(was_training)
    values: Floats = torch.nan_to_num(torch.cat(losses).double()).cpu().numpy()
    return values[None]


def batches_of(canaries: Canaries, at_once: int) -> list[Ints]:
    """The canaries in parts of about `at_once` rows."""
    each = max(1, at_once // canaries.max_rows)
    every = torch.arange(canaries.count).numpy()
    return [every[start : start + each] for start in range(0, canaries.count, each)]
