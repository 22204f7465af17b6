"""The course of a training: all that is public about it, and the objects of torch that it moves.

Two courses with one identity are one training, which may be taken up where it stood.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from discreet.deep.clipping.clipper import Loss
from discreet.deep.clipping.rule import Rule
from discreet.deep.training.draws import AnyPlan, Noise, scores_of_plan
from discreet.deep.training.noise import EXACT
from discreet.deep.training.optimizer import trained_parameters
from discreet.errors import bad

_TYPES = (torch.float32, torch.float64)
_ROWS_FORWARD = 256


@dataclass(frozen=True, eq=False)
class Course:
    """What is trained, and how: nothing of it depends on rows."""

    module: nn.Module
    loss: Loss
    optimizer: Any
    plan: AnyPlan
    rule: Rule
    max_rows: int
    at_once: int | None
    decay: float
    factors: tuple[float, ...] | None
    form: str
    metric: Any = None  # of the scores that are shown
    patience: int | None = None

    @cached_property
    def parameters(self) -> list[Tensor]:
        """The trainable parameters, in the order of the module."""
        return trained_parameters(self.module)

    @cached_property
    def noise(self) -> Noise:
        """The noise on the sums of clipped gradients."""
        size = sum(parameter.numel() for parameter in self.parameters)
        return Noise(self.plan, Fraction(self.rule.norm), size, self.form)

    @property
    def noise_variance(self) -> float:
        """The variance of the noise on each number of a gradient, which is public."""
        return self.noise.variance

    @property
    def rows_forward(self) -> int:
        """How many rows go through the net at a time where nothing is differentiated."""
        return self.at_once or _ROWS_FORWARD

    @property
    def scores(self) -> int:
        """How many noisy scores are shown."""
        return scores_of_plan(self.plan)

    @property
    def precision(self) -> torch.dtype:
        """The type in which gradients are added up."""
        return torch.float64 if self.form == EXACT else torch.float32

    def to_json(self) -> dict[str, Any]:
        """The public facts as JSON, without at_once, which moves last digits alone."""
        return {
            "module": module_json(self.module),
            "loss": loss_name(self.loss),
            "optimizer": optimizer_json(self.optimizer),
            "plan": self.plan.to_json(),
            "clip": self.rule.to_json(),
            "max_rows": self.max_rows,
            "average": self.decay,
            "schedule": None if self.factors is None else list(self.factors),
            "noise": self.form,
            "score": loss_name(self.metric) if self.scores else None,
            "patience": self.patience,
        }

    def identity(self, has_units: bool) -> str:
        """A hash of the public facts and of all tensors that the training does not move."""
        text = json.dumps([self.to_json(), has_units, fixed_digest(self.module)], sort_keys=True)
        return hashlib.sha256(f"discreet training {text}".encode()).hexdigest()


def require_plain(parameters: list[Tensor]) -> None:
    """Refuses parameters of several types, or of another device than the processor: sums and noise lie in memory."""
    if any(isinstance(parameter, nn.parameter.UninitializedParameter) for parameter in parameters):
        fix = "Call the net once on public or invented rows: net(torch.zeros(1, 5))."
        raise bad("module", "must have weights before it is trained", "lazy layers without any", fix)
    kinds = {(parameter.dtype, parameter.device.type) for parameter in parameters}
    if len(kinds) > 1 or next(iter(kinds))[0] not in _TYPES or next(iter(kinds))[1] != "cpu":
        rule = "must have trainable parameters of one type, float32 or float64, in main memory"
        raise bad("module", rule, sorted(f"{kind} on {place}" for kind, place in kinds), "Write: net.float().cpu()")


def module_json(module: nn.Module) -> dict[str, Any]:
    """What a module is, in names, shapes and types."""
    parameters = {
        name: [str(parameter.dtype), list(parameter.shape), parameter.requires_grad]
        for name, parameter in module.named_parameters()
    }
    buffers = {name: [str(buffer.dtype), list(buffer.shape)] for name, buffer in module.named_buffers()}
    layers = [[name, type(layer).__qualname__, layer.extra_repr()] for name, layer in module.named_modules()]
    return {"layers": layers, "parameters": parameters, "buffers": buffers}


def fixed_digest(module: nn.Module) -> str:
    """SHA-256 of buffers and frozen parameters: a training taken up with others would be another one."""
    frozen = {name: parameter for name, parameter in module.named_parameters() if not parameter.requires_grad}
    return tensors_digest({**frozen, **dict(module.named_buffers())})


def tensors_digest(named: Mapping[str, Tensor]) -> str:
    """SHA-256 of tensors with their names, types and shapes."""
    digest = hashlib.sha256()
    for name, tensor in sorted(named.items()):
        digest.update(f"{len(name)}:{name} {tensor.dtype} {list(tensor.shape)} ".encode())
        plain = tensor.detach().cpu().contiguous().reshape(-1)
        digest.update(plain.view(torch.uint8).numpy().tobytes() if plain.numel() else b"")
    return digest.hexdigest()


def loss_name(loss: Any) -> str:
    """What a loss or a score is called, with its options; two of one name and other code are not told apart."""
    if isinstance(loss, nn.Module):
        options = [f"{name}={value!r}" for name, value in sorted(vars(loss).items()) if _is_option(name, value)]
        fixed = [fixed_digest(loss)[:16]] if any(True for _ in loss.state_dict()) else []
        return f"{type(loss).__qualname__}({', '.join([*options, *fixed])})"
    inner = getattr(loss, "func", loss)  # of functools.partial
    named = f"{getattr(inner, '__module__', '')}.{getattr(inner, '__qualname__', type(inner).__qualname__)}"
    options = sorted(map(str, (getattr(loss, "keywords", None) or {}).items()))
    return " ".join([named, *options])


def _is_option(name: str, value: Any) -> bool:
    return name != "training" and not name.startswith("_") and isinstance(value, (bool, int, float, str))


def optimizer_json(optimizer: Any) -> dict[str, Any]:
    """An optimizer's type and options, group by group."""
    groups = [
        {name: _plain(value) for name, value in group.items() if name not in ("params", "noise_variance")}
        | {"shapes": [list(parameter.shape) for parameter in group["params"]]}
        for group in optimizer.param_groups
    ]
    return {"type": type(optimizer).__qualname__, "groups": groups}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)
