"""What `check` tells of a net that passes: how each of its layers is clipped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import nn

from discreet.deep.clipping import layers
from discreet.deep.clipping.pieces import Outer, Picked, Piece

_LIMITS = "Tried on invented examples, which cannot show every way in which a net may mix examples."


@dataclass(frozen=True)
class LayerReport:
    """One layer with weights of its own: how many are trained, and how their gradients are clipped."""

    name: str
    kind: str
    trained: int
    how: str


@dataclass(frozen=True)
class Report:
    """How each layer of a net is clipped; `str` gives one line a layer."""

    layers: tuple[LayerReport, ...]
    mode: str  # "training" or "eval", as the net was

    @property
    def trained(self) -> int:
        """How many numbers are trained."""
        return sum(layer.trained for layer in self.layers)

    def __str__(self) -> str:
        widths = [max((len(cell) for cell in column), default=0) for column in zip(*self._cells(), strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in self._cells()]
        head = f"Every gradient can be clipped person by person: {self.trained:,} trained numbers, in {self.mode} mode."
        return "\n".join([head, *(f"  {line}" for line in lines), _LIMITS])

    def _cells(self) -> list[tuple[str, str, str, str]]:
        return [(layer.name or "net", layer.kind, f"{layer.trained:,}", layer.how) for layer in self.layers]


def report_of(module: nn.Module, pieces: Mapping[str, Sequence[Piece]]) -> Report:
    """The report of a net from the pieces of its gradients on invented examples, by the name of the parameter."""
    names: dict[nn.Parameter, str] = {parameter: name for name, parameter in module.named_parameters()}
    rows = []
    for name, layer in module.named_modules():
        own = dict(layer.named_parameters(recurse=False))
        if own:
            home = {f"{name}.{part}" if name else part: names[value] for part, value in own.items()}
            tied = sorted({owner for path, owner in home.items() if path != owner})
            trained = [value for path, value in zip(home, own.values(), strict=True) if value.requires_grad]
            new = sum(
                value.numel()
                for path, value in zip(home, own.values(), strict=True)
                if value.requires_grad and home[path] == path
            )
            how = _how(layer, bool(trained), [piece for owner in home.values() for piece in pieces.get(owner, ())])
            how += f"; shares {', '.join(tied)}" if tied else ""
            rows.append(LayerReport(name, type(layer).__name__, new, how))
    return Report(tuple(rows), "training" if module.training else "eval")


def _how(layer: nn.Module, is_trained: bool, pieces: Sequence[Piece]) -> str:
    if not is_trained:
        return "frozen"
    if not pieces:
        return "unused: its gradient is zero"
    if not layers.is_known(layer):
        inside = ", run once more with all layers inside" if layer._modules else ""
        return f"by torch.func, one gradient for each example{inside}"
    outer = [piece for piece in pieces if isinstance(piece, Outer)]
    if any(isinstance(piece, Picked) for piece in pieces):
        return "by its formula, norm from pairs of equal ids"
    if outer:
        positions = outer[0].left.shape[1]
        ghost = f"inner products of {positions} positions" if positions > 1 else "lengths of input and gradient"
        return f"by its formula, norm from {ghost}"
    return "by its formula, one gradient for each example"
