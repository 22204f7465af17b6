"""Pictures of digits and what is public of them: the data of the accuracy tables of `deep`."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from benchmarks.release_data import folder

DELTA = "1e-5"


@dataclass(frozen=True, eq=False)
class Pictures:
    """Inputs and classes of training and test rows; a row of MNIST is a person."""

    inputs: Tensor
    targets: Tensor
    test_inputs: Tensor
    test_targets: Tensor

    def accuracy(self, net: torch.nn.Module) -> float:
        """The share of test pictures that are put in their class."""
        with torch.no_grad():
            chosen = torch.cat([net(part).argmax(1) for part in self.test_inputs.split(1000)])
        return float((chosen == self.test_targets).double().mean())


def digits() -> Pictures:
    """MNIST, pixels scaled to 0 … 1: no statistic of the data is used."""
    home = folder()
    if home is None:
        raise FileNotFoundError("DISCREET_DATA names no folder")
    with np.load(home / "mnist" / "mnist.npz") as file:
        parts = {name: torch.from_numpy(file[name]) for name in file.files}
    inputs, test_inputs = (parts[name].float()[:, None] / 255 for name in ("x_train", "x_test"))
    return Pictures(inputs, parts["y_train"].long(), test_inputs, parts["y_test"].long())


@dataclass(frozen=True)
class Trial:
    """A training that was measured: ε, the seed of first weights, what it reached, CPU and wall seconds."""

    epsilon: float
    seed: int
    score: float
    seconds: float
    wall: float
