"""A net on the codes of a table's rows: a linear layer on one-hots as a sum of embeddings, then tanh and linear layers.

It carries the public description of its columns, so that it reads rows to predict as it read those it was trained on.
Its first weights are drawn from a public seed: two nets of equal arguments begin alike, so the same training is found
again in the ledger.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from discreet import amounts
from discreet.deep.table.cells import BINS, Cells, cells
from discreet.deep.table.predictor import NetPredictor
from discreet.errors import bad
from discreet.learn.privacy import Privacy
from discreet.ndarrays import Floats

HIDDEN = (32,)
_WIDEST, _DEEPEST, _MOST_SEEDS = 2**16, 64, 2**63 - 1


class TableNet(nn.Module):
    """Logits of the classes, [rows, classes], or a number in about −1 … 1, [rows], for codes [rows, features]."""

    offsets: Tensor
    privacy_: Privacy  # of a net that was trained or read from a file

    def __init__(self, cells: Cells, hidden: Iterable[Any] = HIDDEN, *, seed: Any = 0) -> None:
        super().__init__()
        self.cells = cells
        self.hidden = _widths(hidden)
        widths = [*self.hidden, cells.outputs]
        self.embedding = nn.Embedding(sum(cells.sizes), widths[0])
        starts = np.cumsum([0, *cells.sizes[:-1]])
        self.register_buffer("offsets", torch.from_numpy(starts.astype(np.int64)), persistent=False)
        layers: list[nn.Module] = []
        for width, following in pairwise(widths):
            layers += [nn.Tanh(), nn.Linear(width, following)]
        self.layers = nn.Sequential(*layers)
        self._begin(torch.Generator().manual_seed(amounts.count(seed, "seed", 0, _MOST_SEEDS)))

    def _begin(self, generator: torch.Generator) -> None:
        """First weights: a quarter of a unit's deviation before the first tanh, a unit's before others, 0 at the end.

        Small embeddings are learnt over sooner: on Adult they are worth .003 of AUC at ε = 1.
        """
        with torch.no_grad():
            self.embedding.weight.normal_(0, 0.25 * len(self.cells.sizes) ** -0.5, generator=generator)
            linear = [layer for layer in self.layers if isinstance(layer, nn.Linear)]
            for layer in linear:
                layer.weight.normal_(0, layer.in_features**-0.5, generator=generator)
                layer.bias.zero_()
            (linear[-1] if linear else self.embedding).weight.zero_()

    def forward(self, codes: Tensor) -> Tensor:
        """The net's outputs for codes of rows."""
        outputs: Tensor = self.layers(self.embedding(codes + self.offsets).sum(1))
        return outputs if self.cells.classes else outputs.squeeze(1)

    def predictor(self) -> NetPredictor:
        """The net as what a score or rates of groups are about; refused before it was trained on a dataset."""
        privacy = getattr(self, "privacy_", None)
        if privacy is None:
            fix = "Train it first: people.train(trainer, target=…)."
            raise bad("model", "must be a net that was trained on a dataset", type(self).__name__, fix)
        return NetPredictor(self, privacy)

    @torch.no_grad()
    def predict_proba(self, frame: Any) -> Floats:
        """The probability of each class, [rows, classes]; refused where the target is a number."""
        if not self.cells.classes:
            raise bad("predict_proba", "is of nets that predict classes", "a number", "Call predict.")
        shares: Floats = torch.softmax(self(self.cells.encoded(frame)).double(), 1).numpy()
        return shares

    @torch.no_grad()
    def predict(self, frame: Any) -> Any:
        """The most probable class of each row, or its number within the bounds of the target."""
        outputs = self(self.cells.encoded(frame))
        if not self.cells.classes:
            return self.cells.numbers(outputs).numpy()
        return np.array(self.cells.classes)[outputs.argmax(1).numpy()]


def table_net(
    people: Any,
    target: str,
    features: str | Iterable[str] | None = None,
    *,
    hidden: Iterable[Any] = HIDDEN,
    bins: Any = BINS,
    seed: Any = 0,
) -> TableNet:
    """A net for a dataset's rows: features cut into at most `bins` cells each, and tanh layers of `hidden` units."""
    return TableNet(cells(people, target, features, bins=bins), hidden, seed=seed)


def _widths(hidden: Any) -> tuple[int, ...]:
    if isinstance(hidden, (str, bytes)) or not isinstance(hidden, Iterable):
        raise bad("hidden", "must be widths of layers", hidden, "Give, for example, hidden=(32,).")
    widths = tuple(amounts.count(width, "hidden", 1, _WIDEST) for width in hidden)
    if len(widths) > _DEEPEST:
        raise bad("hidden", f"must be at most {_DEEPEST} layers", len(widths), "Give fewer.")
    return widths
