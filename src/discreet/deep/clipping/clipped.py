"""The sum of clipped gradients of one batch, for loops of one's own: by name, and with what it was made of."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from discreet.deep.clipping.clipper import Clipper, Loss, rows_in
from discreet.deep.clipping.rule import Rule
from discreet.deep.clipping.secret import secret_draws
from discreet.deep.modules.unsuited import require_suited
from discreet.errors import bad, bad_private
from discreet.noise.source import SYSTEM


@dataclass(frozen=True, eq=False)
class ClippedSum(Mapping[str, Tensor]):
    """Σ over persons of clipped gradients by the parameter's name; it is exact, and so private."""

    flat: Tensor
    parts: Mapping[str, Tensor]
    rule: Rule
    batch: tuple[Any, Any, Any]  # the very inputs, targets and owners
    net: tuple[nn.Module, Loss]  # the very module and loss, so that a loop can try them
    modes: Mapping[nn.Module, bool]  # of all layers of both, training or not
    version: int  # how often the flat tensor was written to when the sum was complete

    def __getitem__(self, name: str) -> Tensor:
        return self.parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def __repr__(self) -> str:
        return f"ClippedSum({', '.join(self.parts)})"


def clipped_sum(
    module: nn.Module, loss: Loss, inputs: Any, targets: Any, owners: Tensor | None = None, *, clip: Any = 1.0
) -> ClippedSum:
    """Σ over persons of gradients clipped to `clip` · (1 − 2⁻¹⁰), without noise: {name: sum}, in float64.

    `loss(outputs, targets)` gives one number for each example.  `owners` names the person of each row by a whole
    number; without it each row is a person.
    """
    require_suited(module)
    parts = [part for part in (module, loss) if isinstance(part, nn.Module)]
    modes = {layer: layer.training for part in parts for layer in part.modules()}
    _require_owners(owners, inputs)
    with Clipper(module, loss, clip=clip) as clipper, secret_draws(SYSTEM):
        flat = clipper.total(inputs, targets, owners)
    batch, net = (inputs, targets, owners), (module, loss)
    return ClippedSum(flat, clipper.layout.views(flat), clipper.rule, batch, net, modes, flat._version)


def _require_owners(owners: Any, inputs: Any) -> None:
    """Refuses owners that do not name one person for each row."""
    if owners is None:
        return
    is_named = isinstance(owners, Tensor) and owners.dim() == 1 and not owners.is_floating_point()
    if not is_named or len(owners) != rows_in(inputs):
        rule = "must be a tensor of whole numbers, one for each row: its person"
        raise bad_private("owners", rule, "Give, for example, torch.tensor([0, 0, 1]) for three rows of two persons.")


def require_unchanged(total: ClippedSum) -> None:
    """Refuses a sum that was written to: nothing bounds what a person moves it by."""
    are_views = all(part._base is total.flat for part in total.parts.values())
    if total.flat._version != total.version or not are_views:
        fix = "Scale the noisy gradient instead: it is released."
        raise bad("sum", "must be as dp.deep.clipped_sum gave it", "a sum that was changed", fix)
