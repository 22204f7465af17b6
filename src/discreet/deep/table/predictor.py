"""A trained table net as what predicts the persons of a trial, so that it is scored as every other model is."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from discreet.deep.table.identity import weights_digest
from discreet.deep.training.training import outcome_of
from discreet.learn.fit import stored_result
from discreet.learn.privacy import WHOLE, Privacy
from discreet.learn.subject import Subject
from discreet.ledger.ledger import Ledger
from discreet.ndarrays import Floats, Ints

if TYPE_CHECKING:
    from discreet.deep.table.net import TableNet

_AT_ONCE = 2**16


@dataclass(frozen=True, eq=False)
class NetPredictor:
    """A table net with its promise."""

    net: "TableNet"
    privacy: Privacy

    @property
    def subject(self) -> Subject:
        """Its features, its target and the part of the table that it was trained on."""
        return self.net.cells.subject

    @property
    def title(self) -> str:
        """What kind of model it is."""
        return "a net"

    @torch.no_grad()
    def scores(self, columns: Mapping[str, Floats | Ints]) -> Floats:
        """The probability of each class, or the number within the bounds of the target."""
        cells = self.net.cells
        outputs = torch.cat([self.net(part) for part in cells.codes(columns).split(_AT_ONCE)])
        says = torch.softmax(outputs.double(), 1) if cells.classes else cells.numbers(outputs).unsqueeze(1)
        scores: Floats = says.numpy()
        return scores

    def digest(self) -> str:
        """A hash of the columns, the bins and the weights."""
        facts = [self.net.cells.to_json(), list(self.net.hidden), weights_digest(self.net)]
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    def is_stored(self, ledger: Ledger) -> bool:
        """Whether that ledger holds a training with that receipt and those weights."""
        stored = stored_result(ledger, self.privacy.receipt) if self.privacy.covers == WHOLE else None
        if stored is None:
            return False
        released, own = outcome_of(stored, True).weights, list(self.net.parameters())
        return len(released) == len(own) and all(map(torch.equal, released, own))
