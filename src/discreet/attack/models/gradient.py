"""Gradient inversion: the gradient of one example at a linear layer is the example, up to one division.

    z = Wx + b        ∂L/∂W = r xᵀ        ∂L/∂b = r        so x = (∂L/∂W)ᵢ / (∂L/∂b)ᵢ wherever rᵢ ≠ 0

r: the derivative of the loss by z.  A sum of k gradients has rank k at most, so a picture was in it if it lies in the
span of its rows, as long as k is below the number of outputs: secure aggregation alone, which shows the sum, hides
nothing of few clients.  Zhu, Liu & Han (2019); Geiping et al. (2020) for deep nets.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.attack.ceiling import chance_of
from discreet.attack.given import numbers
from discreet.attack.interval import share_interval
from discreet.attack.models.trials import vector
from discreet.attack.packages import require
from discreet.attack.result import Result
from discreet.errors import bad_private
from discreet.ndarrays import Floats, Ints
from discreet.noise.public import Generator, generator

CLOSE = 1e-5  # the largest error of a number that counts as recovered
_SIDE, _CLASSES, _PICTURES, _TRIALS = 8, 10, 100, 500
_CLIP, _DELTA = 1, "1e-6"
_CROWDS = (8, 40)  # clients whose gradients are added up

Send = Callable[[Floats, int], Floats]


@dataclass(frozen=True)
class Layer:
    """A linear layer under cross-entropy; the last column of `lines` is b."""

    lines: Floats

    def gradient(self, picture: Floats, label: int) -> Floats:
        """[∂L/∂W | ∂L/∂b] of one picture, exactly."""
        given = np.append(picture, 1.0)
        scores = self.lines @ given
        chances = np.exp(scores - scores.max())
        chances /= chances.sum()
        chances[label] -= 1
        whole: Floats = np.outer(chances, given)
        return whole


def gradient(weight: Any, bias: Any, *, truth: Any = None) -> Result:
    """The example whose gradient at a linear layer was sent.

    weight   ∂L/∂W: a row for each output of the layer
    bias     ∂L/∂b: a number for each output
    truth    the example itself, for who wants to know the error

    `details` hold the example and, where the loss is cross-entropy, its class: the output whose ∂L/∂b is negative.

    >>> gradient([[-0.3, -0.6], [0.3, 0.6]], [-0.5, 0.5]).details
    {'example': [0.6, 1.2], 'class': 0}
    """
    of_weight = numbers(weight, "weight", dimensions=2)
    of_bias = vector(bias, "bias", len(of_weight))
    if not of_bias.any():
        raise bad_private("bias", "must not be 0 throughout", "A gradient of 0 says nothing about its example.")
    recovered = inverted(np.column_stack([of_weight, of_bias]))
    details: dict[str, Any] = {"example": recovered.tolist(), "class": int(of_bias.argmin())}
    raw = None
    if truth is not None:
        details["error"] = float(np.abs(recovered - vector(truth, "truth", len(recovered))).max())
        raw = float(details["error"] < CLOSE)
    return Result(
        name="gradient", metric="examples recovered", measure=f"share of examples recovered to within {CLOSE:g}",
        raw=raw, private={}, baseline=0.0, ceiling={}, units="one example, whose gradient was sent alone", trials=1,
        details=details, of_real_data=True,
    )  # fmt: skip


def inverted(sent: Floats) -> Floats:
    """x from [∂L/∂W | ∂L/∂b], by the output with the largest |∂L/∂b|."""
    row = sent[np.abs(sent[:, -1]).argmax()]
    example: Floats = row[:-1] / row[-1]
    return example


def example(epsilons: tuple[str, ...], seed: int) -> Result:
    """500 gradients of one picture each: as they are, and clipped and with noise as the product sends them."""
    chance = generator(seed)
    pictures = invented_pictures(_PICTURES, chance)
    layer = Layer(chance.normal(size=(_CLASSES, _SIDE**2 + 1)) / _SIDE)
    hits, errors = {}, {}
    for key, send in [("raw", layer.gradient), *((epsilon, _sender(layer, epsilon)) for epsilon in epsilons)]:
        hits[key], errors[key] = _named_of(send, layer, pictures, generator(seed))
    delta = float(_DELTA)
    crowds = {str(count): _named_of_sums(layer, pictures, count, generator(seed)) for count in _CROWDS}
    return Result(
        name="gradient",
        metric="pictures named",
        measure=f"share of gradients whose picture is picked out of {_PICTURES}",
        raw=hits["raw"] / _TRIALS,
        private={epsilon: hits[epsilon] / _TRIALS for epsilon in epsilons},
        baseline=1 / _PICTURES,
        ceiling={epsilon: chance_of(float(epsilon), delta, without=1 / _PICTURES) for epsilon in epsilons},
        units=f"one picture, by add-remove, whose gradient is sent once; δ = {_DELTA}",
        trials=_TRIALS,
        intervals={key: share_interval(count, _TRIALS) for key, count in hits.items()},
        notes=(
            f"The attacker knows the layer and the {_PICTURES} invented pictures that it can be, and no label.",
            f"The private gradient is clipped to {_CLIP} and has the noise of a single step of private training.",
            f"Secure aggregation alone: of a sum over {_CROWDS[0]} clients, {crowds[str(_CROWDS[0])]:.0%} of those "
            f"named were in it (by guessing {_CROWDS[0] / _PICTURES:.0%}); who knows all clients but one subtracts.",
        ),
        details={
            "largest_error_raw": float(errors["raw"].max()),
            "median_error": {epsilon: float(np.median(errors[epsilon])) for epsilon in epsilons},
            "named_of_sums": crowds,
        },
    )


def invented_pictures(count: int, chance: Generator) -> Floats:
    """Pictures of 8 × 8 numbers in [0, 1]: three blurred spots each."""
    line = np.arange(_SIDE)
    pictures = np.zeros((count, _SIDE, _SIDE))
    for picture in pictures:
        for row, column, size in chance.uniform((0, 0, 0.7), (_SIDE, _SIDE, 1.6), size=(3, 3)):
            across, down = np.exp(-(((line - column) / size) ** 2)), np.exp(-(((line - row) / size) ** 2))
            picture += np.outer(down, across)
    return np.minimum(pictures, 1.0).reshape(count, -1)


def _named_of(send: Send, layer: Layer, pictures: Floats, chance: Generator) -> tuple[int, Floats]:
    """How many pictures are picked right, and the error of each that is inverted: its largest of a number."""
    directions = _directions(layer, pictures)
    errors, hits = np.empty(_TRIALS), 0
    for trial in range(_TRIALS):
        picture, label = int(chance.integers(len(pictures))), int(chance.integers(_CLASSES))
        sent = send(pictures[picture], label)
        hits += _likeliest(sent, directions) == picture
        errors[trial] = np.abs(np.clip(inverted(sent), 0, 1) - pictures[picture]).max()
    return hits, errors


def _directions(layer: Layer, pictures: Floats) -> Floats:
    """The gradient of every picture under every label, at length 1; a row each."""
    rows = [layer.gradient(picture, label).ravel() for picture in pictures for label in range(_CLASSES)]
    whole = np.array(rows)
    directions: Floats = whole / np.linalg.norm(whole, axis=1, keepdims=True)
    return directions


def _likeliest(sent: Floats, directions: Floats) -> int:
    """The picture whose gradient has the nearest direction, under its likeliest label.

    Gradients that are longer than the clip are all of one length, so this is the likeliest one under Gaussian noise.
    """
    return int((directions @ sent.ravel()).argmax()) // _CLASSES


def _sender(layer: Layer, epsilon: str) -> Send:
    """A client that clips and adds noise by the product: one step of a private training of one picture."""
    require("torch")
    import torch

    from discreet import deep
    from discreet.deep.training.noise import Lattice, LatticeNoise
    from discreet.noise.source import SYSTEM

    net = torch.nn.Linear(layer.lines.shape[1] - 1, len(layer.lines))
    with torch.no_grad():
        net.weight.copy_(torch.from_numpy(layer.lines[:, :-1]))
        net.bias.copy_(torch.from_numpy(layer.lines[:, -1]))
    loss = torch.nn.CrossEntropyLoss(reduction="none")
    plan = deep.plan(rows=1, rate=1, steps=1, epsilon=epsilon, delta=_DELTA)
    noise = LatticeNoise(Lattice(layer.lines.size, Fraction(_CLIP), plan.sigma), SYSTEM)

    def send(picture: Floats, label: int) -> Floats:
        inputs, targets = torch.from_numpy(picture).float()[None], torch.tensor([label])
        total = deep.clipped_sum(net, loss, inputs, targets, clip=_CLIP)
        flat: Floats = total.flat.double().numpy().copy()
        noise.add(flat)
        of_weight, of_bias = flat[: net.weight.numel()], flat[net.weight.numel() :]
        return np.column_stack([of_weight.reshape(net.weight.shape), of_bias])

    return send


def _named_of_sums(layer: Layer, pictures: Floats, clients: int, chance: Generator) -> float:
    """Of the pictures that lie best in the span of a sum of gradients, the share that were in it."""
    shares = []
    for _ in range(20):
        chosen: Ints = chance.permutation(len(pictures))[:clients]
        total = sum(layer.gradient(pictures[picture], int(chance.integers(_CLASSES))) for picture in chosen)
        basis = np.linalg.svd(np.asarray(total), full_matrices=False)[2]
        rank = min(clients, len(basis))
        given = np.column_stack([pictures, np.ones(len(pictures))])
        outside = np.linalg.norm(given - given @ basis[:rank].T @ basis[:rank], axis=1) / np.linalg.norm(given, axis=1)
        shares.append(np.isin(np.argsort(outside)[:clients], chosen).mean())
    return float(np.mean(shares))
