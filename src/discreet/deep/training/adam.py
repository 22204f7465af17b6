"""Adam whose second moment leaves out the noise that privacy adds.

    m̂ = mean of gradients,  v̂ = mean of their squares, both with Adam's bias correction
    w ← w − rate · m̂ / (√max(v̂ − Φ, floor·Φ) + eps)

Φ = (σC/divisor)², the public variance of the noise on each number of a gradient, which the trainer tells.  Without the
subtraction v̂ is almost Φ where noise is larger than gradients, and Adam becomes descent with momentum (Tang,
Shpilevskiy & Lécuyer 2023).
"""

from typing import Any

import torch

from discreet.errors import bad


class Adam(torch.optim.Optimizer):
    """An optimizer as torch's own; `floor` is the least second moment, as a share of the noise's variance.

    In a loop of one's own, set `noise_variance` to that of the run; until then it is 0, which is plain Adam.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        *,
        floor: float = 0.1,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        numbers = {"lr": lr, "floor": floor, "eps": eps, "weight_decay": weight_decay}
        for name, value in numbers.items():
            if not 0 <= value < float("inf"):
                raise bad(name, "must be a number that is not negative", value, "Leave it out for the default.")
        if not all(0 <= beta < 1 for beta in betas):
            raise bad("betas", "must be between 0 and 1", betas, "Leave them out for the defaults.")
        super().__init__(params, {**numbers, "betas": tuple(betas), "noise_variance": 0.0})

    @property
    def noise_variance(self) -> float:
        """The variance of the noise on each number of a gradient."""
        return float(self.param_groups[0]["noise_variance"])

    @noise_variance.setter
    def noise_variance(self, variance: float) -> None:
        for group in self.param_groups:
            group["noise_variance"] = float(variance)

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        """One step along the gradients of all parameters that have one."""
        if closure is not None:
            raise bad("closure", "must be None", type(closure).__name__, "Gradients are noisy already: call step().")
        for group in self.param_groups:
            parameters = [parameter for parameter in group["params"] if parameter.grad is not None]
            if parameters:
                self._step_group(group, parameters)

    def _step_group(self, group: dict[str, Any], parameters: list[torch.Tensor]) -> None:
        states = [self.state[parameter] for parameter in parameters]
        for state, parameter in zip(states, parameters, strict=True):
            if not state:
                state.update(step=0, mean=torch.zeros_like(parameter), square=torch.zeros_like(parameter))
            state["step"] += 1
        taken, (first, second) = states[0]["step"], group["betas"]
        gradients = [parameter.grad for parameter in parameters]
        means, squares = [state["mean"] for state in states], [state["square"] for state in states]
        torch._foreach_lerp_(means, gradients, 1 - first)
        torch._foreach_mul_(squares, second)
        torch._foreach_addcmul_(squares, gradients, gradients, value=1 - second)
        variance = group["noise_variance"]
        below = torch._foreach_div(squares, 1 - second**taken)
        torch._foreach_sub_(below, variance)
        torch._foreach_clamp_min_(below, group["floor"] * variance)
        torch._foreach_sqrt_(below)
        torch._foreach_add_(below, group["eps"])
        if group["weight_decay"]:
            torch._foreach_mul_(parameters, 1 - float(group["lr"]) * group["weight_decay"])
        torch._foreach_addcdiv_(parameters, means, below, value=-float(group["lr"]) / (1 - first**taken))
